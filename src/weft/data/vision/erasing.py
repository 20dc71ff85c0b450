"""Operations that cover parts of an image, and those that mix images of a batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from weft.data import checks
from weft.data.operation import Operation
from weft.data.randomness import generator
from weft.data.vision import on_arrays
from weft.data.vision.enums import ImageBatchFormat
from weft.data.vision.image_operation import ONLY_ARRAYS, ImageOperation, between, happens, integer_between


class CutOut(ImageOperation):
    """Black squares at places by chance.

    Args:
        length: side of the squares.
        num_patches: how many there are.
        is_hwc: whether the channels come last.
    """

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = checks.integer(length, "length", 1, checks.MOST)
        self.num_patches = checks.integer(num_patches, "num_patches", 1, checks.MOST)
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image, (3,))
        height, width = image.shape[:2] if self.is_hwc else image.shape[1:]
        if self.length > height or self.length > width:
            raise RuntimeError(
                f"box size is too large for image erase, got length {self.length}, and image height: {height}, image "
                f"width: {width}."
            )
        done = image.copy()
        for _ in range(self.num_patches):
            # a square may stand over the edge, and beside the image
            top, left = integer_between(-self.length, height), integer_between(-self.length, width)
            rows = slice(max(0, top), top + self.length)
            columns = slice(max(0, left), left + self.length)
            done[(rows, columns) if self.is_hwc else (slice(None), rows, columns)] = 0
        return done


class Erase(ImageOperation):
    """A rectangle of one colour over the image.

    Args:
        top: its first row.
        left: its first column.
        height: its rows.
        width: its columns.
        value: its colour, a number or three.
        inplace: whether the image itself is changed.
    """

    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0.0, inplace: bool = False) -> None:
        self.top, self.left = checks.integer(top, "top", 0), checks.integer(left, "left", 0)
        self.height, self.width = checks.integer(height, "height"), checks.integer(width, "width")
        checks.of_type(value, (float, int, tuple), "value")
        self.value = value if isinstance(value, tuple) else (value, value, value)
        if len(self.value) != 3:
            raise TypeError(f"value should be a single integer/float or a 3-tuple, but got {value!r}.")
        for place, each in enumerate(self.value):
            checks.real(each, f"value[{place}]", 0, 255)
        self.inplace = checks.boolean(inplace, "inplace")

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image, (3,), (3,))
        height, width = image.shape[:2]
        if self.top + self.height > height or self.left + self.width > width:
            raise RuntimeError(
                f"box size is too large for image erase, got box from ({self.top}, {self.left}) of height: "
                f"{self.height}, width: {self.width}, and image height: {height}, image width: {width}."
            )
        done = image if self.inplace else image.copy()
        done[self.top : self.top + self.height, self.left : self.left + self.width] = self.value
        return done


class RandomErasing(ImageOperation):
    """A rectangle by chance over an image (C, H, W), with a probability.

    Args:
        prob: the probability.
        scale: range of the area of the rectangle, of that of the image.
        ratio: range of its width over its height.
        value: its colour: a number, three, or ``"random"`` for noise.
        inplace: whether the image itself is changed.
        max_attempts: how often a rectangle is drawn before the image is left as it is.
    """

    takes = ONLY_ARRAYS
    in_python = True

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        self.prob = checks.probability(prob)
        self.scale = checks.interval(scale, "scale")
        self.ratio = checks.interval(ratio, "ratio")
        checks.within(self.ratio[0], 0, checks.MOST, "ratio", without_low=True)
        self.value = self._checked_value(value)
        self.inplace = checks.boolean(inplace, "inplace")
        self.max_attempts = checks.integer(max_attempts, "max_attempts")

    @staticmethod
    def _checked_value(value: Any) -> Any:
        checks.of_type(value, (int, list, tuple, str), "value")
        if value == "random":
            return value
        values = value if isinstance(value, (tuple, list)) else (value,)
        if isinstance(value, str) or (isinstance(value, (tuple, list)) and len(value) != 3):
            raise ValueError(
                "The value for erasing should be either a single value, or a string 'random', or a sequence of 3 "
                f"elements for RGB respectively, but got {value!r}."
            )
        for each in values:
            checks.of_type(each, int, "value")
            checks.within(each, 0, 255, "value")
        return values

    def on(self, image: Any, room: ModuleType) -> Any:
        if image.ndim != 3:
            raise ValueError(f"{self.name}: the image should have shape <C,H,W>, but got shape {image.shape}.")
        if not happens(self.prob):
            return image
        channels, height, width = image.shape
        for _ in range(self.max_attempts):
            area = between(*self.scale) * height * width
            ratio = between(*self.ratio)
            rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if not (rows < height and columns < width):
                continue
            top, left = integer_between(0, height - rows), integer_between(0, width - columns)
            done = image if self.inplace else image.copy()
            if self.value == "random":
                covered: Any = generator().normal(size=(channels, rows, columns)).astype(image.dtype)
            else:
                covered = np.array(self.value).reshape(-1, 1, 1)
            done[:, top : top + rows, left : left + columns] = covered
            return done
        return image


def _weight(alpha: float) -> float:
    return float(generator().beta(alpha, alpha))


def _blend(kept: Any, other: Any, weight: Any) -> Any:
    return kept * weight + other * (1 - weight)


class MixUp(Operation):
    """Images and labels of a batch, each blended with those of another.

    Args:
        batch_size: how many images a batch has.
        alpha: parameter of the beta distribution of the weights.
        is_single: whether images are blended with the next of their batch; else with those of the batch before.
    """

    columns = 2
    in_python = True

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.batch_size = checks.integer(batch_size, "batch_size", 1, checks.MOST)
        self.alpha = checks.real(alpha, "alpha", 0, without_low=True)
        self.is_single = checks.boolean(is_single, "is_single")
        self.before: tuple[Any, Any] | None = None

    def apply(self, *columns: Any) -> Any:
        images, labels = columns
        if labels.ndim == 1:
            labels = np.eye(int(labels.max()) + 1)[labels.astype(np.int64)]
        if len(images) != len(labels):
            raise ValueError(f"{self.name}: got {len(images)} images, but {len(labels)} labels.")
        images = images.astype(np.float64)
        order = np.roll(np.arange(len(images)), -1)
        before, self.before = self.before, (images, labels)
        if self.is_single:
            other_images, other_labels = images[order], labels[order]
        elif before is not None and before[0].shape == images.shape and before[1].shape == labels.shape:
            other_images, other_labels = before
        else:
            other_images, other_labels = images, labels
        weights = generator().beta(self.alpha, self.alpha, len(images))
        of_images = weights.reshape(-1, *[1] * (images.ndim - 1))
        of_labels = weights.reshape(-1, *[1] * (labels.ndim - 1))
        return _blend(images, other_images, of_images), _blend(labels, other_labels, of_labels)


class _OfBatches(Operation):
    """What the steps on a batch of images and one-hot labels have in common."""

    columns = 2

    def checked(self, images: Any, labels: Any) -> None:
        """Refuse what is no such batch."""
        if images.ndim != 4:
            raise self.wrong(f"images should have four dimensions, batch them first, but got shape {images.shape}.")
        if labels.ndim not in (2, 3):
            raise self.wrong(
                f"labels should have shape <Batch,Class> or <Batch,Row,Class>, but got shape {labels.shape}. You may "
                "need to perform OneHot and Batch first."
            )
        if len(images) != len(labels):
            raise self.wrong(f"got {len(images)} images, but {len(labels)} labels.")


class MixUpBatch(_OfBatches):
    """Images and one-hot labels of a batch, each blended with those of another by one weight.

    Args:
        alpha: parameter of the beta distribution of the weight.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = checks.real(alpha, "alpha", 0, without_low=True)

    def apply(self, *columns: Any) -> Any:
        images, labels = columns
        self.checked(images, labels)
        weight = _weight(self.alpha)
        order = generator().permutation(len(images))
        mixed = _blend(images.astype(np.float32), images[order].astype(np.float32), np.float32(weight))
        new_labels = _blend(labels.astype(np.float32), labels[order].astype(np.float32), np.float32(weight))
        return mixed.astype(images.dtype), new_labels


