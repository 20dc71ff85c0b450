"""Reading ahead: a thread makes rows while the program uses those before."""

from __future__ import annotations

import atexit
import collections
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

from weft.core.workers import at_work, enlist, pause, waiting

_ENDED: Final = object()
#: how long to wait before looking again whether somebody reads, in seconds
_PATIENCE: Final = 0.1

_running: weakref.WeakSet[_Making] = weakref.WeakSet()


class _Making:
    """What the thread and its reader share. The thread does not know the reader, so that it ends with that one.

    Rows pass through a deque, which needs no lock. A side that cannot go on says so, looks again, and waits; the other
    side sees that after each row. A row is there for the reader as soon as it is made.
    """

    def __init__(self, limit: int, stopped: threading.Event) -> None:
        self.rows: collections.deque[Any] = collections.deque()
        self.limit = max(1, limit)
        self.stopped = stopped
        self.changed = threading.Condition()
        self.reader_waits = False
        self.maker_waits = False
        self.error: BaseException | None = None
        self.thread: threading.Thread | None = None

    def make(self, begin: Callable[[], Iterator[Any]]) -> None:
        """What the thread does: rows, then their end, or what was raised."""
        with at_work():
            self._make(begin)

    def _make(self, begin: Callable[[], Iterator[Any]]) -> None:
        rows: Any = None
        try:
            rows = begin()
            for row in rows:
                self.put(row)
                if self.stopped.is_set():
                    break
        except BaseException as error:
            self.error = error
        finally:
            if rows is not None and hasattr(rows, "close"):
                rows.close()
            self.put(_ENDED)

    def put(self, row: Any) -> None:
        """Give a row to the reader, and wait while there are enough."""
        pause()
        self.rows.append(row)
        if self.reader_waits:
            with self.changed:
                self.changed.notify_all()
        if len(self.rows) >= self.limit and row is not _ENDED:
            with waiting(), self.changed:
                self.maker_waits = True
                while len(self.rows) >= self.limit and not self.stopped.is_set():
                    self.changed.wait(_PATIENCE)
                self.maker_waits = False

    def take(self) -> Any:
        """The next row, as soon as there is one."""
        if not self.rows:
            with waiting(), self.changed:
                self.reader_waits = True
                while not self.rows:
                    self.changed.wait(_PATIENCE)
                self.reader_waits = False
        row = self.rows.popleft()
        if self.maker_waits and len(self.rows) <= self.limit // 2:
            with self.changed:
                self.changed.notify_all()
        return row

    def stop(self) -> None:
        """End the thread, and what it started."""
        self.stopped.set()
        thread = self.thread
        if thread is not None and thread is not threading.current_thread():
            with waiting():
                thread.join()


class Ahead:
    """The rows of an iterator, which a thread runs.

    Args:
        begin: gives the iterator, in the thread.
        limit: how many rows it may be ahead.
        stopped: set when nobody reads any more.
        quiet: whether the iterator runs nothing of the program.
    """

    def __init__(
        self, begin: Callable[[], Iterator[Any]], limit: int, stopped: threading.Event, quiet: bool = False
    ) -> None:
        making = self._making = _Making(limit, stopped)
        self._ended = False
        making.thread = threading.Thread(target=making.make, args=(begin,), name="weft-data-ahead", daemon=True)
        enlist(making.thread, quiet)
        _running.add(making)
        weakref.finalize(self, stopped.set)
        making.thread.start()

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        row = self._making.take()
        if row is not _ENDED:
            return row
        self._ended = True
        error, self._making.error = self._making.error, None
        raise StopIteration if error is None else error

    def close(self) -> None:
        """End the thread, and what it started."""
        self._ended = True
        self._making.stop()


@atexit.register
def _stop_all() -> None:
    for making in list(_running):
        making.stop()
