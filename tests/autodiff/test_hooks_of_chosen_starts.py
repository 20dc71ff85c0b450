"""A gradient that starts at one of several tensors runs the hooks of the one that it is in this run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit, ops, value_and_grad, vjp

INPUTS = ([1.0, 2.0], [-1.0, -2.0], [0.5, 4.0])
SECOND = [0.5, 3.0]


def tenfold(g: Any) -> Any:
    return g * 10


def hundredfold(g: Any) -> Any:
    return g * 100


def square(t: Any) -> Any:
    return (t * t).sum()


KEPT = Tensor(np.array([1.0, 2.0], np.float32))
KEPT.register_hook(tenfold)
WEIGHT = Parameter(Tensor(np.array([2.0, 5.0], np.float32)), name="weight")
WEIGHT.register_hook(tenfold)


class Box:
    held: Any = None


def hooked(y: Any) -> Any:
    u = y * 1
    u.register_hook(tenfold)
    return u


def argument(x: Any, y: Any) -> Any:
    y.register_hook(tenfold)
    t = y if x.sum() > 0 else x
    return grad(square)(t)


def of_the_module(x: Any, y: Any) -> Any:
    t = KEPT if x.sum() > 0 else x
    return grad(square)(t) + y


def parameter(x: Any, y: Any) -> Any:
    t = WEIGHT if x.sum() > 0 else x
    return grad(square)(t) + y


def computed(x: Any, y: Any) -> Any:
    u = hooked(y)
    t = u if x.sum() > 0 else x
    return grad(square)(t)


def with_its_value(x: Any, y: Any) -> Any:
    u = hooked(y)
    t = u if x.sum() > 0 else x
    value, gradient = value_and_grad(square)(t)
    return value + gradient


def pulled_back(x: Any, y: Any) -> Any:
    u = hooked(y)
    t = u if x.sum() > 0 else x
    return vjp(square, t)[1](Tensor(1.0))[0]


def in_a_while(x: Any, y: Any) -> Any:
    u = hooked(y)
    t, k = x, 0
    while k < x.sum():
        t = u if k > 1 else t * 1.01
        k = k + 1
    return grad(square)(t)


def by_a_break(x: Any, y: Any) -> Any:
    u, t = hooked(y), x
    for row in ops.stack([x] * 4):
        if row.sum() > 2:
            t = u
            break
    return grad(square)(t)


def of_a_helper(x: Any, y: Any) -> Any:
    u = hooked(y)

    def pick() -> Any:
        if x.sum() > 0:
            return u
        return x

    return grad(square)(pick())


def in_a_try(x: Any, y: Any) -> Any:
    u, t = hooked(y), x
    try:
        if x.sum() > 0:
            raise ValueError
    except ValueError:
        t = u
    return grad(square)(t)


def item(x: Any, y: Any) -> Any:
    items = [x, hooked(y)]
    if x.sum() > 0:
        items.reverse()
    return grad(square)(items[0])


def entry(x: Any, y: Any) -> Any:
    found = {"t": x}
    u = hooked(y)
    if x.sum() > 0:
        found["t"] = u
    return grad(square)(found["t"])


def attribute(x: Any, y: Any) -> Any:
    box, u = Box(), hooked(y)
    box.held = u if x.sum() > 0 else x
    return grad(square)(box.held)


def on_both_sides(x: Any, y: Any) -> Any:
    u, v = hooked(y), x * 1
    v.register_hook(hundredfold)
    t = u if x.sum() > 0 else v
    return grad(square)(t)


def chosen_twice(x: Any, y: Any) -> Any:
    u = hooked(y)
    t = u if x.sum() > 0 else x
    v = t if x.sum() > 3.5 else x
    return grad(square)(v)


def several(x: Any, y: Any) -> Any:
    u = hooked(y)
    t = u if x.sum() > 0 else x
    first, second = grad(lambda a, b: (a * b * b).sum(), (0, 1))(t, y)
    return first + second


PROGRAMS: list[Callable[..., Any]] = [
    argument, of_the_module, parameter, computed, with_its_value, pulled_back, in_a_while, by_a_break, of_a_helper,
    in_a_try, item, entry, attribute, on_both_sides, chosen_twice, several,
]  # fmt: skip


def same(program: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    for first in INPUTS:
        wanted = program(Tensor(first), Tensor(SECOND))
        got = compiled(Tensor(first), Tensor(SECOND))
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_value(program: Callable[..., Any]) -> None:
    same(program, jit(program))


@pytest.mark.parametrize("program", PROGRAMS[1:])
def test_gradient(program: Callable[..., Any]) -> None:
    inside = jit(grad(lambda x, y: program(x, y).sum()))
    compiled = jit(program)
    outside = grad(lambda x, y: compiled(x, y).sum())
    eager = grad(lambda x, y: program(x, y).sum())
    same(eager, inside)
    same(eager, outside)


def test_hooks_from_before_the_call_come_and_go() -> None:
    def program(x: Any, y: Any) -> Any:
        return grad(square)(y if x.sum() > 0 else x)

    compiled = jit(program)
    x, y = Tensor(INPUTS[0]), Tensor(SECOND)
    np.testing.assert_allclose(compiled(x, y).asnumpy(), [1.0, 6.0])
    handle = y.register_hook(tenfold)
    np.testing.assert_allclose(compiled(x, y).asnumpy(), [10.0, 60.0])
    handle.remove()
    np.testing.assert_allclose(compiled(x, y).asnumpy(), [1.0, 6.0])


def test_hooks_of_a_tensor_that_the_call_writes_come_and_go() -> None:
    kept = Tensor(np.array([1.0, 2.0], np.float32))

    def program(x: Any) -> Any:
        kept.add_(x)
        return grad(square)(kept)

    compiled, nothing = jit(program), Tensor([0.0, 0.0])
    np.testing.assert_allclose(compiled(nothing).asnumpy(), [2.0, 4.0])
    handle = kept.register_hook(tenfold)
    np.testing.assert_allclose(compiled(nothing).asnumpy(), [20.0, 40.0])
    handle.remove()
    np.testing.assert_allclose(compiled(nothing).asnumpy(), [2.0, 4.0])


def test_after_the_call() -> None:
    def program(x: Any, y: Any) -> Any:
        u = hooked(y)
        return u if x.sum() > 0 else x * 2

    compiled = jit(program)
    for first in INPUTS:
        wanted = grad(square)(program(Tensor(first), Tensor(SECOND)))
        got = grad(square)(compiled(Tensor(first), Tensor(SECOND)))
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy())
