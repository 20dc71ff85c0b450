"""Operator classes of pooling with positions, of its inverse, of windows of fractional distance, and of dilation."""

from __future__ import annotations

import math
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import dtypes
from weft.core import Primitive, Tensor, apply, as_operator, check_bounds, described, op, operator_class
from weft.ops import pool
from weft.ops._assigning import assigned
from weft.ops._checks import need_shape, one_of, only, tuples
from weft.ops._rules import numbers
from weft.ops.images import window_slices
from weft.ops.random import rand
from weft.ops.unpooling import fractional_maxima

_DESCRIBED: Final = described(
    ksize="size of a window.",
    kernel_size="size of a window.",
    strides="distance of windows.",
    pads="border that never wins.",
    dilation="distance of the elements of a window.",
    ceil_mode="whether windows may reach over the border.",
    argmax_type="element type of the positions.",
    output_shape="number of windows.",
)


def _spread(name: str, what: str, value: Any, rank: int) -> tuple[int, ...]:
    """One number for each spatial dimension."""
    if isinstance(value, bool) or not isinstance(value, (int, tuple, list)):
        raise TypeError(f"{name}: {what} must be an int or a tuple, not {type(value).__name__}")
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    found = found[2:] if len(found) == rank + 2 else found
    if len(found) != rank:
        raise ValueError(f"{name}: {what} must be an int or {rank} of them, not {value}")
    return found


@as_operator
@_DESCRIBED
def MaxPoolWithArgmaxV2(
    x: Tensor,
    *,
    kernel_size: Any,
    strides: Any = None,
    pads: Any = 0,
    dilation: Any = (1, 1),
    ceil_mode: bool = False,
    argmax_type: Any = dtypes.int64,
) -> Any:
    """Maxima of windows over the last two dimensions, and their flat positions.

    Args:
        strides: distance of windows; None is the size.
    """
    if isinstance(strides, int) and not isinstance(strides, bool) and strides < 1:
        raise ValueError(f"MaxPoolWithArgmaxV2: strides must be positive, not {strides}")
    found, places = pool.max_pool2d(x, kernel_size, strides, pads, dilation, True, ceil_mode)
    return found, places.astype(_positions_type("MaxPoolWithArgmaxV2", argmax_type))


@as_operator
@_DESCRIBED
def MaxPool3DWithArgmax(
    x: Tensor, *, ksize: Any, strides: Any, pads: Any, dilation: Any = (1, 1, 1), ceil_mode: bool = False,
    data_format: str = "NCDHW", argmax_type: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """Maxima of windows over the last three dimensions, and their flat positions.

    Args:
        data_format: ``"NCDHW"``.
    """
    only("MaxPool3DWithArgmax", "NCDHW", data_format=data_format)
    found, places = pool.max_pool3d(x, ksize, strides, pads, dilation, ceil_mode, True)
    return found, places.astype(_positions_type("MaxPool3DWithArgmax", argmax_type))


def _positions_type(name: str, given: Any) -> Any:
    if given not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"{name}: argmax_type must be int32 or int64, not {given}")
    return given


def _spatial(name: str, x: Tensor, rank: int) -> tuple[int, ...]:
    """The sizes of the last dimensions of examples, or of a single one."""
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"{name} takes {rank + 1} or {rank + 2} dimensions, not shape {x.shape}")
    return x.shape[x.ndim - rank :]


# -- the inverse of pooling --------------------------------------------------------------------------------------------


def _place_bounds(x: Any, argmax: Any, size: tuple[int, ...]) -> None:
    del x
    check_bounds(argmax, math.prod(size), "there is no position {} in what is unpooled", least=0)


@op("Unpooling", classes=(), bounds=_place_bounds)
def _unpooled(x: Any, argmax: Any, *, size: tuple[int, ...]) -> Any:
    """Zeros with values at flat positions of the last dimensions."""
    lead = x.shape[: x.ndim - len(size)]
    rows = math.prod(lead)
    flat, places = x.reshape(rows, -1), argmax.reshape(rows, -1)
    made = assigned(jnp.zeros((rows, math.prod(size)), x.dtype), (jnp.arange(rows)[:, None], places), flat)
    return made.reshape(*lead, *size)


