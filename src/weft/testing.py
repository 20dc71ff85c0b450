"""Checks for test suites: how often the code in a block is compiled, and that it never leaves a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weft.explain.recorder import Recorder
from weft.explain.text import count

__all__ = ["assert_compiles", "assert_no_breaks"]


@contextmanager
def assert_compiles(*, max: int) -> Iterator[Recorder]:
    """Check that at most so many graphs are made while a block runs, by all compiled functions together.

    Args:
        max: the largest number of graphs allowed; 0 says that everything was compiled before.

    Yields:
        Recorder: its `report()` says what happened in the block.

    Raises:
        ValueError: `max` is not an int of at least 0.
        AssertionError: more graphs were made; the message is the report on them. An exception of the block passes.

    Example:
        >>> double = weft.jit(lambda x: x * 2)
        >>> with assert_compiles(max=1):
        ...     for value in (1.0, 2.0, 3.0):
        ...         y = double(Tensor([value]))
        >>> with assert_compiles(max=0):
        ...     y = double(Tensor([1.0, 2.0]))
        Traceback (most recent call last):
            ...
        AssertionError: 1 graph was made, at most 0 allowed...
    """
    if isinstance(max, bool) or not isinstance(max, int) or max < 0:
        raise ValueError(f"assert_compiles(max={max!r}): max must be an int of at least 0")
    __tracebackhide__ = True
    with Recorder() as recorder:
        yield recorder
    report = recorder.report()
    made = len(report.graphs)
    if made > max:
        raise AssertionError(f"{count(made, 'graph')} {_was(made)} made, at most {max} allowed\n\n{report}")


@contextmanager
def assert_no_breaks() -> Iterator[Recorder]:
    """Check that no compiled function leaves its graph while a block runs.

    Breaks count also where the function was compiled before the block.

    Yields:
        Recorder: its `report()` says what happened in the block.

    Raises:
        AssertionError: a break was run; the message is the report on it. An exception of the block passes.

    Example:
        >>> double = weft.jit(lambda x: x * 2)
        >>> with assert_no_breaks():
        ...     y = double(Tensor([1.0]))
    """
    __tracebackhide__ = True
    with Recorder() as recorder:
        yield recorder
    report = recorder.report()
    sites = len(report.breaks)
    if sites:
        raise AssertionError(f"{count(sites, 'break')} {_was(sites)} run, none allowed\n\n{report}")


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
