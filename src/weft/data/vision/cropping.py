"""Operations that take parts of an image or add to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from weft.data import checks
from weft.data.vision import on_arrays
from weft.data.vision.enums import Border, Inter, SliceMode
from weft.data.vision.geometry import resized
from weft.data.vision.image_operation import (
    BOTH,
    ONLY_PIL,
    ImageOperation,
    between,
    checked_border,
    checked_inter,
    integer_between,
)
from weft.data.vision.values import Decode, decoded

Box = tuple[int, int, int, int]


class CenterCrop(ImageOperation):
    """The middle of the image, with black around it where it is too small.

    Args:
        size: height and width, or one number for both.
    """

    takes = BOTH

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = checks.square(size)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.center_crop(image, *self.size)


class Crop(ImageOperation):
    """A part of the image.

    Args:
        coordinates: (top, left) of the part.
        size: its height and width, or one number for both.
    """

    def __init__(self, coordinates: Sequence[int], size: int | Sequence[int]) -> None:
        top, left = checks.pair(coordinates, "coordinates", "(y, x)")
        self.top = checks.integer(top, "coordinates[0]", 0)
        self.left = checks.integer(left, "coordinates[1]", 0)
        self.size = checks.square(size)

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        return room.crop(image, self.top, self.left, *self.size)


class ResizedCrop(ImageOperation):
    """A part of the image in another size.

    Args:
        top: first row of the part.
        left: first column of the part.
        height: rows of the part.
        width: columns of the part.
        size: height and width of the result, or one number for both.
        interpolation: how values between pixels are found.
    """

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: int | Sequence[int],
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        self.part = (
            checks.integer(top, "top", 0),
            checks.integer(left, "left", 0),
            checks.integer(height, "height"),
            checks.integer(width, "width"),
        )
        self.size = checks.square(size)
        self.interpolation = checked_inter(interpolation)

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        return resized(room.crop(image, *self.part), self.size, self.interpolation, room)


class Pad(ImageOperation):
    """The image with pixels added.

    Args:
        padding: how many: one number, (left and right, top and bottom) or (left, top, right, bottom).
        fill_value: their colour, an int or three.
        padding_mode: what they show.
    """

    takes = BOTH

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self.padding = checks.padding(padding)
        self.fill = checks.colour(fill_value)
        self.padding_mode = checked_border(padding_mode)

    def on(self, image: Any, room: ModuleType) -> Any:
        if room is on_arrays:
            on_arrays.needs(image, channels=(1, 3) if image.ndim == 3 else ())
        return room.pad(image, *self.padding, self.fill, self.padding_mode)


class PadToSize(ImageOperation):
    """The image with pixels added up to a size.

    Args:
        size: height and width, or one number for both.
        offset: (top, left) of the image in the result, or one number for both; None for the middle.
        fill_value: colour of the added pixels, an int or three.
        padding_mode: what they show.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        offset: int | Sequence[int] | None = None,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        checks.of_type(size, (int, list, tuple), "size")
        self.size = checks.square(size if isinstance(size, int) else checks.pair(size, "size", "(h, w)", ValueError))
        self.offset = None if offset is None else _checked_offset(offset)
        self.fill = checks.colour(fill_value)
        self.padding_mode = checked_border(padding_mode)

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image, channels=(1, 3) if image.ndim == 3 else ())
        beyond = [wanted - is_now for wanted, is_now in zip(self.size, room.size_of(image), strict=True)]
        top, left = (beyond[0] // 2, beyond[1] // 2) if self.offset is None else self.offset
        bottom, right = beyond[0] - top, beyond[1] - left
        if min(*beyond, bottom, right) < 0:
            raise RuntimeError(
                f"the target size {self.size} is smaller than the offset {(top, left)} and the size of the image "
                f"{room.size_of(image)}."
            )
        return room.pad(image, left, top, right, bottom, self.fill, self.padding_mode)


def _checked_offset(offset: Any) -> tuple[int, int] | None:
    checks.of_type(offset, (int, list, tuple), "offset")
    if isinstance(offset, int):
        each = checks.integer(offset, "offset", 0)
        return each, each
    if len(offset) == 0:
        return None
    if len(offset) != 2:
        raise ValueError(f"The offset must be empty or a sequence of length 2, but got {offset!r}.")
    return checks.integer(offset[0], "offset[0]", 0), checks.integer(offset[1], "offset[1]", 0)


class RandomCrop(ImageOperation):
    """A part of the image, its place by chance.

    Args:
        size: height and width of the part, or one number for both.
        padding: how many pixels are added first, as in `Pad`.
        pad_if_needed: whether more are added where the image is smaller than the part.
        fill_value: colour of the added pixels, an int or three.
        padding_mode: what they show.
    """

    takes = BOTH

    def __init__(
        self,
        size: int | Sequence[int],
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        checks.of_type(size, (int, list, tuple), "size")
        self.size = checks.square(size)
        self.padding = (0, 0, 0, 0) if padding is None else checks.padding(padding)
        self.pad_if_needed = checks.boolean(pad_if_needed, "pad_if_needed")
        self.fill = checks.colour(checks.given(fill_value, 0))
        self.padding_mode = checked_border(checks.given(padding_mode, Border.CONSTANT))

    def on(self, image: Any, room: ModuleType) -> Any:
        image, _ = self.padded(image, room)
        return room.crop(image, *self.part(image, room))

    def padded(self, image: Any, room: ModuleType) -> tuple[Any, tuple[int, int]]:
        """The image with pixels added, and how many at the top and on the left."""
        left, top, right, bottom = self.padding
        height, width = room.size_of(image)
        if self.pad_if_needed:
            above = max(0, self.size[0] - (height + top + bottom))
            beside = max(0, self.size[1] - (width + left + right))
            left, right, top, bottom = left + beside, right + beside, top + above, bottom + above
        if left or top or right or bottom:
            image = room.pad(image, left, top, right, bottom, self.fill, self.padding_mode)
        return image, (top, left)

    def part(self, image: Any, room: ModuleType) -> Box:
        """Top, left, height and width of a part, by chance."""
        whole = room.size_of(image)
        height, width = self.size
        if height > whole[0] or width > whole[1]:
            error = RuntimeError if room is on_arrays else ValueError
            raise error(f"Crop size {self.size} is larger than input image size {whole}.")
        return integer_between(0, whole[0] - height), integer_between(0, whole[1] - width), height, width


class RandomResizedCrop(ImageOperation):
    """A part of the image, its place, size and ratio by chance, in a given size.

    Args:
        size: height and width of the result, or one number for both.
        scale: range of the area of the part, of that of the image.
        ratio: range of its width over its height.
        interpolation: how values between pixels are found.
        max_attempts: how often a part is drawn before the middle is taken.
    """

    takes = BOTH

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self.size = checks.square(size)
        self.scale = checks.interval(checks.given(scale, (0.08, 1.0)), "scale")
        self.ratio = checks.interval(checks.given(ratio, (3.0 / 4.0, 4.0 / 3.0)), "ratio")
        for name, high in (("scale", self.scale[1]), ("ratio", self.ratio[0])):
            checks.within(high, 0, checks.MOST, name, without_low=True)
        self.interpolation = checked_inter(checks.given(interpolation, Inter.BILINEAR))
        self.max_attempts = checks.integer(checks.given(max_attempts, 10), "max_attempts")
        if self.interpolation == Inter.ANTIALIAS:
            self.takes = ONLY_PIL
            self.in_python = True

    def on(self, image: Any, room: ModuleType) -> Any:
        part = room.crop(image, *self.part(*room.size_of(image)))
        return room.resize(part, *self.size, self.interpolation)

    def part(self, height: int, width: int) -> Box:
        """Top, left, height and width of a part, by chance."""
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(self.max_attempts):
            area = between(*self.scale) * height * width
            ratio = math.exp(between(low, high))
            part_width, part_height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < part_width <= width and 0 < part_height <= height:
                top = integer_between(0, height - part_height)
                return top, integer_between(0, width - part_width), part_height, part_width
        part_height, part_width = height, width
        if width / height < self.ratio[0]:
            part_height = max(1, round(width / self.ratio[0]))
        elif width / height > self.ratio[1]:
            part_width = max(1, round(height * self.ratio[1]))
        return (height - part_height + 1) // 2, (width - part_width + 1) // 2, part_height, part_width


class RandomCropDecodeResize(RandomResizedCrop):
    """`RandomResizedCrop` of the image that encoded bytes hold.

    Args:
        size: height and width of the result, or one number for both.
        scale: range of the area of the part, of that of the image.
        ratio: range of its width over its height.
        interpolation: how values between pixels are found.
        max_attempts: how often a part is drawn before the middle is taken.
    """

    takes = BOTH

    def received(self, column: Any) -> Any:
        return Decode().received(column)

    def on(self, image: Any, room: ModuleType) -> Any:
        return super().on(decoded(image, self.name), room)


class FiveCrop(ImageOperation):
    """The four corners and the middle of the image.

    Args:
        size: height and width of each part, or one number for both.
    """

    takes = ONLY_PIL
    in_python = True

    def __init__(self, size: int | Sequence[int]) -> None:
        checks.of_type(size, (int, list, tuple), "size")
        self.size = checks.square(size)

    def on(self, image: Any, room: ModuleType) -> Any:
        height, width = self.size
        whole_height, whole_width = room.size_of(image)
        if height > whole_height or width > whole_width:
            raise ValueError(f"Crop size {self.size} is larger than input image size {room.size_of(image)}.")
        down, right = whole_height - height, whole_width - width
        corners = [room.crop(image, top, left, height, width) for top in (0, down) for left in (0, right)]
        return (*corners, room.center_crop(image, height, width))


class TenCrop(FiveCrop):
    """The five parts of `FiveCrop`, and those of the flipped image.

    Args:
        size: height and width of each part, or one number for both.
        use_vertical_flip: whether the image is flipped top to bottom instead of left to right.
    """

    def __init__(self, size: int | Sequence[int], use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.use_vertical_flip = checks.boolean(checks.given(use_vertical_flip, False), "use_vertical_flip")

    def on(self, image: Any, room: ModuleType) -> Any:
        flipped = room.flip_vertical(image) if self.use_vertical_flip else room.flip_horizontal(image)
        return (*super().on(image, room), *super().on(flipped, room))


class SlicePatches(ImageOperation):
    """The image as patches of one size, row by row.

    Args:
        num_height: how many patches there are from top to bottom.
        num_width: how many from left to right.
        slice_mode: whether the image is padded to fill the patches, or what does not fill one is dropped.
        fill_value: colour of added pixels.
    """

    def __init__(
        self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0
    ) -> None:
        self.counts = (
            checks.integer(checks.given(num_height, 1), "num_height"),
            checks.integer(checks.given(num_width, 1), "num_width"),
        )
        slice_mode = checks.given(slice_mode, SliceMode.PAD)
        checks.of_type(slice_mode, SliceMode, "slice_mode")
        self.drop = slice_mode == SliceMode.DROP
        self.fill = checks.integer(checks.given(fill_value, 0), "fill_value", 0, 255)

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        whole = image.shape[:2]
        for count, length, axis in zip(self.counts, whole, ("height", "width"), strict=True):
            if count > length:
                raise RuntimeError(
                    f"the number of patches on the {axis} axis, {count}, is greater than {axis} {length}."
                )
        lengths = [
            length // count if self.drop else -(-length // count)
            for count, length in zip(self.counts, whole, strict=True)
        ]
        added = [max(0, count * length - now) for count, length, now in zip(self.counts, lengths, whole, strict=True)]
        if any(added):
            beside = [(0, 0)] * (image.ndim - 2)
            image = np.pad(image, [(0, added[0]), (0, added[1]), *beside], constant_values=self.fill)
        patches = tuple(
            np.ascontiguousarray(image[row : row + lengths[0], column : column + lengths[1]])
            for row in range(0, self.counts[0] * lengths[0], lengths[0])
            for column in range(0, self.counts[1] * lengths[1], lengths[1])
        )
        return patches[0] if len(patches) == 1 else patches
