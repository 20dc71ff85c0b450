"""Exceptions that pass a break: once nobody holds them, the objects of their frames go, as in Python."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft
from weft import Tensor


def _plainly(g: Any) -> Any:
    return g


def _after_an_operation(g: Any) -> Any:
    return lambda x: g(x * 2)


def _caught(g: Any) -> Any:
    def catches(x: Any) -> Any:
        with contextlib.suppress(KeyError):
            g(x)
        return x * 2

    return catches


def _through(transform: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda g: lambda x: transform(g)(x)


WAYS = {
    "plainly": _plainly,
    "after an operation": _after_an_operation,
    "caught": _caught,
    "grad": _through(weft.grad),
    "vmap": _through(weft.vmap),
    "vjp": lambda g: lambda x: weft.vjp(g, x),
    "caught outside of grad": lambda g: _caught(_through(weft.grad)(g)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_generator_in_the_frame_is_closed_at_once(way: str) -> None:
    def closed(compiler: Callable[[Any], Any]) -> list[int]:
        events: list[str] = []

        def items(x: Any) -> Iterator[Any]:
            try:
                yield x
                yield x + 1
            finally:
                events.append("closed")

        def raises(x: Any) -> Any:
            iterator = items(x)
            next(iterator)
            raise KeyError("stop")

        function, found = compiler(WAYS[way](raises)), []
        for _ in range(3):
            with contextlib.suppress(KeyError):
                function(Tensor([1.0, 2.0]))
            found.append(len(events))
        return found

    gc.collect()
    gc.disable()
    try:
        assert closed(weft.jit) == closed(lambda function: function) == [1, 2, 3]
    finally:
        gc.enable()
