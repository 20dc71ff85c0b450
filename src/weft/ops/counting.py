"""Operator classes that count, order and pick elements, and those that write at places."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, check_bounds, op, operator_class
from weft.ops._checks import bools, index_types, ints, lists, one_of, reals, tensors
from weft.ops._rules import known, numbers, one_axis
from weft.ops.create import ones
from weft.ops.gather import (
    inplace_index_add,
    inplace_update,
    tensor_scatter_add,
    tensor_scatter_elements,
    unsorted_segment_sum,
)
from weft.ops.index import getitem
from weft.ops.joining import concat, split
from weft.ops.reduce import reduce_sum
from weft.ops.shape import broadcast_to, expand, reshape, swapaxes, transpose
from weft.ops.sorting import histc, searchsorted, sort, unique_consecutive
from weft.ops.state import assign
from weft.ops.statistics import count_nonzero, nanquantile, quantile


def _integers(name: str, /, **given: Any) -> None:
    tensors(name, **given)
    for what, value in given.items():
        if value.dtype.category != 1:
            raise TypeError(f"{name}: {what} must be a tensor of integers, not of {value.dtype}")


# -- counts ------------------------------------------------------------------------------------------------------------


@as_operator
def Bincount(array: Tensor, size: Any, weights: Tensor) -> Tensor:
    """How often each number below a size occurs, or the sums of their weights if there are any."""
    _integers("Bincount", array=array)
    if weights.size not in (0, array.size):
        raise RuntimeError(f"Bincount: weights of shape {weights.shape} do not fit numbers of shape {array.shape}")
    (count,) = numbers(size)
    if count < 0:
        raise ValueError(f"Bincount: the size must not be negative, but is {count}")
    check_bounds(array, 1 << 31, "Bincount: numbers must not be negative, not {}", least=0)
    flat = reshape(array, (-1,))
    given = reshape(weights, (-1,)) if weights.size else ones(flat.shape, weights.dtype)
    return getitem(unsorted_segment_sum(given, flat.clip(None, count), count + 1), slice(0, count))


@as_operator
def Bucketize(input: Tensor, *, boundaries: Any) -> Tensor:
    """The bucket of each element, as int32: how many boundaries are at most as large.

    Args:
        boundaries: numbers in order.
    """
    lists("Bucketize", boundaries=boundaries)
    for each in boundaries:
        reals("Bucketize", boundaries=each)
    edges = Tensor(np.array(boundaries, np.float32))
    return searchsorted(edges, input.astype(dtypes.float32), out_int32=True, right=True)


@as_operator
def ConfusionMatrix(
    labels: Tensor, predictions: Tensor, weights: Any = None, *, num_classes: int, dtype: Any = "int32"
) -> Tensor:
    """How often each class was taken for each other one: rows are labels, columns predictions.

    Args:
        num_classes: the number of classes.
        dtype: element type.
    """
    ints("ConfusionMatrix", num_classes=num_classes)
    if labels.shape != predictions.shape or labels.ndim != 1:
        raise ValueError(f"ConfusionMatrix: shapes {labels.shape} and {predictions.shape} do not fit")
    _integers("ConfusionMatrix", labels=labels, predictions=predictions)
    for each in (labels, predictions):
        check_bounds(each, num_classes, "ConfusionMatrix: there is no class {}", least=0)
    wanted = dtypes.of(getattr(dtypes, dtype) if isinstance(dtype, str) else dtype)
    given = ones(labels.shape, wanted) if weights is None else weights.astype(wanted)
    flat = labels.astype(dtypes.int32) * num_classes + predictions.astype(dtypes.int32)
    return reshape(unsorted_segment_sum(given, flat, num_classes**2), (num_classes, num_classes))


@as_operator
def CountNonZero(x: Tensor, *, dims: Any = None) -> Tensor:
    """How many elements are not 0, as int64.

    Args:
        dims: the dimensions to count along; None for all.
    """
    return count_nonzero(x, () if dims is None else dims, False, dtypes.int64)


@as_operator
def Histogram(x: Tensor, *, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Counts of elements in bins of equal width, float32 for floats.

    Args:
        bins: the number of bins.
        min: the lower bound.
        max: the upper one; the bounds are those of the elements where both are 0.
    """
    ints("Histogram", bins=bins)
    if bins < 1 or min > max:
        raise ValueError(f"Histogram: {bins} bins from {min} to {max} do not exist")
    return histc(x, bins, min, max).astype(dtypes.int32 if x.dtype.category == 1 else dtypes.float32)


