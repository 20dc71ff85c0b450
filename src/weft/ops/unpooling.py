"""Pooling by powers, by windows at random, and the inverse of maxima."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from weft import dtypes
from weft.core import Tensor, apply, described, op, shows, told
from weft.ops._checks import bools, floats, reals
from weft.ops._kinks import root
from weft.ops.conv import per_dimension
from weft.ops.create import zeros
from weft.ops.gather import tensor_scatter_elements
from weft.ops.math import pow
from weft.ops.pool import ADAPTIVE_MAX_POOL, _adaptive, avg_pool, check_input, largest, max_pool
from weft.ops.random import rand

__all__ = [
    "adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "lp_pool1d", "lp_pool2d", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip


# -- powers ------------------------------------------------------------------------------------------------------


@op("RootOfOrder", classes=(), elementwise=True)
def _root(x: Any, *, p: float) -> Any:
    """A root; its derivative at 0 is 0, and there is none of what is negative."""
    return jnp.where(x < 0, jnp.asarray(jnp.nan, x.dtype), root(jnp.maximum(x, 0), p)) if p != 1 else x


_POWERS = described(
    norm_type="p, a number other than 0: 1 gives sums, infinity maxima.",
    kernel_size="window.",
    stride="step; None is the window size.",
    ceil_mode="also keep windows that reach over the border.",
    returns="Tensor: of the same element type.",
    raises="TypeError: an argument is of another type.\nValueError: a number or shape does not fit.",
)


def _power_pooling(rank: int, over: str, shapes: str, given: str, printed: str) -> Any:
    """The function of a number of dimensions."""
    name = f"lp_pool{rank}d"

    def pool(x: Any, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        reals(name, norm_type=norm_type)
        if norm_type == 0:
            raise ValueError(f"{name}: norm_type must not be 0")
        bools(name, ceil_mode=ceil_mode)
        check_input(name, x, rank)
        x = x if x.dtype.is_floating else x.astype(dtypes.float32)
        kernel = per_dimension(name, "kernel_size", kernel_size, rank)
        if norm_type == math.inf:
            return max_pool(name, rank, x, kernel, stride, "pad", 0, 1, ceil_mode, False)
        means = avg_pool(name, rank, pow(x, norm_type), kernel, stride, "pad", 0, ceil_mode, True, None)
        return _root(means * math.prod(kernel), float(norm_type))

    doc = f"""
The p-th roots of sums of p-th powers of windows over the last {over}.

Args:
    x: {shapes}.

Example:
    >>> print({name}(Tensor({given}), 2, 2))
    {printed}
"""
    return _POWERS(told(pool, name, doc))


lp_pool1d = _power_pooling(1, "dimension", "(N, C, L) or (C, L)", "[[[3.0, 4.0, 0.0, 1.0]]]", "[[[5. 1.]]]")
lp_pool2d = _power_pooling(
    2, "two dimensions", "(N, C, H, W) or (C, H, W)", "[[[[3.0, 4.0], [0.0, 0.0]]]]", "[[[[5.]]]]"
)


# -- the inverse of maxima ---------------------------------------------------------------------------------------


def _numbers(name: str, what: str, value: Any, rank: int, least: int) -> tuple[int, ...]:
    """A setting for each dimension, given as an int or a tuple."""
    if isinstance(value, bool) or not isinstance(value, (int, tuple)):
        raise TypeError(f"{name}: {what} must be an int or a tuple, not {type(value).__name__}")
    found = value if isinstance(value, tuple) else (value,) * rank
    if len(found) != rank or any(n < least for n in found):
        raise ValueError(f"{name}: {what} must be an int or {rank} of them, not less than {least}, got {value!r}")
    return found


_UNPOOLED = described(
    indices="flat positions of the maxima, of int32 or int64, in the shape of `x`.",
    kernel_size="window of the maxima.",
    stride="its step; None or 0 is the window size.",
    padding="border of the maxima.",
    output_size="size of the result, less than a step from the smallest; None for that.",
    returns="Tensor: the maxima in their places, zeros elsewhere.",
    raises="TypeError: an argument is of another type.\n"
    "ValueError: a shape or size does not fit.\nIndexError: a position is out of bounds.",
)


def _unpooling(rank: int, shapes: str, given: str, printed: str) -> Any:
    """The function of a number of dimensions."""
    name = f"max_unpool{rank}d"

    def unpool(
        x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        check_input(name, x, rank)
        if not isinstance(indices, Tensor) or indices.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"{name}: indices must be a tensor of int32 or int64")
        if indices.shape != x.shape:
            raise ValueError(f"{name}: indices of shape {indices.shape} do not fit the input of shape {x.shape}")
        kernel = _numbers(name, "kernel_size", kernel_size, rank, 1)
        steps = kernel if stride is None else _numbers(name, "stride", stride, rank, 0)
        steps = steps if any(steps) else kernel
        pads = _numbers(name, "padding", padding, rank, 0)
        lead, spatial = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
        usual = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(spatial, steps, pads, kernel, strict=True)]
        wanted: list[Any] = usual
        if output_size is not None and tuple(output_size) != ():
            wanted = list(output_size)[-rank:]
            if len(output_size) not in (rank, rank + 1, rank + 2) or any(
                not u - s < w < u + s for u, s, w in zip(usual, steps, wanted, strict=True)
            ):
                raise ValueError(f"{name}: output_size {output_size} is not near {tuple(usual)}")
        rows = math.prod(lead)
        blank = zeros((rows, math.prod(wanted)), x.dtype)
        found = tensor_scatter_elements(blank, indices.reshape((rows, -1)), x.reshape((rows, -1)), 1)
        return found.reshape((*lead, *wanted))

    doc = f"""
