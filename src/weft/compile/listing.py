"""Graphs as text that other processes read back, with the operations that they know."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from weft.autodiff.rules import generic_derivative
from weft.compile.body import Body
from weft.core.primitive import Primitive
from weft.core.trace import Literal
from weft.ir.graph import Graph
from weft.ir.parser import parse_graph
from weft.ir.text import format_graph, has_text, held_graph


def operation(name: str) -> Primitive:
    """The primitive with a name; ``Grad<Name>`` is the derivative that JAX makes of ``<Name>``.

    Args:
        name: as shown in graph text.

    Raises:
        KeyError: no such primitive is declared.

    Example:
        >>> operation("If").name
        'If'
    """
    found = Primitive.named(name)
    if found is not None:
        return found
    if name.startswith("Grad"):
        return generic_derivative(operation(name[len("Grad") :]))
    raise KeyError(name)


def operations_of(graph: Graph) -> dict[str, str] | None:
    """The operations of a graph and those nested in it: name -> the name under which other processes know them.

    Args:
        graph: any graph.

    Returns:
        None if code of the program takes part in one of them, or if one has attributes without a text.
    """
    names: dict[str, str] = {}
    seen: set[int] = set()
    stack: list[Any] = [graph]
    while stack:
        found = stack.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        for node in found.nodes:
            name = getattr(node.op, "known_as", None)
            held = [held_graph(value) for value in node.attrs]
            others = [value for value, graph in zip(node.attrs, held, strict=True) if graph is None]
            if name is None or names.setdefault(node.op.name, name) != name or not all(map(has_text, others)):
                return None
            stack.extend([*node.regions, *[graph for graph in held if graph is not None]])
    return names


def known_digest(graph: Graph) -> str | None:
    """A digest of what a graph computes, the same in all processes; None if code of the program takes part."""
    names = operations_of(graph)
    if names is None:
        return None
    others = sorted((name, known_as) for name, known_as in names.items() if name != known_as)
    return hashlib.sha256(f"{others} {format_graph(graph, locations=False)}".encode()).hexdigest()


def read_graph(text: str, names: Mapping[str, str] | None = None) -> Graph:
    """A graph from its text, see `weft.ir.parser.parse_graph`.

    Args:
        text: what `weft.ir.text.format_graph` writes.
        names: what `operations_of` said of the graph.

    Returns:
        Graph: prints to the same text.

    Raises:
        GraphError: the text is malformed or names something unknown.

    Example:
        >>> read_graph("subgraph @id(%x: f32[2]) { Return(%x) }").name
        'id'
    """

    def resolve(name: str) -> Primitive:
        known_as = name if names is None else names[name]
        make = Primitive.makers.get(known_as)
        return operation(known_as) if make is None else make()

    return parse_graph(text, resolve, Literal, Body)