def _unpooling(rank: int, dimensions: str, layout: str) -> Any:
    """The operator class of a number of dimensions."""
    name = f"MaxUnpool{rank}D"

    def unpool(
        x: Tensor, argmax: Tensor, *, ksize: Any, strides: Any, pads: Any, output_shape: Any, data_format: str
    ) -> Tensor:
        only(name, layout, data_format=data_format)
        spatial, lead = _spatial(name, x, rank), x.shape[: x.ndim - rank]
        if x.shape != argmax.shape:
            raise ValueError(f"{name}: positions of shape {argmax.shape} do not fit maxima of shape {x.shape}")
        kernel, border = _spread(name, "ksize", ksize, rank), _spread(name, "pads", pads, rank)
        steps = kernel if strides in (0, (0,) * rank) else _spread(name, "strides", strides, rank)
        if min(kernel) < 1 or min(steps) < 1 or min(border) < 0:
            raise ValueError(f"{name}: ksize and strides must be positive and pads not negative")
        size = tuple(
            (length - 1) * step - 2 * edge + window
            for length, step, edge, window in zip(spatial, steps, border, kernel, strict=True)
        )
        if output_shape:
            tuples(name, output_shape=output_shape)
            if len(output_shape) != x.ndim or output_shape[: x.ndim - rank] != lead:
                raise ValueError(f"{name}: output_shape {output_shape} does not fit maxima of shape {x.shape}")
            size = output_shape[x.ndim - rank :]
        return _unpooled(x, argmax, size=size)

    unpool.__doc__ = f"""Zeros with maxima at the places that they were taken from, over {dimensions} dimensions.

    Args:
        ksize: size of a window.
        strides: distance of windows; 0 is the size.
        pads: border that was added.
        output_shape: shape of the result; ``()`` follows from the others.
        data_format: ``"{layout}"``.
    """
    return operator_class(name, unpool, f"ksize, strides=0, pads=0, output_shape=(), data_format={layout!r}")


# -- as many windows as wanted -----------------------------------------------------------------------------------------


@as_operator
def AdaptiveMaxPool2D(input: Tensor, *, output_size: Any) -> Any:
    """Maxima of as many windows as wanted over the last two dimensions, and their flat positions.

    Args:
        output_size: (H', W').
    """
    if not isinstance(output_size, (tuple, list)) or not all(isinstance(size, int) for size in output_size):
        raise TypeError(f"AdaptiveMaxPool2D: output_size must be a tuple or list of ints, not {output_size!r:.60}")
    return pool.adaptive_max_pool2d(input, output_size, True)


@as_operator
def AdaptiveMaxPool3D(x: Tensor, output_size: Any) -> Any:
    """Maxima of as many windows as wanted over the last three dimensions, and their int32 flat positions."""
    size = numbers(output_size)
    if len(size) != 3 or min(size) < 1 or x.ndim not in (4, 5):
        raise ValueError(f"AdaptiveMaxPool3D: a size of {size} does not fit a tensor of shape {x.shape}")
    found, places = apply(pool.ADAPTIVE_MAX_POOL, (x,), (size,))
    return found, places.astype(dtypes.int32)


@as_operator
def AdaptiveAvgPool3D(x: Tensor, *, output_size: Any) -> Tensor:
    """Means of as many windows as wanted over the last three dimensions.

    Args:
        output_size: an int, or (D', H', W') where None keeps a size.
    """
    return pool.adaptive_avg_pool3d(x, output_size)


# -- windows of fractional distance ------------------------------------------------------------------------------------


def _fractional(name: str, rank: int, x: Tensor, random: Tensor, ksize: Any, output_shape: Any) -> Any:
    spatial = _spatial(name, x, rank)
    kernel, outputs = _spread(name, "ksize", ksize, rank), _spread(name, "output_shape", output_shape, rank)
    if min(kernel) < 1 or min(outputs) < 1:
        raise ValueError(f"{name}: ksize and output_shape must be positive")
    if any(count + window - 1 > size for count, window, size in zip(outputs, kernel, spatial, strict=True)):
        raise ValueError(f"{name}: {outputs} windows of {kernel} do not fit into {spatial}")
    if random.ndim != 3 or random.shape[-1] != rank:
        raise ValueError(f"{name}: the random numbers have the shape (N, C, {rank}), not {random.shape}")
    if x.ndim == rank + 2:
        return fractional_maxima(x, random, kernel, outputs)
    values, positions = fractional_maxima(x.expand_dims(0), random, kernel, outputs)
    return values.squeeze(0), positions.squeeze(0)


