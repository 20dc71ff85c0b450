"""Tracebacks that end in the user's line: frames of the library, and of JAX below it, are taken out.

A function that catches what an operation raises, takes its own frame out and raises it again with a bare ``raise`` is
not seen: Python enters a frame in a traceback where the exception leaves it for the first time only. The frames of
layers, training and data stay: they say where in a network something happened. All frames stay if the environment
variable `WEFT_TRACEBACK` is ``full``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Final

from weft import errors
from weft._jax_compat import JAX_FOLDERS
from weft.core import trace as trace_module

#: the folder of the framework
WEFT: Final = os.path.join(os.path.dirname(errors.__file__), "")
#: parts of weft whose frames are shown
_SHOWN: Final = tuple(os.path.join(WEFT, part, "") for part in ("data", "demo", "nn", "testing", "train"))
_HIDDEN: Final = ("<weft ", WEFT, *JAX_FOLDERS)


def is_hidden(filename: str) -> bool:
    """Whether frames of a file are the library's own affair."""
    return filename.startswith(_HIDDEN) and not filename.startswith(_SHOWN)


def is_full() -> bool:
    """Whether tracebacks are shown as they are."""
    return os.environ.get("WEFT_TRACEBACK") == "full"


def entries(traceback: TracebackType | None) -> Iterable[TracebackType]:
    """The entries of a traceback, the outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def raised_in(error: BaseException) -> str:
    """The file of the code that raised an exception; empty if it was not raised."""
    file = ""
    for entry in entries(error.__traceback__):
        file = entry.tb_frame.f_code.co_filename
    return file


def kept(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the library's own frames."""
    return linked([entry for entry in entries(traceback) if not is_hidden(entry.tb_frame.f_code.co_filename)])


def linked(shown: list[TracebackType]) -> TracebackType | None:
    """A traceback of some entries; one that has the right entry behind it is used as it is: somebody may hold it."""
    made: TracebackType | None = None
    for entry in reversed(shown):
        if entry.tb_next is made:
            made = entry
        else:
            made = TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def hide_operation(error: BaseException) -> None:
    """Take the library's frames out of what an operation raises, unless a capture runs, which looks at them.

    Args:
        error: the exception; the caller raises it again with a bare ``raise``.
    """
    trace = trace_module.current()
    if not is_full() and (trace is None or not trace.looks_at_errors):
        error.__traceback__ = kept(error.__traceback__)
