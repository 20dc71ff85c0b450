"""Operator classes of sparse tensors given by places (n, dimensions), values (n,) and a shape.

Values flow through operations and can be differentiated; where the size of a result depends on places, these must be
known before a graph runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, check_bounds, operator_class
from weft.ops._checks import bools, ints, lists, tensors
from weft.ops._rules import known, numbers
from weft.ops.create import full, zeros
from weft.ops.gather import gather, gather_nd, unsorted_segment_sum
from weft.ops.joining import concat
from weft.ops.math import add, maximum, minimum, mul, typed_div
from weft.ops.select import where
from weft.ops.shape import reshape
from weft.ops.sparse import softmax_of

#: element types of places, and of places and shapes of some
INT64: Final = (dtypes.int64,)
INDICES: Final = (dtypes.int32, dtypes.int64)
FLOATS: Final = (dtypes.float16, dtypes.float32, dtypes.float64)
INTEGERS: Final = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
)  # fmt: skip
_EXACT: Final = (*INTEGERS, dtypes.float32, dtypes.float64)
REALS: Final = (*FLOATS, *INTEGERS, dtypes.bfloat16)
COMPLEX: Final = (dtypes.complex64, dtypes.complex128)


def of_type(name: str, kinds: Sequence[Any], /, **given: Any) -> None:
    """Refuse what is no tensor, tensors of other element types where some are named, and such of several."""
    tensors(name, **given)
    first = next(iter(given.values())).dtype
    for what, value in given.items():
        if kinds and value.dtype not in kinds:
            raise TypeError(f"{name}: {what} must be of {', '.join(map(str, kinds))}, not {value.dtype}")
        if value.dtype is not first:
            raise TypeError(f"{name}: {', '.join(given)} must be of one type, not {first} and {value.dtype}")


def inside(name: str, indices: Any, sizes: int | tuple[int, ...]) -> None:
    """Refuse places out of bounds."""
    try:
        check_bounds(indices, sizes, f"{name}: there is no place {{}} where the sizes are {sizes}", least=0)
    except IndexError as error:
        raise ValueError(str(error)) from None


def fits(name: str, indices: Any, values: Any, shape: Any, kinds: Sequence[Any] = INT64) -> tuple[int, ...]:
    """The shape of a sparse tensor whose parts fit each other.

    Raises:
        TypeError: places or shape are of other types.
        ValueError: they do not fit.
    """
    of_type(name, kinds, indices=indices, shape=shape)
    tensors(name, values=values)
    sizes = numbers(shape)
    one_each(name, indices, values, sizes)
    inside(name, indices, sizes)
    return sizes


def one_each(name: str, indices: Any, values: Any, sizes: tuple[int, ...]) -> None:
    """Refuse places (n, dimensions) and values (n,) that do not fit each other."""
    if values.ndim != 1 or indices.shape != (values.shape[0], len(sizes)):
        raise ValueError(
            f"{name}: places of shape {indices.shape} and values of shape {values.shape} do not fit a shape of {sizes}"
        )


def at(values: Tensor, order: np.ndarray[Any, Any]) -> Tensor:
    """The values at positions that are known."""
    return gather(values, Tensor(order), 0)


def united(*places: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], list[np.ndarray[Any, Any]]]:
    """The places of several tensors in order, each once, and where those of each tensor are among them."""
    found, inverse = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    return found, np.split(inverse.reshape(-1), np.cumsum([len(each) for each in places])[:-1])


def summed(values: Tensor, positions: np.ndarray[Any, Any], count: int) -> Tensor:
    """As many numbers as said, the sums of the values at each position."""
    return unsorted_segment_sum(values, Tensor(positions.astype(np.int64)), count)


# -- with dense tensors ------------------------------------------------------------------------------------------------


def _cwise(word: str, operation: Callable[..., Any], what: str) -> None:
    name = f"SparseDenseCwise{word}"

    def compute(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any) -> Tensor:
        of_type(name, (*REALS, *COMPLEX), x1_values=x1_values, x2=x2)
        shape = fits(name, x1_indices, x1_values, x1_shape)
        wrong = [n for n, size in zip(x2.shape[::-1], shape[::-1], strict=False) if n not in (1, size)]
        if x2.ndim > len(shape) or wrong:
            raise ValueError(f"{name}: a tensor of shape {x2.shape} is not broadcast to {shape}")
        return operation(x1_values, gather_nd(x2.broadcast_to(shape), x1_indices))

    compute.__doc__ = f"The values of a sparse tensor {what} those of a dense one at their places."
    operator_class(name, compute)


_cwise("Add", add, "plus")
_cwise("Mul", mul, "times")
_cwise("Div", typed_div, "divided by")


@as_operator
def SparseAddmm(x1_indices: Any, x1_values: Any, x1_shape: Any, x2: Any, x3: Any, alpha: Any, beta: Any) -> Tensor:
    """`alpha` times the product of a sparse matrix and a dense one, plus `beta` times another one."""
    name = "SparseAddmm"
    of_type(name, _EXACT, x1_values=x1_values, x2=x2, x3=x3, alpha=alpha, beta=beta)
    shape = fits(name, x1_indices, x1_values, x1_shape, INDICES)
    if len(shape) != 2 or x2.ndim != 2 or shape[1] != x2.shape[0] or x3.shape != (shape[0], x2.shape[1]):
        raise ValueError(f"{name}: matrices of shapes {shape}, {x2.shape} and {x3.shape} do not fit")
    if alpha.shape != (1,) or beta.shape != (1,):
        raise ValueError(f"{name}: alpha and beta must be of shape (1,), not {alpha.shape} and {beta.shape}")
    products = reshape(x1_values, (-1, 1)) * gather(x2, x1_indices[:, 1], 0)
    return alpha * unsorted_segment_sum(products, x1_indices[:, 0], shape[0]) + beta * x3


@as_operator
def SparseToDenseV2(
    indices: Any, output_shape: Any, values: Any, default_value: Any, *, validate_indices: bool = True
) -> Tensor:
    """A tensor with values at places and another one elsewhere.

    Args:
        validate_indices: accepted: places that are out of order, or twice there, are refused always.
    """
    name = "SparseToDenseV2"
    bools(name, validate_indices=validate_indices)
    of_type(name, INDICES, indices=indices, output_shape=output_shape)
    of_type(name, (), values=values, default_value=default_value)
    shape = numbers(output_shape)
    places = known(name, indices)
    places = places.reshape(-1, len(shape)) if places.ndim < 2 else places
    if values.shape != (len(places),) or places.shape[1] != len(shape) or default_value.ndim:
        raise ValueError(
            f"{name}: places of shape {indices.shape}, values of shape {values.shape} and another one of shape "
            f"{default_value.shape} do not fit a shape of {shape}"
        )
    inside(name, places, shape)
    flat = np.ravel_multi_index(tuple(places.T), shape)
    if (np.diff(flat) <= 0).any():
        raise ValueError(f"{name}: places must be in order, and each there once")
    source = np.full(shape, -1)
    source.flat[flat] = np.arange(len(flat))
    if not len(flat):
        return full(shape, default_value, dtype=values.dtype)
    return where(Tensor(source >= 0), at(values, np.maximum(source, 0)), default_value)


# -- of one sparse tensor ----------------------------------------------------------------------------------------------


def order_of(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where the places are that come first, second..."""
    return np.lexsort(places.T[::-1])


