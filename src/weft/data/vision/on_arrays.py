"""Steps on images that are arrays of shape (H, W) or (H, W, C), computed by OpenCV.

Names and arguments are those of `on_pil`. An array of another shape or element type is a RuntimeError, which names what
is wrong; the operation adds its name.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weft.data.vision.enums import Border, Inter
from weft.data.vision.libraries import Image, cv2
from weft.data.vision.warping import affinely, in_perspective

Array = NDArray[Any]
Fill = int | float | Sequence[float]
_INTERPOLATIONS: Final = {
    Inter.NEAREST: "INTER_NEAREST",
    Inter.BILINEAR: "INTER_LINEAR",
    Inter.BICUBIC: "INTER_CUBIC",
    Inter.AREA: "INTER_AREA",
}
_BORDERS: Final = {
    Border.CONSTANT: "BORDER_CONSTANT",
    Border.EDGE: "BORDER_REPLICATE",
    Border.REFLECT: "BORDER_REFLECT_101",
    Border.SYMMETRIC: "BORDER_REFLECT",
}


def opencv_error() -> tuple[type[Exception], ...]:
    """The classes of OpenCV's errors; none where it was not imported yet."""
    return (cv2.error,) if sys.modules.get("cv2") else ()


def needs(image: Array, ranks: Sequence[int] = (2, 3), channels: Sequence[int] = (), types: Sequence[str] = ()) -> None:
    """Refuse an image of another rank, number of channels or element type.

    Args:
        image: the image.
        ranks: numbers of dimensions.
        channels: numbers of channels; none given, any.
        types: names of element types; none given, any.

    Raises:
        RuntimeError: the image is another.
    """
    if image.ndim not in ranks:
        shapes = " or ".join({2: "<H,W>", 3: "<H,W,C>"}[rank] for rank in ranks)
        hint = " You may need to perform Decode first." if image.ndim < 2 else ""
        raise RuntimeError(f"the image should have shape {shapes}, but got shape {image.shape}.{hint}")
    if channels and (image.shape[2] if image.ndim == 3 else 1) not in channels:
        raise RuntimeError(f"the image should have {' or '.join(map(str, channels))} channels, but got {image.shape}.")
    if types and image.dtype.name not in types:
        raise RuntimeError(f"the image should have element type {' or '.join(types)}, but got {image.dtype.name}.")


def _at_least_two(image: Array) -> None:
    if image.ndim < 2:
        raise RuntimeError(
            f"the image should have at least two dimensions, but got shape {image.shape}. You may need to perform "
            "Decode first."
        )


def _of_frames(step: Callable[..., Array]) -> Callable[..., Array]:
    """A step on images, also on clips (..., H, W, C), frame by frame."""

    @functools.wraps(step)
    def on_all(image: Array, *arguments: Any) -> Array:
        _at_least_two(image)
        if image.ndim <= 3:
            return step(image, *arguments)
        frames = image.reshape(-1, *image.shape[-3:])
        done = np.stack([step(frame, *arguments) for frame in frames])
        return done.reshape(*image.shape[:-3], *done.shape[1:])

    return on_all


def _by_opencv(step: Callable[..., Array]) -> Callable[..., Array]:
    """A step by OpenCV, which drops a single channel and does not know bool."""

    @functools.wraps(step)
    def called(image: Array, *arguments: Any) -> Array:
        given = image.view(np.uint8) if image.dtype == np.bool_ else image
        done = step(np.ascontiguousarray(given), *arguments)
        if image.ndim == 3 and done.ndim == 2:
            done = done[:, :, None]
        return done.view(np.bool_) if image.dtype == np.bool_ else done

    return called


def _interpolation(inter: Inter) -> int:
    name = _INTERPOLATIONS.get(inter)
    if name is None:
        raise RuntimeError(f"interpolation {inter.name} is not supported for arrays.")
    found: int = getattr(cv2, name)
    return found


def _warping(inter: Inter) -> int:
    """Interpolation where there is no size of areas."""
    return _interpolation(Inter.BILINEAR if inter == Inter.AREA else inter)


def _fill(image: Array, fill: Fill) -> tuple[float, ...]:
    """A colour as OpenCV takes it; gray images take the first of three numbers."""
    if isinstance(fill, (int, float)):
        return (fill,) * 4
    return (*fill, 0)


