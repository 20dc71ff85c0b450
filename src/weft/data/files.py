"""Sources of images in files: Mnist, FashionMnist, Cifar10, Cifar100, ImageFolder."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from weft.data.checks import names_of
from weft.data.conversion import Array, Row
from weft.data.kinds import VisionBaseDataset
from weft.data.sources import MappableDataset
from weft.data.workers import needs
from weft.lazily import deferred

cv2: Any = deferred("cv2")

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def folder_of(dataset_dir: Any) -> str:
    """A folder that there is.

    Args:
        dataset_dir: its path.

    Raises:
        ValueError: there is none.
    """
    if not isinstance(dataset_dir, (str, os.PathLike)):
        raise TypeError(f"Argument dataset_dir must be a path, not {type(dataset_dir).__name__}")
    path = os.path.expanduser(os.fspath(dataset_dir))
    if not os.path.isdir(path):
        raise ValueError(f"The folder {path} does not exist or is not a directory or permission denied!")
    return path


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """One of some values.

    Args:
        name: name of the argument.
        value: its value.
        allowed: what it may be.

    Raises:
        ValueError: it is none of them.
    """
    if value not in allowed:
        raise ValueError(f"Input {name} is not within the valid set of {list(allowed)}: {value!r}.")
    return value


def read_bytes(path: str) -> Bytes:
    """What a file holds, as an array.

    Args:
        path: its path.
    """
    return np.fromfile(path, np.uint8)


def decoded(content: Bytes, path: str) -> Bytes:
    """The image in a file, as red, green and blue.

    Args:
        content: what the file holds.
        path: its path, for messages.

    Raises:
        RuntimeError: it is no image.
    """
    needs("cv2", "decoded images")
    image = cv2.imdecode(content, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION) if content.size else None
    if image is None:
        raise RuntimeError(f"{path} is no image, or in a format that cannot be read")
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


class _InMemory(MappableDataset, VisionBaseDataset):
    """Images that are read at once and stay in memory."""

    names: ClassVar[tuple[str, ...]] = ("image", "label")
    usages: ClassVar[tuple[str, ...]] = ("train", "test", "all")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        self.usage = one_of("usage", "all" if usage is None else usage, self.usages)
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._content: tuple[np.ndarray[Any, Any], ...] | None = None

    def read(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The columns of all rows."""
        raise NotImplementedError

    def _columns(self) -> tuple[np.ndarray[Any, Any], ...]:
        if self._content is None:
            self._content = self.read()
        return self._content

    def columns(self) -> list[str]:
        return list(self.names)

    def total(self) -> int:
        return len(self._columns()[0])

    def in_memory(self) -> Sequence[Array]:
        return self._columns()

    def labels(self) -> Any:
        return self._columns()[1]

    def _found(self, names: Sequence[str]) -> list[str]:
        """The paths of files, each of which must be there."""
        paths = []
        for name in names:
            path = os.path.join(self.dataset_dir, name)
            if not os.path.isfile(path):
                raise RuntimeError(f"{type(self).__name__}: there is no file {name} in {self.dataset_dir}")
            paths.append(path)
        return paths


def read_idx(path: str) -> np.ndarray[Any, Any]:
    """The array in a file of the format IDX, as MNIST is in, perhaps compressed.

    Args:
        path: its path.

    Raises:
        RuntimeError: the file is damaged.
    """
    opened: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as stream:
        content = stream.read()
    rank = content[3] if len(content) >= 4 and content[:3] == b"\0\0\x08" else -1
    shape = tuple(np.frombuffer(content, ">u4", max(rank, 0), 4).tolist()) if len(content) >= 4 + 4 * rank else ()
    if rank < 1 or len(content) != 4 + 4 * rank + int(np.prod(shape)):
        raise RuntimeError(f"{path} is no file of MNIST's format, or is damaged")
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(shape)


class MnistDataset(_InMemory):
    """MNIST: images of digits of 28 x 28 x 1, and labels.

    Args:
        dataset_dir: the folder of the four files.
        usage: ``"train"``, ``"test"``, or ``"all"``, which are those that are there.
        num_samples: how many rows at most.
        num_parallel_workers: how many workers it has.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    def read(self) -> tuple[np.ndarray[Any, Any], ...]:
        wanted = {"train": ("train",), "test": ("t10k",)}.get(self.usage, ("t10k", "train"))
        # of all parts those that are there: each may have a folder of its own
        present = [part for part in wanted if self._path(part, "images", 3) or self._path(part, "labels", 1)]
        images, labels = [], []
        for part in present or wanted:
            images.append(self._one(part, "images", 3))
            labels.append(self._one(part, "labels", 1))
            if len(images[-1]) != len(labels[-1]):
                raise RuntimeError(f"{type(self).__name__}: as many images as labels are expected")
        return np.concatenate(images)[..., None], np.concatenate(labels).astype(np.uint32)

    def _path(self, part: str, what: str, rank: int) -> str | None:
        for name in (f"{part}-{what}-idx{rank}-ubyte", f"{part}-{what}.idx{rank}-ubyte"):
            for ending in ("", ".gz"):
                path = os.path.join(self.dataset_dir, name + ending)
                if os.path.isfile(path):
                    return path
        return None

    def _one(self, part: str, what: str, rank: int) -> np.ndarray[Any, Any]:
        path = self._path(part, what, rank)
        if path is None:
            name = f"{part}-{what}-idx{rank}-ubyte"
            raise RuntimeError(f"{type(self).__name__}: there is no file {name} in {self.dataset_dir}")
        return read_idx(path)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST: images of clothes of 28 x 28 x 1, and labels; the arguments are those of `MnistDataset`."""


