"""Checks of the arguments of operations: what is wrong is named with its value, as MindSpore names it."""

from __future__ import annotations

import numbers
from typing import Any, Final

#: the largest number up to which every integer is a float32, the bound of most arguments
MOST: Final = 16777216
INT32_MAX: Final = 2147483647


def of_type(value: Any, kinds: type | tuple[type, ...], name: str) -> None:
    """Refuse a value of another type.

    Args:
        value: the argument.
        kinds: the types that it may have. A bool is no number.
        name: name of the argument.

    Raises:
        TypeError: the value has none of the types.

    Example:
        >>> of_type("a", int, "size")
        Traceback (most recent call last):
        TypeError: Argument size with value a is not of type [<class 'int'>], but got <class 'str'>.
    """
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise TypeError(f"Argument {name} with value {value} is not of type {list(allowed)}, but got {type(value)}.")


def given(value: Any, default: Any) -> Any:
    """An argument, or its default where it is None, as MindSpore reads None."""
    return default if value is None else value


def within(
    value: float, low: float, high: float, name: str, *, without_low: bool = False, without_high: bool = False
) -> None:
    """Refuse a number outside an interval.

    Args:
        value: the number.
        low: lower bound.
        high: upper bound.
        name: name of the argument.
        without_low: whether the lower bound itself is outside.
        without_high: whether the upper bound itself is outside.

    Raises:
        ValueError: the number is outside.
    """
    above = value > low if without_low else value >= low
    below = value < high if without_high else value <= high
    if not (above and below):
        interval = f"{'(' if without_low else '['}{low}, {high}{')' if without_high else ']'}"
        raise ValueError(f"Input {name} with value {value} is not within the required interval of {interval}.")


def integer(value: Any, name: str, low: float = 1, high: float = INT32_MAX) -> int:
    """An integer in an interval."""
    of_type(value, int, name)
    within(value, low, high, name)
    return int(value)


def real(value: Any, name: str, low: float = -MOST, high: float = MOST, **bounds: bool) -> float:
    """A number in an interval."""
    of_type(value, (float, int), name)
    within(value, low, high, name, **bounds)
    return float(value)


def probability(value: Any, name: str = "prob") -> float:
    """A number from 0 to 1."""
    return real(value, name, 0.0, 1.0)


def boolean(value: Any, name: str) -> bool:
    """A bool."""
    of_type(value, bool, name)
    return bool(value)


def function(value: Any, name: str) -> None:
    """Refuse what cannot be called, and classes of operations that were not called to make one."""
    if isinstance(value, type):
        raise ValueError(
            f"{name} should be an operation, but got the class {value}; parentheses that make an object of it are "
            "missing."
        )
    if not callable(value):
        raise TypeError(f"{name} is neither an operation nor callable, but got {value!r}.")


def functions(value: Any, name: str = "transforms") -> list[Any]:
    """A list of operations or other callables, not empty."""
    of_type(value, list, f"{name} list")
    if not value:
        raise ValueError(f"{name} list can not be empty.")
    for place, each in enumerate(value):
        function(each, f"{name}[{place}]")
    return list(value)


def pair(value: Any, name: str, form: str = "(min, max)", error: type[Exception] = TypeError) -> tuple[Any, Any]:
    """A list or tuple of two; an error of the class given is raised for another length."""
    of_type(value, (tuple, list), name)
    if len(value) != 2:
        raise error(f"{name} should be a sequence {form} of length 2, but got {value!r}.")
    return value[0], value[1]


def interval(value: Any, name: str, low: float = 0, high: float = MOST) -> tuple[float, float]:
    """Two numbers in order, within bounds."""
    first, last = pair(value, name)
    for each in (first, last):
        real(each, name, low, high)
    if first > last:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min) {value!r}.")
    return first, last


def size(value: Any, name: str = "size") -> tuple[int, int] | int:
    """An int, or a height and a width."""
    if isinstance(value, int) and not isinstance(value, bool):
        return integer(value, name, 1, MOST)
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"Argument {name} should be an integer or a list/tuple (h, w) of length 2, but got {value!r}.")
    height, width = (integer(each, f"{name} at dim {place}") for place, each in enumerate(value))
    return height, width


def square(value: Any, name: str = "size") -> tuple[int, int]:
    """A height and a width; an int stands for both."""
    checked = size(value, name)
    return (checked, checked) if isinstance(checked, int) else checked


def colour(value: Any, name: str = "fill_value") -> int | tuple[int, int, int]:
    """An int from 0 to 255, or three."""
    if isinstance(value, int) and not isinstance(value, bool):
        return integer(value, name, 0, 255)
    if not isinstance(value, tuple) or len(value) != 3:
        raise TypeError(f"{name} should be a single integer or a 3-tuple, but got {value!r}.")
    red, green, blue = (integer(each, f"{name}[{place}]", 0, 255) for place, each in enumerate(value))
    return red, green, blue


def padding(value: Any) -> tuple[int, int, int, int]:
    """How much is added left, on top, right and at the bottom; two numbers stand for left and right, top and bottom."""
    of_type(value, (tuple, list, numbers.Number), "padding")
    if not isinstance(value, (tuple, list)):
        each = integer(value, "padding", 0)
        return each, each, each, each
    if len(value) not in (2, 4):
        raise ValueError(f"The size of the padding list or tuple should be 2 or 4, but got {value!r}.")
    checked = [integer(each, f"padding[{place}]", 0) for place, each in enumerate(value)]
    left, top = checked[:2]
    right, bottom = checked[-2:]
    return left, top, right, bottom


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
