"""Hooks of the tensors at which gradients start.

A hook of a tensor on which no gradient runs belongs to the tensor: it runs in each gradient that starts there, if it is
registered when a backward pass of that gradient comes to its end at the tensor. So a pass asks for the hooks when it is
there, and nobody keeps what they were before.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from weft.core import trace as trace_module
from weft.core.choice import Choice
from weft.core.tape import SYMBOL
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.core.transparency import keeps
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value

#: a registered hook, with its number among all: hooks of one tensor run in this order
Entry = tuple[int, Any]

#: hooks of tensors on which no gradient runs yet, by id of the handle
HANDLE_HOOKS: dict[int, list[Entry]] = {}


def hooks_kept_for(tensor: Tensor) -> list[Entry]:
    """The list of the hooks of a tensor on which no gradient runs, to add to."""
    key = id(tensor)
    found = HANDLE_HOOKS.get(key)
    if found is None:
        found = HANDLE_HOOKS[key] = []
        weakref.finalize(tensor, HANDLE_HOOKS.pop, key, None)
    return found


class Start:
    """A tensor at which a gradient starts, while a graph is made; elsewhere it is the tensor itself.

    Args:
        tensor: the tensor as the caller has it.
    """

    __slots__ = ("tensor", "data")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        data = data_of(tensor) if tensor._node is None or tensor._node is SYMBOL else None
        #: what the graph under construction computes for it; None where it is no graph's, or a gradient in progress
        #: follows it, in which its hooks run
        self.data: Any = data if data.__class__ is Value else None

    @keeps
    def hooks(self) -> Sequence[Entry]:
        """The hooks that run in the gradient, as they are now."""
        trace = trace_module.current()
        if trace is not None:
            trace.read_hooks(self.tensor)
            if type(self.tensor) is Choice:
                _refuse_hooks_of_one(self.tensor)
        own = HANDLE_HOOKS.get(id(self.tensor), ())
        traced = () if self.data is None else _hooks_of_traced(self.tensor, self.data)
        return [*own, *traced] if own and traced else own or traced


def hooks_from(start: Start | Tensor) -> Sequence[Entry]:
    """The hooks of what a gradient starts at, as they are now."""
    return (start if start.__class__ is Start else Start(start)).hooks()  # type: ignore[arg-type]


def is_hooked(tensor: Any) -> bool:
    """Whether gradients that start at a tensor run hooks."""
    return bool(HANDLE_HOOKS.get(id(tensor)))


def may_have_hooks() -> bool:
    """Whether there is any hook of a start, as far as that is known without asking the starts."""
    return bool(HANDLE_HOOKS) or trace_module.current() is not None


def has_hooks(starts: Iterable[Start | Tensor]) -> bool:
    """Whether any of some starts outside of all traces has hooks now."""
    tensors = [start.tensor if isinstance(start, Start) else start for start in starts]
    return any(HANDLE_HOOKS.get(id(tensor)) for tensor in tensors)


def _refuse_hooks_of_one(tensor: Any) -> None:
    """Refuse to start at a tensor that is one of several, if one of those has hooks."""
    if any(Start(case.handle).hooks() for case in tensor.cases):
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "a gradient starts at a tensor that is one of several, and which of them is known to the running graph "
            "only: it is the one whose hooks run",
            "start the gradient on each path, or register the hook inside the function that is differentiated",
        )


def _hooks_of_traced(tensor: Tensor, data: Value) -> Sequence[Entry]:
    """The hooks that a trace registered on a tensor of its own."""
    traces: list[Trace] = [trace for trace in trace_module.active_here() if trace.hooked]
    if not traces:
        return ()
    made = data.node
    trace = next((trace for trace in traces if id(tensor) in trace.hooked), None)
    if trace is None:
        examples = [graph for trace in traces for graph in trace.examples]
        if data.graph.parent is None or data.graph in examples if made is None else not made.regions:
            return ()  # no branch or loop left it, so it is no tensor from before one
    else:
        _, handle = trace.hooked[id(tensor)]
        followed = trace.is_followed(wrap(data))
        if followed:
            return ()  # they run in that gradient
        known = followed is False or (trace.watched and not trace.followed)
        if known and handle.value is data:  # it was not written since
            trace.unrepeatable = True  # eagerly, where a gradient follows the call, the hooks run in that one
            hooks: Sequence[Entry] = handle.hooks
            return hooks
    raise Unsupported(
        Refusal.IMPURE_CALL,
        "a gradient starts at a tensor on which the call registered hooks, and whether they run depends on the run",
        "register the hook inside the function that is differentiated",
    )
