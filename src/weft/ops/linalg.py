"""Linear algebra: inverses, determinants, decompositions, solving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft import dtypes, lazily
from weft.core import Tensor, as_operator, op, operator_class, shows
from weft.core.declare import freeze
from weft.ops._checks import bools, ints, one_of, reals
from weft.ops._kinks import vector_norm as norm_of
from weft.ops._rules import all_axes, floating, promoted
from weft.ops.reduce import reduce_sum
from weft.ops.shape import diagonal

if TYPE_CHECKING:
    from jax.scipy import linalg
else:
    linalg = lazily.deferred("jax.scipy.linalg")

__all__ = [
    "adjoint", "cdist", "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "eig", "eigh", "eigvals",
    "inverse", "log_matrix_determinant", "logdet", "lu_solve", "matrix_band_part", "matrix_determinant",
    "matrix_exp", "matrix_inverse", "matrix_power", "matrix_rank",
    "matrix_solve", "pinv", "qr", "slogdet", "solve", "svd", "trace", "triangular_solve", "vector_norm",
]  # fmt: skip


def _need_square(name: str, x: Any) -> Any:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name}: needs square matrices, not shape {tuple(x.shape)}")
    return floating(x)


def with_room(compute: Any, *arrays: Any) -> Any:
    """What LAPACK computes, which has no types of 16 bits: those in float32, the results in the type of the first."""
    kind = arrays[0].dtype
    if kind.itemsize > 2:
        found = compute(*arrays)
    else:
        found = jax.tree.map(lambda x: x.astype(kind), compute(*[x.astype(jnp.float32) for x in arrays]))
    return tuple(found) if isinstance(found, (tuple, list)) else found


@op("Inverse", classes=(), method="inverse")
@shows("inverse(Tensor([[2.0, 0.0], [0.0, 4.0]]))", "[[0.5  0.  ]\n [0.   0.25]]")
def inverse(input: Any) -> Any:
    """Inverse of square matrices.

    Args:
        input: tensor of shape (..., n, n).

    Returns:
        Tensor: like `input`.

    Raises:
        ValueError: the matrices are not square.
    """
    return jnp.linalg.inv(_need_square("inverse", input))


@op("MatrixDeterminant", method="det")
@shows("det(Tensor([[2.0, 0.0], [0.0, 4.0]]))", "8.0")
def det(input: Any) -> Any:
    """Determinant of square matrices."""
    return jnp.linalg.det(_need_square("det", input))


@op("LogMatrixDeterminant", multiple=True, method="slogdet")
@shows("*slogdet(Tensor([[1.0, 0.0], [0.0, 1.0]]))", "1.0 0.0")
def slogdet(input: Any) -> Any:
    """Sign and logarithm of the absolute determinant of square matrices."""
    return with_room(jnp.linalg.slogdet, _need_square("slogdet", input))


@shows("logdet(Tensor([[1.0, 0.0], [0.0, 1.0]]))", "0.0")
def logdet(input: Any) -> Any:
    """Logarithm of the determinant of square matrices."""
    return det(input).log()


@op("Cholesky", init="upper=False", method="cholesky")
@shows("cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]]))", "[[2. 0.]\n [0. 3.]]")
def cholesky(input_x: Any, *, upper: bool = False) -> Any:
    """Cholesky factor of symmetric positive-definite matrices."""
    lower = with_room(jnp.linalg.cholesky, _need_square("cholesky", input_x))
    return jnp.swapaxes(lower, -1, -2).conj() if upper else lower


@op("CholeskyInverse", init="upper=False")
@shows("cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 1.0]]))", "[[0.25 0.  ]\n [0.   1.  ]]")
def cholesky_inverse(input_x: Any, *, upper: bool = False) -> Any:
    """Inverse of a matrix from its Cholesky factor."""
    return linalg.cho_solve((input_x, not upper), jnp.eye(input_x.shape[-1], dtype=input_x.dtype))


@op("CholeskySolve", init="upper=False")
@shows("cholesky_solve(Tensor([[4.0]]), Tensor([[2.0]]))", "[[1.]]")
def cholesky_solve(input: Any, input2: Any, *, upper: bool = False) -> Any:
    """Solve ``A x = input`` given the Cholesky factor `input2` of A."""
    return linalg.cho_solve((input2, not upper), input)


@op("MatrixSolve", init="adjoint=False")
@shows("matrix_solve(Tensor([[2.0]]), Tensor([[4.0]]))", "[[2.]]")
def matrix_solve(matrix: Any, rhs: Any, *, adjoint: bool = False) -> Any:
    """Solve ``matrix @ x = rhs``.

    Args:
        matrix: tensor of shape (..., n, n).
        rhs: tensor of shape (..., n, k).
        adjoint: use the conjugate transpose of `matrix`.

    Returns:
        Tensor: like `rhs`.
    """
    matrix = _need_square("matrix_solve", matrix)
    matrix, rhs = promoted(jnp.swapaxes(matrix, -1, -2).conj() if adjoint else matrix, floating(rhs))
    return with_room(jnp.linalg.solve, matrix, rhs)


@shows("solve(Tensor([[2.0]]), Tensor([4.0]))", "[2.]")
def solve(matrix: Any, rhs: Any) -> Any:
    """Solve ``matrix @ x = rhs``; `rhs` may be a vector."""
    if rhs.ndim == 1:
        return matrix_solve(matrix, rhs.expand_dims(-1)).squeeze(-1)
    return matrix_solve(matrix, rhs)


@op("TriangularSolve", classes=())
@shows("triangular_solve(Tensor([[2.0]]), Tensor([[4.0]]))", "[[2.]]")
def triangular_solve(
    a: Any, b: Any, *, lower: bool = False, transposed: bool = False, unit_diagonal: bool = False
) -> Any:
    """Solve ``a @ x = b`` where only one triangle of `a` counts."""
    return linalg.solve_triangular(a, b, trans=1 if transposed else 0, lower=lower, unit_diagonal=unit_diagonal)


@shows("lu_solve(Tensor([[4.0]]), Tensor([[2.0]]), Tensor(np.array([1], np.int32)))", "[[2.]]")
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """Solve ``A x = b`` given the LU factorisation of A."""
    return _lu_solve(LU_data, LU_pivots, b)


@op("LuSolve", classes=())
def _lu_solve(lu: Any, pivots: Any, b: Any) -> Any:
    """Solve with an LU factorisation; pivots count from 1."""
    return linalg.lu_solve((lu, pivots - 1), b)


@op("LuFactors", classes=(), multiple=True)
@shows("lu_factors(Tensor([[4.0, 2.0], [2.0, 4.0]]))[0]", "[[4.  2. ]\n [0.5 3. ]]")
def lu_factors(a: Any) -> Any:
    """The factors L and U of matrices in one, with which row each was exchanged, and where the rows went."""
    return with_room(lambda x: tuple(lax.linalg.lu(x)), floating(a))


@op("Svd", classes=(), multiple=True)
def _svd(input: Any, *, full_matrices: bool) -> Any:
    """Singular values and vectors."""
    u, s, vh = jnp.linalg.svd(floating(input), full_matrices=full_matrices)
    return s, u, jnp.swapaxes(vh, -1, -2).conj()


@op("SingularValues", classes=())
def _singular_values(input: Any) -> Any:
    """Singular values."""
    return jnp.linalg.svd(floating(input), compute_uv=False)


@shows("svd(Tensor([[3.0, 0.0], [0.0, 2.0]]), compute_uv=False)", "[3. 2.]")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular value decomposition of matrices.

    Args:
        input: tensor of shape (..., m, n).
        full_matrices: square factors.
        compute_uv: also the vectors.

    Returns:
        tuple[Tensor, Tensor, Tensor] (values, left vectors, right vectors), or the values alone.
    """
    return _svd(input, full_matrices=full_matrices) if compute_uv else _singular_values(input)


