"""Short branches of elementwise arithmetic are computed both, and the result selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weft.core.control import IF
from weft.core.primitive import PURE
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.select import WHERE
from weft.passes.base import Pass
from weft.passes.rewrite import graphs_of, rewrite, splice


@dataclass(frozen=True)
class IfToSelect(Pass):
    """Turn a cheap `If` into selections, so that everything around it fuses.

    ``%3 = If(%c, %x) {then: Neg, else: Exp}``  ->  ``%1 = Neg(%x)``, ``%2 = Exp(%x)``, ``%3 = Where(%c, %1, %2)``

    Selection passes one side through bit by bit, so NaN or infinity on the other side does no harm.

    Args:
        nodes: most nodes of one region.
        elements: most elements that the nodes of both regions compute together.
    """

    name: ClassVar[str] = "if-to-select"
    nodes: int = 16
    elements: int = 1 << 16

    def apply(self, graph: Graph) -> Graph:
        graphs = graphs_of(graph)
        # a gradient must not come to code of the user's through the side that did not run, not even with zeros
        if not any(getattr(node.op, "asks", False) for inner in graphs for node in inner.nodes):
            for inner in graphs:
                self._convert(inner, graph)
        return graph

    def _convert(self, graph: Graph, whole: Graph) -> None:
        def visit(node: Node) -> Sequence[Value] | None:
            if node.op is not IF or not self._cheap(node):
                return None
            whole.note("branches computed as selections")
            then, orelse = node.regions
            condition, operands = node.inputs[0], node.inputs[1:]
            taken = splice(graph, then, operands)  # type: ignore[arg-type]
            other = splice(graph, orelse, operands)  # type: ignore[arg-type]
            return [
                a if a is b else graph.add_node(WHERE, (condition, a, b), (), (a.type,), (), node.location).outputs[0]
                for a, b in zip(taken, other, strict=True)
            ]

        rewrite(graph, visit)

    def _cheap(self, node: Node) -> bool:
        condition = node.inputs[0]
        assert condition is not None
        elements = 0
        for value in node.outputs:
            kind = value.type
            if not isinstance(kind, TensorType) or WHERE.infer((), (condition.type, kind, kind))[0] is not kind:  # type: ignore[arg-type]
                return False
            elements += kind.size
        for region in node.regions:
            if len(region.nodes) > self.nodes:
                return False
            for inner in region.nodes:
                op = inner.op
                if inner.regions or op.effect != PURE or not (getattr(op, "elementwise", False) or not inner.inputs):
                    return False
                for value in inner.outputs:
                    if not isinstance(value.type, TensorType):
                        return False
                    elements += value.type.size
        return elements <= self.elements
