"""Threads of the library that work for the program: they stand still while another thread needs that.

They run pieces of the program between pieces of the library, such as the functions of a pipeline of data. What they
may reach must not change under them, nor they it, while a capture works on the real objects. So before a capture they
are asked to stand still, which they do where they pass `pause`, begin, or wait. A worker that only runs the library is
`quiet`: nobody needs to care about it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: seconds that a thread waits for workers to stand still: what they are at may take long, or wait for this very thread
_FOR_WORKERS: Final = 5.0
#: seconds that a worker stands still at most
_STANDING: Final = 60.0

_changed: Final = threading.Condition(threading.Lock())
#: threads that are workers, and whether each is at work
_workers: dict[int, bool] = {}
#: those that run nothing of the program
_quiet: set[int] = set()
#: the thread that needs them to stand still
_needed_by: int | None = None
#: until when nobody waits for workers, since some did not stand still in time
_hopeless: float = 0.0


def is_harmless(thread: int) -> bool:
    """Whether a thread is a worker that touches nothing of the program now, and will not while this thread needs it.

    Args:
        thread: its identifier.
    """
    return thread in _quiet or (_needed_by == threading.get_ident() and _workers.get(thread) is False)


def is_quiet() -> bool:
    """Whether this thread is a worker that runs nothing of the program."""
    return threading.get_ident() in _quiet


@contextmanager
def at_work(quiet: bool = False) -> Iterator[None]:
    """The block is what a worker does.

    Args:
        quiet: whether nothing of the program is run by it.
    """
    me = threading.get_ident()
    if me in _workers:
        yield
        return
    if quiet:
        _quiet.add(me)
    _workers[me] = False
    try:
        if not quiet:
            _begin(me)
        yield
    finally:
        _quiet.discard(me)
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
    if not _workers or me in _workers or _needed_by is not None:
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
