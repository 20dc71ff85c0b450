"""Names that are free: the given one, or with a number."""

from __future__ import annotations

from collections.abc import Callable


def numbered(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name itself where it is free, else the first free one of those with a number behind it.

    Args:
        name: the name.
        is_taken: whether a name cannot be had.

    Example:
        >>> numbered("x", {"x", "x_1"}.__contains__)
        'x_2'
    """
    found, count = name, 0
    while is_taken(found):
        count += 1
        found = f"{name}_{count}"
    return found
