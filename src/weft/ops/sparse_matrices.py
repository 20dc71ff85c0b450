"""Operator classes of sparse matrices by rows, of which several may be stacked.

Such a matrix is five tensors: its shape (rows and columns, after the number of matrices where they are stacked), where
the values of each matrix begin, where those of each row begin within its matrix, their columns, and the values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, operator_class
from weft.ops._checks import bools
from weft.ops._rules import known, numbers
from weft.ops.elementwise import conj
from weft.ops.gather import gather, gather_nd, scatter_nd
from weft.ops.joining import concat
from weft.ops.shape import reshape, swapaxes
from weft.ops.sparse_operators import COMPLEX, FLOATS, INDICES, at, fits, inside, of_type, softmax_in, summed, united

_NUMBERS: Final = (dtypes.float32, dtypes.float64, *COMPLEX)
#: the five tensors, and what operands that are matrices are called
_PARTS: Final = ("dense_shape", "batch_pointers", "row_pointers", "col_indices", "values")
_MATRICES: Final = ("x", "x1", "x2")


class _Rows(NamedTuple):
    """Sparse matrices: the matrix, row and column of each value, and the values."""

    places: np.ndarray[Any, Any]
    values: Tensor
    #: number of matrices, rows, columns
    sizes: tuple[int, int, int]
    stacked: bool
    dtype: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes without the number of matrices where there is one."""
        return self.sizes if self.stacked else self.sizes[1:]

    def parts(self) -> tuple[Tensor, ...]:
        """The five tensors, of values by rows."""
        matrices, height, _ = self.sizes
        counts = np.zeros((matrices, height), np.int64)
        np.add.at(counts, tuple(self.places[:, :2].T), 1)
        rows = np.concatenate([np.zeros((matrices, 1), np.int64), np.cumsum(counts, 1)], 1).reshape(-1)
        structure = (np.array(self.shape), np.cumsum([0, *counts.sum(1)]), rows, self.places[:, 2])
        return (*(Tensor(np.ascontiguousarray(each), self.dtype) for each in structure), self.values)

    def turned(self, transposed: bool, adjoint: bool) -> _Rows:
        """With rows for columns if either is said, and conjugated values for the latter."""
        if not (transposed or adjoint):
            return self
        places = self.places[:, [0, 2, 1]]
        order = np.lexsort(places.T[::-1])
        values = at(self.values, order)
        matrices, height, width = self.sizes
        turned = self._replace(places=places[order], values=values, sizes=(matrices, width, height))
        return turned._replace(values=conj(values)) if adjoint else turned


def _of_matrices(init: str = "", kinds: Any = _NUMBERS) -> Callable[[Callable[..., Any]], type]:
    """Declare the operator of a function some of whose operands are sparse matrices: five tensors each in calls.

    Args:
        init: parameters of the constructor.
        kinds: element types of values; none for any.
    """

    def declare(function: Any) -> type:
        name, code = function.__name__, function.__code__
        matrices = {each: [f"{each}_{part}" for part in _PARTS] for each in code.co_varnames if each in _MATRICES}
        operands = code.co_varnames[: code.co_argcount]
        names = [*itertools.chain(*(matrices.get(each, [each]) for each in operands))]

        def compute(*given: Any, **named: Any) -> Any:
            everything = dict(zip(names, given, strict=False)) | named
            if len(given) > len(names) or not everything.keys() >= {*names}:
                raise TypeError(f"{name} takes {len(names)} operands: {', '.join(names)}")
            for matrix, parts in matrices.items():
                everything[matrix] = _rows(name, kinds, *[everything.pop(part) for part in parts])
            return function(**everything)

        compute.__doc__ = function.__doc__
        return operator_class(name, compute, init)

    return declare


def _rows(name: str, kinds: Any, shape: Any, batches: Any, rows: Any, columns: Any, values: Any) -> _Rows:
    """Sparse matrices of which the five tensors are given.

    Raises:
        TypeError: a tensor is of another type.
        ValueError: they do not fit.
    """
    of_type(name, INDICES, dense_shape=shape, batch_pointers=batches, row_pointers=rows, col_indices=columns)
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


@_of_matrices()
def CSRSparseMatrixToDense(x: _Rows) -> Tensor:
    """The matrices with their zeros."""
    return reshape(scatter_nd(Tensor(x.places), x.values, x.sizes), x.shape)


@_of_matrices()
def CSRSparseMatrixToSparseTensor(x: _Rows) -> Any:
    """The places of the values, the values and the shape."""
    places = np.ascontiguousarray(x.places if x.stacked else x.places[:, 1:])
    return Tensor(places, x.dtype), x.values, Tensor(np.array(x.shape), x.dtype)


