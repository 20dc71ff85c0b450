"""An optimizer over many parameters: its update in one eager call, and the same written by hand with JAX."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, row, steady
from weft import nn

COUNT: Final = 1000
SHAPE: Final = (8,)
RATE: Final = 1e-3
BETA1: Final = 0.9
BETA2: Final = 0.999
EPS: Final = 1e-8


def _values(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(SHAPE).astype(np.float32) for _ in range(COUNT)]


def _jax_update(state: Any, gradients: list[Any]) -> Any:
    parameters, moments1, moments2, power1, power2 = state
    power1, power2 = power1 * BETA1, power2 * BETA2
    rate = RATE * jnp.sqrt(1 - power2) / (1 - power1)
    moments1 = [BETA1 * m + (1 - BETA1) * g for m, g in zip(moments1, gradients, strict=True)]
    moments2 = [BETA2 * v + (1 - BETA2) * g * g for v, g in zip(moments2, gradients, strict=True)]
    moved = [p - rate * m / (jnp.sqrt(v) + EPS) for p, m, v in zip(parameters, moments1, moments2, strict=True)]
    return moved, moments1, moments2, power1, power2


@row("1,000-parameter Adam step, eager call", 3.0)
def adam_step(repeat: int) -> Result:
    values, slopes = _values(0), _values(1)
    parameters = [weft.Parameter(weft.Tensor(v), name=f"p{i}") for i, v in enumerate(values)]
    optimizer = nn.Adam(parameters, RATE, BETA1, BETA2, EPS)
    gradients = tuple(weft.Tensor(g) for g in slopes)

    zeros = [jnp.zeros(SHAPE, jnp.float32) for _ in range(COUNT)]
    one = jnp.ones((), jnp.float32)
    state: Any = ([jnp.asarray(v) for v in values], zeros, zeros, one, one)
    arrays = [jnp.asarray(g) for g in slopes]
    update = jax.jit(_jax_update)

    def theirs() -> Any:
        nonlocal state
        state = update(state, arrays)
        return state[0][0]

    def ours() -> Any:
        optimizer(gradients)
        return parameters[0]

    return steady(ours, theirs, repeat)
