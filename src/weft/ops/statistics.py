"""Statistics: variance, median, quantiles, norms, and sums that ignore NaN."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import dtypes
from weft.core import op, operator_class, shows
from weft.ops._kinks import magnitude, vector_norm
from weft.ops._rules import all_axes, floating, mean_of, one_axis
from weft.ops.math import mul, typed_div
from weft.ops.reduce import OVER_AXES, norm_root, reduce_mean, reduce_sum, sum, sum_of_powers
from weft.ops.select import scaled_down
from weft.ops.shape import reshape

__all__ = [
    "count_nonzero", "cov", "renorm", "logsumexp", "median", "nanmean", "nanmedian", "nansum", "norm", "quantile",
    "nanquantile", "std", "std_mean", "var", "var_mean", "l2_loss", "square_sum_all",
]  # fmt: skip


@op("Variance", classes=(), describe=OVER_AXES)
@shows("var(Tensor([1.0, 3.0]))", "1.0")
def var(input: Any, *, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Variance over axes.

    Args:
        ddof: the divisor is the number of elements minus this.

    Returns:
        Tensor: floating point; of integers, around their mean as an integer (see `ops.mean`).
    """
    axes = all_axes("var", axis, input.ndim)
    if not jnp.issubdtype(input.dtype, jnp.integer):
        return jnp.var(floating(input), axes, ddof=int(ddof), keepdims=keepdims)
    distances = jnp.square(floating(input) - floating(mean_of(input, axes, True)))
    return jnp.sum(distances, axes, keepdims=keepdims) / (math.prod(input.shape[each] for each in axes) - int(ddof))


