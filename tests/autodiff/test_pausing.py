"""`no_grad`: what is computed in the block is a constant for gradients around it, eagerly and between graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Parameter, Tensor, grad, jit, nn, ops, value_and_grad, vmap
from weft.autodiff.pausing import no_grad
from weft.context import GRADIENTS
from weft.errors import Unsupported

X = np.array([1.0, 2.0], np.float32)
MODES = pytest.mark.parametrize("mode", ("eager", "auto"))
INNER = jit(lambda x: ops.sin(x) * 2)


def block(x: Any) -> Any:
    y = x * 2
    with no_grad():
        z = ops.exp(y) * x
        same = y
    return y * z + same


@no_grad()
def tripled(x: Any) -> Any:
    return x * 3


def decorated(x: Any) -> Any:
    return tripled(x) * x


def returned_from(x: Any) -> Any:
    with no_grad():
        if x.sum() > 2:
            return x * 2
        y = x * 5
    return y * x


def with_a_gradient_inside(x: Any) -> Any:
    with no_grad():
        slope = grad(lambda v: (v**3 * x).sum())(x)
    return slope * x


def with_an_error(x: Any) -> Any:
    y = x
    try:
        with no_grad():
            y = x * 3
            raise ValueError(x)
    except ValueError:
        return y * x * x


def with_a_compiled_function(x: Any) -> Any:
    with no_grad():
        y = INNER(x)
    return y * INNER(x)


def nested(x: Any) -> Any:
    outer = no_grad()
    with outer:
        with outer:
            y = x * 2
        y = y * x
    return y * x


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "block": (block, lambda x: 2 * ops.exp(2 * x) * x + 2),
    "decorated": (decorated, lambda x: 3 * x),
    "returned from": (returned_from, lambda x: x * 0 if x.sum() > 2 else 5 * x),
    "a gradient inside": (with_a_gradient_inside, lambda x: 3 * x**3),
    "an error": (with_an_error, lambda x: 6 * x * x),
    "a compiled function": (with_a_compiled_function, lambda x: 4 * ops.sin(x) * ops.cos(x)),
    "nested": (nested, lambda x: 2 * x * x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@MODES
def test_gradients(name: str, mode: str) -> None:
    f, expected = PROGRAMS[name]
    compiled = compiler(mode)(f)
    runs = (grad(lambda x: compiled(x).sum()), compiler(mode)(grad(lambda x: f(x).sum())))
    for values in (X, X * 0.5, X):
        np.testing.assert_allclose(compiled(Tensor(values)), f(Tensor(values)), rtol=1e-6)
        for run in runs:
            np.testing.assert_allclose(run(Tensor(values)), expected(Tensor(values)), rtol=1e-5)
        assert not GRADIENTS.paused


@MODES
def test_a_compiled_function_is_called_inside_and_outside(mode: str) -> None:
    run = compiler(mode)(lambda x: x * ops.sin(x))
    expected = np.sin(X) + X * np.cos(X)
    for _ in range(2):
        np.testing.assert_allclose(grad(lambda x: run(x).sum())(Tensor(X)), expected, rtol=1e-5)
        with no_grad():
            np.testing.assert_allclose(grad(lambda x: run(x).sum())(Tensor(X)), expected, rtol=1e-5)
            np.testing.assert_allclose(run(Tensor(X)), X * np.sin(X), rtol=1e-6)

    def half(x: Any) -> Any:
        with no_grad():
            y = run(x)
        return y + run(x)

    np.testing.assert_allclose(grad(lambda x: half(x).sum())(Tensor(X)), expected, rtol=1e-5)


@MODES
def test_an_inner_gradient_is_a_constant_for_the_outer_one(mode: str) -> None:
    def f(x: Any) -> Any:
        with no_grad():
            value, slope = value_and_grad(lambda v: (v**2 * x).sum())(x)
        return (slope * x + value).sum()

    np.testing.assert_allclose(compiler(mode)(grad(f))(Tensor(X)), 2 * X * X)


@MODES
def test_weights_written_in_the_block(mode: str) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(X), name="weight")

        def construct(self, x: Any) -> Any:
            y = (self.weight * x).sum()
            with no_grad():
                self.weight.set_data(self.weight * 2)
            return y

    net = Net()
    run = compiler(mode)(grad(net, None, net.trainable_params()))
    for times in (1, 2, 4):
        np.testing.assert_array_equal(net.weight, X * times)
        np.testing.assert_array_equal(run(Tensor([3.0, 5.0]))[0], [3.0, 5.0])


def test_other_threads_go_on() -> None:
    found: list[Any] = []

    def work() -> None:
        found.append(grad(lambda x: (x * x).sum())(Tensor(X)).asnumpy().tolist())

    with no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [[2.0, 4.0]]


def test_where_it_cannot_be() -> None:
    with pytest.raises(Unsupported, match="a no_grad block begins"):
        vmap(block)(Tensor(X))
    with pytest.raises(Unsupported, match="a no_grad block begins"):
        jit(block, fullgraph=True)(Tensor(X))
    assert not GRADIENTS.paused


def test_functions_keep_their_names() -> None:
    assert tripled.__name__ == "tripled"