@op("Qr", classes=(), multiple=True)
@shows("qr(Tensor([[3.0, 0.0], [4.0, 5.0]]))[1].shape", "(2, 2)")
def qr(input: Any, *, mode: str = "reduced") -> Any:
    """QR decomposition of matrices."""
    one_of("qr", ("reduced", "complete"), mode=mode)
    return with_room(lambda x: jnp.linalg.qr(x, mode=mode), floating(input))


@op("Eigh", classes=(), multiple=True)
@shows("eigh(Tensor([[2.0, 0.0], [0.0, 3.0]]))[0]", "[2. 3.]")
def eigh(input: Any) -> Any:
    """Eigenvalues and vectors of symmetric matrices."""
    return tuple(jnp.linalg.eigh(_need_square("eigh", input)))


@op("Eig", classes=(), multiple=True, no_gradient="not differentiable here")
@shows("eig(Tensor([[2.0, 0.0], [0.0, 3.0]]))[0].shape", "(2,)")
def eig(A: Any) -> Any:
    """Eigenvalues and vectors of square matrices (complex; on the CPU only)."""
    return tuple(jnp.linalg.eig(_need_square("eig", A)))


@shows("eigvals(Tensor([[2.0, 0.0], [0.0, 3.0]])).shape", "(2,)")
def eigvals(A: Any) -> Any:
    """Eigenvalues of square matrices (complex; on the CPU only)."""
    return eig(A)[0]


