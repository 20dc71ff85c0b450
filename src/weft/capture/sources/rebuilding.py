"""What the code of an entry calls to make objects again: functions, iterators at their positions, states of objects."""

from __future__ import annotations

import types
from typing import Any


def make_function(template: types.FunctionType, defaults: Any, closure: tuple[Any, ...]) -> types.FunctionType:
    return types.FunctionType(template.__code__, template.__globals__, template.__name__, defaults, closure or None)


def iterator_at(sequence: Any, position: int) -> Any:
    """An iterator of a list, tuple, string or range that has given out some of the items."""
    iterator = iter(sequence)
    if position:
        iterator.__setstate__(position)
    return iterator


class _Nothing:
    """What an iterator by index finds no item in."""

    def __getitem__(self, index: int) -> Any:
        raise IndexError


def finished_iterator() -> Any:
    """An iterator by index that has come to its end."""
    return advanced(iter(_Nothing()), 1)


class Begun:
    """An iterator of the user's that is in use already: `iter` does not ask its `__iter__` again.

    Args:
        iterator: what has the `__next__`.
    """

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator

    def __iter__(self) -> Begun:
        return self

    def __next__(self) -> Any:
        return next(self.iterator)


def advanced(iterator: Any, count: int) -> Any:
    """An iterator that has given out some of the items."""
    for _ in range(count):
        next(iterator, None)
    return iterator


def finished_generator(code: types.CodeType) -> Any:
    """A generator of the user's that has come to its end."""
    nothing: tuple[Any, ...] = ()
    made: Any = (item for item in nothing)
    made.__name__, made.__qualname__ = code.co_name, code.co_qualname
    return advanced(made, 1)


def reversed_at(sequence: Any, position: int) -> Any:
    """A reverse iterator of a list, tuple or range that gives out the item at a position next."""
    return advanced(reversed(sequence), len(sequence) - 1 - position)
