"""Sorting, and operations whose result size depends on values: unique, nonzero, masked_select, histograms."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, described, op, operator_class, shows
from weft.ops._checks import ints, one_of
from weft.ops._rules import one_axis, tensor
from weft.ops.gather import gather_elements
from weft.ops.index import getitem
from weft.ops.shape import broadcast_to, swapaxes

__all__ = [
    "argsort", "argwhere", "bincount", "bucketize", "histc", "kthvalue", "masked_scatter", "masked_select", "mode",
    "msort", "nonzero", "searchsorted", "sort", "top_k", "topk", "unique", "unique_consecutive", "unique_with_pad",
]  # fmt: skip


_IN_ORDER = described(input="tensor.", input_x="tensor.", axis="the axis.", descending="largest first.")


@op("Sort", init="axis=-1, descending=False", multiple=True, describe=_IN_ORDER)
@shows("*sort(Tensor([3, 1, 2]))", "[1 2 3] [1 2 0]")
def sort(input_x: Any, *, axis: int = -1, descending: bool = False) -> Any:
    """Sort along an axis; equal elements keep their order.

    Returns:
        tuple[Tensor, Tensor]: the sorted elements and their int32 positions.

    Raises:
        ValueError: `axis` is out of range.
    """
    axis = one_axis("sort", axis, input_x.ndim)
    order = jnp.argsort(input_x, axis=axis, stable=True, descending=descending)
    return jnp.take_along_axis(input_x, order, axis=axis), order.astype(jnp.int32)


@op("ArgSort", classes=(), no_gradient="integer result", describe=_IN_ORDER)
@shows("argsort(Tensor([3, 1, 2]))", "[1 2 0]")
def argsort(input: Any, *, axis: int = -1, descending: bool = False) -> Any:
    """Positions that sort a tensor along an axis.

    Returns:
        Tensor: int32.
    """
    axis = one_axis("argsort", axis, input.ndim)
    return jnp.argsort(input, axis=axis, stable=True, descending=descending).astype(jnp.int32)


@shows("msort(Tensor([3, 1, 2]))", "[1 2 3]")
def msort(input: Any) -> Any:
    """Sort along the first axis."""
    return sort(input, 0)[0]


@op("TopK", classes=(), multiple=True)
def _topk(input: Any, *, k: int, largest: bool) -> Any:
    """The k largest or smallest elements of the last axis, in order, and their positions."""
    if not 0 <= k <= input.shape[-1]:
        raise ValueError(f"topk: k is {k}, but the axis has {input.shape[-1]} elements")
    order = jnp.argsort(input, axis=-1, stable=True, descending=largest)[..., :k]
    return jnp.take_along_axis(input, order, axis=-1), order.astype(jnp.int32)


@shows("*topk(Tensor([3, 1, 2]), 2)", "[3 2] [0 2]")
def topk(input: Any, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest elements along an axis.

    Args:
        input: tensor of at least 1 dimension.
        k: how many.
        dim: the axis, the last by default.
        largest: False for the smallest.
        sorted: accepted; the result is always in order.

    Returns:
        tuple[Tensor, Tensor]: the elements and their int32 positions.

    Raises:
        ValueError: `k` is larger than the axis.
    """
    if input.ndim == 0:
        raise ValueError("topk: needs at least 1 dimension")
    k = operator.index(k)
    axis = one_axis("topk", -1 if dim is None else dim, input.ndim)
    if axis == input.ndim - 1:
        return _topk(input, k=k, largest=largest)
    values, positions = _topk(swapaxes(input, axis, -1), k=k, largest=largest)
    return swapaxes(values, axis, -1), swapaxes(positions, axis, -1)


@shows("*top_k(Tensor([1.0, 3.0, 2.0]), 2)", "[3. 2.] [1 2]")
def top_k(input_x: Any, k: int, sorted: bool = True) -> Any:
    """The `k` largest elements along the last axis, and their positions."""
    ints("top_k", k=k)
    return topk(input_x, k, sorted=sorted)


