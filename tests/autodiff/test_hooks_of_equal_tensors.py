"""Tensors that a graph finds to be equal have hooks of their own, whenever these are registered."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, grad, jit, ops

EQUAL: dict[str, Callable[[Any], Any]] = {
    "times one": lambda y: y * 1,
    "over one": lambda y: y / 1,
    "minus zero": lambda y: y - 0,
    "to the first": lambda y: y**1,
    "negated twice": lambda y: ops.neg(ops.neg(y)),
    "reshaped": lambda y: y.reshape(2),
    "transposed twice": lambda y: y.T.T,
    "broadcast": lambda y: ops.broadcast_to(y, (2,)),
    "selected": lambda y: ops.where(Tensor([True, True]), y, y),
    "copied": lambda y: y.copy(),
    "deeply": copy.deepcopy,
    "in a compiled function": jit(lambda t: t * 1),
}


def _tenfold(g: Any) -> Any:
    return g * 10


def _after_a_break(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x * 3
        z = make(y)
        x.asnumpy()
        y.register_hook(_tenfold)
        return (z * z).sum()

    return f


def _on_one_side(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x * 3
        z = make(y)
        if x.sum() > 0:
            y.register_hook(_tenfold)
        return (z * z).sum()

    return f


def _of_the_other(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x * 3
        z = make(y)
        x.asnumpy()
        z.register_hook(_tenfold)
        return (z * y).sum()

    return f


@pytest.mark.parametrize("program", [_after_a_break, _on_one_side, _of_the_other])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_by_an_identity(name: str, program: Callable[..., Callable[[Any], Any]]) -> None:
    f = program(EQUAL[name])
    outside, inside = grad(jit(f)), jit(grad(f))
    for values in ([1.0, 2.0], [-1.0, -3.0], [0.5, 4.0]):
        wanted = grad(f)(Tensor(values)).asnumpy()
        np.testing.assert_allclose(outside(Tensor(values)).asnumpy(), wanted, rtol=1e-6)
        np.testing.assert_allclose(inside(Tensor(values)).asnumpy(), wanted, rtol=1e-6)


def _of_equal_expressions(x: Any) -> Any:
    y = ops.tanh(x)
    z = ops.tanh(x)
    w = z * 3
    x.asnumpy()
    y.register_hook(_tenfold)
    return y.sum() + w.sum()


def _unused_on_a_side(x: Any) -> Any:
    y = x * 1
    z = y * y
    if x.sum() > 0:
        y = y * 2
    else:
        y.register_hook(lambda g: g + 0.5)
        y = y * 3
    return z.sum()


def _between_inverses(x: Any) -> Any:
    y = x * 2
    z = -y
    w = -z
    x.asnumpy()
    z.register_hook(_tenfold)
    return (w * w).sum()


@pytest.mark.parametrize("f", [_of_equal_expressions, _unused_on_a_side, _between_inverses])
def test_equal_by_chance(f: Callable[[Any], Any]) -> None:
    compiled = jit(f)
    for values in ([1.0, 2.0], [-1.0, -2.0], [0.5, 4.0]):
        wanted = grad(f)(Tensor(values)).asnumpy()
        np.testing.assert_allclose(grad(compiled)(Tensor(values)).asnumpy(), wanted, rtol=1e-6)
        again = grad(lambda x: grad(f)(x).sum())(Tensor(values)).asnumpy()
        np.testing.assert_allclose(grad(lambda x: grad(compiled)(x).sum())(Tensor(values)).asnumpy(), again, rtol=1e-6)


@pytest.mark.parametrize("make", [lambda y: y * 1, lambda y: y * 2, ops.tanh], ids=["times one", "times two", "tanh"])
def test_hooks_of_the_caller(make: Callable[[Any], Any]) -> None:
    def two(x: Any) -> Any:
        y = x * 3
        return y, make(y)

    def caller(pair: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y, z = pair(x)
            y.register_hook(_tenfold)
            return (z * z).sum()

        return f

    compiled = jit(two)
    for values in ([1.0, 2.0], [-0.5, 0.25], [1.0, 2.0, 3.0]):
        wanted = grad(caller(two))(Tensor(values)).asnumpy()
        np.testing.assert_allclose(grad(caller(compiled))(Tensor(values)).asnumpy(), wanted, rtol=1e-6)


def test_rows_have_hooks_in_their_order() -> None:
    seen: list[float] = []

    def counting(g: Any) -> Any:
        seen.append(float(g.sum()))
        return g * len(seen)

    def f(x: Any) -> Any:
        a, b = x
        a.register_hook(counting)
        b.register_hook(counting)
        return (a * a).sum() + (b * b).sum()

    found = []
    for gradient in (grad(f), grad(jit(f)), jit(grad(f))):
        seen.clear()
        found.append((gradient(Tensor([[1.0, 2.0], [3.0, 4.0]])).asnumpy().tolist(), list(seen)))
    assert found[0] == found[1] == found[2] == ([[4.0, 8.0], [6.0, 8.0]], [14.0, 6.0])


@pytest.mark.parametrize("kept", [copy.deepcopy, lambda x: copy.deepcopy({"a": [x]})["a"][0], copy.copy])
def test_copies_lead_gradients_on(kept: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        return (kept(x) * x).sum()

    for gradient in (grad(f), grad(jit(f)), jit(grad(f))):
        assert gradient(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 4.0]
    assert weft.grad(lambda x: grad(f)(x).sum())(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 2.0]
