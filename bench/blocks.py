"""Networks of equal layers: what repeats is compiled once, against the same graph as one executable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import weft
from bench.measure import Result, row, seconds, steady, wait
from bench.transformer import Transformer
from weft import nn


@contextmanager
def whole() -> Iterator[None]:
    """Compile each graph as one executable, and keep nothing for the next process."""
    weft.set_context(auto_block_reuse=False)
    try:
        yield
    finally:
        weft.set_context(auto_block_reuse=True)


def _step(depth: int, width: int, heads: int) -> tuple[Callable[..., Any], Any]:
    net = Transformer(depth, width, heads)
    gradient = weft.value_and_grad(lambda tokens: net(tokens).sum(), None, net.trainable_params())
    return weft.jit(gradient), weft.Tensor(np.arange(32).reshape(2, 16) % 100, weft.int32)


def _first_call(depth: int) -> float:
    """The seconds of a first call, compiled by XLA anew."""
    weft.set_context(enable_compile_cache=False)
    try:
        step, tokens = _step(depth, 64, 4)
        start = time.perf_counter()
        wait(step(tokens))
        return time.perf_counter() - start
    finally:
        weft.set_context(enable_compile_cache=True)


@row("48 transformer blocks with gradient, first call, over one executable", 0.5)
def shared_cold(repeat: int) -> Result:
    _first_call(2)
    ours = min(_first_call(48) for _ in range(min(repeat, 3)))
    with whole():
        reference = _first_call(48)
    return Result(ours / reference, seconds(ours), seconds(reference))


@row("48 transformer blocks with gradient, first call, over 2 blocks", 2.0)
def shared_depth(repeat: int) -> Result:
    _first_call(3)
    ours, reference = (min(_first_call(depth) for _ in range(min(repeat, 3))) for depth in (48, 2))
    return Result(ours / reference, seconds(ours), seconds(reference))


@row("48 transformer blocks of width 512 with gradient, step, over one executable", 1.1)
def shared_steady(repeat: int) -> Result:
    step, tokens = _step(48, 512, 8)
    wait(step(tokens))
    with whole():
        one, _ = _step(48, 512, 8)
        wait(one(tokens))
    return steady(lambda: step(tokens), lambda: one(tokens), min(repeat, 5))


class _MicroBatches(nn.Cell):
    """One network applied to each row of a batch, as a pipeline does."""

    def __init__(self, network: Any, count: int) -> None:
        super().__init__()
        self.network, self.count = network, count

    def construct(self, tokens: Any) -> Any:
        total = 0
        for i in range(self.count):
            total = total + self.network(tokens[i : i + 1]).sum()
        return total


@row("40 blocks x 16 micro-batches with gradient, first call, of 60 s", 1.0)
def micro_batches(repeat: int) -> Result:
    weft.set_context(enable_compile_cache=False)
    try:
        net = _MicroBatches(Transformer(40, 16, 2), 16)
        step = weft.jit(weft.value_and_grad(net, None, net.trainable_params()))
        tokens = weft.Tensor(np.arange(128).reshape(16, 8) % 100, weft.int32)
        start = time.perf_counter()
        wait(step(tokens))
        spent = time.perf_counter() - start
    finally:
        weft.set_context(enable_compile_cache=True)
    return Result(spent / 60, seconds(spent), seconds(60))
