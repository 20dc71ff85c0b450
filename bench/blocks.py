"""Networks of equal layers: what repeats is compiled once, against the same graph as one executable."""

from __future__ import annotations

import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import weft
from bench.measure import Result, printed, row, seconds, steady, wait
from bench.transformer import Block, LazyBlock, Transformer
from weft import nn
from weft.jit.function import dispatcher_of


@contextmanager
def whole() -> Iterator[None]:
    """Compile each graph as one executable, and keep nothing for the next process."""
    weft.set_context(auto_block_reuse=False)
    try:
        yield
    finally:
        weft.set_context(auto_block_reuse=True)


def _step(depth: int, width: int, heads: int, block: type[Block] = Block) -> tuple[Callable[..., Any], Any]:
    net = Transformer(depth, width, heads, block)
    gradient = weft.value_and_grad(lambda tokens: net(tokens).sum(), None, net.trainable_params())
    return weft.jit(gradient), weft.Tensor(np.arange(32).reshape(2, 16) % 100, weft.int32)


def _first_call(depth: int, block: type[Block] = Block) -> float:
    """The seconds of a first call, compiled by XLA anew."""
    weft.set_context(enable_compile_cache=False)
    try:
        step, tokens = _step(depth, 64, 4, block)
        start = time.perf_counter()
        wait(step(tokens))
        return time.perf_counter() - start
    finally:
        weft.set_context(enable_compile_cache=True)


def _compared(depths: tuple[int, int], repeat: int, block: type[Block] = Block) -> Result:
    _first_call(3, block)
    ours, reference = (min(_first_call(depth, block) for _ in range(min(repeat, 3))) for depth in depths)
    return Result(ours / reference, seconds(ours), seconds(reference))


@row("192 blocks with lazy_inline and gradient, first call, over one executable", 1 / 15)
def shared_cold(repeat: int) -> Result:
    _first_call(2, LazyBlock)
    ours = min(_first_call(192, LazyBlock) for _ in range(min(repeat, 3)))
    with whole():
        reference = _first_call(192)
    return Result(ours / reference, seconds(ours), seconds(reference))


@row("192 blocks with lazy_inline and gradient, first call, over 2 blocks", 1.5)
def shared_depth(repeat: int) -> Result:
    return _compared((192, 2), repeat, LazyBlock)


@row("48 blocks with gradient, first call, over 1 block", 1.5)
def unasked(repeat: int) -> Result:
    return _compared((48, 1), repeat)


@row("192 blocks of width 512 with lazy_inline and gradient, step, over one executable", 1.05)
def shared_steady(repeat: int) -> Result:
    step, tokens = _step(192, 512, 8, LazyBlock)
    wait(step(tokens))
    with whole():
        one, _ = _step(192, 512, 8)
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


def _pangu(count: int) -> tuple[float, int]:
    """Seconds of the first call of 40 blocks with some micro-batches, and the nodes that were compiled."""
    net = _MicroBatches(Transformer(40, 16, 2), count)
    step = weft.jit(weft.value_and_grad(net, None, net.trainable_params()))
    tokens = weft.Tensor(np.arange(8 * count).reshape(count, 8) % 100, weft.int32)
    start = time.perf_counter()
    wait(step(tokens))
    spent = time.perf_counter() - start
    return spent, len({id(node) for graph in _prepared(step) for node in graph.walk()})  # a callee once


def _prepared(function: Any) -> Iterator[Any]:
    """The graphs of a compiled function as they are compiled."""
    for variants in dispatcher_of(function).variants.values():
        for compiled in variants.all():
            for entries in compiled.entries.values():
                yield from (entry.segment.executable.prepared for entry in entries)


@row("40 blocks x 16 micro-batches with gradient, first call, over 16 x one executable of 1 micro-batch", 1 / 20)
def micro_batches(repeat: int) -> Result:
    weft.set_context(enable_compile_cache=False)
    try:
        ours, _ = _pangu(16)
        with whole():  # XLA takes longer than in proportion, so this favours the reference
            reference = 16 * _pangu(1)[0]
    finally:
        weft.set_context(enable_compile_cache=True)
    return Result(ours / reference, seconds(ours), seconds(reference))


@row("the same, nodes of its graph, of 20,000", 1.0)
def micro_batch_nodes(repeat: int) -> Result:
    _, nodes = _pangu(16)
    return Result(nodes / 20_000, f"{nodes} nodes", "20000 nodes")


def peak_growth(count: int, shared: bool) -> None:
    """Print by how many bytes the peak memory of this process grows in the first call of 40 blocks."""
    weft.set_context(enable_compile_cache=False, auto_block_reuse=shared)
    _first_call(3)
    before = _peak()
    _pangu(count)
    print(_peak() - before)


def _peak() -> int:
    """The peak memory of this process in bytes."""
    try:  # what `getrusage` says begins, on Linux, with the peak of the process that started this one
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10  # type: ignore[index]
    except (OSError, TypeError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _peak_growth(count: int, shared: bool) -> int:
    """The same of a new process, with one malloc arena."""
    command = f"from bench.blocks import peak_growth; peak_growth({count}, {shared})"
    return int(printed(command, MALLOC_ARENA_MAX="1"))


@row("the same, memory of its first call, over one executable of 1 micro-batch", 1.0)
def micro_batch_memory(repeat: int) -> Result:
    ours, reference = _peak_growth(16, True), _peak_growth(1, False)
    return Result(ours / reference, f"{ours >> 20} MiB", f"{reference >> 20} MiB")
