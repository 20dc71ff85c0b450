"""A graph with stages of a pipeline as parts, each compiled for the devices of its stage.

Each node belongs to a stage and to a micro batch: those that it is marked with (`weft.parallel.stages`), or those of
what it computes with. Nodes of the same stage and micro batch are one part, cut where others come between. Parts that
compute the same are compiled once. They run in the order in which the stages would compute at the same time.
"""

from __future__ import annotations

import math
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from jax.sharding import Mesh, NamedSharding

from weft.compile.schedule import Job, scheduled
from weft.core.primitive import ACROSS, Primitive
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.parallel import placement
from weft.parallel.crossing import here
from weft.parallel.placement import CONSTRAINT, Place, sharding
from weft.parallel.stages import STAGE
from weft.parallel.strategies import grid
from weft.passes.rewrite import copy_graph, cut_out, graphs_of, rewrite, structure

#: the graphs of parts, each for one stage
_ALONE: Final[weakref.WeakSet[Graph]] = weakref.WeakSet()


def is_staged(graph: Graph) -> bool:
    """Whether a graph is one of several stages: it has marks of stages, or places of what belongs to them."""
    if placement.stages() == 1 or graph in _ALONE:
        return False
    return any(node.op is STAGE or node.op is CONSTRAINT for node in graph.walk())


class Home(NamedTuple):
    """Where and for what a value is computed.

    Args:
        stage: the stage, None for any.
        micro: the last micro batch that it comes from, None for none.
        joins: whether it comes from several of them.
    """

    stage: int | None
    micro: int | None
    joins: bool


class Part(NamedTuple):
    """Nodes that are compiled together.

    Args:
        stage: on whose devices; None for those of any.
        graph: what they compute; parts that compute the same have the same. For an operation that meets other
            processes, the node.
        inputs: values of the whole graph, one for each parameter.
        outputs: values of the whole graph, one for each output.
    """

    stage: int | None
    graph: Graph | Node
    inputs: Sequence[Value]
    outputs: Sequence[Value]


def staged(graph: Graph, stages: int, scheduler: str, compact: Callable[[Graph], Graph]) -> tuple[Graph, list[Part]]:
    """The parts of a graph in the order in which they run.

    Args:
        graph: with stages.
        stages: how many there are.
        scheduler: one of `weft.context.SCHEDULERS`.
        compact: makes repeated stretches of a part one; it may change what it is given.

    Returns:
        tuple: the graph that the parts are of, which computes the same, and the parts.
    """
    size = placement.count() // stages
    graph = copy_graph(graph)
    homes = homes_of(graph, size)
    in_order_of_batches(graph, homes)
    users = _users(graph)
    _settle(graph, homes, users, size)
    groups = _groups(graph, homes, users)
    made: dict[Any, Graph] = {}
    parts, jobs = [], []
    maker = {node: number for number, (_, nodes) in enumerate(groups) for node in nodes}
    begun: Counter[Home] = Counter()
    for home, nodes in groups:
        found = _part(graph, home.stage, nodes, users)
        if isinstance(found.graph, Graph):
            key = home.stage, structure(found.graph)
            alone = made.get(key)
            if alone is None:
                _ALONE.add(found.graph)
                alone = made[key] = compact(found.graph)
                _ALONE.add(alone)
            found = found._replace(graph=alone)
        needs = {maker[v.node] for v in found.inputs if v.node in maker}
        jobs.append(Job(home.stage or 0, None if home.joins else home.micro, begun[home] > 0, needs))
        begun[home] += 1
        parts.append(found)
    return graph, [parts[i] for i in scheduled(jobs, stages, scheduler)]


def homes_of(graph: Graph, size: int) -> dict[Value, Home]:
    """The home of each value that a node computes.

    Args:
        graph: a graph.
        size: devices of a stage.
    """
    homes: dict[Value, Home] = {}
    for node in graph.nodes:
        home = _home(node, homes, size)
        homes.update(dict.fromkeys(node.outputs, home))
    return homes


_FREE: Final = Home(None, None, False)


