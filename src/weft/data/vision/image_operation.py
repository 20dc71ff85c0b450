"""Operations on images: NumPy arrays, computed by OpenCV, and Pillow's images, computed by Pillow.

The two libraries round differently, and MindSpore uses both, so each keeps to its own: a class writes its step once, as
calls of the room that it is given (`on_arrays` or `on_pil`), and `takes` says which of them it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final, Self

import numpy as np

from weft.data import checks
from weft.data.operation import Operation, is_pil
from weft.data.randomness import generator
from weft.data.vision import on_arrays, on_pil
from weft.data.vision.enums import Border, Inter

BOTH: Final = "both"  # an image of Pillow stays one
ARRAYS: Final = "arrays"  # an image of Pillow becomes an array
ONLY_PIL: Final = "only pil"
ONLY_ARRAYS: Final = "only arrays"
#: what is said of an array where an image of Pillow is needed; programs use it under this name, too
augment_error_message: Final = (
    "img should be PIL image. Got {}. Use Decode() for encoded data or ToPIL() for decoded data."
)


class OnDevice(Operation):
    """A step of which programs say where it is computed."""

    def device(self, device_target: str = "CPU") -> Self:
        """Say on what kind of device the step is computed; images are made on the CPU, whatever it is.

        Args:
            device_target: ``"CPU"`` or ``"Ascend"``.

        Raises:
            TypeError: it is no string.
            ValueError: it is another one.

        Example:
            >>> from weft.data import vision
            >>> vision.Resize(4).device("CPU").size
            4
        """
        checks.of_type(device_target, str, "device_target")
        if device_target not in ("CPU", "Ascend"):
            raise ValueError("Input device_target is not within the valid set of ['CPU', 'Ascend'].")
        return self


class ImageOperation(OnDevice):
    """A step on one image."""

    #: which images it takes, and what becomes of others
    takes = ARRAYS

    def received(self, column: Any) -> Any:
        if isinstance(column, np.ndarray):
            if self.takes == ONLY_PIL:
                raise TypeError(f"{self.name}: {augment_error_message.format(type(column))}")
            return column
        if not is_pil(column):
            raise TypeError(f"{self.name}: Input should be NumPy or PIL image, got {type(column)}.")
        if self.takes == ONLY_ARRAYS:
            raise TypeError(f"{self.name}: img should be NumPy array. Got {type(column)}.")
        return np.array(column) if self.takes == ARRAYS else column

    def apply(self, *columns: Any) -> Any:
        (image,) = columns
        if is_pil(image):
            return self.on(image, on_pil)
        try:
            return self.on(image, on_arrays)
        except RuntimeError as wrong:
            raise self.wrong(str(wrong)) from None
        except on_arrays.opencv_error() as wrong:
            raise self.wrong(str(wrong).strip()) from wrong

    def on(self, image: Any, room: ModuleType) -> Any:
        """What becomes of an image.

        Args:
            image: an array or an image of Pillow.
            room: `on_arrays` or `on_pil`.

        Returns:
            What the operation gives.
        """
        raise NotImplementedError(f"{self.name} does not say what it does to an image.")


class Sometimes(ImageOperation):
    """A step that is done with a probability.

    Args:
        prob: the probability.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = checks.probability(prob)

    def on(self, image: Any, room: ModuleType) -> Any:
        return self.done(image, room) if happens(self.prob) else self.left(image, room)

    def done(self, image: Any, room: ModuleType) -> Any:
        """The image after the step."""
        raise NotImplementedError

    def left(self, image: Any, room: ModuleType) -> Any:
        """The image without the step."""
        room.size_of(image)  # what would not be taken is refused in either case
        return image


def happens(prob: float) -> bool:
    """Whether something of a probability happens now."""
    return generator().random() < prob


def between(low: float, high: float) -> float:
    """A number drawn from an interval."""
    return float(generator().uniform(low, high)) if low < high else float(low)


def integer_between(low: int, high: int) -> int:
    """An integer drawn from an interval with both ends."""
    return int(generator().integers(low, high + 1))


def checked_inter(value: Any, name: str = "interpolation") -> Inter:
    """A way of interpolating."""
    checks.of_type(value, Inter, name)
    return Inter(value)


def checked_border(value: Any) -> Border:
    """A kind of border."""
    checks.of_type(value, Border, "padding_mode")
    return Border(value)


def three(colour: int | Sequence[int]) -> tuple[int, int, int]:
    """A colour as three numbers."""
    if isinstance(colour, int):
        return colour, colour, colour
    red, green, blue = colour
    return red, green, blue
