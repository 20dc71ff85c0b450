"""`mindspore.scipy.optimize`: minima by quasi-Newton methods, line search, the assignment problem.

The line search is algorithm 3.5 of Nocedal and Wright, Numerical Optimization, with steps halved or interpolated in
brackets (3.6); BFGS is their algorithm 6.1, L-BFGS 7.4 and 7.5.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from weft import dtypes, lazily, ops
from weft.autodiff.grad import value_and_grad
from weft.core.tensor import Tensor
from weft.errors import NoTensor

__all__ = ["line_search", "linear_sum_assignment", "minimize"]

_scipy: Any = lazily.deferred("scipy.optimize")
#: the gradient at a minimum: no element is larger
_SMALL: Final = 1e-5


class OptimizeResults(NamedTuple):
    """What `minimize` has found."""

    x: Tensor
    success: bool
    status: int
    fun: float
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class LineSearchResults(NamedTuple):
    """What `line_search` has found."""

    failed: bool
    nit: int
    nfev: int
    ngev: int
    k: int
    a_k: float
    f_k: float
    g_k: Tensor
    status: int


class _Function:
    """A function of a vector with its gradient, which counts its calls."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], jac: Callable[..., Any] | None) -> None:
        self._args, self._function, self._jac = args, function, jac
        self._both = value_and_grad(function, 0) if jac is None else None
        self.calls = 0

    def __call__(self, x: Tensor) -> tuple[float, Tensor]:
        self.calls += 1
        if self._jac is not None:
            return float(self._function(x, *self._args)), self._jac(x, *self._args)
        assert self._both is not None
        value, gradient = self._both(x, *self._args)
        return float(value), gradient


def _product(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum())


class _Step(NamedTuple):
    """A step along a line: how far, the value, the slope and the gradient there."""

    far: float
    value: float
    slope: float
    gradient: Tensor


def _between(low: _Step, high: _Step) -> float:
    """Where the cubic through two steps is least, or in the middle where that is too near to an end."""
    width = high.far - low.far
    first = low.slope + high.slope - 3 * (low.value - high.value) / (low.far - high.far)
    inner = first * first - low.slope * high.slope
    if inner >= 0:
        root = math.copysign(math.sqrt(inner), width)
        below = high.slope - low.slope + 2 * root
        if below:
            found = high.far - width * (high.slope + root - first) / below
            if abs(found - low.far) > 0.1 * abs(width) and 0.1 * abs(width) < abs(high.far - found):
                return found if min(low.far, high.far) < found < max(low.far, high.far) else low.far + width / 2
    return low.far + width / 2


def _search(
    function: _Function, x: Tensor, direction: Tensor, start: _Step, c1: float, c2: float, maxiter: int
) -> tuple[_Step, bool, int]:
    """A step that meets the strong Wolfe conditions, whether one was found, and after how many iterations."""

    def at(far: float) -> _Step:
        value, gradient = function(x + direction * far)
        return _Step(far, value, _product(gradient, direction), gradient)

    def enough(step: _Step) -> bool:
        return step.value <= start.value + c1 * step.far * start.slope

    def flat(step: _Step) -> bool:
        return abs(step.slope) <= -c2 * start.slope

    before, step = start, at(1.0)
    for count in range(1, maxiter + 1):
        if not enough(step) or (step.value >= before.value and count > 1):
            low, high = before, step
        elif flat(step):
            return step, True, count
        elif step.slope >= 0:
            low, high = step, before
        else:
            before, step = step, at(2 * step.far)
            continue
        for _ in range(maxiter):
            if low.far == high.far:
                break
            step = at(_between(low, high))
            if not enough(step) or step.value >= low.value:
                high = step
            elif flat(step):
                return step, True, count
            else:
                if step.slope * (high.far - low.far) >= 0:
                    high = low
                low = step
        return low, low.far > 0 and enough(low) and low.value < start.value, count
    return step, False, maxiter