What `max_pool{rank}d` was given, with zeros in place of what was no maximum.

Args:
    x: maxima, {shapes}.

Example:
    >>> print({name}({given}))
    {printed}
"""
    return _UNPOOLED(told(unpool, name, doc))


max_unpool1d = _unpooling(
    1, "(N, C, L) or (C, L)", "Tensor([[[3.0, 4.0]]]), Tensor([[[1, 3]]]), 2", "[[[0. 3. 0. 4.]]]"
)
max_unpool2d = _unpooling(
    2, "(N, C, H, W) or (C, H, W)", "Tensor([[[[4.0]]]]), Tensor([[[[3]]]]), 2", "[[[[0. 0.]\n       [0. 4.]]]]"
)
max_unpool3d = _unpooling(
    3, "(N, C, D, H, W) or (C, D, H, W)", "Tensor([[[[[4.0]]]]]), Tensor([[[[[1]]]]]), (1, 2, 1)",
    "[[[[[0.]\n        [4.]]]]]",
)  # fmt: skip


# -- windows at random -------------------------------------------------------------------------------------------


def _starts(samples: Any, length: int, window: int, outputs: int) -> Any:
    """Where windows begin, by a number between 0 and 1: in steps of two lengths, the last one at the end."""
    steps = jnp.arange(outputs)
    if outputs == 1:
        return jnp.broadcast_to(jnp.full((1,), length - window), (*samples.shape, 1))
    ratio = jnp.asarray((length - window) / (outputs - 1), samples.dtype)
    shifted = jnp.floor((steps + samples[..., None]) * ratio) - jnp.floor(samples * ratio)[..., None]
    return jnp.where(steps == outputs - 1, length - window, shifted.astype(jnp.int64))


@op("FractionalMaxima", classes=(), multiple=True)
def fractional_maxima(x: Any, samples: Any, *, kernel: tuple[int, ...], outputs: tuple[int, ...]) -> Any:
    """Maxima of windows that begin at random, and their flat positions."""
    rank = len(kernel)
    spatial = x.shape[2:]
    at = jnp.zeros((*x.shape[:2], *(1,) * (2 * rank)), jnp.int64)
    for i, (length, window, count) in enumerate(zip(spatial, kernel, outputs, strict=True)):
        # the numbers of two dimensions are in the order of width and height, those of three in that of the dimensions
        number = samples[..., rank - 1 - i if rank == 2 else i]
        positions = _starts(number, length, window, count)[..., None] + jnp.arange(window)
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = count, window
        at = at * length + positions.reshape((*x.shape[:2], *shape))
    at = at.reshape((*x.shape[:2], math.prod(outputs), math.prod(kernel)))
    windows = jnp.take_along_axis(x.reshape((*x.shape[:2], 1, -1)), at, -1)
    values, places = largest(windows, at)
    return values.reshape((*x.shape[:2], *outputs)), places.reshape((*x.shape[:2], *outputs))


def _windows_of_ratio(name: str, spatial: Any, ratio: Any) -> tuple[int, ...]:
    """Number of windows in each dimension, as a part of its size."""
    ratios = ratio if isinstance(ratio, (tuple, list)) else (ratio,) * len(spatial)
    for each in ratios:
        floats(name, output_ratio=each)
        if not 0 < each < 1:
            raise ValueError(f"{name}: output_ratio must be between 0 and 1, not {each}")
    if len(ratios) != len(spatial):
        raise ValueError(f"{name}: output_ratio must be a float or {len(spatial)} of them, not {ratio!r}")
    return tuple([int(n * each) for n, each in zip(spatial, ratios, strict=True)])


_FRACTIONAL = described(
    kernel_size="window, an int or one for each dimension.",
    output_size="number of windows, an int or one for each dimension.",
    output_ratio="number of windows as a part of the size, where `output_size` is None.",
    return_indices="also return the flat position of each maximum.",
    _random_samples="numbers between 0 and 1 by which windows are placed, (N, C, dimensions); None to draw them.",
    returns="Tensor, or a tuple of it and the int64 positions.",
    raises="TypeError: an argument is of another type.\nValueError: a size or shape does not fit.",
)


def _fractional(rank: int, dimensions: str, shapes: str, given: str, printed: str) -> Any:
    """The function of a number of dimensions."""
    name = f"fractional_max_pool{rank}d"

    def pool(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        check_input(name, input, rank, what="input")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name}: output_size or output_ratio is needed")
        x = input if input.ndim == rank + 2 else input.expand_dims(0)
        kernel = per_dimension(name, "kernel_size", kernel_size, rank)
        if output_size is None:
            outputs = _windows_of_ratio(name, x.shape[2:], output_ratio)
        else:
            outputs = per_dimension(name, "output_size", output_size, rank)
        for length, window, count in zip(x.shape[2:], kernel, outputs, strict=True):
            if count < 1 or count + window - 1 > length:
                raise ValueError(f"{name}: {count} windows of {window} do not fit into a dimension of {length}")
        samples, shape = _random_samples, (*x.shape[:2], rank)
        if samples is None:
            samples = rand(shape, dtype=dtypes.float32)
        elif samples.shape != shape:
            raise ValueError(f"{name}: _random_samples must have the shape {shape}, not {samples.shape}")
        values, positions = fractional_maxima(x, samples, kernel, outputs)
        if input.ndim != rank + 2:
            values, positions = values.squeeze(0), positions.squeeze(0)
        return (values, positions) if return_indices else values

    doc = f"""
