"""Other threads: whether any may look at what this one writes for a while, or change what it reads.

A capture works on the real objects and takes its writes back, so while it runs nobody else may reach what it wrote.
Where other threads run, it therefore writes to none of the objects that existed before: such a statement is a break.
A running graph takes over the memory of tensors that it writes; where other threads run they may be read meanwhile, so
it takes over none.
"""

from __future__ import annotations

import _thread
import os
import sys
import sysconfig
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from weft.core.workers import is_harmless

#: packages with threads of their own that touch none of a program's objects: of notebooks, debuggers, test runners
_BYSTANDERS: Final = frozenset(
    {"ipykernel", "IPython", "zmq", "debugpy", "pydevd", "_pydevd_bundle", "execnet", "tqdm", "jax"}
)
#: where a pool's thread runs a function of this name: while it is there itself it waits for work that others give it
_POOLS: Final = "concurrent.futures.thread"
#: what every thread of `threading` runs first
_FIRST: Final = threading.Thread._bootstrap.__code__  # type: ignore[attr-defined]
_WEFT: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_PATHS: Final = sysconfig.get_paths()
#: where code lies that is nobody's program
_LIBRARIES: Final = tuple(
    {os.path.join(_PATHS[name], "") for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {_WEFT, "<frozen "}
)


#: seconds that a thread waits for another one; only one that itself waits for this thread takes so long
PATIENCE: Final = 60.0


@contextmanager
def in_turn(lock: threading.RLock) -> Iterator[None]:
    """Run a block that only one thread at a time is to run.

    Args:
        lock: belongs to the block. A thread that waited for it for `PATIENCE` seconds runs the block without it.
    """
    held = lock.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if held:
            lock.release()


def others_run() -> bool:
    """Whether another thread runs that may reach the objects of the program.

    Example:
        >>> from weft.core.threads import others_run
        >>> isinstance(others_run(), bool)
        True
    """
    if not _thread._count() and threading.current_thread() is threading.main_thread():
        return False
    me = threading.get_ident()
    idle = {thread.ident for thread in threading.enumerate() if _is_library_timer(thread) or is_harmless(thread)}
    return any(
        thread != me and thread not in idle and not _is_bystander(frame)
        for thread, frame in sys._current_frames().items()
    )


def _is_library_timer(thread: threading.Thread) -> bool:
    """Whether a thread only waits to call a function of a library that keeps to itself, or to call nothing any more."""
    if not isinstance(thread, threading.Timer):
        return False
    module = str(getattr(thread.function, "__module__", ""))
    return thread.finished.is_set() or module.partition(".")[0] in _BYSTANDERS


def _is_bystander(frame: types.FrameType | None) -> bool:
    """Whether a thread belongs to a package that keeps to itself, and is not running the program's code."""
    pools = sys.modules.get(_POOLS)
    if frame is not None and pools is not None and frame.f_code is pools._worker.__code__:
        return True
    packages, first = [""], None
    try:
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_LIBRARIES):
                return False
            packages.append(str(frame.f_globals.get("__name__")).partition(".")[0])
            first, frame = frame.f_code, frame.f_back
    except AttributeError:  # frames that move on while they are looked at can be half made: this thread runs
        return False
    # JAX runs in everybody's threads, and a frame that ended meanwhile may have lost its callers
    begun = first is _FIRST or packages[-1] in _BYSTANDERS - {"jax"}
    return begun and not _BYSTANDERS.isdisjoint(packages)
