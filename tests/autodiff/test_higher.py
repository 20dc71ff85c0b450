"""Derivatives along curves and linear maps, against `jax.experimental.jet` and products with JAX's Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.jet import jet as jax_jet

from tests.helpers.values import close
from weft import Tensor, jit, nn, ops
from weft.autodiff.grad import grad, jvp, value_and_grad
from weft.autodiff.higher import derivative, jet, linearize

X = np.array([[0.3, -1.2], [0.7, 2.0]], np.float32)
Y = np.array([[1.5, 0.2], [-0.4, 1.1]], np.float32)


def one(x: Any) -> Any:
    return (x * x + 1) * x / (x * x + 2)


def two(x: Any, y: Any) -> Any:
    return x * y * x + y


def several(x: Any) -> Any:
    return x * x * x, [x + 1, x * x]


#: ways to run a function of tensors
WAYS: list[Callable[[Any], Any]] = [lambda function: function, jit]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_jet_against_jax(way: Any, order: int) -> None:
    rng = np.random.default_rng(order)
    run = way(lambda x, s: jet(one, x, s))
    run_two = way(lambda x, y, s, t: jet(two, (x, y), (s, t)))
    for _ in range(2):
        x, y = rng.normal(size=(2, 2, 2)).astype(np.float32)
        s, t = rng.normal(size=(2, order, 2, 2)).astype(np.float32)
        value, series = jax_jet(one, (x,), (list(s),))
        out, found = run(Tensor(x), Tensor(s))
        close(out, value, rtol=1e-5)
        close(found, np.stack(series), rtol=1e-4, atol=1e-4)
        value, series = jax_jet(two, (x, y), (list(s), list(t)))
        out, found = run_two(Tensor(x), Tensor(y), Tensor(s), Tensor(t))
        close(out, value, rtol=1e-5)
        close(found, np.stack(series), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_several_outputs_come_as_a_list(way: Any) -> None:
    outputs, found = way(lambda x: derivative(several, x, 2))(Tensor(X))
    assert isinstance(outputs, list)
    assert isinstance(found, list)
    for got, want in zip(outputs, (X**3, X + 1, X * X), strict=True):
        close(got, want, rtol=1e-5)
    for got, want in zip(found, (6 * X, 0 * X, 0 * X + 2), strict=True):
        close(got, want, rtol=1e-5)


def test_integers_are_taken_as_floats() -> None:
    out, found = derivative(lambda x: x * x, Tensor([1, 2]), 1)
    assert str(out.dtype) == str(found.dtype) == "Float32"
    close(found, np.array([2.0, 4.0]))


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_of_a_network_and_their_gradient(way: Any) -> None:
    net = nn.SequentialCell(nn.Dense(1, 4), nn.Tanh(), nn.Dense(4, 1))
    w0, b0, w1, b1 = [p.asnumpy() for p in net.get_parameters()]

    def reference(x: Any) -> Any:
        return (jnp.tanh(x * w0[:, 0] + b0) @ w1[0] + b1)[0]

    points = np.linspace(-1, 1, 5).astype(np.float32)
    second = jax.vmap(jax.grad(jax.grad(reference)))
    third = jax.vmap(jax.grad(jax.grad(jax.grad(reference))))
    run = way(lambda x: derivative(net, x, 2))
    close(run(Tensor(points[:, None]))[1][:, 0], second(points), rtol=1e-4, atol=1e-5)
    run = way(grad(lambda x: derivative(net, x, 2)[1]))
    close(run(Tensor(points[:, None]))[:, 0], third(points), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_linearize_against_jax(way: Any) -> None:
    run = way(lambda x, y, v, w: (linearize(two, (x, y))[0], linearize(two, (x, y))[1]((v, w))))
    for scale in (1.0, 2.0):
        v, w = scale * Y, scale * X + 1
        want = jax.jvp(two, (X, Y), (v, w))
        for got, expected in zip(run(*map(Tensor, (X, Y, v, w))), want, strict=True):
            close(got, expected, rtol=1e-5)


def test_the_function_runs_once() -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return ops.sin(x) * x

    out, along = linearize(counted, Tensor(X))
    for tangent in (X, Y, X + Y):
        want = jvp(lambda x: ops.sin(x) * x, Tensor(X), Tensor(tangent))
        close(out, want[0].asnumpy())
        close(along(Tensor(tangent)), want[1].asnumpy(), rtol=1e-5)
    assert len(calls) == 1
    again = jit(along)
    close(again(Tensor(Y)), along(Tensor(Y)).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_a_linear_map(way: Any) -> None:
    _, along = linearize(two, (Tensor(X), Tensor(Y)))
    dv, dw = way(grad(lambda v, w: along(v, w), (0, 1)))(Tensor(Y), Tensor(X))
    close(dv, 2 * X * Y, rtol=1e-5)
    close(dw, X * X + 1, rtol=1e-5)
    dx = way(grad(lambda x: linearize(lambda y: y * y * y, x)[1](Tensor(Y))))(Tensor(X))
    close(dx, 6 * X * Y, rtol=1e-5)


def test_outputs_have_no_history() -> None:
    out, _ = linearize(lambda x: x * x, Tensor(X))
    assert grad(lambda x: (x + out).sum())(Tensor(Y)).asnumpy().tolist() == np.ones_like(X).tolist()


@pytest.mark.parametrize("way", WAYS)
def test_refusals(way: Any) -> None:
    x = Tensor(X)
    for error, text, wrong in [
        (TypeError, "series must be of the kind of primals", lambda x: jet(one, x, (x,))),
        (TypeError, "primals must be a tensor", lambda x: derivative(one, 3.0, 1)),
        (TypeError, "order must be an int", lambda x: derivative(one, x, 1.0)),
        (ValueError, "order must be at least 1, got 0", lambda x: derivative(one, x, 0)),
        (ValueError, r"must be \(2, 2, 2\), not \(2, 2\)", lambda x: jet(one, x, x)),
        (ValueError, "a tensor for each of the 2 primals", lambda x: jet(two, (x, x), (ops.stack([x]),))),
        (ValueError, "v must hold a tangent for each of the 2", lambda x: linearize(two, (x, x))[1](x)),
        (TypeError, "no input is a tensor", lambda x: linearize(one, 2.0)),
    ]:
        with pytest.raises(error, match=text):
            way(wrong)(x)


@pytest.mark.parametrize("way", WAYS)
def test_positions_given_by_keyword(way: Any) -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, y: Any, z: Any = 2.0) -> Any:
            return x * y * z

    for function in (lambda x, y, z=2.0: x * y * z, Net()):
        both = way(lambda x, y, f=function: grad(f, (0, 1))(x, y=y))
        close(both(Tensor(X), Tensor(Y))[0], 2 * Y)
        close(both(Tensor(Y), Tensor(X))[1], 2 * Y)
        close(way(lambda x, y, f=function: grad(f, 0)(y=y, x=x))(Tensor(X), Tensor(Y)), 2 * Y)
        close(way(lambda x, y, f=function: grad(f, 2)(x, z=x, y=y))(Tensor(X), Tensor(Y)), X * Y)
        with pytest.raises(ValueError, match="out of range: the function was called with 1 positional"):
            way(lambda x, f=function: grad(f, 2)(x, z=x))(Tensor(X))


@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_of_the_output_as_an_argument(way: Any) -> None:
    close(way(lambda x, s: grad(lambda x: x * x, sens_param=True)(x, s))(Tensor(X), Tensor(Y)), 2 * X * Y)
    value, found = way(lambda x, s: value_and_grad(lambda x: x * x, sens_param=True)(x, sens=s))(Tensor(X), Tensor(Y))
    close(value, X * X)
    close(found, 2 * X * Y)
