"""Reads printed graphs back with the operations that this process knows."""

from __future__ import annotations

from weft.autodiff.rules import generic_derivative
from weft.core.primitive import Primitive
from weft.core.trace import Literal
from weft.ir.graph import Graph
from weft.ir.parser import parse_graph


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


def read_graph(text: str) -> Graph:
    """A graph from its text, see `weft.ir.parser.parse_graph`.

    Args:
        text: what `weft.ir.text.format_graph` writes.

    Returns:
        Graph: prints to the same text.

    Raises:
        GraphError: the text is malformed or names something unknown.

    Example:
        >>> read_graph("subgraph @id(%x: f32[2]) { Return(%x) }").name
        'id'
    """
    return parse_graph(text, operation, Literal)