@as_operator
@_DESCRIBED
def FractionalMaxPoolWithFixedKsize(
    input_x: Tensor, random_samples: Tensor, *, ksize: Any, output_shape: Any, data_format: str = "NCHW"
) -> Any:
    """Maxima of windows at random distances over two dimensions, and their flat positions.

    Args:
        data_format: ``"NCHW"``.
    """
    only("FractionalMaxPoolWithFixedKsize", "NCHW", data_format=data_format)
    return _fractional("FractionalMaxPoolWithFixedKsize", 2, input_x, random_samples, ksize, output_shape)


@as_operator
@_DESCRIBED
def FractionalMaxPool3DWithFixedKsize(
    x: Tensor, random_samples: Tensor, *, ksize: Any, output_shape: Any, data_format: str = "NCDHW"
) -> Any:
    """Maxima of windows at random distances over three dimensions, and their flat positions.

    Args:
        data_format: ``"NCDHW"``.
    """
    only("FractionalMaxPool3DWithFixedKsize", "NCDHW", data_format=data_format)
    return _fractional("FractionalMaxPool3DWithFixedKsize", 3, x, random_samples, ksize, output_shape)


# -- windows that cover everything, of random or regular boundaries ----------------------------------------------------


def _boundaries(u: Any, size: int, outputs: int, pseudo: bool) -> Any:
    """The first positions of windows and the size, by a random number."""
    if pseudo:
        ratio = size / outputs
        # where the sequence may begin so that its last step ends at the size
        base = size // outputs
        high = min((base + 2) / ratio - 1, (size + 1 - base) / ratio - (outputs - 1)) if outputs > 1 else 0.0
        start = u * max(high, 0.0)
        steps = jnp.ceil(ratio * (jnp.arange(outputs) + start)) - jnp.ceil(ratio * start)
        return jnp.concatenate([steps.astype(jnp.int32), jnp.full((1,), size, jnp.int32)])
    base, larger = size // outputs, size % outputs
    order = jnp.argsort(u * (1 + jnp.arange(outputs)) % 1.0)
    lengths = base + (order < larger).astype(jnp.int32)
    return jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths).astype(jnp.int32)])


