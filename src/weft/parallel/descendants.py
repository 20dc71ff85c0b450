"""Processes that a process has started, those that these have started, and so on: which ones, and what they compute.

Linux tells it in ``/proc``. Where the system does not, a process has started nothing that is known of.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Container
from dataclasses import dataclass

#: the request by which orphans become children of a process (``PR_SET_CHILD_SUBREAPER`` of ``linux/prctl.h``)
_ADOPT = 36
#: seconds that processes have to end when they are asked to, and between two looks whether they have
_ASKED, _TICK = 1.0, 0.01


@dataclass(frozen=True, slots=True)
class _Told:
    """What the system tells of a process.

    Args:
        there: whether it runs, or might; else it has ended and was not waited for.
        group: its process group.
        spent: units of processor time that it has taken, and those of its children that have ended.
    """

    there: bool
    group: int
    spent: int


def started(process: int, without: Container[int] = ()) -> list[int]:
    """Processes that a process has started, those that these have started..., where the parent of each is still there.

    Args:
        process: its number.
        without: those that do not count, and what they have started.
    """
    found: list[int] = []
    left = [process]
    while left:
        children = [each for each in _children(left.pop()) if each not in without]
        found += children
        left += children
    return found


def groups(processes: list[int]) -> dict[int, int]:
    """The process group of each process that is still there.

    Args:
        processes: their numbers.
    """
    told = {each: found for each in processes if (found := _told(each)) is not None}
    return {each: found.group for each, found in told.items() if found.there}


def end(process: int, mark: str) -> None:
    """End what a process has started, first by asking.

    Args:
        process: its number.
        mark: an environment variable and its value, which tells those that have lost their parent.
    """
    for how in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + _ASKED
        sent: set[int] = set()
        while (left := _left(process, mark)) and time.monotonic() < until:
            for each in set(left) - sent:
                for number in (how, signal.SIGCONT):
                    with contextlib.suppress(OSError):
                        os.kill(each, number)
            sent.update(left)
            time.sleep(_TICK)


def _left(process: int, mark: str) -> list[int]:
    """What a process has started and is still there."""
    marked = [each for each in _all() if each != process and f"\0{mark}\0" in _environment(each)]
    found = {each for one in (process, *marked) for each in (one, *started(one))} - {process}
    return list(groups(list(found)))


def _all() -> list[int]:
    """All processes that the system tells of."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _environment(process: int) -> str:
    """The environment with which a process was started, a zero before and after each variable."""
    try:
        with open(f"/proc/{process}/environ", errors="replace") as file:
            return f"\0{file.read()}"
    except OSError:
        return ""


def spent(process: int) -> float | None:
    """The processor time that a process and all that it has started have taken, also those that have ended.

    Args:
        process: its number.

    Returns:
        float: seconds; None where the system does not say.
    """
    own = _told(process)
    if own is None:
        return None
    others = [found.spent for each in started(process) if (found := _told(each)) is not None]
    return (own.spent + sum(others)) / os.sysconf("SC_CLK_TCK")


def adopt(yes: bool) -> None:
    """Have processes whose parent has ended become children of this one, if it has started the parent.

    Args:
        yes: whether they do from now on.
    """
    with contextlib.suppress(OSError, AttributeError):  # no such function: a system that has no such thing
        ctypes.CDLL(None).prctl(_ADOPT, ctypes.c_ulong(yes), *[ctypes.c_ulong(0)] * 3)


def bury(without: Container[int]) -> None:
    """Take notice of the end of children that this process has adopted, so that they do not stay as dead ones.

    Args:
        without: children of its own.
    """
    for child in _children(os.getpid()):
        if child not in without:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG)


def _children(process: int) -> list[int]:
    """The processes of which another one is the parent."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def _told(process: int) -> _Told | None:
    try:
        with open(f"/proc/{process}/stat", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return _Told(fields[0] not in "ZX", int(fields[2]), sum(map(int, fields[11:15])))