@as_operator
def SparseReorder(indices: Any, values: Any, shape: Any) -> Any:
    """Places in order, and their values."""
    fits("SparseReorder", indices, values, shape)
    places = known("SparseReorder", indices)
    order = order_of(places)
    return Tensor(places[order]), at(values, order)


@as_operator
def SparseReshape(indices: Any, shape: Any, new_shape: Any) -> Any:
    """The places in another shape, and this shape, of which one size may be -1."""
    name = "SparseReshape"
    of_type(name, INT64, indices=indices, shape=shape, new_shape=new_shape)
    before, after = numbers(shape), list(numbers(new_shape))
    if indices.ndim != 2 or indices.shape[1] != len(before):
        raise ValueError(f"{name}: places of shape {indices.shape} do not fit a shape of {before}")
    total = int(np.prod(before))
    if after.count(-1) == 1:
        after[after.index(-1)] = total // max(-int(np.prod(after)), 1)
    if min(after, default=0) < 0 or int(np.prod(after)) != total:
        raise ValueError(f"{name}: the shape {before} has no form of {numbers(new_shape)}")
    inside(name, indices, before)
    flat = (indices * Tensor(steps(before))).sum(-1, keepdims=True)
    return flat // Tensor(steps(tuple(after))) % Tensor(np.array(after, np.int64)), Tensor(np.array(after, np.int64))


def steps(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """How far apart the elements are that are neighbours along each dimension."""
    return np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1][: len(shape)].copy()


@as_operator
def SparseSoftmax(indices: Any, values: Any, shape: Any) -> Tensor:
    """The softmax of the values of each row, those of the last dimension, in the order of their places."""
    name = "SparseSoftmax"
    of_type(name, (dtypes.float32, dtypes.float64), values=values)
    if len(fits(name, indices, values, shape)) < 2:
        raise ValueError(f"{name}: a sparse tensor must have 2 dimensions at least, not {shape.size}")
    places = known(name, indices)
    order = order_of(places)
    return softmax_in(at(values, order), places[order, :-1])