def _home(node: Node, homes: dict[Value, Home], size: int) -> Home:
    inputs = [(homes.get(v, _FREE), v) for v in node.inputs if v is not None]
    batches = {home.micro for home, _ in inputs if home.micro is not None}
    micro = max(batches, default=None)
    joins = len(batches) > 1 or any(home.joins for home, _ in inputs)
    if node.op is STAGE:
        stage, marked = node.attrs
        stage = inputs[0][0].stage if stage is None else stage
        return Home(stage, micro, joins) if marked is None else Home(stage, marked, False)
    if node.op is CONSTRAINT and node.attrs[2]:
        return Home(node.attrs[2][0] // size, micro, joins)
    # most of what it computes with is there; weights and what is made of them go where the batch is
    chosen = max(
        [(home.micro is not None, _bytes(v), home.stage) for home, v in inputs if home.stage is not None],
        default=(False, 0, None),
    )
    return Home(chosen[2], micro, joins)


def _bytes(value: Value) -> int:
    kind = value.type
    return math.prod(kind.shape) * kind.dtype.itemsize if isinstance(kind, TensorType) and not kind.is_open else 1


def _users(graph: Graph) -> dict[Value, list[Node]]:
    users: dict[Value, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        for value in dict.fromkeys(node.inputs):
            if value is not None:
                users[value].append(node)
    return users


def in_order_of_batches(graph: Graph, homes: dict[Value, Home]) -> None:
    """Add what micro batches give in the order in which these come, in place.

    Gradients are added up from the last use of a value to the first, and the last micro batch is the last use: all
    gradients would have to be kept until it is there.

    Args:
        graph: the graph.
        homes: the home of each value; new ones are added.
    """
    users = _users(graph)
    results = set(graph.outputs)
    add = Primitive.table["Add"]

    def joins(node: Node | None) -> bool:
        """Whether a node adds what different micro batches give, of one type."""
        if node is None or node.op is not add or len({v.type for v in (*node.inputs, *node.outputs) if v}) > 1:
            return False
        batches = [homes.get(v, _FREE).micro for v in node.inputs if v is not None]
        return None not in batches and len(set(batches)) > 1

    def within(node: Node) -> bool:
        """Whether a sum is no more than a term of another one."""
        used = users[node.outputs[0]]
        return len(used) == 1 and joins(used[0]) and node.outputs[0] not in results

    def terms(node: Node) -> list[Value]:
        found: list[Value] = []
        stack = [v for v in reversed(node.inputs) if v is not None]
        while stack:
            value = stack.pop()
            if value.node is not None and joins(value.node) and within(value.node):
                stack.extend(v for v in reversed(value.node.inputs) if v is not None)
            else:
                found.append(value)
        return found

    old, graph.nodes = graph.nodes, []
    replaced: dict[Value, Value] = {}
    for node in old:
        if not joins(node):
            node.inputs = tuple([None if v is None else replaced.get(v, v) for v in node.inputs])
            graph.nodes.append(node)
        elif not within(node):
            total, *others = [replaced.get(v, v) for v in sorted(terms(node), key=lambda v: homes[v].micro or 0)]
            for term in others:
                made = graph.add_node(add, (total, term), node.attrs, (total.type,), (), node.location)
                batch = max(homes[v].micro or 0 for v in made.inputs if v is not None)
                homes[made.outputs[0]] = homes[node.outputs[0]]._replace(micro=batch)
                total = made.outputs[0]
            replaced[node.outputs[0]] = total
    graph.outputs = [replaced.get(v, v) for v in graph.outputs]


def _settle(graph: Graph, homes: dict[Value, Home], users: dict[Value, list[Node]], size: int) -> None:
    """Let what no stage computes, as casts of weights and parts of a batch, be computed by the one that uses it, and
    what is made of it too, in place.
    """
    free = [
        node for node in graph.nodes if node.op is not CONSTANT and all(homes[v].stage is None for v in node.outputs)
    ]
    for node in reversed(free):
        found = {homes[v].stage for value in node.outputs for user in users[value] for v in user.outputs} - {None}
        if len(found) == 1:
            (stage,) = found
            homes.update((v, homes[v]._replace(stage=stage)) for v in node.outputs)
    for node in free:
        if any(v is not None and v.node is not None and v.node.op is not CONSTANT for v in node.inputs):
            homes.update(dict.fromkeys(node.outputs, _home(node, homes, size)))


def _groups(graph: Graph, homes: dict[Value, Home], users: dict[Value, list[Node]]) -> list[tuple[Home, list[Node]]]:
    """The nodes that are compiled together, in an order in which they can run.

    A node is some levels behind the parameters: one more wherever home changes on the way. Nodes with the same home
    and level need nothing that lies between them.
    """
    nodes = [node for node in graph.nodes if node.op is not CONSTANT and node.outputs]
    home = {node: homes[node.outputs[0]] for node in nodes}
    levels: dict[Node, int] = {}

    def step(before: Node, behind: Node) -> int:
        alone = before.op.effect == ACROSS or behind.op.effect == ACROSS
        return int(alone or home[before] != home[behind])

    for node in nodes:
        makers = [v.node for v in node.inputs if v is not None and v.node in levels]
        levels[node] = max([levels[maker] + step(maker, node) for maker in makers if maker is not None], default=0)
    # what is not needed before comes with what needs it, so that parts are few
    for node in reversed(nodes):
        behind = [(levels[user], step(node, user)) for v in node.outputs for user in users[v] if user in levels]
        latest = min([level - further for level, further in behind], default=0)
        if latest > levels[node] and (latest, 0) in behind:
            levels[node] = latest
    found: dict[Any, tuple[Home, list[Node]]] = {}
    for node in nodes:
        alone = node if node.op.effect == ACROSS else None
        found.setdefault((levels[node], home[node], alone), (home[node], []))[1].append(node)
    return [found[key] for key in sorted(found, key=lambda key: key[0])]


def _part(graph: Graph, stage: int | None, nodes: list[Node], users: dict[Value, list[Node]]) -> Part:
    """Nodes as a part."""
    first = nodes[0]
    if first.op.effect == ACROSS:
        return Part(stage, first, [v for v in first.inputs if v is not None], first.outputs)
    inside = set(nodes)
    results = set(graph.outputs)
    outputs = [
        v for node in nodes for v in node.outputs if v in results or any(user not in inside for user in users[v])
    ]
    alone, inputs = cut_out(f"{graph.name}_stage_{stage}", graph, nodes, outputs)
    where = stage if stage is not None else here()
    size = placement.count() // placement.stages()

    def without_marks(node: Node) -> Sequence[Value] | None:
        elsewhere = node.op is CONSTRAINT and node.attrs[2] and node.attrs[2][0] // size != where
        return (node.inputs[0],) if node.op is STAGE or elsewhere else None  # type: ignore[return-value]

    for inner in graphs_of(alone):  # a branch or loop is computed by one stage, whatever is in it
        rewrite(inner, without_marks)
    for node in alone.walk():
        if node.op is CONSTRAINT:
            node.attrs = tuple(Place(*node.attrs).at(where))
    return Part(stage, alone, inputs, outputs)


class Move:
    """Puts an array on the devices of a stage, where it is not there.

    Args:
        stage: the stage.
    """

    def __init__(self, stage: int) -> None:
        self.whole = sharding(Place(*grid(), ()).at(stage))
        self.devices = self.whole.device_set
        self._others: dict[Any, NamedSharding] = {}

    def __call__(self, array: Any) -> Any:
        where = getattr(array, "sharding", None)
        if where is None or where.device_set == self.devices:
            return array
        found = self._others.get(where)
        if found is None:
            found = self._others[where] = self._like(where)
        return placement.moved(array, found)

    def alone(self, array: Any) -> tuple[Any]:
        """The one array, as what a part gives."""
        return (self(array),)

    def _like(self, where: Any) -> NamedSharding:
        """The same layout on other devices, where they are as many."""
        if isinstance(where, NamedSharding) and len(where.device_set) == len(self.devices):
            mesh = Mesh(self.whole.mesh.devices.reshape(where.mesh.devices.shape), where.mesh.axis_names)
            return NamedSharding(mesh, where.spec)
        return self.whole