class CutMixBatch(_OfBatches):
    """Images of a batch, each with a rectangle of another, and their one-hot labels by area.

    Args:
        image_batch_format: where the channels are.
        alpha: parameter of the beta distribution of the area.
        prob: the probability for each image.
    """

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        checks.of_type(image_batch_format, ImageBatchFormat, "image_batch_format")
        self.last = image_batch_format == ImageBatchFormat.NHWC
        self.alpha = checks.real(alpha, "alpha", 0, without_low=True)
        self.prob = checks.real(prob, "prob", 0, 1)

    def apply(self, *columns: Any) -> Any:
        images, labels = columns
        self.checked(images, labels)
        channels = images.shape[-1 if self.last else 1]
        if channels not in (1, 3):
            raise self.wrong(f"images should have 1 or 3 channels, but got {channels}.")
        height, width = images.shape[1:3] if self.last else images.shape[2:]
        order = generator().permutation(len(images))
        mixed, new_labels = images.copy(), labels.astype(np.float32)
        for place, other in enumerate(order):
            if not happens(self.prob):
                continue
            rows, columns_ = self._box(height, width)
            part = (rows, columns_) if self.last else (slice(None), rows, columns_)
            mixed[(place, *part)] = images[(other, *part)]
            covered = (rows.stop - rows.start) * (columns_.stop - columns_.start) / (height * width)
            new_labels[place] = _blend(
                labels[place].astype(np.float32), labels[other].astype(np.float32), np.float32(1 - covered)
            )
        return mixed, new_labels

    def _box(self, height: int, width: int) -> tuple[slice, slice]:
        side = math.sqrt(1 - _weight(self.alpha))
        rows, columns = int(height * side), int(width * side)
        row, column = integer_between(0, height - 1), integer_between(0, width - 1)
        return (
            slice(max(0, row - rows // 2), min(height, row + rows // 2)),
            slice(max(0, column - columns // 2), min(width, column + columns // 2)),
        )
