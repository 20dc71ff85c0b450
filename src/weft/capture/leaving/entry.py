"""One captured version of a piece of code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from weft.capture.state.events import Captured
from weft.capture.state.guards import Difference, Guard, differences
from weft.compile.segment import Segment
from weft.compile.sized import SizedSegment

#: what an entry returns when its guards do not hold
MISS: Final = object()


class Failed:
    """Notes that the graph of an entry was not right for a call, which then misses the entry."""

    __slots__ = ("assumption", "check")

    def __init__(self) -> None:
        #: whether what it assumed of its numbers did not hold
        self.assumption = False
        #: whether something that it checks was wrong
        self.check = False

    def __bool__(self) -> bool:
        return self.assumption or self.check

    def assumed(self) -> Any:
        """Leave a call for which an assumption does not hold."""
        self.assumption = True
        return MISS

    def checked(self) -> Any:
        """Leave a call in which Python raises an exception."""
        self.check = True
        return MISS


class Code(NamedTuple):
    """The code of an entry as text.

    Args:
        source: defines `entry`, which checks the guards and calls the executable, and `rebuild`.
        parameters: names of the parameters of `entry`.
        needs: names that it uses besides those of objects from outside.
        assumes: whether the graph assumes or checks something.
    """

    source: str
    parameters: list[str]
    needs: frozenset[str]
    assumes: bool


class Entry:
    """One captured piece of a call: guards, graph, executable and the code that ties them together.

    Args:
        run: ``run(*values) -> result``; returns `MISS` if a guard does not hold.
        segment: the graph with its executables and derivatives.
        guards: what must hold for the entry to run.
        code: the code of `run`.
        scope: the names that conditions of guards use.
        computes: whether something is computed with tensors.
        failed: notes a call for which the graph was not right; None if it is for all.
    """

    __slots__ = ("run", "segment", "guards", "code", "scope", "computes", "failed", "event", "unproven")

    def __init__(
        self,
        run: Callable[..., Any],
        segment: Segment | SizedSegment,
        guards: list[Guard],
        code: Code,
        scope: dict[str, Any],
        computes: bool = True,
        failed: Failed | None = None,
    ) -> None:
        self.failed = failed
        self.run = run
        self.segment = segment
        self.guards = guards
        self.code = code
        self.scope = scope
        self.computes = computes
        #: paths of the values that needed it, until it is used a second time
        self.unproven: set[str] = set()
        #: its record in the history of the callable, if it has one
        self.event: Captured | None = None

    @property
    def source(self) -> str:
        """The text of its code."""
        return self.code.source

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters."""
        return self.code.parameters

    def has_failed(self) -> bool:
        """Whether the graph was not right for some call that the guards accept."""
        return bool(self.failed)

    def forgive(self) -> None:
        """Let it run again although it was not right for some call."""
        if self.failed is not None:
            self.failed.assumption = self.failed.check = False

    def differences(self, values: Sequence[Any]) -> list[Difference]:
        """The guards that do not hold for a call, given the values of the parameters."""
        return differences(self.guards, self.scope, dict(zip(self.parameters, values, strict=True)))
