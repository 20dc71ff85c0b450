"""Random programs of pure Python, run by CPython and by the interpreter; see `pure_programs`."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import types
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st

from tests.cpython.nops import with_nops
from tests.cpython.outcomes import observed, text_of
from tests.cpython.pure_programs import pure_program
from weft import jit
from weft.errors import Unsupported

INPUTS = [(1, 2), (0, -3), (2.5, 1)]


def compiled(source: str) -> types.FunctionType:
    """The function `f` of a source text, with its lines where tracebacks look for them."""
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, name, "exec"), scope)
    function: types.FunctionType = scope["f"]
    return function


def chain_of(error: BaseException | None) -> list[tuple[str, str]]:
    """Type and text of an exception and of those that it names as cause and context."""
    found: list[tuple[str, str]] = []
    while error is not None and len(found) < 20:
        found.append((type(error).__qualname__, text_of(error)))
        error = error.__cause__ or error.__context__
    return found


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """What a call does: its result or exception as text, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result: Any = ("returned", repr(call()))
        except Unsupported:
            raise
        except Exception as error:
            result = ("raised", chain_of(error))
    return (re.sub("0x[0-9a-f]+", "0x", repr(result)), printed.getvalue())


def check_program(program: Callable[[], Any]) -> None:
    """Compare a program with itself under capture, in the call that captures it and in the next."""
    wanted = outcome(program)
    jitted = jit(program, mode="PIJit")
    assert [outcome(jitted), outcome(jitted)] == [wanted, wanted]


def check(source: str, seed: int | None = None) -> int:
    """Compare a program with itself under capture; returns how many calls were captured."""
    captured = 0
    for args in INPUTS:
        function = compiled(source)
        wanted = outcome(lambda: function(*args))
        other = compiled(source)
        if seed is not None:
            other = with_nops(other, Random(seed))
        jitted = jit(other, mode="PIJit")
        with observed() as seen:
            found = outcome(lambda: jitted(*args))
        captured += not seen.breaks
        assert found == wanted
    return captured


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
@example(1)
def test_programs_do_what_python_does(seed: int) -> None:
    source = pure_program(Random(seed))
    note(source)
    check(source)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_nops_change_nothing(seed: int) -> None:
    source = pure_program(Random(seed))
    note(source)
    check(source, seed)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_most_programs_are_captured(first: int) -> None:
    captured = sum(check(pure_program(Random(seed))) for seed in range(first, first + 20))
    assert captured > 20  # of 60 calls: the comparison is not empty