def size_of(image: Array) -> tuple[int, int]:
    """Height and width."""
    _at_least_two(image)
    height, width = image.shape[:2] if image.ndim <= 3 else image.shape[-3:-1]
    return height, width


# ---- geometry


@_of_frames
@_by_opencv
def resize(image: Array, height: int, width: int, inter: Inter) -> Array:
    """The image in another size."""
    if inter == Inter.PILCUBIC:
        needs(image, (3,), (3,))
        return _resized_as_pillow_does(image, height, width)
    done: Array = cv2.resize(image, (width, height), interpolation=_interpolation(inter))
    return done


def _resized_as_pillow_does(image: Array, height: int, width: int) -> Array:
    """Bicubic, with the kernel widened where the image becomes smaller."""
    if image.dtype == np.uint8:
        return np.array(Image.fromarray(image).resize((width, height), Image.BICUBIC))
    planes = [Image.fromarray(image[:, :, channel].astype(np.float32)) for channel in range(image.shape[2])]
    done = np.stack([np.asarray(plane.resize((width, height), Image.BICUBIC)) for plane in planes], -1)
    return done.astype(image.dtype)


def crop(image: Array, top: int, left: int, height: int, width: int) -> Array:
    """A part of the image."""
    whole_height, whole_width = size_of(image)
    if top + height > whole_height or left + width > whole_width:
        raise RuntimeError(
            f"the part from ({top}, {left}) of size ({height}, {width}) exceeds the image of size "
            f"({whole_height}, {whole_width})."
        )
    rows, columns = slice(top, top + height), slice(left, left + width)
    part = image[rows, columns] if image.ndim <= 3 else image[..., rows, columns, :]
    return np.ascontiguousarray(part)


