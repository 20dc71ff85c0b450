"""Steps on images of Pillow, computed by Pillow. Names and arguments are those of `on_arrays`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from weft.data.vision.enums import Border, Inter
from weft.data.vision.libraries import Image, ImageEnhance, ImageOps

Fill = int | tuple[int, int, int]
_RESAMPLING: Final = {
    Inter.NEAREST: "NEAREST",
    Inter.ANTIALIAS: "LANCZOS",
    Inter.BILINEAR: "BILINEAR",
    Inter.BICUBIC: "BICUBIC",
}


def _resampling(inter: Inter) -> Any:
    name = _RESAMPLING.get(inter)
    if name is None:
        raise TypeError(f"interpolation {inter.name} is not supported with PIL input.")
    return getattr(Image, name)


def size_of(image: Any) -> tuple[int, int]:
    """Height and width."""
    width, height = image.size
    return height, width


# ---- geometry


def resize(image: Any, height: int, width: int, inter: Inter) -> Any:
    """The image in another size."""
    return image.resize((width, height), _resampling(inter))


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the image."""
    return image.crop((left, top, left + width, top + height))


def center_crop(image: Any, height: int, width: int) -> Any:
    """The middle of the image, with black around it where it is too small."""
    whole_height, whole_width = size_of(image)
    top, left = round((whole_height - height) / 2.0), round((whole_width - width) / 2.0)
    return crop(image, top, left, height, width)


def pad(image: Any, left: int, top: int, right: int, bottom: int, fill: Fill, border: Border) -> Any:
    """The image with pixels added."""
    if border == Border.CONSTANT:
        colour: Any = fill
        if image.mode in ("L", "1", "I", "F") and not isinstance(fill, int):
            colour = fill[0]
        elif image.mode == "RGB" and isinstance(fill, int):
            colour = (fill,) * 3
        return ImageOps.expand(image, border=(left, top, right, bottom), fill=colour)
    array = np.asarray(image)
    beside = [(0, 0)] * (array.ndim - 2)
    mode: Any = border.value
    return Image.fromarray(np.pad(array, [(top, bottom), (left, right), *beside], mode=mode))


def flip_horizontal(image: Any) -> Any:
    """Left and right exchanged."""
    return image.transpose(Image.FLIP_LEFT_RIGHT)


def flip_vertical(image: Any) -> Any:
    """Top and bottom exchanged."""
    return image.transpose(Image.FLIP_TOP_BOTTOM)


def _fill(image: Any, fill: Fill) -> Any:
    if image.mode == "RGB" and isinstance(fill, int):
        return (fill,) * 3
    if image.mode in ("L", "1", "I", "F") and not isinstance(fill, int):
        return fill[0]
    return fill


def rotate(
    image: Any, degrees: float, inter: Inter, expand: bool, center: tuple[float, float] | None, fill: Fill
) -> Any:
    """The image turned counterclockwise."""
    return image.rotate(degrees, _resampling(inter), expand, center, fillcolor=_fill(image, fill))


def affine(
    image: Any,
    degrees: float,
    translate: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    inter: Inter,
    fill: Fill,
) -> Any:
    """The image turned, moved (in pixels), scaled and sheared."""
    width, height = image.size
    x, y = width * 0.5 + 0.5, height * 0.5 + 0.5
    angle, across, along = math.radians(degrees), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(angle - along) / math.cos(along)
    b = -math.cos(angle - along) * math.tan(across) / math.cos(along) - math.sin(angle)
    c = math.sin(angle - along) / math.cos(along)
    d = -math.sin(angle - along) * math.tan(across) / math.cos(along) + math.cos(angle)
    # Pillow asks where each pixel comes from
    matrix = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    back_x, back_y = -x - translate[0], -y - translate[1]
    matrix[2] = matrix[0] * back_x + matrix[1] * back_y + x
    matrix[5] = matrix[3] * back_x + matrix[4] * back_y + y
    return image.transform(image.size, Image.AFFINE, matrix, _resampling(inter), fillcolor=_fill(image, fill))


def perspective(image: Any, start: Sequence[Sequence[int]], end: Sequence[Sequence[int]], inter: Inter) -> Any:
    """The image seen so that four of its points are at four others."""
    rows: list[list[float]] = []
    for (to_x, to_y), (from_x, from_y) in zip(end, start, strict=True):
        rows.append([to_x, to_y, 1, 0, 0, 0, -from_x * to_x, -from_x * to_y])
        rows.append([0, 0, 0, to_x, to_y, 1, -from_y * to_x, -from_y * to_y])
    wanted = np.array(start, np.float64).reshape(8)
    coefficients = np.linalg.lstsq(np.array(rows, np.float64), wanted, rcond=None)[0]
    return image.transform(image.size, Image.PERSPECTIVE, coefficients.tolist(), _resampling(inter))


# ---- colour


def brightness(image: Any, factor: float) -> Any:
    """The image times a factor."""
    return ImageEnhance.Brightness(image).enhance(factor)


def contrast(image: Any, factor: float) -> Any:
    """The image blended with the mean of its gray values."""
    return ImageEnhance.Contrast(image).enhance(factor)


def saturation(image: Any, factor: float) -> Any:
    """The image blended with its gray image."""
    return ImageEnhance.Color(image).enhance(factor)


colour = saturation


def hue(image: Any, shift: float) -> Any:
    """The image with its hue turned."""
    if image.mode in ("L", "1", "I", "F"):
        return image
    hue_plane, saturation_plane, value_plane = image.convert("HSV").split()
    turned = np.asarray(hue_plane).astype(np.int64) + int(shift * 255)
    turned_plane = Image.fromarray((turned % 256).astype(np.uint8))
    return Image.merge("HSV", (turned_plane, saturation_plane, value_plane)).convert(image.mode)


def sharpness(image: Any, factor: float) -> Any:
    """The image blended with a smoothed one."""
    return ImageEnhance.Sharpness(image).enhance(factor)


def gamma(image: Any, power: float, gain: float) -> Any:
    """The image to a power."""
    table = [int((255 + 1 - 1e-3) * gain * pow(value / 255.0, power)) for value in range(256)]
    mode = image.mode
    rgb = image.convert("RGB")
    return rgb.point(table * len(rgb.getbands())).convert(mode)


def invert(image: Any) -> Any:
    """Light and dark exchanged."""
    return ImageOps.invert(image)


def equalize(image: Any) -> Any:
    """Each channel with all values equally frequent."""
    return ImageOps.equalize(image)


def auto_contrast(image: Any, cutoff: float, ignore: Sequence[int]) -> Any:
    """Each channel stretched over all values, without a percentage at both ends."""
    return ImageOps.autocontrast(image, cutoff, list(ignore) or None)


def grayscale(image: Any, channels: int) -> Any:
    """The image without colour, in one channel or in three equal ones."""
    gray = image.convert("L")
    return gray if channels == 1 else Image.merge("RGB", (gray, gray, gray))


def lighting(image: Any, noise: Sequence[float]) -> Any:
    """A number added to each channel."""
    shifted = np.asarray(image.convert("RGB")).astype(np.float32) + np.array(noise, np.float32)
    return Image.fromarray(np.clip(shifted, 0, 255).astype(np.uint8))
