"""Conditions of gradients that are known before a graph runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.autodiff.perhaps import GATE, JOIN
from weft.core.control import IF
from weft.core.number import TO_NUMBER
from weft.core.primitive import Primitive
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.math import add
from weft.ops.shape import FULL
from weft.passes.rewrite import replace, rewrite

_ADD: Final[Any] = add.primitive
_AND: Final = Primitive.table["LogicalAnd"]
_OR: Final = Primitive.table["LogicalOr"]


def truth_of(value: Value, known: Mapping[Value, bool]) -> bool | None:
    """Whether a condition holds; None if only the run knows.

    Args:
        value: the condition.
        known: conditions that are known.
    """
    found = known.get(value)
    if found is None and value.node is not None:
        if value.node.op is CONSTANT:
            return bool(value.node.attrs[0].array)
        if value.node.op is FULL:
            return bool(value.node.attrs[1])
    return found


def filled(graph: Graph, kind: Any, value: Any) -> Value:
    """A constant in a graph.

    Args:
        graph: the graph.
        kind: its type; it may be that of a Python number.
        value: what each element is.
    """
    plain = TensorType.of(kind.dtype, kind.shape)
    made = graph.add_node(FULL, (), (kind.shape, value, kind.dtype), (plain,)).outputs[0]
    if kind is not plain:
        made = graph.add_node(TO_NUMBER, (made,), (kind.weak,), (kind,)).outputs[0]
    return made


def decided(graph: Graph, constants: dict[Value, Value]) -> dict[Value, bool]:
    """Let a graph compute with conditions that are known, in place.

    Args:
        graph: the graph, which belongs to the caller with its regions.
        constants: the constants that parameters are.

    Returns:
        dict: the conditions that are known then, besides constants, and whether they hold.
    """
    known: dict[Value, bool] = {}
    replace(graph, constants)
    _decide(graph, known)
    return known


def _decide(graph: Graph, known: dict[Value, bool]) -> None:

    def visit(node: Node) -> Sequence[Value] | None:
        if node.op in (_AND, _OR):
            return _logical(node, known)
        if node.op is GATE:
            truth = truth_of(_operand(node, 0), known)
            return None if truth is None else (_operand(node, 1) if truth else filled(graph, node.outputs[0].type, 0),)
        if node.op is JOIN:
            return _joined(graph, node, known)
        if node.op is IF:
            _inside(node, known)
        return None

    rewrite(graph, visit)


def _operand(node: Node, place: int) -> Value:
    value = node.inputs[place]
    assert value is not None
    return value


def _logical(node: Node, known: dict[Value, bool]) -> Sequence[Value] | None:
    values = [_operand(node, 0), _operand(node, 1)]
    truths = [truth_of(value, known) for value in values]
    deciding = node.op is _OR
    if deciding in truths:  # True decides an "or", False an "and"
        known[node.outputs[0]] = deciding
        return (values[truths.index(deciding)],)
    open_ = [value for value, truth in zip(values, truths, strict=True) if truth is None]
    if len(open_) == 2:
        return None
    if not open_:
        known[node.outputs[0]] = not deciding
        return (values[0],)
    return (open_[0],)


def _joined(graph: Graph, node: Node, known: dict[Value, bool]) -> Sequence[Value] | None:
    first, second = truth_of(_operand(node, 0), known), truth_of(_operand(node, 2), known)
    value, other = _operand(node, 1), _operand(node, 3)
    if second is False:
        return (value,)
    if first is False:
        return (other,)
    if first and second:
        return graph.add_node(_ADD, (value, other), (), (node.outputs[0].type,), (), node.location).outputs
    return None


def _inside(node: Node, known: dict[Value, bool]) -> None:
    """Let the sides of a branch know what is known, and see what they give."""
    given = [None if value is None else truth_of(value, known) for value in node.inputs[1:]]
    truths = []
    for region in node.regions:
        inner = {param: truth for param, truth in zip(region.params, given, strict=True) if truth is not None}
        _decide(region, inner)
        truths.append([truth_of(value, inner) for value in region.outputs])
    for output, first, second in zip(node.outputs, *truths, strict=True):
        if first is not None and first is second and output.type.dtype.name == "bool":
            known[output] = first
