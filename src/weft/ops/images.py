"""Images and their parts: patches, crops, sampling at points, pixels from channels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp

from weft.core import Tensor, check_bounds, described, op, operator_class, shows
from weft.ops._checks import bools, need_shape, one_of, positive_ints

__all__ = [
    "crop_and_resize", "diag_part", "fold", "grid_sample", "pixel_shuffle", "pixel_unshuffle", "unfold",
]  # fmt: skip


def _pair(name: str, what: str, value: Any, least: int = 1) -> tuple[int, int]:
    listed = value if isinstance(value, (tuple, list)) else (value,)
    if len(listed) not in (1, 2) or any(isinstance(each, bool) or not isinstance(each, int) for each in listed):
        raise TypeError(f"{name}: {what} must be an int or two, not {value!r}")
    if min(listed) < least:
        raise ValueError(f"{name}: {what} must be at least {least}, not {value!r}")
    return listed[0], listed[-1]


def _window(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[tuple[int, int], ...]:
    """What places windows, in pairs."""
    return (
        _pair(name, "kernel_size", kernel_size),
        _pair(name, "dilation", dilation),
        _pair(name, "padding", padding, 0),
        _pair(name, "stride", stride),
    )


#: how windows are told to functions
WINDOWS: Final = described(
    kernel_size="height and width of a window; an int stands for both.",
    dilation="distance of the elements of a window.",
    stride="distance of the windows.",
)

# -- patches -------------------------------------------------------------------------------------------------------


def _counts(size: Sequence[int], kernel: Any, dilation: Any, padding: Any, stride: Any) -> list[int]:
    """How many windows there are in each dimension."""
    counts = [
        (size[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis] + 1
        for axis in range(2)
    ]
    if min(counts) < 1:
        raise ValueError(f"the windows of {kernel} do not fit an image of {tuple(size)}")
    return counts


def window_slices(counts: Any, kernel: Any, dilation: Any, stride: Any) -> Iterable[tuple[slice, ...]]:
    """For each place in a window, where its elements stand in all of the windows."""
    axes = [
        [slice(at * hole, at * hole + step * (count - 1) + 1, step) for at in range(size)]
        for count, size, hole, step in zip(counts, kernel, dilation, stride, strict=True)
    ]
    return itertools.product(*axes)


@op("Im2ColPatches", classes=())
def _unfold(x: Any, *, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Patches: (N, C, places in a window, windows)."""
    counts = _counts(x.shape[2:], kernel, dilation, padding, stride)
    wide = jnp.pad(x, ((0, 0), (0, 0), *[(border, border) for border in padding]))
    parts = [wide[:, :, rows, columns] for rows, columns in window_slices(counts, kernel, dilation, stride)]
    return jnp.stack(parts, 2).reshape(*x.shape[:2], len(parts), -1)