@op("FixedWidthHistogram", classes=(), no_gradient="counts")
def _histogram_fixed(x: Any, range: Any, *, nbins: int) -> Any:
    """Counts of elements in bins of equal width, the outer ones open."""
    low, high = range[0].astype(jnp.float64), range[1].astype(jnp.float64)
    places = jnp.floor((x.astype(jnp.float64) - low) / (high - low) * nbins)
    return jnp.zeros(nbins, jnp.int32).at[jnp.clip(places, 0, nbins - 1).astype(jnp.int32).reshape(-1)].add(1)


@as_operator
def HistogramFixedWidth(x: Tensor, range: Tensor, *, nbins: int, dtype: str = "int32") -> Tensor:
    """Counts of elements in bins of equal width between two bounds, the outer ones open.

    Args:
        nbins: the number of bins.
        dtype: ``"int32"``.
    """
    ints("HistogramFixedWidth", nbins=nbins)
    if nbins < 1 or dtype != "int32":
        raise ValueError(f"HistogramFixedWidth: {nbins} bins of {dtype!r} do not exist")
    if range.shape != (2,):
        raise ValueError(f"HistogramFixedWidth: a range has the shape (2,), not {range.shape}")
    return _histogram_fixed(x, range, nbins=nbins)


# -- order -------------------------------------------------------------------------------------------------------------


@as_operator
def ListDiff(x: Tensor, y: Tensor, *, out_idx: Any = dtypes.int32) -> Any:
    """The elements of a vector that another one does not have, and their positions.

    Args:
        out_idx: element type of the positions.
    """
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"ListDiff takes vectors, not shapes {x.shape} and {y.shape}")
    if x.dtype != y.dtype:
        raise TypeError(f"ListDiff: the element types {x.dtype} and {y.dtype} differ")
    index_types("ListDiff", out_idx=out_idx)
    (kept,) = np.nonzero(~np.isin(known("ListDiff", x), known("ListDiff", y)))
    return getitem(x, Tensor(kept)), Tensor(kept, out_idx)


@as_operator
def NthElement(input: Tensor, n: Any, *, reverse: bool = False) -> Tensor:
    """The n-th smallest element of the last dimension, counted from 0.

    Args:
        reverse: whether the largest are counted.
    """
    bools("NthElement", reverse=reverse)
    (place,) = numbers(n)
    if input.ndim < 1 or not 0 <= place < input.shape[-1]:
        raise ValueError(f"NthElement: there is no element {place} in a shape of {input.shape}")
    return getitem(sort(input, -1, reverse)[0], (..., place))


def _bound(name: str, side: str, right: bool) -> None:
    def compute(sorted_x: Tensor, values: Tensor, *, out_type: Any) -> Tensor:
        if sorted_x.ndim != 2 or values.ndim != 2 or sorted_x.shape[0] != values.shape[0]:
            raise ValueError(f"{name} takes matrices of as many rows, not shapes {sorted_x.shape} and {values.shape}")
        if sorted_x.dtype != values.dtype:
            raise TypeError(f"{name}: the element types {sorted_x.dtype} and {values.dtype} differ")
        index_types(name, out_type=out_type)
        return searchsorted(sorted_x, values, right=right).astype(out_type)

    compute.__doc__ = f"""Where values go in sorted rows, {side} equal ones.

    Args:
        out_type: element type of the positions.
    """
    operator_class(name, compute, "out_type=dtypes.int32")


_bound("LowerBound", "before", False)
_bound("UpperBound", "behind", True)


