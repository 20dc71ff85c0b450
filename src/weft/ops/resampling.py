"""Operator classes that make images of other sizes, colours and places."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, described, op, operator_class, told
from weft.ops._checks import bools, need_shape, one_of
from weft.ops._rules import numbers
from weft.ops.images import grid_sample
from weft.ops.matmul import matmul
from weft.ops.padding import cubic, interpolate
from weft.ops.shape import swapaxes, transpose
from weft.ops.space import affine_points

_DESCRIBED: Final = described(
    align_corners="whether the corners' centres coincide.",
    half_pixel_centers="whether pixels are where their centres are.",
)

# -- sizes: a matrix for the rows and one for the columns --------------------------------------------------------------


def _wanted(name: str, layout: str, x: Tensor, size: Any) -> tuple[int, ...]:
    """The size that images are made of."""
    need_shape(name, layout, x)
    wanted = numbers(size)
    if len(wanted) != 2 or min(wanted) < 1:
        raise ValueError(f"{name}: a size is two positive integers, not {wanted}")
    return wanted


def _resized(x: Tensor, wanted: tuple[int, ...], weights: Callable[..., Any], *settings: bool) -> Tensor:
    """Images whose rows and columns are sums of those of others, weighted by ``weights(length, wanted, *settings)``."""
    rows, columns = (Tensor(weights(*sizes, *settings), x.dtype) for sizes in zip(x.shape[2:], wanted, strict=True))
    return matmul(rows, matmul(x, swapaxes(columns, 0, 1)))


def _scale(length: int, wanted: int, align_corners: bool) -> float:
    return (length - 1) / (wanted - 1) if align_corners and wanted > 1 else length / wanted


def _area_weights(length: int, wanted: int, align_corners: bool) -> Any:
    """How much of each pixel lies in each of the wanted ones."""
    scale = _scale(length, wanted, align_corners)
    low, high = np.arange(wanted)[:, None] * scale, (np.arange(wanted)[:, None] + 1) * scale
    last = math.ceil(wanted * scale) + 1  # what lies behind the border is the pixel at it
    places = np.arange(max(last, length))
    shares = np.maximum(np.minimum(high, places + 1) - np.maximum(low, places), 0) / scale
    shares[:, length - 1] += shares[:, length:].sum(1)
    return shares[:, :length]


def _cubic_weights(length: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Any:
    scale = _scale(length, wanted, align_corners)
    at = (np.arange(wanted) + 0.5) * scale - 0.5 if half_pixel_centers else np.arange(wanted) * scale
    first = np.floor(at).astype(int) - 1
    offset = np.floor((at - np.floor(at)) * 1024 + 0.5) / 1024  # MindSpore looks the weights up in a table
    found = np.zeros((wanted, length))
    for tap in range(4):
        place = first + tap
        share = cubic(np.abs(first + 1 + offset - place), -0.5 if half_pixel_centers else -0.75)
        if half_pixel_centers:
            share = np.where((place >= 0) & (place < length), share, 0)
        np.add.at(found, (np.arange(wanted), np.clip(place, 0, length - 1)), share)
    return found / found.sum(1, keepdims=True) if half_pixel_centers else found


def _one_of_both(name: str, align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise ValueError(f"{name}: corners are not aligned where pixels are at their centres")


@as_operator
@_DESCRIBED
def ResizeArea(images: Tensor, size: Any, *, align_corners: bool = False) -> Tensor:
    """Images (N, H, W, C) of another size, each pixel the mean of what it covers, as float32."""
    wanted = _wanted("ResizeArea", "(N, H, W, C)", images, size)
    channels_first = transpose(images.astype(dtypes.float32), (0, 3, 1, 2))
    return transpose(_resized(channels_first, wanted, _area_weights, align_corners), (0, 2, 3, 1))


@as_operator
@_DESCRIBED
def ResizeBicubic(image: Tensor, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """Images (N, C, H, W) of another size by cubic interpolation."""
    _one_of_both("ResizeBicubic", align_corners, half_pixel_centers)
    wanted = _wanted("ResizeBicubic", "(N, C, H, W)", image, size)
    return _resized(image, wanted, _cubic_weights, align_corners, half_pixel_centers)


def _nearest(length: int, wanted: int, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """The position of the pixel that is nearest to each of the wanted ones."""
    at = (np.arange(wanted) + 0.5 * half_pixel_centers) * _scale(length, wanted, align_corners)
    return Tensor(np.clip(np.floor(at + 0.5 * align_corners), 0, length - 1).astype(np.int64))


@as_operator
@_DESCRIBED
def ResizeNearestNeighborV2(
    image: Tensor, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Tensor:
    """Images (N, C, H, W) of another size by the nearest pixel."""
    name = "ResizeNearestNeighborV2"
    _one_of_both(name, align_corners, half_pixel_centers)
    height, width = _wanted(name, "(N, C, H, W)", image, size)
    rows = _nearest(image.shape[2], height, align_corners, half_pixel_centers)
    columns = _nearest(image.shape[3], width, align_corners, half_pixel_centers)
    return image[:, :, rows][:, :, :, columns]


def _upsampled(name: str, x: Tensor, output_size: Any, scales: Any, mode: str, align_corners: bool) -> Tensor:
    need_shape(name, "(N, C, D, H, W)", x)
    if (output_size is None) == (scales is None):
        raise ValueError(f"{name}: exactly one of output_size and scales is given")
    given = output_size if scales is None else scales
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"{name}: sizes are a tuple or list, not {type(given).__name__}")
    if len(given) != 3 or min(given) <= 0:
        raise ValueError(f"{name}: sizes are three positive numbers, not {given}")
    factors = None if scales is None else tuple(map(float, scales))
    return interpolate(x, output_size, factors, mode, align_corners)


@as_operator
def UpsampleNearest3D(x: Tensor, output_size: Any = None, scales: Any = None) -> Tensor:
    """Volumes (N, C, D, H, W) of another size by the nearest element."""
    return _upsampled("UpsampleNearest3D", x, output_size, scales, "nearest", False)


@as_operator
@_DESCRIBED
def UpsampleTrilinear3D(
    x: Tensor, output_size: Any = None, scales: Any = None, *, align_corners: bool = False
) -> Tensor:
    """Volumes (N, C, D, H, W) of another size by linear interpolation."""
    return _upsampled("UpsampleTrilinear3D", x, output_size, scales, "trilinear", align_corners)


def _lanczos(radius: int) -> Any:
    def kernel(x: Any) -> Any:
        return jnp.where(x < radius, jnp.sinc(x) * jnp.sinc(x / radius), 0)

    return kernel


def _mitchell(x: Any) -> Any:
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return jnp.where(x < 1, near, jnp.where(x < 2, far, 0))


#: kernels by name: their value at a distance
_KERNELS: Final[dict[str, Callable[[Any], Any]]] = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": lambda x: jnp.where(x < 1.5, jnp.exp(-(x**2) / (2 * 0.5**2)), 0),
    "box": lambda x: jnp.where(x < 0.5, 1.0, jnp.where(x == 0.5, 0.5, 0.0)),
    "triangle": lambda x: jnp.where(x < 1, 1 - x, 0),
    "keyscubic": lambda x: cubic(x, -0.5, jnp.where),
    "mitchellcubic": _mitchell,
}


def _kernel_weights(length: int, wanted: int, scale: Any, shift: Any, kernel: str, antialias: bool) -> Any:
    inverse = 1 / scale
    spread = jnp.maximum(inverse, 1) if antialias else jnp.ones_like(inverse)
    at = (jnp.arange(wanted) + 0.5) * inverse - inverse * shift
    shares = _KERNELS[kernel](jnp.abs(jnp.arange(length)[None, :] + 0.5 - at[:, None]) / spread)
    total = jnp.sum(shares, 1, keepdims=True)
    there = (jnp.abs(total) >= 1000 * np.finfo(np.float32).tiny) & (at >= 0)[:, None] & (at <= length)[:, None]
    return jnp.where(there, shares / jnp.where(there, total, 1), 0)


@op("ScaledAndTranslated", classes=())
def _scaled(images: Any, scale: Any, translation: Any, *, size: tuple[int, int], kernel: str, antialias: bool) -> Any:
    """Images (N, H, W, C) scaled and moved, by a kernel."""
    rows, columns = (
        _kernel_weights(length, size[i], scale[i], translation[i], kernel, antialias).astype(jnp.float32)
        for i, length in enumerate(images.shape[1:3])
    )
    return jnp.einsum("ih,nhwc,jw->nijc", rows, images.astype(jnp.float32), columns)


@as_operator
def ScaleAndTranslate(
    images: Tensor,
    size: Any,
    scale: Tensor,
    translation: Tensor,
    *,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Tensor:
    """Images (N, H, W, C) scaled and moved, as float32.

    Args:
        kernel_type: what pixels are weighted by, ``"lanczos3"``, ``"keyscubic"``, ``"triangle"``...
        antialias: whether a kernel is as wide as the pixels that become one.
    """
    one_of("ScaleAndTranslate", _KERNELS, kernel_type=kernel_type)
    need_shape("ScaleAndTranslate", "(N, H, W, C)", images)
    return _scaled(images, scale, translation, size=numbers(size), kernel=kernel_type, antialias=bool(antialias))


# -- colours -----------------------------------------------------------------------------------------------------------

_WHY: Final = "colours are no path for gradients"


def _hsv(rgb: Any) -> Any:
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    value, low = jnp.max(rgb, -1), jnp.min(rgb, -1)
    chroma = value - low
    divisor = jnp.where(chroma > 0, chroma, 1)
    by_red = (green - blue) / divisor / 6
    by_green, by_blue = (blue - red) / divisor / 6 + 2 / 6, (red - green) / divisor / 6 + 4 / 6
    hue = jnp.where(red == value, by_red, jnp.where(green == value, by_green, by_blue))
    hue = jnp.where(chroma > 0, hue, 0)
    saturation = jnp.where(value > 0, chroma / jnp.where(value > 0, value, 1), 0)
    return jnp.stack([jnp.where(hue < 0, hue + 1, hue), saturation, value], -1)


def _rgb(hsv: Any) -> Any:
    hue, saturation, value = hsv[..., 0] * 6, hsv[..., 1], hsv[..., 2]
    ramps = [jnp.abs(hue - 3) - 1, 2 - jnp.abs(hue - 2), 2 - jnp.abs(hue - 4)]
    return jnp.stack([((jnp.clip(ramp, 0, 1) - 1) * saturation + 1) * value for ramp in ramps], -1)


def _of_colours(name: str, image: Any, change: Callable[[Any], Any], least: int, most: int | None = None) -> Any:
    """What a function makes of colours in the last dimension of images, computed in float32 at least."""
    if not jnp.issubdtype(image.dtype, jnp.floating):
        raise TypeError(f"{name} takes floats, not {image.dtype}")
    if image.ndim < least or image.ndim > (most or image.ndim) or image.shape[-1] != 3:
        raise ValueError(f"{name} takes images whose last dimension is 3 colours, not shape {image.shape}")
    return change(image if image.dtype.itemsize > 2 else image.astype(jnp.float32)).astype(image.dtype)


@op("RGBToHSV", no_gradient=_WHY)
def _rgb_to_hsv(images: Any) -> Any:
    """Hue, saturation and value of colours."""
    return _of_colours("RGBToHSV", images, _hsv, 1)


@op("HSVToRGB", no_gradient=_WHY)
def _hsv_to_rgb(x: Any) -> Any:
    """Red, green and blue of images (N, H, W, 3) of hue, saturation and value."""
    return _of_colours("HSVToRGB", x, _rgb, 4, 4)


@op("AdjustHue", no_gradient=_WHY)
def _adjust_hue(image: Any, delta: Any) -> Any:
    """Images (..., 3) of red, green and blue whose hue is moved around the circle by a part of it."""

    def change(wide: Any) -> Any:
        hsv = _hsv(wide)
        return _rgb(hsv.at[..., 0].set((hsv[..., 0] + delta.astype(wide.dtype)) % 1.0))

    return _of_colours("AdjustHue", image, change, 3)


@op("AdjustSaturation", no_gradient=_WHY)
def _adjust_saturation(image: Any, scale: Any) -> Any:
    """Images (..., 3) of red, green and blue whose saturation is multiplied."""

    def change(wide: Any) -> Any:
        hsv = _hsv(wide)
        return _rgb(hsv.at[..., 1].set(jnp.clip(hsv[..., 1] * scale.astype(wide.dtype), 0, 1)))

    return _of_colours("AdjustSaturation", image, change, 3)


# -- places ------------------------------------------------------------------------------------------------------------


_SAMPLED: Final = described(
    interpolation_mode='``"bilinear"`` or ``"nearest"``.',
    padding_mode='what is outside: ``"zeros"``, ``"border"`` or ``"reflection"``.',
    align_corners="whether -1 and 1 are the centres of the outermost pixels.",
)


def _grid_sampler(name: str, of: str, layout: str, points: str) -> type:
    """The operator class that samples at points of images of a layout."""

    def sample(
        input_x: Tensor, grid: Tensor, interpolation_mode: str, padding_mode: str, align_corners: bool
    ) -> Tensor:
        need_shape(name, layout, input_x)
        return grid_sample(input_x, grid, interpolation_mode, padding_mode, align_corners)

    told(sample, name, f"The values of {of} {layout} at points {points}.")
    init = "interpolation_mode='bilinear', padding_mode='zeros', align_corners=False"
    return operator_class(name, _SAMPLED(sample), init)


GridSampler2D = _grid_sampler("GridSampler2D", "images", "(N, C, H, W)", "(N, H', W', 2)")
GridSampler3D = _grid_sampler("GridSampler3D", "volumes", "(N, C, D, H, W)", "(N, D', H', W', 3)")


@as_operator
@_SAMPLED
def AffineGrid(theta: Tensor, output_size: Any, *, align_corners: bool = False) -> Tensor:
    """The points of images of a size under affine maps (N, 2, 3), or of volumes under (N, 3, 4)."""
    bools("AffineGrid", align_corners=align_corners)
    return affine_points("AffineGrid", theta, numbers(output_size), align_corners)