class KMnistDataset(MnistDataset):
    """Kuzushiji-MNIST: images of characters of 28 x 28 x 1, and labels; the arguments are those of `MnistDataset`."""


class Cifar10Dataset(_InMemory):
    """CIFAR-10: images of 32 x 32 x 3, and labels, from its binary files.

    Args:
        dataset_dir: the folder of the files.
        usage: ``"train"``, ``"test"`` or ``"all"``.
        num_samples: how many rows at most.
        num_parallel_workers: how many workers it has.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
    """

    training: ClassVar[tuple[str, ...]] = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
    testing: ClassVar[tuple[str, ...]] = ("test_batch.bin",)
    #: bytes before the image
    before: ClassVar[int] = 1

    def read(self) -> tuple[np.ndarray[Any, Any], ...]:
        wanted = sorted(
            (self.training if self.usage != "test" else ()) + (self.testing if self.usage != "train" else ())
        )
        present = [name for name in wanted if os.path.isfile(os.path.join(self.dataset_dir, name))]
        parts = []
        for path in self._found(present or wanted):
            content = read_bytes(path)
            if not content.size or content.size % (self.before + 3072):
                raise RuntimeError(f"{path} is no binary file of CIFAR's format, or is damaged")
            parts.append(content.reshape(-1, self.before + 3072))
        content = np.concatenate(parts)
        images = content[:, self.before :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = [content[:, place].astype(np.uint32) for place in range(self.before)]
        return (np.ascontiguousarray(images), *labels)


class Cifar100Dataset(Cifar10Dataset):
    """CIFAR-100: images of 32 x 32 x 3, coarse and fine labels; the arguments are those of `Cifar10Dataset`."""

    names = ("image", "coarse_label", "fine_label")
    training = ("train.bin",)
    testing = ("test.bin",)
    before = 2

    def labels(self) -> Any:
        return self._columns()[2]


class ImageFolderDataset(MappableDataset, VisionBaseDataset):
    """Images in folders, one for each class.

    Args:
        dataset_dir: the folder of the folders.
        num_samples: how many rows at most.
        num_parallel_workers: how many images may be in work at once.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        extensions: endings of the files that are read; all, if not given.
        class_indexing: the number of each class by the name of its folder; in the order of the names, if not given.
        decode: whether the images are decoded.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
        decrypt: called with a path, gives the bytes of the image.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        sampler: Any = None,
        extensions: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise TypeError(f"class_indexing must be a dict, not {type(class_indexing).__name__}")
        self.extensions = None if extensions is None else tuple(names_of("extensions", extensions))
        self.class_indexing = class_indexing
        self.decode = decode
        self.decrypt = decrypt
        self._files: list[tuple[str, int]] | None = None
        self._classes: dict[str, int] = {}

    def _listed(self) -> list[tuple[str, int]]:
        if self._files is None:
            endings = "" if self.extensions is None else tuple(each.lower() for each in self.extensions)
            found = sorted(entry.name for entry in os.scandir(self.dataset_dir) if entry.is_dir())
            if self.class_indexing is None:
                self._classes = {name: number for number, name in enumerate(found)}
            else:
                self._classes = dict(self.class_indexing)
                for name in self._classes:
                    if name not in found:
                        raise RuntimeError(f"ImageFolderDataset: there is no folder {name} in {self.dataset_dir}")
            files: list[tuple[str, int]] = []
            for name in sorted(self._classes):
                for folder, _, inside in sorted(os.walk(os.path.join(self.dataset_dir, name))):
                    paths = [os.path.join(folder, each) for each in sorted(inside) if each.lower().endswith(endings)]
                    files.extend((path, self._classes[name]) for path in paths)
            if not files:
                raise RuntimeError(f"ImageFolderDataset: there are no images in the folders of {self.dataset_dir}")
            self._files = files
        return self._files

    def columns(self) -> list[str]:
        return ["image", "label"]

    def total(self) -> int:
        return len(self._listed())

    def row_at(self, place: int) -> Row:
        path, label = self._listed()[place]
        content = read_bytes(path) if self.decrypt is None else np.frombuffer(self.decrypt(path), np.uint8)
        return (decoded(content, path) if self.decode else content), np.asarray(label, np.int32)

    def labels(self) -> Any:
        return [label for _, label in self._listed()]

    def num_classes(self) -> int | None:
        self._listed()
        return len(self._classes)

    def get_class_indexing(self) -> dict[str, Any]:
        if self.class_indexing is None:
            self._listed()
            return dict(self._classes)
        return dict(self.class_indexing)
