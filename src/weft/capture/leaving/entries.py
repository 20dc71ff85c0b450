"""The captured versions of one piece of code, and what all pieces of one compiled function share."""

from __future__ import annotations

import logging
import threading
import time
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

from weft import context
from weft.capture.leaving.entry import MISS, Entry
from weft.capture.leaving.misses import PATIENCE, Restlessness, changing_numbers, compared, distance, logger, note_sizes
from weft.capture.state.events import FIRST, BreakSite, History
from weft.capture.state.guards import describe
from weft.compile.sized import SizedSegment
from weft.core.frames import passed_over
from weft.core.garbage import freed_after
from weft.core.threads import others_run
from weft.core.workers import standing_still
from weft.errors import WeftError

#: one capture at a time: it reads and writes the program's own objects
capture_lock: Final = threading.RLock()
#: held while a list of entries is replaced; reentrant, since a collection meanwhile may run the user's `__del__`
_order_lock: Final = threading.RLock()


class Recency:
    """The entries for one place in the code in the order of their last use, for all forms of calls that come to it.

    Their number is limited by the setting `jit_cache_limit`.
    """

    __slots__ = ("_order",)

    def __init__(self) -> None:
        #: least recently used first
        self._order: dict[int, tuple[Entries, Entry]] = {}

    def used(self, entries: Entries, entry: Entry) -> None:
        """Note that an entry was made, or was used while it was not the latest."""
        self._order.pop(id(entry), None)
        self._order[id(entry)] = (entries, entry)

    def evict(self) -> int:
        """Drop the least recently used entries above the limit; returns how many."""
        dropped = max(0, len(self._order) - context.get_context("jit_cache_limit"))
        for _ in range(dropped):
            entries, entry = self._order.pop(next(iter(self._order)))
            entries.entries = [other for other in entries.entries if other is not entry]
        return dropped


