"""Branches on one condition, one after the other, become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from weft.core.control import IF
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import graphs_of, splice


@dataclass(frozen=True)
class MergeBranches(Pass):
    """Join an `If` with the next one if that has the same condition.

    ``%1 = If(%c, %x) {Neg, Exp}; %2 = If(%c, %1, %y) {Add, Sub}``  ->
    ``%1, %2 = If(%c, %x, %y) {Neg; Add, Exp; Sub}``

    What stands between them is computed before both, or after both; where the second needs something between that needs
    the first, they stay two. Effects have tokens, which are values like any other, so their order stays.
    """

    name: ClassVar[str] = "merge-branches"

    def apply(self, graph: Graph) -> Graph:
        graphs = graphs_of(graph)
        # what a side that did not run gives to code of the user's in a gradient must stay as it is
        if not any(getattr(node.op, "asks", False) for inner in graphs for node in inner.nodes):
            for inner in graphs:
                if sum(node.op is IF for node in inner.nodes) > 1:
                    merged = _Merging(inner).run()
                    if merged:
                        graph.note("branches merged", merged)
        return graph


class _Merging:
    """One walk over a graph.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        #: the last `If`, and what came after it: what may stand before it, and what needs it
        self.last: Node | None = None
        self.free: list[Node] = []
        self.held: list[Node] = []
        #: the nodes after the last `If` as they stood, unless others were merged into it
        self.after: list[Node] | None = []
        self.needing: set[Value | None] = set()

    def run(self) -> int:
        """Merge what can be; returns how many were merged into others."""
        old, self.graph.nodes = self.graph.nodes, []
        merged = 0
        for node in old:
            last = self.last
            if node.op is not IF:
                self._note(node)
            elif last is not None and last.inputs[0] is node.inputs[0] and self.needing.isdisjoint(node.inputs):
                _join(last, node)
                self.after = None
                merged += 1
            else:
                self._flush()
                self.last = node
                self.after = []
        self._flush()
        return merged

    def _note(self, node: Node) -> None:
        """A node after the last `If`."""
        if self.last is None:
            self.graph.nodes.append(node)
            return
        if self.after is not None:
            self.after.append(node)
        made = self.last.outputs
        if self.needing.isdisjoint(node.inputs) and not any(value in made for value in node.inputs):
            self.free.append(node)
        else:
            self.held.append(node)
            self.needing.update(node.outputs)

    def _flush(self) -> None:
        if self.last is not None:
            kept = [self.last, *self.after] if self.after is not None else [*self.free, self.last, *self.held]
            self.graph.nodes += kept
        self.last, self.free, self.held, self.after = None, [], [], []
        self.needing.clear()


def _join(first: Node, second: Node) -> None:
    """Make an `If` compute what another one does, too."""
    made = {value: i for i, value in enumerate(first.outputs)}
    operands: list[Any] = list(second.inputs[1:])
    outside = dict.fromkeys(value for value in operands if value not in made)
    for region, other in zip(first.regions, second.regions, strict=True):
        params = {value: region.add_param(value.type, value.name) for value in outside}
        given = [region.outputs[made[value]] if value in made else params[value] for value in operands]
        region.outputs += splice(region, other, given)
    first.inputs = (*first.inputs, *outside)
    for value in second.outputs:
        value.node, value.index = first, value.index + len(made)
    first.outputs = (*first.outputs, *second.outputs)
