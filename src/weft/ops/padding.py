"""Borders and resizing of images."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft.core import Tensor, as_operator, op, operator_class, shows
from weft.core.declare import freeze
from weft.ops._checks import one_of, positive_ints

__all__ = ["interpolate", "mirror_pad", "pad", "padding", "resize_bilinear", "resize_nearest_neighbor"]

_MODES = {
    "constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap", "symmetric": "symmetric",
}  # fmt: skip


@op("PadBorders", classes=())
def _pad(x: Any, *, pads: tuple[tuple[int, int], ...], mode: str, value: Any) -> Any:
    if mode == "constant":
        with np.errstate(over="ignore"):
            filling = np.asarray(value, x.dtype)
        return lax.pad(x, filling, [(low, high, 0) for low, high in pads])
    return jnp.pad(x, pads, mode=_MODES[mode])


@shows("pad(Tensor([1.0]), (1, 2))", "[0. 1. 0. 0.]")
def pad(
    input_x: Tensor, padding: Any = None, mode: str = "constant", value: Any = None, *, paddings: Any = None
) -> Tensor:
    """Add a border.

    Args:
        input_x: tensor.
        padding: (before, after) of the last dimension, then of the one before, and so on, flat; negative numbers
            cut off. A nested tuple holds a pair for each dimension, first dimension first.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: the constant, 0 by default.
        paddings: what older programs call `padding`.

    Returns:
        Tensor: larger by the border.

    Raises:
        TypeError: there is no padding, or it is given by both names.
        ValueError: the border does not fit the tensor.
    """
    if (padding is None) == (paddings is None):
        raise TypeError("pad takes one padding")
    padding = paddings if padding is None else padding
    flat = freeze(padding)
    if not isinstance(flat, tuple):
        raise TypeError(f"pad: padding must be a tuple of ints, not {type(padding).__name__}")
    one_of("pad", _MODES, mode=mode)
    if flat and isinstance(flat[0], tuple):
        pads = list(flat)
        if len(pads) != input_x.ndim or any(len(pair) != 2 for pair in pads):
            raise ValueError(f"pad: {padding!r} does not hold a pair for each of {input_x.ndim} dimensions")
    else:
        if len(flat) % 2 or len(flat) > 2 * input_x.ndim:
            raise ValueError(f"pad: padding {padding!r} does not hold pairs for at most {input_x.ndim} dimensions")
        given = list(zip(flat[::2], flat[1::2], strict=True))
        pads = [(0, 0)] * (input_x.ndim - len(given)) + given[::-1]
    for size, (low, high) in zip(input_x.shape, pads, strict=True):
        if size + low + high < 0:
            raise ValueError(f"pad: padding {padding!r} cuts off more than an input of shape {input_x.shape} has")
        if mode == "reflect" and max(low, high) >= max(size, 1):
            raise ValueError(f"pad: reflect needs a border smaller than the dimension of {size}, got {padding!r}")
        if mode == "circular" and max(low, high) > size:
            raise ValueError(f"pad: circular needs a border of at most the dimension of {size}, got {padding!r}")
        if mode != "constant" and min(low, high) < 0:
            raise ValueError(f"pad: a negative border needs mode='constant', got {padding!r}")
    return _pad(input_x, tuple(pads), mode, 0 if value is None else value)


@as_operator
def Pad(input_x: Tensor, *, paddings: Any) -> Tensor:
    """Add a border of zeros: ``Pad(((1, 2), (0, 1)))(x)``."""
    return pad(input_x, freeze(paddings))


@shows("mirror_pad(Tensor([1.0, 2.0, 3.0]), ((2, 0),))", "[3. 2. 1. 2. 3.]")
def mirror_pad(input_x: Tensor, paddings: Any, mode: str = "REFLECT") -> Tensor:
    """Add a border that mirrors the inside.

    Args:
        input_x: tensor.
        paddings: a (before, after) pair for each dimension.
        mode: ``"REFLECT"`` leaves the edge out, ``"SYMMETRIC"`` repeats it.
    """
    one_of("mirror_pad", ("REFLECT", "SYMMETRIC"), mode=mode)
    return pad(input_x, freeze(paddings), mode.lower())


operator_class("MirrorPad", mirror_pad, "mode='REFLECT'")


@shows("padding(Tensor([[8], [1]]), 3)", "[[8 0 0]\n [1 0 0]]")
def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """Extend the last dimension, of size 1, with zeros."""
    positive_ints("padding", pad_dim_size=pad_dim_size)
    if x.ndim == 0 or x.shape[-1] != 1:
        raise ValueError(f"padding: the last dimension must be 1, not that of shape {x.shape}")
    return pad(x, (0, pad_dim_size - 1))


operator_class("Padding", padding, "pad_dim_size=8")

_EDGES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "circular": "circular"}


@as_operator
def PadV3(
    x: Tensor, paddings: Any, constant_value: Any = None, *, mode: str = "constant", paddings_contiguous: bool = True
) -> Tensor:
    """Add a border: ``PadV3(mode)(x, paddings, constant_value)``.

    Paddings are (before, after) for each dimension, the last one first; or, where they are not contiguous, what comes
    before for each and then what comes after.
    """
    one_of("PadV3", _EDGES, mode=mode)
    amounts = freeze(paddings)
    if not paddings_contiguous:
        half = len(amounts) // 2
        amounts = tuple(n for pair in zip(amounts[:half], amounts[half:], strict=True) for n in pair)
    return pad(x, amounts, _EDGES[mode], freeze(constant_value))


# -- resizing --------------------------------------------------------------------------------------------------------


def _coordinates(size: int, out: int, align: str, scale: float) -> Any:
    """Where each output position lies in the input."""
    steps = np.arange(out, dtype=np.float64)
    if align == "corners":
        return steps * ((size - 1) / (out - 1)) if out > 1 else steps * 0
    step = 1.0 / scale if scale else size / out
    return steps * step if align == "edge" else (steps + 0.5) * step - 0.5


def _taps(size: int, out: int, mode: str, align: str, scale: float) -> list[tuple[Any, Any]]:
    """For each output position, the input positions it reads and their weights."""
    at = _coordinates(size, out, align, scale)
    if mode == "nearest":
        index = np.floor(at + 0.5) if align != "edge" else np.floor(at)
        return [(np.clip(index.astype(np.int64), 0, size - 1), np.ones(out))]
    if mode == "linear":
        at = np.clip(at, 0, size - 1)
        low = np.minimum(np.floor(at).astype(np.int64), size - 1)
        part = at - low
        return [(low, 1 - part), (np.minimum(low + 1, size - 1), part)]
    low = np.floor(at).astype(np.int64)
    taps = [low + offset for offset in (-1, 0, 1, 2)]
    return [(np.clip(tap, 0, size - 1), cubic(np.abs(at - tap), -0.75)) for tap in taps]


def cubic(distance: Any, a: float, where: Any = np.where) -> Any:
    """The weights of cubic interpolation at distances below 2, by the slope at a distance of 1."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return where(distance <= 1, near, where(distance < 2, far, 0))


