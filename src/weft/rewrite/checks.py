"""What the functions of the package ask of their arguments."""

from __future__ import annotations

import keyword
import types
from collections.abc import Mapping
from typing import Any

from weft.core.operators import Operator

_NAMES: dict[type, str] = {
    Operator: "Primitive",
    types.FunctionType: "function",
    types.BuiltinFunctionType: "builtin_function_or_method",
}


def _name(kind: type) -> str:
    return _NAMES.get(kind, kind.__name__)


def one_of(where: str, name: str, value: Any, *kinds: type) -> None:
    """Refuse a value that is of none of some types; a bool is no int.

    Args:
        where: who was given it.
        name: the argument.
        value: what it is.
        kinds: the types.

    Raises:
        TypeError: it is of another type.
    """
    if isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds):
        return
    said = f"'{_name(kinds[0])}'" if len(kinds) == 1 else f"one of '{[_name(kind) for kind in kinds]}'"
    raise TypeError(f"For '{where}', the type of '{name}' should be {said}, but got type '{type(value).__name__}'.")


def each_of(where: str, name: str, values: Any, *kinds: type) -> None:
    """Refuse what is no list or tuple of values of some types.

    Args:
        where: who was given it.
        name: the argument.
        values: what it is.
        kinds: the types.

    Raises:
        TypeError: it is no list or tuple, or has a value of another type.
    """
    one_of(where, name, values, list, tuple)
    said = kinds[0].__name__ if len(kinds) == 1 else f"one of {[kind.__name__ for kind in kinds]}"
    for value in values:
        if not isinstance(value, kinds):
            raise TypeError(
                f"For '{where}', the type of '{name}' should be {said}, "
                f"but got '{value}' with type '{type(value).__name__}'."
            )


def by_name(where: str, name: str, values: Any, kind: type) -> None:
    """Refuse what is no dict from names to values of a type.

    Args:
        where: who was given it.
        name: the argument.
        values: what it is.
        kind: the type.

    Raises:
        TypeError: it is no dict, or has another key or value.
    """
    one_of(where, name, values, dict)
    items: Mapping[Any, Any] = values
    each_of(where, name, list(items), str)
    each_of(where, name, list(items.values()), kind)


def identifier(where: str, name: str, value: str) -> None:
    """Refuse what cannot be the name of a variable or an attribute.

    Args:
        where: who was given it.
        name: the argument.
        value: what it is.

    Raises:
        ValueError: it is no identifier, or a word of the language.
    """
    if not value.isidentifier() or keyword.iskeyword(value):
        raise ValueError(f"For '{where}', '{name}' should be a name such as a variable has, but got '{value}'.")


def index_of(name: str, value: int, length: int) -> None:
    """Refuse an index that is not in a range.

    Args:
        name: the argument.
        value: the index.
        length: how many there are.

    Raises:
        ValueError: it is negative or too large.
    """
    if not 0 <= value < length:
        raise ValueError(f"The '{name}' must be in range of [0, {length}), but got {value} with type 'int'.")
