"""One loop in the making: what the steps of a stretch carry, read and keep, and the `Repeat` that does the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from weft.core.control import add_repeat
from weft.core.number import TO_NUMBER
from weft.core.primitive import PURE
from weft.core.trace import CONSTANT, EMBED_LIMIT, Literal
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.index import GETITEM
from weft.ops.shape import FULL
from weft.passes.rewrite import copy_graph
from weft.passes.stretches import Place, Uses, common_constant, copied
from weft.passes.unstack import Item

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


class Run:
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

    def is_hopeless(self, items: Mapping[Value, Item]) -> bool:
        """Whether two steps in the middle read different things from before the run that cannot lie on a stack, as the
        parameters of layers are: then no loop has both.

        Args:
            items: the known items of stacks.
        """
        middle = self.count // 2
        if middle <= _FURTHEST or middle + 1 >= self.count:  # there may be what is carried into the loop
            return False
        start = self.first + middle * self.period
        for i in range(start, start + self.period):
            for here, after in zip(self.nodes[i].inputs, self.nodes[i + self.period].inputs, strict=True):
                if here is after or here is None or after is None:
                    continue
                before = self.uses.made(here) < self.first and self.uses.made(after) < self.first
                if (
                    before
                    and not (here in items and after in items)
                    and not (_is_constant(here) and _is_constant(after))
                ):
                    return True
        return False

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


def _is_constant(value: Value) -> bool:
    return value.node is not None and value.node.op is CONSTANT


@dataclass
class Loop:
    """A loop in the making.

    Args:
        worth: nodes that are worth an iteration.
        graph: the graph, in which the loop comes next.
        items: the known items of stacks.
        replaced: values of the unrolled steps that loops before this one give.
    """

    worth: int
    graph: Graph
    items: dict[Value, Item]
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

    def read(self, run: Run, start: int, count: int) -> bool:
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
        if not all(map(_is_constant, values)):
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
        wanted = self.worth // 2 if self._is_one_kernel(body) else self.worth
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
