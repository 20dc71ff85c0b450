"""Joining and splitting tensors: concatenate, stack, split, unstack, slice, pad-free windows."""

from __future__ import annotations

import builtins
import itertools
import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import lazily
from weft.core import Primitive, apply, as_operator, op, operator_class, shows
from weft.errors import NoTensor
from weft.ops import _views as views
from weft.ops._rules import numbers, one_axis, promoted, tensor
from weft.ops.shape import atleast_2d, atleast_3d, expand_dims, reshape

if TYPE_CHECKING:
    from jax.scipy import linalg
else:
    linalg = lazily.deferred("jax.scipy.linalg")

__all__ = [
    "block_diag", "cat", "chunk", "column_stack", "concat", "dsplit", "dstack", "hsplit", "hstack", "slice",
    "split", "stack", "strided_slice", "tensor_split", "unbind", "unfold_windows", "unstack", "vsplit", "vstack",
    "narrow",
]  # fmt: skip


def _concat_rule(*args: Any, axis: int) -> Any:
    *inputs, _, dout = args
    axis %= dout.ndim
    sizes = tuple(x.shape[axis] for x in inputs)
    return _split(dout, sizes, axis)


@op("Concat", classes=(), gradient=_concat_rule)
def _concat(*tensors: Any, axis: int) -> Any:
    axis, shape = one_axis("concat", axis, tensors[0].ndim), tensors[0].shape
    for other in tensors[1:]:
        if (other.shape[:axis], other.shape[axis + 1 :]) != (shape[:axis], shape[axis + 1 :]):
            raise ValueError(f"concat: shapes {shape} and {other.shape} differ in another dimension than {axis}")
    return jnp.concatenate(promoted(*tensors), axis=axis)


@shows("concat((Tensor([1.0]), Tensor([2.0, 3.0])))", "[1. 2. 3.]")
def concat(tensors: Any, axis: int = 0) -> Any:
    """Join tensors along an existing axis.

    Args:
        tensors: a list or tuple of tensors, of equal shape but for `axis`.
        axis: the dimension along which to join.

    Returns:
        Tensor: the joined tensor.

    Raises:
        ValueError: no tensors, or shapes that do not fit.
    """
    return _concat(*_several("concat", tensors), axis=axis)


def _several(name: str, tensors: Any) -> Any:
    if not hasattr(tensors, "__iter__"):
        raise TypeError(f"{name} takes a list or tuple of tensors, not {type(tensors).__name__}")
    tensors = tensors if isinstance(tensors, (list, tuple)) else tuple(tensors)
    if not tensors:
        raise ValueError(f"{name} needs at least one tensor")
    return tensors


