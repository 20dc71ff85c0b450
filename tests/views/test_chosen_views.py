"""A branch on a tensor chooses between tensors that share elements: what is made of it, and what leaves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit
from weft.errors import Unsupported

#: ways to name all elements of a matrix, as they lie
VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda y: y,
    "transposed twice": lambda y: y.T.T,
    "turned twice": lambda y: y[::-1][::-1],
    "reshaped twice": lambda y: y.reshape(6).reshape(2, 3),
    "all of it": lambda y: y[...],
    "detached": lambda y: y.detach(),
    "a row of a new axis": lambda y: y[None][0],
    "swapped": lambda y: y.T.swapaxes(0, 1),
}
USES: dict[str, Callable[[Any], Any]] = {
    "a row": lambda q: q[1],
    "the choice": lambda q: q,
    "a column": lambda q: q[:, 0],
    "transposed": lambda q: q.T,
    "flat": lambda q: q.reshape(6),
    "diagonal": lambda q: q.diagonal(),
}
MODES: dict[str, Callable[..., Any]] = {
    "jit": jit,
    "whole": lambda f: jit(f, fullgraph=True),
    "PSJit": lambda f: jit(f, mode="PSJit"),
}


def matrix(factor: float) -> Tensor:
    return Tensor(np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3) * np.float32(factor))


def found(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    return [found(item) for item in value] if isinstance(value, (tuple, list)) else value


def compare(function: Callable[..., Any], arguments: Callable[[float], tuple[Any, ...]]) -> None:
    """Call a function eagerly and compiled with changing values, write what it returns, and compare all that shows."""

    def history(run: Callable[..., Any]) -> list[Any]:
        seen = []
        for factor in (1.0, 10.0, -1.0, -10.0, 2.0):
            given = arguments(factor)
            results = run(*given)
            results = results if isinstance(results, tuple) else (results,)
            seen.append(found(results))
            if isinstance(results[0], Tensor):
                results[0].add_(1.0)
                seen.append((found(results), found(given)))
                given[0].mul_(2.0)
                seen.append((found(results), found(given)))
        return seen

    expected = history(function)
    for name, mode in MODES.items():
        try:
            got = history(mode(function))
        except Unsupported:
            assert name == "whole"
            continue
        assert got == expected, name


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("own", [False, True])
def test_views_of_what_a_branch_chose_share_with_all_that_it_may_be(use: str, own: bool) -> None:
    pairs = list(itertools.permutations(VIEWS, 2))
    chosen = pairs[len(use) + 7 * own :: 11]
    for first, second in chosen:

        def run(x: Any, one: Any = VIEWS[first], other: Any = VIEWS[second]) -> Any:
            y = x * 1 if own else x
            q = one(y) if y.sum() > 0 else other(y)
            return USES[use](q), y

        compare(run, lambda factor: (matrix(factor),))


@pytest.mark.parametrize("alias", VIEWS)
def test_two_names_of_one_tensor_from_outside_keep_no_values_of_an_earlier_call(alias: str) -> None:
    def row(a: Any, b: Any) -> Any:
        q = a if a.sum() > 0 else b
        return q[0] + 1

    def whole(a: Any, b: Any) -> Any:
        q = b
        if a.sum() > 0:
            q = a
        return q + 1, q.T * 2, q[0].sum()

    def pair(a: Any, b: Any) -> Any:
        first, second = (a, b) if a.sum() > 0 else (b, a)
        return first * 1, second.reshape(-1) * 2

    def write(a: Any, b: Any) -> Any:
        q = a if a.sum() > 0 else b
        q[1].mul_(2.0)
        return a * 1

    def slope(a: Any, b: Any) -> Any:
        return grad(lambda z: ((a if a.sum() > 0 else b)[0] * z).sum())(Tensor(1.0))

    def both(factor: float) -> tuple[Any, ...]:
        b = matrix(factor)
        return b, VIEWS[alias](b)

    for function in (row, whole, pair, write, slope):
        compare(function, both)


def test_a_parameter_and_its_view_from_outside() -> None:
    def run(p: Any, v: Any) -> Any:
        q = p if p.sum() > 0 else v
        return q[1:] * 1

    def both(factor: float) -> tuple[Any, ...]:
        p = Parameter(matrix(factor), name="p")
        return p, p.view_as(p)

    compare(run, both)


def turned(a: Any) -> Any:
    if a.sum() > 0:
        return a.T
    return a.T[::-1]


def reshape_of_turned(x: Any) -> Any:
    return (x.T if x.sum() > 0 else x.T[::-1]).reshape(3, 1, 2)


def write_to_reshaped(x: Any) -> Any:
    r = turned(x).reshape(3, 1, 2)
    r.fill_(0.0)
    return x.sum()


def reshaped_sees_writes(x: Any) -> Any:
    r = turned(x).reshape(1, 3, 2)
    x.mul_(3.0)
    return r * 1


def view_on_one_side(x: Any) -> Any:
    w = x[None][0]
    r = (w if x.sum() > 0 else w.T).reshape(6)
    r[0] = 50.0
    return x.sum() * 1


def slope_of_written(x: Any) -> Any:
    def loss(y: Any) -> Any:
        r = turned(y).reshape(3, 1, 2)
        r.mul_(y[0, 0])
        return (y * y).sum()

    return grad(loss)(x)


def cut_in_one_case(x: Any) -> Any:
    y = x * 1
    q = y
    if x.sum() > 0:
        q = q[:2]
    return q[1], y


def reshaped_in_one_case(x: Any) -> Any:
    y = x * 1
    q = y
    if x.sum() > 0:
        q = q.reshape(x.shape)
    return q[1], y


def one_of_two_made(x: Any) -> Any:
    y, z = x * 1, x * 2
    q = y if x.sum() > 0 else z
    return q[1:], y


def only_views_leave(x: Any) -> Any:
    y = x * 1
    q = y if x.sum() > 0 else y.detach()
    return q[1:], y[:]


def choice_of_choices(x: Any) -> Any:
    y = x * 1
    z = y[:] if x.sum() > 0 else y
    w = z if x[0, 0] > 1 else x * 3
    return w[1:], y, w


def best_row(x: Any) -> Any:
    y = x * 1
    rows = list(y.unbind(0))
    best = rows[0]
    for row in rows:
        if row.sum() > best.sum():
            best = row
    return best[:2], y


@pytest.mark.parametrize(
    "function",
    [
        reshape_of_turned, write_to_reshaped, reshaped_sees_writes, view_on_one_side, slope_of_written, cut_in_one_case,
        reshaped_in_one_case, one_of_two_made, only_views_leave, choice_of_choices, best_row,
    ],
)  # fmt: skip
def test_what_is_made_of_a_choice(function: Callable[..., Any]) -> None:
    compare(function, lambda factor: (matrix(factor),))
