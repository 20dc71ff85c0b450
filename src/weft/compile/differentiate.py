"""Reverse-mode derivative of a graph: a forward graph that keeps what is needed, and a backward graph.

Both come from one pass of the tape engine over the graph: the graph is replayed on symbolic tensors, the tape is walked
backwards, and the resulting joint graph is cut where it begins to depend on the output gradients.

At which outputs a gradient arrives is known later, where a backward pass comes to the graph, or never. So the joint
graph has a condition beside each output gradient, and one beside each gradient that it gives. Where more is known the
conditions become constants (`Conditional.where`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from weft import dtypes
from weft.autodiff.backward import ended, start_walk
from weft.autodiff.perhaps import Gradient, Pattern, Perhaps, Place, operands_for
from weft.compile.presence import decided, filled, truth_of
from weft.compile.replay import replay
from weft.core import trace as trace_module
from weft.core.tape import TapeNode
from weft.core.tensor import Tensor, tracked, wrap
from weft.core.trace import Trace
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.drop_dead import DropDead
from weft.passes.rewrite import copy_graph, part, silenced

_BOOL: Final = TensorType.of(dtypes.bool_, ())


@dataclass(frozen=True, slots=True)
class Backward:
    """A graph that ends in gradients.

    Args:
        graph: its last parameters are those for the gradients that arrive, see `operands_for`.
        gradients: for each parameter of the differentiated graph, where its gradient is.
    """

    graph: Graph
    gradients: tuple[Place, ...]

    def alone(self, results: int) -> Backward:
        """The same without IO and without what it gives besides.

        Args:
            results: how many outputs come before the gradients.
        """
        graph = silenced(self.graph)
        graph.outputs = graph.outputs[results:]
        DropDead().apply(graph)

        def shifted(place: Place) -> Place:
            if place is None:
                return None
            value, present = place
            return value - results, present if present is True else present - results

        return Backward(graph, tuple(map(shifted, self.gradients)))


@dataclass(frozen=True, slots=True)
class Conditional:
    """A graph that ends in gradients, with a condition for each gradient that may arrive.

    Args:
        graph: its last parameters are a gradient and a condition for each output.
        results: how many outputs of the graph come before the gradients; each gradient is followed by its condition.
        gradients: for each parameter of the differentiated graph, the number of its gradient among the outputs.
        count: the number of the outputs of the differentiated graph at which gradients may arrive.
    """

    graph: Graph
    results: int
    gradients: tuple[int | None, ...]
    count: int
    _decided: dict[Pattern, Backward] = field(default_factory=dict)

    def where(self, pattern: Pattern) -> Backward:
        """The same graph for gradients that arrive in some places.

        Args:
            pattern: where they arrive.
        """
        found = self._decided.get(pattern)
        if found is None:
            found = self._decided[pattern] = self._decide(pattern)
        return found

    def _decide(self, pattern: Pattern) -> Backward:
        graph = copy_graph(self.graph)
        first = len(graph.params) - 2 * self.count
        kept = graph.params[:first]
        constants: dict[Value, Value] = {}
        nodes, graph.nodes = graph.nodes, []
        for dout, present, arrives in zip(graph.params[first::2], graph.params[first + 1 :: 2], pattern, strict=True):
            kept += [] if arrives is False else [dout] if arrives else [dout, present]
            if arrives is not None:
                constants[present] = filled(graph, _BOOL, arrives)
            if arrives is False:
                constants[dout] = filled(graph, dout.type, 0)
        graph.nodes += nodes
        known = decided(graph, constants)
        graph.params = kept
        for index, param in enumerate(kept):
            param.index = index
        outputs = graph.outputs
        graph.outputs = outputs[: self.results]
        places: list[Place] = []
        for number in self.gradients:
            truth = None if number is None else truth_of(outputs[number + 1], known)
            if number is None or truth is False:
                places.append(None)
                continue
            graph.outputs.append(outputs[number])
            place = len(graph.outputs) - 1
            if truth is None:
                graph.outputs.append(outputs[number + 1])
            places.append((place, True if truth else place + 1))
        DropDead().apply(graph)
        return Backward(graph, tuple(places))


def joint_graph(graph: Graph, followed: Sequence[bool], pattern: Pattern) -> Backward:
    """One graph from parameters and output gradients to outputs and parameter gradients.

    Args:
        graph: what to differentiate.
        followed: for each parameter, whether its gradient is wanted.
        pattern: at which outputs gradients arrive.

    Returns:
        Backward: its graph has the parameters of `graph`, then those for the gradients that arrive; its outputs are
        those of `graph`, then the gradients that exist, each with a condition if it has one.
    """
    root, found = _differentiated(graph, followed, pattern)
    places: list[Place] = []
    number = len(graph.outputs)
    for has_condition in found:
        if has_condition is None:
            places.append(None)
        else:
            places.append((number, number + 1 if has_condition else True))
            number += 1 + has_condition
    return Backward(root, tuple(places))


def _conditional(graph: Graph, followed: Sequence[bool]) -> Conditional:
    """The same with a condition for each output but tokens, and for each gradient."""
    count = sum(output.type is not TOKEN for output in graph.outputs)
    root, found = _differentiated(graph, followed, (None,) * count)
    assert False not in found
    numbers = iter(range(len(graph.outputs), len(root.outputs), 2))
    gradients = tuple([None if has_condition is None else next(numbers) for has_condition in found])
    return Conditional(root, len(graph.outputs), gradients, count)


def _differentiated(graph: Graph, followed: Sequence[bool], pattern: Pattern) -> tuple[Graph, list[bool | None]]:
    """As `_derived`. What is raised where sizes are left open is no exception of the program's."""
    try:
        return _derived(graph, followed, pattern)
    except Exception as error:
        if isinstance(error, Unsupported) or not graph.is_open:
            raise
        why = f"a derivative needs to know sizes ({type(error).__name__}: {error})"
        raise Unsupported(Refusal.DYNAMIC_SHAPE, why, "compile for one size") from error


