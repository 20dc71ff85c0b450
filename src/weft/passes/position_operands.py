"""Positions at which equal operations differ become operands: the steps of an unrolled loop then compute the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.core.primitive import Primitive
from weft.core.trace import CONSTANT, Literal
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.index import GETITEM, INDEX_ADD, INDEX_SET, SLICE_AT, UPDATE_AT, box_of
from weft.passes.base import Pass
from weft.passes.rewrite import known_number, rewrite

#: starts, and what the forms with operands take as attributes: sizes, steps, shape of the result
_Box = tuple[list[int], tuple[int, ...], tuple[int, ...], tuple[int, ...]]
_ADD: Final = Primitive.table["Add"]
_WRITES: Final = (INDEX_ADD, INDEX_SET)


@dataclass(frozen=True)
class PositionOperands(Pass):
    """Read and write at positions that are data where many nodes read or write at different ones.

    ==================================================  ==============================================================
    ``GetItem(x) {spec=((i, 1),)}``                     ``SliceAt(x, [1])``
    ``IndexSet(x, v) {spec=((i, 1),)}``                 ``UpdateAt(x, v, [1])``
    ``IndexAdd(x, v) {spec=((i, 1),)}``                 ``UpdateAt(x, Add(SliceAt(x, [1]), v), [1])``
    ``Add(a, IndexAdd(zeros, v) {...})``, used once     ``IndexAdd(a, v) {...}`` in that form: a gradient that is
                                                        gathered from many slices (equal up to the sign of zeros)
    ==================================================  ==============================================================

    Args:
        least: different positions that make it worth while.
    """

    name: ClassVar[str] = "position-operands"
    least: int = 4

    def apply(self, graph: Graph) -> Graph:
        boxes = {node: found for node in graph.nodes if (found := _box(node)) is not None}
        positions: dict[Hashable, set[tuple[int, ...]]] = defaultdict(set)
        for node, (starts, *attrs) in boxes.items():
            positions[_kind(node, attrs)].add(tuple(starts))
        moving = {node: box for node, box in boxes.items() if len(positions[_kind(node, list(box[1:]))]) >= self.least}
        if moving:
            uses = Counter(value for node in graph.nodes for value in node.inputs)
            uses.update(graph.outputs)
            rewrite(graph, _Rewriting(graph, moving, uses).visit)
        return graph


def _box(node: Node) -> _Box | None:
    """The box that a node reads or writes, if its form with operands computes the same."""
    if (node.op is GETITEM and len(node.inputs) == 1) or (node.op in _WRITES and len(node.inputs) == 2):
        x, *values = node.inputs
        assert x is not None
        assert isinstance(x.type, TensorType)
        found = box_of(node.attrs[0], x.type.shape)
        if found is None or 0 in found[1]:
            return None
        fits = TensorType.of(x.type.dtype, found[3])
        return found if all(value is not None and value.type is fits for value in values) else None
    return None


def _kind(node: Node, attrs: Sequence[Any]) -> Hashable:
    return node.op, node.inputs[0].type, *attrs  # type: ignore[union-attr]


class _Rewriting:
    """One walk over a graph.

    Args:
        graph: the graph.
        moving: the nodes that get operands, and their boxes.
        uses: how often each value is used.
    """

    def __init__(self, graph: Graph, moving: dict[Node, _Box], uses: Counter[Value | None]) -> None:
        self.graph = graph
        self.moving = moving
        self.uses = uses
        #: for the new form of ``IndexAdd(zeros, v)``, used once: the node it was made of
        self.gathered: dict[Value, Node] = {}
        #: where each node reads or writes
        self.places: dict[Node, Value] = {}

    def visit(self, node: Node) -> Sequence[Value] | None:
        if node.op is _ADD:
            return self._gather(node)
        if node not in self.moving:
            return None
        x = node.inputs[0]
        assert x is not None
        if node.op is GETITEM:
            return self._add(SLICE_AT, (x,), node)
        if node.op is INDEX_SET:
            return self._add(UPDATE_AT, node.inputs, node)
        found = self._added(x, node)
        if self.uses[node.outputs[0]] == 1 and known_number(x) == 0:
            self.gathered[found[0]] = node
        return found

    def _gather(self, node: Node) -> Sequence[Value] | None:
        for kept, other in ((0, 1), (1, 0)):
            x, found = node.inputs[kept], node.inputs[other]
            source = None if found is None else self.gathered.get(found)
            if source is not None and x is not None and x is not found and x.type is node.outputs[0].type:
                return self._added(x, source)
        return None

    def _added(self, x: Value, source: Node) -> Sequence[Value]:
        """`x` with what an ``IndexAdd`` adds at its place."""
        (old,) = self._add(SLICE_AT, (x,), source)
        value = source.inputs[1]
        sums = self.graph.add_node(_ADD, (old, value), (), (old.type,), location=source.location).outputs
        return self._add(UPDATE_AT, (x, sums[0]), source)

    def _add(self, op: Any, inputs: Sequence[Value | None], source: Node) -> Sequence[Value]:
        starts, *attrs = self.moving[source]
        place = self.places.get(source)
        if place is None:
            position = TensorType.of(dtypes.int32, (len(starts),))
            literal = Literal(np.array(starts, np.int32))
            place = self.places[source] = self.graph.add_node(CONSTANT, (), (literal,), (position,)).outputs[0]
        x: Any = inputs[0]
        kind = TensorType.of(x.type.dtype, attrs[2]) if op is SLICE_AT else x.type
        return self.graph.add_node(op, (*inputs, place), tuple(attrs), (kind,), location=source.location).outputs
