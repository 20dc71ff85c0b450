"""First calls: capture, graph passes and compilation, against tracing and compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, cold, row, steady


def _loop() -> Callable[..., Any]:
    def func(input_x: Any, input_y: Any) -> Any:
        output = input_x
        for _ in range(200):
            output = input_x + input_x * input_y + output
        return output

    return func


@row("loop of 200 iterations, first call", 1.5)
def loop_cold(repeat: int) -> Result:
    # a fresh function and another shape each time, so that nothing can be reused
    def ours(size: int) -> Any:
        return weft.jit(_loop())(weft.Tensor(np.ones(size, np.float32)), weft.Tensor(np.ones(size, np.float32)))

    def theirs(size: int) -> Any:
        return jax.jit(_loop())(jnp.ones(size, np.float32), jnp.ones(size, np.float32))

    return cold(ours, theirs, min(repeat, 9))


def _ifs() -> Callable[..., Any]:
    def if_net(x: Any, y: Any) -> Any:
        out = 0
        for _ in range(100):
            if x < y:
                x = x - y
            else:
                x = x + y
            out = out + x
        return out

    return if_net


def _conds() -> Callable[..., Any]:
    def if_net(x: Any, y: Any) -> Any:
        out = 0
        for _ in range(100):
            x = jax.lax.cond((x < y).reshape(()), lambda x, y: x - y, lambda x, y: x + y, x, y)
            out = out + x
        return out

    return if_net


@row("100 ifs on a tensor, first call", 1.2)
def ifs_cold(repeat: int) -> Result:
    # one element in as many dimensions as it takes to be new
    def ours(rank: int) -> Any:
        shape = (1,) * rank
        return weft.jit(_ifs())(weft.Tensor(np.zeros(shape, np.int64)), weft.Tensor(np.ones(shape, np.int64)))

    def theirs(rank: int) -> Any:
        shape = (1,) * rank
        return jax.jit(_conds())(jnp.zeros(shape, np.int64), jnp.ones(shape, np.int64))

    return cold(ours, theirs, min(repeat, 6))


@row("100 ifs on a tensor, call", 1.2)
def ifs_call(repeat: int) -> Result:
    x, y = np.zeros(1, np.int64), np.ones(1, np.int64)
    ours, theirs = weft.jit(_ifs()), jax.jit(_conds())
    tensors, arrays = (weft.Tensor(x), weft.Tensor(y)), (jnp.asarray(x), jnp.asarray(y))
    return steady(lambda: ours(*tensors), lambda: theirs(*arrays), repeat)