@op("Pinv", classes=(), method="pinv")
@shows("pinv(Tensor([[3.0, 0.0]])).shape", "(2, 1)")
def pinv(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """Pseudo-inverse of matrices.

    Args:
        x: tensor (..., M, N).
        atol: singular values up to this count as 0.
        rtol: those up to this part of the largest one do; by default the larger dimension times the distance of 1
            to the next number, 0 if `atol` is given.
        hermitian: accepted; symmetric matrices have the same pseudo-inverse.
    """
    del hermitian
    x = floating(x)
    if atol is None:
        return with_room(lambda rows: jnp.linalg.pinv(rows, rtol=rtol), x)
    u, sizes, vt = jnp.linalg.svd(x, full_matrices=False)
    least = jnp.maximum(atol, (rtol or 0.0) * sizes[..., :1])
    inverse = jnp.where(sizes > least, 1 / jnp.where(sizes > least, sizes, 1), 0).astype(x.dtype)
    return jnp.matmul(jnp.swapaxes(vt, -1, -2).conj() * inverse[..., None, :], jnp.swapaxes(u, -1, -2).conj())


@op("MatrixPower", init="n")
@shows("matrix_power(Tensor([[2.0]]), 3)", "[[8.]]")
def matrix_power(input: Any, *, n: int) -> Any:
    """Integer power of square matrices."""
    of_floats = _need_square("matrix_power", input)
    stays = n >= 0 and jnp.issubdtype(input.dtype, jnp.integer)
    return jnp.linalg.matrix_power(input if stays else of_floats, n)


@op("MatrixExp")
@shows("matrix_exp(Tensor([[0.0]]))", "[[1.]]")
def matrix_exp(input: Any) -> Any:
    """Exponential of square matrices."""
    return linalg.expm(_need_square("matrix_exp", input))


@op("MatrixRank", classes=(), no_gradient="integer result")
@shows("matrix_rank(Tensor([[1.0, 0.0], [0.0, 0.0]]))", "1")
def matrix_rank(A: Any) -> Any:
    """Rank of matrices."""
    return jnp.linalg.matrix_rank(floating(A))


@shows("cond(Tensor([[2.0, 0.0], [0.0, 1.0]]))", "2.0")
def cond(A: Any, p: Any = None) -> Any:
    """Condition number of matrices."""
    return _cond(A, p=p)


@op("ConditionNumber", classes=())
def _cond(A: Any, *, p: Any) -> Any:
    return jnp.linalg.cond(floating(A), p)


@shows("trace(Tensor([[1, 2], [3, 4]]))", "5")
def trace(input: Any) -> Any:
    """Sum of the diagonal of a matrix."""
    return reduce_sum(diagonal(input), -1)


@shows("adjoint(Tensor([[1.0, 2.0]])).shape", "(2, 1)")
def adjoint(x: Any) -> Any:
    """Conjugate transpose of the last two dimensions."""
    return x.swapaxes(-1, -2).conj()


@as_operator
def MatrixInverse(x: Tensor, *, adjoint: bool = False) -> Tensor:
    """Inverses of square matrices.

    Args:
        adjoint: whether the conjugate transposes of the matrices are inverted.
    """
    bools("MatrixInverse", adjoint=adjoint)
    return inverse(x.swapaxes(-1, -2).conj() if adjoint else x)


@op("MatrixBandPart")
@shows("matrix_band_part(Tensor([[1, 2], [3, 4]]), 0, 0)", "[[1 0]\n [0 4]]")
def matrix_band_part(x: Any, *, lower: int, upper: int) -> Any:
    """Keep a band around the diagonal; a negative width keeps the whole triangle."""
    rows = lax.broadcasted_iota(jnp.int32, x.shape[-2:], 0)
    columns = lax.broadcasted_iota(jnp.int32, x.shape[-2:], 1)
    keep = ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))
    return jnp.where(keep, x, 0)


