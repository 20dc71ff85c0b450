"""Elementwise functions, products and comparisons of `mindspore.mint` that do more, or less, than weft's operations."""

from __future__ import annotations

from typing import Any

from weft import dtypes, ops
from weft.core import Tensor, transparent
from weft.errors import NoTensor
from weft.ops._rules import tensor

__all__ = ["add", "allclose", "cdist", "clone", "einsum", "equal", "item", "sub", "triangular_solve"]


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``.

    Example:
        >>> print(add(Tensor([1, 2]), Tensor([10, 20]), alpha=2))
        [21 42]
    """
    return ops.add(input, other if alpha == 1 else ops.mul(tensor(other), alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``.

    Example:
        >>> print(sub(Tensor([1, 2]), Tensor([10, 20]), alpha=2))
        [-19 -38]
    """
    return ops.sub(input, other if alpha == 1 else ops.mul(tensor(other), alpha))


def clone(input: Any) -> Any:
    """A copy with elements of its own, through which gradients flow.

    Example:
        >>> print(clone(Tensor([1, 2])))
        [1 2]
    """
    return a_tensor("clone", input).copy()


@transparent
def item(input: Any) -> Any:
    """The one element of a tensor as a number of Python.

    Example:
        >>> item(Tensor([2.5]))
        2.5
    """
    return a_tensor("item", input).item()


def equal(input: Any, other: Any) -> Any:
    """Whether two tensors have the same shape and the same elements, as a tensor.

    Example:
        >>> print(equal(Tensor([1, 2]), Tensor([1, 3])))
        False
    """
    return ops.array_equal(a_tensor("equal", input), a_tensor("equal", other))


@transparent
def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as a bool.

    Example:
        >>> allclose(Tensor([1.0]), Tensor([1.0]))
        True
    """
    return ops.allclose(input, other, rtol, atol, equal_nan).item()


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Distances between the rows of two tensors.

    Args:
        x1: (..., P, M).
        x2: (..., R, M).
        p: order of the norm.
        compute_mode: how MindSpore computes it; checked, and changes nothing.

    Example:
        >>> print(cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [[5.]]
    """
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"cdist: compute_mode must be one of {modes}, not {compute_mode!r}")
    return ops.cdist(x1, x2, p)


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products in Einstein's notation.

    Example:
        >>> print(einsum("i,i->", Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    return ops.einsum(equation, *operands)


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Any, Any]:
    """The solution of ``A @ x = b`` with a triangular matrix, and that matrix.

    Args:
        b: right sides, (..., N, K).
        A: the matrix, (..., N, N).
        upper: read its upper triangle, else the lower one.
        transpose: solve with the transposed matrix.
        unitriangular: take the diagonal for ones.

    Example:
        >>> print(triangular_solve(Tensor([[3.0], [1.0]]), Tensor([[1.0, 2.0], [0.0, 1.0]]))[0])
        [[1.]
         [1.]]
    """
    return ops.triangular_solve(A, b, not upper, transpose, unitriangular), A


def a_tensor(name: str, value: Any) -> Any:
    """The value, which must be a tensor.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, Tensor):
        raise NoTensor(f"{name}: the input must be a Tensor, not {type(value).__name__}")
    return value


def summed_type(input: Any, dtype: Any) -> Any:
    """The element type of a sum or product: int64 for those of small integers and bools, unless one is given."""
    if dtype is not None or not isinstance(input, Tensor):
        return dtype
    kept = input.dtype
    return dtypes.int64 if kept.category < 2 and kept != dtypes.uint64 else None
