"""One captured version of a piece of code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.capture.state.events import Captured
from weft.capture.state.guards import Difference, Guard, differences
from weft.compile.segment import Segment

#: what an entry returns when its guards do not hold
MISS: Final = object()


class Failed:
    """Notes that what the graph of an entry assumed of its numbers did not hold in a call, which then misses it."""

    __slots__ = ("happened",)

    def __init__(self) -> None:
        self.happened = False

    def __call__(self) -> Any:
        self.happened = True
        return MISS


class Entry:
    """One captured piece of a call: guards, graph, executable and the code that ties them together.

    Args:
        run: ``run(*values) -> result``; returns `MISS` if a guard does not hold.
        segment: the graph with its executables and derivatives.
        guards: what must hold for the entry to run.
        source: the code of `run`.
        parameters: names of the parameters of `run`.
        scope: the names that conditions of guards use.
        computes: whether something is computed with tensors.
        failed: notes a call in which the assumptions of the graph did not hold; None if it assumes nothing.
    """

    __slots__ = ("run", "segment", "guards", "source", "parameters", "scope", "computes", "failed", "event", "unproven")

    def __init__(
        self,
        run: Callable[..., Any],
        segment: Segment,
        guards: list[Guard],
        source: str,
        parameters: list[str],
        scope: dict[str, Any],
        computes: bool = True,
        failed: Failed | None = None,
    ) -> None:
        self.failed = failed
        self.run = run
        self.segment = segment
        self.guards = guards
        self.source = source
        self.parameters = parameters
        self.scope = scope
        self.computes = computes
        #: paths of the values that needed it, until it is used a second time
        self.unproven: set[str] = set()
        #: its record in the history of the callable, if it has one
        self.event: Captured | None = None

    def has_failed(self) -> bool:
        """Whether the graph assumed of its numbers what did not hold in some call."""
        return self.failed is not None and self.failed.happened

    def differences(self, values: Sequence[Any]) -> list[Difference]:
        """The guards that do not hold for a call, given the values of the parameters."""
        return differences(self.guards, self.scope, dict(zip(self.parameters, values, strict=True)))
