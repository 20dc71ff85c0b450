"""Operations on an image and its bounding boxes, the rows (x, y, width, height, ...) of a float32 array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.data import checks
from weft.data.operation import Operation
from weft.data.vision import on_arrays
from weft.data.vision.cropping import RandomCrop, RandomResizedCrop
from weft.data.vision.enums import Border, Inter
from weft.data.vision.geometry import random_interpolation, resized
from weft.data.vision.image_operation import checked_inter, happens


class _WithBBox(Operation):
    """A step on an image and its boxes."""

    columns = 2

    def apply(self, *columns: Any) -> Any:
        image, boxes = columns
        self._checked(image, boxes)
        try:
            done, moved = self.on(image, boxes.copy())
        except RuntimeError as wrong:
            raise self.wrong(str(wrong)) from None
        except on_arrays.opencv_error() as wrong:
            raise self.wrong(str(wrong).strip()) from wrong
        return done, moved

    def _checked(self, image: Any, boxes: Any) -> None:
        if boxes.ndim != 2 or boxes.shape[1] < 4:
            raise self.wrong(f"bounding boxes should have shape (N, 4) or more columns, but got {boxes.shape}.")
        if boxes.dtype != np.float32:
            raise self.wrong(f"bounding boxes should have element type float32, but got {boxes.dtype.name}.")
        height, width = on_arrays.size_of(image)
        x, y, across, along = boxes[:, :4].T
        if (x < 0).any() or (y < 0).any() or (across < 0).any() or (along < 0).any():
            raise self.wrong(f"bounding boxes should not have negative values, but got {boxes[:, :4].tolist()}.")
        if (x + across > width).any() or (y + along > height).any():
            raise self.wrong(
                f"bounding boxes {boxes[:, :4].tolist()} exceed the image of height {height} and width {width}."
            )

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        """The image and its boxes after the step.

        Args:
            image: the image.
            boxes: its boxes, which may be written.
        """
        raise NotImplementedError


class RandomHorizontalFlipWithBBox(_WithBBox):
    """Left and right exchanged with a probability.

    Args:
        prob: the probability.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = checks.probability(prob)

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        if not happens(self.prob):
            return image, boxes
        boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
        return on_arrays.flip_horizontal(image), boxes


class RandomVerticalFlipWithBBox(RandomHorizontalFlipWithBBox):
    """Top and bottom exchanged with a probability.

    Args:
        prob: the probability.
    """

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        if not happens(self.prob):
            return image, boxes
        boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
        return on_arrays.flip_vertical(image), boxes


def _scaled(boxes: Any, before: Sequence[int], after: Sequence[int]) -> Any:
    boxes[:, [0, 2]] *= np.float32(after[1] / before[1])
    boxes[:, [1, 3]] *= np.float32(after[0] / before[0])
    return boxes


class ResizeWithBBox(_WithBBox):
    """The image in another size.

    Args:
        size: height and width, or an int for the shorter side, the other in proportion.
        interpolation: how values between pixels are found.
    """

    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.LINEAR) -> None:
        self.size = checks.size(size)
        self.interpolation = checked_inter(interpolation)

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        done = resized(image, self.size, self.chosen(), on_arrays)
        return done, _scaled(boxes, image.shape, done.shape)

    def chosen(self) -> Inter:
        """How values between pixels are found now."""
        return self.interpolation


class RandomResizeWithBBox(ResizeWithBBox):
    """The image in another size, the interpolation by chance.

    Args:
        size: height and width, or an int for the shorter side, the other in proportion.
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__(size)

    def chosen(self) -> Inter:
        return random_interpolation()


def _cropped(boxes: Any, top: int, left: int, height: int, width: int) -> Any:
    """The boxes that a part of an image still shows; where it shows none, the part itself."""
    low_x, low_y = np.maximum(boxes[:, 0] - left, 0), np.maximum(boxes[:, 1] - top, 0)
    high_x = np.minimum(boxes[:, 0] + boxes[:, 2] - left, width)
    high_y = np.minimum(boxes[:, 1] + boxes[:, 3] - top, height)
    seen = (high_x > low_x) & (high_y > low_y)
    if not seen.any():
        none = np.zeros((1, boxes.shape[1]), np.float32)
        none[0, :4] = (0, 0, width, height)
        return none
    boxes[:, :4] = np.stack([low_x, low_y, high_x - low_x, high_y - low_y], -1)
    return boxes[seen]


class RandomCropWithBBox(_WithBBox):
    """`RandomCrop`, with boxes.

    Args:
        size: height and width of the part, or one number for both.
        padding: how many pixels are added first, as in `Pad`.
        pad_if_needed: whether more are added where the image is smaller than the part.
        fill_value: colour of the added pixels, an int or three.
        padding_mode: what they show.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.crop = RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        image, (above, beside) = self.crop.padded(image, on_arrays)
        top, left, height, width = self.crop.part(image, on_arrays)
        boxes[:, 0] += beside
        boxes[:, 1] += above
        return on_arrays.crop(image, top, left, height, width), _cropped(boxes, top, left, height, width)


class RandomResizedCropWithBBox(_WithBBox):
    """`RandomResizedCrop`, with boxes.

    Args:
        size: height and width of the result, or one number for both.
        scale: range of the area of the part, of that of the image.
        ratio: range of its width over its height.
        interpolation: how values between pixels are found.
        max_attempts: how often a part is drawn before the middle is taken.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self.crop = RandomResizedCrop(size, scale, ratio, interpolation, max_attempts)

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        top, left, height, width = self.crop.part(*image.shape[:2])
        part = on_arrays.crop(image, top, left, height, width)
        boxes = _cropped(boxes, top, left, height, width)
        size = self.crop.size
        return on_arrays.resize(part, *size, self.crop.interpolation), _scaled(boxes, (height, width), size)


class BoundingBoxAugment(_WithBBox):
    """An operation on what some of the boxes show.

    Args:
        transform: the operation.
        ratio: the probability for each box.
    """

    def __init__(self, transform: Any, ratio: float = 0.3) -> None:
        if not isinstance(transform, Operation):
            raise TypeError(
                f"Argument transform with value {transform} is not of type [{Operation}], but got {type(transform)}."
            )
        self.transform = transform
        self.ratio = checks.real(ratio, "ratio", 0.0, 1.0)

    def on(self, image: Any, boxes: Any) -> tuple[Any, Any]:
        image = image.copy()
        for box in boxes:
            x, y, across, along = box[:4].astype(np.int64)
            if not happens(self.ratio) or not across or not along:
                continue
            part = np.ascontiguousarray(image[y : y + along, x : x + across])
            done = self.transform(part)
            if done.shape != part.shape:
                done = on_arrays.resize(done, along, across, Inter.LINEAR)
            image[y : y + along, x : x + across] = done
        return image, boxes
