"""Small computations: what one call costs beside JAX's own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, row, steady
from weft import nn


def _pair() -> tuple[Any, Any, Any, Any]:
    a, b = np.ones((3, 3), np.float32), np.full((3, 3), 2, np.float32)
    return weft.Tensor(a), weft.Tensor(b), jnp.asarray(a), jnp.asarray(b)


@row("x + y, 3x3, eager", 1.0)
def eager_add(repeat: int) -> Result:
    x, y, a, b = _pair()
    return steady(lambda: x + y, lambda: a + b, repeat)


@row("x * y + x under jit, cached call", 1.4)
def cached_call(repeat: int) -> Result:
    x, y, a, b = _pair()

    def compute(x: Any, y: Any) -> Any:
        return x * y + x

    ours, theirs = weft.jit(compute), jax.jit(compute)
    return steady(lambda: ours(x, y), lambda: theirs(a, b), repeat)


@row("eager gradient of (x * x).sum()", 0.033)
def eager_gradient(repeat: int) -> Result:
    x, _, a, _ = _pair()

    def compute(x: Any) -> Any:
        return (x * x).sum()

    ours, theirs = weft.grad(compute), jax.grad(compute)
    return steady(lambda: ours(x), lambda: theirs(a), repeat)


class Add(nn.Cell):
    """x added to itself, twice."""

    def construct(self, x: Any) -> Any:
        x = x + x
        return x + x


class Mul(nn.Cell):
    """x times itself, twice, compiled."""

    @weft.jit
    def construct(self, x: Any) -> Any:
        x = x * x
        return x * x


class Mixed(nn.Cell):
    """An eager block, a compiled one, and the eager one again."""

    def __init__(self) -> None:
        super().__init__()
        self.add = Add()
        self.mul = Mul()

    def construct(self, x: Any) -> Any:
        return self.add(self.mul(self.add(x)))


def _jax_add(x: Any) -> Any:
    x = x + x
    return x + x


@jax.jit
def _jax_mul(x: Any) -> Any:
    x = x * x
    return x * x


def _jax_mixed(x: Any) -> Any:
    return _jax_add(_jax_mul(_jax_add(x)))


@row("mixed net (eager, compiled, eager), forward", 0.6)
def mixed_forward(repeat: int) -> Result:
    x, _, a, _ = _pair()
    net = Mixed()
    return steady(lambda: net(x), lambda: _jax_mixed(a), repeat)


@row("mixed net (eager, compiled, eager), gradient", 0.075)
def mixed_gradient(repeat: int) -> Result:
    x, _, a, _ = _pair()
    net = Mixed()
    ours = weft.grad(lambda x: net(x).sum())
    theirs = jax.grad(lambda x: _jax_mixed(x).sum())
    return steady(lambda: ours(x), lambda: theirs(a), repeat)
