"""Operations that move pixels: sizes, flips, rotations, affine maps and perspectives."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from weft.data import checks
from weft.data.randomness import generator
from weft.data.vision import on_arrays
from weft.data.vision.enums import Inter
from weft.data.vision.image_operation import (
    BOTH,
    ONLY_PIL,
    ImageOperation,
    Sometimes,
    between,
    checked_inter,
    happens,
    integer_between,
)

_RANDOM_INTERPOLATIONS: Final = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)


def resized(image: Any, size: int | tuple[int, int], inter: Inter, room: ModuleType) -> Any:
    """An image in another size; an int is the length of the shorter side."""
    height, width = room.size_of(image)
    if isinstance(size, int):
        if height < width:
            size = (size, int(size * width / height))
        else:
            size = (int(size * height / width), size)
    return room.resize(image, size[0], size[1], inter)


class Resize(ImageOperation):
    """The image in another size.

    Args:
        size: height and width, or an int for the shorter side, the other in proportion.
        interpolation: how values between pixels are found.

    Example:
        >>> import numpy as np
        >>> Resize((8, 6))(np.zeros((4, 4, 3), np.uint8)).shape
        (8, 6, 3)
    """

    takes = BOTH

    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.LINEAR) -> None:
        self.size = checks.size(size)
        self.interpolation = checked_inter(interpolation)
        if self.interpolation == Inter.ANTIALIAS:
            self.takes = ONLY_PIL
            self.in_python = True

    def on(self, image: Any, room: ModuleType) -> Any:
        return resized(image, self.size, self.interpolation, room)


class RandomResize(ImageOperation):
    """`Resize`, with an interpolation by chance.

    Args:
        size: height and width, or an int for the shorter side.
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = checks.size(size)

    def on(self, image: Any, room: ModuleType) -> Any:
        return resized(image, self.size, random_interpolation(), room)


def random_interpolation() -> Inter:
    """A way of interpolating, by chance."""
    return _RANDOM_INTERPOLATIONS[integer_between(0, len(_RANDOM_INTERPOLATIONS) - 1)]


class HorizontalFlip(ImageOperation):
    """Left and right exchanged."""

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.flip_horizontal(image)


class VerticalFlip(ImageOperation):
    """Top and bottom exchanged."""

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.flip_vertical(image)


class RandomHorizontalFlip(Sometimes):
    """Left and right exchanged with a probability."""

    takes = BOTH

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.flip_horizontal(image)


class RandomVerticalFlip(Sometimes):
    """Top and bottom exchanged with a probability."""

    takes = BOTH

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.flip_vertical(image)


class _Turning(ImageOperation):
    """What `Rotate` and `RandomRotation` have in common."""

    resample: Inter
    expand: bool
    center: tuple[float, float] | None
    fill: Any

    def settings(self, resample: Inter, expand: bool, center: Any, fill_value: Any) -> None:
        """Check and keep the arguments."""
        self.resample = checked_inter(resample, "resample")
        self.expand = checks.boolean(expand, "expand")
        if center is not None and (not isinstance(center, tuple) or len(center) != 2):
            raise ValueError(f"Value center needs to be a 2-tuple, but got {center!r}.")
        for place, each in enumerate(center or ()):
            checks.real(each, f"center[{place}]")
        self.center = center
        self.fill = checks.colour(fill_value)

    def turned(self, image: Any, degrees: float, room: ModuleType) -> Any:
        """The image turned."""
        return room.rotate(image, degrees, self.resample, self.expand, self.center, self.fill)


class Rotate(_Turning):
    """The image turned counterclockwise.

    Args:
        degrees: the angle.
        resample: how values between pixels are found.
        expand: whether the result is as large as the turned image.
        center: (x, y) of the point that stays; None for the middle.
        fill_value: colour of what was not in the image, an int or three.
    """

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = checks.real(degrees, "degrees")
        self.settings(resample, expand, center, fill_value)

    def on(self, image: Any, room: ModuleType) -> Any:
        return self.turned(image, self.degrees % 360, room)


