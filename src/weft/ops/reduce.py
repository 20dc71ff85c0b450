"""Reductions: sum, mean, extremes, statistics, cumulative operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import op, shows, told
from weft.ops._kinks import magnitude, power, root
from weft.ops._rules import all_axes, mean_of, one_axis, tensor
from weft.ops.math import real_div
from weft.ops.shape import broadcast_to, reshape, zeros_of

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "aminmax", "max", "mean", "min", "prod", "reduce_all",
    "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "sum", "mean_ext", "ptp",
]  # fmt: skip

_INTEGER = "integer result"


def _kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([1 if i in axes else dim for i, dim in enumerate(shape)])


def _spread(dout: Any, x: Any, axis: Any) -> Any:
    axes = all_axes("reduce", axis, x.ndim)
    return broadcast_to(reshape(dout, _kept(x.shape, axes)), x.shape)


def _sum_rule(x: Any, out: Any, dout: Any, *, axis: Any, keep_dims: bool) -> Any:
    return (_spread(dout, x, axis),)


@op("ReduceSum", init="keep_dims=False", gradient=_sum_rule)
@shows("reduce_sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0)", "[4. 6.]")
def reduce_sum(x: Any, *, axis: Any = (), keep_dims: bool = False) -> Any:
    """Sum over axes.

    Args:
        x: tensor; of bools, whether any is true.
        axis: an axis or a tuple of them; () or None for all.
        keep_dims: leave the reduced axes with size 1.

    Returns:
        Tensor: of the element type of `x`.

    Raises:
        ValueError: an axis is out of range.
    """
    axes = all_axes("reduce_sum", axis, x.ndim)
    return jnp.sum(x, axes, dtype=x.dtype, keepdims=bool(keep_dims))


def _mean_rule(x: Any, out: Any, dout: Any, *, axis: Any, keep_dims: bool) -> Any:
    count = math.prod(x.shape[a] for a in all_axes("reduce_mean", axis, x.ndim))
    return (_spread(real_div(dout, count), x, axis),)


@op("ReduceMean", init="keep_dims=False", gradient=_mean_rule)
@shows("reduce_mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0)", "[2. 3.]")
def reduce_mean(x: Any, *, axis: Any = (), keep_dims: bool = False) -> Any:
    """Mean over axes.

    Args:
        x: tensor; bools count as float32.
        axis: an axis or a tuple of them; () or None for all.
        keep_dims: leave the reduced axes with size 1.

    Returns:
        Tensor: of the element type of `x`; means of integers are rounded toward zero.

    Raises:
        ValueError: an axis is out of range.
    """
    return mean_of(x, all_axes("reduce_mean", axis, x.ndim), bool(keep_dims))


def _reduction(name: str, reduce: Callable[..., Any], sentence: str, given: str, printed: str, **traits: Any) -> Any:
    """Declare a reduction over axes: ``reduce(x, axes, keepdims=...)``."""

    def compute(x: Any, *, axis: Any = (), keep_dims: bool = False) -> Any:
        return reduce(x, all_axes(name, axis, x.ndim), keepdims=bool(keep_dims))

    told(compute, name, f"{sentence}\n\nExample:\n    >>> print({name}(Tensor({given}), 0))\n    {printed}")
    primitive = "".join(word.capitalize() for word in name.split("_"))
    return op(primitive, init="keep_dims=False", **traits)(compute)


_NUMBERS = "[[1.0, 2.0], [3.0, 4.0]]"
reduce_max = _reduction("reduce_max", jnp.max, "Largest element over axes; NaN wins.", _NUMBERS, "[3. 4.]")
reduce_min = _reduction("reduce_min", jnp.min, "Smallest element over axes; NaN wins.", _NUMBERS, "[1. 2.]")
reduce_prod = _reduction(
    "reduce_prod", lambda x, axes, keepdims: jnp.prod(x, axes, dtype=x.dtype, keepdims=keepdims),
    "Product over axes; of bools, whether all are true.", _NUMBERS, "[3. 8.]",
)  # fmt: skip
reduce_all = _reduction(
    "reduce_all", jnp.all, "Whether all elements are true (nonzero), over axes.", "[[True, False], [True, True]]",
    "[ True False]", no_gradient="bool result",
)  # fmt: skip
reduce_any = _reduction(
    "reduce_any", jnp.any, "Whether any element is true (nonzero), over axes.", "[[True, False], [False, False]]",
    "[ True False]", no_gradient="bool result",
)  # fmt: skip


@op("SumOfPowers", classes=())
def sum_of_powers(x: Any, *, order: float, axis: Any = ()) -> Any:
    """Sum of powers of absolute values over axes, which are kept: a norm before the root is taken."""
    axes = all_axes("norm", axis, x.ndim)
    return jnp.sum(jnp.square(x) if order == 2 else power(magnitude(x), order), axes, keepdims=True)


@op("NormRoot", classes=(), elementwise=True)
def norm_root(x: Any, *, order: float = 2.0) -> Any:
    """A root of what is not negative; its derivative at 0 is 0."""
    return root(x, order)


@shows("sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1)", "[3. 7.]")
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over axes.

    Args:
        input: tensor.
        dim: an axis or a tuple of them; None for all.
        keepdim: leave the reduced axes with size 1.
        dtype: element type to sum in; int64 for integers and bools by default.

    Returns:
        Tensor: the sums.
    """
    return reduce_sum(counting(tensor(input), dtype), dim, keepdim)


