"""Stretches of a graph that repeat one after the other become one loop, whose body is compiled once.

Capture unrolls the loops of a program. Where their steps compute the same, on what the step before gave, on what is the
same for all, and on what stands at one position after the other, the graph says so here: with a `Repeat`. What the
steps read is compared exactly, so that the loop computes what the nodes did, whatever led to the choice of the stretch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ops.index import SLICE_AT
from weft.passes.base import Pass
from weft.passes.rewrite import constant_array, replace, rewrite
from weft.passes.rolled_loop import Loop, Run
from weft.passes.stretches import Uses, content_of, hoist, numbered, runs, without_identity
from weft.passes.unstack import Item, Unstacking

#: periods that are tried in a round: the most frequent distances of equal nodes, and those that would save most
_TRIED: Final = 8
#: a node and the first, second... equal one after it give the distances
_OCCURRENCES: Final = 4
#: rounds over one graph: each may find loops around those that the one before made
_ROUNDS: Final = 8


@dataclass(frozen=True)
class RollRepeats(Pass):
    """Make loops of what repeats.

    ``%1 = Add(%0, %x); %2 = Add(%1, %x); ...; %9 = Add(%8, %x)``  ->  ``%9 = Repeat(%0, %x) {count=9, body: Add}``

    Values that an iteration gives and the code after the loop reads are kept on stacks, and so is what each iteration
    reads from elsewhere: constants, rows of a tensor, items of stacks.

    Args:
        limit: nodes that an unrolled loop may have.
        body: nodes that are worth an iteration: steps of fewer are compiled several as one.
        most: nodes of a body; larger ones are compiled by themselves, see `share_repeats`.
        least: iterations of a loop.
    """

    name: ClassVar[str] = "roll-repeats"
    limit: int = 64
    body: int = 16
    most: int = 1000
    least: int = 4

    def apply(self, graph: Graph) -> Graph:
        rewrite(graph, without_identity)
        hoist(graph)
        items = self._rows(graph)
        for _ in range(_ROUNDS):
            if not self._round(graph, items):
                break
        rewrite(graph, Unstacking(graph, items).visit)
        return graph

    def _rows(self, graph: Graph) -> dict[Value, Item]:
        """Rows of tensors, which are read before any step of a loop that goes over them."""
        rows: dict[Value, list[tuple[Node, int]]] = {}
        for node in graph.nodes:
            found = _row(node)
            if found is not None:
                rows.setdefault(found[0], []).append((node, found[1]))
        rows = {source: found for source, found in rows.items() if len(found) >= self.least}
        moved = {node for found in rows.values() for node, _ in found}
        old, graph.nodes = graph.nodes, [node for node in graph.nodes if node.op is CONSTANT]
        for source in (*graph.params, *[node.outputs[0] for node in graph.nodes]):
            graph.nodes += [node for node, _ in rows.get(source, ())]
        for node in old:
            if node.op is CONSTANT or node in moved:
                continue
            graph.nodes.append(node)
            for source in node.outputs:
                graph.nodes += [row for row, _ in rows.get(source, ())]
        return {node.outputs[0]: (source, i) for source, found in rows.items() for node, i in found}

    def _round(self, graph: Graph, items: dict[Value, Item]) -> bool:
        nodes = graph.nodes
        if len(nodes) < self.limit:
            return False
        numbers = numbered([None if any(v in items for v in node.outputs) else content_of(node) for node in nodes])
        before = np.concatenate(([0], np.cumsum([_size(node) for node in nodes])))
        uses: Uses | None = None
        for period in self._periods(numbers, before):
            uses = uses or Uses(graph)
            if self._roll(graph, numbers, before, uses, period, items):
                return True
        return False

    def _long(self, numbers: Any, before: Any, period: int) -> Iterator[tuple[int, int]]:
        """Runs of a period that are worth a loop."""
        for first, end in runs(numbers, period):
            if end - first >= self.least * period and before[end] - before[first] > self.limit:
                yield first, end

    def _periods(self, numbers: Any, before: Any) -> list[int]:
        """Periods at which nodes repeat, those at which most do first."""
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        gaps = np.concatenate(
            [(order[k:] - order[:-k])[ordered[k:] == ordered[:-k]] for k in range(1, _OCCURRENCES + 1)]
        )
        gaps = gaps[gaps * self.least <= len(numbers)]
        if not len(gaps):
            return []
        counts = np.bincount(gaps)
        frequent = np.argsort(counts, kind="stable")[-_TRIED:]
        rewarding = np.argsort(counts * np.arange(len(counts)), kind="stable")[-_TRIED:]
        saved: dict[int, int] = {}
        for period in {int(gap) for gap in (*frequent, *rewarding) if counts[gap]}:
            found = sum(before[end] - before[first + period] for first, end in self._long(numbers, before, period))
            if found:
                saved[period] = int(found)
        return sorted(saved, key=lambda period: (-saved[period], period))

    def _roll(self, graph: Graph, numbers: Any, before: Any, uses: Uses, period: int, items: dict[Value, Item]) -> bool:
        loops = []
        replaced: dict[Value, Value] = {}
        old, graph.nodes = graph.nodes, []
        position = 0
        for first, end in self._long(numbers, before, period):
            first = max(first, position)
            if end - first < self.least * period:
                continue
            run = Run(old, uses, uses.narrowest(first, end, period), end, period)
            if run.is_hopeless(items):
                continue
            start, count = run.steady(self.least)
            size = int(before[start + period] - before[start]) if count else 0
            if count < self.least or size > self.most or size * count <= self.limit:
                continue
            loop = Loop(self.body, graph, items, replaced)
            head = len(graph.nodes)
            graph.nodes += old[position:start]
            if not (loop.read(run, start, count) and loop.write(size)):
                del graph.nodes[head:]  # with the stacks that were made already
                continue
            loops.append(loop)
            position = start + count * period
        graph.nodes += old[position:]
        replace(graph, replaced)
        for value, (source, place) in items.items():  # a later loop reads what stands for the source now
            if source in replaced:
                items[value] = replaced[source], place
        if loops:
            graph.note("loops compiled as loops", len(loops))
        return bool(loops)


def _size(node: Node) -> int:
    """What compiling a node costs, in nodes."""
    return 1 + sum(len(region) for region in node.regions)


def _row(node: Node) -> Item | None:
    """The tensor and the position that a node reads along the first axis, if it reads one whole row."""
    if node.op is not SLICE_AT:
        return None
    x, starts = node.inputs
    sizes, steps, shape = node.attrs
    position = constant_array(starts)
    whole: Any = x.type.shape  # type: ignore[union-attr]
    if x is None or position is None or shape != whole[1:] or sizes != (1, *shape) or set(steps) != {1}:
        return None
    return x, int(position[0])
