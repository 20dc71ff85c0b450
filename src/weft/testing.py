"""Checks for test suites: how often the code in a block is compiled, and that it never leaves a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weft.explain.recorder import Recorder
from weft.explain.text import compilation_of, count

__all__ = ["assert_compiles", "assert_no_breaks"]


@contextmanager
def assert_compiles(*, max: int, eager: int | None = None) -> Iterator[Recorder]:
    """Check that at most so many graphs are compiled while a block runs, by all compiled functions together.

    A graph counts once when it is made and first compiled. Each further compilation by XLA counts too: of its
    gradient, of a second variant, of a graph that was made before the block.

    Args:
        max: the largest number of compilations allowed; 0 says that everything was compiled before.
        eager: the largest number of compilations allowed for operations that run by themselves; None allows any.

    Yields:
        Recorder: its `report()` says what happened in the block.

    Raises:
        ValueError: `max` or `eager` is not an int of at least 0.
        AssertionError: more was compiled; the message is the report on it. An exception of the block passes.

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
    for name, value in (("max", max), ("eager", 0 if eager is None else eager)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"assert_compiles({name}={value!r}): {name} must be an int of at least 0")
    __tracebackhide__ = True
    with Recorder() as recorder:
        yield recorder
    report = recorder.report()
    made, further = len(report.graphs), len(report.further)
    if made + further > max:
        parts = [count(made, "graph")] if made or not further else []
        parts += [count(further, "further compilation")] if further else []
        verb = _was(made + further)
        raise AssertionError(f"{' and '.join(parts)} {verb} made, at most {max} allowed\n\n{report}")
    if eager is not None and len(report.eager) > eager:
        number = len(report.eager)
        listed = "".join(f"\n  {compilation_of(made)}" for made in report.eager)
        raise AssertionError(f"{count(number, 'operation')} {_was(number)} compiled, at most {eager} allowed\n{listed}")


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