@as_operator
def RaggedRange(starts: Tensor, limits: Tensor, deltas: Tensor, *, Tsplits: Any) -> Any:
    """Ranges one behind the other: where each begins, and their numbers.

    Args:
        Tsplits: element type of the beginnings.
    """
    index_types("RaggedRange", Tsplits=Tsplits)
    given = [known("RaggedRange", each) for each in (starts, limits, deltas)]
    if len({each.shape for each in given}) > 1 or given[0].ndim > 1:
        raise ValueError(f"RaggedRange: shapes {', '.join(str(each.shape) for each in given)} do not fit")
    if np.any(given[2] == 0):
        raise ValueError("RaggedRange: steps must not be 0")
    ranges = [np.arange(*each) for each in zip(*[each.reshape(-1) for each in given], strict=True)]
    splits = np.cumsum([0, *map(len, ranges)])
    return Tensor(splits, Tsplits), Tensor(np.concatenate(ranges or [given[0]]).astype(given[0].dtype))


@as_operator
def Quantile(input: Tensor, q: Any, *, dim: Any = None, keep_dims: bool = False, ignore_nan: bool = False) -> Tensor:
    """Quantiles along a dimension, by linear interpolation.

    Args:
        dim: the dimension; None for all elements.
        keep_dims: whether it stays, of size 1.
        ignore_nan: whether NaN is left out.
    """
    return (nanquantile if ignore_nan else quantile)(input, q, dim, keep_dims)


