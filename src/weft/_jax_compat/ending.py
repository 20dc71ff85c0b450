"""The end of the process: what is being computed is waited for.

A thread of XLA's that still computes while the libraries of the process are taken down may crash it. JAX waits where
nobody holds an array any more; but whoever freezes or keeps objects (`weft.collecting`, caches) holds some to the end.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import jax
from jax._src import xla_bridge

#: where Linux says what the threads of the process do
_TASKS: Final = Path("/proc/self/task")
#: the process that has begun to compute
_PROCESS: Final = os.getpid()
#: how often in a row none is seen to compute when none does, and seconds between two looks, and in all
_QUIET: Final = 3
_LOOK: Final = 0.0005
_PATIENCE: Final = 10.0


@atexit.register
def _finish() -> None:
    if os.getpid() != _PROCESS or not xla_bridge.backends_are_initialized():
        return  # a fork has no threads of XLA's
    for array in jax.live_arrays():
        with contextlib.suppress(Exception):  # it has been given away, or its computation has failed
            if array.is_fully_addressable:  # others are waited for where they are made
                array.block_until_ready()
    quiet, end = 0, time.monotonic() + _PATIENCE
    while quiet < _QUIET and time.monotonic() < end:  # results that nobody holds are not seen otherwise
        quiet = 0 if "R" in _states() else quiet + 1
        time.sleep(_LOOK)


def _states() -> Iterator[str]:
    """What each thread does that is not Python's: R for one that runs. Nothing where the system does not say so."""
    of_python = {str(thread.native_id) for thread in threading.enumerate()}
    for task in _TASKS.iterdir() if _TASKS.is_dir() else ():
        with contextlib.suppress(OSError):  # it has ended
            if task.name not in of_python:
                yield (task / "stat").read_text().rpartition(") ")[2][0]
