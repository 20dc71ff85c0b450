"""What happened while a function was captured and run: graphs made, places where it left the graph, recompiles.

Reports, log lines and test helpers all read this one record.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from weft.compile.compilations import Compilation
from weft.errors import Location, Refusal, Unsupported, WeftError
from weft.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class BreakSite:
    """A place in the user's code that runs in Python between two graphs.

    Args:
        kind: the class of reason, a value of `weft.errors.Refusal`.
        location: where in the user's code.
        why: what is wrong, in the user's terms.
        do: what to write instead, "" if there is nothing.
    """

    kind: str
    location: Location
    why: str
    do: str

    @classmethod
    def of(cls, refusal: Unsupported, location: Location) -> BreakSite:
        """What a refusal says of a place.

        Args:
            refusal: why capture cannot go on.
            location: the place, where the refusal names none.
        """
        return cls(refusal.kind.value, refusal.location or location, refusal.why, refusal.do)

    def explain(self, refusal: Unsupported) -> None:
        """Let a refusal that Python met at this place say why the place is not in the graph."""
        refusal.kind, refusal.location, refusal.why, refusal.do = Refusal(self.kind), self.location, self.why, self.do
        refusal.args = (self.why,)


@dataclass(slots=True)
class Captured:
    """One graph that was made, from its beginning to where it ended.

    Args:
        made: the graph, passes applied, or what makes it when it is asked for.
        guards: condition -> what it guards, in the order in which they are checked.
        reason: `FIRST`, `EARLIER`, or what differed from the closest earlier entry.
        starts: where in the user's code the graph begins; None at the start of the function.
        ends: the break that ends it; None if it runs to the end of the function.
        lines: (file, line) of the user's code that went into the graph.
        seconds: time to capture, without compilation by XLA.
        at: when the capture ended, in seconds since the epoch.
        first_run: time of the first run, with compilation by XLA; 0 until it ended.
        number: its number among the graphs of its function, from 1.
        compilations: what XLA compiled of it.
    """

    made: Graph | Callable[[], Graph]
    guards: dict[str, str]
    reason: str
    starts: Location | None
    ends: BreakSite | None
    lines: frozenset[tuple[str, int]] = frozenset()
    seconds: float = 0.0
    at: float = field(default_factory=time.time)
    first_run: float = 0.0
    number: int = 0
    compilations: list[Compilation] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        """The graph, passes applied."""
        return self.made if isinstance(self.made, Graph) else self.made()

    @property
    def is_recompile(self) -> bool:
        """Whether it was made because an earlier entry for the same place did not fit."""
        return self.reason not in (FIRST, EARLIER)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compilation of a graph by XLA.

    Args:
        graph: number of the graph among those of its function.
        compilation: what was compiled, and how long it took.
    """

    graph: int
    compilation: Compilation


class BreakCount:
    """How often a break was run."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        self.times = 0


@dataclass(slots=True, eq=False, weakref_slot=True)
class History:
    """Everything that happened to one compiled function.

    Args:
        name: name of the function.
        defined: where the function is defined, None if it has no source.
        captured: graphs in the order in which they were made, the last `KEPT` of them.
        counts: the counters of breaks, which running code holds too.
        refusals: how often each place refused the capture of the whole function.
        evicted: entries dropped because of the limit.
        forgotten: graphs that are no longer in `captured`.
        compiled: compilations by XLA in the order in which they were made, the last `KEPT` of them.
        compilations: how many there were.
    """

    name: str
    defined: Location | None = None
    captured: list[Captured] = field(default_factory=list)
    counts: dict[BreakSite, BreakCount] = field(default_factory=dict)
    refusals: dict[BreakSite, int] = field(default_factory=dict)
    evicted: int = 0
    forgotten: int = 0
    compiled: list[Compiled] = field(default_factory=list)
    compilations: int = 0

    def __post_init__(self) -> None:
        histories.add(self)

    @property
    def recompiles(self) -> list[Captured]:
        """The graphs that were made because an earlier entry for the same place did not fit."""
        return [event for event in self.captured if event.is_recompile]

    def add(self, event: Captured) -> None:
        """A graph was made."""
        self.captured.append(event)
        event.number = self.forgotten + len(self.captured)
        if len(self.captured) > KEPT:  # a function that is compiled for ever must not fill the memory
            del self.captured[0]
            self.forgotten += 1
        _notify(self, event)

    def was_compiled(self, number: int, compilation: Compilation) -> None:
        """XLA compiled something of the graph with a number."""
        event = Compiled(number, compilation)
        self.compiled.append(event)
        self.compilations += 1
        if len(self.compiled) > KEPT:
            del self.compiled[0]
        _notify(self, event)

    @property
    def breaks(self) -> dict[BreakSite, int]:
        """How often each break was run."""
        return {site: count.times for site, count in tuple(self.counts.items()) if count.times}

    def count_of(self, site: BreakSite) -> BreakCount:
        """The counter of a break; after the first run, whoever runs the break may count it up directly."""
        return self.counts.setdefault(site, BreakCount())

    def ran_break(self, site: BreakSite) -> None:
        """A break was run."""
        count = self.count_of(site)
        count.times += 1
        if count.times == 1:
            _notify(self, site)

    def refused(self, refusal: Unsupported) -> None:
        """A capture of the whole function was refused."""
        if refusal.location is not None:
            site = BreakSite.of(refusal, refusal.location)
            self.refusals[site] = self.refusals.get(site, 0) + 1


#: the reason of a capture that no earlier entry preceded
FIRST: Final = "first call"
#: the reason of a graph that the compile cache had
EARLIER: Final = "captured by an earlier process"
#: graphs that a history keeps
KEPT: Final = 256

#: something that happened to a compiled function
Event = Captured | BreakSite | Compiled
#: called with (history, event) for each capture, each compilation and, once for each site, each break
listeners: list[Callable[[History, Event], None]] = []
#: the histories of all compiled functions that are alive
histories: weakref.WeakSet[History] = weakref.WeakSet()


def _notify(history: History, event: Event) -> None:
    for listener in tuple(listeners):
        listener(history, event)


def _no_report(fn: Any) -> Any:
    raise WeftError(f"{fn!r} has no report yet: import weft first")


#: makes the report of a compiled callable; `weft.explain` puts its own here
report_of: Callable[[Any], Any] = _no_report
