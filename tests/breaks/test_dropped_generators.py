"""Generators that a call leaves inside a `try`: Python runs the rest of it once nobody holds them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit, ops

log: list[Any] = []


def steps(v: Any, n: int) -> Iterator[Any]:
    try:
        for i in range(n):
            yield v * i
    finally:
        log.append("closed")


def first_item(x: Any) -> Any:
    log.append(next(steps(x, 3)))
    log.append("after")
    return ops.tanh(x)


def left_loop(x: Any) -> Any:
    for v in steps(x, 3):
        log.append(float(np.sum(v.asnumpy())))
        if v.sum() > 0:
            break
    log.append("after")
    return ops.tanh(x)


def behind_a_break(x: Any) -> Any:
    y = ops.tanh(x)
    z = ops.tanh(y) * float(np.sum(y.asnumpy()))
    for v in steps(z, 3):  # noqa: B007
        break
    log.append("after")
    w = ops.tanh(z) + v
    log.append(float(np.sum(w.asnumpy())))
    return w


def in_a_callee_behind_a_break(x: Any) -> Any:
    def item(z: Any) -> Any:
        z = ops.tanh(z)
        for v in steps(z, 3):
            return v
        return z

    y = ops.tanh(x)
    v = item(y * float(np.sum(y.asnumpy())))
    log.append("after")
    return ops.tanh(v)


@contextlib.contextmanager
def resource(x: Any) -> Iterator[Any]:
    log.append("open")
    try:
        yield x + 1
    finally:
        log.append("close")


def popped_from_a_stack(x: Any) -> Any:
    with contextlib.ExitStack() as stack:
        y = stack.enter_context(resource(x))
        stack.pop_all()
        log.append("body")
    return y


def entered_and_dropped(x: Any) -> Any:
    y = resource(x).__enter__()
    log.append("body")
    return ops.tanh(y)


def entered_and_dropped_behind_a_break(x: Any) -> Any:
    manager: Any = resource(x)
    y = manager.__enter__()
    log.append(float(np.sum(y.asnumpy())))
    manager = None
    log.append("body")
    return ops.tanh(y)


PROGRAMS = [
    first_item, left_loop, behind_a_break, in_a_callee_behind_a_break,
    popped_from_a_stack, entered_and_dropped, entered_and_dropped_behind_a_break,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_rest_runs_when_python_runs_it(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for values in ([1.0, 2.0], [-1.0, 0.5], [1.0, 2.0]):
        found = []
        for call in (function, compiled):
            log.clear()
            found.append([str(call(Tensor(values))), *map(str, log)])
        assert found[0] == found[1]
    assert "lifetime" in [entry.site.kind for entry in compiled.report().breaks]


def test_a_with_statement_closes_its_generator() -> None:
    @contextlib.contextmanager
    def noted(v: Any) -> Iterator[Any]:
        try:
            yield v * 2
        finally:
            log.append("closed")

    @jit
    def program(x: Any) -> Any:
        with noted(x) as y:
            y = ops.tanh(y) * float(np.sum(y.asnumpy()))
        return ops.tanh(y)

    program(Tensor([1.0, 2.0]))
    assert [entry.site.kind for entry in program.report().breaks] == ["tensor-value"]
