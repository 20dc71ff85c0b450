"""`ops.while_loop`, `ops.fori_loop`, `ops.scan`: what they refuse, and where they are called from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, grad, jit, nn, ops, vmap
from weft.testing import assert_no_breaks


def double(x: Any) -> Any:
    return x * 2


REFUSED: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no condition": (TypeError, "cond_func must be a function, not int", lambda: ops.while_loop(1, double, 0)),
    "no body": (TypeError, "loop_func must be a function, not int", lambda: ops.WhileLoop()(double, 1, 0)),
    "float bound": (TypeError, "upper must be an int or a Tensor", lambda: ops.ForiLoop()(0, 1.5, double, 0)),
    "text bound": (TypeError, "lower must be an int or a Tensor", lambda: ops.fori_loop("0", 2, double, 0)),
    "no flag": (TypeError, "unroll must be a bool", lambda: ops.fori_loop(0, 2, double, 0, unroll=1)),
    "items": (TypeError, "xs must be a tuple, a list or None", lambda: ops.scan(double, 0, Tensor([1, 2]))),
    "no length": (TypeError, "length says how many", lambda: ops.Scan()(double, 0, None)),
    "length": (TypeError, "length must be an int", lambda: ops.scan(double, 0, None, 1.0)),
    "other length": (ValueError, "length is 3, but xs has 1", lambda: ops.scan(double, 0, [1], 3)),
    "other type": (ValueError, "a value of type float where", lambda: ops.while_loop(lambda v: True, lambda v: 0.5, 1)),
    "other count": (ValueError, "a tuple of", lambda: ops.fori_loop(0, 2, lambda i, v: (*v, 1), (1,))),
    "other keys": (ValueError, "a dict of", lambda: ops.fori_loop(0, 2, lambda i, v: {"b": 1}, {"a": 1})),
    "no pair": (ValueError, "a tuple of the next value", lambda: ops.scan(lambda c, x: [c, x], 0, [1])),
}


@pytest.mark.parametrize("mode", ("eager", "auto"))
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, mode: str) -> None:
    error, message, call = REFUSED[name]
    with pytest.raises(error, match=message):
        compiler(mode)(lambda x: (call(), x))(Tensor(1.0))


def test_loops_on_tensors_are_loops_of_one_graph() -> None:
    def f(x: Any, n: Any) -> Any:
        x = ops.while_loop(lambda v: v.sum() < 10, lambda v: v * 2, x)
        return ops.fori_loop(0, n, lambda i, v: v + i, x)

    compiled = jit(f)
    with assert_no_breaks():
        for n in (0, 3, 50):
            np.testing.assert_allclose(compiled(Tensor([1.0, 2.0]), Tensor(n)), f(Tensor([1.0, 2.0]), Tensor(n)))


@pytest.mark.parametrize("mode", ("eager", "auto"))
def test_gradients_against_the_closed_form(mode: str) -> None:
    def power(x: Any, n: Any) -> Any:
        return ops.fori_loop(0, n, lambda _, v: v * x, x).sum()

    x = np.array([0.5, 1.25], np.float32)
    for n in (0, 2, 5):
        found = compiler(mode)(grad(power))(Tensor(x), Tensor(n))
        np.testing.assert_allclose(found, (n + 1) * x**n, rtol=1e-5)
        second = grad(lambda x, n=n: grad(compiler(mode)(power))(x, Tensor(n)).sum())(Tensor(x))
        np.testing.assert_allclose(second, (n + 1) * n * x ** max(n - 1, 0), rtol=1e-5)


def test_each_example_of_a_mapped_loop_decides() -> None:
    def f(x: Any) -> Any:
        return ops.while_loop(lambda v: v < 10, lambda v: v * 2, x)

    xs = np.array([1.0, 3.0, 20.0], np.float32)
    found = jit(vmap(f))(Tensor(xs))
    np.testing.assert_array_equal(found, [float(f(Tensor(x))) for x in xs])


def test_cells_are_called_with_their_weights() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.step = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
            self.loop = ops.ForiLoop()

        def construct(self, x: Any, n: Any) -> Any:
            return self.loop(0, n, lambda _, v: ops.tanh(self.step(v)), x).sum()

    net = Net()
    weights = net.trainable_params()
    eager, compiled = grad(net, None, weights), jit(grad(net, None, weights))
    for n in (1, 4):
        x = Tensor([[0.1, -0.2]])
        for found, expected in zip(compiled(x, Tensor(n)), eager(x, Tensor(n)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5)
