"""Generators in which a tensor decides whether they yield, return or raise, however they are consumed."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.outcomes import chain_of
from weft import Tensor, jit

POLICIES: dict[str, Callable[[Any], Any]] = {"auto": jit, "PIJit": functools.partial(jit, mode="PIJit")}
#: what stands on a side of the branch
SIDES = ("raise KeyError(k)", "return k * 10", "yield x * 3", "pass", "x = x * 5", "got.append(k)")
BODY = """
def gen(x, k, got):
    {before}
    {begin}
        got.append((yield x + k))
        if x.sum() > 1:
            {first}
        else:
            {second}
        got.append((yield x * 2))
    {end}
"""
AROUND = {
    "plain": ("pass", "if True:", "pass"),
    "finally": ("pass", "try:", "finally:\n        got.append('finally')"),
    "handler": ("pass", "try:", "except (KeyError, ValueError) as error:\n        got.append(repr(error))"),
    "with": ("pass", "with contextlib.suppress(KeyError):", "pass"),
    "loop": ("n = 0", "while (n := n + 1) < 3:", "pass"),
}


def drained(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    return list(gen(x, k, got))


def in_a_loop(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    total = x * 0
    for item in gen(x, k, got):
        total = total + item
    return total


def by_next(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    steps, found = gen(x, k, got), []
    for _ in range(4):
        try:
            found.append(next(steps))
        except StopIteration as stop:
            found.append(("stop", stop.value))
    return found


def with_default(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    steps = gen(x, k, got)
    return [next(steps, "end") for _ in range(4)]


def sent(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    steps = gen(x, k, got)
    found = [next(steps)]
    try:
        found.append(steps.send("a"))
        found.append(steps.send("b"))
    except StopIteration as stop:
        found.append(("stop", stop.value))
    return found


def thrown(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    steps = gen(x, k, got)
    found = [next(steps)]
    try:
        found.append(steps.throw(ValueError(k)))
    except (ValueError, StopIteration) as error:
        found.append(repr(error))
    return found


def closed(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    steps = gen(x, k, got)
    found = [next(steps)]
    steps.close()
    return [*found, next(steps, "end")]


def delegated(gen: Any, x: Any, k: int, got: list[Any]) -> Any:
    def outer() -> Iterator[Any]:
        got.append(("result", (yield from gen(x, k, got))))
        yield x

    return list(outer())


CONSUMERS = (drained, in_a_loop, by_next, with_default, sent, thrown, closed, delegated)


def shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "tensor", value.asnumpy().tolist()
    return [shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def seen(run: Callable[..., Any], x: Any, k: int) -> Any:
    got: list[Any] = []
    try:
        found = "returned", shown(run(x, k, got))
    except Exception as error:
        found = "raised", [part[:2] for part in chain_of(error, __file__)]
    return found, shown(got)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.__name__)
def test_as_in_python(consumer: Callable[..., Any], around: str, policy: str) -> None:
    before, begin, end = AROUND[around]
    pairs = list(itertools.permutations(SIDES, 2))
    for first, second in pairs[len(consumer.__name__) % 3 :: 3]:
        source = BODY.format(before=before, begin=begin, end=end, first=first, second=second)
        space: dict[str, Any] = {"contextlib": contextlib}
        exec(source, space)
        run = functools.partial(consumer, space["gen"])
        compiled = POLICIES[policy](run)
        for k, value in enumerate((0.0, 2.0, 0.5, 3.0)):
            x = Tensor(np.full(2, value, np.float32))
            assert seen(compiled, x, k) == seen(run, x, k), f"{source}with {consumer.__name__}, {value}"
