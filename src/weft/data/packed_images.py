"""Sources of images that many of a file hold, and of those that are made: EMNIST, QMNIST, STL10, SVHN, Semeion..."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.data.checks import integer, names_of
from weft.data.conversion import Row
from weft.data.declared import NEEDED, PARTS, Choice, Declared, Given, Listed, matlab, number
from weft.data.files import decoded, read_bytes, read_idx
from weft.data.kinds import VisionBaseDataset
from weft.data.schema import Schema
from weft.data.sources import MappableDataset


class _Packed(Listed, VisionBaseDataset):
    """Images that are read at once and stay in memory."""

    names = ("image", "label")
    class_part: ClassVar[int | None] = 1

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        """For each file the images and the labels."""
        raise NotImplementedError

    def entries(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for images, labels in self.arrays():
            if len(images) != len(labels):
                raise self.failed("as many images as labels are expected")
            found += zip(images, labels, strict=True)
        return found


class EMnistDataset(_Packed):
    """EMNIST: images of letters and digits of 28 x 28 x 1, and labels."""

    own = {"name": Choice(("byclass", "bymerge", "balanced", "letters", "digits", "mnist"), NEEDED), "usage": PARTS}
    name: str
    usage: str

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        for part in ("test", "train"):
            if self.usage in (part, "all"):
                begin = f"emnist-{self.name}-{part}"
                images = read_idx(self.found(f"{begin}-images-idx3-ubyte"))
                yield images[..., None], number(read_idx(self.found(f"{begin}-labels-idx1-ubyte")))


class QMnistDataset(_Packed):
    """QMNIST: images of digits of 28 x 28 x 1, and labels, or all that is known of each."""

    own = {
        "usage": Choice(("train", "test", "test10k", "test50k", "nist", "all"), None, "all"),
        "compat": Given("whether the label is the class, or eight numbers.", True),
    }
    usage: str
    compat: bool

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        rows = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(self.usage, slice(None))
        parts = (("train", "qmnist-train"), ("test", "qmnist-test"), ("nist", "xnist"))
        for part, name in parts:
            if self.usage in (part, "all") or (part == "test" and self.usage.startswith("test")):
                images = read_idx(self.found(f"{name}-images-idx3-ubyte"))[..., None]
                labels = self._facts(self.found(f"{name}-labels-idx2-int"))
                yield images[rows], (labels[:, 0] if self.compat else labels)[rows]

    def _facts(self, path: str) -> np.ndarray[Any, Any]:
        content = read_bytes(path).tobytes()
        if len(content) < 12 or content[:4] != b"\0\0\x0c\x02" or (len(content) - 12) % 32:
            raise self.failed(f"{path} is no file of QMNIST's labels, or is damaged")
        return np.frombuffer(content, ">i4", offset=12).reshape(-1, 8).astype(np.uint32)

    def labels(self) -> Any:
        return [int(np.ravel(entry[1])[0]) for entry in self.known()]


class STL10Dataset(_Packed):
    """STL-10: images of 96 x 96 x 3, and labels from 0 (int32), -1 where there is none."""

    own = {"usage": Choice(("train", "test", "unlabeled", "train+unlabeled", "all"), None, "all")}
    usage: str

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        for part in ("test", "train", "unlabeled"):
            if self.usage == "all" or part in self.usage.split("+"):
                content = read_bytes(self.found(f"{part}_X.bin"))
                if content.size % 27648:
                    raise self.failed(f"{part}_X.bin is damaged")
                images = content.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)
                if part == "unlabeled":
                    yield images, np.full(len(images), -1, np.int32)
                else:
                    yield images, read_bytes(self.found(f"{part}_y.bin")).astype(np.int32) - 1


class SVHNDataset(_Packed):
    """SVHN: images of house numbers of 32 x 32 x 3, and labels."""

    own = {"usage": Choice(("train", "test", "extra", "all"), None, "all")}
    shared = "num_samples num_parallel_workers=1 shuffle sampler num_shards shard_id"
    usage: str

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        for part in ("train", "test", "extra"):
            if self.usage in (part, "all"):
                path = self.path(f"{part}_32x32.mat")
                labels = matlab(path, "y").ravel()
                yield matlab(path, "X").transpose(3, 0, 1, 2), number(np.where(labels == 10, 0, labels))


class SemeionDataset(_Packed):
    """Semeion: images of digits of 16 x 16, and labels."""

    class_part = None

    def arrays(self) -> Iterator[tuple[Any, Any]]:
        try:
            values = np.array([[float(value) for value in line.split()] for line in self.lines("semeion.data")])
        except ValueError as error:
            raise self.failed(f"semeion.data cannot be read: {error}") from error
        if values.ndim != 2 or values.shape[1] != 266:
            raise self.failed("semeion.data has a line without 266 values")
        yield values[:, :256].astype(np.uint8).reshape(-1, 16, 16), number(values[:, 256:].argmax(1))


_TOURS: Final = ("notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris", "liberty_harris")


@dataclass(frozen=True, slots=True)
class Patch:
    """A part of a row that is one of the 16 x 16 patches of an image.

    Args:
        folder: where the images are.
        place: the number of the patch in all of them.
    """

    folder: str
    place: int

    def read(self, decode: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """The patch, of 64 x 64 x 1."""
        path = os.path.join(self.folder, f"patches{self.place // 256:04}.bmp")
        image = decoded(read_bytes(path), path)
        row, column = divmod(self.place % 256, 16)
        return (image[row * 64 : row * 64 + 64, column * 64 : column * 64 + 64, :1].copy(),)


class PhotoTourDataset(Listed, VisionBaseDataset):
    """Photo Tour: patches of photos; for training image, and for tests image1, image2 and matches."""

    own = {"name": Choice(_TOURS, NEEDED), "usage": Choice(("train", "test"), None, "train")}
    name: str
    usage: str

    def columns(self) -> list[str]:
        return ["image"] if self.usage == "train" else ["image1", "image2", "matches"]

    def entries(self) -> list[tuple[Any, ...]]:
        folder = self.path(self.name)
        points = self.lines(self.name, "info.txt")
        if self.usage == "train":
            return [(Patch(folder, place),) for place in range(len(points))]
        found: list[tuple[Any, ...]] = []
        for line in self.lines(self.name, "m50_100000_100000_0.txt"):
            values = [int(value) for value in line.split()]
            if len(values) != 7:
                raise self.failed("m50_100000_100000_0.txt has a line without seven values")
            same = number(int(values[1] == values[4]))
            found.append((Patch(folder, values[0]), Patch(folder, values[3]), same))
        return found


class FakeImageDataset(Declared, MappableDataset, VisionBaseDataset):
    """Images of random numbers, the same for the same seed, columns image and label (uint32)."""

    first = ""
    own: ClassVar[dict[str, Choice | Given]] = {
        "num_images": Given("how many there are.", 1000),
        "image_size": Given("height, width and channels.", (224, 224, 3)),
        "num_classes": Given("how many classes there are.", 10),
        "base_seed": Given("what the number of each image is added to, to draw it.", 0),
    }
    names = ("image", "label")
    num_images: int
    image_size: Any
    base_seed: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(**self._given(args, kwargs))
        integer(self.num_images, "num_images")
        integer(self.options["num_classes"], "num_classes")
        if not isinstance(self.image_size, (list, tuple)):
            raise TypeError(f"image_size should be a list or tuple, but got {self.image_size!r}.")
        if len(self.image_size) != 3:
            raise ValueError(f"image_size should be a list or tuple of length 3, but got {len(self.image_size)}")
        for place, each in enumerate(self.image_size):
            integer(each, f"image_size[{place}]")

    def total(self) -> int:
        return self.num_images

    def num_classes(self) -> int | None:
        return int(self.options["num_classes"])

    def row_at(self, place: int) -> Row:
        draw = np.random.default_rng((self.base_seed + place) % 2**64)
        image = draw.integers(0, 256, tuple(self.image_size), np.uint8)
        return image, number(draw.integers(0, self.options["num_classes"]))

    def labels(self) -> Any:
        return [int(self.row_at(place)[1]) for place in range(self.num_images)]


class RandomDataset(Declared, MappableDataset, VisionBaseDataset):
    """Rows of random numbers of the types and shapes that a schema says."""

    first = ""
    own: ClassVar[dict[str, Choice | Given]] = {
        "total_rows": Given("how many there are; a random number, if not given.", None),
        "schema": Given("types and shapes of the columns; random, if not given.", None),
        "columns_list": Given("the columns that there are, or names for random ones.", None),
    }
    shared = "num_samples num_parallel_workers cache shuffle num_shards shard_id"
    total_rows: Any
    schema: Any
    columns_list: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(**self._given(args, kwargs))
        if self.total_rows is not None and (isinstance(self.total_rows, bool) or not isinstance(self.total_rows, int)):
            raise TypeError(f"Argument total_rows with value {self.total_rows} is not of type [{int}].")
        if self.total_rows is not None and self.total_rows < 0:
            raise RuntimeError(f"RandomDataset: 'total_rows' must be at least 0, but got {self.total_rows}")
        draw = np.random.default_rng()
        self._count = int(draw.integers(1, 1000)) if self.total_rows is None else self.total_rows
        self._drawn: dict[str, tuple[Any, tuple[int, ...]]] = {}
        if self.schema is not None:
            schema = self.schema if isinstance(self.schema, Schema) else Schema(self.schema)
            for column in schema.columns:
                shape = tuple(max(int(each), 1) for each in column.get("shape") or [1])
                self._drawn[column["name"]] = (np.dtype(dtypes.to_np(dtypes.of(column["type"]))), shape)
            if self.columns_list is not None:
                wanted = names_of("columns_list", self.columns_list)
                self._drawn = {name: self._drawn[name] for name in wanted if name in self._drawn}
        else:
            names = ["c0", "c1"] if self.columns_list is None else names_of("columns_list", self.columns_list)
            for name in names:
                self._drawn[name] = (np.dtype(np.uint8), (int(draw.integers(1, 9)),))
        self._seed = int(draw.integers(2**32))

    def columns(self) -> list[str]:
        return list(self._drawn)

    def total(self) -> int:
        return self._count

    def row_at(self, place: int) -> Row:
        draw = np.random.default_rng((self._seed, place))
        return tuple([_drawn(draw, kind, shape) for kind, shape in self._drawn.values()])


def _drawn(draw: np.random.Generator, kind: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
    if kind.kind == "b":
        return draw.integers(0, 2, shape).astype(bool)
    return draw.random(shape).astype(kind)
