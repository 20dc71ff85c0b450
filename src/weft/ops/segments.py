"""Segments of rows, sparse matrices given by places and values, and diagonals, mostly as operator classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from weft.core import Tensor, as_operator, check_bounds, operator_class, shows
from weft.ops._checks import bools, index_types, ints, one_of, tensors
from weft.ops._rules import known, numbers, tensor
from weft.ops.create import full
from weft.ops.gather import (
    gather,
    scatter_nd,
    unsorted_segment_max,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sum,
)
from weft.ops.index import getitem
from weft.ops.math import maximum
from weft.ops.select import masked_fill, where
from weft.ops.shape import reshape, swapaxes
from weft.ops.sparse_operators import FLOATS, INDICES, INTEGERS, inside, of_type, one_each, steps, summed

__all__ = ["coalesce", "sparse_segment_mean"]

# -- segments ----------------------------------------------------------------------------------------------------------


def _segments(word: str, reduce: Callable[[Any, Any, int], Any], empty: float | None) -> None:
    """Declare the operator that reduces the rows of each segment of sorted ids.

    Args:
        word: what its name ends in.
        reduce: the reduction.
        empty: the result of segments of no rows; None where sums are to be divided by the numbers of rows.
    """
    name = f"Segment{word}"

    def compute(input_x: Any, segment_ids: Any) -> Any:
        ids = known(name, tensor(segment_ids))
        if ids.ndim != 1 or input_x.ndim < 1 or ids.shape[0] != input_x.shape[0]:
            raise ValueError(f"{name}: ids of shape {ids.shape} do not fit a tensor of shape {input_x.shape}")
        if ids.dtype.kind not in "iu":
            raise TypeError(f"{name}: ids are integers, not {segment_ids.dtype}")
        _check_sorted(name, ids)
        count = int(ids[-1]) + 1 if ids.size else 0
        found = reduce(input_x, segment_ids, count)
        sizes = np.bincount(ids, minlength=count).reshape(-1, *[1] * (input_x.ndim - 1))
        if empty is None:
            return (found / Tensor(np.maximum(sizes, 1), found.dtype)).astype(found.dtype)
        return found if sizes.all() else masked_fill(found, Tensor(sizes == 0), empty)

    compute.__doc__ = f"{word} of the rows of each segment: ``{name}()(input_x, segment_ids)``, of sorted ids."
    operator_class(name, compute)


def _check_sorted(name: str, ids: np.ndarray[Any, Any]) -> None:
    if ids.size and (ids[0] < 0 or (np.diff(ids) < 0).any()):
        raise ValueError(f"{name}: ids must be sorted and not negative")


_segments("Sum", unsorted_segment_sum, 0)
_segments("Mean", unsorted_segment_sum, None)
_segments("Max", unsorted_segment_max, 0)
_segments("Min", unsorted_segment_min, 0)
_segments("Prod", unsorted_segment_prod, 1)


# -- segments of rows that are taken -----------------------------------------------------------------------------------


def _of_taken(kind: str, power: float, what: str, numbered: bool = False, gaps: bool = False) -> None:
    """Declare the operator of rows that are taken and summed by segments.

    Args:
        kind: what its name ends in.
        power: that of the number of rows which divides; 0 for plain sums, which may be of integers.
        what: how it reduces.
        numbered: whether the number of segments is given.
        gaps: whether there may be segments of no rows; ids are of the type of indices then.
    """
    name = f"SparseSegment{kind}"

    def compute(x: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Tensor:
        if (num_segments is None) is numbered:
            raise TypeError(f"{name} takes {3 + numbered} operands")
        if isinstance(num_segments, Tensor):
            of_type(name, INDICES, num_segments=num_segments)
        of_type(name, FLOATS if power else INTEGERS + FLOATS, x=x)
        of_type(name, INDICES, indices=indices)
        of_type(name, (indices.dtype,) if gaps else INDICES, segment_ids=segment_ids)
        if x.ndim < 1 or indices.ndim != 1 or indices.shape != segment_ids.shape or not indices.size:
            raise ValueError(
                f"{name}: indices of shape {indices.shape} and ids of shape {segment_ids.shape} must be as many, and "
                f"at least one, and x must have rows, not shape {x.shape}"
            )
        ids = known(name, segment_ids)
        _check_sorted(name, ids)
        if not (numbered or gaps) and (ids[0] or (np.diff(ids) > 1).any()):
            raise ValueError(f"{name}: ids must start from 0 and leave no number out")
        counts = numbers(num_segments) if numbered else (int(ids[-1]) + 1,)
        if len(counts) != 1 or counts[0] < 1:
            raise ValueError(f"{name}: num_segments must be a positive number, not {counts}")
        (count,) = counts
        if ids[-1] >= count:
            raise ValueError(f"{name}: there are {count} segments, which id {ids[-1]} is past")
        inside(name, indices, x.shape[0])
        sums = summed(gather(x, indices, 0), ids, count)
        if not power:
            return sums
        sizes = np.maximum(np.bincount(ids, minlength=count), 1) ** power
        return sums / Tensor(sizes.reshape(-1, *[1] * (x.ndim - 1)), x.dtype)

    compute.__doc__ = f"{what} of the rows that are taken for each segment, of sorted ids."
    operator_class(name, compute)


for _kind, _power, _what in (
    ("Sum", 0, "Sums"), ("Mean", 1, "Means"), ("SqrtN", 0.5, "Sums, divided by the roots of their numbers,"),
):  # fmt: skip
    _of_taken(_kind, _power, _what, gaps=_kind == "Mean")
    _of_taken(f"{_kind}WithNumSegments", _power, _what, numbered=True)


# -- places and values -------------------------------------------------------------------------------------------------


def _sizes(name: str, indices: Any, values: Any, shape: Any) -> tuple[int, ...]:
    """The shape of a sparse tensor whose parts fit each other."""
    sizes = numbers(shape)
    tensors(name, indices=indices, values=values)
    one_each(name, indices, values, sizes)
    check_bounds(indices, sizes, f"{name}: there is no place {{}}", least=0)
    return sizes


@as_operator
def SparseToDense(indices: Tensor, values: Tensor, sparse_shape: Any) -> Tensor:
    """Zeros with values at places."""
    return scatter_nd(indices, values, _sizes("SparseToDense", indices, values, sparse_shape))


@as_operator
def SparseTensorDenseAdd(x1_indices: Tensor, x1_values: Tensor, x1_shape: Any, x2: Tensor) -> Tensor:
    """A tensor with values added at places."""
    shape = _sizes("SparseTensorDenseAdd", x1_indices, x1_values, x1_shape)
    if x2.shape != shape:
        raise ValueError(f"SparseTensorDenseAdd: shapes {shape} and {x2.shape} differ")
    return x2 + scatter_nd(x1_indices, x1_values, shape)


@as_operator
def SparseTensorDenseMatmul(
    indices: Any, values: Any, sparse_shape: Any, dense: Any, *, adjoint_st: bool = False, adjoint_dt: bool = False
) -> Tensor:
    """The product of a sparse matrix and a dense one.

    Args:
        adjoint_st: whether the sparse matrix is transposed before, as it is where elements are complex, too.
        adjoint_dt: whether the dense matrix is, and its elements are conjugated.
    """
    name = "SparseTensorDenseMatmul"
    bools(name, adjoint_st=adjoint_st, adjoint_dt=adjoint_dt)
    of_type(name, INDICES, indices=indices)
    of_type(name, (), values=values, dense=dense)
    shape = _sizes(name, indices, values, sparse_shape)
    if len(shape) != 2 or dense.ndim != 2:
        raise ValueError(f"{name} takes matrices, not shapes {shape} and {dense.shape}")
    if adjoint_dt:
        dense = swapaxes(dense.conj(), 0, 1)
    row, column = (1, 0) if adjoint_st else (0, 1)
    if dense.shape[0] != shape[column]:
        raise ValueError(f"{name}: shapes {shape} and {dense.shape} do not fit")
    products = gather(dense, indices[:, column], 0) * reshape(values, (-1, 1))
    return unsorted_segment_sum(products, indices[:, row], shape[row])


@as_operator
def SparseSlice(indices: Tensor, values: Tensor, shape: Any, start: Any, size: Any) -> Any:
    """The part of a sparse tensor in a box: places, values and shape."""
    places, whole = known("SparseSlice", indices), _sizes("SparseSlice", indices, values, shape)
    first, extent = np.array(numbers(start)), np.array(numbers(size))
    if first.shape != extent.shape or len(first) != len(whole):
        raise ValueError(f"SparseSlice: a box at {first} of {extent} does not fit a shape of {whole}")
    (kept,) = np.nonzero(np.all((places >= first) & (places < first + extent), 1))
    left = np.minimum(extent, np.array(whole) - first)
    return Tensor(places[kept] - first), getitem(values, Tensor(kept)), Tensor(np.maximum(left, 0).astype(np.int64))


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
    """The elements of a sparse tensor, those at one place added, in order of their places.

    Args:
        x_indices: the place of each element, (dimensions, n).
        x_values: the elements, (n,).
        x_shape: the shape of the whole tensor, (dimensions,).

    Returns:
        tuple[Tensor, Tensor, Tensor]: places, elements and shape.

    Raises:
        TypeError: an argument is no tensor.
        ValueError: the shapes do not fit.
    """
    tensors("coalesce", x_indices=x_indices, x_values=x_values, x_shape=x_shape)
    places = known("coalesce", x_indices)
    if places.ndim != 2 or x_values.shape != places.shape[1:] or x_shape.shape != places.shape[:1]:
        raise ValueError(
            f"coalesce: places of shape {places.shape}, values of shape {x_values.shape} and a shape of "
            f"{x_shape.shape} do not fit"
        )
    found, inverse = np.unique(places, axis=1, return_inverse=True)
    return Tensor(found), summed(x_values, inverse.reshape(-1), found.shape[1]), x_shape


operator_class("Coalesce", coalesce)


# -- diagonals ---------------------------------------------------------------------------------------------------------

_ALIGNMENTS: Final = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


class _Diagonals(NamedTuple):
    """Neighbouring diagonals of matrices, whose elements are in a table: a row each, the highest first."""

    low: int
    high: int
    rows: int
    columns: int
    align: str

    @property
    def longest(self) -> int:
        """How long the longest diagonal is."""
        return min(self.rows + min(self.high, 0), self.columns - max(self.low, 0))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table; that of a single diagonal has no rows."""
        return (self.longest,) if self.low == self.high else (self.high - self.low + 1, self.longest)

    def places(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """For each place of a matrix: whether a diagonal is there, and where in the flat table its element is."""
        i, j = np.arange(self.rows)[:, None], np.arange(self.columns)[None, :]
        offset = j - i
        lengths = np.minimum(self.rows + np.minimum(offset, 0), self.columns - np.maximum(offset, 0))
        above, below = self.align.split("_")
        right = np.where(offset >= 0, above == "RIGHT", below == "RIGHT")
        at = np.where(offset >= 0, i, j) + np.where(right, self.longest - lengths, 0)
        there = (offset >= self.low) & (offset <= self.high)
        return there, np.where(there, (self.high - offset) * self.longest + at, 0)

    def spread(self, table: Tensor, others: Tensor) -> Tensor:
        """Matrices with elements of tables on the diagonals, and others elsewhere."""
        there, places = self.places()
        lead = table.shape[: table.ndim - len(self.shape)]
        return where(Tensor(there), gather(reshape(table, (*lead, -1)), Tensor(places), len(lead)), others)


def _band(name: str, k: Any, align: Any) -> tuple[int, int]:
    """The lowest and the highest of the diagonals."""
    one_of(name, _ALIGNMENTS, align=align)
    found = numbers(k)
    if len(found) not in (1, 2) or found[0] > found[-1]:
        raise ValueError(f"{name}: diagonals are a number, or a lower and a higher one, not {found}")
    return found[0], found[-1]


def _diagonals_of(name: str, x: Tensor, k: Any, align: Any) -> _Diagonals:
    """Diagonals that matrices have."""
    low, high = _band(name, k, align)
    if x.ndim < 2:
        raise ValueError(f"{name} takes matrices, not shape {x.shape}")
    rows, columns = x.shape[-2:]
    if not -rows < low <= high < columns:
        raise ValueError(f"{name}: matrices of {rows} by {columns} have no diagonals {low} to {high}")
    return _Diagonals(low, high, rows, columns, align)


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
    if x.ndim < (1 if low == high else 2) or (low != high and x.shape[-2] != high - low + 1):
        raise ValueError(f"{name}: diagonals {low} to {high} do not fit a tensor of shape {x.shape}")
    longest = x.shape[-1]
    least = longest - min(high, 0), longest + max(low, 0)
    (rows,), (columns,) = numbers(num_rows), numbers(num_cols)
    if rows == -1 and columns == -1:
        rows = columns = max(least)
    rows, columns = (least[0] if rows == -1 else rows), (least[1] if columns == -1 else columns)
    if rows < least[0] or columns < least[1] or (rows != least[0] and columns != least[1]):
        raise ValueError(f"{name}: {rows} rows and {columns} columns do not fit diagonals of {longest} elements")
    return _Diagonals(low, high, rows, columns, align).spread(x, tensor(padding_value).astype(x.dtype))


@as_operator
def MatrixDiagPartV3(x: Tensor, k: Any = 0, padding_value: Any = 0, *, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals of matrices, as a table if they are several.

    Args:
        align: the side of the table at which those above and those below begin.
    """
    diagonals = _diagonals_of("MatrixDiagPartV3", x, k, align)
    there, places = diagonals.places()
    source = np.full(diagonals.shape, -1)
    source.flat[places[there]] = np.flatnonzero(there)
    lead = x.shape[:-2]
    found = gather(reshape(x, (*lead, -1)), Tensor(np.maximum(source, 0)), len(lead))
    return where(Tensor(source >= 0), found, tensor(padding_value).astype(x.dtype))


@as_operator
def MatrixSetDiagV3(x: Tensor, diagonal: Tensor, k: Any = 0, *, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with other diagonals.

    Args:
        align: the side of the table of diagonals at which those above and those below begin.
    """
    return set_diagonals("MatrixSetDiagV3", x, diagonal, k, align)


def set_diagonals(name: str, x: Tensor, diagonal: Tensor, k: Any, align: str) -> Tensor:
    """What `MatrixSetDiagV3` computes; `name` is the operation that messages name."""
    diagonals = _diagonals_of(name, x, k, align)
    wanted = (*x.shape[:-2], *diagonals.shape)
    if diagonal.shape != wanted:
        raise ValueError(f"{name}: diagonals have the shape {wanted} here, not {diagonal.shape}")
    return diagonals.spread(diagonal, x)


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
    sizes, given = numbers(dims), tensor(indices)
    if given.ndim > 1 or min(sizes) < 1:
        raise ValueError(f"UnravelIndex: positions of shape {given.shape} and a shape of {sizes} do not fit")
    check_bounds(given, int(np.prod(sizes)), f"UnravelIndex: there is no position {{}} in a shape of {sizes}", least=0)
    apart, limits = (
        Tensor(each.reshape(-1, *[1] * given.ndim), given.dtype) for each in (steps(sizes), np.array(sizes))
    )
    return (given // apart % limits).astype(given.dtype)


def _triangle(name: str, side: str, of: Callable[..., Any]) -> None:
    def compute(row: int, col: int, offset: int, dtype: Any) -> Tensor:
        ints(name, row=row, col=col, offset=offset)
        if min(row, col) < 0:
            raise ValueError(f"{name}: a matrix of {row} by {col} does not exist")
        index_types(name, dtype=dtype)
        return Tensor(np.stack(of(row, offset, col)), dtype)

    compute.__doc__ = f"""The rows and columns of the {side} triangle of a matrix.

    Args:
        row: number of rows.
        col: number of columns.
        offset: the diagonal at which the triangle ends.
        dtype: element type.
    """
    operator_class(name, compute, "row, col, offset=0, dtype=dtypes.int32")


_triangle("TrilIndices", "lower", np.tril_indices)
_triangle("TriuIndices", "upper", np.triu_indices)
