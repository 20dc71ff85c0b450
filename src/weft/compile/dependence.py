"""Which inputs of a graph its outputs depend on."""

from __future__ import annotations

from collections.abc import Sequence

from weft.core.control import CALL, IF, WHILE
from weft.ir.graph import Graph, Value


def always_dependent(graph: Graph, followed: Sequence[bool]) -> set[int]:
    """The outputs that are computed from a followed input whatever branches are taken, and however often loops run.

    Args:
        graph: the graph.
        followed: for each parameter, whether a gradient follows it.

    Returns:
        set: the numbers of the outputs.
    """
    found: set[Value | None] = {param for param, follow in zip(graph.params, followed, strict=True) if follow}
    for node in graph.nodes:
        given = [value in found for value in node.inputs]
        if node.op is IF:
            sides = [always_dependent(region, given[1:]) for region in node.regions]
            depend = sides[0].intersection(*sides[1:])
        elif node.op is WHILE:
            count: int = node.attrs[0]
            depend = {place for place in range(count) if given[place]}
            before = None
            while depend != before:  # ever fewer: what a round of the loop replaces by something else
                before = depend
                carried = [place in depend for place in range(count)]
                depend = depend & always_dependent(node.regions[0], [*carried, *given[count:]])
        elif node.op is CALL:
            depend = always_dependent(node.regions[0], given)
        else:
            depend = (
                set(range(len(node.outputs))) if any(given) and not getattr(node.op, "no_gradient", False) else set()
            )
        found.update(node.outputs[place] for place in depend)
    return {place for place, value in enumerate(graph.outputs) if value in found}


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
            if value.node is not None and not getattr(value.node.op, "no_gradient", False):
                stack += [operand for operand in value.node.inputs if operand is not None]
    return frozenset(number for number, param in enumerate(graph.params) if param in seen)
