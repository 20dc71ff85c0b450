"""Sparse tensors: the elements that are not 0, with their places."""

from __future__ import annotations

from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, add_method, op, shows, transparent
from weft.errors import NoTensor
from weft.ops.elementwise import abs as absolute
from weft.ops.gather import unsorted_segment_sum
from weft.ops.joining import stack
from weft.ops.sorting import argsort

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "dense_to_sparse_coo", "dense_to_sparse_csr"]

_INDICES = (dtypes.int16, dtypes.int32, dtypes.int64)


@op("ScatterToDense", classes=())
def _dense(indices: Any, values: Any, *, shape: tuple[int, ...]) -> Any:
    """Zeros with values at places; those at one place are added."""
    places = tuple(jnp.moveaxis(indices, -1, 0))
    return jnp.zeros(shape, values.dtype).at[places].add(values, mode="drop")


@op("TakeFromDense", classes=())
def taken(indices: Any, dense: Any) -> Any:
    """The values of a tensor at places."""
    return dense[tuple(jnp.moveaxis(indices, -1, 0))]


@op("EndsOfRows", classes=(), no_gradient="integers")
def ends_of_rows(rows: Any, *, count: int) -> Any:
    """Where the values of each row begin, of the row of each value, which ascends."""
    return jnp.searchsorted(rows, jnp.arange(count + 1), side="left").astype(rows.dtype)


@op("RowsOfPointers", classes=(), no_gradient="integers")
def rows_of(indptr: Any, *, count: int) -> Any:
    """The row of each value, of where the rows begin."""
    return (jnp.searchsorted(indptr, jnp.arange(count), side="right") - 1).astype(indptr.dtype)


def _checked(name: str, indices: Any, values: Any, shape: Any) -> None:
    for what, each in (("indices", indices), ("values", values)):
        if not isinstance(each, Tensor):
            raise TypeError(f"For {name}, {what!r} must be Tensor, but got {type(each)}.")
    if not isinstance(shape, tuple):
        raise TypeError(f"For {name}, 'shape' must be tuple, but got {type(shape)}.")
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
            raise ValueError(f"For {name}, 'shape' must hold positive ints, but got {shape}.")


def _a_summand(name: str, other: Any) -> Tensor:
    """What is added to a sparse matrix: no number, which would fill it up."""
    if not isinstance(other, Tensor):
        raise NoTensor(f"{name}: a matrix is expected as summand, not {type(other).__name__}")
    return other


def _check_type(name: str, what: str, indices: Tensor) -> None:
    if indices.dtype not in _INDICES:
        raise TypeError(
            f"For {name}, the type of {what!r} must be one of [int16, int32, int64], but got {indices.dtype}."
        )


class RowTensor:
    """Some rows of a tensor; all others are 0.

    Args:
        indices: (n,), of ints: which rows.
        values: (n, ...): the rows.
        shape: that of the whole tensor.
        row_tensor: another one, to be copied.

    Raises:
        TypeError: an argument is no Tensor, or no tuple.
        ValueError: there are more or fewer rows than numbers.

    Example:
        >>> rows = RowTensor(Tensor([1]), Tensor([[5.0, 6.0]]), (2, 2))
        >>> print(rows.to_dense())
        [[0. 0.]
         [5. 6.]]
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None) -> None:
        if row_tensor is not None:
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        _checked("RowTensor", indices, values, shape)
        _check_type("RowTensor", "indices", indices)
        if indices.ndim != 1 or values.ndim < 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(f"For RowTensor, there are {values.shape} values for indices of shape {indices.shape}.")
        self.indices = indices
        self.values = values
        self.dense_shape = shape

    @transparent
    def to_dense(self) -> Tensor:
        """The whole tensor."""
        return _dense(self.indices.reshape((-1, 1)), self.values, self.dense_shape)

    def __repr__(self) -> str:
        return f"RowTensor(shape={list(self.dense_shape)}, indices={self.indices!r}, values={self.values!r})"


class _Matrix:
    """What sparse matrices share: elements, each at its place, and a shape."""

    values: Any
    shape: Any

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of elements that there are."""
        return int(self.values.size)

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return int(self.values.itemsize)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @transparent
    def _places(self) -> Tensor:
        """The row and the column of each element."""
        raise NotImplementedError

    @transparent
    def _with(self, values: Any) -> Self:
        """A matrix with other elements at the same places."""
        raise NotImplementedError

    @transparent
    def of_values(self, operation: Any) -> Self:
        """A matrix with what an operation makes of the elements, at the same places.

        Args:
            operation: a function of a tensor.
        """
        return self._with(operation(self.values))

    @transparent
    def abs(self) -> Self:
        """The sizes of the elements."""
        return self._with(absolute(self.values))

    @transparent
    def astype(self, dtype: Any) -> Self:
        """The elements in another type.

        Args:
            dtype: the type.
        """
        return self._with(self.values.astype(dtype))

    @transparent
    def __mul__(self, other: Any) -> Self:
        return self._with(self.values * _at(self._places(), other, self.shape))

    @transparent
    def __truediv__(self, other: Any) -> Self:
        return self._with(self.values / _at(self._places(), other, self.shape))


