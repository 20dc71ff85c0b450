"""Gradients of real tensors that take part in complex arithmetic, and complex numbers cast to real ones."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from tests.helpers.values import close, x
from weft import Tensor, ops

FACTOR = 3 - 4j


def loss(value: Tensor, scale: Tensor) -> Tensor:
    turned = value * FACTOR * scale
    return turned.real().sum() + 2 * turned.imag().sum()


@pytest.mark.parametrize("compiler", [lambda function: function, weft.jit], ids=["eager", "jit"])
def test_gradient_of_a_real_tensor_beside_a_complex_number(compiler: Any) -> None:
    value, scale = x(1.0, 2.0), x(0.5, 3.0)
    gradients = compiler(weft.grad(loss, (0, 1)))(value, scale)
    slope = FACTOR.real + 2 * FACTOR.imag
    close(gradients[0], slope * scale.asnumpy())
    close(gradients[1], slope * value.asnumpy())


@pytest.mark.parametrize("compiler", [lambda function: function, weft.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [weft.float32, weft.int32, weft.bool_])
def test_cast_of_complex_numbers(dtype: Any, compiler: Any) -> None:
    numbers = np.asarray([1.5 - 2j, 2j, 0], np.complex64)
    found = compiler(lambda tensor: ops.cast(tensor, dtype))(Tensor(numbers))
    assert found.dtype is dtype
    real = numbers if dtype is weft.bool_ else numbers.real
    close(found, real.astype(dtype.np_dtype))


#: functions of complex numbers, with JAX's
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "abs": (ops.abs, jnp.abs),
    "sgn": (ops.sgn, lambda z: z / jnp.abs(z)),
    "angle": (ops.angle, jnp.angle),
    "conj": (ops.conj, jnp.conj),
    "square": (ops.square, jnp.square),
    "sqrt": (ops.sqrt, jnp.sqrt),
    "rsqrt": (ops.rsqrt, lambda z: 1 / jnp.sqrt(z)),
    "exp": (ops.exp, jnp.exp),
    "log": (ops.log, jnp.log),
    "sin": (ops.sin, jnp.sin),
    "tanh": (ops.tanh, jnp.tanh),
    "reciprocal": (ops.reciprocal, lambda z: 1 / z),
    "fft": (lambda z: ops.abs(ops.fft(z)), lambda z: jnp.abs(jnp.fft.fft(z))),
    "power": (lambda z: z**3, lambda z: z**3),
    "product": (lambda z: z * ops.conj(z) / (z + 2), lambda z: z * jnp.conj(z) / (z + 2)),
    "polar": (lambda z: ops.polar(ops.abs(z), ops.angle(z) * 2), lambda z: jnp.abs(z) * jnp.exp(2j * jnp.angle(z))),
}


@pytest.mark.parametrize("compiler", [lambda function: function, weft.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str, compiler: Any) -> None:
    ours, theirs = FUNCTIONS[name]
    point, along = np.array([0.5, -1.2, 0.8], np.float32), np.array([1.0, 0.5, -2.0], np.float32)

    def loss(value: Any) -> Any:
        found = ours(ops.complex(value, value * value + 0.3))
        return (found.real() * 2 + found.imag()).sum() if found.is_complex() else (found * 2).sum()

    def oracle(value: Any) -> Any:
        found = theirs(jax.lax.complex(value, value * value + 0.3))
        return (found.real * 2 + found.imag).sum()

    def turned(value: Any) -> Any:
        return (weft.grad(loss)(value) * Tensor(along)).sum()

    first = jax.grad(oracle)
    np.testing.assert_allclose(compiler(weft.grad(loss))(Tensor(point)).asnumpy(), first(point), 2e-4, 2e-5)
    second = jax.grad(lambda value: (first(value) * along).sum())(point)
    np.testing.assert_allclose(compiler(weft.grad(turned))(Tensor(point)).asnumpy(), second, 2e-4, 2e-5)


def test_the_direction_of_zero() -> None:
    def loss(value: Any) -> Any:
        z = ops.complex(value, value * 0)
        return (ops.sgn(z).real() + ops.abs(z)).sum()

    zero = Tensor(np.zeros(2, np.float32))
    close(weft.grad(loss)(zero), np.zeros(2))
    assert np.isfinite(weft.grad(lambda value: weft.grad(loss)(value).sum())(zero).asnumpy()).all()
