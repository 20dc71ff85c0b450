"""Processes know of each other: who has come to an exchange, with what, who is alive, who has failed.

Each process writes into the store of the coordinator that it is there, and with which operation it comes to which
exchange, before it takes part in it. So a process that is gone, hangs, or comes with something else is a named error on
all of them: nothing waits for ever, and no numbers are added that do not belong together.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import queue
import signal
import sys
import sysconfig
import threading
import time
import types
from collections import Counter
from typing import Any, Final, NoReturn

from weft.core.tracebacks import WEFT

#: seconds between two signs of life
_BEAT: Final = 0.5
#: seconds without one after which a process is gone
_GONE: Final = 6.0
#: environment variables: seconds that a process may do nothing while others wait for it, and that it may take at most
IDLE, LIMIT = "WEFT_IDLE_SECONDS", "WEFT_EXCHANGE_SECONDS"
#: their defaults: nothing means no processor time, so that compiling, say, may take longer
_IDLE, _LIMIT = 10.0, 600.0
#: seconds that the program has to raise an error by itself, before the process ends with it
_LAST: Final = 3.0
#: processor time in a second that counts as doing something
_BUSY: Final = 0.05
_ENDED: Final = "ended"
#: how the names of files begin that are not the program's
_LIBRARY: Final = (WEFT, sysconfig.get_path("stdlib"), "<frozen", "<weft")


class ProcessFault(RuntimeError):
    """A process of the program is gone, hangs, has failed, or does something else than the others."""


class Attendance:
    """What a process knows of the others of its program.

    Args:
        store: texts that all processes read and write.
        rank: number of this process.
        count: how many there are.
        keeps_others: whether the others end when this process does, so that it waits for them.
    """

    def __init__(self, store: Any, rank: int, count: int, keeps_others: bool) -> None:
        self.store = store
        self.rank = rank
        self.count = count
        self.keeps_others = keeps_others
        #: what is wrong; None while nothing is
        self.fault: str | None = None
        #: exchanges that this process came to, by group
        self.met: Counter[tuple[int, ...]] = Counter()
        #: told of a fault, each by None
        self.waiting: set[queue.SimpleQueue[Any]] = set()
        self._main = threading.main_thread().ident
        self._raised = threading.Event()
        self._failed: BaseException | None = None
        self._ended = False
        self._idle = float(os.environ.get(IDLE, _IDLE))
        self._limit = float(os.environ.get(LIMIT, _LIMIT))

    # what this process says of itself

    def begin(self, address: str) -> None:
        """Begin to give signs of life, and to look for those of the others."""
        threading.Thread(target=self._beat, name="weft-attendance", daemon=True).start()
        hook = sys.excepthook

        def note(kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None) -> None:
            hook(kind, error, traceback)
            self._failed = error
            self._raised.set()

        sys.excepthook = note
        atexit.register(self._end)
        _on_abort(self, address)

    def _beat(self) -> None:
        beats, spent, idle_since = 0, time.process_time(), time.monotonic()
        while not self._ended:
            now = time.process_time()
            if now - spent > _BUSY * _BEAT:
                idle_since = time.monotonic()
            spent = now
            beats += 1
            try:
                sign = {"beats": beats, "idle": time.monotonic() - idle_since, "at": self.place()}
                self.store.key_value_set(f"weft/alive/{self.rank}", json.dumps(sign), True)
                if self.fault is None:
                    fault = self._get("weft/fault")
                    if fault is not None:
                        self._note(fault)
            except Exception:
                return  # the coordinator is gone; the process ends by what notices that
            time.sleep(_BEAT)

    def place(self) -> str:
        """Where the program's main thread is, in code that is not weft's."""
        frame = sys._current_frames().get(self._main or 0)
        while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
            frame = frame.f_back
        return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"

    def _get(self, key: str) -> str | None:
        try:
            found: str = self.store.key_value_try_get(key)
        except Exception as error:
            if "NOT_FOUND" in str(error):
                return None
            raise
        return found

    # faults

    def declare(self, fault: str) -> None:
        """Tell all processes what is wrong; the first to do so is believed."""
        try:
            self.store.key_value_set("weft/fault", fault)
        except Exception:
            with contextlib.suppress(Exception):
                fault = self._get("weft/fault") or fault
        self._note(fault)

    def _note(self, fault: str) -> None:
        if self.fault is not None:
            return
        self.fault = fault
        for waiting in list(self.waiting):
            waiting.put(None)
        threading.Thread(target=self._end_soon, name="weft-last", daemon=True).start()

    def _end_soon(self) -> None:
        """End the process if the program does not come to raise the error."""
        place = self.place()
        if not self._raised.wait(_LAST):
            self.stop(f"{self.fault}\n(rank {self.rank} did not come to say so: it was at {place})")

    def stop(self, message: str) -> None:
        """End the process at once with a message."""
        _leave(f"weft.parallel.ProcessFault: {message}\n")

    def raise_fault(self) -> None:
        """Raise what is wrong, if anything is."""
        if self.fault is not None:
            self._raised.set()
            raise ProcessFault(self.fault)

    # exchanges

    def meet(self, group: tuple[int, ...], what: str, details: Any = None) -> list[Any]:
        """Wait until all processes of a group have come with the same.

        Args:
            group: their ranks, this one's among them.
            what: with what this one comes.
            details: what the others are told besides; JSON can write it.

        Returns:
            list: the details of all, in the order of the group.

        Raises:
            ProcessFault: one is gone, hangs, has failed, or came with something else.
        """
        self.raise_fault()
        self.met[group] += 1
        number = self.met[group]
        room = f"weft/meet/{'-'.join(map(str, group))}"
        place = self.place()
        try:
            self.store.key_value_set(f"{room}/{number}/{self.rank}", json.dumps([what, place, details]))
        except Exception as error:
            self._lose(error)
        found = {self.rank: [what, place, details]}
        for other in group:
            if other != self.rank:
                found[other] = self._await(f"{room}/{number}/{other}", other, f"{what} ({place}, exchange {number})")
        if number > 1:  # all have read what was written for the exchange before
            self.store.key_value_delete(f"{room}/{number - 1}/{self.rank}")
        if len({came[0] for came in found.values()}) > 1:
            lines = "".join(f"\n  rank {rank}: {came[0]} ({came[1]})" for rank, came in sorted(found.items()))
            self.declare(f"the processes came to exchange {number} of {list(group)} with different operations:{lines}")
            self.raise_fault()
        return [found[rank][2] for rank in group]

    def _await(self, key: str, other: int, what: str) -> Any:
        """What another process wrote, when it did."""
        began = time.monotonic()
        seen, seen_at = -1, began
        slice_ms = 200
        while True:
            try:
                return json.loads(self.store.blocking_key_value_get(key, slice_ms))
            except Exception as error:
                if "DEADLINE_EXCEEDED" not in str(error):
                    self._lose(error)
            self.raise_fault()
            now = time.monotonic()
            ended = self._get(f"weft/{_ENDED}/{other}")
            sign = json.loads(self._get(f"weft/alive/{other}") or '{"beats": 0, "idle": 0, "at": ""}')
            if sign["beats"] != seen:
                seen, seen_at = sign["beats"], now
            waited = f"rank {self.rank} waits for it in {what}"
            if ended is not None and self._get(key) is None:
                self.declare(f"rank {other} has ended{ended}; {waited}")
            elif now - seen_at > _GONE:
                self.declare(f"rank {other} gives no sign of life since {now - seen_at:.0f} s; {waited}")
            elif min(sign["idle"], now - began) > self._idle:
                self.declare(
                    f"rank {other} does nothing since {sign['idle']:.0f} s, at {sign['at']}; {waited} ({IDLE}="
                    f"{self._idle:g} says how long it may)"
                )
            elif now - began > self._limit:
                self.declare(f"rank {other} does not come since {now - began:.0f} s, it is at {sign['at']}; {waited}")
            self.raise_fault()

    def _lose(self, error: Exception) -> None:
        """Raise that the coordinator is gone."""
        self.declare(f"the coordinator cannot be reached ({str(error).splitlines()[0]})")
        self.raise_fault()

    def wait(self, results: queue.SimpleQueue[Any]) -> Any:
        """What comes into a queue, or the error if something is wrong before."""
        self.waiting.add(results)
        try:
            if self.fault is not None:
                results.put(None)
            found = results.get()
        finally:
            self.waiting.discard(results)
        if found is None:
            self.raise_fault()
        return found

    # the end

    def _end(self) -> None:
        failed = self._failed
        if failed is not None and not isinstance(failed, ProcessFault):
            place = _where(failed)
            self.declare(f"rank {self.rank} raised {type(failed).__name__}: {failed}{place and f' ({place})'}")
        try:
            word = "" if failed is None else f" with {type(failed).__name__}"
            self.store.key_value_set(f"weft/{_ENDED}/{self.rank}", word, True)
            if self.keeps_others and self.fault is None:
                self._await_others()
        except Exception:
            pass
        self._ended = True
        if self.fault is not None:  # threads may wait for ever for what does not come
            _leave()

    def _await_others(self) -> None:
        for other in range(self.count):
            while other != self.rank and self._get(f"weft/{_ENDED}/{other}") is None and self.fault is None:
                time.sleep(_BEAT / 5)


def _leave(message: str = "") -> NoReturn:
    """End the process at once, with what it has printed and a message after it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os.write(2, message.encode())
    os._exit(1)


def _where(error: BaseException) -> str:
    """The innermost line of the program in an error's traceback."""
    found = ""
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(_LIBRARY):
            found = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


#: kept, since C calls it
_handlers: list[Any] = []


def _on_abort(attendance: Attendance, address: str) -> None:
    """Say what happened where the connection to the coordinator aborts the process, which it does when it is lost."""

    def handle(number: int) -> None:
        del number
        rank = attendance.rank
        attendance.stop(f"rank {rank} has lost the coordinator at {address}; it was at {attendance.place()}")

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(handle)
    _handlers.append(handler)
    ctypes.CDLL(None).signal(int(signal.SIGABRT), handler)
