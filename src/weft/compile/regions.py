"""What branches and loops of a graph have in common: their regions, and the entries that they leave on a tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft.compile.dependence import ever_followed
from weft.core.dispatch import apply, note_edges
from weft.core.number import as_number
from weft.core.primitive import Primitive
from weft.core.tape import ConditionalNode
from weft.core.tensor import Tensor, data_of, tracked, wrap
from weft.core.trace import Trace
from weft.core.trace import current as current_trace
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.rewrite import copy_graph


def operands_of(trace: Trace, regions: Sequence[Graph], leading: int = 0) -> list[Value]:
    """Give regions the same lifted parameters, in the same order; returns the enclosing-graph values for them.

    Args:
        trace: the trace that built the regions; its current graph is the enclosing one.
        regions: the regions.
        leading: how many parameters of each region are not lifted and stand first.
    """
    captured: dict[Value, None] = {}
    for region in regions:
        captured.update(dict.fromkeys(trace.captures_of(region)))
    for region in regions:
        lifted = [trace.lift(value, region) for value in captured]
        region.params[:] = region.params[:leading] + lifted
        for index, parameter in enumerate(region.params):
            parameter.index = index
    return [trace.lift(value, trace.graph) for value in captured]


def owned(region: Graph, parent: Graph) -> Graph:
    """A region for a node of a graph: itself if it was made there, else a copy."""
    return region if region.parent is parent else copy_graph(region, parent)


def reached(region: Graph, followed: Sequence[bool]) -> list[bool]:
    """Which outputs of a region a gradient follows, given which of its parameters it follows."""
    found = ever_followed(region, followed)
    return [output in found for output in region.outputs]


def with_entry(trace: Trace, edges: Any, outputs: Sequence[Value], pull: Any) -> list[Tensor]:
    """The results of a node with regions, on one entry of the tape."""
    node = ConditionalNode(edges, len(outputs), pull, trace.graph)
    note_edges(node, outputs)
    return [wrap(v) if v.type is TOKEN else tracked(v, node, i) for i, v in enumerate(outputs)]


def type_of(tensor: Tensor) -> Any:
    """The type of what a tensor stands for; that of a token is no tensor's."""
    data = data_of(tensor)
    return data.type if data.__class__ is Value else tensor.type


def takes_gradient(value: Value) -> bool:
    """Whether a value may have a gradient: a Python number is a constant for each."""
    return isinstance(value.type, TensorType) and value.type.weak is None


def active() -> Trace:
    """The trace that builds a graph."""
    trace = current_trace()
    assert trace is not None
    return trace


def plain(tensor: Tensor) -> Tensor:
    """A run-time Python number as a plain tensor."""
    kind = type_of(tensor)
    if not isinstance(kind, TensorType) or kind.weak is None:
        return tensor
    return apply(_STRIP, (tensor,))


def as_kind(tensor: Tensor, kind: Any) -> Tensor:
    """A plain tensor as the run-time Python number that a type asks for."""
    if isinstance(kind, TensorType) and kind.weak is not None:
        return as_number(tensor, kind.weak)
    return tensor


class _StripPrimitive(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[Any, ...]) -> tuple[TensorType, ...]:
        (kind,) = inputs
        return (TensorType.of(kind.dtype, kind.shape),)


_STRIP: Final = _StripPrimitive("FromNumber", lambda x: x, derivative=lambda x, out, dout: (dout,))
