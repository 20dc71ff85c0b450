"""Equal computations are done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weft.core.control import IF, WHILE, effect_of
from weft.core.primitive import ACROSS, IO, exact
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import graphs_of, rewrite


@dataclass(frozen=True)
class MergeEqual(Pass):
    """Common subexpression elimination.

    ``%1 = Mul(%a, %b)``, ``%2 = Mul(%b, %a)``  ->  ``%1``

    A random operation is a function of its key, so it may be merged; what is ordered never is. Operands of commutative
    operations count in any order.
    """

    name: ClassVar[str] = "merge-equal"

    def apply(self, graph: Graph) -> Graph:
        for inner in graphs_of(graph):
            self._merge(inner)
        return graph

    def _merge(self, graph: Graph) -> None:
        seen: dict[Any, Node] = {}

        def visit(node: Node) -> Sequence[Value] | None:
            op = node.op
            inputs: Any = node.inputs
            if node.regions:
                if op is IF or op is WHILE or effect_of(node) in (IO, ACROSS):
                    return None
            elif op.effect in (IO, ACROSS):
                return None
            elif len(inputs) == 2 and getattr(op, "commutative", False) and id(inputs[0]) > id(inputs[1]):
                inputs = (inputs[1], inputs[0])
            outputs = node.outputs
            kind = outputs[0].type if len(outputs) == 1 else tuple([v.type for v in outputs])
            first = seen.setdefault((op, inputs, exact(node.attrs), kind, node.regions), node)
            return None if first is node else first.outputs

        rewrite(graph, visit)
