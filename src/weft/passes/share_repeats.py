"""Stretches of a graph that repeat one after the other become calls of one callee.

The layers of a network, their gradients, the updates of their parameters, the steps of an unrolled loop and
micro-batches are such stretches: the same operations on other values. Nobody has to mark them. Nodes are written as
numbers that tell what they compute; where the sequence of numbers equals itself shifted by a period, it repeats. What
the stretches read from each other and from outside is compared afterwards, exactly, so that the calls compute what the
nodes did, whatever led to the choice of the stretches.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft.core.control import CALL
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import copy_graph, replace, rewrite
from weft.passes.stretches import (
    Place,
    Uses,
    Wiring,
    common_constant,
    content_of,
    copied,
    hoist,
    numbered,
    runs,
    without_identity,
)

#: periods that are tried: the most frequent distances of equal nodes, and those that would save most
_TRIED: Final = 8
#: rounds over one graph: each may find stretches of the calls that the one before made
_ROUNDS: Final = 8
#: what nodes between two calls cost besides, as they are compiled by themselves
_EXECUTABLE: Final = 64


@dataclass(frozen=True)
class ShareRepeats(Pass):
    """Outline what repeats.

    ``%1 = Dense(%x, %v, %a); %2 = ReLU(%1); %3 = Dense(%2, %w, %b); %4 = ReLU(%3)``  ->
    ``%1 = Call(%x, %v, %a); %2 = Call(%1, %w, %b)`` of ``Dense; ReLU``

    All calls share the callee. A small constant that is the same in all stretches is part of it, others are operands.

    Args:
        least: nodes that a stretch has at least, or else a call and a node.
        saved: nodes that the calls of one round stand for at least, without those in the callees.
    """

    name: ClassVar[str] = "share-repeats"
    least: int = 8
    saved: int = 8

    def apply(self, graph: Graph) -> Graph:
        rewrite(graph, without_identity)
        self._share(graph, {})
        return graph

    def _share(self, graph: Graph, callees: dict[Hashable, Graph]) -> None:
        hoist(graph)
        for _ in range(_ROUNDS):
            known = set(callees)
            if not self._round(graph, callees):
                break
            for form in callees.keys() - known:
                self._share(callees[form], callees)

    def _round(self, graph: Graph, callees: dict[Hashable, Graph]) -> bool:
        nodes = graph.nodes
        contents = [content_of(node) for node in nodes]
        numbers = numbered(contents)
        weights = _Weights(nodes, self.least)
        period = _best_period(numbers, weights, self.saved)
        if period is None:
            return False
        uses = Uses(graph)
        alike: dict[Any, list[int]] = {}
        free = 0
        for first, end in runs(numbers, period):
            first = max(first, free)
            if end - first >= 2 * period and weights.of(first, period):
                for start in range(uses.narrowest(first, end, period), end - period + 1, period):
                    form = numbers[start : start + period].tobytes(), uses.wiring(start, period)
                    alike.setdefault(form, []).append(start)
                    free = start + period
        alike = {form: starts for form, starts in alike.items() if len(starts) > 1}
        if sum((len(starts) - 1) * weights.of(starts[0], period) for starts in alike.values()) < self.saved:
            return False
        calls: dict[int, _Calls] = {}
        for (_, wiring), starts in alike.items():
            calls.update(dict.fromkeys(starts, _Calls(nodes, contents, starts, period, wiring)))
        _write(graph, calls, period, callees)
        return True


# -- what repeats ------------------------------------------------------------------------------------------------------


class _Weights:
    """What compiling stretches costs, in nodes.

    Args:
        nodes: the nodes of the graph.
        least: nodes that make a stretch without calls worth a callee.
    """

    def __init__(self, nodes: Sequence[Node], least: int) -> None:
        self.least = least
        #: nodes before each that are no calls, since a callee is compiled once anyway
        self._before = np.concatenate(([0], np.cumsum([node.op is not CALL for node in nodes])))

    def of(self, start: int, period: int) -> int:
        """The weight of a stretch; 0 if it is not worth a callee."""
        nodes = int(self._before[start + period] - self._before[start])
        if nodes < period:
            return nodes and nodes + _EXECUTABLE
        return nodes if nodes >= self.least else 0


def _best_period(numbers: np.ndarray[Any, Any], weights: _Weights, saved: int) -> int | None:
    """The period at which most nodes repeat, if they are at least so many."""
    order = np.argsort(numbers, kind="stable")
    equal = numbers[order][1:] == numbers[order][:-1]
    gaps = np.diff(order)[equal]
    if not len(gaps):
        return None
    gaps = np.concatenate((gaps, gaps * -(-weights.least // gaps)))  # several of the short ones in a stretch too
    counts = np.bincount(gaps)
    frequent = np.argsort(counts, kind="stable")[-_TRIED:]
    rewarding = np.argsort(counts * np.arange(len(counts)), kind="stable")[-_TRIED:]
    best: int | None = None
    for period in sorted({int(gap) for gap in (*frequent, *rewarding) if counts[gap]}):
        found = 0
        for first, end in runs(numbers, period):
            found += ((end - first) // period - 1) * weights.of(first, period)
        if found >= max(saved, 1):
            best, saved = period, found + 1
    return best


# -- calls -------------------------------------------------------------------------------------------------------------


class _Calls:
    """Stretches that compute the same, and what one callee for them takes.

    Args:
        nodes: the nodes of the graph.
        contents: what each computes.
        starts: the first node of each stretch.
        period: nodes in a stretch.
        wiring: what its nodes take from each other.
    """

    def __init__(
        self, nodes: Sequence[Node], contents: Sequence[Hashable], starts: list[int], period: int, wiring: Wiring
    ) -> None:
        made, self.outputs = wiring
        self.nodes = nodes[starts[0] : starts[0] + period]
        #: for each operand, the value in each stretch
        operands: dict[tuple[Value | None, ...], int] = {}
        #: what a node takes from outside of the stretch: the number of the operand, or a constant
        self.taken: dict[Place, int | Node] = {}
        places = [(offset, place) for offset, node in enumerate(self.nodes) for place in range(len(node.inputs))]
        for (offset, place), inner in zip(places, made, strict=True):
            if inner is None and self.nodes[offset].inputs[place] is not None:
                values = tuple([nodes[start + offset].inputs[place] for start in starts])
                constant = common_constant(values)
                self.taken[offset, place] = operands.setdefault(values, len(operands)) if constant is None else constant
        self.operands = {start: [values[k] for values in operands] for k, start in enumerate(starts)}
        taken = tuple([(at, x if isinstance(x, int) else (x.attrs, x.outputs[0].type)) for at, x in self.taken.items()])
        #: equal for stretches that the same callee computes
        self.form: Hashable = (tuple(contents[starts[0] : starts[0] + period]), wiring, taken)

    def callee(self, name: str) -> Graph:
        """A graph of its own that computes what a stretch does."""
        callee = Graph(name)
        operands: Any = next(iter(self.operands.values()))
        params = [callee.add_param(value.type, value.name) for value in operands]
        copies = copied(
            callee,
            self.nodes,
            self.taken,
            params.__getitem__,
            lambda node: node.regions if node.op is CALL else [copy_graph(region, callee) for region in node.regions],
        )
        callee.outputs = [copies[offset].outputs[place] for offset, place in self.outputs]
        return callee


def _write(graph: Graph, calls: dict[int, _Calls], period: int, callees: dict[Hashable, Graph]) -> None:
    """Put calls in the place of stretches."""
    old, graph.nodes = graph.nodes, []
    replaced: dict[Value, Value] = {}
    position = 0
    while position < len(old):
        found = calls.get(position)
        if found is None:
            graph.nodes.append(old[position])
            position += 1
            continue
        callee = callees.get(found.form)
        if callee is None:
            callee = callees[found.form] = found.callee(f"{graph.name}_block")
        operands = tuple(found.operands[position])
        types = tuple([value.type for value in callee.outputs])
        call = graph.add_node(CALL, operands, (), types, (callee,), old[position].location)
        for (offset, place), value in zip(found.outputs, call.outputs, strict=True):
            replaced[old[position + offset].outputs[place]] = value
        position += period
    replace(graph, replaced)
