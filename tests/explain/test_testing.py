"""`weft.testing`: checks that fail where they should, with the report in the message."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft
from tests.explain.explained import a_break
from weft import Tensor
from weft.capture.events import History
from weft.testing import assert_compiles, assert_no_breaks


def rows(count: int) -> Tensor:
    return Tensor(np.ones((count, 3), np.float32))


def test_graphs_within_the_limit() -> None:
    double = weft.jit(lambda x: x * 2)
    with assert_compiles(max=2) as recorder:
        double(rows(1))
        double(rows(2))
        double(rows(1))
    assert len(recorder.report().graphs) == 2
    with assert_compiles(max=0):
        double(rows(2))


def test_too_many_graphs_show_the_report() -> None:
    double = weft.jit(lambda x: x * 2)
    with pytest.raises(AssertionError) as caught, assert_compiles(max=1):
        [double(rows(count)) for count in (1, 2)]
    text = str(caught.value)
    assert text.startswith("2 graphs were made, at most 1 allowed\n\n")
    assert str(double.report()) in text


def test_graphs_of_other_threads_count() -> None:
    double = weft.jit(lambda x: x * 2)
    with pytest.raises(AssertionError, match="1 graph was made, at most 0"), assert_compiles(max=0):
        in_a_thread(double, rows(1))


def in_a_thread(function: Any, *args: Any) -> None:
    """Call a function in another thread."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


def test_blocks_nest() -> None:
    double = weft.jit(lambda x: x * 2)
    with assert_compiles(max=2):
        with assert_compiles(max=1):
            double(rows(1))
        with assert_compiles(max=1):
            double(rows(2))


@pytest.mark.parametrize("check", [lambda: assert_compiles(max=0), assert_no_breaks])
def test_exceptions_of_the_block_pass(check: Any) -> None:
    with pytest.raises(KeyError, match="mine"), check():
        {weft.jit(lambda x: x * 2)(rows(1)): 1}["mine"]


@pytest.mark.parametrize("value", [-1, True, 1.5, "1"])
def test_limits_are_checked(value: Any) -> None:
    with pytest.raises(ValueError, match="int of at least 0"), assert_compiles(max=value):
        pass


def test_no_breaks() -> None:
    with assert_no_breaks():
        weft.jit(lambda x: x * 2)(rows(1))


def test_breaks_show_the_report_also_when_compiled_before() -> None:
    history, site = History("leaves"), a_break()
    history.ran_break(site)
    with assert_no_breaks():
        pass
    with pytest.raises(AssertionError) as caught, assert_no_breaks():
        history.ran_break(site)
    text = str(caught.value)
    assert text.startswith("1 break was run, none allowed\n\n")
    for part in (str(site.location), "^^^", site.why, "run once"):
        assert part in text
