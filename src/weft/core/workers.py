"""Threads of the library that work for the program: they stand still while another thread needs that.

They run pieces of the program between pieces of the library, such as the functions of a pipeline of data. What they
may reach must not change under them, nor they it, while a capture works on the real objects. So before a capture they
are asked to stand still, which they do where they pass `pause`, begin, or wait. A worker that only runs the library is
`quiet`: nobody needs to care about it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

#: seconds that a thread waits for workers to stand still: what they are at may take long, or wait for this very thread
_FOR_WORKERS: Final = 5.0
#: seconds that a worker stands still at most
_STANDING: Final = 60.0

_changed: Final = threading.Condition(threading.Lock())
#: threads that are workers for all of their life
_enlisted: Final[weakref.WeakSet[threading.Thread]] = weakref.WeakSet()
#: those that run nothing of the program
_quiet: Final[weakref.WeakSet[threading.Thread]] = weakref.WeakSet()
#: threads that have begun to work, and whether each is at work now
_workers: Final[dict[int, bool]] = {}
#: the thread that needs them to stand still
_needed_by: int | None = None
#: until when nobody waits for workers, since some did not stand still in time
_hopeless: float = 0.0


def enlist(thread: threading.Thread, quiet: bool = False) -> None:
    """Make a worker of a thread.

    Args:
        thread: the thread, perhaps not started. It touches something of the program in `at_work` only.
        quiet: whether it never does.
    """
    _enlisted.add(thread)
    if quiet:
        _quiet.add(thread)


def start_quietly(target: Callable[[], None], name: str) -> threading.Thread:
    """Start a thread of the library that runs nothing of the program, and does not keep it from ending.

    Args:
        target: what it does.
        name: of the thread.
    """
    thread = threading.Thread(target=target, name=name, daemon=True)
    enlist(thread, quiet=True)
    thread.start()
    return thread


def is_harmless(thread: threading.Thread) -> bool:
    """Whether a thread is a worker that touches nothing of the program now, and will not while this thread needs it.

    Args:
        thread: the thread.
    """
    if _needed_by == threading.get_ident() and thread in _enlisted:
        return not _workers.get(thread.ident or 0)
    return thread in _quiet


def is_quiet() -> bool:
    """Whether this thread is a worker that runs nothing of the program."""
    return threading.current_thread() in _quiet


@contextmanager
def at_work() -> Iterator[None]:
    """The block is what a worker does: this thread, which was enlisted."""
    me = threading.get_ident()
    if me in _workers or is_quiet():
        yield
        return
    _workers[me] = False
    try:
        _begin(me)
        yield
    finally:
        with _changed:
            del _workers[me]
            _changed.notify_all()


def pause() -> None:
    """Stand still if a thread needs that: between two pieces of the work of a worker."""
    if _needed_by is not None and _workers.get(threading.get_ident()):
        with waiting():
            pass


@contextmanager
def waiting() -> Iterator[None]:
    """The block only waits for something.

    A worker stands still in it. If the thread that needs workers to stand still is to wait for something, they may go
    on, since it may be for them that it waits.
    """
    global _needed_by
    me = threading.get_ident()
    if _needed_by == me:
        with _changed:
            _needed_by = None
            _changed.notify_all()
        try:
            yield
        finally:
            _stop(me)
    elif _workers.get(me):
        with _changed:
            _workers[me] = False
            _changed.notify_all()
        try:
            yield
        finally:
            _begin(me)
    else:
        yield


@contextmanager
def standing_still() -> Iterator[None]:
    """Run a block while workers stand still: all but this thread, if it is one, and if they do so in time."""
    global _needed_by
    me = threading.get_ident()
    if not _enlisted or me in _workers or _needed_by is not None:
        yield
        return
    try:
        _stop(me)
        yield
    finally:
        if _needed_by == me:
            with _changed:
                _needed_by = None
                _changed.notify_all()


def _begin(me: int) -> None:
    """Let a worker work, as soon as nobody needs it to stand still."""
    with _changed:
        _changed.wait_for(lambda: _needed_by is None, _STANDING)
        _workers[me] = True


def _stop(me: int) -> None:
    """Make workers stand still for a thread, if they do."""
    global _needed_by, _hopeless
    with _changed:
        _needed_by = me
        _changed.notify_all()
        patience = 0.0 if time.monotonic() < _hopeless else _FOR_WORKERS
        if not _changed.wait_for(_all_stand, patience):
            _needed_by = None
            _hopeless = time.monotonic() + _STANDING
            _changed.notify_all()


def _all_stand() -> bool:
    return not any(_workers.values())
