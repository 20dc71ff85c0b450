"""Which node of a graph an instruction of its compiled program comes from.

The lowering puts the number of each node, with its operation, into the names that XLA carries along with instructions.
They are numbers and not lines, since a program that was compiled by another process is found again when lines have
moved. What stands around the numbers says of which graph they are, so that no program is read with the numbers of
another graph that happens to compile to the same.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from weft.ir.graph import Graph, Node
from weft.ir.text import held_graph

_NODE: Final = re.compile(r"(?:^|[/(])(?:(\d+)\.(\w+)|graph\.([0-9a-f]{8}))(?=[/)]|$)")
#: what JAX calls a parameter of the graph, by the name that the lowering gives all of them together
_PARAMETER: Final = re.compile(r"arrays\[(\d+)\]")
_WORD: Final = re.compile(r"\W")


class Places:
    """The numbers of the nodes of a graph, regions and callees included; counted when they are first asked for.

    Args:
        graph: the graph. It must not change afterwards.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes by number."""
        return list(_each(self._graph, set()))

    @cached_property
    def mark(self) -> str:
        """Tells the graph from others."""
        names = " ".join([node.op.name for node in self.nodes])
        return f"graph.{zlib.crc32(names.encode()):08x}"

    @cached_property
    def _numbers(self) -> dict[Node, int]:
        return {node: number for number, node in enumerate(self.nodes)}

    def name(self, node: Node) -> str:
        """What the lowering puts around what a node becomes."""
        return f"{self._numbers[node]}.{_word(node.op.name)}"

    def found(self, name: str) -> list[Node]:
        """The nodes that an instruction comes from.

        Args:
            name: what XLA says of the instruction. Where it made one of several, it puts their names together.

        Returns:
            list: for each of them the innermost node, or, where it brings a parameter of the graph to where it is
            needed, the nodes that read this; none where the name is not of this graph.
        """
        found: list[Node] = []
        for one in names_of(name):
            if parameter := _PARAMETER.fullmatch(one):
                found += self._readers(int(parameter[1]))
            elif node := self._innermost(one):
                found.append(node)
        return list(dict.fromkeys(found))

    def _readers(self, number: int) -> list[Node]:
        """The nodes that read a parameter of the graph."""
        if number >= len(self._graph.params):
            return []
        parameter = self._graph.params[number]
        return [node for node in self._graph.nodes if parameter in node.inputs]

    def _innermost(self, name: str) -> Node | None:
        places: Places | None = None
        node: Node | None = None
        for number, operation, mark in _NODE.findall(name):
            if mark:
                places = self if places is None else None if node is None else _inside(node, f"graph.{mark}")
                if places is None or places.mark != f"graph.{mark}":
                    return node
            elif places is None or int(number) >= len(places.nodes):
                return node
            else:
                there = places.nodes[int(number)]
                if _word(there.op.name) != operation:
                    return node
                node = there
        return node


def _word(name: str) -> str:
    return _WORD.sub("_", name) or "_"


def _each(graph: Graph, seen: set[int]) -> Iterator[Node]:
    """The nodes of a graph, each once, however often a callee is called."""
    if id(graph) in seen:
        return
    seen.add(id(graph))
    for node in graph.nodes:
        yield node
        for region in node.regions:
            yield from _each(region, seen)


def _inside(node: Node, mark: str) -> Places | None:
    """The numbers of the graph that a node holds in an attribute."""
    held = [held_graph(value) for value in node.attrs]
    places = [Places(graph) for graph in held if isinstance(graph, Graph)]
    return next((found for found in places if found.mark == mark), None)


def names_of(name: str) -> list[str]:
    """The names in one that XLA has put together.

    Example:
        >>> names_of("jit(f)/(a/add:b/mul)")
        ['jit(f)/a/add', 'jit(f)/b/mul']
    """
    start = 0
    while (start := name.find("(", start)) >= 0:
        if start == 0 or name[start - 1] == "/":
            end, parts = _parts(name, start)
            if len(parts) > 1:
                return [found for part in parts for found in names_of(name[:start] + part + name[end:])]
        start += 1
    return [name]


def _parts(name: str, start: int) -> tuple[int, list[str]]:
    """Where a parenthesis that begins somewhere ends, and what colons part in it."""
    depth, parts = 0, [""]
    for position in range(start, len(name)):
        letter = name[position]
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return position + 1, [parts[0][1:], *parts[1:]] if parts[0][:1] == "(" else parts
        if letter == ":" and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    return len(name), [name[start:]]


__all__: Final = ["Places", "names_of"]
