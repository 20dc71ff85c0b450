"""Random programs of pure Python, run by CPython and by the interpreter; see `pure_programs`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st

from tests.cpython.nops import with_nops
from tests.cpython.outcomes import observed
from tests.cpython.pure_programs import pure_program
from tests.helpers.outcomes import outcome
from tests.helpers.sources import function_of
from weft import jit

INPUTS = [(1, 2), (0, -3), (2.5, 1)]


def check_program(program: Callable[[], Any]) -> None:
    """Compare a program with itself under capture, in the call that captures it and in the next."""
    wanted = outcome(program)
    jitted = jit(program, mode="PIJit")
    assert [outcome(jitted), outcome(jitted)] == [wanted, wanted]


def check(source: str, seed: int | None = None) -> int:
    """Compare a program with itself under capture; returns how many calls were captured."""
    captured = 0
    for args in INPUTS:
        function = function_of(source)
        wanted = outcome(lambda: function(*args))
        other = function_of(source)
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
