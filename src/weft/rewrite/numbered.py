"""Names that are free: the given one, or with a number."""

from __future__ import annotations

import keyword
import re
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


def spelled(name: str) -> str:
    """A name as one in a program, like the given one, which may be that of a function or class but no such name.

    Args:
        name: the name.

    Example:
        >>> spelled("relu"), spelled("class"), spelled("<lambda>")
        ('relu', 'class_', '_lambda_')
    """
    found = re.sub(r"^(?=\d)|\W", "_", name) or "_"
    return f"{found}_" if keyword.iskeyword(found) else found