@op("Cdist", init="p=2.0")
@shows("cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]))", "[[5.]]")
def cdist(x1: Any, x2: Any, *, p: float = 2.0) -> Any:
    """Distances between the rows of two matrices."""
    if x1.ndim < 2 or x2.ndim < 2:
        raise ValueError(f"cdist: needs two tensors of at least 2 dimensions, not {x1.shape} and {x2.shape}")
    return norm_of(x1[..., :, None, :] - x2[..., None, :, :], p, (-1,))


log_matrix_determinant = slogdet
matrix_determinant = det
matrix_inverse = inverse

operator_class("Trace", trace)


@as_operator
def Svd(input: Any, *, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular value decomposition: ``Svd(full_matrices, compute_uv)(x)``: values, left and right vectors; without
    `compute_uv` a zero instead of either vectors.
    """
    found = svd(input, full_matrices, compute_uv)
    return found if compute_uv else (found, *(Tensor(np.zeros(1, found.dtype.np_dtype)) for _ in range(2)))


@op("NormOfOrder", classes=())
def _norm_of_order(x: Any, *, axes: tuple[int, ...], p: int, keep_dims: bool, epsilon: float) -> Any:
    """The norm of an order over axes, at least `epsilon`."""
    return jnp.maximum(norm_of(x, p, axes, keep_dims), jnp.asarray(epsilon, x.dtype))


@as_operator
def LpNorm(input: Tensor, *, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> Tensor:
    """The norm of order `p` over axes: ``LpNorm(axis, p, keep_dims, epsilon)(x)``; it is at least `epsilon`."""
    ints("LpNorm", p=p)
    if p < 0:
        raise ValueError(f"LpNorm: p must not be negative, not {p}")
    if input.dtype not in (dtypes.float16, dtypes.float32):
        raise TypeError(f"LpNorm: the input must be float16 or float32, not {input.dtype}")
    return _norm_of_order(input, all_axes("LpNorm", freeze(axis), input.ndim), p, keep_dims, float(epsilon))


@op("VectorNormOfAxes", classes=())
def _vector_norm(x: Any, *, order: float, axes: tuple[int, ...], keepdims: bool) -> Any:
    return norm_of(x, order, axes, keepdims)


@shows("vector_norm(Tensor([[3.0, 4.0], [0.0, 1.0]]), axis=1)", "[5. 1.]")
def vector_norm(x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors.

    Args:
        x: tensor, of floats or complex numbers.
        ord: the order: a number, ``inf`` or ``-inf``.
        axis: the axes of a vector; None for all elements as one.
        keepdims: leave the axes with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor: of floats, without the axes.

    Raises:
        TypeError: `ord` is no number.
    """
    reals("vector_norm", ord=ord)
    kind = dtype if dtype is not None or x.dtype.is_floating or x.is_complex() else dtypes.float32
    x = x if kind is None else x.astype(kind)
    axes = tuple(range(x.ndim)) if axis is None else all_axes("vector_norm", freeze(axis), x.ndim)
    return _vector_norm(x, float(ord), axes, bool(keepdims))
