"""Capture alone, without compilation: a transformer as users write it, against a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import weft
from bench.measure import Result, row, seconds
from weft import nn, ops
from weft.capture.capture import Program
from weft.capture.code import instructions as isa
from weft.capture.machine.handlers import HANDLERS
from weft.capture.state.events import FIRST

DEPTH, WIDTH, HEADS = 12, 64, 4
#: seconds for one instruction, and for the whole capture
INSTRUCTION_BUDGET, BUDGET = 25e-6, 1.0


class Attention(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.scale = (WIDTH // HEADS) ** -0.5
        self.query, self.key, self.value = nn.Dense(WIDTH, WIDTH), nn.Dense(WIDTH, WIDTH), nn.Dense(WIDTH, WIDTH)
        self.out = nn.Dense(WIDTH, WIDTH)

    def split(self, x: Any) -> Any:
        batch, length, width = x.shape
        return x.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

    def construct(self, x: Any, mask: Any) -> Any:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(query, key.transpose(0, 1, 3, 2)) * self.scale
        if mask is not None:
            scores = scores + mask
        mixed = ops.matmul(ops.softmax(scores, -1), value)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(x.shape))


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.attention = Attention()
        self.up, self.act, self.down = nn.Dense(WIDTH, 4 * WIDTH), nn.GELU(), nn.Dense(4 * WIDTH, WIDTH)

    def construct(self, x: Any, mask: Any) -> Any:
        x = x + self.attention(self.norm1(x), mask)
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, WIDTH)
        self.blocks = nn.CellList([Block() for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, 100)

    def construct(self, tokens: Any) -> Any:
        x = self.embed(tokens)
        length = tokens.shape[1]
        mask = ops.triu(ops.full((length, length), -1e9, dtype=weft.float32), 1)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


@contextmanager
def counted() -> Iterator[list[int]]:
    """Count the instructions that captures execute: every handler is replaced by one that counts."""
    count = [0]

    def counting(handler: Callable[..., Any]) -> Callable[..., Any]:
        def handle(*args: Any) -> Any:
            count[0] += 1
            return handler(*args)

        return handle

    before = dict(HANDLERS)
    isa._decoded.clear()  # instructions remember their handlers
    HANDLERS.update({name: counting(handler) for name, handler in before.items()})
    try:
        yield count
    finally:
        HANDLERS.update(before)
        isa._decoded.clear()


def _capture(length: int) -> float:
    """Capture a new network with a new length; returns the seconds."""
    net, tokens = Transformer(), weft.Tensor(np.zeros((2, length), np.int32))
    net.set_train(False)
    start = time.perf_counter()
    Program("transformer", True, fullgraph=True).capture_call(net, (tokens,), {}, FIRST)
    return time.perf_counter() - start


def _best(repeat: int) -> float:
    # the first captures also run operations on constants for the first time, which is compilation
    return min(_capture(length) for length in [16] * min(repeat, 7))


@row("12-block transformer, captured", 1.0)
def whole(repeat: int) -> Result:
    best = _best(repeat)
    return Result(best / BUDGET, seconds(best), seconds(BUDGET))


@row("12-block transformer, capture of an instruction", 1.0)
def instruction(repeat: int) -> Result:
    with counted() as count:
        _capture(16)
    each = _best(repeat) / count[0]
    return Result(each / INSTRUCTION_BUDGET, seconds(each), seconds(INSTRUCTION_BUDGET))
