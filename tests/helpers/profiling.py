"""Counting from outside what really runs in Python."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def profiled(note: Callable[[Any, str, Any], None]) -> Iterator[None]:
    """Within this block a function is told of all calls.

    Args:
        note: what `sys.setprofile` takes.
    """
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def calls_made(function: Callable[[], Any]) -> int:
    """How many calls, of Python and of C, a function makes: what it costs, on every machine and under every load.

    Args:
        function: called once; what it does the first time only should be done before.
    """
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with profiled(note):
        function()
    return count
