"""Operator classes of sparse matrices by rows, of which several may be stacked.

Such a matrix is five tensors: its shape (rows and columns, after the number of matrices where they are stacked), where
the values of each matrix begin, where those of each row begin within its matrix, their columns, and the values.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator
from weft.ops._checks import bools, tensors
from weft.ops._rules import numbers
from weft.ops.elementwise import conj
from weft.ops.gather import gather, scatter_nd
from weft.ops.joining import concat
from weft.ops.shape import reshape, swapaxes
from weft.ops.sparse import taken
from weft.ops.sparse_operators import INDICES, at, fits, inside, known, of_type, softmax_of, summed, united

_COMPLEX: Final = (dtypes.complex64, dtypes.complex128)
_NUMBERS: Final = (dtypes.float32, dtypes.float64, *_COMPLEX)


class _Rows(NamedTuple):
    """Sparse matrices: the matrix, row and column of each value, and the values."""

    places: np.ndarray[Any, Any]
    values: Tensor
    #: number of matrices, rows, columns
    sizes: tuple[int, int, int]
    stacked: bool
    dtype: Any

    def parts(self) -> tuple[Tensor, ...]:
        """The five tensors, of values by rows."""
        matrices, height, _ = self.sizes
        counts = np.zeros((matrices, height), np.int64)
        np.add.at(counts, tuple(self.places[:, :2].T), 1)
        rows = np.concatenate([np.zeros((matrices, 1), np.int64), np.cumsum(counts, 1)], 1).reshape(-1)
        begins = np.cumsum([0, *counts.sum(1)])
        shape = np.array(self.sizes if self.stacked else self.sizes[1:])
        structure = (shape, begins, rows, self.places[:, 2])
        return (*(Tensor(np.ascontiguousarray(each), self.dtype) for each in structure), self.values)

    def turned(self, conjugated: bool) -> _Rows:
        """With rows for columns, and conjugated values if said."""
        places = self.places[:, [0, 2, 1]]
        order = np.lexsort(places.T[::-1])
        values = at(self.values, order)
        matrices, height, width = self.sizes
        made = conj(values) if conjugated and values.is_complex() else values
        return self._replace(places=places[order], values=made, sizes=(matrices, width, height))


def _rows(name: str, kinds: Any, shape: Any, batches: Any, rows: Any, columns: Any, values: Any) -> _Rows:
    """Sparse matrices of which the five tensors are given.

    Raises:
        TypeError: a tensor is of another type.
        ValueError: they do not fit.
    """
    of_type(name, INDICES, dense_shape=shape, batch_pointers=batches, row_pointers=rows, col_indices=columns)
    tensors(name, values=values)
    if kinds:
        of_type(name, kinds, values=values)
    given = numbers(shape)
    if len(given) not in (2, 3):
        raise ValueError(f"{name}: a matrix or a stack of them is expected, not a shape of {given}")
    sizes = given if len(given) == 3 else (1, *given)
    matrices, height, width = sizes
    if values.ndim != 1 or columns.shape != values.shape:
        raise ValueError(f"{name}: there are {columns.shape} columns for {values.shape} values")
    if rows.shape != (matrices * (height + 1),) or batches.shape != (matrices + 1,):
        raise ValueError(f"{name}: {rows.shape} begins of rows and {batches.shape} of matrices do not fit {given}")
    counts = np.diff(known(name, rows).astype(np.int64).reshape(matrices, -1), axis=1)
    if (counts < 0).any() or counts.sum() != values.shape[0]:
        raise ValueError(f"{name}: begins of rows must ascend to the number of values, {values.shape[0]}")
    inside(name, columns, width)
    number, row = np.divmod(np.repeat(np.arange(matrices * height), counts.reshape(-1)), max(height, 1))
    places = np.stack([number, row, known(name, columns).astype(np.int64)], 1)
    return _Rows(places, values, (matrices, height, width), len(given) == 3, columns.dtype)


def _one_way(name: str, **given: bool) -> None:
    """Refuse settings that are no bools, and both of two."""
    bools(name, **given)
    if all(given.values()):
        raise ValueError(f"{name}: only one of {' and '.join(given)} may be True")


@as_operator
def CSRSparseMatrixToDense(
    x_dense_shape: Any, x_batch_pointers: Any, x_row_pointers: Any, x_col_indices: Any, x_values: Any
) -> Tensor:
    """The matrices with their zeros."""
    x = _rows(
        "CSRSparseMatrixToDense", _NUMBERS, x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values
    )
    dense = scatter_nd(Tensor(x.places), x.values, x.sizes)
    return dense if x.stacked else reshape(dense, x.sizes[1:])


@as_operator
def CSRSparseMatrixToSparseTensor(
    x_dense_shape: Any, x_batch_pointers: Any, x_row_pointers: Any, x_col_indices: Any, x_values: Any
) -> Any:
    """The places of the values, the values and the shape."""
    name = "CSRSparseMatrixToSparseTensor"
    x = _rows(name, _NUMBERS, x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
    places = np.ascontiguousarray(x.places if x.stacked else x.places[:, 1:])
    return Tensor(places, x.dtype), x.values, x_dense_shape


@as_operator
def DenseToCSRSparseMatrix(dense_input: Any, indices: Any) -> Any:
    """The elements of matrices at places that ascend, by rows."""
    name = "DenseToCSRSparseMatrix"
    of_type(name, _NUMBERS, dense_input=dense_input)
    of_type(name, INDICES, indices=indices)
    if dense_input.ndim not in (2, 3) or indices.ndim != 2 or indices.shape[1] != dense_input.ndim:
        raise ValueError(f"{name}: places of shape {indices.shape} do not fit matrices of {dense_input.shape}")
    inside(name, indices, dense_input.shape)
    return _of_places(name, indices, taken(indices, dense_input), dense_input.shape)


@as_operator
def SparseTensorToCSRSparseMatrix(x_indices: Any, x_values: Any, x_dense_shape: Any) -> Any:
    """Matrices given by places that ascend and values, by rows."""
    name = "SparseTensorToCSRSparseMatrix"
    of_type(name, _NUMBERS, x_values=x_values)
    sizes = fits(name, x_indices, x_values, x_dense_shape, INDICES)
    if len(sizes) not in (2, 3):
        raise ValueError(f"{name}: a matrix or a stack of them is expected, not a shape of {sizes}")
    return _of_places(name, x_indices, x_values, sizes)


def _of_places(name: str, indices: Any, values: Any, shape: tuple[int, ...]) -> Any:
    places = known(name, indices).astype(np.int64)
    stacked = len(shape) == 3
    if not stacked:
        places = np.insert(places, 0, 0, 1)
    sizes: Any = shape if stacked else (1, *shape)
    return _Rows(places, values, sizes, stacked, indices.dtype).parts()


@as_operator
def SparseMatrixNNZ(
    x_dense_shape: Any, x_batch_pointers: Any, x_row_pointers: Any, x_col_indices: Any, x_values: Any
) -> Tensor:
    """How many values each matrix has."""
    x = _rows("SparseMatrixNNZ", (), x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
    return Tensor(np.bincount(x.places[:, 0], minlength=x.sizes[0]).astype(np.int32))


@as_operator
def SparseMatrixTranspose(
    x_dense_shape: Any,
    x_batch_pointers: Any,
    x_row_pointers: Any,
    x_col_indices: Any,
    x_values: Any,
    *,
    conjugate: bool = False,
) -> Any:
    """The matrices with rows for columns.

    Args:
        conjugate: whether values are conjugated.
    """
    name = "SparseMatrixTranspose"
    bools(name, conjugate=conjugate)
    x = _rows(name, (), x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
    return x.turned(conjugate).parts()


@as_operator
def SparseMatrixSoftmax(
    x_dense_shape: Any, x_batch_pointers: Any, x_row_pointers: Any, x_col_indices: Any, x_values: Any, *, dtype: Any
) -> Any:
    """The softmax of the values of each row.

    Args:
        dtype: the element type of the values.
    """
    name = "SparseMatrixSoftmax"
    floats = (dtypes.float16, dtypes.float32, dtypes.float64)
    if dtype not in floats:
        raise TypeError(f"{name}: dtype must be a type of floats, not {dtype}")
    x = _rows(name, floats, x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
    values = softmax_of(x.values, x.places[:, :2])
    return x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, values


@as_operator
def SparseMatrixMatMul(
    x1_dense_shape: Any,
    x1_batch_pointers: Any,
    x1_row_pointers: Any,
    x1_col_indices: Any,
    x1_values: Any,
    x2_dense: Any,
    *,
    transpose_x1: bool = False,
    transpose_x2: bool = False,
    adjoint_x1: bool = False,
    adjoint_x2: bool = False,
    transpose_output: bool = False,
    conjugate_output: bool = False,
) -> Tensor:
    """The products of sparse matrices and dense ones.

    Args:
        transpose_x1: whether the sparse ones are transposed before.
        transpose_x2: whether the dense ones are.
        adjoint_x1: whether the sparse ones are transposed and conjugated.
        adjoint_x2: whether the dense ones are.
        transpose_output: whether the products are transposed.
        conjugate_output: whether they are conjugated.
    """
    name = "SparseMatrixMatMul"
    _one_way(name, transpose_x1=transpose_x1, adjoint_x1=adjoint_x1)
    _one_way(name, transpose_x2=transpose_x2, adjoint_x2=adjoint_x2)
    bools(name, transpose_output=transpose_output, conjugate_output=conjugate_output)
    of_type(name, _NUMBERS, x1_values=x1_values, x2_dense=x2_dense)
    x = _rows(name, _NUMBERS, x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values)
    if transpose_x1 or adjoint_x1:
        x = x.turned(adjoint_x1)
    matrices, height, width = x.sizes
    if x2_dense.ndim != 2 + x.stacked:
        raise ValueError(
            f"{name}: a tensor of shape {x2_dense.shape} does not fit a shape of {x1_dense_shape.tolist()}"
        )
    dense = x2_dense if x.stacked else reshape(x2_dense, (1, *x2_dense.shape))
    if transpose_x2 or adjoint_x2:
        dense = swapaxes(dense, 1, 2)
        dense = conj(dense) if adjoint_x2 and dense.is_complex() else dense
    if dense.shape[:2] != (matrices, width):
        raise ValueError(f"{name}: matrices of {height} by {width} have no product with those of {dense.shape}")
    number, row, column = x.places.T
    lines = gather(reshape(dense, (matrices * width, dense.shape[2])), Tensor(number * width + column), 0)
    products = summed(reshape(x.values, (-1, 1)) * lines, number * height + row, matrices * height)
    found = reshape(products, (matrices, height, dense.shape[2]))
    if transpose_output:
        found = swapaxes(found, 1, 2)
    if conjugate_output and found.is_complex():
        found = conj(found)
    return found if x.stacked else reshape(found, found.shape[1:])


@as_operator
def SparseMatrixAdd(
    x1_dense_shape: Any,
    x1_batch_pointers: Any,
    x1_row_pointers: Any,
    x1_col_indices: Any,
    x1_values: Any,
    x2_dense_shape: Any,
    x2_batch_pointers: Any,
    x2_row_pointers: Any,
    x2_col_indices: Any,
    x2_values: Any,
    alpha: Any,
    beta: Any,
) -> Any:
    """`alpha` times matrices plus `beta` times others, by rows."""
    name = "SparseMatrixAdd"
    of_type(name, _NUMBERS, x1_values=x1_values, x2_values=x2_values, alpha=alpha, beta=beta)
    a = _rows(name, _NUMBERS, x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values)
    b = _rows(name, _NUMBERS, x2_dense_shape, x2_batch_pointers, x2_row_pointers, x2_col_indices, x2_values)
    if a.sizes != b.sizes:
        raise ValueError(f"{name}: the shapes {a.sizes} and {b.sizes} differ")
    if alpha.size != 1 or beta.size != 1:
        raise ValueError(f"{name}: alpha and beta must be numbers, not of shapes {alpha.shape} and {beta.shape}")
    places, (one, other) = united(a.places, b.places)
    both = concat((alpha.reshape(1) * a.values, beta.reshape(1) * b.values), 0)
    return a._replace(places=places, values=summed(both, np.concatenate([one, other]), len(places))).parts()


@as_operator
def SparseMatrixSparseMatMul(
    x1_dense_shape: Any,
    x1_batch_pointers: Any,
    x1_row_pointers: Any,
    x1_col_indices: Any,
    x1_values: Any,
    x2_dense_shape: Any,
    x2_batch_pointers: Any,
    x2_row_pointers: Any,
    x2_col_indices: Any,
    x2_values: Any,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """The products of sparse matrices, by rows.

    Args:
        transpose_a: whether the first ones are transposed before.
        transpose_b: whether the second ones are.
        adjoint_a: whether the first ones are transposed and conjugated.
        adjoint_b: whether the second ones are.
    """
    name = "SparseMatrixSparseMatMul"
    _one_way(name, transpose_a=transpose_a, adjoint_a=adjoint_a)
    _one_way(name, transpose_b=transpose_b, adjoint_b=adjoint_b)
    of_type(name, _NUMBERS, x1_values=x1_values, x2_values=x2_values)
    a = _rows(name, _NUMBERS, x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values)
    b = _rows(name, _NUMBERS, x2_dense_shape, x2_batch_pointers, x2_row_pointers, x2_col_indices, x2_values)
    if transpose_a or adjoint_a:
        a = a.turned(adjoint_a)
    if transpose_b or adjoint_b:
        b = b.turned(adjoint_b)
    matrices, height, width = a.sizes
    if b.sizes[:2] != (matrices, width):
        raise ValueError(f"{name}: matrices of {height} by {width} have no product with those of {b.sizes[1:]}")
    # each value of the first meets those of a row of the second
    rows_of_b = b.places[:, 0] * width + b.places[:, 1]
    wanted = a.places[:, 0] * width + a.places[:, 2]
    begins, ends = (np.searchsorted(rows_of_b, wanted, side) for side in ("left", "right"))
    counts = ends - begins
    left = np.repeat(np.arange(len(wanted)), counts)
    right = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(len(left))
    met = np.concatenate([a.places[left, :2], b.places[right, 2:]], 1)
    places, (there,) = united(met)
    values = summed(at(a.values, left) * at(b.values, right), there, len(places))
    return a._replace(places=places, values=values, sizes=(matrices, height, b.sizes[2])).parts()
