"""Operator classes of rows of different lengths, of sets (the last dimension of sparse tensors), and of counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator
from weft.ops._checks import bools, index_types, ints, lists, one_of, tensors
from weft.ops._rules import known, numbers
from weft.ops.create import full, ones
from weft.ops.select import where
from weft.ops.shape import reshape
from weft.ops.sparse_operators import FLOATS, INDICES, INTEGERS, at, fits, of_type, steps, summed, united

# -- rows of different lengths -----------------------------------------------------------------------------------------


def _rows_of(name: str, splits: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """The row of each of so many values, of where the rows begin and end."""
    if splits.ndim != 1 or not splits.size or splits[0] or (np.diff(splits) < 0).any() or splits[-1] != count:
        raise ValueError(f"{name}: splits must ascend from 0 to {count}, not {splits.tolist()}")
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits))


def _levels(name: str, splits: list[np.ndarray[Any, Any]], total: int) -> list[np.ndarray[Any, Any]]:
    """The row of each row and, last, of each of so many values, of nested splits."""
    counts = [*(len(each) - 1 for each in splits[1:]), total]
    return [_rows_of(name, each, count) for each, count in zip(splits, counts, strict=True)]


def _within(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The place of each value in its row, of rows that ascend."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def _ragged(levels: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The places of the values, of the row of each value and, from the inside, of each row."""
    last = levels[-1]
    outer = np.arange(last.max(initial=-1) + 1)[:, None] if len(levels) == 1 else _ragged(levels[:-1])
    return np.concatenate([outer[last], _within(last)[:, None]], 1)


@as_operator
def RaggedTensorToSparse(rt_nested_splits: Any, rt_dense_values: Any, *, Tsplits: Any) -> Any:
    """Values in rows of different lengths as a sparse tensor: places, values and shape.

    Args:
        Tsplits: the element type of the splits, which say where the rows begin and end.
    """
    name = "RaggedTensorToSparse"
    index_types(name, Tsplits=Tsplits)
    lists(name, rt_nested_splits=rt_nested_splits)
    of_type(name, (Tsplits,), **{f"splits{i}": each for i, each in enumerate(rt_nested_splits)})
    tensors(name, rt_dense_values=rt_dense_values)
    splits = [known(name, each) for each in rt_nested_splits]
    places, inner = _ragged(_levels(name, splits, rt_dense_values.shape[0])), rt_dense_values.shape[1:]
    size = [len(splits[0]) - 1, *(int(np.diff(each).max(initial=0)) for each in splits), *inner]
    if inner:
        within = np.indices(inner).reshape(len(inner), -1).T
        places = np.concatenate([np.repeat(places, len(within), 0), np.tile(within, (len(places), 1))], 1)
    return Tensor(places), reshape(rt_dense_values, (-1,)), Tensor(np.array(size, np.int64))