class COOTensor(_Matrix):
    """A sparse matrix: its elements with the row and column of each.

    Args:
        indices: (n, 2), of ints: the places.
        values: (n,): the elements.
        shape: that of the matrix.
        coo_tensor: another one, to be copied.

    Raises:
        TypeError: an argument is no Tensor, or no tuple.
        ValueError: the shapes do not fit.

    Example:
        >>> matrix = COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3))
        >>> print(matrix.to_dense())
        [[0. 1. 0.]
         [0. 0. 2.]]
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None) -> None:
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        _checked("COOTensor", indices, values, shape)
        if len(shape) != 2:
            raise ValueError(f"For COOTensor, the length of 'shape' must be 2, but got {shape}.")
        if indices.ndim != 2 or indices.shape[1] != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(
                f"For COOTensor, indices of shape (n, 2) and values of shape (n,) are expected, not {indices.shape} "
                f"and {values.shape}."
            )
        _check_type("COOTensor", "indices", indices)
        self.indices = indices
        self.values = values
        self.shape = shape

    def to_tuple(self) -> tuple[Tensor, Tensor, tuple[int, ...]]:
        """The places, the elements and the shape."""
        return self.indices, self.values, self.shape

    @transparent
    def to_dense(self) -> Tensor:
        """The matrix."""
        return _dense(self.indices, self.values, self.shape)

    @transparent
    def _places(self) -> Tensor:
        return self.indices

    @transparent
    def _with(self, values: Any) -> Any:
        return COOTensor(self.indices, values, self.shape)

    @transparent
    def to_csr(self) -> CSRTensor:
        """The matrix by rows."""
        return dense_to_sparse_csr(self.to_dense())

    @transparent
    def coalesce(self) -> COOTensor:
        """The matrix with one element at each place."""
        return dense_to_sparse_coo(self.to_dense())

    @transparent
    def add(self, other: COOTensor, thresh: Any = None) -> COOTensor:
        """The sum with another matrix.

        Args:
            other: the other.
            thresh: elements whose sum is smaller are left out.
        """
        total = self.to_dense() + other.to_dense()
        if thresh is not None:
            total = total * (absolute(total) >= thresh).astype(total.dtype)
        return dense_to_sparse_coo(total)

    @transparent
    def __add__(self, other: Any) -> Any:
        if isinstance(other, COOTensor):
            return self.add(other)
        return self.to_dense() + _a_summand("COOTensor", other)

    @transparent
    def __sub__(self, other: Any) -> Any:
        if isinstance(other, COOTensor):
            return self.add(COOTensor(other.indices, -other.values, other.shape))
        return self.to_dense() - _a_summand("COOTensor", other)

    def __repr__(self) -> str:
        return (
            f"COOTensor(shape={list(self.shape)}, dtype={self.dtype}, indices={self.indices!r}, values={self.values!r})"
        )


class CSRTensor(_Matrix):
    """A sparse matrix by rows: where each row begins, and its elements with the column of each.

    Args:
        indptr: (rows + 1,), of ints: where the elements of each row begin.
        indices: (n,), of ints: the columns.
        values: (n,): the elements.
        shape: that of the matrix.
        csr_tensor: another one, to be copied.

    Raises:
        TypeError: an argument is no Tensor, or no tuple.
        ValueError: the shapes do not fit.

    Example:
        >>> matrix = CSRTensor(Tensor([0, 1, 2]), Tensor([1, 2]), Tensor([1.0, 2.0]), (2, 3))
        >>> print(matrix.mv(Tensor([[1.0], [2.0], [3.0]])))
        [[2.]
         [6.]]
    """

    def __init__(
        self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Any = None, csr_tensor: Any = None
    ) -> None:
        if csr_tensor is not None:
            indptr, indices, values = csr_tensor.indptr, csr_tensor.indices, csr_tensor.values
            shape = csr_tensor.shape
        if not isinstance(indptr, Tensor):
            raise TypeError(f"For CSRTensor, 'indptr' must be Tensor, but got {type(indptr)}.")
        _checked("CSRTensor", indices, values, shape)
        if len(shape) != 2:
            raise ValueError(f"For CSRTensor, the length of 'shape' must be 2, but got {shape}.")
        if indptr.ndim != 1 or indptr.shape[0] != shape[0] + 1:
            raise ValueError(f"For CSRTensor, indptr must have length (1 + shape[0]), but got: {indptr.shape[0]}")
        if indices.ndim != 1 or values.shape != indices.shape:
            raise ValueError(f"For CSRTensor, there are values of shape {values.shape} for {indices.shape} columns.")
        for what, each in (("indptr", indptr), ("indices", indices)):
            _check_type("CSRTensor", what, each)
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.shape = shape

    def to_tuple(self) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
        """Where the rows begin, the columns, the elements and the shape."""
        return self.indptr, self.indices, self.values, self.shape

    @transparent
    def _places(self) -> Tensor:
        return self.to_coo().indices

    @transparent
    def _with(self, values: Any) -> Any:
        return CSRTensor(self.indptr, self.indices, values, self.shape)

    @transparent
    def to_coo(self) -> COOTensor:
        """The matrix by places."""
        rows = rows_of(self.indptr.astype(self.indices.dtype), self.indices.shape[0])
        places = stack((rows, self.indices), -1)
        return COOTensor(places, self.values, self.shape)

    @transparent
    def to_dense(self) -> Tensor:
        """The matrix."""
        return self.to_coo().to_dense()

    @transparent
    def mv(self, dense_vector: Tensor) -> Tensor:
        """The product with a column.

        Args:
            dense_vector: (columns, 1).

        Returns:
            Tensor: (rows, 1).
        """
        return self._times(dense_vector)

    @transparent
    def mm(self, matrix: Any) -> Any:
        """The product with a matrix.

        Args:
            matrix: (columns, n), or a sparse one.

        Returns:
            Tensor: (rows, n); sparse, if both are.
        """
        if isinstance(matrix, CSRTensor):
            return dense_to_sparse_csr(self.to_dense() @ matrix.to_dense())
        return self._times(matrix)

    @transparent
    def _times(self, dense: Tensor) -> Tensor:
        """The product with a matrix of which each element finds the row that it meets."""
        if not isinstance(dense, Tensor):
            raise TypeError(f"For CSRTensor, a factor must be a Tensor, but got {type(dense)}.")
        if dense.ndim != 2 or dense.shape[0] != self.shape[1]:
            raise ValueError(f"For CSRTensor, a matrix of shape {self.shape} has no product with {dense.shape}.")
        rows = rows_of(self.indptr.astype(self.indices.dtype), self.indices.shape[0])
        terms = self.values.reshape((-1, 1)) * dense[self.indices]
        return unsorted_segment_sum(terms, rows, self.shape[0])

    @transparent
    def transposed(self) -> CSRTensor:
        """The matrix with rows for columns."""
        columns = self.indices
        order = argsort(columns)
        rows = rows_of(self.indptr.astype(columns.dtype), columns.shape[0])
        begins = ends_of_rows(columns[order], self.shape[1])
        return CSRTensor(begins, rows[order], self.values[order], (self.shape[1], self.shape[0]))

    @transparent
    def __add__(self, other: Any) -> Any:
        if isinstance(other, CSRTensor):
            return self.add(other, 1, 1)
        return self.to_dense() + _a_summand("CSRTensor", other)

    @transparent
    def __sub__(self, other: Any) -> Any:
        if isinstance(other, CSRTensor):
            return self.add(other, 1, -1)
        return self.to_dense() - _a_summand("CSRTensor", other)

    @transparent
    def sum(self, axis: int) -> Tensor:
        """The sums of rows or columns.

        Args:
            axis: 1 for those of rows, 0 for those of columns; it stays.
        """
        if axis not in (-2, -1, 0, 1):
            raise ValueError(f"For CSRTensor, the axis must be 0 or 1, but got {axis}.")
        if axis % 2:
            rows = rows_of(self.indptr.astype(self.indices.dtype), self.indices.shape[0])
            return unsorted_segment_sum(self.values, rows, self.shape[0]).reshape((-1, 1))
        return unsorted_segment_sum(self.values, self.indices, self.shape[1]).reshape((1, -1))

    @transparent
    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """The sum of this matrix times a number and another one times a number.

        Args:
            b: the other.
            alpha: the first number.
            beta: the second.
        """
        return dense_to_sparse_csr(self.to_dense() * alpha + b.to_dense() * beta)

    def __repr__(self) -> str:
        return (
            f"CSRTensor(shape={list(self.shape)}, dtype={self.dtype}, indptr={self.indptr!r}, "
            f"indices={self.indices!r}, values={self.values!r})"
        )


def _at(indices: Tensor, other: Any, shape: tuple[int, ...]) -> Any:
    """The elements of a factor at places; a number stands for all."""
    if not isinstance(other, Tensor) or other.ndim == 0:
        return other
    return taken(indices, other.broadcast_to(shape))


def _places_of(tensor: Tensor) -> np.ndarray[Any, Any]:
    if tensor.ndim != 2:
        raise ValueError(f"a sparse tensor is a matrix, not of shape {tensor.shape}")
    return np.argwhere(tensor.asnumpy() != 0).astype(np.int32)


@shows("dense_to_sparse_coo(Tensor([[0.0, 5.0]])).indices.asnumpy().tolist()", "[[0, 1]]")
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The elements of a matrix that are not 0, with their places.

    Args:
        tensor: a matrix.

    Returns:
        COOTensor

    Raises:
        ValueError: it has not 2 dimensions.
    """
    places = Tensor(_places_of(tensor))
    return COOTensor(places, taken(places, tensor), tensor.shape)


@shows("dense_to_sparse_csr(Tensor([[0.0, 5.0]])).indptr.asnumpy().tolist()", "[0, 1]")
def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The elements of a matrix that are not 0, by rows.

    Args:
        tensor: a matrix.

    Returns:
        CSRTensor

    Raises:
        ValueError: it has not 2 dimensions.
    """
    places = _places_of(tensor)
    begins = np.searchsorted(places[:, 0], np.arange(tensor.shape[0] + 1)).astype(np.int32)
    values = taken(Tensor(places), tensor)
    return CSRTensor(Tensor(begins), Tensor(np.ascontiguousarray(places[:, 1])), values, tensor.shape)


add_method("to_coo", dense_to_sparse_coo)
add_method("to_csr", dense_to_sparse_csr)