@as_operator
def UniqueConsecutive(
    input: Tensor, *, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements without those that equal their predecessor, the positions of all in them, and counts.

    Args:
        return_inverse: whether the positions are there, or an empty tensor.
        return_counts: whether the counts are.
        dim: the dimension to compare along; None flattens.
    """
    found, inverse, counts = unique_consecutive(input, True, True, dim)
    empty = Tensor(np.zeros(0, np.int64))
    return found, inverse if return_inverse else empty, counts if return_counts else empty


@as_operator
def InvertPermutation(input_x: Any) -> tuple[int, ...]:
    """The inverse of a permutation, a tuple of ints."""
    if isinstance(input_x, Tensor):
        raise ValueError("InvertPermutation takes a tuple or list, not a tensor")
    lists("InvertPermutation", input_x=input_x)
    for each in input_x:
        ints("InvertPermutation", input_x=each)
    if sorted(input_x) != list(range(len(input_x))):
        raise ValueError(f"InvertPermutation: {input_x} is no permutation")
    return tuple(np.argsort(input_x).tolist())


@as_operator
def SubAndFilter(input_x: Tensor, max_num: Any, offset: Any) -> Any:
    """Numbers less an offset that are in a range from 0, and their positions."""
    (high,), (low,) = numbers(max_num), numbers(offset)
    values = known("SubAndFilter", input_x) - low
    (kept,) = np.nonzero((values >= 0) & (values < high))
    return Tensor(values[kept]), Tensor(kept, input_x.dtype)


@as_operator
def CompareAndBitpack(x: Tensor, threshold: Any) -> Tensor:
    """Whether elements are above a threshold, eight of them in a byte."""
    if x.ndim < 1 or x.shape[-1] % 8:
        raise ValueError(f"CompareAndBitpack: the last dimension must be a multiple of 8, not {x.shape}")
    bits = reshape(x > threshold, (*x.shape[:-1], x.shape[-1] // 8, 8)).astype(dtypes.int32)
    weights = Tensor(np.array([128, 64, 32, 16, 8, 4, 2, 1], np.int32))
    return reduce_sum(bits * weights, -1).astype(dtypes.uint8)


# -- places ------------------------------------------------------------------------------------------------------------


@as_operator
def IndexPut(x1: Tensor, x2: Tensor, indices: Any, *, accumulate: int = 0) -> Tensor:
    """A tensor with values at places.

    Args:
        accumulate: 1 for values that are added to what is there, 0 for those that replace it.
    """
    one_of("IndexPut", (0, 1), accumulate=accumulate)
    lists("IndexPut", indices=indices)
    for each in indices:
        tensors("IndexPut", indices=each)
    if len(indices) > x1.ndim or x1.dtype != x2.dtype:
        kind = ValueError if len(indices) > x1.ndim else TypeError
        raise kind(f"IndexPut: {len(indices)} places and values of {x2.dtype} do not fit {x1.shape} of {x1.dtype}")
    for axis, index in enumerate(indices):
        check_bounds(index, x1.shape[axis], "IndexPut: there is no position {}")
    chosen = Tensor(np.arange(x1.size).reshape(x1.shape))[tuple(indices)]
    if x2.size not in (1, chosen.size) and x2.shape[-1] != chosen.shape[-1]:
        raise ValueError(f"IndexPut: values of shape {x2.shape} do not fit places of shape {chosen.shape}")
    flat, at, given = reshape(x1, (-1,)), reshape(chosen, (-1,)), reshape(broadcast_to(x2, chosen.shape), (-1,))
    written = flat + unsorted_segment_sum(given, at, x1.size) if accumulate else inplace_update(flat, given, at)
    return reshape(written, x1.shape)


@as_operator
def InplaceIndexAdd(var: Any, indices: Any, updates: Any, *, axis: int) -> Any:
    """Add slices to a parameter along an axis.

    Args:
        axis: the axis.
    """
    return inplace_index_add(var, indices, updates, axis)


@as_operator
def InplaceUpdateV2(x: Any, indices: Any, v: Any) -> Any:
    """A tensor with other rows at places of the first dimension."""
    return inplace_update(x, v, indices)


@as_operator
def ScatterAddWithAxis(input_x: Tensor, indices: Tensor, update: Tensor, *, axis: int = 0) -> Tensor:
    """A tensor with elements added, one for each position of an integer tensor, along an axis.

    Args:
        axis: the axis.
    """
    return tensor_scatter_elements(input_x, indices, update, axis, "add")


@as_operator
def CopyWithSlice(x: Any, y: Tensor) -> Any:
    """Write one tensor into another one."""
    return assign(x, broadcast_to(y, x.shape).astype(x.dtype))


@as_operator
def SplitV(input_x: Tensor, *, size_splits: Any, split_dim: int, num_split: int) -> Any:
    """Parts of given sizes along an axis; one may be -1, for what is left.

    Args:
        size_splits: the sizes.
        split_dim: the axis.
        num_split: how many parts.
    """
    lists("SplitV", size_splits=size_splits)
    sizes, total = list(size_splits), input_x.shape[one_axis("SplitV", split_dim, input_x.ndim)]
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = total - sum(sizes) - 1
    if len(sizes) != num_split or min(sizes) < 0 or sum(sizes) != total:
        raise ValueError(f"SplitV: {total} elements have no {num_split} parts of the sizes {list(size_splits)}")
    return split(input_x, sizes, split_dim)


@as_operator
def ParallelConcat(values: Any) -> Tensor:
    """Tensors whose first size is 1, one below the other."""
    lists("ParallelConcat", values=values)
    if any(each.shape != values[0].shape or each.shape[:1] != (1,) for each in values):
        raise ValueError("ParallelConcat takes tensors of one shape whose first size is 1")
    return concat(values, 0)


@as_operator
def Expand(x: Tensor, shape: Any) -> Tensor:
    """Repeat dimensions of size 1 to a larger shape."""
    return expand(x, numbers(shape))


@as_operator
def ConjugateTranspose(x: Tensor, perm: Any) -> Tensor:
    """The complex conjugates, with the axes in another order."""
    return transpose(x, numbers(perm)).conj()


@as_operator
def IdentityN(x: Any) -> tuple[Any, ...]:
    """The same tensors."""
    lists("IdentityN", x=x)
    return tuple([each * 1 if each.dtype.category else each for each in x])


@as_operator
def SelectView(input: Tensor, index: int, axis: int) -> Tensor:
    """The part at a position of an axis."""
    return getitem(input, (*[slice(None)] * (axis % input.ndim), index))


operator_class("ScatterNonAliasingAdd", tensor_scatter_add)
operator_class("TransposeView", transpose)
operator_class("TransposeExtView", swapaxes)
