"""A finished graph in pieces, for a gradient over it that comes to code of the user's.

Hooks and rules of the user's run in the backward pass, each time there is one, and in Python. So where a gradient
follows a graph with such code in it, the stretches between are compiled graphs with a tape entry each, and the marks
are entries as in eager code. A branch or loop runs as Python's would, whether such code is inside or not: what it does
not use gets no gradient, where a graph would give it zeros, and code before it would be called with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.autodiff.custom import TensorHookRule
from weft.autodiff.marks import MARK, Run, mark, renewed
from weft.core.control import CALL, IF, WHILE, comes_out, has_other_uses
from weft.core.dispatch import apply
from weft.core.tensor import Tensor, view
from weft.ir.graph import Graph, Node, Value
from weft.passes.rewrite import part, silenced

#: what runs a compiled stretch on tensors that a gradient may follow
Follow = Callable[[Sequence[Tensor | None]], Sequence[Tensor | None]]


def asks(graph: Graph) -> bool:
    """Whether a gradient over a graph comes to code of the user's."""
    return any(_node_asks(node) for node in graph.nodes)


def _node_asks(node: Node) -> bool:
    if getattr(node.op, "asks", False) or any(asks(region) for region in node.regions):
        return True
    inner = (getattr(attribute, "graph", None) for attribute in node.attrs)  # the body of a mapped function
    return any(isinstance(graph, Graph) and asks(graph) for graph in inner)


class _Stretch:
    """Nodes without code of the user's, as a graph.

    Args:
        run: runs the graph.
        inputs: what it needs of the whole graph.
        outputs: what it computes for later pieces.
    """

    __slots__ = ("run", "inputs", "outputs")

    def __init__(self, run: Follow, inputs: list[Value], outputs: list[Value]) -> None:
        self.run = run
        self.inputs = inputs
        self.outputs = outputs


class Pieces:
    """A graph cut at the nodes where a gradient comes to code of the user's.

    Args:
        graph: the graph.
        compiled: makes what runs a stretch.
    """

    def __init__(self, graph: Graph, compiled: Callable[[Graph], Follow]) -> None:
        self.graph = graph
        self.compiled = compiled
        self.pieces: list[_Stretch | Node] = []
        self._regions: dict[Graph, Pieces] = {}
        pending: list[Node] = []
        for position, node in enumerate(graph.nodes):
            if node.op in (IF, WHILE) or _node_asks(node):
                self._cut(pending, graph.nodes[position:])
                self.pieces.append(node)
                pending = []
            else:
                pending.append(node)
        self._cut(pending, [])

    def _cut(self, nodes: list[Node], later: Sequence[Node]) -> None:
        """Make a stretch of nodes that come one after the other."""
        if not nodes:
            return
        made = dict.fromkeys(value for node in nodes for value in node.outputs)
        needed = dict.fromkeys(v for node in nodes for v in node.inputs if v is not None and v not in made)
        read = {value for node in later for value in node.inputs} | set(self.graph.outputs)
        outputs = [value for value in made if value in read]
        stretch = part(f"{self.graph.name}_{len(self.pieces)}", self.graph, list(needed), nodes, outputs)
        self.pieces.append(_Stretch(self.compiled(stretch), list(needed), outputs))

    def run(self, inputs: Sequence[Tensor | None], together: Run | None = None) -> list[Tensor | None]:
        """Compute the outputs; the results carry the entries of all pieces. A token is None.

        Args:
            inputs: one tensor for each parameter.
            together: what rules have in common in this run.
        """
        together = Run() if together is None else together
        env: dict[Any, Tensor | None] = {None: None}
        for value, tensor in zip(self.graph.params, inputs, strict=True):
            env[value] = None if tensor is None else view(tensor)
        for piece in self.pieces:
            if isinstance(piece, _Stretch):
                env.update(zip(piece.outputs, piece.run([env[value] for value in piece.inputs]), strict=True))
            else:
                operands = [env[value] for value in piece.inputs]
                env.update(zip(piece.outputs, self._run_node(piece, operands, together), strict=True))
        found = [env[value] for value in self.graph.outputs]
        return [None if tensor is None else view(tensor) for tensor in found]

    def _run_node(self, node: Node, operands: list[Any], together: Run) -> Sequence[Tensor | None]:
        op: Any = node.op
        if op is MARK:
            rule, results = renewed(node, operands, None, together)
            return mark(operands, results, rule)
        if op is IF:
            chosen = node.regions[0 if _truth(operands[0]) else 1]
            return self._inside(chosen).run(operands[1:], together)
        if op is WHILE:
            count = node.attrs[0]
            carry, body = operands[:count], self._inside(node.regions[0])
            while _truth(carry[0]):
                carry = body.run([*carry, *operands[count:]], together)
            return carry
        if op is CALL:
            return self._inside(node.regions[0]).run(operands, together)
        found = apply(op, tuple(operands), node.attrs)
        return found if op.multiple else (found,)

    def _inside(self, region: Graph) -> Pieces:
        found = self._regions.get(region)
        if found is None:
            found = self._regions[region] = Pieces(region, self.compiled)
        return found


def as_captured(graph: Graph) -> Graph:
    """A graph in which no tensors of the program are merged that are equal, as far as that was kept."""
    return graph if graph.captured is None else graph.captured()


def cut_behind(graph: Graph, place: int, compiled: Callable[[Graph], Follow], unsure: bool) -> Pieces | None:
    """A graph in pieces of which one ends with an output, so that all that is computed with it passes its tape entry.

    Args:
        graph: the graph.
        place: the number of the output.
        compiled: see `Pieces`.
        unsure: whether only a run knows if a gradient follows the output.

    Returns:
        Pieces: None if the entry of the whole graph does as well: nothing else is computed with the output.
    """
    value = graph.outputs[place]
    if value.node is None:
        return None
    used = any(value in node.inputs for node in graph.nodes)
    if not (unsure or used or has_other_uses(value)):
        return None
    again = silenced(graph)
    if not comes_out(value):  # what a branch or loop leaves has the entry of the tensor that it is
        again.insert_behind(again.outputs[place], MARK, (TensorHookRule([]), 1))
    return Pieces(again, compiled)


def _truth(condition: Tensor) -> bool:
    return bool(condition)


__all__: Final = ["Pieces", "as_captured", "asks", "cut_behind"]
