"""Results whose size depends on values: decoded labels, segments of rows, elements of sparse matrices."""

from __future__ import annotations

from typing import Any

from weft import dtypes
from weft.core import check_bounds, shows
from weft.ops._checks import bools, tensors
from weft.ops.compare import not_equal
from weft.ops.create import arange, full
from weft.ops.cumulative import cumsum
from weft.ops.gather import gather, unsorted_segment_sum
from weft.ops.joining import cat, stack
from weft.ops.logic import logical_and
from weft.ops.math import maximum
from weft.ops.reduce import argmax
from weft.ops.select import where
from weft.ops.shape import broadcast_to
from weft.ops.sorting import masked_select
from weft.ops.sparse import COOTensor

__all__ = ["coalesce", "ctc_greedy_decoder", "sparse_segment_mean"]


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Any:
    """The labels of the best class in each step, without blanks, which are the last class.

    Args:
        inputs: scores, (steps, N, classes), of float32 or float64.
        sequence_length: how many steps each example has, (N,), of int32.
        merge_repeated: a class that comes twice without a blank between counts once.

    Returns:
        tuple[Tensor, Tensor, Tensor, Tensor]: example and place of each label, the labels, (N, most labels of an
        example), and for each example minus the sum of the best scores, (N, 1).

    Raises:
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit.
        IndexError: an example has more steps than there are.

    Example:
        >>> import numpy as np
        >>> scores = Tensor([[[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
        >>> print(ctc_greedy_decoder(scores, Tensor(np.array([3], np.int32)))[1])
        [1]
    """
    name = "ctc_greedy_decoder"
    tensors(name, inputs=inputs, sequence_length=sequence_length)
    if inputs.dtype not in (dtypes.float32, dtypes.float64) or sequence_length.dtype is not dtypes.int32:
        raise TypeError(f"{name}: inputs must be of floats and the lengths of int32")
    return decoded(name, inputs, sequence_length, merge_repeated)


def decoded(name: str, scores: Any, lengths: Any, merge_repeated: bool) -> Any:
    """What `ctc_greedy_decoder` gives; `name` is the operation that messages name."""
    bools(name, merge_repeated=merge_repeated)
    if scores.ndim != 3 or lengths.shape != scores.shape[1:2]:
        raise ValueError(f"{name}: lengths of shape {lengths.shape} do not fit scores of shape {scores.shape}")
    steps, batch, classes = scores.shape
    check_bounds(lengths, steps + 1, f"{name}: there are no {{}} steps of {steps}", least=0)
    best = argmax(scores, -1).swapaxes(0, 1)  # (N, steps)
    there = arange(steps) < lengths.expand_dims(1)
    kept = logical_and(there, not_equal(best, classes - 1))
    if merge_repeated:
        before = cat((full((batch, 1), classes, dtype=best.dtype), best[:, :-1]), 1)
        kept = logical_and(kept, not_equal(best, before))
    place = cumsum(kept.astype(dtypes.int64), 1) - 1
    example = broadcast_to(arange(batch).expand_dims(1), (batch, steps))
    indices = stack((masked_select(example, kept), masked_select(place, kept)), 1)
    labels = masked_select(best, kept).astype(dtypes.int64)
    most = kept.astype(dtypes.int64).sum(1).max()
    top = scores.max(axis=-1).swapaxes(0, 1)
    total = -where(there, top, 0).sum(1, keepdims=True)
    return indices, labels, stack((full((), batch, dtype=dtypes.int64), most)), total


@shows("sparse_segment_mean(Tensor([1.0, 3.0, 7.0]), Tensor([0, 1, 2]), Tensor([0, 0, 1]))", "[2. 7.]")
def sparse_segment_mean(x: Any, indices: Any, segment_ids: Any) -> Any:
    """The means of segments of rows that are chosen by their positions.

    Args:
        x: tensor, whose first dimension has the rows.
        indices: positions of rows, 1-D.
        segment_ids: the segment of each, in ascending order.

    Returns:
        Tensor: a row for each segment; zeros for those without rows.

    Raises:
        TypeError: an argument is no tensor.
        ValueError: there is not one segment for each position.
    """
    name = "sparse_segment_mean"
    tensors(name, x=x, indices=indices, segment_ids=segment_ids)
    if indices.ndim != 1 or segment_ids.shape != indices.shape:
        raise ValueError(f"{name}: {segment_ids.shape} segments do not fit positions of shape {indices.shape}")
    count = int(segment_ids.max().item()) + 1 if indices.shape[0] else 0
    total = unsorted_segment_sum(gather(x, indices, 0), segment_ids, count)
    size = unsorted_segment_sum(full(indices.shape, 1, dtype=x.dtype), segment_ids, count)
    return total / maximum(size, 1).reshape((-1, *(1,) * (x.ndim - 1))).astype(x.dtype)


@shows("coalesce(Tensor([[0, 0], [1, 1]]), Tensor([1.0, 5.0]), Tensor([3, 3]))[1]", "[6.]")
def coalesce(x_indices: Any, x_values: Any, x_shape: Any) -> Any:
    """The elements of a sparse matrix, those at one place added, in order of their places.

    Args:
        x_indices: row and column of each element, (2, n).
        x_values: the elements, (n,).
        x_shape: the shape of the matrix, a tensor of two ints.

    Returns:
        tuple[Tensor, Tensor, Tensor]: places, elements and shape.

    Raises:
        TypeError: an argument is no tensor.
        ValueError: the shapes do not fit.
    """
    tensors("coalesce", x_indices=x_indices, x_values=x_values, x_shape=x_shape)
    found = COOTensor(x_indices.swapaxes(0, 1), x_values, tuple(x_shape.tolist())).coalesce()
    return found.indices.swapaxes(0, 1).astype(x_indices.dtype), found.values, x_shape
