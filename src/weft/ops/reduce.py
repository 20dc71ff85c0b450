"""Reductions: sum, mean, extremes, statistics, cumulative operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import described, op, shows, told
from weft.dtypes import DType
from weft.ops._kinks import magnitude, power, root
from weft.ops._rows import capitalized
from weft.ops._rules import all_axes, mean_of, one_axis, tensor
from weft.ops.math import maximum, minimum, real_div
from weft.ops.shape import broadcast_to, reshape, zeros_of

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "aminmax", "max", "mean", "min", "prod", "reduce_all",
    "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "sum", "mean_ext", "ptp",
]  # fmt: skip

_KEPT: Final = "leave the reduced axes with size 1."
_PRIMITIVES: Final = {
    "axis": "an axis or a tuple of them; () or None for all.",
    "keep_dims": _KEPT,
    "raises": "ValueError: an axis is out of range.",
}
#: what the parameters of functions that reduce over axes are
OVER_AXES: Final = described(
    input="tensor.",
    **dict.fromkeys(("axis", "dim"), "an axis or a tuple of them; None for all."),
    **dict.fromkeys(("keepdims", "keepdim"), _KEPT),
    initial="smallest value of the result.",
    where="bool tensor, the elements to consider; needs `initial`.",
)


def _spread(dout: Any, x: Any, axis: Any) -> Any:
    axes = all_axes("reduce", axis, x.ndim)
    kept = tuple([1 if i in axes else dim for i, dim in enumerate(x.shape)])
    return broadcast_to(reshape(dout, kept), x.shape)


def _mean_rule(x: Any, out: Any, dout: Any, *, axis: Any, keep_dims: bool) -> Any:
    count = math.prod(x.shape[a] for a in all_axes("reduce_mean", axis, x.ndim))
    return (_spread(real_div(dout, count), x, axis),)


def _reduction(name: str, reduce: Callable[..., Any], sentence: str, given: str, printed: str, **traits: Any) -> Any:
    """Declare a reduction over axes: ``reduce(x, axes, keepdims=...)``."""

    def compute(x: Any, *, axis: Any = (), keep_dims: bool = False) -> Any:
        return reduce(x, all_axes(name, axis, x.ndim), keepdims=bool(keep_dims))

    told(compute, name, f"{sentence}\n\nExample:\n    >>> print({name}(Tensor({given}), 0))\n    {printed}")
    return op(capitalized(name), init="keep_dims=False", **traits)(compute)


_NUMBERS = "[[1.0, 2.0], [3.0, 4.0]]"
_SUMMED: Final = described(
    x="tensor; of bools, whether any is true.", returns="Tensor: of the element type of `x`.", **_PRIMITIVES
)
_AVERAGED: Final = described(
    x="tensor; bools count as float32.",
    returns="Tensor: of the element type of `x`; means of integers are rounded toward zero.",
    **_PRIMITIVES,
)
reduce_sum = _reduction("reduce_sum", lambda x, axes, keepdims: jnp.sum(x, axes, dtype=x.dtype, keepdims=keepdims),
    "Sum over axes.", _NUMBERS, "[4. 6.]", describe=_SUMMED,
    gradient=lambda x, out, dout, *, axis, keep_dims: (_spread(dout, x, axis),))  # fmt: skip
reduce_mean = _reduction("reduce_mean", mean_of, "Mean over axes.", _NUMBERS, "[2. 3.]", describe=_AVERAGED,
    gradient=_mean_rule)  # fmt: skip
reduce_max = _reduction("reduce_max", jnp.max, "Largest element over axes; NaN wins.", _NUMBERS, "[3. 4.]")
reduce_min = _reduction("reduce_min", jnp.min, "Smallest element over axes; NaN wins.", _NUMBERS, "[1. 2.]")
reduce_prod = _reduction("reduce_prod", lambda x, axes, keepdims: jnp.prod(x, axes, dtype=x.dtype, keepdims=keepdims),
    "Product over axes; of bools, whether all are true.", _NUMBERS, "[3. 8.]")  # fmt: skip
reduce_all = _reduction("reduce_all", jnp.all, "Whether all elements are true (nonzero), over axes.",
    "[[True, False], [True, True]]", "[ True False]", no_gradient="bool result")  # fmt: skip
reduce_any = _reduction("reduce_any", jnp.any, "Whether any element is true (nonzero), over axes.",
    "[[True, False], [False, False]]", "[ True False]", no_gradient="bool result")  # fmt: skip


@op("SumOfPowers", classes=())
def sum_of_powers(x: Any, *, order: float, axis: Any = ()) -> Any:
    """Sum of powers of absolute values over axes, which are kept: a norm before the root is taken."""
    axes = all_axes("norm", axis, x.ndim)
    return jnp.sum(jnp.square(x) if order == 2 else power(magnitude(x), order), axes, keepdims=True)


@op("NormRoot", classes=(), elementwise=True)
def norm_root(x: Any, *, order: float = 2.0) -> Any:
    """A root of what is not negative; its derivative at 0 is 0."""
    return root(x, order)


@OVER_AXES
@shows("sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1)", "[3. 7.]")
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over axes.

    Args:
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


# -- extremes, and their positions -------------------------------------------------------------------------


def _position_of(primitive: str, find: Any, which: str) -> Any:
    """Declare the position of an extreme along an axis."""
    name = primitive.lower()

    def position(x: Any, *, axis: int = -1, output_type: Any = dtypes.int64) -> Any:
        return find(x, axis=one_axis(name, axis, x.ndim)).astype(output_type.np_dtype)

    told(position, f"_{name}", f"Position of the {which} element along an axis.")
    return op(primitive, init="axis=-1, output_type=dtypes.int32", no_gradient="integer result")(position)


def _with_value(primitive: str, find: Any, which: str) -> Any:
    """Declare the position and the value of an extreme along an axis."""

    def extreme(input: Any, *, axis: int = 0, keep_dims: bool = False) -> Any:
        axis = one_axis("argmax", axis, input.ndim)
        index = find(input, axis=axis, keepdims=True)
        value = jnp.take_along_axis(input, index, axis=axis)
        return (index, value) if keep_dims else (jnp.squeeze(index, axis), jnp.squeeze(value, axis))

    told(extreme, primitive, f"Position (int64) and value of the {which} element along an axis.")
    return op(primitive, init="axis=0, keep_dims=False", multiple=True)(extreme)


_argmax, _argmin = _position_of("Argmax", jnp.argmax, "largest"), _position_of("Argmin", jnp.argmin, "smallest")
_argmax_with_value = _with_value("ArgMaxWithValue", jnp.argmax, "largest")
_argmin_with_value = _with_value("ArgMinWithValue", jnp.argmin, "smallest")


class _Extreme(NamedTuple):
    """How the largest elements are found, or the smallest."""

    over: Any
    with_position: Any
    #: the extreme of two tensors
    of_two: Any
    #: gives the value of an element type than which no other one is worse
    worst: Callable[[DType], Any]

    def among(self, name: str, input: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        """The extreme over axes of elements and an initial value."""
        found = self.over(_restricted(name, input, initial, where, initial), axis, keepdims)
        return found if initial is None else self.of_two(found, initial)

    def placed(self, name: str, input: Any, axis: int | None, keepdims: bool, initial: Any, where: Any) -> Any:
        """The extreme along an axis of elements and an initial value, and its place, 0 for the initial value."""
        given = _restricted(name, input, initial, where, self.worst(input.dtype))
        if axis is None or given.ndim == 0:  # equal elements share the gradient, as in other reductions to one value
            value, index = self.over(given), zeros_of(self.with_position(reshape(given, (-1,)), 0, False)[0])
        else:
            index, value = self.with_position(given, axis, keepdims)
        if initial is None:
            return value, index
        found = self.of_two(value, initial)
        return found, index * (value == found).astype(index.dtype)


def _least(kind: DType) -> Any:
    return -math.inf if kind.is_floating else np.iinfo(kind.np_dtype).min if kind.category == 1 else False


def _greatest(kind: DType) -> Any:
    return math.inf if kind.is_floating else np.iinfo(kind.np_dtype).max if kind.category == 1 else True


_LARGEST: Final = _Extreme(reduce_max, _argmax_with_value, maximum, _least)
_SMALLEST: Final = _Extreme(reduce_min, _argmin_with_value, minimum, _greatest)


def _restricted(name: str, input: Any, initial: Any, where: Any, filling: Any) -> Any:
    if where is None or where is True:
        return input
    if initial is None:
        raise ValueError(f"{name}: where=... also needs initial=..., the result where nothing is selected")
    return input.masked_fill(tensor(where).logical_not(), filling)


@OVER_AXES
@shows("amax(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "4.0")
def amax(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Largest element over axes.

    Returns:
        Tensor: the largest elements.

    Raises:
        ValueError: `where` without `initial`.
    """
    return _LARGEST.among("amax", input, axis, keepdims, initial, where)


@shows("amin(Tensor([[1.0, 2.0], [3.0, 4.0]]))", "1.0")
def amin(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Smallest element over axes; see `amax`."""
    return _SMALLEST.among("amin", input, axis, keepdims, initial, where)


@OVER_AXES
@shows("*max(Tensor([[1.0, 5.0, 3.0]]), 1)", "[5.] [1]")
def max(input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Largest elements along an axis, and their positions.

    Args:
        axis: the axis; None for all elements, whose largest has position 0.

    Returns:
        tuple[Tensor, Tensor]: values and int64 positions.
    """
    return _LARGEST.placed("max", input, axis, keepdims, initial, where)


@shows("*min(Tensor([[4.0, 5.0, 3.0]]), 1)", "[3.] [2]")
def min(input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
    """Smallest elements along an axis, and their positions; see `max`."""
    return _SMALLEST.placed("min", input, axis, keepdims, initial, where)


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
