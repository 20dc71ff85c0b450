"""The tests behind `match` statements (PEP 634)."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

#: classes whose single positional pattern matches the subject itself
_SELF_MATCHING: Final = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def is_mapping(subject: Any) -> bool:
    """Whether a mapping pattern may match."""
    return isinstance(subject, collections.abc.Mapping)


def is_sequence(subject: Any) -> bool:
    """Whether a sequence pattern may match."""
    return isinstance(subject, collections.abc.Sequence) and not isinstance(subject, (str, bytes, bytearray))


def keys(subject: Any, wanted: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values at the wanted keys, None if one is missing."""
    missing = object()
    values = tuple(subject.get(key, missing) for key in wanted)
    return None if any(value is missing for value in values) else values


def class_pattern(
    interp: Interpreter, subject: Any, cls: Any, positional: int, names: tuple[str, ...]
) -> tuple[Any, ...] | None:
    """The attributes that a class pattern binds, None if the subject does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return None
    found: list[Any] = []
    wanted: list[str] = []
    if positional:
        match_args = getattr(cls, "__match_args__", None)
        if match_args is None:
            if not issubclass(cls, _SELF_MATCHING):
                raise TypeError(f"{cls.__name__}() accepts 0 positional sub-patterns ({positional} given)")
            found.append(subject)
        else:
            if len(match_args) < positional:
                raise TypeError(
                    f"{cls.__name__}() accepts {len(match_args)} positional sub-patterns ({positional} given)"
                )
            wanted.extend(match_args[:positional])
    for name in (*wanted, *names):
        try:
            found.append(interp.get_attr(subject, name))
        except AttributeError:
            return None
    return tuple(found)
