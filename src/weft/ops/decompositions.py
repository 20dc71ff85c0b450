"""Operator classes of linear algebra: factors of matrices, and what is solved by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import Tensor, as_operator, operator_class
from weft.ops._checks import bools
from weft.ops.create import eye
from weft.ops.elementwise import log
from weft.ops.factors import geqrf, lu_unpack, orgqr, ormqr
from weft.ops.index import getitem
from weft.ops.linalg import eig, eigvals, inverse, lu_solve, pinv, qr, solve, triangular_solve
from weft.ops.matmul import matmul
from weft.ops.padding import pad
from weft.ops.shape import reshape, swapaxes


def _no_elements(like: Tensor) -> Tensor:
    """What stands for a result that was not wanted."""
    return Tensor(np.zeros(0, like.dtype.np_dtype))


@as_operator
def Eig(x: Tensor, *, compute_v: bool = False) -> Any:
    """The eigenvalues of matrices, and their eigenvectors, or an empty tensor.

    Args:
        compute_v: whether the vectors are computed.
    """
    bools("Eig", compute_v=compute_v)
    if compute_v:
        return eig(x)
    values = eigvals(x)
    return values, _no_elements(values)


@as_operator
def Qr(x: Tensor, *, full_matrices: bool = False) -> Any:
    """An orthogonal matrix and an upper triangular one whose product is a matrix.

    Args:
        full_matrices: whether the orthogonal matrix is square.
    """
    return qr(x, "complete" if full_matrices else "reduced")


@as_operator
def Lstsq(x: Tensor, a: Tensor, *, fast: bool = True, l2_regularizer: float = 0.0) -> Tensor:
    """What a matrix maps nearest to the columns of another one.

    Args:
        fast: True.
        l2_regularizer: 0.0.
    """
    if fast is not True or l2_regularizer != 0.0:
        raise TypeError(f"Lstsq: fast must be True and l2_regularizer 0.0, not {fast} and {l2_regularizer}")
    if x.ndim != 2 or a.ndim not in (1, 2) or x.shape[0] != a.shape[0]:
        raise ValueError(f"Lstsq: shapes {x.shape} and {a.shape} do not fit")
    return matmul(pinv(x), a if a.ndim == 2 else reshape(a, (-1, 1)))


@as_operator
def MatrixSolveLs(matrix: Tensor, rhs: Tensor, l2_regularizer: Any, *, fast: bool = True) -> Tensor:
    """What matrices map nearest to the columns of others, where large solutions cost something.

    Args:
        fast: whether it is found by the normal equations.
    """
    if matrix.ndim < 2 or rhs.ndim < 2 or matrix.shape[-2] != rhs.shape[-2]:
        raise ValueError(f"MatrixSolveLs: shapes {matrix.shape} and {rhs.shape} do not fit")
    if not fast:
        return matmul(pinv(matrix), rhs)
    rows, columns = matrix.shape[-2:]
    other, least = swapaxes(matrix, -1, -2).conj(), min(rows, columns)
    ridge = eye(least, least, matrix.dtype)
    if isinstance(l2_regularizer, Tensor):
        l2_regularizer = l2_regularizer.astype(matrix.dtype)
    if rows >= columns:
        return solve(matmul(other, matrix) + ridge * l2_regularizer, matmul(other, rhs))
    return matmul(other, solve(matmul(matrix, other) + ridge * l2_regularizer, rhs))


@as_operator
def MatrixTriangularSolve(matrix: Tensor, rhs: Tensor, *, lower: bool = True, adjoint: bool = False) -> Tensor:
    """What triangular matrices map to others.

    Args:
        lower: whether the lower triangle counts.
        adjoint: whether the matrices are transposed before.
    """
    bools("MatrixTriangularSolve", lower=lower, adjoint=adjoint)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[:-1] != rhs.shape[:-1]:
        raise ValueError(f"MatrixTriangularSolve: shapes {matrix.shape} and {rhs.shape} do not fit")
    return triangular_solve(matrix.conj() if adjoint else matrix, rhs, lower, adjoint)


@as_operator
def LuUnpack(LU_data: Tensor, LU_pivots: Tensor, *, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The permutation, the lower and the upper triangular matrix of LU factors.

    Args:
        unpack_data: whether the triangular matrices are there, or empty tensors.
        unpack_pivots: whether the permutation is.
    """
    if LU_pivots.dtype.category != 1:
        raise TypeError(f"LuUnpack: pivots are integers, not {LU_pivots.dtype}")
    parts = lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots)
    return tuple(_no_elements(LU_data) if each is None else each for each in parts)


@as_operator
def MatrixLogarithm(x: Tensor) -> Tensor:
    """The logarithms of complex matrices that have as many eigenvectors as rows."""
    if not x.is_complex():
        raise TypeError(f"MatrixLogarithm takes complex numbers, not {x.dtype}")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"MatrixLogarithm takes square matrices, not shape {x.shape}")
    values, vectors = eig(x)
    scaled = vectors * reshape(log(values), (*values.shape[:-1], 1, values.shape[-1]))
    return matmul(scaled, inverse(vectors))


@as_operator
def TridiagonalMatMul(superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Tensor:
    """The product of matrices of three diagonals and others; the last of the first diagonal counts for nothing, and
    the first of the last one."""
    size = rhs.shape[-2] if rhs.ndim > 1 else 0
    for each in (superdiag, maindiag, subdiag):
        if each.shape != (*rhs.shape[:-2], 1, size):
            raise ValueError(f"TridiagonalMatMul: a diagonal of shape {each.shape} does not fit shape {rhs.shape}")
        if each.dtype != rhs.dtype:
            raise TypeError(f"TridiagonalMatMul: element types {each.dtype} and {rhs.dtype} differ")
    above, main, below = (swapaxes(each, -1, -2) for each in (superdiag, maindiag, subdiag))
    following = pad(getitem(rhs, (..., slice(1, None), slice(None))), (0, 0, 0, 1))
    former = pad(getitem(rhs, (..., slice(0, -1), slice(None))), (0, 0, 1, 0))
    return main * rhs + above * following + below * former


@as_operator
def LuSolve(x: Tensor, lu_data: Tensor, lu_pivots: Tensor) -> Tensor:
    """What a matrix maps to the columns of another one, given its LU factors, see `lu_solve`."""
    return lu_solve(x, lu_data, lu_pivots)


@as_operator
def Orgqr(x: Tensor, tau: Tensor) -> Tensor:
    """The product of reflections, see `orgqr`."""
    return orgqr(x, tau)


@as_operator
def Ormqr(x: Tensor, tau: Tensor, other: Tensor, *, left: bool = True, transpose: bool = False) -> Tensor:
    """The product of the square orthogonal matrix of reflections and another matrix, see `ormqr`."""
    return ormqr(x, tau, other, left, transpose)


operator_class("Geqrf", geqrf)
