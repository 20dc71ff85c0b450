"""Reading ahead: a thread makes rows while the program uses those before."""

from __future__ import annotations

import atexit
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

#: what a portion should take to make, in seconds
_LONG_ENOUGH: Final = 1e-3
_ENDED: Final = object()

_running: weakref.WeakSet[_Making] = weakref.WeakSet()


class _Making:
    """What the thread and its reader share. The thread does not know the reader, so that it ends with that one."""

    def __init__(self, limit: int, stopped: threading.Event) -> None:
        self.portions: queue.Queue[Any] = queue.Queue(maxsize=max(1, limit))
        self.limit = limit
        self.stopped = stopped
        self.thread: threading.Thread | None = None

    def make(self, begin: Callable[[], Iterator[Any]]) -> None:
        """What the thread does: rows in portions, then their end or what was raised."""
        end: Any = _ENDED
        rows: Any = None
        portion: list[Any] = []
        try:
            rows = begin()
            since = time.perf_counter()
            for row in rows:
                portion.append(row)
                if len(portion) >= self.limit or time.perf_counter() - since > _LONG_ENOUGH:
                    self.hand_over(portion)
                    portion = []
                    since = time.perf_counter()
                if self.stopped.is_set():
                    break
        except BaseException as error:
            end = error
        finally:
            if rows is not None and hasattr(rows, "close"):
                rows.close()
            if portion:
                self.hand_over(portion)
            self.hand_over(end)

    def hand_over(self, portion: Any) -> None:
        """Put something into the queue, unless nobody reads any more."""
        while not self.stopped.is_set():
            try:
                self.portions.put(portion, timeout=0.1)
                return
            except queue.Full:
                continue

    def stop(self) -> None:
        """End the thread, and what it started."""
        self.stopped.set()
        thread = self.thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()


class Ahead:
    """The rows of an iterator, which a thread runs.

    Args:
        begin: gives the iterator, in the thread.
        limit: how many rows it may be ahead, about.
        stopped: set when nobody reads any more.
    """

    def __init__(self, begin: Callable[[], Iterator[Any]], limit: int, stopped: threading.Event) -> None:
        making = self._making = _Making(limit, stopped)
        self._rows: Iterator[Any] = iter(())
        self._ended = False
        making.thread = threading.Thread(target=making.make, args=(begin,), name="weft-data-ahead", daemon=True)
        _running.add(making)
        self._finalizer = weakref.finalize(self, making.stopped.set)
        making.thread.start()

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        while True:
            for row in self._rows:
                return row
            if self._ended:
                raise StopIteration
            portion = self._making.portions.get()
            if portion is _ENDED:
                self._ended = True
            elif isinstance(portion, BaseException):
                self._ended = True
                raise portion
            else:
                self._rows = iter(portion)

    def close(self) -> None:
        """End the thread, and what it started."""
        self._ended = True
        self._rows = iter(())
        self._making.stop()


@atexit.register
def _stop_all() -> None:
    for making in list(_running):
        making.stop()