def softmax_in(values: Tensor, rows: np.ndarray[Any, Any]) -> Tensor:
    """The softmax of the values of each row; `rows` says of each value in which it is."""
    found, (row,) = united(rows)
    return softmax_of(values, Tensor(row), len(found))


@as_operator
def SparseSplit(split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int = 1) -> Any:
    """The parts of a sparse tensor along a dimension: the places of all, the values of all, and their shapes.

    Args:
        num_split: how many parts there are; those that come first are larger by one, where there is a rest.
    """
    name = "SparseSplit"
    ints(name, num_split=num_split)
    of_type(name, INT64, split_dim=split_dim)
    sizes = fits(name, indices, values, shape)
    if num_split == 0:
        return ()
    axis = numbers(split_dim)[0] if split_dim.size == 1 else len(sizes)
    if not -len(sizes) <= axis < len(sizes) or not 0 < num_split <= sizes[axis]:
        raise ValueError(f"{name}: the shape {sizes} is not cut into {num_split} parts along {split_dim.tolist()}")
    places = known(name, indices)
    least, rest = divmod(sizes[axis], num_split)
    ends = np.cumsum([least + (part < rest) for part in range(num_split)])
    parts = np.searchsorted(ends, places[:, axis], side="right")
    found = []
    for part, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        (kept,) = np.nonzero(parts == part)
        moved, size = places[kept], np.array(sizes, np.int64)
        moved[:, axis] -= begin
        size[axis] = end - begin
        found.append((Tensor(moved), at(values, kept), Tensor(size)))
    return tuple(itertools.chain(*zip(*found, strict=True)))


@as_operator
def SparseFillEmptyRows(indices: Any, values: Any, dense_shape: Any, default_value: Any) -> Any:
    """A sparse matrix with a value at the begin of rows that have none.

    The places and the values by rows, which rows had none, and for each value that was given, where it is.
    """
    name = "SparseFillEmptyRows"
    of_type(name, (), values=values, default_value=default_value)
    sizes = fits(name, indices, values, dense_shape)
    if len(sizes) != 2 or default_value.ndim:
        raise ValueError(f"{name}: a matrix and a number are expected, not {sizes} and shape {default_value.shape}")
    places = known(name, indices)
    empty = np.bincount(places[:, 0], minlength=sizes[0]) == 0
    added = np.stack([np.flatnonzero(empty), np.zeros(empty.sum(), np.int64)], 1)
    everything = np.concatenate([places, added])
    order = np.argsort(everything[:, 0], kind="stable")
    filled = concat((values, default_value.broadcast_to((len(added),))), 0)
    reverse = np.argsort(order, kind="stable")[: len(places)]
    return Tensor(everything[order]), at(filled, order), Tensor(empty), Tensor(reverse)


# -- of several sparse tensors -----------------------------------------------------------------------------------------


def _both(name: str, kinds: Sequence[Any], *parts: Any) -> tuple[np.ndarray[Any, Any], list[Any], list[Tensor]]:
    """Two sparse tensors, given by places, values and shape each, at the places of either.

    Returns:
        tuple: these places, which of them are those of each tensor, and the values of each; what a tensor lacks is 0.
    """
    x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape = parts
    of_type(name, kinds, x1_values=x1_values, x2_values=x2_values)
    first, second = fits(name, x1_indices, x1_values, x1_shape), fits(name, x2_indices, x2_values, x2_shape)
    if first != second:
        raise ValueError(f"{name}: the shapes {first} and {second} differ")
    places, chosen = united(known(name, x1_indices), known(name, x2_indices))
    given = zip((x1_values, x2_values), chosen, strict=True)
    return places, chosen, [summed(values, positions, len(places)) for values, positions in given]


@as_operator
def SparseAdd(
    x1_indices: Any, x1_values: Any, x1_shape: Any, x2_indices: Any, x2_values: Any, x2_shape: Any, thresh: Any
) -> Any:
    """The sum of sparse tensors: places, values and shape; sums of two values below `thresh` are left out."""
    name = "SparseAdd"
    given = (x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape)
    places, chosen, (one, other) = _both(name, (*REALS, *COMPLEX), *given)
    tensors(name, thresh=thresh)
    if not x1_values.is_complex() and thresh.dtype is not x1_values.dtype:
        raise TypeError(f"{name}: values of {x1_values.dtype} with a thresh of {thresh.dtype}")
    if thresh.ndim:
        raise ValueError(f"{name}: thresh must be a number, not of shape {thresh.shape}")
    total = one + other
    least = known(name, thresh)
    if least > 0:
        small = np.abs(known(name, total)) < least
        small[np.setxor1d(*chosen)] = False
        (kept,) = np.nonzero(~small)
        places, total = places[kept], at(total, kept)
    return Tensor(places), total, x1_shape


