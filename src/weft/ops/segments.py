"""Operator classes of segments, of sparse matrices given by places and values, and of diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, check_bounds, operator_class
from weft.ops._checks import bools, ints, one_of
from weft.ops._rules import numbers, tensor
from weft.ops.gather import (
    gather,
    scatter_nd,
    unsorted_segment_max,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sum,
)
from weft.ops.index import getitem
from weft.ops.select import masked_fill, where
from weft.ops.shape import reshape, swapaxes
from weft.ops.sparse_operators import FLOATS, INDICES, INTEGERS, inside, known, of_type, summed

# -- segments ----------------------------------------------------------------------------------------------------------


def _segments(name: str, reduce: Callable[[Any, Any, int], Any], empty: float | None) -> Callable[..., Any]:
    """The operation that reduces the rows of each segment of sorted ids; `empty` is the result of segments of none."""

    def compute(input_x: Any, segment_ids: Any) -> Any:
        ids = np.asarray(tensor(segment_ids).concrete(f"{name} (the size of its result)"))
        if ids.ndim != 1 or input_x.ndim < 1 or ids.shape[0] != input_x.shape[0]:
            raise ValueError(f"{name}: ids of shape {ids.shape} do not fit a tensor of shape {input_x.shape}")
        if ids.dtype.kind not in "iu":
            raise TypeError(f"{name}: ids are integers, not {segment_ids.dtype}")
        if ids.size and (ids[0] < 0 or np.any(np.diff(ids) < 0)):
            raise ValueError(f"{name}: ids must be sorted and not negative")
        count = int(ids[-1]) + 1 if ids.size else 0
        found = reduce(input_x, segment_ids, count)
        sizes = np.bincount(ids, minlength=count)
        if empty is None:
            divisor = np.maximum(sizes, 1).reshape(-1, *[1] * (input_x.ndim - 1))
            return (found / Tensor(divisor, found.dtype)).astype(found.dtype)
        if not sizes.all():
            missing = Tensor((sizes == 0).reshape(-1, *[1] * (input_x.ndim - 1)))
            found = masked_fill(found, missing, empty)
        return found

    compute.__doc__ = f"{name[7:]} of the rows of each segment: ``{name}()(input_x, segment_ids)``, of sorted ids."
    return compute


SegmentSum = operator_class("SegmentSum", _segments("SegmentSum", unsorted_segment_sum, 0))
SegmentMean = operator_class("SegmentMean", _segments("SegmentMean", unsorted_segment_sum, None))
SegmentMax = operator_class("SegmentMax", _segments("SegmentMax", unsorted_segment_max, 0))
SegmentMin = operator_class("SegmentMin", _segments("SegmentMin", unsorted_segment_min, 0))
SegmentProd = operator_class("SegmentProd", _segments("SegmentProd", unsorted_segment_prod, 1))


# -- segments of rows that are taken -----------------------------------------------------------------------------------


def _means(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.maximum(sizes, 1)


def _roots(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.sqrt(np.maximum(sizes, 1))


def _of_taken(
    kind: str, divisors: Callable[..., Any] | None, what: str, numbered: bool = False, gaps: bool = False
) -> type:
    """Declare the operator of rows that are taken and reduced by segments.

    Args:
        kind: what its name ends in.
        divisors: what sums are divided by, of the sizes of segments.
        what: how it reduces.
        numbered: whether the number of segments is given.
        gaps: whether there may be segments of no rows; ids are of the type of indices then.
    """
    name = f"SparseSegment{kind}"

    def reduced(x: Any, indices: Any, segment_ids: Any, wanted: int | None) -> Tensor:
        of_type(name, INTEGERS + FLOATS if divisors is None else FLOATS, x=x)
        of_type(name, INDICES, indices=indices)
        of_type(name, (indices.dtype,) if gaps else INDICES, segment_ids=segment_ids)
        if x.ndim < 1 or indices.ndim != 1 or indices.shape != segment_ids.shape or not indices.size:
            raise ValueError(
                f"{name}: indices of shape {indices.shape} and ids of shape {segment_ids.shape} must be as many, and "
                f"at least one, and x must have rows, not shape {x.shape}"
            )
        ids = known(name, segment_ids)
        apart = np.diff(ids)
        if ids[0] < 0 or (apart < 0).any():
            raise ValueError(f"{name}: ids must be sorted and not negative")
        if not (numbered or gaps) and (ids[0] or (apart > 1).any()):
            raise ValueError(f"{name}: ids must start from 0 and leave no number out")
        count = int(ids[-1]) + 1 if wanted is None else wanted
        if ids[-1] >= count:
            raise ValueError(f"{name}: there are {count} segments, which id {ids[-1]} is past")
        inside(name, indices, x.shape[0])
        sums = summed(gather(x, indices, 0), ids, count)
        if divisors is None:
            return sums
        sizes = divisors(np.bincount(ids, minlength=count)).reshape(-1, *[1] * (x.ndim - 1))
        return sums / Tensor(sizes, x.dtype)

    if numbered:

        def compute(x: Any, indices: Any, segment_ids: Any, num_segments: Any) -> Tensor:
            if isinstance(num_segments, Tensor):
                of_type(name, INDICES, num_segments=num_segments)
            counts = numbers(num_segments)
            if len(counts) != 1 or counts[0] < 1:
                raise ValueError(f"{name}: num_segments must be a positive number, not {counts}")
            return reduced(x, indices, segment_ids, counts[0])

    else:

        def compute(x: Any, indices: Any, segment_ids: Any) -> Tensor:  # type: ignore[misc]
            return reduced(x, indices, segment_ids, None)

    compute.__doc__ = f"{what} of the rows that are taken for each segment, of sorted ids."
    return operator_class(name, compute)


SparseSegmentSum = _of_taken("Sum", None, "Sums")
SparseSegmentSumWithNumSegments = _of_taken("SumWithNumSegments", None, "Sums", numbered=True)
SparseSegmentMean = _of_taken("Mean", _means, "Means", gaps=True)
SparseSegmentMeanWithNumSegments = _of_taken("MeanWithNumSegments", _means, "Means", numbered=True)
_SCALED: Final = "Sums, divided by the roots of their numbers,"
SparseSegmentSqrtN = _of_taken("SqrtN", _roots, _SCALED)
SparseSegmentSqrtNWithNumSegments = _of_taken("SqrtNWithNumSegments", _roots, _SCALED, numbered=True)


# -- places and values -------------------------------------------------------------------------------------------------


def _check_sparse(name: str, indices: Any, values: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(indices, Tensor) or not isinstance(values, Tensor):
        raise TypeError(f"{name}: places and values must be tensors")
    if indices.ndim != 2 or values.ndim != 1 or indices.shape != (values.shape[0], len(shape)):
        raise ValueError(
            f"{name}: places of shape {indices.shape} and values of shape {values.shape} do not fit a shape of {shape}"
        )
    check_bounds(indices, shape, f"{name}: there is no place {{}}", least=0)


@as_operator
def SparseToDense(indices: Tensor, values: Tensor, sparse_shape: Any) -> Tensor:
    """Zeros with values at places."""
    shape = numbers(sparse_shape)
    _check_sparse("SparseToDense", indices, values, shape)
    return scatter_nd(indices, values, shape)


@as_operator
def SparseTensorDenseAdd(x1_indices: Tensor, x1_values: Tensor, x1_shape: Any, x2: Tensor) -> Tensor:
    """A tensor with values added at places."""
    shape = numbers(x1_shape)
    _check_sparse("SparseTensorDenseAdd", x1_indices, x1_values, shape)
    if x2.shape != shape:
        raise ValueError(f"SparseTensorDenseAdd: shapes {shape} and {x2.shape} differ")
    return x2 + scatter_nd(x1_indices, x1_values, shape)


@as_operator
def SparseTensorDenseMatmul(
    indices: Tensor,
    values: Tensor,
    sparse_shape: Any,
    dense: Tensor,
    *,
    adjoint_st: bool = False,
    adjoint_dt: bool = False,
) -> Tensor:
    """The product of a sparse matrix and a dense one.

    Args:
        adjoint_st: whether the sparse matrix is transposed before, as it is where elements are complex, too.
        adjoint_dt: whether the dense matrix is, and its elements are conjugated.
    """
    name = "SparseTensorDenseMatmul"
    bools(name, adjoint_st=adjoint_st, adjoint_dt=adjoint_dt)
    if indices.dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"{name}: indices must be int32 or int64, not {indices.dtype}")
    if values.dtype is not dense.dtype:
        raise TypeError(f"{name}: values of {values.dtype} with a matrix of {dense.dtype}")
    shape = numbers(sparse_shape)
    _check_sparse(name, indices, values, shape)
    if len(shape) != 2 or dense.ndim != 2:
        raise ValueError(f"{name} takes matrices, not shapes {shape} and {dense.shape}")
    if adjoint_dt:
        dense = swapaxes(dense.conj() if dense.is_complex() else dense, 0, 1)
    rows, columns = getitem(indices, (slice(None), int(adjoint_st))), getitem(indices, (slice(None), 1 - adjoint_st))
    if dense.shape[0] != shape[1 - adjoint_st]:
        raise ValueError(f"{name}: shapes {shape} and {dense.shape} do not fit")
    products = gather(dense, columns, 0) * reshape(values, (-1, 1))
    return unsorted_segment_sum(products, rows, shape[int(adjoint_st)])


@as_operator
def SparseSlice(indices: Tensor, values: Tensor, shape: Any, start: Any, size: Any) -> Any:
    """The part of a sparse tensor in a box: places, values and shape."""
    places = np.asarray(indices.concrete("SparseSlice (the size of its result)"))
    whole, first, extent = numbers(shape), np.array(numbers(start)), np.array(numbers(size))
    _check_sparse("SparseSlice", indices, values, whole)
    if first.shape != extent.shape or len(first) != len(whole):
        raise ValueError(f"SparseSlice: a box at {first} of {extent} does not fit a shape of {whole}")
    (kept,) = np.nonzero(np.all((places >= first) & (places < first + extent), 1))
    left = np.minimum(extent, np.array(whole) - first)
    return Tensor(places[kept] - first), getitem(values, Tensor(kept)), Tensor(np.maximum(left, 0).astype(np.int64))


@as_operator
def Coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> Any:
    """Places (dimensions, values) in order, each once, the sums of the values there, and the shape."""
    places = np.asarray(x_indices.concrete("Coalesce (the size of its result)"))
    if places.ndim != 2 or x_values.shape != places.shape[1:] or x_shape.shape != places.shape[:1]:
        raise ValueError(
            f"Coalesce: places of shape {places.shape}, values of shape {x_values.shape} and a shape of "
            f"{x_shape.shape} do not fit"
        )
    found, inverse = np.unique(places, axis=1, return_inverse=True)
    sums = unsorted_segment_sum(x_values, Tensor(inverse.reshape(-1).astype(np.int32)), found.shape[1])
    return Tensor(found), sums, x_shape


# -- diagonals ---------------------------------------------------------------------------------------------------------

_ALIGNMENTS: Final = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(name: str, k: Any, align: Any) -> tuple[int, int]:
    """The lowest and the highest of the diagonals."""
    one_of(name, _ALIGNMENTS, align=align)
    found = numbers(k)
    if len(found) not in (1, 2) or found[0] > found[-1]:
        raise ValueError(f"{name}: diagonals are a number, or a lower and a higher one, not {found}")
    return found[0], found[-1]


def _table(rows: int, columns: int, low: int, high: int, align: str) -> tuple[Any, Any, Any]:
    """For each place of a matrix: whether a diagonal is there, and the row and column in the table of diagonals."""
    i, j = np.arange(rows)[:, None], np.arange(columns)[None, :]
    offset = j - i
    lengths = np.minimum(rows + np.minimum(offset, 0), columns - np.maximum(offset, 0))
    longest = min(rows + min(high, 0), columns - max(low, 0))
    above, below = align.split("_")
    right = np.where(offset >= 0, above == "RIGHT", below == "RIGHT")
    at = np.where(offset >= 0, i, j) + np.where(right, longest - lengths, 0)
    there = (offset >= low) & (offset <= high)
    return there, np.where(there, high - offset, 0), np.where(there, at, 0)


@as_operator
def MatrixDiagV3(
    x: Tensor, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, *, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices with diagonals, and a number elsewhere.

    Args:
        align: the side of the table of diagonals at which those above and those below begin.
    """
    name = "MatrixDiagV3"
    low, high = _band(name, k, align)
    count = high - low + 1
    if x.ndim < (1 if low == high else 2) or (low != high and x.shape[-2] != count):
        raise ValueError(f"{name}: diagonals {low} to {high} do not fit a tensor of shape {x.shape}")
    longest = x.shape[-1]
    least = longest - min(high, 0), longest + max(low, 0)
    (rows,), (columns,) = numbers(num_rows), numbers(num_cols)
    if rows == -1 and columns == -1:
        rows = columns = max(least)
    rows, columns = (least[0] if rows == -1 else rows), (least[1] if columns == -1 else columns)
    if rows < least[0] or columns < least[1] or (rows != least[0] and columns != least[1]):
        raise ValueError(f"{name}: {rows} rows and {columns} columns do not fit diagonals of {longest} elements")
    there, row, at = _table(rows, columns, low, high, align)
    lead = x.shape[: x.ndim - (1 if low == high else 2)]
    flat = reshape(x, (*lead, count * longest))
    found = gather(flat, Tensor(row * longest + at), len(lead))
    return where(Tensor(there), found, tensor(padding_value).astype(x.dtype))


