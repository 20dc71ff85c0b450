"""Sparse tensors: the elements that are not 0, with their places."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, add_method, described, op, shows, transparent
from weft.errors import NoTensor
from weft.ops._checks import tensors, tuples
from weft.ops.elementwise import abs as absolute
from weft.ops.elementwise import exp
from weft.ops.gather import gather_nd, scatter_nd, unsorted_segment_max, unsorted_segment_sum
from weft.ops.joining import stack
from weft.ops.sorting import argsort

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "dense_to_sparse_coo", "dense_to_sparse_csr"]

_INDICES = (dtypes.int16, dtypes.int32, dtypes.int64)


@op("EndsOfRows", classes=(), no_gradient="integers")
def ends_of_rows(rows: Any, *, count: int) -> Any:
    """Where the values of each row begin, of the row of each value, which ascends."""
    return jnp.searchsorted(rows, jnp.arange(count + 1), side="left").astype(rows.dtype)


@op("RowsOfPointers", classes=(), no_gradient="integers")
def rows_of(indptr: Any, *, count: int) -> Any:
    """The row of each value, of where the rows begin."""
    return (jnp.searchsorted(indptr, jnp.arange(count), side="right") - 1).astype(indptr.dtype)


@transparent
def softmax_of(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """The softmax of the values of each of so many rows, of the row of each value."""
    powers = exp(values - unsorted_segment_max(values, rows, count)[rows])
    return powers / unsorted_segment_sum(powers, rows, count)[rows]


def _check_parts(name: str, shape: Any, **parts: Any) -> None:
    """Refuse parts of a sparse tensor that are no tensors, and what is no shape."""
    tensors(name, **parts)
    tuples(name, shape=shape)
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
            raise ValueError(f"{name}: shape must hold positive ints, not {shape}")


def _check_types(name: str, **places: Tensor) -> None:
    for what, each in places.items():
        if each.dtype not in _INDICES:
            raise TypeError(f"{name}: {what} must be of int16, int32 or int64, not {each.dtype}")


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
        _check_parts("RowTensor", shape, indices=indices, values=values)
        _check_types("RowTensor", indices=indices)
        if indices.ndim != 1 or values.ndim < 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(f"For RowTensor, there are {values.shape} values for indices of shape {indices.shape}.")
        self.indices = indices
        self.values = values
        self.dense_shape = shape

    @transparent
    def to_dense(self) -> Tensor:
        """The whole tensor."""
        return scatter_nd(self.indices.reshape((-1, 1)), self.values, self.dense_shape)

    def __repr__(self) -> str:
        return f"RowTensor(shape={list(self.dense_shape)}, indices={self.indices!r}, values={self.values!r})"


class _Matrix:
    """What sparse matrices share: elements, each at its place, and a shape."""

    values: Any
    shape: Any
    #: names of what says where the elements are
    _where: ClassVar[tuple[str, ...]]

    @transparent
    def to_tuple(self) -> tuple[Any, ...]:
        """What the matrix is made of: where its elements are, the elements and the shape."""
        return (*[getattr(self, each) for each in self._where], self.values, self.shape)

    dtype: Any = property(lambda self: self.values.dtype, doc="The element type.")
    size: Any = property(lambda self: int(self.values.size), doc="The number of elements that there are.")
    itemsize: Any = property(lambda self: int(self.values.itemsize), doc="The number of bytes of an element.")
    ndim: Any = property(lambda self: len(self.shape), doc="The number of dimensions.")

    @transparent
    def to_coo(self) -> COOTensor:
        """The matrix by places."""
        raise NotImplementedError

    @transparent
    def to_dense(self) -> Tensor:
        """The matrix with its zeros."""
        places = self.to_coo()
        return scatter_nd(places.indices, places.values, places.shape)

    @transparent
    def _of_dense(self, dense: Tensor) -> Self:
        """The elements of a matrix that are not 0, as this one has them."""
        raise NotImplementedError

    @transparent
    def _with(self, values: Any) -> Self:
        """A matrix with other elements at the same places."""
        *places, _, shape = self.to_tuple()
        kind: Any = type(self)
        return kind(*places, values, shape)

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
    def _summand(self, other: Any) -> Tensor:
        """What is added, with its zeros: no number, which would fill the matrix up."""
        if isinstance(other, type(self)):
            return other.to_dense()
        if not isinstance(other, Tensor):
            raise NoTensor(f"{type(self).__name__}: a matrix is expected as summand, not {type(other).__name__}")
        return other

    @transparent
    def __add__(self, other: Any) -> Any:
        total = self.to_dense() + self._summand(other)
        return total if isinstance(other, Tensor) else self._of_dense(total)

    @transparent
    def __sub__(self, other: Any) -> Any:
        total = self.to_dense() - self._summand(other)
        return total if isinstance(other, Tensor) else self._of_dense(total)

    @transparent
    def _at_places(self, other: Any) -> Any:
        """The elements of a factor at the places of this matrix; a number stands for all."""
        if not isinstance(other, Tensor) or other.ndim == 0:
            return other
        return gather_nd(other.broadcast_to(self.shape), self.to_coo().indices)

    @transparent
    def __mul__(self, other: Any) -> Self:
        return self._with(self.values * self._at_places(other))

    @transparent
    def __truediv__(self, other: Any) -> Self:
        return self._with(self.values / self._at_places(other))

    def __repr__(self) -> str:
        parts = ", ".join(f"{each}={getattr(self, each)!r}" for each in (*self._where, "values"))
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"


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

    _where = ("indices",)

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None) -> None:
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.to_tuple()
        _check_parts("COOTensor", shape, indices=indices, values=values)
        if len(shape) != 2 or values.ndim != 1 or indices.shape != (values.shape[0], 2):
            raise ValueError(
                "COOTensor: indices of shape (n, 2), values of shape (n,) and a shape of two sizes are expected, not "
                f"{indices.shape}, {values.shape} and {shape}"
            )
        _check_types("COOTensor", indices=indices)
        self.indices = indices
        self.values = values
        self.shape = shape

    @transparent
    def to_coo(self) -> COOTensor:
        return self

    @transparent
    def _of_dense(self, dense: Tensor) -> Any:
        return dense_to_sparse_coo(dense)

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

    _where = ("indptr", "indices")

    def __init__(
        self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Any = None, csr_tensor: Any = None
    ) -> None:
        if csr_tensor is not None:
            indptr, indices, values, shape = csr_tensor.to_tuple()
        _check_parts("CSRTensor", shape, indptr=indptr, indices=indices, values=values)
        if len(shape) != 2 or indptr.shape != (shape[0] + 1,):
            raise ValueError(f"CSRTensor: begins of rows of shape {indptr.shape} do not fit a shape of {shape}")
        if indices.ndim != 1 or values.shape != indices.shape:
            raise ValueError(f"CSRTensor: there are values of shape {values.shape} for {indices.shape} columns")
        _check_types("CSRTensor", indptr=indptr, indices=indices)
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.shape = shape

    @transparent
    def _rows(self) -> Tensor:
        """The row of each element."""
        return rows_of(self.indptr.astype(self.indices.dtype), self.indices.shape[0])

    @transparent
    def to_coo(self) -> COOTensor:
        return COOTensor(stack((self._rows(), self.indices), -1), self.values, self.shape)

    @transparent
    def _of_dense(self, dense: Tensor) -> Any:
        return dense_to_sparse_csr(dense)

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
            raise TypeError(f"CSRTensor: a factor must be a Tensor, not {type(dense).__name__}")
        if dense.ndim != 2 or dense.shape[0] != self.shape[1]:
            raise ValueError(f"CSRTensor: a matrix of shape {self.shape} has no product with {dense.shape}")
        terms = self.values.reshape((-1, 1)) * dense[self.indices]
        return unsorted_segment_sum(terms, self._rows(), self.shape[0])

    @transparent
    def transposed(self) -> CSRTensor:
        """The matrix with rows for columns."""
        order = argsort(self.indices)
        begins = ends_of_rows(self.indices[order], self.shape[1])
        return CSRTensor(begins, self._rows()[order], self.values[order], (self.shape[1], self.shape[0]))

    @transparent
    def sum(self, axis: int) -> Tensor:
        """The sums of rows or columns.

        Args:
            axis: 1 for those of rows, 0 for those of columns; it stays.
        """
        if axis not in (-2, -1, 0, 1):
            raise ValueError(f"CSRTensor: the axis must be 0 or 1, not {axis}")
        if axis % 2:
            return unsorted_segment_sum(self.values, self._rows(), self.shape[0]).reshape((-1, 1))
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


def _places_of(tensor: Tensor) -> np.ndarray[Any, Any]:
    if tensor.ndim != 2:
        raise ValueError(f"a sparse tensor is a matrix, not of shape {tensor.shape}")
    return np.argwhere(tensor.asnumpy() != 0).astype(np.int32)


_described = described(tensor="a matrix.", raises="ValueError: it has not 2 dimensions.")


@shows("dense_to_sparse_coo(Tensor([[0.0, 5.0]])).indices.asnumpy().tolist()", "[[0, 1]]")
@_described
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The elements of a matrix that are not 0, with their places.

    Returns:
        COOTensor
    """
    places = Tensor(_places_of(tensor))
    return COOTensor(places, gather_nd(tensor, places), tensor.shape)


@shows("dense_to_sparse_csr(Tensor([[0.0, 5.0]])).indptr.asnumpy().tolist()", "[0, 1]")
@_described
def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The elements of a matrix that are not 0, by rows.

    Returns:
        CSRTensor
    """
    places = _places_of(tensor)
    begins = np.searchsorted(places[:, 0], np.arange(tensor.shape[0] + 1)).astype(np.int32)
    values = gather_nd(tensor, Tensor(places))
    return CSRTensor(Tensor(begins), Tensor(np.ascontiguousarray(places[:, 1])), values, tensor.shape)


add_method("to_coo", dense_to_sparse_coo)
add_method("to_csr", dense_to_sparse_csr)
