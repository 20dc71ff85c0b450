"""`mindspore.mint.linalg`."""

from __future__ import annotations

from typing import Any

from weft import ops
from weft.mint.reducing import vector_norm

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]


def inv(input: Any) -> Any:
    """The inverse of a matrix.

    Example:
        >>> print(inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return ops.inverse(input)


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Norm of the matrices in two dimensions.

    Args:
        A: tensor.
        ord: ``"fro"``, ``"nuc"``, ``inf``, ``-inf``, 1, -1, 2 or -2.
        dim: the two dimensions.
        keepdim: leave them with size 1.
        dtype: element type to compute in.

    Example:
        >>> print(matrix_norm(Tensor([[3.0, 4.0]])))
        5.0
    """
    return ops.norm(A, ord, tuple(dim), keepdim, dtype=dtype)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Norm of vectors or matrices: see `vector_norm` and `matrix_norm`.

    Example:
        >>> print(norm(Tensor([[3.0, 4.0]])))
        5.0
    """
    return ops.norm(A, ord, dim, keepdim, dtype=dtype)


def qr(A: Any, mode: str = "reduced") -> Any:
    """A matrix as the product of one with orthogonal columns and a triangular one.

    Example:
        >>> qr(Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))[0].shape
        (3, 2)
    """
    return ops.qr(A, mode)
