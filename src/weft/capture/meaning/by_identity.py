"""What native code tells by identity: objects whose classes say nothing else about equality and hashes."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Final

from weft.capture.python.classes import class_attribute
from weft.capture.python.containers import is_container, members, shown_by
from weft.capture.sources.known import BOUND
from weft.capture.sources.numbers import ObjectId
from weft.capture.sources.sources import Sources
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor

_HASHES: Final = (object.__hash__, Tensor.__hash__)
_VALUES: Final = frozenset({int, float, bool, str, complex, bytes, bytearray, type(None), range, type})


def tell_apart(sources: Sources, function: Any, values: Iterable[Any]) -> None:
    """Guard which of some objects are the same one, where native code may tell.

    Args:
        sources: has the guards.
        function: the native code.
        values: what it compares or hashes.
    """
    pending, seen = list(values), set()
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind is float and value != value:
            sources.itself(value)  # nan is equal to nothing, but found by identity
        if kind in _VALUES or issubclass(kind, RunNumber) or id(value) in seen:
            continue
        seen.add(id(value))
        if kind is ObjectId:
            sources.told_apart(value.obj)
        elif isinstance(value, (types.MethodType, *BOUND)):
            pending.append(value.__self__)
        elif is_container(value := shown_by(value)):
            pending += [*members(value), *(dict.keys(value) if isinstance(value, dict) else ())]
        elif _is_itself(kind):
            sources.identity(value) if function is hash else sources.told_apart(value)


def _is_itself(kind: type) -> bool:
    """Whether an instance of a class is equal to itself only, or hashed by where it is."""
    return class_attribute(kind, "__eq__") is object.__eq__ or class_attribute(kind, "__hash__") in _HASHES
