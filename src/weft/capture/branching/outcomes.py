"""How a piece of code that the running graph decides about can end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.capture.state.frame import Exit
from weft.core.number import GraphNumber
from weft.errors import Location
from weft.ir.graph import Graph

Label = tuple[Any, ...]


class Outcome:
    """One way a piece of code can end, and the state it leaves.

    Args:
        label: ("stop", pc), ("return", number), ("iterate",) or ("raise", identity); equal ones merge.
        slots: fast locals of the frame.
        stack: value stack of the frame.
        payload: the returned value or the exception.
        heap: id -> (object, contents) of what was written.
    """

    __slots__ = ("label", "slots", "stack", "payload", "heap", "handling")

    def __init__(
        self, label: Label, slots: Any, stack: Any, payload: Any, heap: dict[int, tuple[Any, Any]], handling: Any
    ) -> None:
        self.label = label
        self.slots = slots
        self.stack = stack
        self.payload = payload
        self.heap = heap
        #: the exception being handled at this point
        self.handling = handling


class Alternatives(Exit):
    """Several outcomes of which the running graph picks one.

    Args:
        selector: the position of the outcome that holds.
        outcomes: the outcomes, all of different labels.
        location: gives the place of the branch that parts them, if one did.
        apart: why two that return did not become one, "" if there are none.
    """

    __slots__ = ("selector", "outcomes", "location", "apart")

    def __init__(
        self, selector: GraphNumber, outcomes: list[Outcome], location: Callable[[], Location] | None = None,
        apart: str = "",
    ) -> None:  # fmt: skip
        self.selector = selector
        self.outcomes = outcomes
        self.location = location
        self.apart = apart


class Side:
    """What running one side of a branch gave."""

    __slots__ = ("region", "selector", "outcomes", "constants", "made")

    def __init__(self, region: Graph, selector: GraphNumber | None, outcomes: list[Outcome]) -> None:
        self.region = region
        #: ids of the constants made on it
        self.constants: set[int] = set()
        #: ids of the objects made on it
        self.made: set[int] = set()
        self.selector = selector
        self.outcomes = outcomes


class Iterated(Exit):
    """The body of a loop came back to the loop's test.

    Args:
        go_on: whether the loop goes on, symbolic.
    """

    __slots__ = ("go_on",)

    def __init__(self, go_on: Any) -> None:
        self.go_on = go_on