def checked_degrees(degrees: Any) -> tuple[float, float]:
    """A range of angles; a number stands for both directions."""
    checks.of_type(degrees, (int, float, list, tuple), "degrees")
    if isinstance(degrees, (int, float)):
        most = checks.real(degrees, "degrees", 0)
        return -most, most
    if len(degrees) != 2:
        raise TypeError(f"If degrees is a sequence, the length must be 2, but got {degrees!r}.")
    return checks.interval(degrees, "degrees", -checks.MOST)


class RandomRotation(_Turning):
    """The image turned by an angle from a range.

    Args:
        degrees: the range; a number is the most in both directions.
        resample: how values between pixels are found.
        expand: whether the result is as large as the turned image.
        center: (x, y) of the point that stays; None for the middle.
        fill_value: colour of what was not in the image, an int or three.
    """

    takes = BOTH

    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = checked_degrees(degrees)
        self.settings(resample, expand, center, fill_value)

    def on(self, image: Any, room: ModuleType) -> Any:
        return self.turned(image, between(*self.degrees), room)


class Affine(ImageOperation):
    """The image turned, moved, scaled and sheared.

    Args:
        degrees: the angle, counterclockwise as seen with the y axis upwards.
        translate: how far it moves to the right and down, as parts of width and height.
        scale: the factor of size.
        shear: angles of shear along x and y, or one along x.
        resample: how values between pixels are found.
        fill_value: colour of what was not in the image, an int or three.
    """

    def __init__(
        self,
        degrees: float,
        translate: Sequence[float],
        scale: float,
        shear: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = checks.real(degrees, "degrees", -180, 180)
        across, along = checks.pair(translate, "translate", "(x, y)")
        self.translate = (checks.real(across, "translate[0]", -1.0, 1.0), checks.real(along, "translate[1]", -1.0, 1.0))
        self.scale = checks.real(scale, "scale", 0, without_low=True)
        checks.of_type(shear, (numbers.Number, tuple, list), "shear")
        pair = checks.pair(shear, "shear", "(x, y)") if isinstance(shear, (tuple, list)) else (shear, 0.0)
        self.shear = (checks.real(pair[0], "shear[0]", -180, 180), checks.real(pair[1], "shear[1]", -180, 180))
        self.resample = checked_inter(resample, "resample")
        self.fill = checks.colour(fill_value)

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image)
        height, width = room.size_of(image)
        moved = (self.translate[0] * width, self.translate[1] * height)
        return room.affine(image, self.degrees, moved, self.scale, self.shear, self.resample, self.fill)