@op("Col2ImPatches", classes=())
def _fold(x: Any, *, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    counts = _counts(size, kernel, dilation, padding, stride)
    if x.shape[2:] != (math.prod(kernel), math.prod(counts)):
        raise ValueError(
            f"fold: an image of {tuple(size)} has {math.prod(counts)} windows of {math.prod(kernel)} elements, "
            f"not as many as a shape {tuple(x.shape)}"
        )
    lead = x.shape[:2]
    image = jnp.zeros((*lead, *[length + 2 * border for length, border in zip(size, padding, strict=True)]), x.dtype)
    for place, (rows, columns) in enumerate(window_slices(counts, kernel, dilation, stride)):
        image = image.at[:, :, rows, columns].add(x[:, :, place].reshape(*lead, *counts))
    return image[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


@WINDOWS
@shows("unfold(Tensor([[[[1.0, 2.0, 3.0]]]]), (1, 2))", "[[[1. 2.]\n  [2. 3.]]]")
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The patches of images.

    Args:
        input: (N, C, H, W), of numbers.
        padding: border of zeros.

    Returns:
        Tensor: (N, C * height * width, windows), of the same element type.

    Raises:
        TypeError: an argument is no int, nor two.
        ValueError: a number is too small, or a window does not fit the image.
    """
    need_shape("unfold", "(N, C, H, W)", input)
    patches = _unfold(input, *_window("unfold", kernel_size, dilation, padding, stride))
    return patches.reshape((input.shape[0], -1, patches.shape[3]))


@WINDOWS
@shows("fold(Tensor([[[[1.0, 2.0], [2.0, 3.0]]]]), (1, 3), (1, 2))", "[[[[1. 4. 3.]]]]")
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The images whose patches are given; elements in several patches are added.

    Args:
        input: (N, C, height * width of a window, windows), or the middle two as one, of numbers.
        output_size: height and width of the images: two ints, or a Tensor of them.
        padding: border of zeros that the images had.

    Returns:
        Tensor: (N, C, H, W), of the same element type.

    Raises:
        TypeError: an argument is no int, nor two.
        ValueError: the patches are not those of images of this size.
    """
    window = _window("fold", kernel_size, dilation, padding, stride)
    count = math.prod(window[0])
    if input.ndim == 3 and not input.shape[1] % count:
        input = input.reshape((input.shape[0], input.shape[1] // count, count, input.shape[2]))
    if input.ndim != 4:
        raise ValueError(f"fold: patches have the shape (N, C, elements, windows), not {input.shape}")
    size = output_size.tolist() if isinstance(output_size, Tensor) else output_size
    return _fold(input, _pair("fold", "output_size", size), *window)


# -- pixels and channels ---------------------------------------------------------------------------------------------


def _factor(name: str, what: str, value: Any, input: Tensor) -> int:
    positive_ints(name, **{what: value})
    if input.ndim < 3:
        raise ValueError(f"{name}: images have at least 3 dimensions, not {input.ndim}")
    return value


@shows("pixel_shuffle(Tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), 2)", "[[[[1. 2.]\n   [3. 4.]]]]")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Larger images of fewer channels: each pixel becomes a square of pixels from as many channels.

    Args:
        input: (..., C * r * r, H, W).
        upscale_factor: r, the side of the squares.

    Returns:
        Tensor: (..., C, H * r, W * r), of the same element type.

    Raises:
        ValueError: r is not positive, or r * r does not divide the number of channels.
    """
    r = _factor("pixel_shuffle", "upscale_factor", upscale_factor, input)
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise ValueError(f"pixel_shuffle: {channels} channels cannot be divided by {r * r}")
    n = len(batch)
    parts = input.reshape((*batch, channels // (r * r), r, r, height, width))
    parts = parts.transpose((*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return parts.reshape((*batch, channels // (r * r), height * r, width * r))


@shows("pixel_unshuffle(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).shape", "(1, 4, 1, 1)")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Smaller images of more channels: what `pixel_shuffle` undoes.

    Args:
        input: (..., C, H * r, W * r).
        downscale_factor: r, the side of the squares of pixels that become channels.

    Returns:
        Tensor: (..., C * r * r, H, W), of the same element type.

    Raises:
        ValueError: r is not positive, or does not divide the height and width.
    """
    r = _factor("pixel_unshuffle", "downscale_factor", downscale_factor, input)
    *batch, channels, height, width = input.shape
    if height % r or width % r:
        raise ValueError(f"pixel_unshuffle: an image of {height} x {width} cannot be divided by {r}")
    n = len(batch)
    parts = input.reshape((*batch, channels, height // r, r, width // r, r))
    parts = parts.transpose((*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return parts.reshape((*batch, channels * r * r, height // r, width // r))


@shows("diag_part(Tensor([[1, 2], [3, 4]]))", "[1 4]")
def diag_part(input_x: Tensor) -> Tensor:
    """The elements whose first half of indices is the second half.

    Args:
        input_x: (D1, ..., Dk, D1, ..., Dk).

    Returns:
        Tensor: (D1, ..., Dk), of the same element type.

    Raises:
        ValueError: the halves of the shape differ.
    """
    half, shape = input_x.ndim // 2, input_x.shape
    if not shape or input_x.ndim % 2 or shape[:half] != shape[half:]:
        raise ValueError(f"diag_part: the two halves of the shape must be alike, not {shape}")
    size = math.prod(shape[:half])
    return input_x.reshape((size * size,))[:: size + 1].reshape(shape[:half])


operator_class("DiagPart", diag_part)


# -- sampling at points ----------------------------------------------------------------------------------------------


def _reflected(at: Any, low: float, high: float) -> Any:
    """Coordinates mirrored until they are between two bounds."""
    span = high - low
    if span == 0:
        return jnp.zeros_like(at)
    distance = jnp.abs(at - low)
    rest = distance - jnp.floor(distance / span) * span
    return jnp.where(jnp.floor(distance / span) % 2 == 0, rest + low, high - rest)


def _positions(at: Any, size: int, padding_mode: str, align_corners: bool) -> Any:
    """Coordinates from -1 to 1 as positions of pixels."""
    at = (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2
    if padding_mode == "reflection":
        at = _reflected(at, 0, size - 1) if align_corners else _reflected(at, -0.5, size - 0.5)
    if padding_mode in ("reflection", "border"):
        at = jnp.clip(at, 0, size - 1)
    return at


@op("GridSample", classes=())
def _grid_sample(x: Any, grid: Any, *, mode: str, padding_mode: str, align_corners: bool) -> Any:
    sizes = x.shape[2:]
    rank = len(sizes)
    points = jnp.moveaxis(grid[..., ::-1], -1, 0).astype(x.dtype)  # the last coordinate is that of the first dimension
    places = [_positions(at, size, padding_mode, align_corners) for at, size in zip(points, sizes, strict=True)]
    batch = jnp.arange(x.shape[0]).reshape(-1, *[1] * (grid.ndim - 2))

    def taken(index: Sequence[Any]) -> Any:
        inside: Any = True
        for place, size in zip(index, sizes, strict=True):
            inside = inside & (place >= 0) & (place < size)
        clipped = [jnp.clip(place, 0, size - 1).astype(jnp.int32) for place, size in zip(index, sizes, strict=True)]
        found = x[(batch, slice(None), *clipped)]  # advanced indices around a slice come first
        return jnp.where(inside[..., None], found, 0)

    if mode == "nearest":
        out = taken([jnp.round(place) for place in places])
    else:
        low = [jnp.floor(place) for place in places]
        part = [place - floor for place, floor in zip(places, low, strict=True)]
        out = jnp.zeros((), x.dtype)
        for corner in itertools.product((0, 1), repeat=rank):
            weight: Any = 1.0
            for step, share in zip(corner, part, strict=True):
                weight = weight * (share if step else 1 - share)
            index = [floor + step for floor, step in zip(low, corner, strict=True)]
            out = out + taken(index) * weight[..., None].astype(x.dtype)
    return jnp.moveaxis(out, -1, 1)


@shows("grid_sample(Tensor([[[[1.0, 3.0]]]]), Tensor([[[[0.0, 0.0]]]]))", "[[[[2.]]]]")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    """The values of images at points.

    Args:
        input: (N, C, H, W), or (N, C, D, H, W), of floats.
        grid: (N, H', W', 2): x and y of each point, from -1 to 1; or (N, D', H', W', 3).
        mode: ``"bilinear"`` or ``"nearest"``.
        padding_mode: what is outside: ``"zeros"``, ``"border"`` (the nearest pixel), or ``"reflection"``.
        align_corners: whether -1 and 1 are the centres of the outermost pixels, and not their outer edges.

    Returns:
        Tensor: (N, C, H', W'), or (N, C, D', H', W'), of the element type of `input`.

    Raises:
        ValueError: there is no such mode, or the shapes do not fit.
    """
    one_of("grid_sample", ("bilinear", "nearest"), mode=mode)
    one_of("grid_sample", ("zeros", "border", "reflection"), padding_mode=padding_mode)
    bools("grid_sample", align_corners=align_corners)
    fits = input.ndim in (4, 5) and grid.ndim == input.ndim and grid.shape[-1] == input.ndim - 2
    if not fits or grid.shape[0] != input.shape[0]:
        raise ValueError(f"grid_sample: points of shape {grid.shape} do not fit images of shape {input.shape}")
    return _grid_sample(input, grid, mode, padding_mode, align_corners)


_METHODS = ("bilinear", "nearest", "bilinear_v2")


def _crop_bounds(x: Any, boxes: Any, box_indices: Any, *_: Any) -> None:
    check_bounds(box_indices, x.shape[0], "crop_and_resize: there is no image {}", least=0)


@op("CropAndResize", init="method='bilinear', extrapolation_value=0.0", bounds=_crop_bounds)
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    *,
    crop_size: tuple[int, int],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Any:
    """Parts of images, all of one size.

    Args:
        image: (N, H, W, C), of numbers.
        boxes: (R, 4), of floats: y1, x1, y2, x2, from 0 to 1; a part whose second corner comes first is mirrored.
        box_indices: (R,), of ints: the image of each box.
        crop_size: height and width of the results.
        method: ``"bilinear"``, ``"bilinear_v2"`` (the same) or ``"nearest"``.
        extrapolation_value: what is outside of an image.

    Returns:
        Tensor: (R, height, width, C), of float32.

    Raises:
        ValueError: there is no such method, or a shape does not fit.
        IndexError: there is no such image.

    Example:
        >>> image, box = Tensor([[[[1.0], [3.0]]]]), Tensor([[0.0, 0.0, 0.0, 1.0]])
        >>> print(crop_and_resize(image, box, Tensor([0]), (1, 3))[0, 0, :, 0])
        [1. 2. 3.]
    """
    one_of("crop_and_resize", _METHODS, method=method)
    if image.ndim != 4:
        raise ValueError(f"crop_and_resize: images have the shape (N, H, W, C), not {tuple(image.shape)}")
    if boxes.ndim != 2 or boxes.shape[1] != 4 or box_indices.shape != boxes.shape[:1]:
        raise ValueError("crop_and_resize: boxes must have the shape (R, 4), and box_indices (R,)")
    if not isinstance(crop_size, tuple) or len(crop_size) != 2:
        raise TypeError(f"crop_and_resize: crop_size must be a tuple of two ints, not {crop_size!r}")
    if min(crop_size) < 1:
        raise ValueError(f"crop_and_resize: crop_size must be positive, not {crop_size}")
    values = image.astype(jnp.float32)[box_indices]
    inside, weights = [], []
    for axis, count in enumerate(crop_size):
        length = image.shape[axis + 1]
        first, last = boxes[:, axis, None], boxes[:, axis + 2, None]
        if count > 1:
            at = first * (length - 1) + jnp.arange(count) * ((last - first) * (length - 1) / (count - 1))
        else:
            at = 0.5 * (first + last) * (length - 1)
        inside.append((at >= 0) & (at <= length - 1))
        if method == "nearest":
            weights.append(jax.nn.one_hot(jnp.round(at).astype(jnp.int32), length, dtype=jnp.float32))
        else:
            near = 1 - jnp.abs(at[..., None] - jnp.arange(length))
            weights.append(jnp.maximum(near, 0).astype(jnp.float32))
    found = jnp.einsum("rhwc,rph,rqw->rpqc", values, *weights, precision="highest")
    shown = inside[0][:, :, None] & inside[1][:, None, :]
    return jnp.where(shown[..., None], found, jnp.float32(extrapolation_value))
