"""What a break costs: a compiled function with one, beside its two graphs called one after the other from Python."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import weft
from bench.measure import Result, alternating, row, seconds

#: what a break may cost over the same statement run between two compiled functions
_BREAK_LIMIT = 5e-6
_ROUNDS = 100


@weft.jit_disable
def note(value: Any) -> Any:
    """A call that must run in Python."""
    return value


def _first(x: Any, y: Any) -> Any:
    return x * y


def _second(x: Any, y: Any) -> Any:
    return x + y


def _extra(ours: Callable[[], Any], reference: Callable[[], Any], breaks: int, repeat: int) -> Result:
    """The time over the reference, for each break, compared with the limit."""
    pairs = alternating(ours, reference, repeat)
    extra = statistics.median(a - b for a, b in pairs) / breaks
    return Result(extra / _BREAK_LIMIT, seconds(max(extra, 0.0)), seconds(_BREAK_LIMIT))


def _pair() -> tuple[Any, Any]:
    return weft.Tensor(np.ones((3, 3), np.float32)), weft.Tensor(np.full((3, 3), 2, np.float32))


@row("a break between two operations, over Python", 1.0)
def one_break(repeat: int) -> Result:
    x, y = _pair()

    def broken(x: Any, y: Any) -> Any:
        x = x * y
        note(1)
        return x + y

    whole, first, second = weft.jit(broken), weft.jit(_first), weft.jit(_second)

    def by_hand() -> Any:
        z = first(x, y)
        note(1)
        return second(z, y)

    return _extra(lambda: whole(x, y), by_hand, 1, repeat)


@row("a break in a loop of 100 iterations, over Python", 1.0)
def break_in_loop(repeat: int) -> Result:
    x, y = _pair()

    def broken(x: Any, y: Any) -> Any:
        for number in range(_ROUNDS):
            x = x * y
            note(number)
            x = x + y
        return x

    whole, first, second = weft.jit(broken), weft.jit(_first), weft.jit(_second)

    def by_hand() -> Any:
        z = x
        for number in range(_ROUNDS):
            z = first(z, y)
            note(number)
            z = second(z, y)
        return z

    return _extra(lambda: whole(x, y), by_hand, _ROUNDS, repeat)
