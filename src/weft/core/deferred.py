"""Python numbers that a capture knows by an expression: what the operations need to know of them."""

from __future__ import annotations

from typing import Any


class Deferred:
    """Base of numbers that differ from call to call of a compiled function."""

    __slots__ = ()

    def operand(self) -> Any:
        """The number as an operand of an operation: a 0-dimensional tensor of the graph under construction."""
        raise NotImplementedError

    def constant(self) -> Any:
        """The number's value; from then on the graph is for this value only."""
        raise NotImplementedError


def settled(value: Any, seen: set[int] | None = None) -> Any:
    """A value with constants in place of the deferred numbers in it, through tuples, lists and dictionaries.

    Args:
        value: the value; lists and dictionaries stay the same objects.
        seen: ids of containers that are being settled.
    """
    kind = type(value)
    if issubclass(kind, Deferred):  # `isinstance` would also ask the user's `__class__`
        return value.constant()
    if kind not in (tuple, list, dict):
        return value
    seen = set() if seen is None else seen
    if id(value) in seen:
        return value
    seen.add(id(value))
    for key, item in list(value.items() if kind is dict else enumerate(value)):
        constant = settled(item, seen)
        if constant is not item:
            if kind is tuple:
                return tuple([settled(part, seen) for part in value])
            value[key] = constant
    return value
