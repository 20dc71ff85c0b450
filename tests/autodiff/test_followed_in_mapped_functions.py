"""What is computed in a mapped function knows whether a gradient outside follows it, as one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit, value_and_grad, vjp, vmap
from weft.autodiff.function import Function
from weft.autodiff.pausing import no_grad
from weft.errors import Unsupported

ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]], np.float32)
SHARED = np.array([0.5, 3.0], np.float32)


class Asks(Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        ctx.needs = ctx.needs_input_grad
        return a * b * (10.0 if ctx.needs[0] else 1.0) * (7.0 if ctx.needs[1] else 1.0)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        a, b = ctx.saved_tensors
        assert ctx.needs_input_grad == ctx.needs
        return gradient * b * (100.0 if ctx.needs[1] else 1.0), gradient * a


def square(t: Any) -> Any:
    return (t * t).sum()


def on_a_start(x: Any, y: Any) -> Any:
    t = x * 2
    t.register_hook(lambda g: g * 10)
    return grad(square)(t).sum() + y.sum()


def on_a_start_made_of_both(x: Any, y: Any) -> Any:
    t = x * y
    t.register_hook(lambda g: g * 10)
    return (value_and_grad(square)(t)[1] * x).sum()


def on_a_start_made_of_the_shared(x: Any, y: Any) -> Any:
    t = y * 3 + x.detach()
    t.register_hook(lambda g: g * 10)
    return (vjp(square, t)[1](Tensor(np.float32(1.0)))[0] * x).sum()


def on_two_starts(x: Any, y: Any) -> Any:
    t, u = x * 2, y * x
    t.register_hook(lambda g: g * 10)
    u.register_hook(lambda g: g * 3)
    return grad(square)(t).sum() + (grad(square)(u) * t).sum() + grad(square)(x).sum()


def asks(x: Any, y: Any) -> Any:
    return Asks.apply(x, y).sum()


def asks_of_computed(x: Any, y: Any) -> Any:
    return (Asks.apply(x * 2, y * 3) * x).sum()


def asks_of_stopped(x: Any, y: Any) -> Any:
    return Asks.apply(x * 2, y + 0 * x.detach()).sum()


def asks_inside(x: Any, y: Any) -> Any:
    return (grad(asks)(x, y) * x).sum() + asks(x, y)


PROGRAMS = [
    on_a_start, on_a_start_made_of_both, on_a_start_made_of_the_shared, on_two_starts, asks, asks_of_computed,
    asks_of_stopped, asks_inside,
]  # fmt: skip

MAPPINGS: dict[str, Callable[..., Any]] = {
    "vmap": lambda f: vmap(f, (0, None)),
    "jit(vmap)": lambda f: jit(vmap(f, (0, None))),
    "vmap(jit)": lambda f: vmap(jit(f), (0, None)),
}


def one_by_one(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(rows: Any, y: Any) -> Any:
        total = f(rows[0], y)
        for i in range(1, len(ROWS)):
            total = total + f(rows[i], y)
        return total

    return run


def summed(mapped: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rows, y: mapped(rows, y).sum()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_without_a_gradient_outside(program: Callable[..., Any], mapping: str) -> None:
    mapped = MAPPINGS[mapping](program)
    for factor in (1, 2):
        rows, y = ROWS * factor, Tensor(SHARED * factor)
        wanted = [program(Tensor(row), y).asnumpy() for row in rows]
        np.testing.assert_allclose(mapped(Tensor(rows), y).asnumpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("positions", [0, 1, (0, 1)])
def test_the_gradient_outside(program: Callable[..., Any], mapping: str, positions: Any) -> None:
    run = value_and_grad(summed(MAPPINGS[mapping](program)), positions)
    for factor in (1, 2):
        rows, y = Tensor(ROWS * factor), Tensor(SHARED * factor)
        same(run(rows, y), value_and_grad(one_by_one(program), positions)(rows, y))


def same(got: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_compiled(program: Callable[..., Any]) -> None:
    rows, y = Tensor(ROWS), Tensor(SHARED)
    compiled = jit(value_and_grad(summed(vmap(program, (0, None)))))
    same(compiled(rows, y), value_and_grad(one_by_one(program))(rows, y))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("positions", [0, 1])
def test_the_gradient_inside(program: Callable[..., Any], positions: int) -> None:
    y = Tensor(SHARED)
    wanted = [grad(program, positions)(Tensor(row), y).asnumpy() for row in ROWS]
    for run in (vmap(grad(program, positions), (0, None)), jit(vmap(grad(program, positions), (0, None)))):
        np.testing.assert_allclose(run(Tensor(ROWS), y).asnumpy(), wanted, rtol=1e-4)


@pytest.mark.parametrize("program", PROGRAMS)
def test_mapped_twice(program: Callable[..., Any]) -> None:
    rows, y = Tensor(ROWS), Tensor(SHARED)
    twice = vmap(lambda a, b: vmap(program, (0, None))(a, b).sum(), (None, 0))
    ys = Tensor(np.stack([SHARED, SHARED * 2]))
    wanted = value_and_grad(lambda a, b: one_by_one(program)(a, b[0]) + one_by_one(program)(a, b[1]))(rows, ys)
    same(value_and_grad(lambda a, b: twice(a, b).sum())(rows, ys), wanted)
    between = vmap(grad(summed(vmap(program, (0, None)))), (None, 0))(rows, ys)
    for number, b in enumerate((SHARED, SHARED * 2)):
        same(between[number], grad(one_by_one(program))(rows, Tensor(b)))
    del y


def test_what_no_gradient_leads_into() -> None:
    def paused(rows: Any, y: Any) -> Any:
        with no_grad():
            found = vmap(on_a_start, (0, None))(rows, y)
        return found.sum() * rows.sum()

    def looped(rows: Any, y: Any) -> Any:
        with no_grad():
            found = one_by_one(on_a_start)(rows, y)
        return found * rows.sum()

    rows, y = Tensor(ROWS), Tensor(SHARED)
    same(value_and_grad(paused)(rows, y), value_and_grad(looped)(rows, y))


def test_a_result_of_a_branch_that_only_some_runs_compute_from_the_rows() -> None:
    @jit
    def made(rows: Any, other: Any) -> Any:
        return other * 2 if rows.sum() > 0 else rows * 2

    def program(rows: Any, other: Any) -> Any:
        return vmap(asks, (0, None))(made(rows, other), Tensor(SHARED)).sum()

    def looped(rows: Any, other: Any) -> Any:
        return one_by_one(asks)(other * 2 if rows.sum() > 0 else rows * 2, Tensor(SHARED))

    for factor in (1, -1):
        rows, other = Tensor(ROWS * factor), Tensor(ROWS + 1)
        same(value_and_grad(program)(rows, other), value_and_grad(looped)(rows, other))


def test_where_it_cannot_be_known_it_is_refused() -> None:
    class Outer(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return Asks.apply(gradient, gradient)

    rows = Tensor(ROWS)
    with pytest.raises(Unsupported, match="which inputs need gradients"):
        grad(lambda b: vmap(lambda x: Outer.apply(x).sum())(b).sum())(rows)
