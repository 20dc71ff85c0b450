"""Capture alone, without compilation: a transformer as users write it, against a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import weft
from bench.measure import Result, row, seconds
from bench.transformer import Transformer
from weft.capture.capture import Program
from weft.capture.code import instructions as isa
from weft.capture.machine.handlers import HANDLERS
from weft.capture.state.events import FIRST

DEPTH, WIDTH, HEADS = 12, 64, 4
#: seconds for one instruction, and for the whole capture
INSTRUCTION_BUDGET, BUDGET = 25e-6, 1.0


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
    net, tokens = Transformer(DEPTH, WIDTH, HEADS), weft.Tensor(np.zeros((2, length), np.int32))
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
