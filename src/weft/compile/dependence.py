"""Which inputs of a graph its values depend on."""

from __future__ import annotations

from collections.abc import Sequence

from weft.core.control import CALL, IF, WHILE
from weft.ir.graph import Graph, Node, Value


def always_dependent(graph: Graph, followed: Sequence[bool]) -> set[int]:
    """The outputs that are computed from a followed input whatever branches are taken, and however often loops run.

    Args:
        graph: the graph.
        followed: for each parameter, whether a gradient follows it.

    Returns:
        set: the numbers of the outputs.
    """
    found = always_followed(graph, followed)
    return {place for place, value in enumerate(graph.outputs) if value in found}


def always_followed(graph: Graph, followed: Sequence[bool]) -> set[Value]:
    """The values that are computed from a followed input whatever branches are taken, and however often loops run.

    Args:
        graph: the graph, which may be under construction.
        followed: for each parameter, whether a gradient follows it.
    """
    found = {param for param, follow in zip(graph.params, followed, strict=True) if follow}
    for node in graph.nodes:
        given = [value in found for value in node.inputs]
        if node.op is IF:
            depend = always_given(node.regions, given[1:])
        elif node.op is WHILE:
            depend = always_carried(node.regions[0], node.attrs[0], given)
        elif node.op is CALL:
            depend = always_dependent(node.regions[0], given)
        else:
            depend = set(range(len(node.outputs))) if any(given) and not _stops(node) else set()
        found.update(node.outputs[place] for place in depend)
    return found


def always_given(sides: Sequence[Graph], followed: Sequence[bool]) -> set[int]:
    """The results of a branch that are computed from a followed operand on each side."""
    depend = [always_dependent(side, followed) for side in sides]
    return depend[0].intersection(*depend[1:])


def always_carried(body: Graph, count: int, followed: Sequence[bool]) -> set[int]:
    """The values after a loop that are computed from a followed operand however often it runs.

    Args:
        body: an iteration.
        count: how many values it carries.
        followed: for each carried value and each invariant, whether a gradient follows it.
    """
    depend = {place for place in range(count) if followed[place]}
    before = None
    while depend != before:  # ever fewer: what a round of the loop replaces by something else
        before = depend
        carried = [place in depend for place in range(count)]
        depend = depend & always_dependent(body, [*carried, *followed[count:]])
    return depend


def ever_followed(graph: Graph, followed: Sequence[bool]) -> set[Value]:
    """The values that may be computed from a followed input.

    Args:
        graph: the graph, which may be under construction.
        followed: for each parameter, whether a gradient follows it.
    """
    found = {param for param, follow in zip(graph.params, followed, strict=True) if follow}
    for node in graph.nodes:
        if not _stops(node) and not found.isdisjoint(value for value in node.inputs if value is not None):
            found.update(node.outputs)
    return found


def ever_carried(body: Graph, count: int, followed: Sequence[bool]) -> set[int]:
    """The values after a loop that may be computed from a followed operand, in whatever iteration.

    For the arguments see `always_carried`.
    """
    found = {place for place in range(count) if followed[place]}
    before = None
    while found != before:  # ever more: what an iteration computes from values that one before it computed
        before = found
        values = ever_followed(body, [*[place in found for place in range(count)], *followed[count:]])
        found = found | {place for place in range(count) if body.outputs[place] in values}
    return found


def _stops(node: Node) -> bool:
    """Whether no gradient passes an operation."""
    return bool(getattr(node.op, "no_gradient", False))


def inputs_behind(graph: Graph, place: int) -> frozenset[int]:
    """The parameters that an output may be computed from by operations that have a gradient.

    Args:
        graph: the graph.
        place: the number of the output.
    """
    stack, seen = [graph.outputs[place]], set()
    while stack:
        value = stack.pop()
        if value not in seen:
            seen.add(value)
            if value.node is not None and not _stops(value.node):
                stack += [operand for operand in value.node.inputs if operand is not None]
    return frozenset(number for number, param in enumerate(graph.params) if param in seen)