def counting(input: Any, dtype: Any) -> Any:
    """A tensor in the element type in which sums and products are taken: integers and bools in int64."""
    if dtype is not None:
        return input.astype(dtype)
    try:
        kind = input._data.aval.dtype
    except AttributeError:  # a graph's value, or what a NumPy array holds
        kind = input.dtype.np_dtype
    return input.astype(dtypes.int64) if kind.kind in "biu" and kind.itemsize < 8 else input


@shows("mean(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "2.5")
def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Mean over axes; that of integers is rounded toward zero."""
    return reduce_mean(x, axis, keep_dims)


@shows('mean_ext(Tensor([1, 2]), dtype="float32")', "1.5")
def mean_ext(input: Any, axis: Any = None, keep_dims: bool = False, *, dtype: Any = None) -> Any:
    """Mean over axes, in an element type."""
    return reduce_mean(input if dtype is None else tensor(input).astype(dtype), axis, keep_dims)


@shows("prod(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "24.0")
def prod(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    """Product over axes; integers and bools give int64."""
    return reduce_prod(counting(tensor(input), dtype), axis, keep_dims)


@shows("all(Tensor([True, False]))", "False")
def all(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether all elements are true (nonzero), over axes."""
    return reduce_all(input, axis, keep_dims)


@shows("any(Tensor([True, False]))", "True")
def any(input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """Whether any element is true (nonzero), over axes."""
    return reduce_any(input, axis, keep_dims)


@shows("amax(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "4.0")
def amax(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Largest element over axes.

    Args:
        input: tensor.
        axis: an axis or a tuple of them; None for all.
        keepdims: leave the reduced axes with size 1.
        initial: smallest value of the result.
        where: bool tensor, the elements to consider; needs `initial`.

    Returns:
        Tensor: the largest elements.

    Raises:
        ValueError: `where` without `initial`.
    """
    input = _restricted("amax", input, initial, where)
    found = reduce_max(input, axis, keepdims)
    return found if initial is None else found.maximum(initial)


@shows("amin(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "1.0")
def amin(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Smallest element over axes; see `amax`."""
    input = _restricted("amin", input, initial, where)
    found = reduce_min(input, axis, keepdims)
    return found if initial is None else found.minimum(initial)


def _restricted(name: str, input: Any, initial: Any, where: Any, filling: Any = None) -> Any:
    if where is None or where is True:
        return input
    if initial is None:
        raise ValueError(f"{name}: where=... also needs initial=..., the result where nothing is selected")
    return input.masked_fill(tensor(where).logical_not(), initial if filling is None else filling)


# -- extremes with their positions -------------------------------------------------------------------------


@op("Argmax", init="axis=-1, output_type=dtypes.int32", no_gradient=_INTEGER)
def _argmax(x: Any, *, axis: int = -1, output_type: Any = dtypes.int64) -> Any:
    """Position of the largest element along an axis."""
    return jnp.argmax(x, axis=one_axis("argmax", axis, x.ndim)).astype(output_type.np_dtype)


@op("Argmin", init="axis=-1, output_type=dtypes.int32", no_gradient=_INTEGER)
def _argmin(x: Any, *, axis: int = -1, output_type: Any = dtypes.int64) -> Any:
    """Position of the smallest element along an axis."""
    return jnp.argmin(x, axis=one_axis("argmin", axis, x.ndim)).astype(output_type.np_dtype)


def _position(find: Any, input: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is None:
        return find(reshape(input, (-1,)), 0)
    if input.ndim == 0:
        return reshape(find(reshape(input, (1,)), 0), ())
    found = find(input, dim)
    return found.expand_dims(one_axis("argmax", dim, input.ndim)) if keepdim else found


@shows("argmax(Tensor([1.0, 5.0, 3.0]))", "1")
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Position of the largest element; the first one where several are equal.

    Args:
        input: tensor.
        dim: the axis; None for the flattened tensor.
        keepdim: leave the axis with size 1; without one, there is nothing to keep.

    Returns:
        Tensor: int64.
    """
    return _position(_argmax, input, dim, keepdim)


@shows("argmin(Tensor([4.0, 5.0, 3.0]))", "2")
def argmin(input: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Position of the smallest element; the first one where several are equal.

    Args:
        input: tensor.
        axis: the axis; None for the flattened tensor.
        keepdims: leave the axis with size 1.

    Returns:
        Tensor: int32, other than that of `argmax`; int64 for a tensor without dimensions.
    """
    found = _position(_argmin, input, axis, keepdims)
    return found if tensor(input).ndim == 0 else found.astype(dtypes.int32)


def _with_value(find: Any, x: Any, axis: int, keep_dims: bool) -> Any:
    axis = one_axis("argmax", axis, x.ndim)
    index = find(x, axis=axis, keepdims=True)
    value = jnp.take_along_axis(x, index, axis=axis)
    if not keep_dims:
        index, value = jnp.squeeze(index, axis), jnp.squeeze(value, axis)
    return index, value


@op("ArgMaxWithValue", init="axis=0, keep_dims=False", multiple=True)
def _argmax_with_value(input: Any, *, axis: int = 0, keep_dims: bool = False) -> Any:
    """Position (int64) and value of the largest element along an axis."""
    return _with_value(jnp.argmax, input, axis, keep_dims)


@op("ArgMinWithValue", init="axis=0, keep_dims=False", multiple=True)
def _argmin_with_value(input: Any, *, axis: int = 0, keep_dims: bool = False) -> Any:
    """Position (int64) and value of the smallest element along an axis."""
    return _with_value(jnp.argmin, input, axis, keep_dims)


def _extreme(find: Any, reduce: Any, input: Any, axis: int | None, keepdims: bool) -> Any:
    if axis is None or input.ndim == 0:  # equal elements share the gradient, as in the other reductions to one value
        return reduce(input), zeros_of(find(reshape(input, (-1,)), 0, False)[0])
    index, value = find(input, axis, keepdims)
    return value, index


@shows("*max(Tensor([[1.0, 5.0, 3.0]]), 1)", "[5.] [1]")
def max(input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Largest elements along an axis, and their positions.

    Args:
        input: tensor.
        axis: the axis; None for all elements, whose largest has position 0.
        keepdims: leave the axis with size 1.
        initial: smallest value of the result.
        where: bool tensor, the elements to consider; needs `initial`.

    Returns:
        tuple[Tensor, Tensor]: values and int64 positions.
    """
    given = _restricted("max", input, initial, where, _least(input))
    value, index = _extreme(_argmax_with_value, reduce_max, given, axis, keepdims)
    return _from_initial(value, index, None if initial is None else value.maximum(initial))


@shows("*min(Tensor([[4.0, 5.0, 3.0]]), 1)", "[3.] [2]")
def min(input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Smallest elements along an axis, and their positions; see `max`."""
    given = _restricted("min", input, initial, where, _greatest(input))
    value, index = _extreme(_argmin_with_value, reduce_min, given, axis, keepdims)
    return _from_initial(value, index, None if initial is None else value.minimum(initial))


def _from_initial(value: Any, index: Any, found: Any) -> Any:
    """What is best of all and of an initial value, and its place: 0 where that is the initial value."""
    return (value, index) if found is None else (found, index * (value == found).astype(index.dtype))


def _least(x: Any) -> Any:
    """The least value of an element type."""
    kind = x.dtype.np_dtype
    return -math.inf if x.dtype.is_floating else np.iinfo(kind).min if kind.kind in "iu" else False


def _greatest(x: Any) -> Any:
    """The greatest value of an element type."""
    kind = x.dtype.np_dtype
    return math.inf if x.dtype.is_floating else np.iinfo(kind).max if kind.kind in "iu" else True


@shows("*aminmax(Tensor([4.0, 5.0, 3.0]))", "3.0 5.0")
def aminmax(input: Any, *, axis: int | None = 0, keepdims: bool = False) -> Any:
    """Smallest and largest elements along an axis, of those that are numbers."""
    if not input.dtype.is_floating:
        return reduce_min(input, axis, keepdims), reduce_max(input, axis, keepdims)
    no_number = input != input
    none = no_number.all(axis, keepdims)
    low = reduce_min(input.masked_fill(no_number, math.inf), axis, keepdims)
    high = reduce_max(input.masked_fill(no_number, -math.inf), axis, keepdims)
    return low.masked_fill(none, math.nan), high.masked_fill(none, math.nan)


@shows("ptp(Tensor([4.0, 5.0, 3.0]))", "2.0")
def ptp(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Largest minus smallest element over axes."""
    return reduce_max(input, axis, keepdims) - reduce_min(input, axis, keepdims)


# -- statistics --------------------------------------------------------------------------------------------


# -- cumulative --------------------------------------------------------------------------------------------
