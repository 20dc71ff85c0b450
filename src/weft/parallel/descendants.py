"""What a process has started, and what that has started in turn, as far as the system says (Linux does)."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path
from typing import Final

#: of Linux's prctl: whoever loses its parent becomes a child of this process
_SUBREAPER: Final = 36


def descendants(process: int) -> list[int]:
    """The numbers of the processes that descend from one, parents before their children.

    Args:
        process: its number.

    Example:
        >>> import os, subprocess
        >>> child = subprocess.Popen(["sleep", "9"])
        >>> child.pid in descendants(os.getpid())
        True
        >>> child.kill()
        >>> child.wait()
        -9
    """
    found: list[int] = []
    left = [process]
    while left:
        for file in Path(f"/proc/{left.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it may have ended meanwhile
                children = list(map(int, file.read_text().split()))
                found += children
                left += children
    return found


def spent(process: int) -> int | None:
    """The processor time that a process and its descendants have taken, in the system's unit.

    Args:
        process: its number.

    Returns:
        int: the time; None where the system does not say.
    """
    times = list(filter(None, map(_spent_itself, [process, *descendants(process)])))
    return sum(times) if times else None


def _spent_itself(process: int) -> int | None:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15]))  # its own, and that of children that it has waited for


def adopt_orphans() -> None:
    """Let descendants whose parent ends become children of this process, where the system knows how."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
