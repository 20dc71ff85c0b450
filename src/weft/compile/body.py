"""A graph as the attribute of an operation, with the graphs of its gradients."""

from __future__ import annotations

from typing import Any

import jax

from weft.autodiff.perhaps import GATE, Place
from weft.compile.carried import expose
from weft.compile.differentiate import joint_graph
from weft.core.primitive import Primitive
from weft.ir.graph import Graph
from weft.passes.rewrite import structure


class Body:
    """A graph as the attribute of an operation, compared by structure.

    Args:
        graph: carries nothing (see `weft.compile.carried`): that would be an operand of the operation.
    """

    __slots__ = ("graph", "key", "_hash", "_gradients")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.key = structure(graph)
        self._hash = hash(self.key)
        self._gradients: dict[Any, tuple[Body, tuple[Place, ...], list[Any]]] = {}

    def gradient(self, followed: tuple[bool, ...]) -> tuple[Body, tuple[Place, ...], list[Any]]:
        """A graph from parameters and output gradients to the followed parameters' gradients, their places, and what
        the graph's additional first parameters stand for.

        Args:
            followed: for each parameter, whether to differentiate it.
        """
        key = (followed, Primitive.rules_epoch)
        found = self._gradients.get(key)
        if found is None:
            with (
                jax.ensure_compile_time_eval()
            ):  # the rule may run while JAX traces it; the graph is built all the same
                count = len(self.graph.outputs)
                back = joint_graph(self.graph, followed, (True,) * count).alone(count)
            graph, places = back.graph, back.gradients
            for place in places:
                if place is not None and place[1] is not True:  # the gradients of all examples lie side by side
                    value = graph.outputs[place[0]]
                    gated = graph.add_node(GATE, (graph.outputs[place[1]], value), (), (value.type,))
                    graph.outputs[place[0]] = gated.outputs[0]
            graph, carried = expose(graph)
            found = self._gradients[key] = (Body(graph), places, carried)
        return found

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and self._hash == other._hash and self.key == other.key

    def __repr__(self) -> str:
        return f"<{self.graph.name}: {len(self.graph)} nodes>"
