"""Whether a process does something, as far as the system tells: it, or what it started, computes, reads or writes.

One that waits, for the others or in vain, does neither, however often it looks whether it can go on.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Final

from weft.parallel import descendants

#: parts of the time in which a process computes, and bytes a second that it reads and writes, that count as something
_BUSY: Final = 0.05
_BYTES: Final = 8192.0
#: how the names of threads of weft's begin, which look at files of the system themselves
_OWN: Final = "weft"


class Activity:
    """What this process has done since it was looked at last."""

    def __init__(self) -> None:
        self._at, self._spent, self._moved = time.monotonic(), _spent(), _moved()

    def look(self) -> bool:
        """Whether it has done something since the last look."""
        before, spent, moved = self._at, self._spent, self._moved
        self._at, self._spent, self._moved = time.monotonic(), _spent(), _moved()
        seconds = self._at - before
        return self._spent - spent > _BUSY * seconds or self._moved - moved > _BYTES * seconds


def _spent() -> float:
    """Seconds of processor time that this process has taken, and what it has started, as far as the system tells."""
    found = descendants.spent(os.getpid())
    return sum(os.times()[:4]) if found is None else found


def _moved() -> int:
    """Bytes that this process and what it has started have read and written; 0 where the system does not tell."""
    here = os.getpid()
    own = [thread.native_id for thread in threading.enumerate() if thread.name.startswith(_OWN)]
    return (
        _bytes_of(f"{here}")
        - sum(_bytes_of(f"{here}/task/{number}") for number in own)
        + sum(_bytes_of(f"{process}") for process in descendants.started(here))
    )


def _bytes_of(task: str) -> int:
    """Bytes that a process or one of its threads has read and written, in calls of the system."""
    try:
        with open(f"/proc/{task}/io") as file:
            fields = dict(line.split(": ") for line in file.read().splitlines())
    except (OSError, ValueError):
        return 0
    return int(fields.get("rchar", 0)) + int(fields.get("wchar", 0))
