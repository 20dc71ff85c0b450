"""One test method, run plainly and under capture: what each run did, and whether capture agreed."""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.outcomes import text_of
from weft.capture.capture import Program
from weft.capture.state import events
from weft.errors import Unsupported
from weft.jit import jit

#: how a test method was captured
WHOLE, BROKEN, REFUSED = "whole", "broken", "refused"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a test reported.

    Args:
        kind: "success", "failure", "error", "skip", "expected failure", "unexpected success".
        error: name of the exception's type, "" if there was none.
        message: text of the exception, or the reason of a skip.
    """

    kind: str
    error: str = ""
    message: str = ""

    @property
    def outcome(self) -> tuple[str, str]:
        """What has to be the same in both runs."""
        return self.kind, self.error


class Recorder(unittest.TestResult):
    """Collects what one test reports; sub-tests report for themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def _note(self, kind: str, info: Any = None) -> None:
        if info is None:
            self.events.append(Event(kind))
        else:
            self.events.append(Event(kind, info[0].__qualname__, text_of(info[1])))

    def addSuccess(self, test: Any) -> None:
        self._note("success")

    def addFailure(self, test: Any, err: Any) -> None:
        self._note("failure", err)

    def addError(self, test: Any, err: Any) -> None:
        self._note("error", err)

    def addSkip(self, test: Any, reason: str) -> None:
        self.events.append(Event("skip", "", str(reason)))

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._note("expected failure")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note("unexpected success")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note("failure" if issubclass(err[0], test.failureException) else "error", err)

    def addDuration(self, test: Any, elapsed: float) -> None:
        """Times are not compared."""


@dataclass(slots=True)
class Observation:
    """What happened while one test ran under capture.

    Args:
        refusals: refusals that left captures.
        breaks: places that ran in Python between two graphs.
        captures: how many captures were made.
    """

    refusals: list[Unsupported] = field(default_factory=list)
    breaks: list[events.BreakSite] = field(default_factory=list)
    captures: int = 0


@contextlib.contextmanager
def observed() -> Iterator[Observation]:
    """Record what captures meet within the block."""
    seen = Observation()
    original = Program._capture

    @functools.wraps(original)
    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen.captures += 1
        try:
            return original(self, *args, **kwargs)
        except Unsupported as refusal:
            seen.refusals.append(refusal)
            raise

    def listen(history: Any, event: Any) -> None:
        if isinstance(event, events.BreakSite):
            seen.breaks.append(event)

    Program._capture = recording  # type: ignore[method-assign]
    events.listeners.append(listen)
    try:
        yield seen
    finally:
        Program._capture = original  # type: ignore[method-assign]
        events.listeners.remove(listen)


@dataclass(slots=True)
class Verdict:
    """Both runs of one test method.

    Args:
        test: ``Class.method``.
        plain: what the run in Python reported.
        captured: what the run under capture reported.
        how: `WHOLE`, `BROKEN` or `REFUSED`.
        reason: the first refusal or break: its kind and why.
        differs: what is not the same, "" if nothing.
        flaky: whether two runs in Python report different things, so that nothing can be compared.
    """

    test: str
    plain: list[Event]
    captured: list[Event]
    how: str
    reason: str = ""
    differs: str = ""
    flaky: bool = False


def run_case(kind: type[unittest.TestCase], name: str, wrap: Callable[[Any], Any] | None = None) -> list[Event]:
    """Run one test method with its fixtures; `wrap` replaces the method of the instance."""
    case = kind(name)
    if wrap is not None:
        setattr(case, name, wrap(case))
    recorder = Recorder()
    case.run(recorder)
    return recorder.events


def compare(
    kind: type[unittest.TestCase], name: str, change: Callable[[Any], Any] | None = None, **policy: Any
) -> Verdict:
    """Run a test method in Python and under capture.

    Args:
        kind: the test case's class.
        name: the method's name.
        change: what to do to the method's function before it is compiled.
        policy: arguments of `jit`.

    Returns:
        Verdict: what happened.
    """
    test = f"{kind.__qualname__}.{name}"
    plain = run_case(kind, name)
    again = run_case(kind, name)
    if [e.outcome for e in plain] != [e.outcome for e in again]:
        return Verdict(test, plain, again, WHOLE, flaky=True)

    def compiled(case: Any) -> Any:
        function = getattr(kind, name)
        if change is not None:
            function = change(function)
        return jit(function, **policy).__get__(case, kind)

    with observed() as seen:
        captured = run_case(kind, name, compiled)
    how, reason = WHOLE, ""
    if seen.refusals:
        refusal = seen.refusals[0]
        how, reason = REFUSED, f"{refusal.kind.value}: {refusal.why}"
    elif seen.breaks:
        site = seen.breaks[0]
        how, reason = BROKEN, f"{site.kind}: {site.why}"
    verdict = Verdict(test, plain, captured, how, reason)
    if how != REFUSED:
        verdict.differs = difference(plain, captured)
    return verdict


def difference(plain: list[Event], captured: list[Event]) -> str:
    """What the run under capture did that the run in Python did not, "" if nothing."""
    wanted, found = [e.outcome for e in plain], [e.outcome for e in captured]
    return "" if wanted == found else f"{captured} instead of {plain}"