@shows("*kthvalue(Tensor([3, 1, 2]), 2)", "2 2")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along an axis (counting from 1) and its position."""
    axis = one_axis("kthvalue", dim, input.ndim)
    if not 1 <= k <= input.shape[axis]:
        raise ValueError(f"kthvalue: k is {k}, but the axis has {input.shape[axis]} elements")
    values, positions = sort(input, axis)
    pick: tuple[Any, ...] = (*[slice(None)] * axis, slice(k - 1, k) if keepdim else k - 1)
    return getitem(values, pick), getitem(positions, pick)


@op("SearchSorted", classes=(), no_gradient="integer result")
def _searchsorted(sorted_sequence: Any, values: Any, *, right: bool, dtype: Any) -> Any:
    search = functools.partial(jnp.searchsorted, side="right" if right else "left")
    if sorted_sequence.ndim == 1:
        return search(sorted_sequence, values).astype(dtype.np_dtype)
    flat = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    found = jax.vmap(search)(flat, values.reshape(flat.shape[0], -1))
    return found.reshape(values.shape).astype(dtype.np_dtype)


@shows("searchsorted(Tensor([1, 3, 5]), Tensor([3, 6]))", "[1 3]")
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Where values would be inserted to keep a sequence sorted.

    Args:
        sorted_sequence: tensor, sorted along its last axis.
        values: tensor or number.
        out_int32: int32 instead of int64 positions.
        right: after equal elements instead of before them.
        side: ``"right"`` or ``"left"``, the same in words.
        sorter: positions that sort the sequence along its last axis, if it is not sorted.

    Returns:
        Tensor: of the shape of `values`.

    Raises:
        ValueError: `side` is another word.
    """
    one_of("searchsorted", (None, "left", "right"), side=side)
    if sorter is not None:
        sorted_sequence = gather_elements(sorted_sequence, -1, tensor(sorter))
    kind = dtypes.int32 if out_int32 else dtypes.int64
    return _searchsorted(sorted_sequence, tensor(values), right=right or side == "right", dtype=kind)


@as_operator
def SearchSorted(sorted_sequence: Any, values: Any, *, dtype: Any = dtypes.int64, right: bool = False) -> Any:
    """Where values would be inserted to keep a sequence sorted."""
    return _searchsorted(sorted_sequence, tensor(values), right=right, dtype=dtypes.of(dtype))


@shows("bucketize(Tensor([0.5, 2.5]), [1.0, 2.0])", "[0 2]")
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """For each element the number of the bucket that it falls into."""
    return searchsorted(tensor(boundaries), input, out_int32=True, right=right)


# -- results whose size depends on values ---------------------------------------------------------------------


def _values(x: Tensor, use: str) -> np.ndarray[Any, Any]:
    return np.asarray(x.concrete(f"{use} (the size of its result)"))


@shows("nonzero(Tensor([3, 0, 5]))", "[[0]\n [2]]")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Positions of the nonzero elements.

    Args:
        input: tensor.
        as_tuple: one tensor for each dimension instead of one row for each element.

    Returns:
        Tensor: int64, of shape (count, ndim); or a tuple of 1-D tensors.
    """
    found = np.nonzero(np.atleast_1d(_values(tensor(input), "nonzero()")))
    return tuple(map(Tensor, found)) if as_tuple else Tensor(np.stack(found, axis=-1).astype(np.int64))


@shows("argwhere(Tensor([3, 0, 5]))", "[[0]\n [2]]")
def argwhere(input: Any) -> Any:
    """Positions of the nonzero elements, one a row."""
    return nonzero(input)


@shows("masked_select(Tensor([1, 2, 3]), Tensor([True, False, True]))", "[1 3]")
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask holds, in one dimension.

    Args:
        input: tensor.
        mask: bool tensor, broadcast with `input`.

    Returns:
        Tensor: 1-D.
    """
    shape = np.broadcast_shapes(input.shape, mask.shape) or (1,)
    return getitem(broadcast_to(input, shape), broadcast_to(mask, shape))


