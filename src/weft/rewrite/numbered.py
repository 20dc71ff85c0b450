"""Names that are free: the given one, or with a number."""

from __future__ import annotations

from collections.abc import Callable


def numbered(name: str, is_taken: Callable[[str], bool], last: dict[str, int] | None = None) -> str:
    """The name itself where it is free, else the first free one of those with a number behind it.

    Args:
        name: the name.
        is_taken: whether a name cannot be had.
        last: for names, the number up to which all are taken, and stay so; it is kept up to date.

    Example:
        >>> numbered("x", {"x", "x_1"}.__contains__)
        'x_2'
    """
    last = {} if last is None else last
    found, count = name, 0
    while is_taken(found):
        count = max(count, last.get(name, 0)) + 1
        found = f"{name}_{count}"
    last[name] = count
    return found
