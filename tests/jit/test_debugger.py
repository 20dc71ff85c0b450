"""A debugger called inside a compiled function stops in the user's frame."""

from __future__ import annotations

import io
import pdb
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.sources import place_of
from weft import Tensor
from weft.errors import Refusal, Unsupported


class Console:
    """A debugger that reads its commands from a script: `said` is what it wrote."""

    def __init__(self, commands: list[str]) -> None:
        self.written = io.StringIO()
        script = io.StringIO("".join(f"{command}\n" for command in commands))
        self.debugger = pdb.Pdb(stdin=script, stdout=self.written, nosigint=True, readrc=False)
        self.debugger.use_rawinput = False

    @property
    def said(self) -> list[str]:
        """The answers to the commands, the first one being where it stopped."""
        return [part.strip() for part in self.written.getvalue().split("(Pdb)")]


@contextmanager
def answering(monkeypatch: Any, *commands: str) -> Iterator[Console]:
    """Within the block `breakpoint()` opens a debugger that is given some commands."""
    console = Console(list(commands))
    monkeypatch.setattr(sys, "breakpointhook", lambda: console.debugger.set_trace(sys._getframe(1)))
    tracer = sys.gettrace()
    try:
        yield console
    finally:
        sys.settrace(tracer)


def stops(x: Any) -> Any:
    early = x * 3
    y = early - x - x + 1
    breakpoint()
    return y * 2


def in_loop(x: Any, count: int) -> Any:
    for number in range(count):
        before = x
        x = x * 2
        if number == 1:
            breakpoint()
        x = x + before
    return x


def outer(x: Any) -> Any:
    scale = x * 10
    y = stops(x + 1)
    return y + scale


def with_cell(x: Any) -> Any:
    y = x + 1

    def read() -> Any:
        return y

    breakpoint()
    return read() * x


@weft.jit_disable
def outside() -> None:
    """A call that no graph holds."""


def after_a_break(x: Any) -> Any:
    early = x * 5
    y = early - x * 4 + 1
    outside()
    z = y * 2
    breakpoint()
    return z


def changed(x: Any) -> Any:
    factor = 2
    breakpoint()
    return x * factor


def in_handler(x: Any) -> Any:
    try:
        raise KeyError("k")
    except KeyError as error:
        note = str(error)
        breakpoint()
        return x + len(note)


def called_directly(x: Any, debugger: Any) -> Any:
    y = x + 1
    debugger.set_trace()
    return y * 2


def shown(value: Any) -> str:
    return repr(Tensor(np.asarray(value, np.float32)))


def test_values_and_place_at_top_level(monkeypatch: Any) -> None:
    compiled = weft.jit(stops)
    for _ in range(2):  # captured, then from the cache
        with answering(
            monkeypatch, "p y", "p early", "p sorted(n for n in locals() if n.isidentifier())", "c"
        ) as console:
            result = compiled(Tensor([1.0, 2.0]))
        np.testing.assert_array_equal(result.asnumpy(), [4.0, 6.0])
        stopped, y, early, names, *_ = console.said
        line = place_of(stops, "breakpoint()" if sys.version_info >= (3, 13) else "return y")[0]
        assert stopped.startswith(f"> {__file__}({line})stops()")
        assert y == shown([2.0, 3.0])
        assert early == shown([3.0, 6.0])
        assert names == "['early', 'x', 'y']"
    (broken,) = compiled.report().breaks
    assert broken.site.kind == Refusal.DEBUGGER.value
    assert broken.site.location.line == place_of(stops, "breakpoint()")[0]
    assert broken.count == 2


def test_in_a_loop(monkeypatch: Any) -> None:
    with answering(monkeypatch, "p number", "p before", "p x", "c") as console:
        result = weft.jit(in_loop)(Tensor([1.0]), 3)
    np.testing.assert_array_equal(result.asnumpy(), in_loop_without(1.0, 3))
    assert console.said[1:4] == ["1", shown([3.0]), shown([6.0])]


def in_loop_without(x: float, count: int) -> list[float]:
    for _ in range(count):
        x = 3 * x
    return [x]


def test_frames_of_nested_calls(monkeypatch: Any) -> None:
    with answering(monkeypatch, "p y", "where", "up", "p scale", "p x", "down", "p x", "c") as console:
        result = weft.jit(outer)(Tensor([1.0]))
    np.testing.assert_array_equal(result.asnumpy(), [16.0])
    _, y, where, up, scale, outer_x, down, inner_x, *_ = console.said
    assert y == shown([3.0])
    call = place_of(outer, "stops(x + 1)")[0]
    places = [line for line in where.splitlines() if f"{__file__}(" in line]
    assert places[-2].strip() == f"{__file__}({call})outer()"
    assert places[-1].startswith(f"> {__file__}(")
    assert places[-1].partition(")")[2].startswith("stops()")
    assert up.startswith(f"> {__file__}({call})outer()")
    assert scale == shown([10.0])
    assert outer_x == shown([1.0])
    assert "stops()" in down
    assert inner_x == shown([2.0])


def test_variables_in_closure_cells(monkeypatch: Any) -> None:
    with answering(monkeypatch, "p y", "p read()", "c") as console:
        result = weft.jit(with_cell)(Tensor([2.0]))
    np.testing.assert_array_equal(result.asnumpy(), [6.0])
    assert console.said[1:3] == [shown([3.0]), shown([3.0])]


def test_variables_from_before_another_break(monkeypatch: Any) -> None:
    with answering(monkeypatch, "p early", "p y", "c") as console:
        compiled = weft.jit(after_a_break)
        result = compiled(Tensor([2.0]))
    assert len(compiled.report().breaks) == 2
    np.testing.assert_array_equal(result.asnumpy(), [6.0])
    assert console.said[1:3] == [shown([10.0]), shown([3.0])]


def test_a_variable_that_is_given_another_value(monkeypatch: Any) -> None:
    compiled = weft.jit(changed)
    for factor in (5, 7):
        with answering(monkeypatch, f"factor = {factor}", "c"):
            result = compiled(Tensor([2.0]))
        np.testing.assert_array_equal(result.asnumpy(), [2.0 * factor])


def test_while_an_exception_is_handled(monkeypatch: Any) -> None:
    with answering(monkeypatch, "p note", "p error", "c") as console:
        result = weft.jit(in_handler)(Tensor([2.0]))
    np.testing.assert_array_equal(result.asnumpy(), [5.0])
    assert console.said[1:3] == ["\"'k'\"", "KeyError('k')"]


def test_a_debugger_of_the_users_own(monkeypatch: Any) -> None:
    with answering(monkeypatch):
        console = Console(["p y", "where", "c"])
        result = weft.jit(called_directly)(Tensor([1.0]), console.debugger)
    np.testing.assert_array_equal(result.asnumpy(), [4.0])
    assert console.said[1] == shown([2.0])
    assert "called_directly()" in console.said[0]


def test_fullgraph_refuses_it() -> None:
    with pytest.raises(Unsupported, match="a debugger stops here") as caught:
        weft.jit(stops, fullgraph=True)(Tensor([1.0]))
    assert caught.value.kind is Refusal.DEBUGGER