def _refuse_outside(trace: Trace, tensor: Tensor) -> None:
    """Refuse a write of a hook or rule of the program to a tensor that stays when the graph is made."""
    if not tensor.is_symbolic and id(tensor) not in trace.created:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "a hook or rule of a mapped function writes to a tensor outside of it, and the gradient is taken outside",
            "map the gradient: jit(vmap(grad(function))), or write what it returns",
        )


def _explain(refusal: Unsupported) -> None:
    """Let a refusal in a hook or rule of the program, which such a graph has where vmap mapped it, say so."""
    if refusal.kind is Refusal.TENSOR_VALUE and refusal.location is None:
        refusal.why = f"a hook or rule of a mapped function runs once, for all examples, and {refusal.why}"
        refusal.do = "map the gradient, jit(vmap(grad(function))): its conditions and numbers are those of each example"
        refusal.args = (refusal.why,)


def _derived(graph: Graph, followed: Sequence[bool], pattern: Pattern) -> tuple[Graph, list[bool | None]]:
    """A graph that computes what another does and then its gradients, each followed by its condition if it has one; and
    for each parameter whether its gradient has one, None where there is no gradient.
    """
    with trace_module.suspended(), trace_module.tracing(Trace(f"{graph.name}_gradient")) as trace:
        trace.on_write = functools.partial(_refuse_outside, trace)
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
        douts: list[Gradient] = []
        arrives = iter(pattern)
        for output in graph.outputs:
            here = False if output.type is TOKEN else next(arrives)
            dout = None if here is False else wrap(root.add_param(output.type, "gradient"))
            douts.append(dout if here or dout is None else Perhaps(dout, wrap(root.add_param(_BOOL, "arrives"))))
        found: list[bool | None] = [None] * len(graph.params)
        try:
            ends = ended(start_walk(outputs, douts, list(leaves.values()), False)).arrived
        except Unsupported as refusal:
            _explain(refusal)
            raise
        root.outputs = [trace.use(output) for output in outputs]
        for position, gradient in zip(leaves, ends, strict=True):
            if gradient is not None:
                found[position] = isinstance(gradient, Perhaps)
                root.outputs += [trace.use(tensor) for tensor in operands_for([gradient])]
        trace.close()
    DropDead().apply(root)
    return root, found


@dataclass(frozen=True, slots=True)
class Pullback:
    """The two halves of a differentiated graph.

    Args:
        forward: parameters of the graph -> its outputs, then `saved` values.
        backward: saved values, then a gradient and a condition for each output but tokens -> the gradients that may
            exist, each with a condition.
        saved: how many values are saved.
    """

    forward: Graph
    backward: Conditional
    saved: int


def differentiate(graph: Graph, followed: Sequence[bool]) -> Pullback:
    """Split the derivative of a graph into a forward and a backward graph.

    Args:
        graph: what to differentiate.
        followed: for each parameter, whether its gradient is wanted.

    Returns:
        Pullback: both graphs.
    """
    conditional = _conditional(graph, followed)
    joint = conditional.graph
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
    backward = part(f"{graph.name}_backward", joint, entries, [*again, *late_nodes], wanted)
    DropDead().apply(forward)
    DropDead().apply(backward)
    gradients = tuple([None if number is None else number - results for number in conditional.gradients])
    return Pullback(forward, Conditional(backward, 0, gradients, conditional.count), len(saved))