def _extreme(word: str, operation: Callable[..., Any], what: str) -> None:
    name = f"SparseSparse{word}"

    def compute(x1_indices: Any, x1_values: Any, x1_shape: Any, x2_indices: Any, x2_values: Any, x2_shape: Any) -> Any:
        places, _, values = _both(name, REALS, x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape)
        return Tensor(places), operation(*values)

    compute.__doc__ = f"The {what} of two sparse tensors at the places of either; what a tensor lacks is 0."
    operator_class(name, compute)


_extreme("Maximum", maximum, "larger")
_extreme("Minimum", minimum, "smaller")


@as_operator
def SparseConcat(sp_input_indices: Any, sp_input_values: Any, sp_input_shape: Any, *, concat_dim: int = 0) -> Any:
    """Sparse tensors, joined along a dimension: places in order, values and shape.

    Args:
        concat_dim: the dimension.
    """
    name = "SparseConcat"
    ints(name, concat_dim=concat_dim)
    lists(name, indices=sp_input_indices, values=sp_input_values, shapes=sp_input_shape)
    tensors(name, **{f"shapes{i}": each for i, each in enumerate(sp_input_shape)})
    count = len(sp_input_indices)
    if count < 2 or len(sp_input_values) != count or len(sp_input_shape) != count:
        raise ValueError(f"{name}: at least two tensors are expected, with places, values and a shape each")
    of_type(name, (), **{f"values{i}": each for i, each in enumerate(sp_input_values)})
    parts = list(zip(sp_input_indices, sp_input_values, sp_input_shape, strict=True))
    shapes = np.array([fits(name, *part) for part in parts if part[2].size == sp_input_shape[0].size], np.int64)
    rank = shapes.shape[1]
    if len(shapes) != count or not -rank <= concat_dim < rank:
        raise ValueError(f"{name}: the shapes must have the same dimensions, and {concat_dim} must be one of them")
    axis = concat_dim % rank
    if (np.delete(shapes, axis, 1) != np.delete(shapes[:1], axis, 1)).any():
        raise ValueError(f"{name}: sizes besides that of dimension {axis} must agree, not {shapes.tolist()}")
    moved = [known(name, each).copy() for each in sp_input_indices]
    for each, begin in zip(moved, np.cumsum([0, *shapes[:-1, axis]]), strict=True):
        each[:, axis] += begin
    places = np.concatenate(moved)
    order = order_of(places)
    size = shapes[0].copy()
    size[axis] = shapes[:, axis].sum()
    return Tensor(places[order]), at(concat(tuple(sp_input_values), 0), order), Tensor(size)


@as_operator
def Sspaddmm(
    x1_indices: Any,
    x1_values: Any,
    x1_shape: Any,
    x2_indices: Any,
    x2_values: Any,
    x2_shape: Any,
    x3_dense: Any,
    alpha: Any,
    beta: Any,
) -> Any:
    """`beta` times a sparse matrix, and `alpha` times the product of another one and a dense one, as a sparse matrix.

    Places are (2, n) here; the values of the first matrix come first, then rows of the product.
    """
    name = "Sspaddmm"
    for what, each in (("x1_values", x1_values), ("x2_values", x2_values), ("x3_dense", x3_dense)):
        of_type(name, _EXACT, **{what: each})
    of_type(name, INDICES, x1_indices=x1_indices)
    of_type(name, INDICES, x2_indices=x2_indices)
    if x1_indices.ndim != 2 or x2_indices.ndim != 2:
        raise ValueError(f"{name}: places must be of shape (2, n), not {x1_indices.shape} and {x2_indices.shape}")
    first = fits(name, x1_indices.T, x1_values, x1_shape, INDICES)
    second = fits(name, x2_indices.T, x2_values, x2_shape, INDICES)
    if x3_dense.ndim != 2 or second[1] != x3_dense.shape[0] or first != (second[0], x3_dense.shape[1]):
        raise ValueError(f"{name}: matrices of shapes {first}, {second} and {x3_dense.shape} do not fit")
    (rows, columns), width = known(name, x2_indices), x3_dense.shape[1]
    sorted_rows, begins, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(begins)
    terms = reshape(x2_values, (-1, 1)) * gather(x3_dense, Tensor(columns), 0)
    product = summed(terms, np.argsort(order)[inverse.reshape(-1)], len(order)) if len(order) else zeros((0, width))
    there = np.stack([np.repeat(sorted_rows[order], width), np.tile(np.arange(width), len(order))])
    values = concat((x1_values * beta, (product * alpha).reshape(-1)), 0)
    places = np.concatenate([known(name, x1_indices), there], 1).astype(np.int64)
    promoted = np.promote_types(x1_values.dtype.np_dtype, x2_values.dtype.np_dtype)
    return Tensor(places), values.astype(dtypes.of(promoted)), x1_shape.astype(dtypes.int64)
