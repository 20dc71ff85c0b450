"""Where only some runs compute a tensor from what is differentiated: needs, rules and hooks are those of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, value_and_grad
from weft.autodiff.function import Function


class AsksForward(Function):
    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        return a * 10 if ctx.needs_input_grad[0] else a * 1

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


class AsksBackward(Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a * b

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 100, gradient * (10 if ctx.needs_input_grad[0] else 1)


class OnlyAsks(Function):
    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        return Tensor([10.0, 10.0]) if ctx.needs_input_grad[0] else Tensor([1.0, 1.0])

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


def branch(x: Any, y: Any) -> Any:
    return y * 2 if x.sum() > 0 else x * 2


def nested(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        return y * 2 if y.sum() > 0 else x * 2
    return x * 3


def replaced(x: Any, y: Any) -> Any:
    t, k = x * 1, y.sum() * 0
    while k < x.sum():
        t = y * 2
        k = k + 1
    return t


def handed_on(x: Any, y: Any) -> Any:
    a, b, k = y * 1, y * 1, y.sum() * 0
    while k < x.sum():
        b = a
        a = x * 2
        k = k + 1
    return b


def nested_in_a_loop(x: Any, y: Any) -> Any:
    t, k = x * 1, y.sum() * 0
    while k < x.sum():
        t = y * 2 if y.sum() > 0 else t * 1.5
        k = k + 1
    return t


def asked_in_forward(t: Any, x: Any) -> Any:
    return (AsksForward.apply(t) * x).sum()


def asked_in_backward(t: Any, x: Any) -> Any:
    return (AsksBackward.apply(t, x) * x).sum()


def hooked(t: Any, x: Any) -> Any:
    u = t * 1
    u.register_hook(lambda g: g + 1)
    return (u * x).sum()


def plain(t: Any, x: Any) -> Any:
    return (t * t * x).sum()


@pytest.mark.parametrize("use", [asked_in_forward, asked_in_backward, hooked, plain])
@pytest.mark.parametrize("made", [branch, nested, replaced, handed_on, nested_in_a_loop])
@pytest.mark.parametrize("positions", [0, (0, 1)])
def test_as_in_python(made: Callable[..., Any], use: Callable[..., Any], positions: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        return use(made(x, y), x)

    runs = (value_and_grad(jit(program), positions), jit(value_and_grad(program, positions)))
    for first in ([1.0, 2.0], [-1.0, -2.0], [0.5, 0.0]):
        for second in ([0.5, 3.0], [-0.5, -3.0]):
            wanted = value_and_grad(program, positions)(Tensor(first), Tensor(second))
            for run in runs:
                got = run(Tensor(first), Tensor(second))
                np.testing.assert_allclose(got[0].asnumpy(), wanted[0].asnumpy(), rtol=1e-5)
                for one, other in zip(_flat(got[1]), _flat(wanted[1]), strict=True):
                    np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5)


def _flat(gradients: Any) -> tuple[Any, ...]:
    return gradients if isinstance(gradients, tuple) else (gradients,)


def test_a_forward_that_only_asks_on_a_side() -> None:
    def program(x: Any) -> Any:
        if x.sum() > 0:
            return (OnlyAsks.apply(x) * x).sum()
        return x.sum()

    for run in (value_and_grad(jit(program)), jit(value_and_grad(program))):
        for given in ([1.0, 2.0], [-1.0, -2.0]):
            wanted, got = value_and_grad(program)(Tensor(given)), run(Tensor(given))
            np.testing.assert_allclose(got[0].asnumpy(), wanted[0].asnumpy())
            np.testing.assert_allclose(got[1].asnumpy(), wanted[1].asnumpy())


@pytest.mark.parametrize("has_hook", [False, True])
def test_a_parameter_that_a_chosen_one_may_be(has_hook: bool) -> None:
    def made() -> Any:
        first = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="first")
        second = Parameter(Tensor(np.array([3.0, 1.0], np.float32)), name="second")
        if has_hook:
            first.register_hook(lambda g: g + 1)

        def program(x: Any) -> Any:
            t = first if x.sum() > 0 else second
            asked = value_and_grad(lambda: AsksForward.apply(t).sum(), None, [first])()
            root = value_and_grad(lambda: weft.ops.sqrt(t - 1).sum(), None, [second])()
            return asked[0] + root[0] + asked[1][0] + root[1][0]

        return program

    eager, compiled = made(), jit(made())
    for given in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        np.testing.assert_allclose(compiled(Tensor(given)).asnumpy(), eager(Tensor(given)).asnumpy())


def test_the_inputs_of_a_cell_with_hooks() -> None:
    told: list[Any] = []

    class Scaled(weft.nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="weight")

        def construct(self, x: Any) -> Any:
            return x * self.weight

    cell = Scaled()
    cell.register_backward_hook(lambda _, given, arrived: told.append([g is None for g in given]))

    def program(x: Any, y: Any) -> Any:
        return cell(branch(x, y)).sum()

    for run in (grad(jit(program), 0, [cell.weight]), jit(grad(program, 0, [cell.weight]))):
        for first in ([1.0, 2.0], [-1.0, -2.0]):
            grad(program, 0, [cell.weight])(Tensor(first), Tensor([0.5, 3.0]))
            wanted = list(told)
            told.clear()
            run(Tensor(first), Tensor([0.5, 3.0]))
            assert told == wanted
            told.clear()


def test_a_loop_hands_on_what_it_computed_an_iteration_before() -> None:
    def program(x: Any, y: Any) -> Any:
        return (handed_on(x, y) * 3).sum()

    for run in (grad(jit(program)), jit(grad(program))):
        np.testing.assert_allclose(run(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).asnumpy(), [6.0, 6.0])
