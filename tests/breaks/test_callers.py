"""Warnings and log records that name a caller (`stacklevel`) name the program's, whatever stands between."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Tensor, nn

LOGGER = logging.getLogger("weft.tests.callers")
LEVELS = (1, 2, 3, 4)


class Records(logging.Handler):
    """A handler of the program's, so that each record is a break."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append((record.filename, record.lineno, record.funcName))


def say(level: int) -> None:
    warnings.warn("look", RuntimeWarning, stacklevel=level)
    LOGGER.warning("look", stacklevel=level)


def plain(x: Any, level: int) -> Any:
    y = x * 2
    say(level)
    return y + 1


def after_a_break(x: Any, level: int) -> Any:
    y = x * float(x.asnumpy()[0])
    say(level)
    return y + 1


def nested(x: Any, level: int) -> Any:
    return plain(after_a_break(x + 1, level), level)


def in_a_loop(x: Any, level: int) -> Any:
    for _ in range(2):
        x = after_a_break(x, level)
        say(level)
    return x


def in_cells(x: Any, level: int) -> Any:
    return NET(x, level)


def in_blocks(x: Any, level: int) -> Any:
    with contextlib.suppress(ValueError):
        try:
            say(level)
            raise KeyError(str(x.asnumpy()))
        except KeyError:
            say(level)
            raise ValueError from None
        finally:
            say(level)
    return x * 2


def on_a_side(x: Any, level: int) -> Any:
    if x.sum() > 0:
        say(level)
        return x + 1
    return x


def by_a_library(x: Any, level: int) -> Any:
    return sum(sorted([x, x * 2], key=lambda t: (say(level), float(t.asnumpy()[0]))[1]), x)


def yields(x: Any, level: int) -> Iterator[Any]:
    for i in range(2):
        say(level)
        yield x + i


def from_a_generator(x: Any, level: int) -> Any:
    total = x
    for part in yields(x, level):
        total = total + part
        say(level)
    return total


class Net(nn.Cell):
    def construct(self, x: Any, level: int) -> Any:
        y = after_a_break(x, level)
        say(level)
        return y


NET = Net()


class Holder:
    def run(self, x: Any, level: int) -> Any:
        say(level)
        return after_a_break(x, level)


def shown(function: Any, level: int, with_breaks: bool) -> list[Any]:
    """What two calls warn and log of their callers."""
    handler = Records()
    LOGGER.propagate = False
    if with_breaks:
        LOGGER.addHandler(handler)
    try:
        found = []
        for value in (1.0, 2.0):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                function(Tensor([value]), level)
            found.append([(warning.filename, warning.lineno) for warning in caught])
        return [found, handler.found]
    finally:
        LOGGER.removeHandler(handler)


FUNCTIONS = (plain, after_a_break, nested, in_a_loop, in_cells, in_blocks, on_a_side, by_a_library, from_a_generator)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("with_breaks", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_callers_are_the_programs(function: Any, with_breaks: bool, mode: str) -> None:
    for level in LEVELS:
        made, python = [[shown(f, level, with_breaks) for _ in range(2)] for f in (compiler(mode)(function), function)]
        assert made == python, level


@pytest.mark.parametrize("breaks", [True, False])
def test_callers_of_methods_are_the_programs(breaks: bool) -> None:
    for level in LEVELS:
        compiled, python = [shown(f, level, breaks) for f in (weft.jit(Holder().run), Holder().run)]
        assert compiled == python, level


@pytest.mark.parametrize("breaks", [True, False])
def test_callers_of_cells_are_the_programs(breaks: bool) -> None:
    for level in LEVELS:
        compiled, python = [shown(f, level, breaks) for f in (weft.jit(Net()), Net())]
        assert compiled == python, level
