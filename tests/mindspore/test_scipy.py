"""`mindspore.scipy` against SciPy: values, element types, compiled and not, gradients, bad calls."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import weft
import weft.mindspore
from weft import Tensor

S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], np.float32)
A = np.array([[2.0, 5.0, 8.0], [5.0, 2.0, 2.0], [7.0, 5.0, 6.0]], np.float32)
R = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], np.float32)
B = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]], np.float32)


def lstsq(driver: Any) -> Any:
    def expected(a: Any, b: Any) -> Any:
        x, residual, rank, sizes = np.linalg.lstsq(a, b, rcond=None)
        return (
            x,
            residual if driver in ("gels", "gelss", "gelsd") else np.zeros(0, np.float32),
            np.int64(rank) if driver != "gels" else np.zeros(0, np.int64),
            sizes if driver in ("gelss", "gelsd") else np.zeros(0, np.float32),
        )

    return expected


#: name, arguments, keywords, what is expected, whether there is a gradient
CASES: tuple[tuple[Any, ...], ...] = (
    ("block_diag", (S, B, B[:, 0]), {}, lambda *a: scipy.linalg.block_diag(*a), True),
    ("cholesky", (S,), {}, lambda a: scipy.linalg.cholesky(a), False),
    ("cholesky", (S,), {"lower": True}, lambda a: scipy.linalg.cholesky(a, lower=True), False),
    ("det", (A,), {}, scipy.linalg.det, True),
    ("inv", (A,), {}, scipy.linalg.inv, True),
    ("eigh", (A,), {"eigvals_only": True}, lambda a: scipy.linalg.eigh(a, eigvals_only=True), True),
    ("eigh", (A,), {"eigvals_only": True, "lower": False}, lambda a: scipy.linalg.eigh(a, lower=False)[0], True),
    ("lu", (A,), {}, scipy.linalg.lu, True),
    ("lu", (B,), {"permute_l": True}, lambda a: scipy.linalg.lu(a, permute_l=True), True),
    ("lu", (B.T.copy(),), {}, scipy.linalg.lu, True),
    ("lu_factor", (A,), {}, scipy.linalg.lu_factor, True),
    ("solve_triangular", (A, B), {}, scipy.linalg.solve_triangular, True),
    *(
        ("solve_triangular", (A, B[:, 0]), kwargs, partial(scipy.linalg.solve_triangular, **kwargs), True)
        for kwargs in ({"lower": True}, {"trans": "T"}, {"trans": 2, "lower": True, "unit_diagonal": True})
    ),
    *(("lstsq", (R, B), {"driver": driver}, lstsq(driver), True) for driver in (None, "gels", "gelsd")),
)  # fmt: skip


def leaves(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def close(found: Any, expected: Any) -> None:
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(one.asnumpy(), other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}{at}" for at, case in enumerate(CASES)])
def test_as_scipy(case: tuple[Any, ...]) -> None:
    import mindspore.scipy.linalg as linalg

    name, args, kwargs, expected, gradient = case
    rest = [Tensor(each) for each in args[1:]]

    def run(first: Any) -> Any:
        return getattr(linalg, name)(first, *rest, **kwargs)

    compiled = weft.jit(run)
    for function in (run, compiled):
        for scale in (1, 2):
            first = (args[0] * scale).astype(np.float32)
            found = function(Tensor(first))
            close(found, expected(first, *args[1:]))
            assert leaves(found)[-1 if name != "lu_factor" and name != "lstsq" else 0].asnumpy().dtype == np.float32
    if not gradient:
        return

    def loss(x: Any) -> Any:
        return sum((each * each).sum() for each in leaves(run(x)) if each.dtype.is_floating and each.size)

    def numeric_loss(x: Any) -> float:
        found = leaves(expected(x, *[each.astype(np.float64) for each in args[1:]]))
        sizes = (each.asnumpy() for each in leaves(run(Tensor(args[0]))))
        counted = [each for each, made in zip(found, sizes, strict=True) if made.dtype == np.float32]
        return float(sum(np.sum(np.square(each)) for each in counted))

    exact = weft.grad(loss)(Tensor(args[0])).asnumpy()
    if name == "lstsq" and kwargs["driver"] == "gelsd":
        return  # the singular values that it gives have no gradient
    numeric = np.zeros(args[0].shape)
    for at in np.ndindex(args[0].shape):
        step = np.zeros(args[0].shape)
        step[at] = 1e-5
        numeric[at] = (numeric_loss(args[0] + step) - numeric_loss(args[0] - step)) / 2e-5
    np.testing.assert_allclose(exact, numeric, rtol=5e-3, atol=5e-3)


def test_cholesky_solutions() -> None:
    import mindspore.scipy.linalg as linalg

    for lower in (False, True):

        def solve(matrix: Any, right: Any, lower: bool = lower) -> Any:
            return linalg.cho_solve(linalg.cho_factor(matrix, lower), right)

        for run in (solve, weft.jit(solve)):
            close(run(Tensor(S), Tensor(B)), np.linalg.solve(S, B))
            close(run(Tensor(S), Tensor(B[:, 0])), np.linalg.solve(S, B[:, 0]))
        assert linalg.cho_factor(Tensor(S), lower)[1] is lower
    gradient = weft.grad(lambda m: linalg.cho_solve(linalg.cho_factor(m), Tensor(B)).sum())(Tensor(S))
    inverse = np.linalg.inv(S)
    np.testing.assert_allclose(gradient.asnumpy(), gradient.asnumpy().T, rtol=1e-4)
    exact = -inverse.T @ np.ones((3, 2)) @ (inverse @ B).T
    np.testing.assert_allclose(gradient.asnumpy(), (exact + exact.T) / 2, rtol=1e-3)


def test_eigenvectors() -> None:
    import mindspore.scipy.linalg as linalg

    for run in (linalg.eigh, weft.jit(linalg.eigh)):
        values, vectors = run(Tensor(S))
        close(weft.ops.matmul(Tensor(S), vectors), (vectors * values).asnumpy())
    assert linalg.inv(Tensor(S.astype(np.int32))).dtype is weft.dtypes.float64
    assert linalg.lu(Tensor(A))[0].dtype is weft.dtypes.int32


@pytest.mark.parametrize("method", ["BFGS", "LBFGS"])
def test_minima(method: str) -> None:
    import mindspore.scipy.optimize as optimize

    def rosenbrock(x: Any) -> Any:
        return (x[0] - 1) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2

    found = optimize.minimize(rosenbrock, Tensor([0.0, 0.0]), method=method)
    assert found.success
    assert found.status == 0
    assert found.nit <= found.nfev == found.njev < 200
    np.testing.assert_allclose(found.x.asnumpy(), [1, 1], atol=1e-3)
    assert (found.hess_inv is None) == (method == "LBFGS")

    def shifted(x: Any, at: Any) -> Any:
        return ((x - at) ** 2).sum()

    target = Tensor([1.0, -2.0, 3.0])
    for jac in (None, lambda x, at: 2 * (x - at)):
        for start in (Tensor([0.0, 0.0, 0.0]), target):
            found = optimize.minimize(shifted, start, (target,), method, jac)
            np.testing.assert_allclose(found.x.asnumpy(), target.asnumpy(), atol=1e-5)
            assert isinstance(found.fun, float)
    compiled = weft.jit(lambda x: optimize.minimize(shifted, x, (target,), method).x)
    for start in ([0.0, 0.0, 0.0], [5.0, 5.0, 5.0]):
        np.testing.assert_allclose(compiled(Tensor(start)).asnumpy(), target.asnumpy(), atol=1e-5)
    found = optimize.minimize(rosenbrock, Tensor([0.0, 0.0]), method=method, options={"maxiter": 2})
    assert (found.success, found.status, found.nit) == (False, 1, 2)


def test_line_search() -> None:
    import mindspore.scipy.optimize as optimize

    def square(x: Any) -> Any:
        return ((x - Tensor([1.0, 2.0])) ** 2).sum()

    origin = Tensor([0.0, 0.0])
    found = optimize.line_search(square, origin, Tensor([1.0, 2.0]))
    assert (found.failed, found.a_k, found.f_k, found.status, found.nit, found.k) == (False, 1.0, 0.0, 0, 1, 2)
    assert found.g_k.asnumpy().tolist() == [0, 0]
    for scale in (0.05, 5.0):
        found = optimize.line_search(square, origin, Tensor([scale, 2 * scale]))
        assert not found.failed
        assert found.f_k <= 5 - 1e-4 * found.a_k * 10 * scale
        assert abs(float((found.g_k * Tensor([scale, 2 * scale])).sum())) <= 0.9 * 10 * scale
    assert optimize.line_search(square, origin, Tensor([-1.0, -2.0])).failed


def test_assignments() -> None:
    import mindspore.scipy.optimize as optimize

    costs = np.array([[2.0, 3.0, 3.5], [3.0, 2.0, 1.0], [3.0, 0.5, 2.0]], np.float32)
    for matrix in (costs, costs[:2], costs[:, :2], costs.astype(np.int32)):
        for maximize in (False, True):
            expected = scipy.optimize.linear_sum_assignment(matrix, maximize)

            def assign(x: Any, maximize: bool = maximize) -> Any:
                return optimize.linear_sum_assignment(x, maximize)

            for run in (assign, weft.jit(assign)):
                found = run(Tensor(matrix))
                assert [each.asnumpy().tolist() for each in found] == [each.tolist() for each in expected]
                assert found[0].dtype is weft.dtypes.int64
    limited = optimize.linear_sum_assignment(Tensor(costs), False, Tensor(2))
    assert [each.asnumpy().tolist() for each in limited] == [[0, 2, -1], [0, 1, -1]]
    gradient = weft.grad(lambda x: (x[optimize.linear_sum_assignment(x, False)] * 2.0).sum())(Tensor(costs))
    assert gradient.asnumpy().tolist() == [[2, 0, 0], [0, 0, 2], [0, 2, 0]]


BAD: tuple[Any, ...] = (
    (ValueError, "linalg", "block_diag", (S[None],), {}),
    (ValueError, "linalg", "cholesky", (R,), {}),
    (TypeError, "linalg", "cholesky", ([[1.0]],), {}),
    (TypeError, "linalg", "cholesky", (S,), {"lower": 1}),
    (TypeError, "linalg", "cholesky", (S.astype(np.float16),), {}),
    (ValueError, "linalg", "cho_factor", (S[None],), {}),
    (ValueError, "linalg", "cho_solve", ((Tensor(S), False), R[:2]), {}),
    (ValueError, "linalg", "eigh", (S, S), {}),
    (ValueError, "linalg", "inv", (R,), {}),
    (ValueError, "linalg", "det", (R,), {}),
    (ValueError, "linalg", "lu", (R[0],), {}),
    (ValueError, "linalg", "lu_factor", (R,), {}),
    (ValueError, "linalg", "solve_triangular", (S, B[:2]), {}),
    (ValueError, "linalg", "solve_triangular", (S, B), {"trans": 5}),
    (TypeError, "linalg", "solve_triangular", (S, B.astype(np.float64)), {}),
    (ValueError, "linalg", "lstsq", (R, B[:2]), {}),
    (ValueError, "linalg", "lstsq", (R, B), {"driver": "x"}),
    (ValueError, "optimize", "linear_sum_assignment", (B[0], False), {}),
    (TypeError, "optimize", "linear_sum_assignment", (B, 1), {}),
    (TypeError, "optimize", "linear_sum_assignment", (B, False, np.array(2, np.int32)), {}),
    (ValueError, "optimize", "minimize", (abs, B[0]), {}),
    (ValueError, "optimize", "minimize", (abs, B[0]), {"method": "x"}),
    (ValueError, "optimize", "minimize", (abs, B), {"method": "BFGS"}),
    (TypeError, "optimize", "minimize", (abs, B[0]), {"method": "BFGS", "args": 3}),
)


@pytest.mark.parametrize(("error", "file", "name", "args", "kwargs"), BAD)
def test_refused(error: type[Exception], file: str, name: str, args: Any, kwargs: Any) -> None:
    import mindspore.scipy as msp

    given = [Tensor(each) if isinstance(each, np.ndarray) else each for each in args]
    with pytest.raises(error):
        getattr(getattr(msp, file), name)(*given, **kwargs)
