"""The tests behind `match` statements (PEP 634)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from weft.capture.state.journal import Journaled

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: flags of the classes that patterns take for mappings and sequences
_SEQUENCE_FLAG: Final = 1 << 5
_MAPPING_FLAG: Final = 1 << 6
#: classes whose single positional pattern matches the subject itself
_SELF_MATCHING: Final = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def is_mapping(subject: Any) -> bool:
    """Whether a mapping pattern may match."""
    return bool(_class_of(subject).__flags__ & _MAPPING_FLAG)


def is_sequence(subject: Any) -> bool:
    """Whether a sequence pattern may match."""
    return bool(_class_of(subject).__flags__ & _SEQUENCE_FLAG)


def _class_of(subject: Any) -> type:
    kind: type = subject.stands_for if isinstance(subject, Journaled) else type(subject)
    return kind


def keys(machine: Machine, subject: Any, wanted: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values at the wanted keys, None if one is missing."""
    missing = object()
    seen: set[Any] = set()
    values: list[Any] = []
    get = machine.attributes.get_attr(subject, "get")
    for key in wanted:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = machine.calls.call(get, [key, missing], {})
        if value is missing:
            return None
        values.append(value)
    return tuple(values)


def class_pattern(
    machine: Machine, subject: Any, cls: Any, positional: int, names: tuple[str, ...]
) -> tuple[Any, ...] | None:
    """The attributes that a class pattern binds, None if the subject does not match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not machine.calls.call(isinstance, [subject, cls], {}):
        return None
    found: list[Any] = []
    wanted: list[str] = []
    if positional:
        match_args = getattr(cls, "__match_args__", None)
        if match_args is not None and not isinstance(match_args, tuple):
            raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(match_args).__name__})")
        if match_args is None:
            if not issubclass(cls, _SELF_MATCHING):
                raise TypeError(f"{cls.__name__}() accepts 0 positional sub-patterns ({positional} given)")
            if positional > 1:
                raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({positional} given)")
            found.append(subject)
        else:
            if len(match_args) < positional:
                plural = "" if len(match_args) == 1 else "s"
                raise TypeError(
                    f"{cls.__name__}() accepts {len(match_args)} positional sub-pattern{plural} ({positional} given)"
                )
            wanted.extend(match_args[:positional])
            for name in wanted:
                if not isinstance(name, str):
                    raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    seen: set[str] = set()
    for name in (*wanted, *names):
        if name in seen:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            found.append(machine.attributes.get_attr(subject, name))
        except AttributeError:
            return None
    return tuple(found)
