"""Hooks and rules in mapped functions, branches and loops, where the gradient is taken inside of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, grad, jit, vmap
from weft.autodiff.function import Function
from weft.errors import Unsupported
from weft.testing import assert_no_breaks

ROWS = Tensor(np.array([[1.0, 2.0], [3.0, -4.0]], np.float32))


def triple(g: Any) -> Any:
    return g * 3


def reads_a_number(x: Any) -> Any:
    t = x * x
    t.register_hook(lambda g: g * float(x.sum()))
    return t.sum()


def decides_by_the_example(x: Any) -> Any:
    t = x * 2
    t.register_hook(lambda g: g * 3 if x.sum() > 0 else g)
    return (t * t).sum()


def decides_by_the_gradient(x: Any) -> Any:
    t = x * 2
    t.register_hook(lambda g: g * 3 if g.sum() > 0 else g)
    return (t * t).sum()


def branches_beside_a_hook(x: Any) -> Any:
    t = x * 2
    t.register_hook(triple)
    return t.sum() if x.sum() > 0 else (t * t).sum()


def hook_on_the_argument(x: Any) -> Any:
    x.register_hook(triple)
    return (x * x).sum() if x.sum() > 0 else x.sum()


class Halved(weft.nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * float(out.sum()),)


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * (2.0 if ctx.needs_input_grad[0] else 1.0)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * x if x.sum() > 0 else gradient


CELL = Halved()


def rule_of_a_cell(x: Any) -> Any:
    y = CELL(x)
    return (y * y).sum() if x.sum() > 0 else y.sum()


def rule_of_a_function(x: Any) -> Any:
    y = Doubled.apply(x)
    return (y * y).sum() if x.sum() > 0 else y.sum()


PROGRAMS = [
    reads_a_number, decides_by_the_example, decides_by_the_gradient, branches_beside_a_hook, hook_on_the_argument,
    rule_of_a_cell, rule_of_a_function,
]  # fmt: skip


def one_by_one(function: Callable[..., Any]) -> Any:
    return np.stack([grad(function)(Tensor(row)).asnumpy() for row in ROWS.asnumpy()])


@pytest.mark.parametrize("function", PROGRAMS)
def test_mapped(function: Callable[..., Any]) -> None:
    for run in (jit(vmap(grad(function)), fullgraph=True), vmap(jit(grad(function)))):
        np.testing.assert_allclose(run(ROWS).asnumpy(), one_by_one(function), rtol=1e-6)


@pytest.mark.parametrize("function", PROGRAMS)
def test_in_a_branch(function: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        return grad(function)(x) if x.sum() > 0 else x * 0

    compiled = jit(program, fullgraph=True)
    for row in ROWS.asnumpy():
        np.testing.assert_allclose(compiled(Tensor(row)).asnumpy(), program(Tensor(row)).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("function", PROGRAMS)
def test_a_gradient_outside_of_the_branch(function: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        return (grad(function)(x) * x if x.sum() > 0 else x * x).sum()

    for run in (jit(grad(program)), grad(jit(program))):
        for row in ROWS.asnumpy():
            np.testing.assert_allclose(run(Tensor(row)).asnumpy(), grad(program)(Tensor(row)).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_way_that_refusals_name_is_one(function: Callable[..., Any]) -> None:
    """Whatever is refused, `jit(vmap(grad(f)))`, to which the texts lead, gives the gradients."""
    tried: list[Callable[..., Any]] = [
        vmap(grad(function)),
        grad(lambda rows: vmap(function)(rows).sum()),
        grad(lambda rows: vmap(jit(function))(rows).sum()),
        jit(grad(lambda rows: vmap(function)(rows).sum())),
    ]
    for run in tried:
        refused = ""
        try:
            np.testing.assert_allclose(run(ROWS).asnumpy(), one_by_one(function), rtol=1e-6)
        except Unsupported as refusal:
            refused = refusal.do
        ways = ("jit(vmap(grad(", "vmap(jit(function))", "vmap(grad(function))")
        assert not refused or any(way in refused for way in ways)


def test_a_hook_is_taken_back_in_the_graph() -> None:
    def program(x: Any) -> Any:
        t = x * 2
        handle = t.register_hook(triple)
        with t.register_hook(triple):
            first = grad(lambda p: (p * p).sum())(t)
        handle.remove()
        return first + grad(lambda p: (p * p).sum())(t)

    compiled = jit(program)
    with assert_no_breaks():
        np.testing.assert_allclose(compiled(Tensor([1.0, 2.0])).asnumpy(), [40.0, 80.0])
    np.testing.assert_allclose(program(Tensor([1.0, 2.0])).asnumpy(), [40.0, 80.0])
