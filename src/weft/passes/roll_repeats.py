"""Stretches of a graph that repeat one after the other become one loop, whose body is compiled once.

Capture unrolls the loops of a program. Where their steps compute the same, on what the step before gave, on what is the
same for all, and on what stands at one position after the other, the graph says so here: with a `Repeat`. What the
steps read is compared exactly, so that the loop computes what the nodes did, whatever led to the choice of the stretch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from weft.core.control import add_repeat
from weft.core.number import TO_NUMBER
from weft.core.primitive import PURE, Primitive
from weft.core.trace import CONSTANT, EMBED_LIMIT, Literal
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.index import GETITEM, SLICE_AT
from weft.ops.shape import FULL
from weft.passes.base import Pass
from weft.passes.rewrite import constant_array, copy_graph, replace, rewrite
from weft.passes.stretches import (
    Place,
    Uses,
    common_constant,
    content_of,
    copied,
    hoist,
    numbered,
    runs,
    without_identity,
)

#: periods that are tried in a round: the most frequent distances of equal nodes, and those that would save most
_TRIED: Final = 8
#: a node and the first, second... equal one after it give the distances
_OCCURRENCES: Final = 4
#: rounds over one graph: each may find loops around those that the one before made
_ROUNDS: Final = 8
#: times that a body is run at least: for less, the loop saves little
_SMALLER: Final = 3
#: steps back that a step may read
_FURTHEST: Final = 4
#: bytes of a loop of elementwise operations up to which XLA compiles all of it into one kernel
_ONE_KERNEL: Final = 512
#: operations of which XLA makes no kernel of their own, besides elementwise ones
_PLAIN: Final = frozenset(
    {"Constant", "Repeat", "SliceAt", "GetItem", "ToNumber", "FromNumber", "Cast", "Reshape", "BroadcastTo", "Full"}
)
_CONCAT: Final = Primitive.table["Concat"]
_STACK: Final = Primitive.table["Stack"]
#: an item of a stack: the stack, the position
_Item = tuple[Value, int]


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
        rewrite(graph, _Unstacking(graph, items).visit)
        return graph

    def _rows(self, graph: Graph) -> dict[Value, _Item]:
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

    def _round(self, graph: Graph, items: dict[Value, _Item]) -> bool:
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

    def _roll(
        self, graph: Graph, numbers: Any, before: Any, uses: Uses, period: int, items: dict[Value, _Item]
    ) -> bool:
        loops = []
        replaced: dict[Value, Value] = {}
        old, graph.nodes = graph.nodes, []
        position = 0
        for first, end in self._long(numbers, before, period):
            first = max(first, position)
            if end - first < self.least * period:
                continue
            run = _Run(old, uses, uses.narrowest(first, end, period), end, period)
            start, count = run.steady(self.least)
            size = int(before[start + period] - before[start]) if count else 0
            if count < self.least or size > self.most or size * count <= self.limit:
                continue
            loop = _Loop(self, graph, items, replaced)
            head = len(graph.nodes)
            graph.nodes += old[position:start]
            if not (loop.read(run, start, count) and loop.write(size)):
                del graph.nodes[head:]  # with the stacks that were made already
                continue
            loops.append(loop)
            position = start + count * period
        graph.nodes += old[position:]
        replace(graph, replaced)
        if loops:
            graph.note("loops compiled as loops", len(loops))
        return bool(loops)


def _size(node: Node) -> int:
    """What compiling a node costs, in nodes."""
    return 1 + sum(len(region) for region in node.regions)


def _row(node: Node) -> _Item | None:
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


class _Run:
    """Stretches of equal nodes, one after the other.

    Args:
        nodes: the nodes of the graph.
        uses: where its values are made and used.
        first: the first node.
        end: one past the last.
        period: nodes in a stretch.
    """

    def __init__(self, nodes: Sequence[Node], uses: Uses, first: int, end: int, period: int) -> None:
        self.nodes = nodes
        self.uses = uses
        self.first = first
        self.count = (end - first) // period
        self.period = period

    def operands(self, start: int, count: int) -> Iterator[tuple[Place, tuple[Value, ...]]]:
        """What each operand of a step is in one step after the other."""
        for offset in range(self.period):
            for place, value in enumerate(self.nodes[start + offset].inputs):
                if value is not None:
                    stop = start + offset + count * self.period
                    values: Any = [self.nodes[i].inputs[place] for i in range(start + offset, stop, self.period)]
                    yield (offset, place), tuple(values)

    def steady(self, least: int) -> tuple[int, int]:
        """The first node and the number of steps, around the middle of the run, that seem to be a loop's; no steps if
        they are fewer than `least`.
        """
        low, high = 0, self.count
        middle = self.count // 2
        if self.count < 3:
            return self.first, 0
        for _, values in self.operands(self.first, self.count):
            if high - low < least:
                return self.first, 0
            made = np.array([self.uses.made(value) for value in values])
            steps = np.where(made >= self.first, (made - self.first) // self.period, -1)
            here, after = values[middle], values[middle + 1]
            lag = middle - steps[middle]
            if here is after:
                fits = np.array([value is here for value in values])
                low = max(low, steps[middle] + 1)
            elif made[middle] >= self.first and made[middle + 1] - made[middle] == self.period:
                fits = made - made[middle] == (np.arange(self.count) - middle) * self.period
                if lag > 0:  # before the first step that reads another one stands what is carried into the loop
                    wrong = np.flatnonzero(~fits[:middle])
                    low = max(low, (int(wrong[-1]) + 1 if len(wrong) else 0) - lag)
                    fits[:middle] = True
            else:
                continue
            wrong = np.flatnonzero(~fits)
            low = max(low, int(wrong[wrong < middle][-1]) + 1 if (wrong < middle).any() else 0)
            high = min(high, int(wrong[wrong > middle][0]) if (wrong > middle).any() else self.count)
        return self.first + int(low) * self.period, max(int(high - low), 0)


@dataclass
class _Loop:
    """A loop in the making.

    Args:
        limits: what a loop may be.
        graph: the graph, in which the loop comes next.
        items: the known items of stacks.
        replaced: values of the unrolled steps that loops before this one give.
    """

    limits: RollRepeats
    graph: Graph
    items: dict[Value, _Item]
    replaced: dict[Value, Value]
    #: for each carried value the initial one, and what the next is: of a node of the body, or another carried one
    carry: list[tuple[Value, Place | int]] = field(default_factory=list)
    stacks: list[tuple[Value, int, int]] = field(default_factory=list)
    item_types: list[TensorType] = field(default_factory=list)
    invariants: list[Value] = field(default_factory=list)
    #: what a node of the body takes from outside of it: the kind of parameter and its number, or a constant
    taken: dict[Place, tuple[int, int] | Node] = field(default_factory=dict)
    #: where in a step what the code after the loop reads is made, in each step or in the last one
    kept: list[Place] = field(default_factory=list)
    last: dict[Place, int] = field(default_factory=dict)

    def read(self, run: _Run, start: int, count: int) -> bool:
        """Whether steps from a node on are a loop: finds out what they carry, read and keep."""
        self.run, self.start, self.count = run, start, count
        self.end = start + count * run.period
        known: dict[tuple[Value, ...], tuple[int, int]] = {}
        for place, values in run.operands(start, count):
            found = known.get(values)
            if found is None:
                constant = common_constant(values)
                if constant is not None:
                    self.taken[place] = constant
                    continue
                if self._inside(values, start):
                    continue
                found = self._parameter(values)
                if found is None:
                    return False
                known[values] = found
            self.taken[place] = found
        return self._outputs()

    def _place(self, value: Value, step: int) -> Place:
        """Where a value is made, counted from the beginning of a step."""
        return self.run.uses.made(value) - self.start - step * self.run.period, value.index

    def _inside(self, values: Sequence[Value], start: int) -> bool:
        place = self._place(values[0], 0)
        return place[0] >= 0 and all(self._place(value, step) == place for step, value in enumerate(values))

    def _earlier(self, values: Sequence[Value]) -> bool:
        return all(self.run.uses.made(value) < self.start for value in values)

    def _parameter(self, values: tuple[Value, ...]) -> tuple[int, int] | None:
        if all(value is values[0] for value in values):
            if not self._earlier(values[:1]):
                return None
            self.invariants.append(self.replaced.get(values[0], values[0]))
            return 2, len(self.invariants) - 1
        if self.run.uses.made(values[-1]) >= self.start:
            return self._carried(values)
        return self._stacked(values) if self._earlier(values) else None

    def _carried(self, values: tuple[Value, ...]) -> tuple[int, Any] | None:
        """What a step a few steps before gave."""
        period = self.run.period
        behind = self.count - 1 - (self.run.uses.made(values[-1]) - self.start) // period
        if not 0 < behind <= min(_FURTHEST, self.count - 1) or not self._earlier(values[:behind]):
            return None
        place = self._place(values[-1], self.count - 1 - behind)
        if any(self._place(values[k], k - behind) != place for k in range(behind, self.count)):
            return None
        before: Place | int = place
        for k in reversed(range(behind)):
            entry = self.replaced.get(values[k], values[k]), before
            if entry not in self.carry:
                self.carry.append(entry)
            if before is place:
                self.last.setdefault(place, self.carry.index(entry))
            before = self.carry.index(entry)
        return 0, before

    def _stacked(self, values: tuple[Value, ...]) -> tuple[int, int] | None:
        """What stands at one position of a stack after the other."""
        kind: Any = values[0].type
        if not isinstance(kind, TensorType) or any(value.type is not kind for value in values):
            return None
        values = tuple([self.replaced.get(value, value) for value in values])
        found = self._on_a_stack(values) or self._constants(values, kind)
        if found is None:
            return None
        self.stacks.append(found)
        self.item_types.append(kind)
        return 1, len(self.stacks) - 1

    def _on_a_stack(self, values: Sequence[Value]) -> tuple[Value, int, int] | None:
        items = [self.items.get(value) for value in values]
        if items[0] is None or items[1] is None:
            return None
        stack, first = items[0]
        step = items[1][1] - first
        wanted = [(stack, first + i * step) for i in range(len(values))]
        fits = all(item is not None and item[0] is stack and item == w for item, w in zip(items, wanted, strict=True))
        return (stack, first, step) if fits else None

    def _constants(self, values: Sequence[Value], kind: TensorType) -> tuple[Value, int, int] | None:
        """Constants on a stack. Other values are on none: what puts them there takes longer than it saves, to compile
        and to run.
        """
        if any(value.node is None or value.node.op is not CONSTANT for value in values):
            return None
        if kind.size * kind.dtype.itemsize * len(values) > EMBED_LIMIT:
            return None
        stack = TensorType.of(kind.dtype, (len(values), *kind.shape))
        literal = Literal(np.stack([value.node.attrs[0].array for value in values]))  # type: ignore[union-attr]
        return self.graph.add_node(CONSTANT, (), (literal,), (stack,)).outputs[0], 0, 1

    def _outputs(self) -> bool:
        """Find out what the code after the loop reads."""
        last, nodes, period = self.run.uses.last, self.run.nodes, self.run.period
        #: for each value that is read after the loop: what of the body it is, in which step
        self.read_after: list[tuple[Value, Place, int]] = []
        for offset in range(period):
            for index in range(len(nodes[self.start + offset].outputs)):
                made = [nodes[self.start + offset + step * period].outputs[index] for step in range(self.count)]
                read = [step for step, value in enumerate(made) if last.get(value, -1) >= self.end]
                if not read:
                    continue
                place, kind = (offset, index), made[0].type
                self.read_after += [(made[step], place, step) for step in read]
                if read != [self.count - 1]:
                    if not isinstance(kind, TensorType):
                        return False
                    self.kept.append(place)
                elif place not in self.last:
                    initial = self._any(kind)
                    if initial is None:
                        return False
                    self.last[place] = len(self.carry)
                    self.carry.append((initial, place))
        return True

    def _any(self, kind: Any) -> Value | None:
        """A value of a type, for what nobody reads."""
        for value in (*[initial for initial, _ in self.carry], *self.invariants):
            if value.type is kind:
                return value
        if not isinstance(kind, TensorType) or kind.weak is not None:
            return None
        return self.graph.add_node(FULL, (), (kind.shape, 0, kind.dtype), (kind,)).outputs[0]

    def write(self, size: int) -> bool:
        """Append the loop, and what the code after it reads of it; False if it were as large as the unrolled one.

        Args:
            size: nodes of a step.
        """
        body = self._body()
        before = len(self.graph.nodes)
        at_once = self._at_once(body)
        if at_once is not None:
            self._give(at_once)
            return True
        del self.graph.nodes[before:]
        wanted = self.limits.body // 2 if self._is_one_kernel(body) else self.limits.body
        unroll = unrolled(self.count, size, max(wanted, 1))
        if self.count < _SMALLER * unroll:
            return False
        first = self.run.nodes[self.start]
        results = add_repeat(
            self.graph,
            [initial for initial, _ in self.carry],
            self.stacks,
            self.invariants,
            body,
            self.count,
            unroll,
            first.location,
        )
        self._give(results)
        return True

    def _at_once(self, body: Graph) -> list[Value] | None:
        """The stacks that the loop gives, computed element by element in all iterations at once, if that is possible:
        nothing is carried, and every operation of the body computes each element by itself.
        """
        count = self.count
        ranks = {len(kind.shape) for kind in self.item_types}
        if self.carry or len(ranks) != 1 or any(kind.weak is not None for kind in self.item_types):
            return None
        (rank,) = ranks
        values: dict[Value | None, Value] = {}
        for param, (stack, first, step) in zip(body.params, self.stacks, strict=False):
            if (first, step) != (0, 1) or stack.type.shape[0] != count:  # type: ignore[union-attr]
                return None
            values[param] = stack
        varying = set(values)
        values.update(zip(body.params[len(self.stacks) :], self.invariants, strict=True))
        for node in body.nodes:
            kinds: list[Any] = [value.type for value in node.outputs]
            if node.op is CONSTANT:
                values[node.outputs[0]] = self.graph.add_node(CONSTANT, (), node.attrs, tuple(kinds)).outputs[0]
                continue
            elementwise = getattr(node.op, "elementwise", False) and node.op.effect == PURE and len(node.outputs) == 1
            inputs = tuple([values[value] for value in node.inputs if value is not None])
            if not elementwise or len(inputs) < len(node.inputs) or kinds[0].weak is not None:
                return None
            if varying.isdisjoint(node.inputs):
                given = tuple(kinds)
            else:
                if any(len(value.type.shape) > rank for value in node.inputs if value not in varying):  # type: ignore[union-attr]
                    return None
                given = (TensorType.of(kinds[0].dtype, (count, *kinds[0].shape)),)
                varying.update(node.outputs)
            op: Any = node.op
            if len(kinds[0].shape) > rank or op.infer(node.attrs, tuple([value.type for value in inputs])) != given:
                return None
            made = self.graph.add_node(node.op, inputs, node.attrs, given, (), node.location)
            values[node.outputs[0]] = made.outputs[0]
        if not varying.issuperset(body.outputs):
            return None
        return [values[value] for value in body.outputs]

    def _give(self, results: Sequence[Value]) -> None:
        """Let the code after the loop read its results."""
        location = self.run.nodes[self.start].location
        for value, place, step in self.read_after:
            number = self.last.get(place)
            kept = results[len(self.carry) + self.kept.index(place)] if place in self.kept else None
            if step == self.count - 1 and number is not None:
                self.replaced[value] = results[number]
                if kept is not None:
                    self.items[results[number]] = kept, step
                continue
            assert kept is not None
            stack = kept
            spec = (("i", step), *[("s", None, None, None)] * (len(stack.type.shape) - 1))  # type: ignore[union-attr]
            kind: Any = value.type
            plain = TensorType.of(kind.dtype, kind.shape)
            item = self.graph.add_node(GETITEM, (stack,), (spec,), (plain,), (), location).outputs[0]
            if kind.weak is not None:
                item = self.graph.add_node(TO_NUMBER, (item,), (kind.weak,), (kind,), (), location).outputs[0]
            self.replaced[value] = item
            self.items[item] = stack, step

    def _body(self) -> Graph:
        body = Graph(f"{self.graph.name}_body", self.graph)
        groups = [
            [body.add_param(initial.type) for initial, _ in self.carry],
            [body.add_param(kind) for kind in self.item_types],
            [body.add_param(value.type, value.name) for value in self.invariants],
        ]
        copies = copied(
            body,
            self.run.nodes[self.start : self.start + self.run.period],
            self.taken,
            lambda taken: groups[taken[0]][taken[1]],
            lambda node: [copy_graph(region, body) for region in node.regions],
        )
        for _, after in self.carry:
            body.outputs.append(groups[0][after] if isinstance(after, int) else copies[after[0]].outputs[after[1]])
        body.outputs += [copies[offset].outputs[index] for offset, index in self.kept]
        return body

    def _is_one_kernel(self, body: Graph) -> bool:
        """Whether XLA compiles the whole loop into one kernel, in which an iteration costs next to nothing."""
        values = [*body.params, *[value for node in body.nodes for value in node.outputs]]
        if sum(v.type.size * v.type.dtype.itemsize for v in values if isinstance(v.type, TensorType)) > _ONE_KERNEL:
            return False
        return all(node.op.name in _PLAIN or getattr(node.op, "elementwise", False) for node in body.walk())


def unrolled(count: int, size: int, body: int) -> int:
    """How many steps are compiled as one: so many that a body is worth an iteration, without a rest where possible.

    Args:
        count: the number of steps.
        size: nodes of a step.
        body: nodes that are worth an iteration.

    Example:
        >>> unrolled(200, 4, 16), unrolled(199, 4, 16), unrolled(7, 100, 16)
        (4, 4, 1)
    """
    most = min(max(1, -(-body // size)), count // 2 or 1)
    return next((n for n in range(most, most // 2, -1) if count % n == 0), most)


@dataclass
class _Unstacking:
    """``Stack`` of the items of a stack, from the first to the last, is the stack."""

    graph: Graph
    items: dict[Value, _Item]

    def visit(self, node: Node) -> Sequence[Value] | None:
        kinds = {value.type for value in node.inputs if value is not None}
        if node.op is not _STACK or node.attrs[0] != 0 or len(kinds) != 1:
            return None
        parts: list[Value | list[Value]] = []
        position = 0
        while position < len(node.inputs):
            stack = self._whole(node.inputs[position:])
            if stack is not None:
                parts.append(stack)
                position += stack.type.shape[0]  # type: ignore[union-attr]
                continue
            if not parts or not isinstance(parts[-1], list):
                parts.append([])
            parts[-1].append(node.inputs[position])  # type: ignore[union-attr,arg-type]
            position += 1
        if all(isinstance(part, list) for part in parts):
            return None
        return self._joined(node, [self._stack(p) if isinstance(p, list) else p for p in parts])

    def _whole(self, values: Sequence[Value | None]) -> Value | None:
        """The stack whose items the first values are, all of them."""
        stack, _ = self.items.get(values[0], (None, 0))  # type: ignore[arg-type]
        if stack is None:
            return None
        count = stack.type.shape[0]  # type: ignore[union-attr]
        found = [self.items.get(value) for value in values[:count]]  # type: ignore[arg-type]
        return stack if found == [(stack, i) for i in range(count)] else None

    def _stack(self, values: Sequence[Value]) -> Value:
        kind: Any = values[0].type
        stacked = TensorType.of(kind.dtype, (len(values), *kind.shape))
        return self.graph.add_node(_STACK, tuple(values), (0,), (stacked,)).outputs[0]

    def _joined(self, node: Node, parts: Sequence[Value]) -> Sequence[Value]:
        if len(parts) == 1:
            return parts
        return self.graph.add_node(_CONCAT, tuple(parts), (0,), (node.outputs[0].type,), (), node.location).outputs
