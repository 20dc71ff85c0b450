"""A compiled graph as one step of a larger computation: one tape entry, with its own compiled backward graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.autodiff.marks import Run
from weft.autodiff.perhaps import Gradient, Pattern, Perhaps, Place, gradient_at, operands_for, pattern_of
from weft.autodiff.rules import GraphRule
from weft.compile import control as _control  # noqa: F401  (how branches and loops are replayed)
from weft.compile.chain import KeptGraph
from weft.compile.compilations import BACKWARD, FORWARD, RUN, Compilations
from weft.compile.dependence import always_dependent, inputs_behind
from weft.compile.differentiate import Conditional, differentiate, joint_graph
from weft.compile.executable import Executable
from weft.compile.lower import lower
from weft.compile.pieces import Pieces, as_captured, asks, cut_behind
from weft.compile.replay import replay
from weft.context import GRADIENTS as PAUSE
from weft.core.primitive import Primitive
from weft.core.recording import Form, GraphNode, enter
from weft.core.tape import GRADIENTS, SYMBOL, UNSURE, Edge
from weft.core.tensor import Tensor, data_of, settled, tracked, view, wrap
from weft.core.trace import current
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN
from weft.passes.pipeline import OPEN, PIPELINE, optimize


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

    def follow(self, inputs: Sequence[Tensor | None], handed: Sequence[Any] = ()) -> list[Any]:
        """Run on tensors of which some are followed by a gradient; the results carry one tape entry.

        Args:
            inputs: one tensor for each parameter, None for a token.
            handed: the objects of the program that rules of the graph are given, see `weft.autodiff.marks.Handed`.
        """
        arrays = [() if t is None else settled(t) for t in inputs]
        followed = tuple(
            t is not None and t._node is not None and t._node is not SYMBOL and t._node.level is None for t in inputs
        )
        if not (any(followed) and GRADIENTS.stack) or PAUSE.paused:
            return [None if kind.type is TOKEN else wrap(a) for a, kind in zip(
                self.executable.run(*arrays), self.graph.outputs, strict=True)]  # fmt: skip
        pieces = self.pieces()
        if pieces is not None:
            return pieces.run(inputs, Run(handed))
        return self.derivative(followed).forward(list(inputs), arrays)

    def pieces(self) -> Pieces | None:
        """The graph cut where a gradient comes to code of the user's; None if there is no such place."""
        if self._pieces is None or self._pieces[0] != Primitive.rules_epoch:
            found = Pieces(as_captured(self.graph), lambda graph: Segment(graph).follow) if asks(self.graph) else None
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
        self._passes = OPEN if graph.is_open else PIPELINE
        pair = differentiate(graph, followed)
        self.output_types = [value.type for value in graph.outputs]
        #: the outputs at which gradients arrive
        self._places = [place for place, kind in enumerate(self.output_types) if kind is not TOKEN]
        #: the outputs that depend on a followed input; the others have no gradient history
        self.reached = {self._places[i] for i in _leading(pair.backward, pair.saved)}
        #: those of them that only some runs compute from a followed input
        self.unsure = frozenset(self.reached.difference(always_dependent(graph, followed)))
        self._forward = self._compiled(optimize(pair.forward, passes=self._passes), FORWARD)
        self._conditional = pair.backward
        self._backward: dict[Pattern, tuple[Executable, tuple[Place, ...], Callable[..., Any]]] = {}
        self._joint: dict[Pattern, tuple[Segment, tuple[Place, ...]]] = {}
        #: the forms of tapes whose last entry is a call of this graph, and the habits of those that contain one
        self.following: dict[Any, Form] = {}
        self.habits: dict[Any, Any] = {}
        known = len(self._places) == len(self.output_types) and self._backward_for(self._all())[0].plain is not None
        self._cut: dict[int, Pieces | None] = {}
        self._feeds = functools.cache(functools.partial(inputs_behind, graph))
        #: how a pass that is compiled as a whole computes the gradient; None if it cannot
        self._rule = GraphRule(self._rule_for, len(self._places)) if known else None

    def _all(self) -> Pattern:
        """Gradients arrive wherever they can."""
        return tuple([place in self.reached for place in self._places])

    def _compiled(self, graph: Graph, what: str) -> Any:
        """What runs a graph of the derivative."""
        return Executable(graph, (), self._record, self._prefix + what)

    def _run(self, executable: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run what `_compiled` made."""
        found: Sequence[Any] = executable.run(*arrays)
        return found

    def forward(self, inputs: Sequence[Tensor | None], arrays: Sequence[Any]) -> list[Any]:
        """Run forward; the results carry one tape entry."""
        results = self._run(self._forward, arrays)
        count = len(self.output_types)
        outputs, saved = results[:count], results[count:]
        # handles may be written later: the entry keeps what they stand for now
        frozen = [None if t is None else view(t) for t in inputs]
        edges: list[Edge] = [
            (t._node, t._index) if follow else None  # type: ignore[union-attr,misc]
            for t, follow in zip(frozen, self.followed, strict=True)
        ]

        def pull(douts: list[Any], needs: list[bool], record: bool) -> Sequence[Tensor | None]:
            arriving = [douts[place] for place in self._places]
            pattern, given = pattern_of(arriving), operands_for(arriving)
            trace = current()
            if trace is not None and any(t.is_symbolic for t in given):
                # the gradient is computed in a graph in progress, which has no arrays: it becomes a part of that
                joint, places = self.joint(pattern)
                inside: Sequence[Any] = replay(trace, joint.graph, [*frozen, *given])  # type: ignore[list-item]
                return [gradient_at(place, inside) for place in places]  # type: ignore[misc]
            if record:
                joint, places = self.joint(pattern)
                found: Sequence[Tensor] = joint.follow([*frozen, *given])
            else:
                executable, places, _ = self._backward_for(pattern)
                found = [wrap(g) for g in self._run(executable, [*saved, *[data_of(t) for t in given]])]
            return [_decided(gradient_at(place, found)) for place in places]

        def split(place: int) -> Sequence[Tensor | None] | None:
            pieces = self._cut_behind(place)
            return None if pieces is None else pieces.run(frozen)

        node = GraphNode(edges, count, pull)
        node.split, node.pieces, node.age = split, False, self._age
        node.rule, node.operands, node.results = self._rule, arrays, results
        node.span, node.unsure, node.feeds = 1.0, self.unsure, self._feeds
        UNSURE.count += bool(self.unsure)
        if self._rule is not None:
            enter(node, inputs, self)
        return [
            None if kind is TOKEN else tracked(data, node, i) if i in self.reached else wrap(data)
            for i, (data, kind) in enumerate(zip(outputs, self.output_types, strict=True))
        ]

    def _backward_for(self, pattern: Pattern) -> tuple[Executable, tuple[Place, ...], Callable[..., Any]]:
        """The backward graph for gradients that arrive in some places: compiled, where it gives which gradient, and as
        a function for use within others that are compiled.
        """
        found = self._backward.get(pattern)
        if found is None:
            back = self._conditional.where(pattern)
            graph = optimize(back.graph, passes=self._passes)
            executable = self._compiled(graph, BACKWARD)

            def whole(*arrays: Any) -> Any:  # only what is used within others needs to be lowered as a whole
                return lower(graph)(*arrays)

            found = self._backward[pattern] = executable, back.gradients, executable.plain or whole
        return found

    def _rule_for(self, pattern: Pattern) -> tuple[Callable[..., Any], tuple[Place, ...]]:
        _, places, run = self._backward_for(pattern)
        return run, places

    def _age(self, place: int) -> int:
        """The number of the operation that computes an output; -1 for a parameter."""
        graph = as_captured(self.graph)
        maker = graph.outputs[place].node
        return -1 if maker is None else graph.nodes.index(maker)

    def _cut_behind(self, place: int) -> Pieces | None:
        """The graph in pieces of which one ends with an output; None if it computes nothing else with that output."""
        if place not in self._cut:
            self._cut[place] = cut_behind(
                as_captured(self.graph), place, lambda graph: Segment(graph).follow, place in self.unsure
            )
        return self._cut[place]

    def joint(self, pattern: Pattern) -> tuple[Segment, tuple[Place, ...]]:
        """The gradient as a graph of the inputs and the gradients that arrive, so that it can be differentiated again,
        and where it gives which gradient.

        Args:
            pattern: where gradients arrive.
        """
        found = self._joint.get(pattern)
        if found is None:
            back = joint_graph(self.graph, self.followed, pattern).alone(len(self.output_types))
            segment = Segment(optimize(back.graph), (), self._record, f"{self._prefix}gradient of ")
            found = self._joint[pattern] = segment, back.gradients
        return found


def _decided(gradient: Gradient) -> Tensor | None:
    """A gradient of an eager pass, in which nothing is left open: where none arrives no entry is walked."""
    if gradient.__class__ is Perhaps:
        return gradient.value if bool(np.asarray(data_of(gradient.present))) else None
    return gradient  # type: ignore[return-value]


def _leading(conditional: Conditional, first: int) -> set[int]:
    """The outputs whose gradients lead to a gradient, by their number."""
    graph = conditional.graph
    found: dict[Value | None, set[int]] = {value: {i // 2} for i, value in enumerate(graph.params[first:])}
    for node in graph.nodes:
        leading = set[int]().union(*(found.get(value, ()) for value in node.inputs))
        found.update((value, leading) for value in node.outputs)
    ends = [graph.outputs[number] for number in conditional.gradients if number is not None]
    return set[int]().union(*(found.get(value, ()) for value in ends))
