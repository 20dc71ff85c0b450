"""What a call does, as plain data: its result or exception, and what it prints."""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from collections.abc import Callable
from typing import Any

from weft.errors import WeftError

_LONGEST_CHAIN = 20


def text_of(error: BaseException) -> str:
    """The text of an exception, whatever its `__str__` does."""
    try:
        return str(error)
    except Exception as failure:
        return f"<{type(failure).__name__} in __str__>"


def without_addresses(text: str) -> str:
    """A text in which no object says where in memory it is."""
    return re.sub("0x[0-9a-f]+", "0x", text)


def places_of(error: BaseException, file: str) -> list[tuple[str, int | None, int | None, int | None]]:
    """Function, line and columns of each traceback entry whose file has a name that begins like this."""
    return [
        (frame.name, frame.lineno, frame.colno, frame.end_colno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(file)
    ]


def chain_of(error: BaseException | None, file: str) -> list[tuple[str, str, Any]]:
    """Type, text and the user's places of an exception and of those that it names as cause and context.

    Args:
        error: the exception.
        file: how the names of the user's files begin.
    """
    found: list[tuple[str, str, Any]] = []
    while error is not None and len(found) < _LONGEST_CHAIN:
        found.append((type(error).__qualname__, without_addresses(text_of(error)), places_of(error, file)))
        error = error.__cause__ or error.__context__
    return found


def printed_by(call: Callable[[], Any]) -> tuple[Any, BaseException | None, str]:
    """The result of a call, what it raised, and what it printed."""
    text = io.StringIO()
    result, error = None, None
    with contextlib.redirect_stdout(text):
        try:
            result = call()
        except Exception as raised:
            error = raised
    return result, error, text.getvalue()


def outcome(call: Callable[[], Any], file: str = "<program") -> tuple[Any, ...]:
    """The result of a call as text, or the exceptions that it raised, and what it printed.

    Args:
        call: the call; an error of the framework's own is no outcome, but raised.
        file: how the names of the user's files begin, whose places in tracebacks count.
    """
    result, error, text = printed_by(lambda: repr(call()))  # which may raise, too
    if isinstance(error, WeftError):
        raise error
    if error is not None:
        return "raised", chain_of(error, file), text
    return "returned", without_addresses(result), text
