"""Graphs as text.

The text shows everything that a graph is, so that `weft.ir.parser` reads it back:

    subgraph @step(%x: f32[3], %go: bool[]) {
      %0 = Mul(%x, %x) : f32[3]  # model.py:12:9
      %1, %2 = TopK(%0) {k=2, sorted=True} : (f32[2], i32[2])
      %3 = If(%go, %0) {
        then: subgraph @then(%0: f32[3]) {
          Return(%0)
        }
        else: subgraph @else(%0: f32[3]) {
          %1 = Neg(%0) : f32[3]
          Return(%1)
        }
      } : f32[3]
      Return(%3, %1)
    }

Names are local to a graph: a parameter shows its own name, everything else is numbered in order. A graph that stands in
several nodes is written where it stands first; later it is `@name`. A graph that an attribute holds is written like a
region, under the name of the attribute.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np

from weft.dtypes import DType
from weft.ir.form import GraphForm, NodeForm, ValueForm
from weft.ir.sizes import is_open_size
from weft.ir.types import SHORT_NAMES

#: arrays with more elements are written in base64
INLINE_ELEMENTS: Final = 16
#: what the regions of an operation are called
REGION_LABELS: Final = {"If": ("then", "else"), "While": ("body",), "Call": ("callee",), "Repeat": ("body",)}
_NUMBER_KINDS: Final = (bool, int, float, complex)
_BAD_NAME = re.compile(r"[^\w.\-]")
_ARRAY_TYPES: Final = {dtype.np_dtype: short for dtype, short in SHORT_NAMES.items()}


def format_graph(graph: GraphForm, *, locations: bool = True) -> str:
    """The text of a graph.

    Args:
        graph: any graph; one that breaks the rules of the IR is printed as well as it can be.
        locations: end each line with the user's source location as a comment.

    Returns:
        str: the text, ending in a newline.

    Example:
        >>> from weft.ir.graph import Graph
        >>> print(format_graph(Graph("empty")), end="")
        subgraph @empty() {
          Return()
        }
    """
    writer = Writer(graph, locations)
    return "\n".join(writer.subgraph(graph, "")) + "\n"


def format_node(node: NodeForm, graph: GraphForm) -> str:
    """One line for a node of a graph, its regions left out."""
    writer = Writer(graph, locations=False)
    return writer.node_head(node, writer.names(graph)) + " : " + writer.result_types(node)


def context_lines(node: NodeForm, graph: GraphForm, around: int = 2) -> list[str]:
    """The nodes near one, that one marked, for error messages."""
    writer = Writer(graph, locations=False)
    names = writer.names(graph)
    position = next((i for i, other in enumerate(graph.nodes) if other is node), None)
    if position is None:
        return []
    lines = []
    for i in range(max(position - around, 0), min(position + around + 1, len(graph.nodes))):
        other = graph.nodes[i]
        mark = "->" if i == position else "  "
        lines.append(f"{mark} {writer.node_head(other, names)} : {writer.result_types(other)}")
    return lines


class Writer:
    """Writes graphs; knows which graphs are shared and so need unique names.

    Args:
        root: the outermost graph.
        locations: whether to write source locations.
    """

    def __init__(self, root: GraphForm, locations: bool) -> None:
        self.locations = locations
        self.shared: dict[int, str] = {}
        self.written: set[int] = set()
        self._find_shared(root)

    def _find_shared(self, root: GraphForm) -> None:
        seen: dict[int, GraphForm] = {}
        taken: dict[str, int] = {}
        repeated: dict[int, GraphForm] = {}
        stack = [root]
        while stack:
            graph = stack.pop()
            if id(graph) in seen:
                repeated[id(graph)] = graph
                continue
            seen[id(graph)] = graph
            name = graph_name(graph)
            taken[name] = taken.get(name, 0) + 1
            stack.extend(inner for node in reversed(graph.nodes) for _, inner in reversed(blocks_of(node)))
        for key in [key for key in seen if key in repeated]:
            name = base = graph_name(seen[key])
            if taken[base] > 1:
                number = 0
                while name in taken:
                    number += 1
                    name = f"{base}.{number}"
                taken[base] -= 1
                taken[name] = 1
            self.shared[key] = name

    def subgraph(self, graph: GraphForm, indent: str) -> Iterator[str]:
        """The lines of a graph; the first is not indented."""
        self.written.add(id(graph))
        names = self.names(graph)
        params = ", ".join(f"{names[value]}: {value.type!r}" for value in graph.params)
        yield f"subgraph @{self.shared.get(id(graph)) or graph_name(graph)}({params}) {{"
        inner = indent + "  "
        for node in graph.nodes:
            yield from self._node(node, names, inner)
        yield f"{inner}Return({self._values(graph.outputs, names)})"
        yield f"{indent}}}"

    def _node(self, node: NodeForm, names: dict[ValueForm, str], indent: str) -> Iterator[str]:
        comment, blocks = self._comment(node), blocks_of(node)
        head = indent + self.node_head(node, names, [label for label, _ in blocks])
        if not blocks:
            yield f"{head} : {self.result_types(node)}{comment}"
            return
        yield f"{head} {{{comment}"
        inner = indent + "  "
        for label, graph in blocks:
            if id(graph) in self.shared and id(graph) in self.written:
                yield f"{inner}{label}: @{self.shared[id(graph)]}"
                continue
            lines = self.subgraph(graph, inner)
            yield f"{inner}{label}: {next(lines)}"
            yield from lines
        yield f"{indent}}} : {self.result_types(node)}"

    def node_head(self, node: NodeForm, names: dict[ValueForm, str], without: Collection[str] = ()) -> str:
        """Results, operation, operands and attributes of a node, except those with some names."""
        results = self._values(node.outputs, names)
        text = f"{results} = " if results else ""
        text += f"{node.op.name}({self._values(node.inputs, names)})"
        shown = [f"{name}={format_value(value)}" for name, value in _named(node) if name not in without]
        return f"{text} {{{', '.join(shown)}}}" if shown else text

    def result_types(self, node: NodeForm) -> str:
        """The types of a node's results; parentheses unless there is exactly one."""
        types = [repr(value.type) for value in node.outputs]
        return types[0] if len(types) == 1 else f"({', '.join(types)})"

    def _comment(self, node: NodeForm) -> str:
        where = node.where() if self.locations else None
        return "" if where is None else f"  # {where}"

    @staticmethod
    def _values(values: Any, names: dict[ValueForm, str]) -> str:
        return ", ".join("None" if value is None else names.get(value, "%?") for value in values)

    @staticmethod
    def names(graph: GraphForm) -> dict[ValueForm, str]:
        """The printed name of every value of a graph."""
        names: dict[ValueForm, str] = {}
        taken: set[str] = set()
        number = 0
        for value in graph.params:
            name = _BAD_NAME.sub("_", value.name)
            if not name or name.isdigit():
                names[value] = f"%{number}"
                number += 1
                continue
            base, copy = name, 0
            while name in taken:
                copy += 1
                name = f"{base}.{copy}"
            taken.add(name)
            names[value] = f"%{name}"
        for node in graph.nodes:
            for value in node.outputs:
                names[value] = f"%{number}"
                number += 1
        return names


