"""Branches and loops as capture emits them, and as a graph that is replayed has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.compile.branch import apply_if
from weft.compile.regions import operands_of
from weft.compile.replay import HANDLERS
from weft.compile.while_loop import apply_while
from weft.core import choice
from weft.core.control import IF, WHILE
from weft.core.tape import SYMBOL
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value


def emit_if(
    trace: Trace, condition: Tensor, regions: tuple[Graph, Graph], slots: Sequence[Tensor], location: Any
) -> None:
    """Append an `If` to the current graph and let `slots` stand for its results."""
    operands = [trace.tensor_of(value) for value in operands_of(trace, regions)]
    _at(trace, location, slots, lambda: apply_if(trace, condition, operands, regions))


def emit_while(trace: Trace, carry: Sequence[Value], body: Graph, slots: Sequence[Tensor], location: Any) -> None:
    """Append a `While` to the current graph and let `slots` stand for its final carry.

    Args:
        trace: the trace; `body`'s first parameters are the carry, its lifted values follow.
        carry: initial values; the first is the condition.
        body: the body, its outputs the new carry.
        slots: one handle for each carried value.
        location: user location.
    """
    invariants = [trace.tensor_of(value) for value in operands_of(trace, (body,), len(carry))]
    initial = [trace.tensor_of(value) for value in carry]
    _at(trace, location, slots, lambda: apply_while(trace, initial, invariants, body))


def _either(trace: Trace, condition: Tensor, ones: list[Tensor], others: list[Tensor]) -> list[Tensor]:
    """Tensors that are the ones where a condition holds, else the others; see `weft.core.choice`."""
    regions = []
    for name, given in (("then", ones), ("else", others)):
        with trace.region(name) as region:
            region.outputs = [trace.use(tensor) for tensor in given]
            regions.append(region)
    slots = [wrap(None) for _ in ones]
    emit_if(trace, condition, (regions[0], regions[1]), slots, None if trace.location is None else trace.location())
    return slots


choice.either = _either


def _at(trace: Trace, location: Any, slots: Sequence[Tensor], emit: Callable[[], Sequence[Tensor]]) -> None:
    before, trace.location = trace.location, (lambda: location)
    try:
        results = emit()
    finally:
        trace.location = before
    for slot, result in zip(slots, results, strict=True):
        slot._data = data_of(result)
        slot._node = result._node
        if result._node is not None and result._node is not SYMBOL:
            slot._index = result._index
        slot._type = None


HANDLERS[IF] = lambda trace, node, operands: apply_if(trace, operands[0], operands[1:], node.regions)
HANDLERS[WHILE] = lambda trace, node, operands: apply_while(
    trace, operands[: node.attrs[0]], operands[node.attrs[0] :], node.regions[0]
)
