"""Processes know of each other: who has come to an exchange, with what, who is alive, who has failed.

Each process tells the coordinator that it is there, and with which operation it comes to which exchange, before it
takes part in it. So a process that is gone, hangs, or comes with something else is a named error on all of them:
nothing waits for ever, and no numbers are added that do not belong together.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import queue
import signal
import site
import sys
import sysconfig
import threading
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from weft import _jax_compat
from weft.core.tracebacks import WEFT
from weft.core.workers import start_quietly
from weft.parallel import descendants
from weft.parallel.activity import Activity
from weft.parallel.coordinator import Coordinator
from weft.parallel.groups import Group, group_of
from weft.parallel.turns import Turns
from weft.parallel.wire import Line

#: environment variable: which process has joined the others; those that it starts are not of the program
JOINED: Final = "WEFTJOINED"
#: seconds between two signs of life
_BEAT: Final = 0.5
#: how many of them are not answered when the coordinator is gone
_UNANSWERED: Final = 120
#: seconds that the program has to raise an error by itself, before the process ends with it, and then to end
_LAST: Final = 3.0
_ENDS: Final = 8.0
#: seconds until the coordinator has said what is wrong, when something is
_TOLD: Final = 5.0
#: how the names of files begin that never are the program's, those of Python, and those of packages that are installed
_COMMAND: Final = os.path.join(sysconfig.get_path("scripts"), "weft")
_HIDDEN: Final = (WEFT, "<frozen", "<weft", _COMMAND, *_jax_compat.JAX_FOLDERS)
_PYTHON: Final = sysconfig.get_path("stdlib")
_INSTALLED: Final = (*site.getsitepackages(), site.getusersitepackages())


class ProcessFault(RuntimeError):
    """A process of the program is gone, hangs, has failed, or does something else than the others."""


class Attendance:
    """What a process knows of the others of its program.

    Args:
        address: host and port of the coordinator.
        rank: number of this process.
        start: which start of the program this is.
        patience: seconds until the coordinator is there.
        hosted: the coordinator, in the process that it runs in.

    Raises:
        OSError: the coordinator is not there.
    """

    def __init__(self, address: str, rank: int, start: str, patience: float, hosted: Coordinator | None) -> None:
        self.rank = rank
        #: what is wrong; None while nothing is
        self.fault: str | None = None
        #: whether the program has ended with an error, which its log shows, and the line at which it has ended itself
        self._shown, self._left_at = False, ""
        #: whether it was told, and what tells it when Python shows the error
        self._failed, self._hook = False, sys.excepthook
        #: exchanges that this process came to, by group
        self.met: Counter[Group] = Counter()
        self._turns = Turns()
        self._address, self._hosted = address, hosted
        self._process = os.getpid()  # a fork of it says nothing
        #: told of a fault, each by None
        self._waiting: set[queue.SimpleQueue[Any]] = set()
        #: what is done when the others of an exchange have come, by its group and number
        self._meeting: dict[tuple[Group, int], Callable[[Any], None]] = {}
        #: what gives in full with what this one has come to them
        self._told: dict[tuple[Group, int], Callable[[], list[str]]] = {}
        #: what the coordinator says when all processes are there
        self._begins: queue.SimpleQueue[Any] = queue.SimpleQueue()
        #: exchanges that are being computed, and since when
        self._inside: dict[int, tuple[Group, str, float]] = {}
        self._main = threading.main_thread().ident
        #: in threads that work for a line of the program: that line; and those of which the work has failed, in vain
        self._for, self._unheard = threading.local(), dict[str, None]()
        self._noted, self._raised, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._noting = threading.Lock()
        self._unanswered = 0
        #: when the others of an exchange were last there: it does something from then on
        self._let_on = 0.0
        self._line = Line(address, patience)
        self._line.listen(self._hear, "weft-attendance")
        self._line.send("hello", rank, start)

    def is_of_this_process(self) -> bool:
        """Whether this process is the one that met the others, not a fork of it."""
        return os.getpid() == self._process

    # what this process says of itself

    def begin(self) -> Any:
        """Begin to give signs of life, and wait until all processes are there; what the coordinator then says.

        Raises:
            ProcessFault: one of them has failed, or does not come.
        """
        start_quietly(self._beat, "weft-alive")
        hook = sys.excepthook

        def note(kind: type[BaseException], error: BaseException, entries: types.TracebackType | None) -> None:
            hook(kind, error, entries)
            self._shown = True
            self.fail(error)

        sys.excepthook = self._hook = note
        atexit.register(self._end)
        _on_abort(self._abort)
        return self.wait(self._begins)

    def _beat(self) -> None:
        activity, idle_since = Activity(), time.monotonic()
        while not self._ended.wait(_BEAT):
            moment = time.monotonic()
            if activity.look():
                idle_since = moment
            inside = [(group, what, moment - since) for group, what, since in list(self._inside.values())]
            self._line.send("alive", moment - max(idle_since, self._let_on), self.place(), inside, _jax_compat.stage())
            self._unanswered += 1
            if self._unanswered > _UNANSWERED:
                self._note(
                    f"the coordinator at {self._address} gives no sign of life since {_UNANSWERED * _BEAT:.0f} s"
                )

    def place(self) -> str:
        """Where the program is, in code that is not weft's: in this thread, or, where that is none of the program's, in
        the main one; for what this thread works if it does.
        """
        line = getattr(self._for, "line", "") or _of_program(traceback.walk_stack(sys._getframe()))
        if line or threading.get_ident() == self._main:
            return str(line)
        return _of_program(traceback.walk_stack(sys._current_frames().get(self._main or 0)))

    # faults

    def _hear(self, message: Any) -> None:
        """Something comes from the coordinator, or None when it is gone."""
        self._unanswered = 0
        if message is None:
            self._note(f"the coordinator at {self._address} is gone, which rank {self.rank} was connected to")
        elif message[0] == "begin":
            self._begins.put((message[1],))
        elif message[0] == "met":
            _, group, number, found = message
            self._let_on = time.monotonic()
            key = (group_of(group), number)
            then = self._meeting.pop(key, None)
            self._told.pop(key, None)
            if then is not None:
                then(found)
        elif message[0] == "differ":
            lines: list[str] = []
            with contextlib.suppress(Exception):  # that they differ is said without
                lines = self._told[group_of(message[1]), message[2]]()
            self._line.send("told", *message[1:], lines)
        elif message[0] == "fault":
            self._note(message[1])

    def declare(self, fault: str, kind: str = "fault") -> None:
        """Tell all processes what is wrong, and learn what was wrong first.

        Args:
            fault: what is wrong.
            kind: ``"symptom"`` for what may follow from something else.
        """
        self._line.send(kind, fault)
        if not self._noted.wait(_TOLD):
            self._note(fault)

    def _note(self, fault: str) -> None:
        with self._noting:
            if self.fault is not None or self._ended.is_set():
                return
            self.fault = fault
        self._noted.set()
        for waiting in list(self._waiting):
            waiting.put(None)
        threading.Thread(target=self._end_soon, name="weft-last", daemon=True).start()

    def _end_soon(self) -> None:
        """End the process if the program does not come to raise the error, or does not end with it."""
        if not self._raised.wait(_LAST):
            self._stop(
                f"{self.fault}\n(rank {self.rank} does not come to say so: it is at {self.place() or 'no line'})"
            )
        time.sleep(_ENDS)
        self._stop(f"{self.fault}\n(rank {self.rank} has not ended since: it is at {self.place() or 'no line'})")

    def _stop(self, message: str) -> NoReturn:
        """End the process at once with a message."""
        _leave(f"weft.parallel.ProcessFault: {message}\n")

    def raise_fault(self) -> None:
        """Raise what is wrong, if anything is."""
        if self.fault is not None:
            line = getattr(self._for, "line", "")
            if line:  # the program hears of it if it waits for the work
                self._unheard[line] = None
            else:
                self._raised.set()
            raise ProcessFault(self.fault)

    def meanwhile(self, job: Callable[[], Any]) -> Callable[[], Any]:
        """What another thread does for the line of the program that is here now, at which it says that it is.

        Args:
            job: what it does.
        """
        line, thread = self.place(), self._thread()

        def work() -> Any:
            self._for.line, self._for.thread = line, thread
            try:
                return job()
            finally:
                self._for.line = ""
                del self._for.thread

        return work

    def fail(self, error: BaseException) -> None:
        """Tell the others that the program ends with an error.

        Args:
            error: which one.
        """
        if not self.is_of_this_process() or self._failed:
            return
        self._failed = True
        self._raised.set()
        if not isinstance(error, ProcessFault):
            place = _where(error)
            self.declare(f"rank {self.rank} raised {type(error).__name__}: {_text(error)}{place and f' ({place})'}")

    def _abort(self) -> None:
        """A library aborts the process, as it does when another process has closed a connection between them."""
        if not self.is_of_this_process():
            return
        said = f"rank {self.rank} was aborted; it was at {self.place()}"
        self.declare(said, "symptom")
        if threading.get_ident() != self._main:
            threading.Event().wait()  # the program comes to raise the error, or the process ends without
        if self.fault != said:
            self._stop(f"{self.fault}")
        _say(f"weft.parallel.ProcessFault: {said}\n")

    # exchanges

    def meet(
        self, group: Group, what: str, details: Any = None, told: Callable[[], list[str]] | None = None
    ) -> list[Any]:
        """Wait until all processes of a group have come with the same.

        Args:
            group: the processes, this one among them.
            what: with what this one comes.
            details: what the others are told besides; JSON can write it.
            told: gives in lines what ``what`` is short for; called, in another thread, where others came with
                something else. The first line that differs is shown; what stands in it behind two spaces and a ``#``
                may differ.

        Returns:
            list: the details of all, in the order of the group.

        Raises:
            ProcessFault: one is gone, hangs, has failed, or came with something else.
            RuntimeError: another thread of this process exchanges over the group, too.
        """
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._come(group, what, lambda every: found.put((every,)), details, told)
        return list(self.wait(found))

    def compute(
        self,
        group: Group,
        what: str,
        results: queue.SimpleQueue[Any],
        begin: Callable[[], None],
        told: Callable[[], list[str]] | None = None,
    ) -> Any:
        """What comes of an exchange, into a queue, after all processes of a group have come with the same.

        Args:
            group: the processes, this one among them.
            what: with what this one comes.
            results: gets a tuple of the result.
            begin: called when all have come, in each process in the order in which the coordinator knows of exchanges.
            told: see `meet`.

        Raises:
            ProcessFault: something is wrong.
            RuntimeError: another thread of this process exchanges over the group, too.
        """
        inside = (group, f"{what} ({self.place()})")

        def go_on(every: Any) -> None:
            del every
            self._inside[id(results)] = (*inside, time.monotonic())
            begin()

        self._come(group, what, go_on, None, told)
        try:
            return self.wait(results)
        finally:
            self._inside.pop(id(results), None)

    def _come(
        self, group: Group, what: str, then: Callable[[Any], None], details: Any, told: Callable[[], list[str]] | None
    ) -> None:
        """Say that this process comes to the next exchange of a group."""
        self._turns.take(group, self._thread(), what)
        self.met[group] += 1
        key = (group, self.met[group])
        self._meeting[key] = then
        if told is not None:
            self._told[key] = told
        self._line.send("meet", *key, what, self.place(), details)

    def _thread(self) -> threading.Thread:
        """The thread of the program that something is done for."""
        found: threading.Thread = getattr(self._for, "thread", None) or threading.current_thread()
        return found

    def wait(self, results: queue.SimpleQueue[Any]) -> Any:
        """What comes into a queue, in a tuple, or the error if something is wrong before."""
        self._waiting.add(results)
        try:
            self.raise_fault()
            found = results.get()
        finally:
            self._waiting.discard(results)
        if found is None:
            self.raise_fault()
        return found[0]

    # the end

    def note_exit(self, error: SystemExit) -> None:
        """Note where the program ends itself.

        Args:
            error: by which it does.
        """
        self._left_at = _where(error)

    def _end(self) -> None:
        if not self.is_of_this_process():
            return
        error = getattr(sys, "last_value", None)  # Python has put it there before it called the program's own hook
        if isinstance(error, BaseException) and sys.excepthook is not self._hook:
            self.fail(error)
        # how far it came, which the last sign of life may not say: one that has found the others keeps nobody waiting
        self._line.send("alive", 0.0, self._left_at or self.place(), [], _jax_compat.stage())
        self._line.send("ended")
        self._ended.set()
        if self._hosted is not None:  # the others need it as long as they run
            self._line.close()
            self._hosted.unneeded.wait()
        if self.fault is not None:  # threads may wait for ever for what does not come
            _leave("" if self._shown else f"weft.parallel.ProcessFault: {self._last()}\n")

    def _last(self) -> str:
        """What is said where a program that something is wrong with has ended without an error."""
        if self._failed:
            return str(self.fault)
        if self._raised.is_set():
            return f"caught by the program: {self.fault}"
        if self._unheard:
            return f"{self.fault}\n(rank {self.rank} has not waited for the handles of {', '.join(self._unheard)})"
        return f"{self.fault}\n(rank {self.rank} has come to its end)"


def _leave(message: str = "") -> NoReturn:
    """End the process at once, with what it has printed and a message after it, and what it has started."""
    _say(message)
    with contextlib.suppress(OSError):  # what the program says of the end of what it has started follows from this one
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    descendants.end(os.getpid(), f"{JOINED}={os.getpid()}")
    os._exit(1)


def _say(message: str) -> None:
    """Print a message after what the process has printed, whatever state it is in."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os.write(2, message.encode())


def _text(error: BaseException) -> str:
    """What an error says, as far as it can."""
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def _where(error: BaseException) -> str:
    """The innermost line of the program in an error's traceback."""
    return _of_program(reversed(list(traceback.walk_tb(error.__traceback__))))


def _of_program(places: Iterable[tuple[types.FrameType, int]]) -> str:
    """The first of some lines that is the program's; if there is none, of a package that is installed."""
    found = ""
    for frame, line in places:
        file = frame.f_code.co_filename
        if file.startswith(_INSTALLED) and not file.startswith(_HIDDEN):
            found = found or f"{file}:{line}"
        elif not file.startswith((*_HIDDEN, _PYTHON)):
            return f"{file}:{line}"
    return found


#: kept, since C calls it
_handlers: list[Any] = []


def _on_abort(call: Any) -> None:
    """Call a function before a library aborts the process."""
    set_handler = ctypes.CDLL(None).signal

    def handle(number: int) -> None:
        call()
        set_handler(number, None)  # what the system does by itself: it ends the process
        os.kill(os.getpid(), number)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(handle)
    _handlers.append(handler)
    set_handler(int(signal.SIGABRT), handler)