@as_operator
def MatrixDiagPartV3(x: Tensor, k: Any = 0, padding_value: Any = 0, *, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals of matrices, as a table if they are several.

    Args:
        align: the side of the table at which those above and those below begin.
    """
    name = "MatrixDiagPartV3"
    low, high = _band(name, k, align)
    if x.ndim < 2:
        raise ValueError(f"{name} takes matrices, not shape {x.shape}")
    *lead, rows, columns = x.shape
    if not -rows < low <= high < columns:
        raise ValueError(f"{name}: matrices of {rows} by {columns} have no diagonals {low} to {high}")
    there, row, at = _table(rows, columns, low, high, align)
    longest = min(rows + min(high, 0), columns - max(low, 0))
    source = np.full((high - low + 1, longest), -1)
    source[row[there], at[there]] = np.arange(rows * columns).reshape(rows, columns)[there]
    if low == high:
        source = source[0]
    flat = reshape(x, (*lead, rows * columns))
    found = gather(flat, Tensor(np.maximum(source, 0)), len(lead))
    return where(Tensor(source >= 0), found, tensor(padding_value).astype(x.dtype))


@as_operator
def MatrixSetDiagV3(x: Tensor, diagonal: Tensor, k: Any = 0, *, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with other diagonals.

    Args:
        align: the side of the table of diagonals at which those above and those below begin.
    """
    name = "MatrixSetDiagV3"
    low, high = _band(name, k, align)
    if x.ndim < 2:
        raise ValueError(f"{name} takes matrices, not shape {x.shape}")
    *lead, rows, columns = x.shape
    if not -rows < low <= high < columns:
        raise ValueError(f"{name}: matrices of {rows} by {columns} have no diagonals {low} to {high}")
    longest = min(rows + min(high, 0), columns - max(low, 0))
    wanted = (*lead, longest) if low == high else (*lead, high - low + 1, longest)
    if diagonal.shape != wanted:
        raise ValueError(f"{name}: diagonals have the shape {wanted} here, not {diagonal.shape}")
    there, row, at = _table(rows, columns, low, high, align)
    flat = reshape(diagonal, (*lead, (high - low + 1) * longest))
    return where(Tensor(there), gather(flat, Tensor(row * longest + at), len(lead)), x)


@as_operator
def FillDiagonal(input_x: Tensor, *, fill_value: float, wrap: bool = False) -> Tensor:
    """A tensor with a number on the main diagonal.

    Args:
        fill_value: the number.
        wrap: whether the diagonal of a tall matrix begins again below.
    """
    if not isinstance(fill_value, (int, float)):
        raise TypeError(f"FillDiagonal: fill_value must be a number, not {type(fill_value).__name__}")
    if input_x.ndim < 2 or (input_x.ndim > 2 and len(set(input_x.shape)) > 1):
        raise ValueError(f"FillDiagonal takes matrices or equal sizes, not shape {input_x.shape}")
    mask = np.zeros(input_x.shape, bool)
    np.fill_diagonal(mask, True, wrap)
    return masked_fill(input_x, Tensor(mask), fill_value)


@as_operator
def UnravelIndex(indices: Any, dims: Any) -> Tensor:
    """The coordinates of flat positions in a shape, one row for each dimension."""
    sizes = numbers(dims)
    given = tensor(indices)
    if given.ndim > 1 or min(sizes) < 1:
        raise ValueError(f"UnravelIndex: positions of shape {given.shape} and a shape of {sizes} do not fit")
    total = int(np.prod(sizes))
    check_bounds(given, total, f"UnravelIndex: there is no position {{}} in a shape of {sizes}", least=0)
    steps = np.cumprod([1, *sizes[:0:-1]])[::-1]
    table = Tensor(np.ascontiguousarray(steps).reshape(-1, *[1] * given.ndim), given.dtype)
    limits = Tensor(np.array(sizes).reshape(-1, *[1] * given.ndim), given.dtype)
    return (given // table % limits).astype(given.dtype)


def _triangle(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*, row: int, col: int, offset: int, dtype: Any) -> Tensor:
        ints(name, row=row, col=col, offset=offset)
        if min(row, col) < 0:
            raise ValueError(f"{name}: a matrix of {row} by {col} does not exist")
        if dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"{name}: dtype must be int32 or int64, not {dtype}")
        return Tensor(np.stack(of(row, offset, col)), dtype)

    side = "lower" if name == "TrilIndices" else "upper"
    compute.__doc__ = f"""The rows and columns of the {side} triangle of a matrix.

    Args:
        row: number of rows.
        col: number of columns.
        offset: the diagonal at which the triangle ends.
        dtype: element type.
    """
    return compute


_TRIANGLE: Final = "row, col, offset=0, dtype=dtypes.int32"
TrilIndices = operator_class("TrilIndices", _triangle("TrilIndices", np.tril_indices), _TRIANGLE)
TriuIndices = operator_class("TriuIndices", _triangle("TriuIndices", np.triu_indices), _TRIANGLE)
