"""Layers of sparse tensors."""

from __future__ import annotations

from typing import Any

from weft.core import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import declared, flag
from weft.ops import segments as ops


class SparseToDense(Cell):
    """A matrix by places with its zeros, see `COOTensor.to_dense`.

    Example:
        >>> from weft.ops import COOTensor
        >>> print(SparseToDense()(COOTensor(Tensor([[0, 1]]), Tensor([5.0]), (1, 3))))
        [[0. 5. 0.]]
    """

    def construct(self, sparse_tensor: Any) -> Tensor:
        """The matrix."""
        return sparse_tensor.to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a matrix by places and a matrix.

    Args:
        adjoint_st: transpose the first one.
        adjoint_dt: transpose the second one, and take the conjugates of its elements.

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
        return ops.SparseTensorDenseMatmul(self.adjoint_st, self.adjoint_dt)(indices, values, sparse_shape, dense)
