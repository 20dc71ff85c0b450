"""The capture's own classes that stand for Python's: iterators, texts, run-time numbers."""

from __future__ import annotations

import functools
import re

from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText
from weft.core.run_number import RunNumber
from weft.errors import Refusal, Unsupported


@functools.cache
def _stand_ins() -> re.Pattern[str]:
    """The names of the classes whose instances stand for Python's own while capturing."""
    found, pending = {LazyText.__name__}, [RunNumber, Journaled]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if hasattr(kind, "stands_for") or issubclass(kind, RunNumber):
            found.add(kind.__name__)
    return re.compile(rf"\b({'|'.join(sorted(found))})\b")


def refuse_stand_ins(error: BaseException) -> None:
    """Refuse what raised an exception whose message shows a class of the capture in place of Python's own.

    Raises:
        Unsupported: the message shows one.
    """
    text = error.args[0] if error.args else None
    if type(text) is str and (found := _stand_ins().search(text)):
        raise Unsupported(Refusal.UNKNOWN_CALL, f"native code is given a {found[0]}, which it does not know")