def _cells(x: Any, random: Any, *, outputs: tuple[int, int], pseudo: bool, overlapping: bool, mean: bool) -> Any:
    """Maxima or means of cells of images (N, H, W, C), and the boundaries of rows and columns."""
    edges, masks = [], []
    for u, size, count in zip(random, x.shape[1:3], outputs, strict=True):
        edge, places = _boundaries(u, size, count, pseudo), jnp.arange(size)
        edges.append(edge)
        masks.append((places >= edge[:-1, None]) & (places < edge[1:, None] + overlapping))
    inside = masks[0][:, None, :, None] & masks[1][None, :, None, :]
    if mean:
        total = jnp.einsum("nhwc,ijhw->nijc", x, inside.astype(x.dtype))
        found = (total / jnp.sum(inside, (2, 3)).astype(x.dtype)[None, :, :, None]).astype(x.dtype)
    else:
        lowest = jnp.asarray(-jnp.inf, x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        spread = jnp.where(inside[None, ..., None], x[:, None, None], lowest)
        flat = spread.reshape(*spread.shape[:3], -1, x.shape[-1])
        best = jnp.argmax(flat, axis=3, keepdims=True)
        found = jnp.take_along_axis(flat, best, axis=3)[:, :, :, 0]
    return found, edges[0].astype(jnp.int64), edges[1].astype(jnp.int64)


_CELLS = Primitive("FractionalCells", _cells, attr_names=("outputs", "pseudo", "overlapping", "mean"), multiple=True)


def _fractional_cells(name: str, what: str, mean: bool) -> Any:
    """The operator class of what is taken of cells."""

    def pool_cells(
        x: Tensor,
        *,
        pooling_ratio: Any,
        pseudo_random: bool,
        overlapping: bool,
        deterministic: bool,
        seed: int,
        seed2: int,
    ) -> Any:
        if not isinstance(pooling_ratio, list):
            raise TypeError(f"{name}: pooling_ratio must be a list, not {type(pooling_ratio).__name__}")
        need_shape(name, "(N, H, W, C)", x)
        if len(pooling_ratio) != 4 or pooling_ratio[0] != 1.0 or pooling_ratio[3] != 1.0 or min(pooling_ratio) < 1:
            raise ValueError(f"{name}: ratios are [1.0, rows, columns, 1.0], at least 1, not {pooling_ratio}")
        outputs = tuple(int(size / ratio) for size, ratio in zip(x.shape[1:3], pooling_ratio[1:3], strict=True))
        if min(outputs) < 1:
            raise ValueError(f"{name}: nothing is left of {x.shape[1:3]} by {pooling_ratio}")
        if deterministic:
            random = Tensor(np.random.default_rng(seed + seed2).random(2, np.float32))
        else:
            random = rand(2, seed=seed + seed2 or None)
        return apply(_CELLS, (x, random), (outputs, bool(pseudo_random), bool(overlapping), mean))

    pool_cells.__doc__ = f"""{what} of cells of images (N, H, W, C) whose boundaries are random, and the boundaries.

    Args:
        pooling_ratio: [1.0, rows, columns, 1.0]: how much smaller the result is.
        pseudo_random: whether the boundaries are a random beginning of a regular sequence.
        overlapping: whether cells share their boundaries.
        deterministic: whether all calls have the same boundaries.
        seed: picks a stream of its own.
        seed2: the same.
    """
    init = "pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0"
    return operator_class(name, pool_cells, init)


# -- dilation ----------------------------------------------------------------------------------------------------------


@op("GreyDilation", classes=())
def _dilated(x: Any, filter: Any, *, stride: Any, dilation: Any, pads: Any) -> Any:
    padded = jnp.pad(x, ((0, 0), (0, 0), *pads), constant_values=float(np.finfo(x.dtype).min))
    kernel = filter.shape[1:]
    counts = [
        (size - hole * (window - 1) - 1) // step + 1
        for size, window, step, hole in zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    ]
    places = window_slices(counts, kernel, dilation, stride)
    weights = filter.reshape(filter.shape[0], -1, 1, 1)
    every = jnp.stack([padded[:, :, rows, columns] + weights[:, i] for i, (rows, columns) in enumerate(places)])
    return jnp.take_along_axis(every, jnp.argmax(every, axis=0)[None], axis=0)[0]


@as_operator
@_DESCRIBED
def Dilation2D(
    x: Tensor, filter: Tensor, *, stride: Any, dilation: Any, pad_mode: str = "SAME", data_format: str = "NCHW"
) -> Tensor:
    """The maxima over windows of images (N, C, H, W) of what is there and in a filter (C, KH, KW), added.

    Args:
        stride: distance of windows.
        pad_mode: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NCHW"``.
    """
    only("Dilation2D", "NCHW", data_format=data_format)
    steps, holes = _spread("Dilation2D", "stride", stride, 2), _spread("Dilation2D", "dilation", dilation, 2)
    one_of("Dilation2D", ("SAME", "VALID"), pad_mode=pad_mode.upper())
    if x.ndim != 4 or filter.ndim != 3 or filter.shape[0] != x.shape[1]:
        raise ValueError(f"Dilation2D: a filter of shape {filter.shape} does not fit images of shape {x.shape}")
    if x.dtype != filter.dtype:
        raise TypeError(f"Dilation2D: images of {x.dtype} and a filter of {filter.dtype}")
    spans = [hole * (window - 1) + 1 for window, hole in zip(filter.shape[1:], holes, strict=True)]
    pads = lax.padtype_to_pads(x.shape[2:], spans, steps, pad_mode.upper())
    return _dilated(x, filter, stride=steps, dilation=holes, pads=pads)


MaxUnpool2D, MaxUnpool3D = _unpooling(2, "two", "NCHW"), _unpooling(3, "three", "NCDHW")
FractionalMaxPool = _fractional_cells("FractionalMaxPool", "Maxima", mean=False)
FractionalAvgPool = _fractional_cells("FractionalAvgPool", "Means", mean=True)
