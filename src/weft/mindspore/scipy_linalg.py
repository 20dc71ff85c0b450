"""`mindspore.scipy.linalg`: decompositions, inverses and solutions of linear systems under SciPy's signatures."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import dtypes, ops
from weft.core.declare import as_operator
from weft.core.tensor import Tensor
from weft.errors import NoTensor
from weft.mindspore.numpy_operands import common
from weft.ops.linalg import lu_factors

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "inv", "lstsq", "lu", "lu_factor",
    "solve_triangular",
]  # fmt: skip

_KINDS: Final = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_DRIVERS: Final = (None, "gels", "gelsy", "gelss", "gelsd")


def _matrix(name: str, what: str, value: Any, square: bool = True) -> Tensor:
    """A matrix of floats; integers become float64.

    Raises:
        TypeError: it is no tensor, or one of another element type.
        ValueError: it has not two dimensions, or is to be square and is not.
    """
    if not isinstance(value, Tensor):
        raise NoTensor(f"{name}: {what} must be a Tensor, not {type(value).__name__}")
    if value.dtype not in _KINDS:
        raise TypeError(f"{name}: {what} must be int32, int64, float32 or float64, not {value.dtype}")
    if value.ndim != 2:
        raise ValueError(f"{name}: {what} must have two dimensions, not {value.ndim}")
    if square and value.shape[0] != value.shape[1]:
        raise ValueError(f"{name}: {what} must be square, not of shape {value.shape}")
    return _floats(value)


def _floats(value: Tensor) -> Tensor:
    return value if value.dtype.category >= 2 else value.astype(dtypes.float64)


def _flags(name: str, **flags: Any) -> None:
    """Refuse what is no bool.

    Raises:
        TypeError: one is none.
    """
    for what, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: {what} must be a bool, not {type(value).__name__} ({value!r})")


def block_diag(*arrs: Tensor) -> Tensor:
    """A matrix with blocks on its diagonal, in their common element type.

    Args:
        arrs: the blocks: tensors with two dimensions or fewer.

    Raises:
        ValueError: one has more.

    Example:
        >>> print(block_diag(Tensor([[1, 2]]), Tensor([3])))
        [[1 2 0]
         [0 0 3]]
    """
    if not arrs:
        return ops.zeros((1, 0), dtype=dtypes.float32)
    if any(each.ndim > 2 for each in arrs):
        raise ValueError("block_diag: the blocks must have two dimensions at most")
    blocks = common(arrs)
    return ops.block_diag(*[each if each.ndim == 2 else each.reshape((1, -1)) for each in blocks])


# -- Cholesky factors -------------------------------------------------------------------------------------------


def cholesky(a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The Cholesky factor of a symmetric positive definite matrix.

    Args:
        a: the matrix.
        lower: give the lower triangular factor, not the upper one.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        TypeError: `a` is no tensor of a type that is supported, or `lower` no bool.
        ValueError: `a` is no square matrix.

    Example:
        >>> print(cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]])))
        [[2. 0.]
         [0. 3.]]
    """
    _flags("cholesky", lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.cholesky(_matrix("cholesky", "a", a), upper=not lower)


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """The Cholesky factor of a symmetric positive definite matrix for `cho_solve`, and `lower`.

    Args:
        a: the matrix.
        lower: give the lower triangular factor, not the upper one.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        ValueError: `a` is no square matrix.

    Example:
        >>> cho_factor(Tensor([[4.0, 0.0], [0.0, 9.0]]))[1]
        False
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower: Any, b: Tensor, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """The solution of a linear system of whose matrix the Cholesky factor is known.

    Args:
        c_and_lower: what `cho_factor` gives.
        b: the right-hand side: a vector or a matrix.
        overwrite_b: of no account.
        check_finite: of no account.

    Raises:
        TypeError: the element types differ.
        ValueError: the shapes do not fit.

    Example:
        >>> print(cho_solve(cho_factor(Tensor([[4.0, 0.0], [0.0, 9.0]])), Tensor([4.0, 9.0])))
        [1. 1.]
    """
    factor, lower = c_and_lower
    _flags("cho_solve", lower=lower, overwrite_b=overwrite_b, check_finite=check_finite)
    factor = _matrix("cho_solve", "c", factor)
    first = solve_triangular(factor, b, 0 if lower else 1, lower)
    return solve_triangular(factor, first, 1 if lower else 0, lower)


# -- eigenvalues, inverses, LU ----------------------------------------------------------------------------------


def eigh(
    a: Tensor,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: Any = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues of a symmetric matrix, in ascending order, and its eigenvectors.

    Args:
        a: the matrix.
        b: None.
        lower: whether the lower triangle of the matrix counts, not the upper one.
        eigvals_only: give the eigenvalues only.
        overwrite_a: of no account.
        overwrite_b: of no account.
        turbo: of no account.
        eigvals: None.
        type: of no account.
        check_finite: of no account.

    Raises:
        TypeError: `a` is no tensor of a type that is supported, or a flag no bool.
        ValueError: `a` is no square matrix, or `b` or `eigvals` is given.

    Example:
        >>> print(eigh(Tensor([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
        [1. 2.]
    """
    del type
    _flags("eigh", lower=lower, eigvals_only=eigvals_only, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    _flags("eigh", turbo=turbo, check_finite=check_finite)
    matrix = _matrix("eigh", "a", a)
    if b is not None or eigvals is not None:
        raise ValueError("eigh: b and eigvals must be None")
    half = ops.tril(matrix) if lower else ops.triu(matrix)
    values, vectors = ops.eigh(half + (ops.tril(matrix, -1) if lower else ops.triu(matrix, 1)).T)
    return values if eigvals_only else (values, vectors)


def det(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant of a matrix.

    Args:
        a: the matrix.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        ValueError: it is no square matrix.

    Example:
        >>> print(det(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        8.0
    """
    _flags("det", overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.det(_matrix("det", "a", a))


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse of a matrix.

    Args:
        a: the matrix.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        ValueError: it is no square matrix.

    Example:
        >>> print(inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    _flags("inv", overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.inverse(_matrix("inv", "a", a))


def lu_factor(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """The factors L and U of a square matrix in one matrix, and with which row each was exchanged.

    Args:
        a: the matrix.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        ValueError: it is no square matrix.

    Example:
        >>> print(*lu_factor(Tensor([[4.0, 2.0], [2.0, 4.0]])))
        [[4.  2. ]
         [0.5 3. ]] [0 1]
    """
    _flags("lu_factor", overwrite_a=overwrite_a, check_finite=check_finite)
    factors, pivots, _ = lu_factors(_matrix("lu_factor", "a", a))
    return factors, pivots


def lu(a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The factors of a matrix: a permutation (as int32), a lower and an upper triangular one.

    Args:
        a: the matrix.
        permute_l: multiply the first two.
        overwrite_a: of no account.
        check_finite: of no account.

    Raises:
        ValueError: it is no matrix.

    Example:
        >>> print(lu(Tensor([[1.0, 2.0], [2.0, 4.0]]), permute_l=True)[0])
        [[0.5 1. ]
         [1.  0. ]]
    """
    _flags("lu", permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    matrix = _matrix("lu", "a", a, square=False)
    rows, columns = matrix.shape
    factors, _, order = lu_factors(matrix)
    inner = min(rows, columns)
    lower = ops.tril(factors[:, :inner], -1) + ops.eye(rows, inner, matrix.dtype)
    upper = ops.triu(factors[:inner])
    places = Tensor(np.arange(rows, dtype=np.int32).reshape((-1, 1)))
    permutation = (places == order.reshape((1, -1))).astype(dtypes.int32)
    if permute_l:
        return ops.matmul(permutation.astype(matrix.dtype), lower), upper
    return permutation, lower, upper


# -- linear systems ---------------------------------------------------------------------------------------------


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """The solution of a linear system with a triangular matrix.

    Args:
        a: the matrix, perhaps several.
        b: the right-hand side: (..., m) or (..., m, n).
        trans: 0 or ``"N"``: the matrix itself; 1 or ``"T"``: it transposed; 2 or ``"C"``: and conjugated.
        lower: whether the lower triangle counts, not the upper one.
        unit_diagonal: take the elements on the diagonal for 1.
        overwrite_b: of no account.
        debug: of no account.
        check_finite: of no account.

    Raises:
        TypeError: the element types differ.
        ValueError: `a` is no square matrix, the shapes do not fit, or there is no such `trans`.

    Example:
        >>> print(solve_triangular(Tensor([[3.0, 0.0], [1.0, 2.0]]), Tensor([3.0, 1.0]), lower=True))
        [1. 0.]
    """
    del overwrite_b, debug, check_finite
    for what, each in (("a", a), ("b", b)):
        if not isinstance(each, Tensor):
            raise NoTensor(f"solve_triangular: {what} must be a Tensor, not {type(each).__name__}")
    if a.dtype is not b.dtype:
        raise TypeError(f"solve_triangular: a is {a.dtype} and b {b.dtype}")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"solve_triangular: a must be square, not of shape {a.shape}")
    column = b.ndim == a.ndim - 1
    right = b.reshape((*b.shape, 1)) if column else b
    if right.ndim != a.ndim or right.shape[:-1] != a.shape[:-1]:
        raise ValueError(f"solve_triangular: {a.shape} and {b.shape} do not fit")
    matrix = ops.conj(a) if trans in (2, "C") and a.dtype.category > 2 else a
    found = ops.triangular_solve(_floats(matrix), _floats(right), lower, trans not in (0, "N"), unit_diagonal)
    return found.reshape(b.shape) if column else found


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, driver: str | None = None) -> Any:
    """The least-squares solution of linear systems.

    Args:
        A: the matrices: (..., m, n).
        B: the right-hand sides: (..., m, k) or (..., m).
        rcond: of no account.
        driver: which of the other results there are: those of LAPACK's ``"gels"``, ``"gelsy"`` (the default),
            ``"gelss"`` or ``"gelsd"``.

    Returns:
        The solutions; the squared distances (not of ``"gelsy"``, and for more rows than columns); the ranks (not of
        ``"gels"``); the singular values (of ``"gelss"`` and ``"gelsd"``). What there is not is empty.

    Raises:
        TypeError: the element types differ.
        ValueError: `A` is no matrix, the shapes do not fit, or there is no such driver.

    Example:
        >>> print(lstsq(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]]), driver="gels")[1])
        [2.]
    """
    del rcond
    for what, each in (("A", A), ("B", B)):
        if not isinstance(each, Tensor):
            raise NoTensor(f"lstsq: {what} must be a Tensor, not {type(each).__name__}")
    if A.dtype is not B.dtype:
        raise TypeError(f"lstsq: A is {A.dtype} and B {B.dtype}")
    if driver not in _DRIVERS:
        raise ValueError(f"lstsq: driver must be one of {_DRIVERS}, not {driver!r}")
    if A.ndim < 2:
        raise ValueError(f"lstsq: A must have two dimensions at least, not {A.ndim}")
    column = B.ndim == A.ndim - 1
    right = B.reshape((*B.shape, 1)) if column else B
    rows, columns = A.shape[-2:]
    if right.ndim < 2 or right.shape[-2] != rows:
        raise ValueError(f"lstsq: {A.shape} and {B.shape} do not fit")
    solution = ops.matmul(ops.pinv(A), right)
    nothing = ops.zeros((0,), dtype=A.dtype)
    residual, rank, values = nothing, ops.zeros((0,), dtype=dtypes.int64), nothing
    if driver in ("gels", "gelss", "gelsd") and rows > columns:
        residual = ops.square(ops.abs(ops.matmul(A, solution) - right)).sum(-2)
        residual = residual.reshape(residual.shape[:-1]) if column else residual
    if driver != "gels":
        sizes = ops.svd(ops.stop_gradient(A), compute_uv=False)
        least = ops.amax(sizes, -1, True) * (max(rows, columns) * float(np.finfo(sizes.dtype.np_dtype).eps))
        rank = (sizes > least).astype(dtypes.int64).sum(-1)
        values = sizes if driver in ("gelss", "gelsd") else nothing
    return (solution.reshape(solution.shape[:-1]) if column else solution), residual, rank, values


@as_operator
def SolveTriangular(a: Any, b: Any, *, lower: bool = False, unit_diagonal: bool = False, trans: str = "N") -> Tensor:
    """The solution of a linear system with a triangular matrix, see `solve_triangular`."""
    return solve_triangular(a, b, trans, lower, unit_diagonal)
