"""First calls: capture, graph passes and compilation, against tracing and compilation."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, cold, row, seconds, steady
from weft import ops
from weft.capture.capture import Program
from weft.capture.state.events import FIRST
from weft.compile.lower import lower
from weft.core.garbage import freed_after


def _loop() -> Callable[..., Any]:
    def func(input_x: Any, input_y: Any) -> Any:
        output = input_x
        for _ in range(200):
            output = input_x + input_x * input_y + output
        return output

    return func


@row("loop of 200 iterations, first call", 0.6)
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


@row("100 ifs on a tensor, first call", 0.4)
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


@row("loop of 200 iterations, call, over unrolled", 1.2)
def loop_call(repeat: int) -> Result:
    x, y = weft.Tensor(np.ones(3, np.float32)), weft.Tensor(np.ones(3, np.float32))
    limit = weft.get_context("loop_unroll_limit")
    ours, unrolled = weft.jit(_loop()), weft.jit(_loop())
    ours(x, y)
    weft.set_context(loop_unroll_limit=-1)
    try:
        unrolled(x, y)
    finally:
        weft.set_context(loop_unroll_limit=limit)
    return steady(lambda: ours(x, y), lambda: unrolled(x, y), repeat)


def _selects(select: Callable[..., Any]) -> Callable[..., Any]:
    def select_net(x: Any, y: Any) -> Any:
        out = x
        for _ in range(100):
            x = select(x < y, x - y, x + y)
            out = out + x
        return out

    return select_net


@row("100 selects, first call", 0.8)
def selects_cold(repeat: int) -> Result:
    def ours(rank: int) -> Any:
        x, y = np.zeros((1,) * rank, np.int64), np.ones((1,) * rank, np.int64)
        return weft.jit(_selects(ops.select))(weft.Tensor(x), weft.Tensor(y))

    def theirs(rank: int) -> Any:
        x, y = np.zeros((1,) * rank, np.int64), np.ones((1,) * rank, np.int64)
        return jax.jit(_selects(jnp.where))(jnp.asarray(x), jnp.asarray(y))

    return cold(ours, theirs, min(repeat, 6))


def _hswish() -> Callable[..., Any]:
    def hswish(x: Any) -> Any:
        return ops.HSwish()(x)

    return hswish


def _jax_hswish() -> Callable[..., Any]:
    def hswish(x: Any) -> Any:
        return jax.nn.hard_swish(x)

    return hswish


def _over_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    def manually_batched(xs: Any) -> Any:
        out = []
        for x in xs:
            out.append(function(x))
        return ops.stack(out)

    return manually_batched


def _rows(width: int) -> Any:
    return np.linspace(-4, 4, 100 * width, dtype=np.float32).reshape(100, width)


@row("for over 100 rows, first call, over vmap", 3.0)
def rows_cold(repeat: int) -> Result:
    def ours(width: int) -> Any:
        return weft.jit(_over_rows(_hswish()))(weft.Tensor(_rows(width)))

    def theirs(width: int) -> Any:
        return weft.jit(weft.vmap(_hswish()))(weft.Tensor(_rows(width)))

    return cold(ours, theirs, min(repeat, 9))


@row("vmap over 100 rows, first call", 1.0)
def vmap_cold(repeat: int) -> Result:
    def ours(width: int) -> Any:
        return weft.jit(weft.vmap(_hswish()))(weft.Tensor(_rows(width)))

    def theirs(width: int) -> Any:
        return jax.jit(jax.vmap(_jax_hswish()))(jnp.asarray(_rows(width)))

    return cold(ours, theirs, min(repeat, 9))


def _long(x: Any, y: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x * y
        x = x + y
        x = x - y * 0.5
    return x


def _until_xla(steps: int) -> tuple[int, float]:
    """The operations of an unrolled loop, and the seconds of processor time from the call to the program for XLA."""
    x = weft.Tensor(np.ones((2, steps % 97 + 2), np.float32))
    gc.collect()
    begun = time.process_time()
    with freed_after():  # as in a call
        entry = Program("long", True, fullgraph=True).capture_call(_long, (x, x, steps), {}, FIRST)
        graph = entry.segment.graph
        kinds = [jax.ShapeDtypeStruct(x.shape, np.float32)] * len(graph.params)
        jax.jit(lower(graph)).lower(*kinds)
    return len(graph.nodes), time.process_time() - begun


@row("an operation until XLA gets the program, the slowest of 1,000 to 100,000", 1.0)
def operations(repeat: int) -> Result:
    sizes = [333, 1000, 3333, 10_000, 33_333]
    _until_xla(100)
    counts, spent = zip(*[min((_until_xla(size) for _ in range(min(repeat, 2))), key=lambda m: m[1]) for size in sizes],
                        strict=True)  # fmt: skip
    worst = max(t / n for n, t in zip(counts, spent, strict=True))
    fit = np.corrcoef(counts, spent)[0, 1] ** 2
    ratio = max(worst / 100e-6, 1.0 + (0.99 - fit) * 100 if fit < 0.99 else 0.0)
    return Result(ratio, f"{seconds(worst)}, R2 {fit:.3f}", seconds(100e-6))
