"""Running sums, products and extremes along an axis; differences and integrals."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft.core import op, shows, told
from weft.ops._rules import one_axis, tensor
from weft.ops.joining import concat
from weft.ops.reduce import counting, reduce_sum
from weft.ops.shape import reshape

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp", "trapz", "diff"]


def _running(primitive: str, step: Any, unit: int, what: str) -> Any:
    """Declare a running sum or product."""

    def compute(x: Any, *, axis: Any, exclusive: bool = False, reverse: bool = False) -> Any:
        axis = one_axis("cumsum", axis[0] if isinstance(axis, tuple) else axis, x.ndim)
        if reverse:
            x = jnp.flip(x, axis)
        result = step(x, axis=axis, dtype=jnp.int64 if x.dtype == jnp.bool_ else x.dtype)
        if exclusive:
            first = jnp.full_like(lax.slice_in_dim(result, 0, 1, axis=axis), unit)
            result = jnp.concatenate([first, lax.slice_in_dim(result, 0, x.shape[axis] - 1, axis=axis)], axis)
        return jnp.flip(result, axis) if reverse else result

    told(compute, f"_{primitive.lower()}", f"Running {what} along an axis.")
    return op(primitive, init="exclusive=False, reverse=False")(compute)


_cumsum, _cumprod = _running("CumSum", jnp.cumsum, 0, "sum"), _running("CumProd", jnp.cumprod, 1, "product")


@shows("cumsum(Tensor([1, 2, 3]), 0)", "[1 3 6]")
def cumsum(x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """Running sum along an axis."""
    return _cumsum(x if dtype is None else x.astype(dtype), axis)


@shows("cumprod(Tensor([1, 2, 3]), 0)", "[1 2 6]")
def cumprod(input: Any, dim: int, dtype: Any = None) -> Any:
    """Running product along an axis; integers and bools give int64."""
    return _cumprod(counting(tensor(input), dtype), dim)


def _running_extreme(better: Any, x: Any, axis: int) -> Any:
    axis = one_axis("cummax", axis, x.ndim)
    positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)

    def choose(a: Any, b: Any) -> Any:
        later = better(b[0], a[0])
        return jnp.where(later, b[0], a[0]), jnp.where(later, b[1], a[1])

    index = lax.associative_scan(choose, (x, positions), axis=axis)[1]
    return jnp.take_along_axis(x, index, axis=axis), index


@op("Cummax", init="axis", multiple=True)
@shows("*cummax(Tensor([1, 3, 2]), 0)", "[1 3 3] [0 1 1]")
def cummax(input: Any, *, axis: int) -> Any:
    """Running maximum along an axis and its position."""
    return _running_extreme(jnp.greater_equal, input, axis)


@op("Cummin", init="axis", multiple=True)
@shows("*cummin(Tensor([3, 1, 2]), 0)", "[3 1 1] [0 1 1]")
def cummin(input: Any, *, axis: int) -> Any:
    """Running minimum along an axis and its position (int32, other than that of `cummax`)."""
    values, positions = _running_extreme(jnp.less_equal, input, axis)
    return values, positions.astype(jnp.int32)


@op("LogCumSumExp", classes=())
@shows("logcumsumexp(Tensor([1000.0]), 0)", "[1000.]")
def logcumsumexp(input: Any, *, axis: int) -> Any:
    """Logarithm of the running sum of exponentials along an axis."""
    if not jnp.issubdtype(input.dtype, jnp.inexact):
        raise TypeError(f"logcumsumexp: needs floating point, not {input.dtype}")
    return lax.cumlogsumexp(input, axis=one_axis("logcumsumexp", axis, input.ndim))


@shows("diff(Tensor([1, 4, 9]))", "[3 5]")
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, taken `n` times."""
    if x.ndim == 0:
        raise TypeError("diff: needs a tensor of at least one dimension")
    axis = one_axis("diff", axis, x.ndim)
    parts = [p for p in (prepend, x, append) if p is not None]
    x = parts[0] if len(parts) == 1 else concat(parts, axis)
    for _ in range(n):
        x = _part(x, axis, np.s_[1:]) - _part(x, axis, np.s_[:-1])
    return x


def _part(x: Any, axis: int, part: slice) -> Any:
    """A part of a tensor along an axis."""
    return x[(*(np.s_[:],) * axis, part)]


@shows("trapz(Tensor([1.0, 2.0, 3.0]))", "4.0")
def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """Integral by the trapezoidal rule along an axis."""
    dim = one_axis("trapz", dim, y.ndim)
    means = (_part(y, dim, np.s_[1:]) + _part(y, dim, np.s_[:-1])) * 0.5
    if x is None:
        return reduce_sum(means * dx, dim)
    steps = diff(x, axis=dim if x.ndim == y.ndim else -1)
    if steps.ndim < y.ndim:
        steps = reshape(steps, (-1, *(1,) * (y.ndim - dim - 1)))
    return reduce_sum(means * steps, dim)
