"""Warnings that native code gives while it runs in a capture: Python has to give them, at the user's line."""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from weft.capture.python.packages import CAPTURE
from weft.errors import Refusal, Unsupported


@contextlib.contextmanager
def refused_warnings() -> Iterator[None]:
    """Within this block a warning that names the interpreter's own code as its place is refused instead of shown.

    Native code takes the Python code that calls it for the place to name; under capture that is the interpreter.
    """
    module: Any = warnings
    shown, thread = module._showwarnmsg, threading.get_ident()

    def refuse(warning: Any) -> None:
        if threading.get_ident() != thread or not warning.filename.startswith(CAPTURE):
            return shown(warning)
        for name, part in list(sys.modules.items()):
            if name.startswith("weft.capture."):  # else it counts as shown for whatever comes through there later
                vars(part).pop("__warningregistry__", None)
        given = f"this gives a {warning.category.__name__}: {warning.message}"
        raise Unsupported(Refusal.IMPURE_CALL, given, "mend what it warns of")

    module._showwarnmsg = refuse  # not `showwarning`, which programs read
    try:
        yield
    finally:
        if module._showwarnmsg is refuse:
            module._showwarnmsg = shown