@passed_over
class Entries:
    """The entries of one piece of code for one form of calls, most recently used first.

    Args:
        owner: the compiled callable.
        recency: the order in which entries for the place were used.
        capture: makes a new entry for some values; its second argument says why it is needed.
        first: why there is a first one.
    """

    __slots__ = ("owner", "recency", "capture", "first", "entries", "unsettled", "restlessness", "failed")

    def __init__(
        self, owner: Owner, recency: Recency, capture: Callable[[tuple[Any, ...], str], Entry], first: str = FIRST
    ) -> None:  # fmt: skip
        self.owner = owner
        self.recency = recency
        self.capture = capture
        self.first = first
        self.restlessness = Restlessness()
        #: replaced, never changed: other threads may be reading it
        self.entries: list[Entry] = []
        #: whether a call was seen whose values change whenever they are read
        self.unsettled = False
        #: entries that were not right for the call which is being captured again
        self.failed: list[Entry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def call(self, values: tuple[Any, ...], tried: int = 0) -> Any:
        """Run the entry that fits, capturing one if there is none; the first `tried` are known not to fit."""
        entries = self.entries
        for position in range(tried, len(entries)):
            result = entries[position].run(*values)
            if result is not MISS:
                if position:
                    self._use(entries[position])
                if entries[position].unproven:
                    self.restlessness.used_again(entries[position])
                return result
        return self._capture_and_call(values, entries)

    def _use(self, entry: Entry) -> None:
        """Put an entry first: a new one, or one that was just used."""
        with _order_lock:
            self.entries = [entry, *(other for other in self.entries if other is not entry)]
            self.recency.used(self, entry)

    def _capture_and_call(self, values: tuple[Any, ...], tried: Collection[Entry]) -> Any:
        # nothing of the program runs in the block: it may wait for locks of its own
        with freed_after(), capture_lock, standing_still():
            others = [entry for entry in self.entries if entry not in tried]
            if not others:
                why, needed_by = self._compare(values)
                entry = self.capture(values, why)
                entry.unproven = needed_by
                if isinstance(entry.segment, SizedSegment):
                    entry.segment.note_captured(other.segment for other in self.entries)
                self._use(entry)
                self._evict(why)
        if others:  # another thread has captured meanwhile
            return self.call(values)
        followed = self.owner.followed
        began = time.perf_counter()
        try:
            result = entry.run(*values)
        except BaseException:
            self._trust_again(entry)
            raise
        if self.failed and not self.owner.exact:  # the exception was caught
            self._trust_again(entry)
        if result is MISS and others_run():
            result = self._capture_once(values).run(*values)
        if entry.event is not None:
            entry.event.first_run = time.perf_counter() - began
        if result is MISS and (entry.has_failed() or self.owner.followed is not followed):
            return self._capture_and_call(values, self.entries)
        if result is MISS and not self.unsettled:
            entry, result = self._capture_again(values, entry)
        if result is MISS:
            self.unsettled = True
            warnings.warn(
                f"the new graph {entry.segment.graph.name!r} does not accept the arguments it was captured with; "
                f"an argument or global changes while it is read, so the call has a graph of its own "
                f"({describe(entry.differences(values))})",
                RuntimeWarning,
                stacklevel=2,
            )
            result = self._capture_once(values).run(*values)
        if result is MISS:
            raise WeftError(f"the arguments of {self.owner.name!r} change while they are read")
        return result

    def _capture_again(self, values: tuple[Any, ...], refused: Entry) -> tuple[Entry, Any]:
        """Capture a call again whose entry does not accept it: what was made when it was first read, as caches are, is
        there now. Returns the entry and what it gives.
        """
        with freed_after(), capture_lock, standing_still():
            self.entries = [entry for entry in self.entries if entry is not refused]
            entry = self.capture(values, "what the call reads was made when it was read")
            self._use(entry)
        return entry, entry.run(*values)

    def _capture_once(self, values: tuple[Any, ...]) -> Entry:
        """An entry for one call, in which other threads change what it reads before the guards look at it."""
        with freed_after(), capture_lock, standing_still():
            before, self.owner.once = self.owner.once, True
            try:
                return self.capture(values, "another thread changes what the call reads")
            finally:
                self.owner.once = before

    def _trust_again(self, exact: Entry) -> None:
        """Go back to entries that were not right for a call in which Python then raised: it may be one of few.

        Args:
            exact: the entry that was made for the call instead.
        """
        failed, self.failed = self.failed, []
        if not failed or self.owner.exceptions >= PATIENCE[False]:
            return
        with capture_lock:
            self.owner.exceptions += not self.owner.is_strict()
            self.owner.exact = self.owner.leaves_checks = False
            for entry in failed:
                entry.forgive()
            # those that others take precedence of look less, and so accept more: they are asked after the others
            self.entries = [*(entry for entry in self.entries if entry is not exact), *failed]

    def _compare(self, values: tuple[Any, ...]) -> tuple[str, set[str]]:
        """Why a call needs a new entry, and the values that do; numbers that changed are noted as such."""
        self.failed = [entry for entry in self.entries if entry.has_failed()]
        if self.failed:
            self.entries = [entry for entry in self.entries if entry not in self.failed]
            if any(entry.failed.assumption for entry in self.failed if entry.failed is not None):
                self.owner.exact = True
                return "a number was out of the range in which the graph computes as Python does", set()
            self.owner.leaves_checks = True
            return "an index was out of bounds", set()
        if not self.entries:
            return self.first, set()
        found = compared(self.entries, values)
        closest = min(found, key=distance)
        # the closest entry may be one for a rare case, and then differs in other numbers than the calls before this one
        self.owner.varying |= changing_numbers(closest) | changing_numbers(found[0])
        note_sizes(self.owner.sizes, closest)
        needed_by = self.restlessness.missed(closest)
        self.owner.restless |= self.restlessness.beyond(PATIENCE[bool(self.owner.restless)])
        return describe(closest) or "the closest entry was captured at the same time", needed_by

    def _evict(self, why: str) -> None:
        """Drop the least recently used entries above the limit; the log says so, the first time as a warning."""
        with _order_lock:
            dropped = self.recency.evict()
        if dropped:
            history = self.owner.history
            logger.log(
                logging.INFO if history.evicted else logging.WARNING,
                "%s: more than %d compiled versions (jit_cache_limit), so the least recently used was dropped; "
                "the newest was needed because %s; numbers that go on to differ can be passed as Tensors",
                self.owner.name, context.get_context("jit_cache_limit"), why,
            )  # fmt: skip
            history.evicted += dropped


class Owner:
    """What the entries of one compiled callable share.

    Args:
        name: name of the callable, and of its graphs.
        guarded: whether outside values are guarded (else they are constants of each capture).
        fullgraph: whether a break is an error.
    """

    def __init__(self, name: str, guarded: bool, fullgraph: bool = False) -> None:
        self.name = name
        self.guarded = guarded
        self.fullgraph = fullgraph
        #: whether the capture in progress is for one call only
        self.once = False
        #: the order in which entries for whole calls were used
        self.recency = Recency()
        #: whether a gradient followed a call that had rules of its own, see `Trace.followed`
        self.followed = False
        #: paths of numbers that changed between calls: they are no constants of later captures
        self.varying: set[str] = set()
        #: paths of sizes that changed between calls: they are left open in later captures, as one size those that have
        #: the same number
        self.sizes: dict[str, int] = {}
        #: paths of values that are others in each call, see `Restlessness`; what needs one as a constant runs in Python
        self.restless: set[str] = set()
        #: whether later captures assume nothing of numbers that only their graphs know
        self.exact = False
        #: whether what later captures would check is left to Python
        self.leaves_checks = False
        #: how many calls raised, or caught what was raised, for which a graph was not right
        self.exceptions = 0
        self.history = History(name)
        #: places in the code -> the `Continuation` of calls that go on there
        self.continuations: dict[Any, Any] = {}
        #: how many captures of continuations were made, none computing anything with tensors; None once one did
        self.idle: int | None = 0
        #: code of which the rest is never left to Python again, since it computed with tensors there
        self.computing: set[types.CodeType] = set()

    def note_followed(self) -> None:
        """A gradient follows a call whose graph has rules that only hold for the call."""
        self.followed = True

    def capture_continuation(
        self, continuation: Any, values: tuple[Any, ...], why: str
    ) -> Entry:  # fmt: skip
        """Make an entry for a continuation; set by `weft.capture.capture`."""
        raise NotImplementedError

    def is_strict(self) -> bool:
        """Whether what cannot be in the graph is an error; set by `weft.capture.capture`."""
        raise NotImplementedError

    def captured_callbacks(self) -> AbstractContextManager[None]:
        """Have library code call the user's functions as captured pieces; set by `weft.capture.capture`."""
        raise NotImplementedError

    def rest_of(
        self, continuation: Any, site: BreakSite | None
    ) -> Callable[[tuple[Any, ...]], Any] | None:  # fmt: skip
        """What runs the rest of a continuation's innermost frame in Python; set by `weft.capture.capture`."""
        raise NotImplementedError