Maxima of windows over the last {dimensions} dimensions that are placed at random.

Args:
    input: {shapes}.

Example:
    >>> print({name}({given}))
    {printed}
"""
    return _FRACTIONAL(told(pool, name, doc))


fractional_max_pool2d = _fractional(
    2, "two", "(N, C, H, W) or (C, H, W)", "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2, 1", "[[[[4.]]]]"
)
fractional_max_pool3d = _fractional(
    3, "three", "(N, C, D, H, W) or (C, D, H, W)", "Tensor([[[[[1.0], [2.0]]]]]), (1, 2, 1), 1", "[[[[[2.]]]]]"
)


@shows("adaptive_max_pool3d(Tensor([[[[[1.0], [2.0]]]]]), 1)", "[[[[[2.]]]]]")
def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of as many windows as wanted over the last three dimensions.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        output_size: an int, or three of them where None keeps a size.
        return_indices: also return the flat position of each maximum.

    Returns:
        Tensor, or a tuple of it and the int32 positions.

    Raises:
        TypeError: `input` is no tensor.
        ValueError: `output_size` does not fit.
    """
    found = apply(ADAPTIVE_MAX_POOL, (input,), (_adaptive("adaptive_max_pool3d", 3, input, output_size),))
    return (found[0], found[1].astype(dtypes.int32)) if return_indices else found[0]
