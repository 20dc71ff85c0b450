"""The values that a loop carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.capture.branching.leaves import (
    ABSENT,
    MergedTensor,
    Moved,
    is_handle,
    leaf_type,
    now_in,
    settled_contents,
    standing_for,
    tensor_of,
    value_in,
)
from weft.capture.branching.outcomes import Outcome
from weft.capture.branching.sharing import Comers, Origin
from weft.capture.state.frame import Frame
from weft.compile.control import emit_while
from weft.core.choice import Case, Choice, register
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ir.types import ValueType


class Carried:
    """The values a loop carries: initial value, region parameter and new value of each.

    Args:
        trace: the trace.
        region: the body.
        created: the objects made during the capture.
        inner: whether a tensor was made in the body.
    """

    def __init__(
        self, trace: Trace, region: Graph, created: dict[int, Any], inner: Callable[[Tensor], bool]
    ) -> None:  # fmt: skip
        self.trace = trace
        self.region = region
        self.created = created
        self.inner = inner
        self.entries: list[tuple[Value | None, Any, Any, ValueType, Tensor]] = []
        #: choices of tensors that exist once the node does
        self.choices: list[Choice] = []
        self._comers = Comers(trace)

    def add(self, param: Value | None, initial: Any, new: Any, slot: Tensor | None = None) -> Any:
        """Carry a value; what is returned stands for it after the loop."""
        kind = leaf_type(new if initial is ABSENT else initial)
        slot = wrap(None) if slot is None else slot
        self.entries.append((param, initial, new, kind, slot))
        return standing_for(slot, kind)

    def truth(self, case: Case) -> Tensor:
        """Whether a case of the body holds, as a value of the body."""
        before, self.trace.graph = self.trace.graph, self.region
        try:
            return case.truth()
        finally:
            self.trace.graph = before

    def outcome(self, outcome: Outcome, frame: Frame) -> Outcome:
        """An exit's outcome with everything computed in the body carried out of the loop."""
        moved = Moved(self.created, outcome.heap)
        carried: dict[int, Any] = {}

        def leaf(tensor: Tensor) -> Any:
            handle = is_handle(tensor)
            if not (self.inner(tensor) if handle else belongs(tensor, self.region)):
                return tensor
            key = id(tensor) if handle else id(data_of(tensor))
            if key not in carried:
                now = now_in(self.trace, outcome.heap, tensor)
                if not belongs(now, self.region):  # a constant
                    return tensor
                if type(tensor) is not Choice:
                    carried[key] = self.add(None, ABSENT, now)
                else:
                    made = carried[key] = Choice((), tensor.own, self.trace.graph)
                    for case in tensor.cases:
                        condition = None if case.condition is None else self.add(None, ABSENT, self.truth(case)).tensor
                        made.cases.append(Case(leaf(case.handle), condition))
                    self.add(None, ABSENT, now, made)
                    self.choices.append(made)
                alive.append(tensor)
                if handle:
                    self._comers.add(carried[key], [Origin(tensor, carried, self.inner, None)], True)
            return carried[key]

        alive: list[Tensor] = []

        def out(value: Any) -> Any:
            return moved.map(value, leaf)

        heap = {}
        for key, (obj, contents) in outcome.heap.items():
            if not isinstance(obj, Tensor):
                heap[key] = (obj, out(contents))
            elif not self.inner(obj):
                settled = settled_contents(contents)
                heap[key] = (obj, MergedTensor(out(tensor_of(settled)), settled[1]))
        return Outcome(
            outcome.label,
            None if outcome.slots is None else [out(v) for v in outcome.slots],
            None if outcome.stack is None else [out(v) for v in outcome.stack],
            out(outcome.payload) if outcome.label[0] == "return" else outcome.payload,
            heap,
            outcome.handling,
        )

    def emit(self, first: Any, go_on: Any, location: Any) -> None:
        """Append the node; the handles that `add` returned then stand for its results."""
        trace, region = self.trace, self.region
        condition_type = leaf_type(first)
        condition_param = Value(condition_type, region, None, 0)
        params = [condition_param]
        for param, _, _, kind, _ in self.entries:
            params.append(Value(kind, region, None, 0) if param is None else param)
        own = set(params)
        region.outputs = [
            value_in(trace, region, go_on, condition_type),
            *[value_in(trace, region, new, kind) for _, _, new, kind, _ in self.entries],
        ]
        lifted = [p for p in region.params if p not in own]
        region.params[:] = [*params, *lifted]
        for index, param in enumerate(region.params):
            param.index = index
        initial = [
            value_in(trace, trace.graph, first, condition_type),
            *[value_in(trace, trace.graph, value, kind) for _, value, _, kind, _ in self.entries],
        ]
        slots = [wrap(None), *[slot for *_, slot in self.entries]]
        emit_while(trace, initial, region, slots, location)
        for choice in self.choices:
            register(choice)
        self._comers.settle()


def belongs(tensor: Tensor, region: Graph) -> bool:
    """Whether a tensor handle was made by the computation of a region."""
    graph = data_of(tensor).graph if data_of(tensor).__class__ is Value else None
    while graph is not None:
        if graph is region:
            return True
        graph = graph.parent
    return False
