"""Checks of optimizer settings."""

from __future__ import annotations

from typing import Any


def number(what: str, value: Any, below_one: bool = False) -> float:
    """A setting that must be a number of at least 0.

    Args:
        what: its name.
        value: the number.
        below_one: it must lie strictly between 0 and 1.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} must be a float, not {type(value).__name__}")
    if below_one and not 0 < value < 1:
        raise ValueError(f"{what} must be in (0, 1), not {value}")
    if value < 0:
        raise ValueError(f"{what} must not be negative, got {value}")
    return float(value)


def flag(what: str, value: Any) -> bool:
    """A setting that must be a bool.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
    return value
