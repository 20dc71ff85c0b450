"""A callable with its entries: each call runs the one that fits, or captures a new one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from weft import context
from weft.capture.capture import Program
from weft.capture.leaving.entries import Entries
from weft.capture.leaving.entry import Entry
from weft.capture.leaving.misses import another_form
from weft.capture.python.defined import defined_at
from weft.capture.state.events import History
from weft.core import trace as trace_module
from weft.core.frames import passed_over
from weft.parallel.processes import processes


@passed_over
class Compiled:
    """A callable with the entries captured for it.

    Args:
        function: what to run: a function, a bound method or a Cell.
        guarded: whether outside values are guarded (else they are constants of each capture).
        name: name of the graphs.
        prefix: arguments that precede those of each call (the instance of a method).
        fullgraph: whether leaving the graph is an error.
    """

    __slots__ = ("function", "program", "prefix", "entries", "latest", "__weakref__")
    __weft_remembers__ = ("program", "entries", "latest")

    def __init__(
        self,
        function: Callable[..., Any],
        guarded: bool,
        name: str,
        prefix: tuple[Any, ...] = (),
        fullgraph: bool = False,
    ) -> None:
        self.function = function
        self.program = Program(name, guarded, fullgraph)
        self.program.history.defined = defined_at(function)
        self.prefix = prefix
        #: (number of positional arguments, names of keyword arguments) -> entries
        self.entries: dict[tuple[Any, ...], Entries] = {}
        #: number of positional arguments -> code of the most recently used entry
        self.latest: dict[int, Callable[..., Any]] = {}

    @property
    def name(self) -> str:
        """Name of the callable, and of its graphs."""
        return self.program.name

    @property
    def guarded(self) -> bool:
        """Whether outside values are guarded."""
        return self.program.guarded

    @property
    def fullgraph(self) -> bool:
        """Whether leaving the graph is an error."""
        return self.program.fullgraph

    @property
    def history(self) -> History:
        """What happened so far."""
        return self.program.history

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the entry that fits, capturing one if there is none."""
        if self.prefix:
            args = (*self.prefix, *args)
        key = (len(args), *kwargs) if kwargs else (len(args),)
        entries = self.entries.get(key)
        if entries is None:
            forms = self.entries.copy()  # at once: other threads add theirs
            first = another_form(key, (form for form, made in forms.items() if made.entries))
            made = Entries(self.program, self.program.recency, self._capturing(len(args), tuple(kwargs)), first)
            entries = self.entries.setdefault(key, made)
        result = entries.call((*args, *kwargs.values()) if kwargs else args)
        if not kwargs:
            newest = entries.entries[:1]
            if newest and not newest[0].unproven:
                self.latest[len(args)] = newest[0].run
            else:  # its next use has to be seen
                self.latest.pop(len(args), None)
        return result

    def _capturing(self, count: int, names: tuple[str, ...]) -> Callable[[tuple[Any, ...], str], Entry]:
        program, function = self.program, self.function  # not this object: it goes at once when nobody holds it

        def capture(values: tuple[Any, ...], why: str) -> Entry:
            kwargs = dict(zip(names, values[count:], strict=True))
            return program.capture_call(function, values[:count], kwargs, why)

        return capture


class _Eagerly(threading.local):
    depth = 0


_eager = _Eagerly()
#: whether some thread captures or runs eagerly on purpose: the cached call then takes the careful path
careful = 0
_careful_lock = threading.Lock()


def _count(change: int) -> None:
    global careful
    with _careful_lock:
        careful += change


trace_module.on_activity(lambda active: _count(1 if active else -1))


class eagerly:
    """Within this block compiled functions of this thread run in Python."""

    def __enter__(self) -> None:
        _eager.depth += 1
        _count(1)

    def __exit__(self, *_: object) -> None:
        _eager.depth -= 1
        _count(-1)


#: whether compiling is switched on for the process (`WEFT_JIT`, ``set_context(jit=...)``)
_enabled = True


def _switch(changes: dict[str, Any]) -> None:
    global _enabled
    enabled = changes.get("jit", _enabled)
    if enabled != _enabled:
        _enabled = enabled
        _count(-1 if enabled else 1)


if processes().count > 1:  # calls may join what processes bring
    _count(1)
context.on_change(_switch)
_switch({"jit": context.get_context("jit")})


def is_eager() -> bool:
    """Whether compiled functions of this thread run in Python."""
    return _eager.depth > 0 or not _enabled