def _split_rule(x: Any, outs: Any, douts: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
    return (_concat(*douts, axis=axis),)


@op("Split", classes=(), multiple=True, gradient=_split_rule, shares=views.share_pieces)
def _split(input: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
    """Cut a tensor into pieces of these sizes along an axis."""
    ends = np.cumsum(sizes)
    return tuple(lax.slice_in_dim(input, int(e - s), int(e), axis=axis) for s, e in zip(sizes, ends, strict=True))


def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> Any:
    """Cut a tensor into pieces along an axis.

    Args:
        tensor: tensor.
        split_size_or_sections: the size of each piece (the last may be smaller), or a list of sizes.
        axis: the dimension to cut.

    Returns:
        tuple[Tensor, ...]: the pieces.

    Raises:
        ValueError: the sizes do not sum to the dimension.

    Example:
        >>> [print(piece) for piece in split(Tensor([1, 2, 3]), 2)] and None
        [1 2]
        [3]
    """
    axis = one_axis("split", axis, tensor.ndim)
    size = tensor.shape[axis]
    if isinstance(split_size_or_sections, (list, tuple)):
        sizes = numbers(split_size_or_sections)
        if sum(sizes) != size or any(s < 0 for s in sizes):
            raise ValueError(f"split: sizes {sizes} do not sum to {size}, the size of dimension {axis}")
    else:
        (step,) = numbers(split_size_or_sections)
        if step <= 0:
            raise ValueError(f"split: the size of a piece must be positive, not {step}")
        sizes = tuple(min(step, size - start) for start in range(0, size, step)) or (0,)
    return _split(tensor, sizes, axis)


@as_operator
def Split(input_x: Any, *, axis: int = 0, output_num: int = 1) -> Any:
    """Cut a tensor into equal pieces along an axis."""
    axis = one_axis("Split", axis, input_x.ndim)
    if output_num < 1 or input_x.shape[axis] % output_num:
        raise ValueError(
            f"Split: dimension {axis} of size {input_x.shape[axis]} cannot be cut into {output_num} equal pieces"
        )
    return _split(input_x, (input_x.shape[axis] // output_num,) * output_num, axis)


@shows("len(chunk(Tensor([1, 2, 3]), 2))", "2")
def chunk(input: Any, chunks: int, axis: int = 0) -> Any:
    """Cut a tensor into at most this many pieces of equal size (the last may be smaller)."""
    axis = one_axis("chunk", axis, input.ndim)
    if chunks < 1:
        raise ValueError(f"chunk: chunks must be positive, not {chunks}")
    return split(input, max(math.ceil(input.shape[axis] / chunks), 1), axis)


@shows("[piece.shape for piece in tensor_split(Tensor([1, 2, 3]), 2)]", "[(2,), (1,)]")
def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut a tensor at indices, or into this many nearly equal pieces."""
    axis = one_axis("tensor_split", axis, input.ndim)
    size = input.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1:
            raise ValueError(f"tensor_split: the number of pieces must be positive, not {indices_or_sections}")
        small, larger = divmod(size, indices_or_sections)
        return _split(input, tuple(small + (i < larger) for i in range(indices_or_sections)), axis)
    cuts = [0, *(min(max(i + size if i < 0 else i, 0), size) for i in numbers(indices_or_sections)), size]
    return tuple(narrow(input, axis, a, max(b - a, 0)) for a, b in itertools.pairwise(cuts))


@shows("len(hsplit(Tensor([[1, 2]]), 2))", "2")
def hsplit(input: Any, indices_or_sections: Any) -> Any:
    """Cut along the second dimension (the first of a vector)."""
    return tensor_split(input, indices_or_sections, 1 if input.ndim > 1 else 0)


@shows("len(vsplit(Tensor([[1], [2]]), 2))", "2")
def vsplit(input: Any, indices_or_sections: Any) -> Any:
    """Cut along the first dimension."""
    return tensor_split(input, indices_or_sections, 0)


@shows("len(dsplit(Tensor([[[1, 2]]]), 2))", "2")
def dsplit(input: Any, indices_or_sections: Any) -> Any:
    """Cut along the third dimension."""
    return tensor_split(input, indices_or_sections, 2)


def _stack_rule(*args: Any, axis: int) -> Any:
    return _unstack(args[-1], axis, args[-1].shape[axis])


@op("Stack", classes=(), gradient=_stack_rule)
def _stack(*tensors: Any, axis: int) -> Any:
    shapes = [tuple(x.shape) for x in tensors]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"stack: all tensors must have one shape, not {', '.join(map(str, shapes))}")
    axis = one_axis("stack", axis, tensors[0].ndim + 1)
    return jnp.stack(promoted(*tensors), axis=axis)


@shows("stack([Tensor([1, 2]), Tensor([3, 4])], axis=1)", "[[1 3]\n [2 4]]")
def stack(tensors: Any, axis: int = 0) -> Any:
    """Join tensors of one shape along a new axis.

    Args:
        tensors: a list or tuple of tensors.
        axis: position of the new dimension.

    Returns:
        Tensor: the joined tensor.

    Raises:
        ValueError: no tensors, or different shapes.
    """
    return _stack(*_several("stack", tensors), axis=axis)


def _unstack_rule(x: Any, outs: Any, douts: Any, *, axis: int, num: int) -> Any:
    return (_stack(*douts, axis=axis),)


@op("Unstack", classes=(), multiple=True, gradient=_unstack_rule, shares=views.share_positions)
def _unstack(input: Any, *, axis: int, num: int) -> Any:
    """The slices of a tensor along an axis."""
    moved = jnp.moveaxis(input, axis, 0)
    return tuple(moved[i] for i in range(num))


def unstack(input_x: Any, axis: int = 0) -> Any:
    """The slices of a tensor along an axis, without that axis.

    Args:
        input_x: tensor.
        axis: the dimension.

    Returns:
        tuple[Tensor, ...]: one tensor for each position.

    Example:
        >>> [print(row) for row in unstack(Tensor([[1, 2], [3, 4]]))] and None
        [1 2]
        [3 4]
    """
    axis = one_axis("unstack", axis, input_x.ndim)
    return _unstack(input_x, axis, input_x.shape[axis])


def rows(input: Any) -> Any:
    """Copies of the slices along the first axis."""
    return apply(Primitive.table["Unstack"], (input,), (0, input.shape[0]))


def _unstack_operator(input_x: Any, axis: int = 0, num: int | None = None) -> Any:
    """The slices of a tensor along an axis, without that axis; `num`, if given, is their number."""
    pieces = unstack(input_x, axis)
    if num is not None and num != len(pieces):
        raise ValueError(f"Unstack: num is {num}, but dimension {axis} of {input_x.shape} has {len(pieces)} positions")
    return pieces


@shows("len(unbind(Tensor([[1, 2], [3, 4]])))", "2")
def unbind(input: Any, dim: int = 0) -> Any:
    """Same as `unstack`."""
    return unstack(input, dim)


@shows("vstack([Tensor([1, 2]), Tensor([3, 4])]).shape", "(2, 2)")
def vstack(inputs: Any) -> Any:
    """Join tensors along the first dimension; vectors count as rows."""
    return concat([atleast_2d(x) for x in _several("vstack", inputs)], 0)


@shows("hstack([Tensor([1, 2]), Tensor([3])])", "[1 2 3]")
def hstack(tensors: Any) -> Any:
    """Join tensors along the second dimension (vectors along their only one)."""
    tensors = [reshape(x, (1,)) if x.ndim == 0 else x for x in map(tensor, _several("hstack", tensors))]
    return concat(tensors, 0 if tensors[0].ndim == 1 else 1)


@shows("dstack([Tensor([1, 2]), Tensor([3, 4])]).shape", "(1, 2, 2)")
def dstack(tensors: Any) -> Any:
    """Join tensors along the third dimension."""
    return concat([atleast_3d(x) for x in _several("dstack", tensors)], 2)


@shows("column_stack([Tensor([1, 2]), Tensor([3, 4])]).shape", "(2, 2)")
def column_stack(tensors: Any) -> Any:
    """Join tensors along the second dimension; vectors count as columns."""
    return concat([expand_dims(x, 1) if x.ndim == 1 else atleast_2d(x) for x in _several("column_stack", tensors)], 1)


@op("BlockDiag", classes=())
@shows("block_diag(Tensor([[1]]), Tensor([[2, 3]]))", "[[1 0 0]\n [0 2 3]]")
def block_diag(*inputs: Any) -> Any:
    """A matrix with these matrices along its diagonal."""
    if any(matrix is None for matrix in inputs):
        raise NoTensor("block_diag() takes matrices, not None")
    return linalg.block_diag(*promoted(*inputs))


def _pad_rule(x: Any, out: Any, dout: Any, *, begin: tuple[int, ...], size: tuple[int, ...]) -> Any:
    size = tuple(x.shape[i] - begin[i] if s == -1 else s for i, s in enumerate(size))
    after = tuple(n - b - s for n, b, s in zip(x.shape, begin, size, strict=True))
    return (zero_pad(dout, begin, after),)


@op("ZeroPad", classes=(), gradient=lambda x, out, dout, *, before, after: (slice(dout, before, x.shape),))
def zero_pad(input: Any, *, before: tuple[int, ...], after: tuple[int, ...]) -> Any:
    """Surround a tensor with zeros."""
    return jnp.pad(input, tuple(zip(before, after, strict=True)))


@op("Slice", gradient=_pad_rule, shares=views.share_box)
@shows("slice(Tensor([[1, 2], [3, 4]]), (0, 1), (2, 1))", "[[2]\n [4]]")
def slice(input_x: Any, *, begin: tuple[int, ...], size: tuple[int, ...]) -> Any:
    """A box of a tensor.

    Args:
        input_x: tensor.
        begin: first position in each dimension.
        size: size in each dimension; -1 for all that follows.

    Returns:
        Tensor: of shape `size`.

    Raises:
        ValueError: the box leaves the tensor.
    """
    if len(begin) != input_x.ndim or len(size) != input_x.ndim:
        raise ValueError(f"slice: begin and size need {input_x.ndim} entries, not {len(begin)} and {len(size)}")
    ends = tuple(n if s == -1 else b + s for b, s, n in zip(begin, size, input_x.shape, strict=True))
    if any(b < 0 or e > n or e < b for b, e, n in zip(begin, ends, input_x.shape, strict=True)):
        raise ValueError(f"slice: begin {begin} with size {size} leaves a tensor of shape {tuple(input_x.shape)}")
    return lax.slice(input_x, begin, ends)


@shows("narrow(Tensor([1, 2, 3]), 0, 1, 2)", "[2 3]")
def narrow(input: Any, axis: int, start: int, length: int) -> Any:
    """`length` positions of an axis, from `start`."""
    axis = one_axis("narrow", axis, input.ndim)
    begin, size = [0] * input.ndim, list(input.shape)
    begin[axis], size[axis] = start, length
    return slice(input, tuple(begin), tuple(size))


@shows("strided_slice(Tensor([1, 2, 3, 4]), (0,), (4,), (2,))", "[1 3]")
def strided_slice(
    input_x: Any,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Any:
    """A box of a tensor, with steps; bit `i` of a mask changes the meaning of entry `i`.

    Args:
        input_x: tensor.
        begin: first position for each entry.
        end: position after the last for each entry.
        strides: step for each entry.
        begin_mask: entries that start at the first position.
        end_mask: entries that run to the last position.
        ellipsis_mask: the entry that stands for all dimensions in between.
        new_axis_mask: entries that insert a dimension.
        shrink_axis_mask: entries that take one position and drop the dimension.

    Returns:
        Tensor: the selected elements.
    """
    begin, end, strides = numbers(begin), numbers(end), numbers(strides)
    if not len(begin) == len(end) == len(strides):
        raise ValueError(
            f"strided_slice: begin, end and strides have {len(begin)}, {len(end)} and {len(strides)} entries"
        )
    index: list[Any] = []
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(first)
        else:
            index.append(builtins.slice(None if begin_mask & bit else first, None if end_mask & bit else last, step))
    return input_x[tuple(index)]


@op("UnfoldWindows", classes=())
@shows("unfold_windows(Tensor([1, 2, 3]), 0, 2, 1)", "[[1 2]\n [2 3]]")
def unfold_windows(input: Any, *, dimension: int, size: int, step: int) -> Any:
    """Windows of an axis as a new last dimension."""
    axis = one_axis("unfold", dimension, input.ndim)
    starts = np.arange(0, input.shape[axis] - size + 1, step)
    windows = jnp.take(input, starts[:, None] + np.arange(size), axis=axis)
    return jnp.moveaxis(windows, axis + 1, -1)


cat = concat

operator_class("Concat", concat, "axis=0")
operator_class("Stack", stack, "axis=0")
operator_class("Pack", stack, "axis=0")
operator_class("Unstack", _unstack_operator, "axis=0, num=None")
operator_class("Unpack", _unstack_operator, "axis=0, num=None")
operator_class(
    "StridedSlice", strided_slice, "begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0"
)