def center_crop(image: Array, height: int, width: int) -> Array:
    """The middle of the image, with black around it where it is too small."""
    whole_height, whole_width = size_of(image)
    above, beside = max(0, height - whole_height), max(0, width - whole_width)
    if above or beside:
        first = [(0, 0)] * (image.ndim - 3 if image.ndim > 3 else 0)
        last = [(0, 0)] if image.ndim >= 3 else []
        top, left = (above + 1) // 2, (beside + 1) // 2
        image = np.pad(image, [*first, (top, above - top), (left, beside - left), *last])
        whole_height, whole_width = size_of(image)
    return crop(image, (whole_height - height) // 2, (whole_width - width) // 2, height, width)


@_of_frames
@_by_opencv
def pad(image: Array, left: int, top: int, right: int, bottom: int, fill: Fill, border: Border) -> Array:
    """The image with pixels added."""
    kind = getattr(cv2, _BORDERS[border])
    done: Array = cv2.copyMakeBorder(image, top, bottom, left, right, kind, value=_fill(image, fill))
    return done


def flip_horizontal(image: Array) -> Array:
    """Left and right exchanged."""
    _at_least_two(image)
    if image.dtype == np.uint8 and image.ndim <= 3:
        done: Array = cv2.flip(image, 1).reshape(image.shape)
        return done
    return np.ascontiguousarray(image[:, ::-1] if image.ndim <= 3 else image[..., ::-1, :])


def flip_vertical(image: Array) -> Array:
    """Top and bottom exchanged."""
    _at_least_two(image)
    return np.ascontiguousarray(image[::-1] if image.ndim <= 3 else image[..., ::-1, :, :])


@_of_frames
@_by_opencv
def rotate(
    image: Array, degrees: float, inter: Inter, expand: bool, center: tuple[float, float] | None, fill: Fill
) -> Array:
    """The image turned counterclockwise."""
    height, width = image.shape[:2]
    middle = ((width - 1) / 2, (height - 1) / 2)
    x, y = middle if center is None else center
    matrix = cv2.getRotationMatrix2D((float(x), float(y)), degrees, 1.0)
    if expand:
        cosine, sine = abs(matrix[0, 0]), abs(matrix[0, 1])
        new_width, new_height = height * sine + width * cosine, height * cosine + width * sine
        matrix[0, 2] += (new_width - width) / 2
        matrix[1, 2] += (new_height - height) / 2
        width, height = round(new_width), round(new_height)
    return affinely(image, matrix, (width, height), _warping(inter), _fill(image, fill))


@_by_opencv
def affine(
    image: Array,
    degrees: float,
    translate: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    inter: Inter,
    fill: Fill,
) -> Array:
    """The image turned, moved (in pixels), scaled and sheared."""
    needs(image)
    height, width = image.shape[:2]
    forward = affine_matrix(degrees, translate, scale, shear, ((width - 1) / 2, (height - 1) / 2))
    return affinely(image, forward, (width, height), _warping(inter), _fill(image, fill))


def affine_matrix(
    degrees: float,
    translate: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    center: tuple[float, float],
) -> Array:
    """Where points go: a matrix of two rows."""
    angle, across, along = math.radians(degrees), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(angle - along) / math.cos(along)
    b = -math.cos(angle - along) * math.tan(across) / math.cos(along) - math.sin(angle)
    c = math.sin(angle - along) / math.cos(along)
    d = -math.sin(angle - along) * math.tan(across) / math.cos(along) + math.cos(angle)
    linear = scale * np.array([[a, b], [c, d]])
    moved = np.array(center) + np.array(translate) - linear @ np.array(center)
    return np.column_stack([linear, moved])


@_by_opencv
def perspective(image: Array, start: Sequence[Sequence[int]], end: Sequence[Sequence[int]], inter: Inter) -> Array:
    """The image seen so that four of its points are at four others."""
    needs(image)
    matrix = cv2.getPerspectiveTransform(np.array(start, np.float32), np.array(end, np.float32))
    return in_perspective(image, matrix, image.shape[1::-1], _warping(inter), (0, 0, 0, 0))


@_by_opencv
def gaussian_blur(image: Array, kernel: tuple[int, int], sigma: tuple[float, float]) -> Array:
    """The image blurred; the kernel is (width, height)."""
    needs(image)
    done: Array = cv2.GaussianBlur(image, kernel, sigmaX=sigma[0], sigmaY=sigma[1])
    return done


# ---- colour


def _as(image: Array, values: Array) -> Array:
    """Values in the element type of an image: integers are rounded and kept within their bounds."""
    if image.dtype.kind not in "iu":
        return values.astype(image.dtype)
    bounds = np.iinfo(image.dtype)
    return np.clip(np.rint(values), bounds.min, bounds.max).astype(image.dtype)


def _by_value(image: Array, change: Callable[[Array], Array]) -> Array:
    """An image with each value changed; bytes by a table of all that there are."""
    if image.dtype != np.uint8:
        return change(image)
    done: Array = cv2.LUT(np.ascontiguousarray(image), change(np.arange(256, dtype=np.uint8)))
    return done.reshape(image.shape)


def brightness(image: Array, factor: float) -> Array:
    """The image times a factor."""
    needs(image)
    return _by_value(image, lambda values: _as(values, values.astype(np.float32) * np.float32(factor)))


def contrast(image: Array, factor: float) -> Array:
    """The image blended with the mean of its gray values."""
    needs(image, (3,), (3,), ("uint8", "uint16", "float32"))
    mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
    level = mean if image.dtype.kind == "f" else int(mean + 0.5)
    scale, shift = np.float32(factor), np.float32(level * (1 - factor))
    return _by_value(image, lambda values: _as(values, values.astype(np.float32) * scale + shift))


def saturation(image: Array, factor: float) -> Array:
    """The image blended with its gray image."""
    needs(image, (3,), (3,), ("uint8", "uint16", "float32"))
    return _blended_with_gray(image, factor)


def _weights(factor: float, other: Array) -> tuple[float, Array, float, float]:
    """How much an image counts, and how much another, in the precision of the sum."""
    single = np.float32(factor)
    return float(single), other, float(np.float32(1) - single), 0.0


def _blended_with_gray(image: Array, factor: float) -> Array:
    gray = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    done: Array = cv2.addWeighted(image, *_weights(factor, gray))
    return done


def colour(image: Array, factor: float) -> Array:
    """The image blended with its gray image."""
    needs(image, (3,), (3,))
    return _blended_with_gray(image, factor)


def hue(image: Array, shift: float) -> Array:
    """The image with its hue turned."""
    needs(image, (3,), (3,), ("uint8", "float32"))
    if image.dtype.kind == "f":
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        hsv[:, :, 0] = np.mod(hsv[:, :, 0] + 360 * shift, 360)
        return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)
    hsv[:, :, 0] += np.array(int(255 * shift)).astype(np.uint8)  # goes round
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL))


