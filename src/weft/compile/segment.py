"""A compiled graph as one step of a larger computation: one tape entry, with its own compiled backward graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.rules import GraphRule
from weft.compile.chain import KeptGraph
from weft.compile.compilations import BACKWARD, FORWARD, RUN, Compilations
from weft.compile.differentiate import differentiate, joint_graph
from weft.compile.executable import Executable
from weft.compile.pieces import Pieces, asks
from weft.core import trace
from weft.core.primitive import Primitive
from weft.core.recording import Form, GraphNode, enter
from weft.core.tape import GRADIENTS, SYMBOL, Edge, TapeNode
from weft.core.tensor import Tensor, tracked, view, wrap
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN
from weft.ops.shape import zeros_of
from weft.passes.pipeline import optimize
from weft.passes.rewrite import silenced


class Segment:
    """A graph with its executable and, made when first needed, its derivatives.

    Args:
        graph: the graph, passes applied.
        donatable: parameters whose memory the results may take over.
        record: where compilations are noted; None makes a record of this segment's own.
        prefix: precedes what is compiled in the record.
        prepared: the same graph as an earlier process has compiled it; `graph` may then be a function that makes it,
            called when it is asked for.
    """

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        donatable: Sequence[int] = (),
        record: Compilations | None = None,
        prefix: str = "",
        prepared: Graph | KeptGraph | None = None,
    ) -> None:
        self._graph = graph
        self.compilations = Compilations() if record is None else record
        self._prefix = prefix
        compiled = self.graph if prepared is None else prepared
        self.name = compiled.name
        self.executable = Executable(compiled, donatable, self.compilations, prefix + RUN, prepared is not None)
        self._derivatives: dict[Any, Derivative] = {}
        #: made for the rules that are registered since this epoch
        self._pieces: tuple[int, Pieces | None] | None = None

    @property
    def graph(self) -> Graph:
        """The graph, passes applied."""
        if not isinstance(self._graph, Graph):
            self._graph = self._graph()
        return self._graph

    def follow(self, inputs: Sequence[Tensor | None]) -> list[Any]:
        """Run on tensors of which some are followed by a gradient; the results carry one tape entry."""
        while any(t is not None and t._data.__class__ is Value for t in inputs):
            if not trace.await_others():  # what another thread traces is put back
                break
        followed = tuple(
            t is not None and t._node is not None and t._node is not SYMBOL and t._node.level is None for t in inputs
        )
        arrays = [() if t is None else t._data for t in inputs]
        if not (any(followed) and GRADIENTS.stack):
            return [None if kind.type is TOKEN else wrap(a) for a, kind in zip(
                self.executable.run(*arrays), self.graph.outputs, strict=True)]  # fmt: skip
        pieces = self.pieces()
        if pieces is not None:
            return pieces.run(inputs)
        return self.derivative(followed).forward(list(inputs), arrays)

    def pieces(self) -> Pieces | None:
        """The graph cut where a gradient comes to code of the user's; None if there is no such place."""
        if self._pieces is None or self._pieces[0] != Primitive.rules_epoch:
            found = Pieces(self.graph, lambda graph: Segment(graph).follow) if asks(self.graph) else None
            self._pieces = (Primitive.rules_epoch, found)
        return self._pieces[1]

    def derivative(self, followed: tuple[bool, ...]) -> Derivative:
        """The derivative with respect to the inputs marked True."""
        key = (followed, Primitive.rules_epoch)
        found = self._derivatives.get(key)
        if found is None:
            found = self._derivatives[key] = Derivative(self.graph, followed, self.compilations, self._prefix)
        return found


