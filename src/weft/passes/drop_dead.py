"""What nobody reads is not computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weft.core.control import IF, WHILE, effect_of
from weft.core.primitive import ACROSS
from weft.ir.graph import Graph, Node, Value
from weft.passes.base import Pass
from weft.passes.rewrite import renumber, replace


@dataclass(frozen=True)
class DropDead(Pass):
    """Dead code elimination, through the boundaries of regions.

    ==============================================================  ==========================================
    a node whose results are unread, IO whose token is too          dropped
    an unread `If` result                                           dropped, with what only it needs
    a carried value that only its own next value reads              dropped
    an operand that no region reads, or that stands there twice     dropped
    ==============================================================  ==========================================
    """

    name: ClassVar[str] = "drop-dead"

    def apply(self, graph: Graph) -> Graph:
        _sweep(graph, set())
        return graph


def _sweep(graph: Graph, done: set[int]) -> None:
    """Drop the nodes of a graph all of whose outputs are wanted."""
    live: set[Value | None] = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if live.isdisjoint(node.outputs) and effect_of(node) != ACROSS:  # other processes wait for what nobody reads
            continue
        if node.regions:
            if node.op is IF:
                _prune_if(node, live, done)
            elif node.op is WHILE:
                _prune_while(node, live, done)
            else:
                for region in node.regions:
                    if id(region) not in done:
                        done.add(id(region))
                        _sweep(region, done)
        live.update(node.inputs)
        kept.append(node)
    kept.reverse()
    graph.nodes = kept


def _prune_if(node: Node, live: set[Value | None], done: set[int]) -> None:
    wanted = [i for i, value in enumerate(node.outputs) if value in live]
    if len(wanted) < len(node.outputs):
        node.outputs = _at(node.outputs, wanted)
        renumber(node.outputs)
        for region in node.regions:
            region.outputs = [region.outputs[i] for i in wanted]
    for region in node.regions:
        _share_repeated(region, node.inputs[1:])
        _sweep(region, done)
    then, orelse = (_read(region) for region in node.regions)
    params = zip(node.regions[0].params, node.regions[1].params, strict=True)
    used = [i for i, (a, b) in enumerate(params) if a in then or b in orelse]
    if len(used) < len(node.inputs) - 1:
        node.inputs = (node.inputs[0], *_at(node.inputs[1:], used))
        for region in node.regions:
            _keep_params(region, used)


def _prune_while(node: Node, live: set[Value | None], done: set[int]) -> None:
    body = node.regions[0]
    carried: int = node.attrs[0]
    _share_repeated(body, (*[None] * carried, *node.inputs[carried:]))
    wanted = {0} | {i for i in range(carried) if node.outputs[i] in live}
    while True:
        needed = _needed(body, [body.outputs[i] for i in sorted(wanted)])
        more = {i for i in range(carried) if body.params[i] in needed} - wanted
        if not more:
            break
        wanted |= more
    kept = sorted(wanted)
    if len(kept) < carried:
        body.outputs = [body.outputs[i] for i in kept]
        node.outputs = _at(node.outputs, kept)
        renumber(node.outputs)
    _sweep(body, done)
    read = _read(body)
    invariants = [i for i in range(carried, len(node.inputs)) if body.params[i] in read]
    positions = [*kept, *invariants]
    if len(positions) < len(node.inputs):
        node.inputs = _at(node.inputs, positions)
        node.attrs = (len(kept),)
        _keep_params(body, positions)


def _needed(graph: Graph, outputs: Sequence[Value]) -> set[Value | None]:
    """Everything that some outputs of a graph depend on."""
    needed: set[Value | None] = set(outputs)
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
    return needed


def _read(graph: Graph) -> set[Value | None]:
    """The values that a graph's nodes and outputs read."""
    read: set[Value | None] = set(graph.outputs)
    for node in graph.nodes:
        read.update(node.inputs)
    return read


def _share_repeated(region: Graph, operands: Sequence[Value | None]) -> None:
    """Read the first of several parameters that stand for the same operand; None operands are skipped."""
    first: dict[Value, Value] = {}
    replaced: dict[Value, Value] = {}
    for operand, param in zip(operands, region.params, strict=True):
        if operand is not None and first.setdefault(operand, param) is not param:
            replaced[param] = first[operand]
    if replaced:
        replace(region, replaced)


def _keep_params(region: Graph, positions: Sequence[int]) -> None:
    region.params = [region.params[i] for i in positions]
    renumber(region.params)


def _at(values: Sequence[Any], positions: Sequence[int]) -> tuple[Any, ...]:
    return tuple([values[i] for i in positions])