@shows("std(Tensor([1.0, 3.0]))", "1.0")
def std(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Standard deviation over axes; see `var`."""
    return norm_root(var(input, axis, ddof, keepdims))


@shows("*var_mean(Tensor([1.0, 3.0]))", "1.0 2.0")
def var_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Variance and mean over axes."""
    return var(input, axis, ddof, keepdims), reduce_mean(input, axis, keepdims)


@shows("*std_mean(Tensor([1.0, 3.0]))", "1.0 2.0")
def std_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Standard deviation and mean over axes."""
    return std(input, axis, ddof, keepdims), reduce_mean(input, axis, keepdims)


@op("LogSumExp", classes=())
@shows("logsumexp(Tensor([1000.0]), 0)", "1000.0")
def logsumexp(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Logarithm of the sum of exponentials over axes, without overflow."""
    return jax.nn.logsumexp(floating(input), axis=all_axes("logsumexp", dim, input.ndim), keepdims=keepdim)


@op("Median", init="global_median=False, axis=0, keep_dims=False", multiple=True)
def _median(x: Any, *, global_median: bool = False, axis: int = 0, keep_dims: bool = False) -> Any:
    """The lower median and its position."""
    if global_median:
        value = jnp.sort(x.reshape(-1))[(x.size - 1) // 2].reshape((1,) * x.ndim if keep_dims else ())
        return value, jnp.zeros(value.shape, jnp.int64)  # no axis has a place of it
    axis = one_axis("median", axis, x.ndim)
    index = lax.index_in_dim(jnp.argsort(x, axis=axis), (x.shape[axis] - 1) // 2, axis, keepdims=True)
    return _taken(x, index, axis, keep_dims)


def _taken(x: Any, index: Any, axis: int, keepdims: bool) -> tuple[Any, Any]:
    """The elements at places along an axis, and the places."""
    value = jnp.take_along_axis(x, index, axis=axis)
    return (value, index) if keepdims else (jnp.squeeze(value, axis), jnp.squeeze(index, axis))


@shows("*median(Tensor([3.0, 1.0, 2.0]))", "2.0 2")
def median(input: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """The median along an axis (the lower one of two), and its position."""
    return _median(input, input.ndim == 0, axis, keepdims)


@op("Quantile", classes=())
def _quantile(input: Any, q: Any, *, axis: Any, keepdims: bool, ignore_nan: bool) -> Any:
    """Quantiles, interpolating linearly."""
    axes = None if axis is None else all_axes("quantile", axis, input.ndim)
    return (jnp.nanquantile if ignore_nan else jnp.quantile)(input, q.astype(input.dtype), axis=axes, keepdims=keepdims)


@shows("quantile(Tensor([1.0, 2.0, 3.0]), 0.5)", "2.0")
def quantile(input: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Quantiles along an axis, interpolating linearly.

    Args:
        input: floating-point tensor.
        q: number or 1-D tensor in [0, 1].
        axis: the axis; None for the flattened tensor.
        keepdims: leave the axis with size 1.

    Returns:
        Tensor: with the dimension of `q`, if any, first.
    """
    return _quantile(input, q, axis=axis, keepdims=keepdims, ignore_nan=False)


@shows('nanquantile(Tensor([1.0, float("nan"), 3.0]), 0.5)', "2.0")
def nanquantile(input: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Quantiles along an axis, ignoring NaN."""
    return _quantile(input, q, axis=axis, keepdims=keepdims, ignore_nan=True)


@shows('nansum(Tensor([1.0, float("nan")]))', "1.0")
def nansum(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Sum over axes, NaN counting as zero."""
    return sum(input.masked_fill(input.isnan(), 0), axis, keepdims, dtype=dtype)


@shows('nanmean(Tensor([1.0, float("nan"), 3.0]))', "2.0")
def nanmean(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """Mean over axes, ignoring NaN."""
    total = nansum(input, axis, keepdims, dtype=dtype)
    return typed_div(total, sum(input.isnan().logical_not(), axis, keepdims, dtype=total.dtype))


@shows('nanmedian(Tensor([1.0, float("nan"), 3.0]))[0]', "1.0")
def nanmedian(input: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """The lower median along an axis, ignoring NaN, and its position."""
    return _nanmedian(input, axis=axis, keepdims=keepdims)


@op("NanMedian", classes=(), multiple=True)
def _nanmedian(x: Any, *, axis: int, keepdims: bool) -> Any:
    """The lower median of what is not NaN, and its position."""
    order = jnp.argsort(x, axis=axis)  # NaN comes last
    count = jnp.sum(~jnp.isnan(x), axis=axis, keepdims=True)
    return _taken(x, jnp.take_along_axis(order, jnp.maximum(count - 1, 0) // 2, axis=axis), axis, keepdims)


@op("Norm", classes=())
def _norm(A: Any, *, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """Vector or matrix norm."""
    A = floating(A)
    axes = all_axes("norm", dim, A.ndim)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return vector_norm(A, 2, axes, keepdim)
    if len(axes) == 1 and not isinstance(ord, str):
        return vector_norm(A, ord, axes, keepdim)
    if ord not in (1, -1, np.inf, -np.inf) or len(axes) != 2:
        return jnp.linalg.norm(A, ord, dim, keepdim)  # by singular values, or an error
    summed, compared = axes if ord in (1, -1) else axes[::-1]
    sums = jnp.sum(magnitude(A), summed, keepdims=True)
    found = (jnp.max if ord > 0 else jnp.min)(sums, compared, keepdims=True)
    return found if keepdim else jnp.squeeze(found, axes)


@OVER_AXES
@shows("norm(Tensor([3.0, 4.0]))", "5.0")
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Vector or matrix norm.

    Args:
        A: tensor.
        ord: the order: a number, ``inf``, ``-inf``, ``"fro"`` or ``"nuc"``; None for the 2-norm of all elements.
        dim: one axis for vectors, two for matrices; None for all.
        dtype: element type to compute in.

    Returns:
        Tensor: floating point.
    """
    return _norm(A if dtype is None else A.astype(dtype), ord, dim, keepdim)


@op("CountNonZero", classes=(), no_gradient="integer result")
@shows("count_nonzero(Tensor([0, 1, 2]))", "2")
def count_nonzero(x: Any, *, axis: Any = (), keep_dims: bool = False, dtype: Any = dtypes.int32) -> Any:
    """Number of nonzero elements over axes."""
    axes = all_axes("count_nonzero", axis, x.ndim)
    return jnp.sum(x != 0, axes, dtype=dtype.np_dtype, keepdims=keep_dims)


@shows("cov(Tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))", "[[ 1. -1.]\n [-1.  1.]]")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Covariance of variables, one a row, with observations in the columns.

    Args:
        input: tensor of 1 or 2 dimensions.
        correction: the divisor is the number of observations minus this.
        fweights: how often each observation counts.
        aweights: how much each observation weighs.

    Returns:
        Tensor: square, or 0-D for one variable.
    """
    rows = reshape(input, (1, -1)) if input.ndim < 2 else input
    rows = rows.astype(dtypes.promote(rows.dtype, dtypes.float32))
    weights = None if aweights is None else aweights.astype(rows.dtype)
    if fweights is not None:
        counts = fweights.astype(rows.dtype)
        weights = counts if weights is None else weights * counts
    if weights is None:
        centred = rows - reduce_mean(rows, 1, True)
        result = centred @ centred.T / max(rows.shape[1] - correction, 0)
    else:
        total = reduce_sum(weights)
        centred = rows - reduce_sum(rows * weights, 1, True) / total
        if aweights is None or correction == 0:
            norm_by = total - correction
        else:
            norm_by = total - correction * reduce_sum(weights * aweights) / total
        result = (centred * weights) @ centred.T / norm_by
    return reshape(result, ()) if input.ndim < 2 else result


@shows("renorm(Tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 1.0)", "[[0.6 0.8]\n [0.  1. ]]")
def renorm(input: Any, p: float, axis: int, maxnorm: float) -> Any:
    """Scale the slices along an axis down so that the norm of each is at most `maxnorm`."""
    axis = one_axis("renorm", axis, input.ndim)
    others = tuple(i for i in range(input.ndim) if i != axis)
    return scaled_down(input, norm_root(sum_of_powers(input, order=float(p), axis=others), order=float(p)), maxnorm)


@shows("l2_loss(Tensor([3.0, 4.0]))", "12.5")
def l2_loss(x: Any) -> Any:
    """Half the sum of squares."""
    return mul(reduce_sum(mul(x, x)), 0.5)


@shows("*square_sum_all(Tensor([3.0]), Tensor([2.0]))", "9.0 4.0")
def square_sum_all(x: Any, y: Any) -> Any:
    """The sums of squares of two tensors."""
    return reduce_sum(mul(x, x)), reduce_sum(mul(y, y))


operator_class("L2Loss", l2_loss)
operator_class("SquareSumAll", square_sum_all)
operator_class(
    "ReduceStd", std_mean, "axis=(), unbiased=True, keep_dims=False", {"unbiased": "ddof", "keep_dims": "keepdims"}
)
operator_class("Renorm", renorm, "p, dim, maxnorm", {"dim": "axis"})
