"""Stretches of a graph that repeat one after the other: what the passes that look for them share.

Nodes are written as numbers that tell what they compute; where the sequence of numbers equals itself shifted by a
period, it repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft.core.control import CALL, effect_of
from weft.core.dispatch import IDENTITY
from weft.core.primitive import ACROSS, IO, PURE, READ, exact
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.passes.rewrite import structure

#: where a value stands in a stretch: the node, the place among its inputs or outputs
Place = tuple[int, int]
#: for each input of each node of a stretch where in it that is made, or None; and what of it is used afterwards
Wiring = tuple[tuple[Place | None, ...], tuple[Place, ...]]


def hoist(graph: Graph) -> None:
    """Let constants stand first, which stood where they were first needed, then what is computed of parameters alone
    and once: the slice of the input that a micro-batch takes, say, which makes it another than the one before.
    """
    contents = list(map(content_of, graph.nodes))
    times = Counter(contents)
    first: dict[Node, int] = {}
    for node, content in zip(graph.nodes, contents, strict=True):
        if node.op is CONSTANT:
            first[node] = 0
            continue
        early = all(value is None or value.node is None or value.node in first for value in node.inputs)
        if early and effect_of(node) == PURE and times[content] == 1:
            first[node] = 1
    graph.nodes.sort(key=lambda node: first.get(node, 2))


def without_identity(node: Node) -> Sequence[Value] | None:
    """Leaves of gradients that were taken: nothing tells them from what they stand for any more."""
    if node.op is IDENTITY and node.inputs[0] is not None and node.inputs[0].type == node.outputs[0].type:
        return (node.inputs[0],)
    return None


def content_of(node: Node) -> Hashable:
    """What a node computes of what kinds of values; None for what is not to be shared."""
    if node.op is CONSTANT or effect_of(node) in (IO, ACROSS, READ):
        return None
    regions: Any = node.regions if node.op is CALL else tuple([structure(region) for region in node.regions])
    kinds = tuple([None if value is None else value.type for value in node.inputs])
    return node.op, exact(node.attrs), kinds, tuple([value.type for value in node.outputs]), regions


def numbered(contents: Sequence[Hashable]) -> np.ndarray[Any, Any]:
    """Equal contents as equal numbers; a number of its own for what is not to be shared."""
    known: dict[Hashable, int] = {}
    found = [-1 - i if c is None else known.setdefault(c, len(known)) for i, c in enumerate(contents)]
    return np.array(found, np.int64)


def runs(numbers: np.ndarray[Any, Any], period: int) -> Iterator[tuple[int, int]]:
    """Where two periods or more stand one after the other: the first node, and one past the last."""
    equal = np.concatenate(([False], numbers[:-period] == numbers[period:], [False]))
    edges = np.flatnonzero(np.diff(equal.astype(np.int8)))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        if end - first >= period:
            yield int(first), int(end) + period


class Uses:
    """Where the values of a graph are made and used.

    Args:
        graph: the graph; it does not change meanwhile.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.nodes
        self.index = {node: i for i, node in enumerate(graph.nodes)}
        #: the last node that uses a value; past the end for outputs
        self.last: dict[Value | None, int] = {}
        for i, node in enumerate(graph.nodes):
            self.last.update(dict.fromkeys(node.inputs, i))
        self.last.update(dict.fromkeys(graph.outputs, len(graph.nodes)))

    def made(self, value: Value | None) -> int:
        """The node that makes a value; -1 for a parameter."""
        return -1 if value is None or value.node is None else self.index[value.node]

    def narrowest(self, first: int, end: int, period: int) -> int:
        """Where to cut a run so that few values go from one stretch to the next."""
        count = (end - first) // period
        slack = (end - first) % period if count == 2 else period - 1
        middle = first + count // 2 * period
        base, stop = middle - period, min(middle + 2 * period, end)
        furthest: dict[int, int] = {}
        for i in range(base, stop):
            furthest.update({j: i for j in map(self.made, self.nodes[i].inputs) if j >= base})
        crossing = np.zeros(3 * period + 2, np.int64)
        for made, used in furthest.items():
            crossing[made + 1 - base] += 1
            crossing[used + 1 - base] -= 1
        costs = np.cumsum(crossing)[period : period + slack + 1]
        return first + int(np.argmin(costs))

    def wiring(self, start: int, period: int) -> Wiring:
        """What the nodes of a stretch take from each other, and what of it is used after it."""
        inputs: list[Place | None] = []
        outputs: list[Place] = []
        end = start + period
        for i in range(start, end):
            for value in self.nodes[i].inputs:
                made = self.made(value)
                inputs.append((made - start, value.index) if value is not None and made >= start else None)
            outputs += [(i - start, value.index) for value in self.nodes[i].outputs if self.last.get(value, -1) >= end]
        return tuple(inputs), tuple(outputs)


def copied(
    target: Graph,
    nodes: Sequence[Node],
    taken: Mapping[Place, Any],
    param: Callable[[Any], Value],
    regions: Callable[[Node], Sequence[Graph]],
) -> list[Node]:
    """Copies of the nodes of a stretch in a graph of their own.

    Args:
        target: the graph; it gets the constants that the stretch takes, too.
        nodes: the stretch.
        taken: what its inputs take from outside: a constant, or anything else that `param` knows.
        param: the parameter of the graph for what is taken.
        regions: the regions of the copy of a node.
    """
    constants: dict[Node, Value] = {}
    values: dict[Value | None, Value | None] = {None: None}
    copies = []
    for offset, node in enumerate(nodes):
        inputs: list[Value | None] = []
        for place, value in enumerate(node.inputs):
            outside = taken.get((offset, place))
            if isinstance(outside, Node):
                if outside not in constants:
                    kind = outside.outputs[0].type
                    constants[outside] = target.add_node(CONSTANT, (), outside.attrs, (kind,)).outputs[0]
                inputs.append(constants[outside])
            else:
                inputs.append(values[value] if outside is None else param(outside))
        types = tuple([value.type for value in node.outputs])
        copy = target.add_node(node.op, tuple(inputs), node.attrs, types, tuple(regions(node)), node.location)
        copies.append(copy)
        values.update(zip(node.outputs, copy.outputs, strict=True))
    return copies


def common_constant(values: Sequence[Value | None]) -> Node | None:
    """The constant that all values are, if it is small and one."""
    found: Node | None = None
    for value in values:
        node = None if value is None else value.node
        if node is None or node.op is not CONSTANT or node.attrs[0].is_large:
            return None
        if found is None:
            found = node
        elif node.attrs != found.attrs or node.outputs[0].type != found.outputs[0].type:
            return None
    return found