@shows("masked_scatter(Tensor([1, 2, 3]), Tensor([True, False, True]), Tensor([8, 9]))", "[8 2 9]")
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Replace the elements where a mask holds by the elements of another tensor, in order."""
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return _masked_scatter(broadcast_to(input, shape), broadcast_to(mask, shape), source)


@op("MaskedScatter", classes=())
def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    order = jnp.cumsum(mask.reshape(-1)) - 1
    taken = source.reshape(-1)[jnp.clip(order, 0, source.size - 1)].reshape(x.shape)
    return jnp.where(mask, taken.astype(x.dtype), x)


@shows("*unique(Tensor([5, 2, 5]))", "[5 2] [0 1 0]")
def unique(input: Any) -> Any:
    """The different elements in the order in which they first come, and for each element the position of its value.

    Args:
        input: tensor.

    Returns:
        tuple[Tensor, Tensor]: the 1-D values, and positions in the shape of `input`: int64 for int64, else int32.
    """
    values = _values(tensor(input), "unique()")
    found, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order).astype(np.int64 if values.dtype == np.int64 else np.int32)
    return Tensor(found[order]), Tensor(place[inverse].reshape(values.shape))


@shows("unique_consecutive(Tensor([1, 1, 2, 1]))", "[1 2 1]")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without those that equal their predecessor.

    Args:
        input: tensor.
        return_inverse: also for each element the position of its value in the result.
        return_counts: also how many elements each stands for.
        dim: compare slices along this axis; None flattens.

    Returns:
        Tensor, or a tuple of them.
    """
    values = _values(tensor(input), "unique_consecutive()")
    moved = values.reshape(-1) if dim is None else np.moveaxis(values, dim, 0)
    flat = moved.reshape(moved.shape[0], -1)
    starts = np.ones(flat.shape[0], bool)
    starts[1:] = np.any(flat[1:] != flat[:-1], axis=1)
    positions = np.nonzero(starts)[0]
    kept = moved[starts] if dim is None else np.moveaxis(moved[starts], 0, dim)
    results = [Tensor(np.ascontiguousarray(kept))]
    if return_inverse:
        inverse = np.cumsum(starts) - 1
        results.append(Tensor(inverse.reshape(values.shape) if dim is None else inverse))
    if return_counts:
        results.append(Tensor(np.diff(np.append(positions, flat.shape[0]))))
    return results[0] if len(results) == 1 else tuple(results)


@op("UniqueWithPad", multiple=True, no_gradient="chooses representatives")
@shows("*unique_with_pad(Tensor([5, 2, 5]), 0)", "[5 2 0] [0 1 0]")
def unique_with_pad(x: Any, pad_num: Any) -> Any:
    """The different elements of a vector in the order in which they first come, padded to its size, and the position of
    each element's value.
    """
    found, first, inverse = jnp.unique(x, return_index=True, return_inverse=True, size=x.size, fill_value=None)
    there = jnp.arange(x.size) < jnp.max(inverse) + 1
    order = jnp.argsort(jnp.where(there, first, x.size))
    padded = jnp.where(there, found[order], pad_num.astype(x.dtype))
    return padded, jnp.argsort(order)[inverse.reshape(x.shape)].astype(jnp.int32)


@shows("bincount(Tensor([0, 1, 1, 3]))", "[1. 2. 0. 1.]")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs in a vector of non-negative integers, as float32, or the sums of their weights."""
    values = _values(tensor(input), "bincount()")
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(f"bincount: needs a vector of integers, not shape {values.shape} of {input.dtype}")
    given = None if weights is None else _values(tensor(weights), "bincount()")
    counts = np.bincount(values, given, minlength)
    return Tensor(counts.astype(np.float32 if given is None else given.dtype))


@op("Histc", classes=(), no_gradient="counts")
def _histc(input: Any, *, bins: int, min: float, max: float) -> Any:
    low, high = (jnp.min(input), jnp.max(input)) if min == max == 0 else (min, max)
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    counts, _ = jnp.histogram(input, bins=bins, range=(low, high))
    return counts.astype(jnp.int32 if input.dtype == jnp.int32 else jnp.float32)


@shows("histc(Tensor([1.0, 2.0, 1.0]), 2, 0.0, 3.0)", "[2. 1.]")
def histc(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """Counts of elements in bins of equal width between two bounds."""
    return _histc(input, bins=bins, min=min, max=max)


@op("Mode", classes=(), multiple=True)
@shows("*mode(Tensor([2, 1, 2]))", "2 2")
def mode(input: Any, *, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along an axis (the smallest of several), and the last position of it."""
    axis = one_axis("mode", dim, input.ndim)
    lines = jnp.moveaxis(input, axis, -1)
    same = lines[..., :, None] == lines[..., None, :]
    counts = jnp.sum(same, axis=-1)
    frequent = counts == jnp.max(counts, axis=-1, keepdims=True)
    rank = jnp.argsort(jnp.argsort(lines, axis=-1), axis=-1)
    best = jnp.argmin(jnp.where(frequent, rank, lines.shape[-1]), axis=-1, keepdims=True)
    value = jnp.take_along_axis(lines, best, axis=-1)
    index = lines.shape[-1] - 1 - jnp.argmax(jnp.flip(lines == value, -1), axis=-1, keepdims=True)
    value, index = jnp.moveaxis(value, -1, axis), jnp.moveaxis(index, -1, axis)
    return (value, index) if keepdim else (jnp.squeeze(value, axis), jnp.squeeze(index, axis))


operator_class("TopK", top_k, "sorted=True")
operator_class("Unique", unique)
operator_class("NonZero", nonzero)
operator_class("MaskedSelect", masked_select)
operator_class("MaskedScatter", masked_scatter)