def graph_name(graph: GraphForm) -> str:
    """The name of a graph in the characters that text allows."""
    return _BAD_NAME.sub("_", graph.name) or "graph"


# -- graphs inside a node ----------------------------------------------------------------------------------------


def blocks_of(node: NodeForm) -> list[tuple[str, GraphForm]]:
    """The graphs inside a node, each with its label: those that attributes hold, then the regions."""
    found = [(name, graph) for name, value in _named(node) if (graph := held_graph(value)) is not None]
    labels = REGION_LABELS.get(node.op.name, ())
    for i, region in enumerate(node.regions):
        found.append((labels[i] if i < len(labels) else f"region{i}", region))
    return found


def held_graph(value: Any) -> GraphForm | None:
    """The graph that an attribute value holds, None if it holds none."""
    graph = getattr(value, "graph", None)
    return graph if hasattr(graph, "nodes") else None


def _named(node: NodeForm) -> Iterator[tuple[str, Any]]:
    """The attributes of a node by name."""
    names = [*node.op.attr_names, *[f"attr{i}" for i in range(len(node.attrs))]]
    return zip(names, node.attrs, strict=False)


# -- attribute values --------------------------------------------------------------------------------------------


def format_value(value: Any) -> str:
    """An attribute value as text that the parser reads back; other objects as ``<...>``, which it refuses."""
    if value is Ellipsis:
        return "..."
    if value is None or value.__class__ in (bool, int, float, complex, str, bytes):
        return repr(value)
    if value.__class__ is tuple:
        items = [format_value(item) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, DType):
        return SHORT_NAMES[value]
    if value.__class__ is slice:
        return f"slice({', '.join(format_value(v) for v in (value.start, value.stop, value.step))})"
    if isinstance(value, type) and value in _NUMBER_KINDS:
        return f"type({value.__name__})"
    if is_open_size(value):
        return str(value)
    array = getattr(value, "array", None)
    if isinstance(array, np.ndarray) and array.dtype in _ARRAY_TYPES:
        return format_array(array)
    return f"<{' '.join(repr(value).split()).replace('>', '').replace('<', '')}>"


def has_text(value: Any) -> bool:
    """Whether the text of an attribute value is read back as an equal one."""
    if value.__class__ is tuple:
        return all(map(has_text, value))
    if value.__class__ is slice:
        return all(map(has_text, (value.start, value.stop, value.step)))
    return not format_value(value).startswith("<")


def format_array(array: np.ndarray[Any, Any]) -> str:
    """An array with its type: elements if there are few, else base64 of its bytes; exact in every bit."""
    kind = f"{_ARRAY_TYPES[array.dtype]}[{','.join(map(str, array.shape))}]"
    if array.size <= INLINE_ELEMENTS:
        elements = [_element(item) for item in array.reshape(-1)]
        again = array_of_elements(elements, array.dtype)
        if again.tobytes() == array.tobytes():
            return f"{kind} {{{', '.join(elements)}}}"
    return f"{kind} {{{base64.b64encode(array.tobytes()).decode()!r}}}"


def _element(item: Any) -> str:
    if item.dtype.kind == "c":
        return f"{_element(item.real)}{'' if str(item.imag).startswith('-') else '+'}{_element(item.imag)}j"
    return str(item)


def array_of_elements(elements: list[str], np_dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The flat array whose elements have these texts."""
    if np_dtype.kind == "b":
        return np.array([element == "True" for element in elements], np_dtype)
    if np_dtype.kind in "iu":
        return np.array([int(element) for element in elements], np_dtype)
    convert: Any = np_dtype.type if np_dtype.kind in "fc" else lambda text: np_dtype.type(float(text))
    result = np.empty(len(elements), np_dtype)
    for i, element in enumerate(elements):
        result[i] = complex(element) if np_dtype.kind == "c" else convert(element)
    return result
