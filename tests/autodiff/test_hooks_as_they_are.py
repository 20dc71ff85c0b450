"""A gradient that starts at a tensor runs the hooks that the tensor has when the backward pass comes to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit, jvp, value_and_grad, vjp, vmap

ROWS = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)
ONE = Tensor(np.float32(1.0))


def tenfold(g: Any) -> Any:
    return g * 10


def plus_one(g: Any) -> Any:
    return g + 1


def square(t: Any) -> Any:
    return (t * t).sum()


def added_behind_another(x: Any) -> Any:
    t = x * 2
    t.register_hook(tenfold)
    _, pull = vjp(square, t)
    t.register_hook(plus_one)
    return pull(ONE)[0]


def added_alone(x: Any) -> Any:
    t = x * 2
    _, pull = vjp(square, t)
    t.register_hook(tenfold)
    return pull(ONE)[0]


def added_between_two_passes(x: Any) -> Any:
    t = x * 2
    _, pull = vjp(square, t)
    before = pull(ONE)[0]
    t.register_hook(tenfold)
    return before - pull(ONE)[0]


def taken_back(x: Any) -> Any:
    t = x * 2
    handle = t.register_hook(tenfold)
    _, pull = vjp(square, t)
    handle.remove()
    return pull(ONE)[0]


def taken_back_and_added(x: Any) -> Any:
    t = x * 2
    handle = t.register_hook(tenfold)
    t.register_hook(plus_one)
    handle.remove()
    _, pull = vjp(square, t)
    t.register_hook(tenfold)
    return pull(ONE)[0]


def added_by_the_function(x: Any) -> Any:
    t = x * 2

    def f(p: Any) -> Any:
        t.register_hook(tenfold)
        return square(p)

    return value_and_grad(f)(t)[1]


def in_the_order_of_registration(x: Any) -> Any:
    t = x * 2
    t.register_hook(plus_one)

    def f(p: Any) -> Any:
        p.register_hook(tenfold)
        return square(p)

    _, pull = vjp(f, t)
    t.register_hook(plus_one)
    return pull(ONE)[0]


def along(x: Any) -> Any:
    t = x * 2
    t.register_hook(tenfold)
    return jvp(lambda p: p * p, t, x)[1]


PROGRAMS: dict[Callable[..., Any], Callable[..., Any]] = {
    added_behind_another: lambda x: 40 * x + 1,
    added_alone: lambda x: 40 * x,
    added_between_two_passes: lambda x: -36 * x,
    taken_back: lambda x: 4 * x,
    taken_back_and_added: lambda x: (4 * x + 1) * 10,
    added_by_the_function: lambda x: 40 * x,
    in_the_order_of_registration: lambda x: (4 * x + 1) * 10 + 1,
    along: lambda x: 40 * x * x,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_inside(program: Callable[..., Any]) -> None:
    wanted = np.stack([PROGRAMS[program](row) for row in ROWS])
    for run in (program, jit(program)):
        np.testing.assert_allclose([run(Tensor(row)).asnumpy() for row in ROWS], wanted, rtol=1e-6)
    for mapped in (vmap(program), jit(vmap(program)), vmap(jit(program))):
        np.testing.assert_allclose(mapped(Tensor(ROWS)).asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_inside_a_gradient(program: Callable[..., Any]) -> None:
    wanted = grad(lambda x: program(x).sum())
    for run in (jit(wanted), grad(lambda x: compiled(x).sum())):
        compiled = jit(program)
        for row in ROWS:
            np.testing.assert_allclose(run(Tensor(row)).asnumpy(), wanted(Tensor(row)).asnumpy(), rtol=1e-6)


def test_on_a_tensor_from_outside() -> None:
    x = Tensor(ROWS[0])
    for f in (square, jit(square)):
        _, pull = vjp(f, x)
        handle = x.register_hook(tenfold)
        with_hook = pull(ONE)[0].asnumpy()
        handle.remove()
        without = pull(ONE)[0].asnumpy()
        np.testing.assert_allclose(with_hook, without * 10)


def test_a_pass_that_was_compiled_as_a_whole_meets_a_hook() -> None:
    for count in range(12):
        x = Tensor(ROWS[0])
        _, pull = vjp(lambda t: ((t * t).exp() * t).sum(), x)
        wanted = pull(ONE)[0].asnumpy()
        if count % 4 == 3:
            x.register_hook(tenfold)
            np.testing.assert_allclose(pull(ONE)[0].asnumpy(), wanted * 10, rtol=1e-5)


@pytest.mark.parametrize("compiled", [lambda f: f, jit])
def test_a_parameter_has_its_hooks_once_in_each_gradient(compiled: Callable[..., Any]) -> None:
    weight = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="weight")
    weight.register_hook(tenfold)

    def inner(x: Any) -> Any:
        return vjp(lambda z: (weight * weight * z).sum(), x, weights=[weight])[1](Tensor(np.float32(1.0)))[1][0]

    found = compiled(lambda x: grad(lambda q: (inner(x) * q).sum(), None, [weight])(x)[0])(Tensor([1.0, 3.0]))
    np.testing.assert_allclose(found.asnumpy(), [200.0, 1800.0])  # the inner gradient's, and the outer one's
