"""Control flow that is known before the graph runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weft.core.control import IF, WHILE
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import replace, rewrite, splice, truth


@dataclass(frozen=True)
class ResolveControl(Pass):
    """Take known branches, drop loops that do not run, and tell regions what is known outside.

    ==================================================  =====================================================
    ``If(True, ...)``                                   the nodes of its then region
    ``While(False, %x, ...)``                           ``False, %x``
    an ``If`` result that both regions take from %x     ``%x``
    a carried value that the body passes on unchanged   an invariant; the result is the initial value
    a constant operand                                  a constant in the region
    ==================================================  =====================================================
    """

    name: ClassVar[str] = "resolve-control"

    def apply(self, graph: Graph) -> Graph:
        self._resolve(graph, set())
        return graph

    def _resolve(self, graph: Graph, done: set[int]) -> None:
        """Outer graphs first, so that constants reach the innermost regions."""
        done.add(id(graph))

        def visit(node: Node) -> Sequence[Value] | None:
            if node.op is IF:
                known = truth(node.inputs[0])
                if known is None:
                    return _same_in_both(node)
                body = node.regions[0 if known else 1]
                self._sink(node)
                self._resolve(body, done)
                return splice(graph, body, node.inputs[1:])  # type: ignore[arg-type]
            if node.op is WHILE:
                if truth(node.inputs[0]) is False:
                    return node.inputs[: node.attrs[0]]  # type: ignore[return-value]
                return _without_unchanged(graph, node)
            return None

        rewrite(graph, visit)
        for node in graph.nodes:
            self._sink(node)
            for region in node.regions:
                if id(region) not in done:
                    self._resolve(region, done)

    @staticmethod
    def _sink(node: Node) -> None:
        """Put constant operands into the regions; removing the operand is the business of dead code elimination."""
        if node.op is IF:
            first, offset = 1, 1
        elif node.op is WHILE:
            first, offset = node.attrs[0], 0
        else:
            return
        for region in node.regions:
            known: dict[Value, Value] = {}
            constants: list[Node] = []
            for position in range(first, len(node.inputs)):
                value = node.inputs[position]
                if value is None or value.node is None or value.node.op is not CONSTANT:
                    continue
                constant = Node(CONSTANT, (), value.node.attrs, (), node.location)
                constant.outputs = (Value(value.type, region, constant, 0),)
                constants.append(constant)
                known[region.params[position - offset]] = constant.outputs[0]
            if _uses_any(region, known):
                replace(region, known)
                region.nodes[:0] = constants


def _uses_any(graph: Graph, values: dict[Value, Value]) -> bool:
    if not values:
        return False
    return any(v in values for v in graph.outputs) or any(v in values for node in graph.nodes for v in node.inputs)


def _same_in_both(node: Node) -> Sequence[Value] | None:
    """The results of an `If` with those replaced that both regions pass through."""
    then, orelse = node.regions
    results: list[Value] = list(node.outputs)
    changed = False
    for i, (a, b) in enumerate(zip(then.outputs, orelse.outputs, strict=True)):
        if a.node is None and b.node is None and a.index == b.index:
            results[i] = node.inputs[a.index + 1]  # type: ignore[assignment]
            changed = True
    if not changed:
        return None
    node.outputs[0].graph.nodes.append(node)
    return results


def _without_unchanged(graph: Graph, node: Node) -> Sequence[Value] | None:
    """A loop whose unchanged carried values have become invariants."""
    body = node.regions[0]
    carried: int = node.attrs[0]
    unchanged = [i for i in range(1, carried) if body.outputs[i] is body.params[i]]
    if not unchanged:
        return None
    changed = [i for i in range(carried) if i not in unchanged]
    order = [*changed, *unchanged, *range(carried, len(node.inputs))]
    body.params = [body.params[i] for i in order]
    for i, value in enumerate(body.params):
        value.index = i
    body.outputs = [body.outputs[i] for i in changed]
    types = tuple([node.outputs[i].type for i in changed])
    made = graph.add_node(
        WHILE, tuple([node.inputs[i] for i in order]), (len(changed),), types, node.regions, node.location
    )
    results: list[Value] = [node.inputs[i] for i in range(carried)]  # type: ignore[misc]
    for i, value in zip(changed, made.outputs, strict=True):
        results[i] = value
    return results