@as_operator
def RaggedTensorToTensor(
    shape: Any, values: Any, default_value: Any, row_partition_tensors: Any, *, row_partition_types: Any
) -> Tensor:
    """Values in rows of different lengths in a tensor of a shape; others stand where rows are shorter.

    Args:
        row_partition_types: what the partitions are: "ROW_SPLITS" each, or "FIRST_DIM_SIZE" and "VALUE_ROWIDS".
    """
    name = "RaggedTensorToTensor"
    if not isinstance(row_partition_types, list):
        raise TypeError(f"{name}: row_partition_types must be a list, not {type(row_partition_types).__name__}")
    for each in row_partition_types:
        one_of(name, ("ROW_SPLITS", "FIRST_DIM_SIZE", "VALUE_ROWIDS"), row_partition_types=each)
    of_type(name, INDICES, shape=shape)
    lists(name, row_partition_tensors=row_partition_tensors)
    if len(row_partition_tensors) != len(row_partition_types):
        raise ValueError(f"{name}: {len(row_partition_tensors)} partitions for {len(row_partition_types)} types")
    of_type(name, INDICES, **{f"partition{i}": each for i, each in enumerate(row_partition_tensors)})
    of_type(name, (), values=values, default_value=default_value)
    parts = [known(name, each) for each in row_partition_tensors]
    sized = row_partition_types[:1] == ["FIRST_DIM_SIZE"]
    wanted = ["VALUE_ROWIDS"] * (len(parts) - 1) if sized else ["ROW_SPLITS"] * len(parts)
    if not wanted or row_partition_types[sized:] != wanted or (sized and parts[0].ndim):
        raise ValueError(f"{name}: partitions must be splits, or a size and ids of rows, not {row_partition_types}")
    first = int(parts[0]) if sized else len(parts[0]) - 1
    levels = parts[1:] if sized else _levels(name, parts, values.shape[0])
    counts = [first, *map(len, levels)]
    for ids, rows in zip(levels, counts, strict=False):
        if (np.diff(ids) < 0).any() or (len(ids) and not 0 <= ids[0] <= ids[-1] < rows):
            raise ValueError(f"{name}: the rows {ids.tolist()} must ascend and be below {rows}")
    if counts[-1] != values.shape[0]:
        raise ValueError(f"{name}: there are {counts[-1]} rows for {values.shape[0]} values")
    given = numbers(shape)
    if len(given) != len(levels) + values.ndim:
        raise ValueError(f"{name}: a shape of {given} does not fit {len(levels)} partitions of {values.shape}")
    places = _ragged(levels)
    natural = [first, *(places[:, 1:].max(0, initial=-1) + 1).tolist(), *values.shape[1:]]
    size = tuple(n if n >= 0 else least for n, least in zip(given, natural, strict=True))
    outer = size[: places.shape[1]]
    source = np.full(outer, -1)
    (kept,) = np.nonzero((places < outer).all(1))
    source[tuple(places[kept].T)] = kept
    if size[len(outer) :] != values.shape[1:]:
        raise ValueError(f"{name}: a shape of {given} does not fit values of {values.shape}")
    if not values.shape[0]:
        return full(size, 0, dtype=values.dtype) + default_value
    there = Tensor((source >= 0).reshape(*outer, *[1] * (values.ndim - 1)))
    return where(there, at(values, np.maximum(source, 0)), default_value)


# -- sets --------------------------------------------------------------------------------------------------------------

_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "a-b": np.setdiff1d,
    "b-a": lambda a, b: np.setdiff1d(b, a),
    "intersection": np.intersect1d,
    "union": np.union1d,
}
_ELEMENTS: Final = tuple(each for each in INTEGERS if each not in (dtypes.uint32, dtypes.uint64))


def _operated(operation: str, pairs: Iterator[tuple[Any, Any]], lead: tuple[int, ...], dtype: Any) -> Any:
    """What an operation makes of pairs of sets, as a sparse tensor."""
    sets = [_OPERATIONS[operation](*pair) for pair in pairs]
    sizes = [len(each) for each in sets]
    groups = np.indices(lead).reshape(len(lead), -1).T
    rows = np.repeat(np.arange(len(sets)), sizes)
    places = np.concatenate([groups[rows], _within(rows)[:, None]], 1)
    shape = np.array([*lead, max(sizes, default=0)], np.int64)
    values = np.concatenate(sets) if sets else np.zeros(0)
    return Tensor(places), Tensor(values.astype(dtype.np_dtype)), Tensor(shape)


def _check_sets(name: str, set_operation: str, validate_indices: bool, x1: Any) -> None:
    bools(name, validate_indices=validate_indices)
    one_of(name, tuple(_OPERATIONS), set_operation=set_operation.lower())
    if x1.ndim < 2:
        raise ValueError(f"{name}: x1 must have 2 dimensions at least, not {x1.ndim}")


@as_operator
def DenseToDenseSetOperation(x1: Any, x2: Any, *, set_operation: str, validate_indices: bool = True) -> Any:
    """An operation of the sets in the last dimensions of two tensors: places, values and shape.

    Args:
        set_operation: "a-b", "b-a", "intersection" or "union".
        validate_indices: accepted.
    """
    name = "DenseToDenseSetOperation"
    of_type(name, _ELEMENTS, x1=x1, x2=x2)
    _check_sets(name, set_operation, validate_indices, x1)
    if x1.shape[:-1] != x2.shape[:-1]:
        raise ValueError(f"{name}: shapes {x1.shape} and {x2.shape} differ before the last dimension")
    a, b = (known(name, each).reshape(-1, each.shape[-1]) for each in (x1, x2))
    return _operated(set_operation.lower(), zip(a, b, strict=True), x1.shape[:-1], x1.dtype)