@op("ResizeImage", classes=())
def _resize(x: Any, *, size: tuple[int, ...], mode: str, align: str, scales: tuple[float, ...] = ()) -> Any:
    for i, out in enumerate(size):
        axis = x.ndim - len(size) + i
        total: Any = None
        for index, weight in _taps(x.shape[axis], out, mode, align, scales[i] if scales else 0.0):
            shape = [1] * x.ndim
            shape[axis] = out
            part = jnp.take(x, index, axis=axis)
            if mode != "nearest":
                part = part * weight.reshape(shape).astype(x.dtype)
            total = part if total is None else total + part
        x = total
    return x


def _each_of(given: Any, rank: int) -> tuple[Any, ...]:
    """A number for each dimension."""
    frozen = freeze(given)
    return frozen if isinstance(frozen, tuple) else (frozen,) * rank


#: the spatial dimensions of each mode, None for any number of them
_RANK = {"bicubic": 2, "bilinear": 2, "linear": 1, "nearest": None, "nearest-exact": None, "trilinear": 3}


@shows("interpolate(Tensor([[[1.0, 2.0]]]), scale_factor=2.0)", "[[[1. 1. 2. 2.]]]")
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize the spatial dimensions.

    Args:
        input: (N, C, ...) with 1 to 3 spatial dimensions.
        size: wanted sizes, an int or one for each dimension.
        scale_factor: factors, in place of `size`.
        mode: ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
        align_corners: whether the corners' centres coincide.
        recompute_scale_factor: derive the exact factor from the rounded size.

    Raises:
        ValueError: the mode does not fit the dimensions, or not exactly one of `size` and `scale_factor` is given.
    """
    rank = input.ndim - 2
    one_of("interpolate", _RANK, mode=mode)
    if not 1 <= rank <= 3 or _RANK[mode] not in (None, rank):
        raise ValueError(f"interpolate: mode {mode!r} does not fit an input of shape {input.shape}")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate needs either size or scale_factor")
    if align_corners and mode.startswith("nearest"):
        raise ValueError("interpolate: align_corners has no meaning for nearest")
    scales: tuple[float, ...] = ()
    if size is None:
        scales = tuple(map(float, _each_of(scale_factor, rank)))
        sizes = tuple(int(n * f) for n, f in zip(input.shape[2:], scales, strict=True))
        scales = () if recompute_scale_factor else scales
    else:
        sizes = _each_of(size, rank)
    if len(sizes) != rank or min(sizes) < 1:
        raise ValueError(f"interpolate: {sizes} is no size for an input of shape {input.shape}")
    if mode.startswith("nearest"):
        return _resize(input, sizes, "nearest", "edge" if mode == "nearest" else "half", scales)
    kind = "cubic" if mode == "bicubic" else "linear"
    return _resize(input, sizes, kind, "corners" if align_corners else "half", scales)


@shows("resize_nearest_neighbor(Tensor([[[[1.0, 2.0]]]]), (1, 4))", "[[[[1. 1. 2. 2.]]]]")
def resize_nearest_neighbor(x: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """Resize (N, C, H, W) by repeating the nearest element."""
    return _resize(x, tuple(freeze(size)), "nearest", "corners" if align_corners else "edge")


@shows("resize_bilinear(Tensor([[[[1.0, 3.0]]]]), (1, 3), align_corners=True)", "[[[[1. 2. 3.]]]]")
def resize_bilinear(x: Tensor, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """Resize (N, C, H, W) by linear interpolation."""
    align = "corners" if align_corners else "half" if half_pixel_centers else "edge"
    return _resize(x, tuple(freeze(size)), "linear", align)


@shows("resize_linear_1d(Tensor([[[1.0, 3.0]]]), [3])", "[[[1. 2. 3.]]]")
def resize_linear_1d(x: Tensor, size: Any, coordinate_transformation_mode: str = "align_corners") -> Tensor:
    """Resize (N, C, L) by linear interpolation.

    Args:
        x: the tensor.
        size: the wanted length, an int, or a sequence or tensor of one.
        coordinate_transformation_mode: ``"align_corners"`` or ``"half_pixel"``; a result of length 1 is the first
            element with either.

    Raises:
        ValueError: there is no such mode.
    """
    modes = ("align_corners", "half_pixel")
    one_of("resize_linear_1d", modes, coordinate_transformation_mode=coordinate_transformation_mode)
    sizes = _each_of(size, 1)
    corners = coordinate_transformation_mode == "align_corners" or sizes == (1,)
    return _resize(x, sizes, "linear", "corners" if corners else "half")


operator_class("ResizeNearestNeighbor", resize_nearest_neighbor, "size, align_corners=False")
operator_class("ResizeBilinear", resize_bilinear, "size, align_corners=False, half_pixel_centers=False")
operator_class("ResizeBilinearV2", resize_bilinear, "align_corners=False, half_pixel_centers=False")
operator_class("ResizeLinear1D", resize_linear_1d, 'coordinate_transformation_mode="align_corners"')
