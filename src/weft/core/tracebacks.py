"""Tracebacks that end in the user's line: frames of the library, and of JAX below it, are taken out.

A function that catches what an operation raises, takes its own frame out and raises it again with a bare ``raise`` is
not seen: Python enters a frame in a traceback where the exception leaves it for the first time only. The frames of
layers, training and data stay: they say where in a network something happened. All frames stay if the environment
variable `WEFT_TRACEBACK` is ``full``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final

import weft.errors as _errors
from weft._jax_compat import JAX_FOLDERS
from weft.core import trace as trace_module

_WEFT: Final = os.path.join(os.path.dirname(_errors.__file__), "")
#: parts of weft whose frames are shown
_SHOWN: Final = tuple(os.path.join(_WEFT, part, "") for part in ("data", "demo", "nn", "testing", "train"))
_HIDDEN: Final = ("<weft ", _WEFT, *JAX_FOLDERS)


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


def kept(traceback: TracebackType | None, hidden: Callable[[str], bool] = is_hidden) -> TracebackType | None:
    """A traceback without the frames of some files.

    Args:
        traceback: as Python made it.
        hidden: given the name of a file, whether its frames are left out.
    """
    return linked([entry for entry in entries(traceback) if not hidden(entry.tb_frame.f_code.co_filename)])


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