@as_operator
def DenseToCSRSparseMatrix(dense_input: Any, indices: Any) -> Any:
    """The elements of matrices at places that ascend, by rows."""
    name = "DenseToCSRSparseMatrix"
    of_type(name, _NUMBERS, dense_input=dense_input)
    of_type(name, INDICES, indices=indices)
    if dense_input.ndim not in (2, 3) or indices.ndim != 2 or indices.shape[1] != dense_input.ndim:
        raise ValueError(f"{name}: places of shape {indices.shape} do not fit matrices of {dense_input.shape}")
    inside(name, indices, dense_input.shape)
    return _of_places(name, indices, gather_nd(dense_input, indices), dense_input.shape)


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


@_of_matrices(kinds=())
def SparseMatrixNNZ(x: _Rows) -> Tensor:
    """How many values each matrix has."""
    return Tensor(np.bincount(x.places[:, 0], minlength=x.sizes[0]).astype(np.int32))


@_of_matrices("conjugate=False", ())
def SparseMatrixTranspose(x: _Rows, *, conjugate: bool) -> Any:
    """The matrices with rows for columns.

    Args:
        conjugate: whether values are conjugated.
    """
    bools("SparseMatrixTranspose", conjugate=conjugate)
    return x.turned(True, conjugate).parts()


@_of_matrices("dtype", FLOATS)
def SparseMatrixSoftmax(x: _Rows, *, dtype: Any) -> Any:
    """The softmax of the values of each row.

    Args:
        dtype: the element type of the values.
    """
    if dtype not in FLOATS:
        raise TypeError(f"SparseMatrixSoftmax: dtype must be a type of floats, not {dtype}")
    return x._replace(values=softmax_in(x.values, x.places[:, :2])).parts()


@_of_matrices(
    "transpose_x1=False, transpose_x2=False, adjoint_x1=False, adjoint_x2=False, transpose_output=False, "
    "conjugate_output=False"
)
def SparseMatrixMatMul(
    x1: _Rows,
    x2_dense: Any,
    *,
    transpose_x1: bool,
    transpose_x2: bool,
    adjoint_x1: bool,
    adjoint_x2: bool,
    transpose_output: bool,
    conjugate_output: bool,
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
    of_type(name, _NUMBERS, x1_values=x1.values, x2_dense=x2_dense)
    if x2_dense.ndim != len(x1.shape):
        raise ValueError(f"{name}: a tensor of shape {x2_dense.shape} does not fit a shape of {x1.shape}")
    x1 = x1.turned(transpose_x1, adjoint_x1)
    matrices, height, width = x1.sizes
    dense = x2_dense if x1.stacked else reshape(x2_dense, (1, *x2_dense.shape))
    if transpose_x2 or adjoint_x2:
        dense = swapaxes(conj(dense) if adjoint_x2 else dense, 1, 2)
    if dense.shape[:2] != (matrices, width):
        raise ValueError(f"{name}: matrices of {height} by {width} have no product with those of {dense.shape}")
    number, row, column = x1.places.T
    lines = gather(reshape(dense, (matrices * width, dense.shape[2])), Tensor(number * width + column), 0)
    products = summed(reshape(x1.values, (-1, 1)) * lines, number * height + row, matrices * height)
    found = reshape(products, (*x1.shape[:-1], dense.shape[2]))
    found = swapaxes(found, -2, -1) if transpose_output else found
    return conj(found) if conjugate_output else found


@_of_matrices()
def SparseMatrixAdd(x1: _Rows, x2: _Rows, alpha: Any, beta: Any) -> Any:
    """`alpha` times matrices plus `beta` times others, by rows."""
    name = "SparseMatrixAdd"
    of_type(name, _NUMBERS, x1_values=x1.values, x2_values=x2.values, alpha=alpha, beta=beta)
    if x1.sizes != x2.sizes:
        raise ValueError(f"{name}: the shapes {x1.sizes} and {x2.sizes} differ")
    if alpha.size != 1 or beta.size != 1:
        raise ValueError(f"{name}: alpha and beta must be numbers, not of shapes {alpha.shape} and {beta.shape}")
    places, chosen = united(x1.places, x2.places)
    both = concat((alpha.reshape(1) * x1.values, beta.reshape(1) * x2.values), 0)
    return x1._replace(places=places, values=summed(both, np.concatenate(chosen), len(places))).parts()


@_of_matrices("transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False")
def SparseMatrixSparseMatMul(
    x1: _Rows, x2: _Rows, *, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool
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
    of_type(name, _NUMBERS, x1_values=x1.values, x2_values=x2.values)
    a, b = x1.turned(transpose_a, adjoint_a), x2.turned(transpose_b, adjoint_b)
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
