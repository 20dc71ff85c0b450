"""Capture a call: attempts, each of which ends before what the last one could not have in the graph."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, cast

from weft import context, lazily
from weft.cache.executables import keeps_entries
from weft.capture.keeping.entries import KeptEntries, tell
from weft.capture.leaving.entries import Owner
from weft.capture.leaving.entry import Entry
from weft.capture.leaving.rest import rest_of_frame
from weft.capture.leaving.shapes import restore_frames, value_names
from weft.capture.leaving.suspension import Continuation
from weft.capture.python.spelling import is_spelled
from weft.capture.state.events import EARLIER, BreakSite, Captured
from weft.capture.state.frame import Exit, Lazy
from weft.core.transparency import TRANSPARENT, UNBROKEN
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture import attempt as attempts
    from weft.capture.attempt import Attempt, End
    from weft.capture.leaving import callbacks
else:  # the interpreter, of which a program that finds its graphs in the compile cache has no need
    attempts = lazily.deferred("weft.capture.attempt")
    callbacks = lazily.deferred("weft.capture.leaving.callbacks")

_PYTHON_STACK: Final = 20_000


def prepare() -> None:
    """Import the interpreter before the first call needs it, unless its graph may be in the compile cache."""
    if not keeps_entries():
        importlib.import_module("weft.capture.attempt")


class Program(Owner):
    """A compiled callable as its entries see it: policy, history, places, and how calls are captured."""

    #: why no graph of it is kept for other processes, "" if they may be
    unkept = ""
    _entries_kept: KeptEntries | None = None

    def capture_call(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str
    ) -> Entry:  # fmt: skip
        """Capture a call from its beginning.

        Args:
            function: the function, method or Cell to call.
            args: positional arguments.
            kwargs: keyword arguments.
            why: why a new entry is needed.

        Returns:
            Entry: for calls with arguments of the same types.

        Raises:
            Unsupported: something cannot be in a graph, and the call cannot leave the graph there.
        """

        names = [f"a{i}" for i in range(len(args))] + [parameter_name(i, key) for i, key in enumerate(kwargs)]
        values = (*args, *kwargs.values())
        kept = self._kept(function)
        key = "" if kept is None else kept.key(names, values)  # now: the call may import libraries
        found = None if kept is None else kept.find(key, function, values)
        if found is not None:
            self._record_kept(found)
            return found

        def begin(attempt: Attempt) -> Exit:
            paths = argument_names(function, len(args), kwargs)
            loaded = attempt.sources.name(function, "function")
            attempt.sources.paths[loaded] = getattr(function, "__name__", type(function).__name__)
            attempt.sources.root(function, loaded)
            attempt.sources.kind(function, loaded)
            given_names = names[: len(args)]
            for key, name in zip(kwargs, names[len(args) :], strict=True):
                given_names.append(f"{key}={name}" if is_spelled(key) else f"**{{{key!r}: {name}}}")
            attempt.call = f"{loaded}({', '.join(given_names)})"
            if self.guarded:
                attempt.whole_call = None if is_transparent(function) else attempt.call
            taken = attempt.take(function, names, paths, values)
            attempt.begin_steps()
            given = dict(zip(kwargs, taken[len(args) :], strict=True))
            return attempt.interpreter.calls.call_outcome(function, taken[: len(args)], given)

        entry = self._capture(begin, None, why)
        if kept is not None:
            kept.keep(key, entry, function, values)
        return entry

    def _kept(self, function: Any) -> KeptEntries | None:
        """What other processes keep for this callable; None where nothing is kept."""
        if not keeps_entries():
            return None
        policy = f"{self.name} {self.is_strict()} {self.exact} {self.leaves_checks}"
        unkept, kept = self.unkept, self._entries_kept
        if not self.guarded:
            unkept = "what it reads from outside is not guarded (the static policy)"
        elif self.once:
            unkept = "another thread changes what the call reads"
        if kept is None or (kept.policy, kept.unkept) != (policy, unkept):
            kept = self._entries_kept = KeptEntries(function, policy, unkept)
        return kept

    def _record_kept(self, entry: Entry) -> None:
        """Note a graph that an earlier process captured."""
        guards = {guard.condition: guard.path for guard in entry.guards if guard.kind != "compute"}
        segment = entry.segment
        self._note(entry, Captured(lambda: segment.graph, guards, EARLIER, None, None))

    def capture_continuation(
        self, continuation: Continuation, values: tuple[Any, ...], why: str
    ) -> Entry:  # fmt: skip
        def begin(attempt: Attempt) -> Exit:
            attempt.parameters = [f"a{i}" for i in range(len(values))]
            attempt.sources.paths.update(zip(attempt.parameters, value_names(continuation.shapes), strict=True))
            interpreter = attempt.interpreter
            attempt.begin_steps()
            unread = attempt.end is not None and attempt.end.step == 0  # the next step is Python's
            arrive = Lazy if unread else interpreter.arrive
            try:
                frame = restore_frames(continuation.shapes, values, attempt.parameters, arrive)
            except Unsupported as refusal:
                if refusal.kind is Refusal.RESTLESS:
                    refusal.step = 0
                raise
            return interpreter.run_chain(frame)

        entry = self._capture(begin, continuation, why)
        if keeps_entries() and entry.computes:
            tell(entry, "it goes on where the call has left another graph")
        return entry

    def is_strict(self) -> bool:
        """Whether what cannot be in the graph is an error."""
        return self.fullgraph or context.get_context("jit_syntax_level") == context.STRICT

    def rest_of(
        self, continuation: Continuation, site: BreakSite | None
    ) -> Callable[[tuple[Any, ...]], Any] | None:  # fmt: skip
        return None if self.is_strict() else rest_of_frame(continuation, site)

    def captured_callbacks(self) -> AbstractContextManager[None]:
        return callbacks.captured_callbacks(self)

    def _capture(
        self, begin: Callable[[Attempt], Exit], continuation: Continuation | None, why: str
    ) -> Entry:  # fmt: skip
        """Capture as far as possible: each attempt that meets what cannot be in the graph names where the next ends."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _PYTHON_STACK))
        started = time.perf_counter()
        try:
            entry, attempt = self._attempt_until_it_fits(begin, continuation)
        finally:
            sys.setrecursionlimit(limit)
        self._record(attempt, entry, why, time.perf_counter() - started)
        return entry

    def _attempt_until_it_fits(
        self, begin: Callable[[Attempt], Exit], continuation: Continuation | None
    ) -> tuple[Entry, Attempt]:
        end: End | None = None
        restless: Collection[str] = () if self.is_strict() else self.restless
        #: what changes between calls and is no constant, ever less of it: what is refused may be so because of it
        ladder: list[tuple[Collection[str], Mapping[str, int]]] = [(self.varying, self.sizes)]
        if self.sizes:
            ladder.append((self.varying, {}))
        if not set(self.varying).issubset(restless):
            ladder.append((restless, {}))
        taken = tried = 0
        blamed: End | None = None  # what was refused by what is taken, while less is tried
        while True:
            attempt = attempts.Attempt(self, end, continuation, *ladder[tried])
            refused = attempt.build(begin)
            if isinstance(refused, Entry):
                return refused, attempt
            whole = (
                isinstance(refused.reason, Unsupported)
                and not self.is_strict()
                and (refused.reason.whole or attempt.looks_at_frames())
            )
            if whole and attempt.whole_call is not None:
                return attempt.in_python(refused), attempt
            if whole and continuation is not None and continuation.idle is not None:
                reason = refused.reason
                seen = isinstance(reason, Unsupported) and reason.kind is Refusal.LIFETIME
                entry = attempt.rest_in_python(continuation, cast(Unsupported, reason) if seen else None)
                if entry is not None:
                    return entry, attempt
                continue
            if blamed is None or refused.step <= blamed.step:
                blamed = blamed or refused
                is_open = attempt.trace.open_types  # else it makes no difference that none is
                less = (n for n in range(tried + 1, len(ladder)) if is_open or ladder[n][0] is not ladder[tried][0])
                following = next(less, None)
                if following is not None:
                    tried = following
                    continue
                refused, tried = blamed, taken
            taken, blamed = tried, None
            if self.is_strict() and self.leaves_checks and attempt.call is not None:
                return attempt.in_python(refused), attempt  # which raises what is to be raised
            strict = self.is_strict() and isinstance(refused.reason, Unsupported) and not refused.reason.quiet
            if strict or refused.step < 0 or (end is not None and refused.step >= end.step):
                if isinstance(refused.reason, Unsupported) and not self.is_strict():
                    if attempt.call is not None:
                        return attempt.in_python(refused), attempt
                    entry = None if continuation is None else attempt.rest_in_python(continuation, refused.reason)
                    if entry is not None:
                        return entry, attempt
                if isinstance(refused.reason, Unsupported) and restless:  # which may be why
                    self.restless = set()
                    return self._attempt_until_it_fits(begin, continuation)
                if isinstance(refused.reason, Unsupported):
                    self.history.refused(refused.reason)
                raise refused.reason
            end = refused

    def _record(self, attempt: Attempt, entry: Entry, reason: str, seconds: float) -> None:
        graph = entry.segment.graph
        if entry.computes:
            self.idle = None
        continuation, point = attempt.continuation, attempt.point
        if continuation is not None and not graph.nodes:
            return
        starts = None
        if continuation is not None:
            inner = continuation.shapes[-1]
            starts = inner.decoded.location(inner.pc)
        ends = None if point is None else point.site
        guards = {guard.condition: guard.path for guard in entry.guards if guard.kind != "compute"}
        event = Captured(graph, guards, reason, starts, ends, attempt.interpreter.lines(), seconds)
        self._note(entry, event)

    def _note(self, entry: Entry, event: Captured) -> None:
        entry.event = event
        history, record = self.history, entry.segment.compilations
        event.compilations = record.made
        history.add(event)
        record.listener = lambda compilation: history.was_compiled(event.number, compilation)


def argument_names(function: Any, count: int, kwargs: Iterable[str]) -> list[str]:
    """The arguments of a call in the user's terms: their names in the signature as far as it has them.

    Args:
        function: what is called.
        count: number of positional arguments.
        kwargs: names of keyword arguments.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    names = positional[:count]
    return names + [f"{more}[{index}]" for index in range(count - len(names))] + list(kwargs)


def parameter_name(number: int, key: str) -> str:
    """The parameter of an entry that takes a keyword argument."""
    return f"k_{key}" if is_spelled(key) else f"k{number}"


def is_transparent(function: Any) -> bool:
    """Whether a function is the framework's own, which capture steps through; a transform is left as a whole."""
    code = getattr(function, "__code__", None)
    return code in TRANSPARENT and code not in UNBROKEN
