"""Reverse-mode derivative of a graph: a forward graph that keeps what is needed, and a backward graph.

Both come from one pass of the tape engine over the graph: the graph is replayed on symbolic tensors, the tape is walked
backwards, and the resulting joint graph is cut where it begins to depend on the output gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.autodiff.backward import backward
from weft.compile.replay import replay
from weft.core import trace as trace_module
from weft.core.tape import TapeNode
from weft.core.tensor import Tensor, tracked, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN
from weft.passes.drop_dead import DropDead
from weft.passes.rewrite import part


@dataclass(frozen=True, slots=True)
class Pullback:
    """The two halves of a differentiated graph.

    Args:
        forward: parameters of the graph -> its outputs, then `saved` values.
        backward: saved values, then one gradient for each output but tokens -> the gradients that exist.
        saved: how many values are saved.
        gradients: for each parameter of the graph, the position of its gradient among the backward's outputs, or None.
    """

    forward: Graph
    backward: Graph
    saved: int
    gradients: tuple[int | None, ...]


def joint_graph(graph: Graph, followed: Sequence[bool]) -> tuple[Graph, tuple[int | None, ...]]:
    """One graph from parameters and output gradients to outputs and parameter gradients.

    Args:
        graph: what to differentiate.
        followed: for each parameter, whether its gradient is wanted.

    Returns:
        The graph, whose parameters are those of `graph` and one gradient for each output but tokens, and whose outputs
        are those of `graph` and the gradients that exist; and the position of each parameter's gradient, or None.
    """
    with trace_module.suspended(), trace_module.tracing(Trace(f"{graph.name}_gradient")) as trace:
        root = trace.root
        root.reuses_blocks = graph.reuses_blocks
        inputs: list[Tensor] = []
        leaves: dict[int, TapeNode] = {}
        for position, (param, follow) in enumerate(zip(graph.params, followed, strict=True)):
            value = root.add_param(param.type, param.name)
            if follow:
                leaf = leaves[position] = TapeNode((), 1, None, root)
                inputs.append(tracked(value, leaf, 0))
                trace.edges[value] = (leaf, 0)
            else:
                inputs.append(wrap(value))
        outputs = replay(trace, graph, inputs)
        douts = [
            None if output.type is TOKEN else wrap(root.add_param(output.type, "gradient")) for output in graph.outputs
        ]
        found = backward(outputs, douts, list(leaves.values()), False)
        gradients: list[int | None] = [None] * len(graph.params)
        root.outputs = [trace.use(output) for output in outputs]
        for position, gradient in zip(leaves, found, strict=True):
            if gradient is not None:
                gradients[position] = len(root.outputs) - len(outputs)
                root.outputs.append(trace.use(gradient))
        trace.close()
    DropDead().apply(root)
    return root, tuple(gradients)


def differentiate(graph: Graph, followed: Sequence[bool]) -> Pullback:
    """Split the derivative of a graph into a forward and a backward graph.

    Args:
        graph: what to differentiate.
        followed: for each parameter, whether its gradient is wanted.

    Returns:
        Pullback: both graphs.
    """
    joint, gradients = joint_graph(graph, followed)
    count, results = len(graph.params), len(graph.outputs)
    late: set[Value | None] = set(joint.params[count:])
    late_nodes: list[Node] = []
    early_nodes: list[Node] = []
    for node in joint.nodes:
        if any(value in late for value in node.inputs):
            late.update(node.outputs)
            late_nodes.append(node)
        else:
            early_nodes.append(node)
    wanted = joint.outputs[results:]
    needed: dict[Value, None] = {}
    cheap: dict[Value, Node] = {}
    for node in early_nodes:
        if not node.inputs and not node.regions:  # constants are made again rather than saved
            cheap.update((value, node) for value in node.outputs)
    again: dict[Node, None] = {}
    for value in [v for node in late_nodes for v in node.inputs] + wanted:
        if value is None or value in late:
            continue
        if value in cheap:
            again[cheap[value]] = None
        else:
            needed[value] = None
    saved = list(needed)
    forward = part(f"{graph.name}_forward", joint, joint.params[:count], early_nodes, joint.outputs[:results] + saved)
    entries = [*saved, *joint.params[count:]]
    backward_graph = part(f"{graph.name}_backward", joint, entries, [*again, *late_nodes], wanted)
    DropDead().apply(forward)
    DropDead().apply(backward_graph)
    return Pullback(forward, backward_graph, len(saved), gradients)
