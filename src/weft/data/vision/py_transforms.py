"""Operations that had other defaults where MindSpore's older releases computed them in Python: channels come first."""

from __future__ import annotations

from collections.abc import Sequence

from weft.data.vision.erasing import CutOut as CurrentCutOut
from weft.data.vision.values import Decode as CurrentDecode
from weft.data.vision.values import Normalize as CurrentNormalize
from weft.data.vision.values import NormalizePad as CurrentNormalizePad

__all__ = ["CutOut", "Cutout", "Decode", "Normalize", "NormalizePad"]


class Decode(CurrentDecode):
    """The image of Pillow that encoded bytes hold."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(CurrentNormalize):
    """Each channel minus its mean, divided by its standard deviation; channels come first.

    Args:
        mean: means of the channels.
        std: standard deviations of the channels.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(CurrentNormalizePad):
    """`Normalize`, with a channel of zeros after the others.

    Args:
        mean: means of the channels.
        std: standard deviations of the channels.
        dtype: ``"float32"`` or ``"float16"``.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32") -> None:
        super().__init__(mean, std, dtype, is_hwc=False)


class CutOut(CurrentCutOut):
    """Black squares at places by chance; channels come first.

    Args:
        length: side of the squares.
        num_patches: how many there are.
    """

    def __init__(self, length: int, num_patches: int = 1) -> None:
        super().__init__(length, num_patches, is_hwc=False)


Cutout = CutOut