def _ordered(name: str, places: np.ndarray[Any, Any], shape: tuple[int, ...]) -> None:
    if (np.diff(places @ steps(shape)) <= 0).any():
        raise ValueError(f"{name}: places must be in order, and each there once")


@as_operator
def DenseToSparseSetOperation(
    x1: Any, x2_indices: Any, x2_values: Any, x2_shape: Any, *, set_operation: str = "", validate_indices: bool = True
) -> Any:
    """An operation of the sets in the last dimension of a tensor and of a sparse one: places, values and shape.

    Args:
        set_operation: "a-b", "b-a", "intersection" or "union".
        validate_indices: whether the order of places is checked.
    """
    name = "DenseToSparseSetOperation"
    of_type(name, _ELEMENTS, x1=x1, x2_values=x2_values)
    _check_sets(name, set_operation, validate_indices, x1)
    shape = fits(name, x2_indices, x2_values, x2_shape)
    if shape[:-1] != x1.shape[:-1]:
        raise ValueError(f"{name}: shapes {x1.shape} and {shape} differ before the last dimension")
    places, elements = known(name, x2_indices), known(name, x2_values)
    if validate_indices:
        _ordered(name, places, shape)
    group = places[:, :-1] @ steps(shape[:-1])
    a = known(name, x1).reshape(-1, x1.shape[-1])
    pairs = ((each, elements[group == i]) for i, each in enumerate(a))
    return _operated(set_operation.lower(), pairs, x1.shape[:-1], x1.dtype)


@as_operator
def SetSize(set_indices: Any, set_values: Any, set_shape: Any, *, validate_indices: bool = True) -> Tensor:
    """How many different values each set has.

    Args:
        validate_indices: whether the order of places is checked.
    """
    name = "SetSize"
    bools(name, validate_indices=validate_indices)
    of_type(name, _ELEMENTS, set_values=set_values)
    shape = fits(name, set_indices, set_values, set_shape)
    places = known(name, set_indices)
    if validate_indices:
        _ordered(name, places, shape)
    found, _ = united(np.stack([places[:, :-1] @ steps(shape[:-1]), known(name, set_values).astype(np.int64)], 1))
    sizes = np.bincount(found[:, 0], minlength=int(np.prod(shape[:-1])))
    return Tensor(sizes.reshape(shape[:-1]).astype(np.int32))


# -- counts ------------------------------------------------------------------------------------------------------------


@as_operator
def SparseCountSparseOutput(
    indices: Any,
    values: Any,
    dense_shape: Any,
    weights: Any,
    *,
    binary_output: bool = False,
    minlength: int = -1,
    maxlength: int = -1,
) -> Any:
    """How often each number is in each row of a sparse tensor: places, sums of weights, and shape.

    Args:
        binary_output: whether a sum is 1 wherever there is one.
        minlength: the least length of rows of counts; negative for none.
        maxlength: numbers that are not less are left out; negative for none.
    """
    name = "SparseCountSparseOutput"
    bools(name, binary_output=binary_output)
    ints(name, minlength=minlength, maxlength=maxlength)
    of_type(name, INDICES, values=values)
    of_type(name, (dtypes.int32, dtypes.int64, *FLOATS), weights=weights)
    fits(name, indices, values, dense_shape)
    if weights.size and weights.shape != values.shape:
        raise ValueError(f"{name}: {weights.shape} weights for {values.shape} values")
    places, found = known(name, indices), known(name, values).astype(np.int64)
    if (found < 0).any():
        raise ValueError(f"{name}: values must not be negative")
    length = max(int(found.max(initial=-1)) + 1, minlength)
    if maxlength >= 0:
        length = min(length, maxlength)
    (kept,) = np.nonzero(found < length)
    rows = places[:, :1] if places.shape[1] > 1 else places[:, :0]
    cells, (there,) = united(np.concatenate([rows, found[:, None]], 1)[kept])
    each = at(weights, kept) if weights.size else ones(len(kept), weights.dtype)
    sums = ones(len(cells), weights.dtype) if binary_output else summed(each, there, len(cells))
    size = [*numbers(dense_shape)[: rows.shape[1]], length]
    return Tensor(cells), sums, Tensor(np.array(size, np.int64))
