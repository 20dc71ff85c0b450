"""Checks of arguments that several sources and operations take."""

from __future__ import annotations

from typing import Any


def whole(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    """An int within bounds.

    Args:
        name: name of the argument.
        value: its value.
        least: the smallest that is allowed.
        most: the largest.

    Raises:
        TypeError: it is no int.
        ValueError: it is out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"Argument {name} with value {value!r} is not of type int, but got {type(value).__name__}.")
    if not least <= value <= most:
        raise ValueError(f"Input {name} is not within the required interval of [{least}, {most}], got {value}.")
    return value


def names_of(name: str, value: Any) -> list[str]:
    """Names of columns: a list of texts, or one text.

    Args:
        name: name of the argument.
        value: its value.

    Raises:
        TypeError: a name is no text.
        ValueError: a name stands twice, or none does.
    """
    names = [value] if isinstance(value, str) else list(value)
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"Argument {name}: a column's name must be a str, not {type(each).__name__}.")
        if not each:
            raise ValueError(f"{name} should not contain an empty name.")
    if len(set(names)) != len(names):
        raise ValueError(f"Every column name should not be same with others in {name}: {names}")
    return names


def places(columns: list[str], wanted: list[str], what: str) -> list[int]:
    """Where columns stand.

    Args:
        columns: the columns that there are.
        wanted: those that are looked for.
        what: what looks for them, for messages.

    Raises:
        RuntimeError: one is missing.
    """
    for name in wanted:
        if name not in columns:
            raise RuntimeError(f"{what}: column {name!r} doesn't exist in the dataset columns {columns}")
    return [columns.index(name) for name in wanted]