@_by_opencv
def sharpness(image: Array, factor: float) -> Array:
    """The image blended with a smoothed one; the outermost pixels stay."""
    needs(image)
    kernel = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
    smooth = cv2.filter2D(image, -1, kernel).reshape(image.shape)
    done = np.array(smooth)
    done[[0, -1]] = image[[0, -1]]
    done[:, [0, -1]] = image[:, [0, -1]]
    blended: Array = cv2.addWeighted(image, *_weights(factor, done))
    return blended


def gamma(image: Array, power: float, gain: float) -> Array:
    """The image to a power."""
    needs(image)
    if image.dtype.kind == "f":
        single = image.astype(np.float32)
        return np.clip((single * np.float32(gain)) ** np.float32(power), 0, 1)

    def raised(values: Array) -> Array:
        done = (np.clip(values, 0, 255) / 255.0) ** power * gain * (256 - 1e-3)
        return np.clip(np.trunc(done), 0, min(255, np.iinfo(values.dtype).max)).astype(values.dtype)

    return _by_value(image, raised)


def invert(image: Array) -> Array:
    """Light and dark exchanged."""
    needs(image, (3,), (3,))
    return _as(image, 255 - image.astype(np.float64)) if image.dtype != np.uint8 else 255 - image


def _by_channel(image: Array, step: Callable[[Array], Array]) -> Array:
    if image.ndim == 2:
        return step(image)
    return np.stack([step(np.ascontiguousarray(image[:, :, channel])) for channel in range(image.shape[2])], -1)


def equalize(image: Array) -> Array:
    """Each channel with all values equally frequent."""
    needs(image, types=("uint8",))
    return _by_channel(image, cv2.equalizeHist)


def auto_contrast(image: Array, cutoff: float, ignore: Sequence[int]) -> Array:
    """Each channel stretched over all values, without a percentage at both ends."""
    needs(image, types=("uint8",))

    def stretched(channel: Array) -> Array:
        counts = np.bincount(channel.ravel(), minlength=256)
        counts[list(ignore)] = 0
        low, high = _kept(counts, cutoff)
        if high <= low:
            return channel
        scale = np.float32(255.0 / (high - low))
        table = np.clip(np.trunc(np.arange(256, dtype=np.float32) * scale - low * scale), 0, 255).astype(np.uint8)
        done: Array = cv2.LUT(channel, table)
        return done

    return _by_channel(image, stretched)


def _kept(counts: NDArray[np.int64], cutoff: float) -> tuple[int, int]:
    """The least and the greatest value that remain after a percentage at both ends went."""
    counts = counts.copy()
    dropped = int(counts.sum() * cutoff / 100.0)
    for order in (range(256), range(255, -1, -1)):
        left = dropped
        for value in order:
            taken = min(left, int(counts[value]))
            counts[value] -= taken
            left -= taken
    found = np.flatnonzero(counts)
    return (int(found[0]), int(found[-1])) if len(found) else (0, 0)


def posterize(image: Array, bits: int) -> Array:
    """Only the first bits of each value."""
    needs(image, types=("uint8", "int8"))
    return image & np.array(256 - (1 << (8 - bits)), np.uint8).astype(image.dtype)


def solarize(image: Array, low: float, high: float) -> Array:
    """Values within an interval inverted; equal ends stand for all from there on."""
    needs(image, (2, 3))

    def inverted(values: Array) -> Array:
        inside = values >= low if low == high else (values >= low) & (values <= high)
        return np.where(inside, _as(values, 255 - values.astype(np.float64)), values)

    return _by_value(image, inverted)


def lighting(image: Array, noise: Sequence[float]) -> Array:
    """A number added to each channel."""
    needs(image, (3,), (3,))
    return _as(image, image.astype(np.float32) + np.array(noise, np.float32))
