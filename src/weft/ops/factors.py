"""Factors of matrices as LAPACK keeps them, what is solved with them, and the diagonals and norms of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp

from weft import dtypes, lazily
from weft.core import Tensor, described, op, shows
from weft.ops._checks import bools, one_of, tensors
from weft.ops._rules import floating, one_axis
from weft.ops.create import eye
from weft.ops.linalg import qr, triangular_solve, with_room
from weft.ops.shape import tril, triu
from weft.ops.statistics import norm

if TYPE_CHECKING:
    from weft.ops import segments
else:
    segments = lazily.deferred("weft.ops.segments")

__all__ = [
    "geqrf", "lstsq", "lu_unpack", "matrix_diag", "matrix_diag_part", "matrix_norm", "matrix_set_diag", "orgqr",
    "ormqr",
]  # fmt: skip


#: what functions of several matrices raise
_REFUSING: Final = described(raises="TypeError: an argument is no tensor.\nValueError: the shapes do not fit.")
_DIAGONALS: Final = described(
    x="tensor of shape (..., m, n).",
    k="which diagonal, or a tensor of the lowest and the highest; those above the main one are positive.",
    align="where shorter diagonals stand in their rows (see `matrix_set_diag`).",
    raises="TypeError: an argument is no tensor.\n"
    "ValueError: there are no such diagonals, the shapes do not fit, or `align` is another word.",
)


def _a_matrix(name: str, what: str, value: Any, least: int = 2) -> Tensor:
    tensors(name, **{what: value})
    if value.ndim < least:
        raise ValueError(f"{name}: {what} must have at least {least} dimensions, not shape {value.shape}")
    return value


@shows("geqrf(Tensor([[3.0, 1.0], [4.0, 2.0]]))[1]", "[1.6 0. ]")
def geqrf(input: Any) -> Any:
    """The QR decomposition of matrices as reflections.

    Args:
        input: tensor of shape (..., m, n), of floats or complex numbers.

    Returns:
        tuple[Tensor, Tensor]: R, with the vectors of the reflections below its diagonal, and their coefficients.

    Raises:
        TypeError: `input` is no tensor.
        ValueError: it has less than 2 dimensions.
    """
    return _geqrf(_a_matrix("geqrf", "the input", input))


@op("HouseholderFactors", classes=(), multiple=True, no_gradient="LAPACK's reflections")
def _geqrf(x: Any) -> Any:
    """Upper triangle and reflections of a QR decomposition, and the coefficients of the reflections."""
    factors, coefficients = with_room(lambda x: jnp.linalg.qr(x, mode="raw"), floating(x))
    return jnp.swapaxes(factors, -1, -2), coefficients


def _reflected(vectors: Any, coefficients: Any, x: Any, adjoint: bool) -> Any:
    """The product of reflections with matrices: ``H_1 H_2 ... H_k x``, or the adjoint of that product with `x`."""
    rows, count = vectors.shape[-2], coefficients.shape[-1]
    below = jnp.tril(jnp.ones((rows, count), bool), -1)
    # each vector is 0 above its diagonal element, which is 1
    units = jnp.where(below, vectors[..., :count], jnp.eye(rows, count, dtype=vectors.dtype))
    units, scales = jnp.moveaxis(units, -1, 0), jnp.moveaxis(coefficients, -1, 0)
    if adjoint:
        scales = scales.conj()

    def reflect(x: Any, factor: Any) -> Any:
        unit, scale = factor
        along = jnp.einsum("...i,...ij->...j", unit.conj(), x)
        return x - scale[..., None, None] * unit[..., :, None] * along[..., None, :], None

    return jax.lax.scan(reflect, x, (units, scales), reverse=not adjoint)[0]


@op("HouseholderProduct", classes=())
def _orgqr(vectors: Any, coefficients: Any) -> Any:
    rows, columns = vectors.shape[-2:]
    unit = jnp.broadcast_to(jnp.eye(rows, columns, dtype=vectors.dtype), vectors.shape)
    return _reflected(vectors, coefficients, unit, False)


@_REFUSING
@shows("orgqr(*geqrf(Tensor([[3.0, 1.0], [4.0, 2.0]]))).abs()", "[[0.6 0.8]\n [0.8 0.6]]")
def orgqr(input: Any, input2: Any) -> Any:
    """The first columns of a product of reflections, which `geqrf` gives.

    Args:
        input: vectors below the diagonals of matrices, (..., m, n) with m not less than n.
        input2: coefficients, (..., k) with k not more than n.

    Returns:
        Tensor: like `input`.
    """
    x, scales = _a_matrix("orgqr", "input", input), _a_matrix("orgqr", "input2", input2, 1)
    if x.shape[-2] < x.shape[-1] or scales.shape[-1] > x.shape[-1] or scales.shape[:-1] != x.shape[:-2]:
        raise ValueError(f"orgqr: coefficients of shape {scales.shape} are not those of matrices of shape {x.shape}")
    return _orgqr(x, scales)


@op("HouseholderMultiply", classes=())
def _ormqr(vectors: Any, coefficients: Any, x: Any, *, left: bool, transpose: bool) -> Any:
    """The product of reflections with matrices, on the left or on the right of them."""
    if left:
        return _reflected(vectors, coefficients, x, transpose)
    return jnp.swapaxes(_reflected(vectors, coefficients, jnp.swapaxes(x, -1, -2).conj(), not transpose), -1, -2).conj()


@shows(
    "ormqr(*geqrf(Tensor([[3.0, 1.0], [4.0, 2.0]])), Tensor([[3.0], [4.0]]), transpose=True).abs().round()",
    "[[5.]\n [0.]]",
)
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Matrices multiplied by a product Q of reflections, which `geqrf` gives.

    Args:
        input: vectors below the diagonals of matrices, (..., mn, k).
        tau: coefficients, (..., min(mn, k)).
        other: the matrices, (..., m, n).
        left: ``Q @ other``, else ``other @ Q``.
        transpose: with the adjoint of Q.

    Returns:
        Tensor: like `other`.

    Raises:
        TypeError: an argument is no tensor, or no bool.
        ValueError: the shapes do not fit.
    """
    x, scales = _a_matrix("ormqr", "input", input), _a_matrix("ormqr", "tau", tau, 1)
    matrices = _a_matrix("ormqr", "other", other)
    bools("ormqr", left=left, transpose=transpose)
    if scales.shape[-1] > min(x.shape[-2:]) or matrices.shape[-2 if left else -1] != x.shape[-2]:
        raise ValueError(
            f"ormqr: shapes {x.shape} and {scales.shape} are no reflections of matrices of shape {matrices.shape}"
        )
    return _ormqr(x, scales, matrices, left, transpose)