def line_search(
    f: Callable[..., Any],
    xk: Tensor,
    pk: Tensor,
    jac: Callable[..., Any] | None = None,
    gfk: Tensor | None = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> LineSearchResults:
    """A step along a direction that meets the strong Wolfe conditions.

    Args:
        f: the function of a vector.
        xk: where to begin.
        pk: the direction.
        jac: the gradient of the function, if it is not to be computed from the function.
        gfk: the gradient where to begin, if it is known.
        old_fval: the value there, if it is known.
        old_old_fval: of no account.
        c1: how much of the decrease that the slope promises is enough.
        c2: how much of the slope may be left.
        maxiter: after how many iterations to stop.

    Returns:
        A named tuple: whether it `failed`, the iterations `nit`, calls of the function and the gradient `nfev` and
        `ngev`, the step `k` after the last iteration, how far `a_k`, and value and gradient there, `f_k` and `g_k`;
        `status` is 0 if a step was found.

    Example:
        >>> line_search(lambda x: (x * x).sum(), Tensor([1.0]), Tensor([-1.0])).a_k
        1.0
    """
    del old_old_fval
    function = _Function(f, (), jac)
    if gfk is None or old_fval is None:
        value, gradient = function(xk)
        old_fval, gfk = value if old_fval is None else old_fval, gradient if gfk is None else gfk
    start = _Step(0.0, float(old_fval), _product(gfk, pk), gfk)
    step, found, count = _search(function, xk, pk, start, c1, c2, maxiter)
    return LineSearchResults(
        not found, count, function.calls, function.calls, count + 1, step.far, step.value, step.gradient, int(not found)
    )


class _Dense:
    """The inverse of the Hessian, estimated by a matrix."""

    def __init__(self, count: int, kind: Any) -> None:
        self.matrix: Tensor | None = ops.eye(count, count, kind)

    def direction(self, gradient: Tensor) -> Tensor:
        """Where the estimate leads."""
        return -ops.matmul(self.matrix, gradient)

    def learn(self, step: Tensor, change: Tensor, product: float) -> None:
        """Better the estimate by how the gradient changed along a step."""
        column = ops.matmul(self.matrix, change)
        both = ops.outer(step, column)
        scale = (1 + _product(change, column) / product) / product
        self.matrix = self.matrix - (both + both.T) / product + ops.outer(step, step) * scale


class _Limited:
    """The inverse of the Hessian, known by the last steps."""

    matrix: Tensor | None = None

    def __init__(self, history: int) -> None:
        self._history = history
        self._steps: list[tuple[Tensor, Tensor, float]] = []

    def direction(self, gradient: Tensor) -> Tensor:
        """Where the estimate leads."""
        found, weights = gradient, []
        for step, change, product in reversed(self._steps):
            weights.append(_product(step, found) / product)
            found = found - change * weights[-1]
        if self._steps:
            _, change, product = self._steps[-1]
            found = found * (product / _product(change, change))
        for (step, change, product), weight in zip(self._steps, reversed(weights), strict=True):
            found = found + step * (weight - _product(change, found) / product)
        return -found

    def learn(self, step: Tensor, change: Tensor, product: float) -> None:
        """Keep how the gradient changed along a step."""
        self._steps = [*self._steps, (step, change, product)][-self._history :]


def minimize(
    func: Callable[..., Any],
    x0: Tensor,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    jac: Callable[..., Any] | None = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of a function of a vector.

    Args:
        func: the function: of the vector and `args`, to a number.
        x0: where to begin.
        args: what else the function is given.
        method: ``"BFGS"`` or ``"LBFGS"``.
        jac: the gradient, if it is not to be computed from the function.
        hess: of no account.
        hessp: of no account.
        bounds: of no account.
        constraints: of no account.
        tol: how large the elements of the gradient may be at the end, 1e-5 by default.
        callback: of no account.
        options: ``maxiter``, ``gtol``, and for ``"LBFGS"`` ``history_size``.

    Returns:
        A named tuple: `x`, whether that is a minimum (`success`), `status` (1: the number of iterations was not
        enough, 3: no step leads on), value `fun` and gradient `jac` there, the estimated `hess_inv` (of ``"BFGS"``),
        and how many calls and iterations there were: `nfev`, `njev`, `nit`.

    Raises:
        NotImplementedError: `method` is ``"LAGRANGE"``.
        TypeError: `args` is no tuple, or `x0` no tensor.
        ValueError: there is no such method, or none is given.

    Example:
        >>> print(minimize(lambda x: ((x - 3.0) ** 2).sum(), Tensor([0.0]), method="BFGS").x.round())
        [3.]
    """
    del hess, hessp, bounds, constraints, callback
    if method is None:
        raise ValueError("minimize: a method must be given")
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple, not {type(args).__name__}")
    if not isinstance(x0, Tensor):
        raise NoTensor(f"minimize: x0 must be a Tensor, not {type(x0).__name__}")
    if method.lower() == "lagrange":
        raise NotImplementedError("minimize: the method LAGRANGE is not supported")
    if method.lower() not in ("bfgs", "lbfgs"):
        raise ValueError(f"minimize: method must be 'BFGS' or 'LBFGS', not {method!r}")
    if x0.ndim != 1:
        raise ValueError(f"minimize: x0 must have one dimension, not {x0.ndim}")
    given = dict(options or {})
    limit = given.get("maxiter") or 200 * x0.shape[0]
    small = tol if tol is not None else given.get("gtol", _SMALL)
    x = x0 if x0.dtype.category >= 2 else x0.astype(dtypes.float32)
    function = _Function(func, args, jac)
    estimate: Any = _Dense(x.shape[0], x.dtype) if method.lower() == "bfgs" else _Limited(given.get("history_size", 20))
    value, gradient = function(x)
    status, count = 0, 0
    while not _largest(gradient) < small:
        if count == limit:
            status = 1
            break
        direction = estimate.direction(gradient)
        start = _Step(0.0, value, _product(gradient, direction), gradient)
        step, found, _ = _search(function, x, direction, start, 1e-4, 0.9, 20)
        if not found:
            status = 3
            break
        count += 1
        moved, change = direction * step.far, step.gradient - gradient
        x, value, gradient = x + moved, step.value, step.gradient
        product = _product(moved, change)
        if product > 0:
            estimate.learn(moved, change, product)
    return OptimizeResults(
        x, status == 0, status, value, gradient, estimate.matrix, function.calls, function.calls, count
    )


def _largest(gradient: Tensor) -> float:
    return float(ops.abs(gradient).max()) if gradient.shape[0] else 0.0


# -- assignment -------------------------------------------------------------------------------------------------


def _assigned(costs: Any, maximize: bool, limit: Any) -> tuple[Any, Any]:
    """The rows and columns of an assignment, -1 behind them."""
    count = min(costs.shape)
    rows, columns = _scipy.linear_sum_assignment(costs[:, : int(limit)], maximize)
    found = np.full((2, count), -1, np.int64)
    found[:, : len(rows)] = rows, columns
    return found[0], found[1]


_ASSIGNMENT: Final = ops.Custom(
    _assigned,
    out_shape=lambda costs, *_: ([min(costs)], [min(costs)]),
    out_dtype=lambda *_: (dtypes.int64, dtypes.int64),
)


def linear_sum_assignment(
    cost_matrix: Tensor, maximize: bool, dimension_limit: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Which column each row is given, so that the sum of the costs is least.

    Args:
        cost_matrix: the costs.
        maximize: make the sum as large as possible.
        dimension_limit: how many columns count: an int64 number; all by default.

    Returns:
        tuple[Tensor, Tensor]: rows and columns as int64, as many as the smaller size; -1 where there are fewer.

    Raises:
        TypeError: `maximize` is no bool, `cost_matrix` is no tensor, or `dimension_limit` is not int64.
        ValueError: the costs are no matrix.

    Example:
        >>> print(*linear_sum_assignment(Tensor([[4.0, 1.0], [2.0, 3.0]]), False))
        [0 1] [1 0]
    """
    if not isinstance(cost_matrix, Tensor):
        raise NoTensor(f"linear_sum_assignment: the costs must be a Tensor, not {type(cost_matrix).__name__}")
    if not isinstance(maximize, bool):
        raise TypeError(f"linear_sum_assignment: maximize must be a bool, not {type(maximize).__name__}")
    if cost_matrix.ndim != 2:
        raise ValueError(f"linear_sum_assignment: the costs must have two dimensions, not {cost_matrix.ndim}")
    limit = Tensor(sys.maxsize) if dimension_limit is None else dimension_limit
    if limit.dtype is not dtypes.int64:
        raise TypeError(f"linear_sum_assignment: dimension_limit must be int64, not {limit.dtype}")
    found: tuple[Tensor, Tensor] = _ASSIGNMENT(ops.stop_gradient(cost_matrix), maximize, limit)
    return found
