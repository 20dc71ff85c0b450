"""Layers of sparse tensors."""

from __future__ import annotations

from typing import Any

from weft import dtypes
from weft.core.tensor import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import declared, flag
from weft.ops.gather import unsorted_segment_sum


class SparseToDense(Cell):
    """A matrix by places with its zeros, see `COOTensor.to_dense`.

    Example:
        >>> from weft.ops import COOTensor
        >>> print(SparseToDense()(COOTensor(Tensor([[0, 1]]), Tensor([5.0]), (1, 3))))
        [[0. 5. 0.]]
    """

    def construct(self, sparse_tensor: Any) -> Tensor:
        """The matrix."""
        found: Tensor = sparse_tensor.to_dense()
        return found


class SparseTensorDenseMatmul(Cell):
    """The product of a matrix by places and a matrix.

    Args:
        adjoint_st: transpose the first one.
        adjoint_dt: transpose the second one.

    Raises:
        TypeError: an argument is no bool, or the element types do not fit.
        ValueError: the shapes do not fit.

    Example:
        >>> product = SparseTensorDenseMatmul()
        >>> print(product(Tensor([[0, 1], [1, 0]]), Tensor([2.0, 3.0]), (2, 2), Tensor([[1.0], [10.0]])))
        [[20.]
         [ 3.]]
    """

    @declared(adjoint_st=flag, adjoint_dt=flag)
    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None: ...

    def construct(self, indices: Tensor, values: Tensor, sparse_shape: Any, dense: Tensor) -> Tensor:
        """The product.

        Args:
            indices: (n, 2): the places.
            values: (n,): the elements.
            sparse_shape: the shape of the first matrix.
            dense: the second matrix.
        """
        if indices.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"SparseTensorDenseMatmul: indices must be int32 or int64, not {indices.dtype}")
        if values.dtype is not dense.dtype:
            raise TypeError(f"SparseTensorDenseMatmul: values of {values.dtype} with a matrix of {dense.dtype}")
        if indices.ndim != 2 or indices.shape[1] != 2 or values.shape != indices.shape[:1]:
            raise ValueError(f"SparseTensorDenseMatmul: {values.shape} values at places of shape {indices.shape}")
        if len(sparse_shape) != 2 or dense.ndim != 2:
            raise ValueError(f"SparseTensorDenseMatmul: {sparse_shape} and {dense.shape} are no shapes of matrices")
        factor = dense.T if self.adjoint_dt else dense
        row, column = (1, 0) if self.adjoint_st else (0, 1)
        if factor.shape[0] != sparse_shape[column]:
            raise ValueError(f"SparseTensorDenseMatmul: {tuple(sparse_shape)} and {dense.shape} do not fit")
        terms = values.reshape((-1, 1)) * factor[indices[:, column]]
        return unsorted_segment_sum(terms, indices[:, row], sparse_shape[row])