class RandomAffine(ImageOperation):
    """The image turned, moved, scaled and sheared by chance.

    Args:
        degrees: range of the angle; a number is the most in both directions.
        translate: the most it moves, as parts of width and height, in both directions; or (min x, max x, min y, max y).
        scale: range of the factor of size.
        shear: range of the angle of shear along x; a number is the most in both directions; four numbers add one for y.
        resample: how values between pixels are found.
        fill_value: colour of what was not in the image, an int or three.
    """

    takes = BOTH

    def __init__(
        self,
        degrees: Any,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Any = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = checked_degrees(degrees)
        self.translate = _range_of_moves(translate)
        self.scale = (1.0, 1.0) if scale is None else checks.interval(scale, "scale")
        self.shear = _range_of_shears(shear)
        self.resample = checked_inter(resample, "resample")
        self.fill = checks.colour(checks.given(fill_value, 0))

    def on(self, image: Any, room: ModuleType) -> Any:
        if room is on_arrays:
            on_arrays.needs(image)
        height, width = room.size_of(image)
        left, right, up, down = self.translate
        moved = (between(left, right) * width, between(up, down) * height)
        if room is not on_arrays:
            moved = (round(moved[0]), round(moved[1]))
        across, along = between(*self.shear[:2]), between(*self.shear[2:])
        degrees, scale = between(*self.degrees), between(*self.scale)
        return room.affine(image, degrees, moved, scale, (across, along), self.resample, self.fill)


def _range_of_moves(translate: Any) -> tuple[float, float, float, float]:
    if translate is None:
        return 0.0, 0.0, 0.0, 0.0
    checks.of_type(translate, (list, tuple), "translate")
    if len(translate) not in (2, 4):
        raise TypeError(f"translate should be a list or tuple of length 2 or 4, but got {translate!r}.")
    first, second, *rest = (
        checks.real(each, f"translate at {place}", -1.0, 1.0) for place, each in enumerate(translate)
    )
    return (first, second, rest[0], rest[1]) if rest else (-first, first, -second, second)


def _range_of_shears(shear: Any) -> tuple[float, float, float, float]:
    if shear is None:
        return 0.0, 0.0, 0.0, 0.0
    checks.of_type(shear, (numbers.Number, tuple, list), "shear")
    if not isinstance(shear, (tuple, list)):
        most = checks.real(shear, "shear", 0, without_low=True)
        return -most, most, 0.0, 0.0
    if len(shear) not in (2, 4):
        raise TypeError(f"shear must be of length 2 or 4, but got {shear!r}.")
    low, high, *rest = (checks.real(each, f"shear[{place}]") for place, each in enumerate(shear))
    for first, last in ((low, high), tuple(rest)) if rest else ((low, high),):
        if first > last:
            raise ValueError(f"shear should be in (min,max) format. Got {shear!r}.")
    return (low, high, rest[0], rest[1]) if rest else (low, high, 0.0, 0.0)


class Perspective(ImageOperation):
    """The image seen so that four of its points are at four others.

    Args:
        start_points: (x, y) of the points in the image.
        end_points: where they are afterwards.
        interpolation: how values between pixels are found.
    """

    takes = BOTH

    def __init__(
        self,
        start_points: Sequence[Sequence[int]],
        end_points: Sequence[Sequence[int]],
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        for name, points in (("start_points", start_points), ("end_points", end_points)):
            checks.of_type(points, (list, tuple), name)
            if len(points) != 4:
                raise TypeError(f"{name} should be a list or tuple of length 4, but got {points!r}.")
            for place, point in enumerate(points):
                for each in checks.pair(point, f"{name}[{place}]", "(x, y)"):
                    checks.integer(each, f"{name}[{place}]", -checks.INT32_MAX - 1)
        self.start_points, self.end_points = start_points, end_points
        self.interpolation = checked_inter(interpolation)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.perspective(image, self.start_points, self.end_points, self.interpolation)


class RandomPerspective(ImageOperation):
    """The image seen from another point, with a probability.

    Args:
        distortion_scale: how far corners move at most, as part of half a side.
        prob: the probability.
        interpolation: how values between pixels are found.
    """

    takes = ONLY_PIL
    in_python = True

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC) -> None:
        self.scale = checks.real(distortion_scale, "distortion_scale", 0.0, 1.0)
        self.prob = checks.probability(prob)
        self.interpolation = checked_inter(interpolation)

    def received(self, column: Any) -> Any:
        try:
            return super().received(column)
        except TypeError as wrong:
            raise ValueError(str(wrong)) from None

    def on(self, image: Any, room: ModuleType) -> Any:
        if not happens(self.prob):
            return image
        height, width = room.size_of(image)
        across, along = int(self.scale * (width // 2)), int(self.scale * (height // 2))
        draw = generator().integers
        corners = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        moved = [
            (x + (1 if x == 0 else -1) * int(draw(across + 1)), y + (1 if y == 0 else -1) * int(draw(along + 1)))
            for x, y in corners
        ]
        return room.perspective(image, corners, moved, self.interpolation)