@_REFUSING
@shows("lstsq(Tensor([[2.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), Tensor([[2.0], [4.0], [1.0]]))", "[[1.]\n [1.]]")
def lstsq(input: Any, A: Any) -> Any:
    """The solution of ``input @ x = A`` with the least squares, or of those that solve it the smallest one.

    Args:
        input: matrix of full rank, (m, n), of floats.
        A: right sides, (m, k) or (m,), of the same element type.

    Returns:
        Tensor: (n, k).
    """
    x, right = _a_matrix("lstsq", "input", input), _a_matrix("lstsq", "A", A, 1)
    if x.dtype is not right.dtype or not x.dtype.is_floating:
        raise TypeError(f"lstsq: the matrices must be of one floating type, not {x.dtype} and {right.dtype}")
    if x.ndim != 2 or right.ndim > 2 or right.shape[0] != x.shape[0]:
        raise ValueError(f"lstsq: right sides of shape {right.shape} do not fit a matrix of shape {x.shape}")
    kind = x.dtype
    if kind is dtypes.float16:
        x, right = x.astype(dtypes.float32), right.astype(dtypes.float32)
    right = right if right.ndim == 2 else right.expand_dims(-1)
    tall = x.shape[0] >= x.shape[1]
    q, r = qr(x if tall else x.T)
    found = triangular_solve(r, q.T @ right) if tall else q @ triangular_solve(r, right, transposed=True)
    return found.astype(kind)


@op("RowsOfPivots", classes=(), no_gradient="integer result")
def rows_of_pivots(pivots: Any, *, rows: int) -> Any:
    """The order in which an LU decomposition has the rows."""
    return jax.lax.linalg.lu_pivots_to_permutation(pivots.astype(jnp.int32) - 1, rows)


