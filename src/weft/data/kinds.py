"""What datasets hold: images, texts, sound, or whatever the program puts there. Programs ask with `isinstance`."""

from __future__ import annotations

from weft.data.dataset import Dataset


class VisionBaseDataset(Dataset):
    """A dataset of images."""


class TextBaseDataset(Dataset):
    """A dataset of texts."""


class AudioBaseDataset(Dataset):
    """A dataset of sound."""


class UnionBaseDataset(VisionBaseDataset, TextBaseDataset, AudioBaseDataset):
    """A dataset of any of these."""