class Derivative:
    """The derivative of a graph with respect to some of its inputs, compiled.

    Args:
        graph: the graph.
        followed: for each parameter, whether a gradient follows it.
        record: where compilations are noted.
        prefix: precedes what is compiled in the record.
    """

    def __init__(self, graph: Graph, followed: tuple[bool, ...], record: Compilations, prefix: str) -> None:
        self.graph = graph
        self._record = record
        self._prefix = prefix
        self.followed = followed
        pair = differentiate(graph, followed)
        self.gradients = pair.gradients
        self.output_types = [value.type for value in graph.outputs]
        #: for each gradient, the outputs whose gradients it depends on
        self.sources = _dependencies(pair.backward, pair.saved)
        places = [place for place, kind in enumerate(self.output_types) if kind is not TOKEN]
        #: the outputs that depend on a followed input; the others have no gradient history
        self.reached = {places[i] for p in self.gradients if p is not None for i in self.sources[p]}
        self._forward = Executable(optimize(pair.forward), (), record, prefix + FORWARD)
        self._backward = Executable(optimize(pair.backward), (), record, prefix + BACKWARD)
        self._joint: Segment | None = None
        #: the forms of tapes whose last entry is a call of this graph, and the habits of those that contain one
        self.following: dict[Any, Form] = {}
        self.habits: dict[Any, Any] = {}
        backward = self._backward.plain
        known = backward is not None and len(places) == len(self.output_types)
        #: how a pass that is compiled as a whole computes the gradient; None if it cannot
        self._rule = GraphRule(backward, len(places), self.gradients, self.sources) if known else None  # type: ignore[arg-type]

    def forward(self, inputs: Sequence[Tensor | None], arrays: Sequence[Any]) -> list[Any]:
        """Run forward; the results carry one tape entry."""
        results = self._forward.run(*arrays)
        count = len(self.output_types)
        outputs, saved = results[:count], results[count:]
        # handles may be written later: the entry keeps what they stand for now
        frozen = [None if t is None else view(t) for t in inputs]
        edges: list[Edge] = [
            (t._node, t._index) if follow else None  # type: ignore[union-attr,misc]
            for t, follow in zip(frozen, self.followed, strict=True)
        ]

        def pull(douts: list[Any], needs: list[bool], record: bool) -> Sequence[Tensor | None]:
            kinds = self.output_types
            arrived = [(d, out) for d, out, kind in zip(douts, outputs, kinds, strict=True) if kind is not TOKEN]
            seeds = [zeros_of(wrap(out)) if dout is None else dout for dout, out in arrived]
            if record:
                results = self.joint().follow([*frozen, *seeds])
            else:
                results = [wrap(g) for g in self._backward.run(*saved, *[seed._data for seed in seeds])]
            given = {i for i, (dout, _) in enumerate(arrived) if dout is not None}
            return [None if p is None or self.sources[p].isdisjoint(given) else results[p] for p in self.gradients]

        node = TapeNode(edges, count, pull) if self._rule is None else GraphNode(edges, count, pull)
        if node.__class__ is GraphNode:
            node.rule, node.operands, node.results = self._rule, arrays, results
            enter(node, inputs, self)
        return [
            None if kind is TOKEN else tracked(data, node, i) if i in self.reached else wrap(data)
            for i, (data, kind) in enumerate(zip(outputs, self.output_types, strict=True))
        ]

    def joint(self) -> Segment:
        """The gradient as a graph of the inputs and the output gradients, so that it can be differentiated again."""
        if self._joint is None:
            graph, _ = joint_graph(silenced(self.graph), self.followed)
            graph.outputs = graph.outputs[len(self.output_types) :]
            self._joint = Segment(optimize(graph), (), self._record, f"{self._prefix}gradient of ")
        return self._joint


def _dependencies(graph: Graph, first: int) -> list[set[int]]:
    """For each output of a graph the parameters that lead to it, by their number from a first one on."""
    found: dict[Value | None, set[int]] = {value: {i} for i, value in enumerate(graph.params[first:])}
    for node in graph.nodes:
        leading = set[int]().union(*(found.get(value, ()) for value in node.inputs))
        found.update((value, leading) for value in node.outputs)
    return [found.get(value, set()) for value in graph.outputs]
