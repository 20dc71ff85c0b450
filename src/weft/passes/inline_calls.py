"""Calls that are not worth keeping become the nodes of their callee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weft.core.control import CALL
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import copy_graph, graphs_of, rewrite, splice


@dataclass(frozen=True)
class InlineCalls(Pass):
    """Inline callees that are small, or called once.

    ``%1 = Call(%0) {callee: (%x) {%0 = Neg(%x)}}``  ->  ``%1 = Neg(%0)``

    Args:
        limit: a callee with more nodes that several calls share is kept: it is compiled once.
    """

    name: ClassVar[str] = "inline-calls"
    limit: int = 16

    def apply(self, graph: Graph) -> Graph:
        graphs = graphs_of(graph)
        calls: dict[int, int] = {}
        for inner in graphs:
            for node in inner.nodes:
                if node.op is CALL:
                    calls[id(node.regions[0])] = calls.get(id(node.regions[0]), 0) + 1
        if not calls:
            return graph
        for inner in graphs:
            self._inline(inner, calls)
        return graph

    def _inline(self, graph: Graph, calls: dict[int, int]) -> None:
        def visit(node: Node) -> Sequence[Value] | None:
            if node.op is not CALL:
                return None
            callee = node.regions[0]
            if calls[id(callee)] == 1:
                return splice(graph, callee, node.inputs)  # type: ignore[arg-type]
            if len(callee) <= self.limit:
                return splice(graph, copy_graph(callee, graph), node.inputs)  # type: ignore[arg-type]
            return None

        rewrite(graph, visit)