@_REFUSING
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The factors of an LU decomposition as matrices: ``P @ L @ U`` is what was decomposed.

    Args:
        LU_data: both triangles in one, (..., m, n).
        LU_pivots: rows that were exchanged, counted from 1, (..., min(m, n)).
        unpack_data: make L and U; else they are None.
        unpack_pivots: make P; else it is None.

    Returns:
        tuple[Tensor, Tensor, Tensor]: P, L and U.

    Example:
        >>> p, l, u = lu_unpack(Tensor([[4.0, 2.0], [0.5, 3.0]]), Tensor(np.array([2, 2], np.int32)))
        >>> print(p @ l @ u)
        [[2. 4.]
         [4. 2.]]
    """
    data, pivots = _a_matrix("lu_unpack", "LU_data", LU_data), _a_matrix("lu_unpack", "LU_pivots", LU_pivots, 1)
    rows, columns = data.shape[-2:]
    least = min(rows, columns)
    if pivots.shape != (*data.shape[:-2], least):
        raise ValueError(f"lu_unpack: pivots of shape {pivots.shape} are not those of matrices of shape {data.shape}")
    p = lower = upper = None
    if unpack_pivots:
        p = eye(rows, rows, data.dtype)[rows_of_pivots(pivots, rows)].swapaxes(-1, -2)
    if unpack_data:
        lower = tril(data[..., :least], -1) + eye(rows, least, data.dtype)
        upper = triu(data[..., :least, :])
    return p, lower, upper


_ORDERS: Final = (2, -2, 1, -1, float("inf"), float("-inf"), "fro", "nuc")


@shows("matrix_norm(Tensor([[3.0, 4.0], [0.0, 1.0]]), 1)", "5.0")
def matrix_norm(A: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The norm of the matrices in two axes.

    Args:
        A: tensor.
        ord: ``"fro"``, ``"nuc"``, ``inf``, ``-inf``, 1, -1, 2 or -2.
        axis: the two axes.
        keepdims: leave them with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor: floating point, without the axes.

    Raises:
        TypeError: `axis` is no tuple of ints.
        ValueError: there is no such norm or axis, or an axis comes twice.
    """
    matrices = _a_matrix("matrix_norm", "the input", A, 1)
    one_of("matrix_norm", _ORDERS, ord=ord)
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise (ValueError if isinstance(axis, (tuple, list)) else TypeError)(
            f"matrix_norm: axis must be a tuple of two ints, not {axis!r}"
        )
    axes = tuple(one_axis("matrix_norm", a, matrices.ndim) for a in axis)
    if axes[0] == axes[1]:
        raise ValueError(f"matrix_norm: axis {axis} names one axis twice")
    return norm(matrices, ord, axes, keepdims, dtype=dtype)


@_DIAGONALS
def matrix_diag(
    x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Matrices with diagonals, and a number elsewhere.

    Args:
        x: the elements of one diagonal, (..., length), or of several ones from the highest down,
            (..., number, length of the longest).
        num_rows: how many rows; -1 for as many as the diagonals need.
        num_cols: how many columns; -1 likewise.
        padding_value: the number elsewhere.

    Returns:
        Tensor: of shape (..., rows, columns).

    Example:
        >>> print(matrix_diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
        >>> print(matrix_diag(Tensor([1, 2]), k=1, padding_value=9))
        [[9 1 9]
         [9 9 2]
         [9 9 9]]
    """
    given = _a_matrix("matrix_diag", "x", x, 1)
    return segments.MatrixDiagV3(align)(given, k, num_rows, num_cols, padding_value)


@_DIAGONALS
def matrix_diag_part(x: Any, k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """The diagonals of matrices, as a table if they are several.

    Args:
        padding_value: the number that fills up shorter diagonals.

    Returns:
        Tensor: one diagonal, (..., length), or several ones from the highest down, (..., number, longest).

    Example:
        >>> print(matrix_diag_part(Tensor([[1, 2], [3, 4]])))
        [1 4]
        >>> print(matrix_diag_part(Tensor([[1, 2], [3, 4]]), Tensor([0, 1])))
        [[0 2]
         [1 4]]
    """
    given = _a_matrix("matrix_diag_part", "x", x)
    if isinstance(padding_value, Tensor) and padding_value.dtype is not given.dtype:
        raise TypeError(f"matrix_diag_part: padding_value must be of {given.dtype}, not of {padding_value.dtype}")
    return segments.MatrixDiagPartV3(align)(given, k, padding_value)


@_DIAGONALS
@shows("matrix_set_diag(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]))", "[[8 2]\n [3 9]]")
def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with other diagonals.

    Args:
        diagonal: the elements of one diagonal, (..., length), or of several ones from the highest down,
            (..., number, length of the longest).
        align: where shorter diagonals stand in their rows, those above the main one and those below it:
            ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"`` or ``"RIGHT_RIGHT"``.

    Returns:
        Tensor: like `x`.
    """
    matrices, given = _a_matrix("matrix_set_diag", "x", x), _a_matrix("matrix_set_diag", "diagonal", diagonal, 1)
    if given.ndim == matrices.ndim and given.shape[-2] == 1:  # one diagonal as a table
        given = given.squeeze(-2)
    return segments.set_diagonals("matrix_set_diag", matrices, given.astype(matrices.dtype), k, align)
