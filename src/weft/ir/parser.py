"""Reads the text of `weft.ir.text` back into a graph."""

from __future__ import annotations

import ast
import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

from weft.errors import GraphError, Location
from weft.ir.form import Operation
from weft.ir.graph import Graph, Value
from weft.ir.sizes import ATOM, SIZE_FUNCTIONS, Size, is_open_size, parsed
from weft.ir.text import array_of_elements
from weft.ir.types import SHORT_NAMES, TOKEN, TensorType, ValueType

#: finds the operation with a name; raises KeyError if there is none
Resolver = Callable[[str], Operation]
#: makes the attribute value that stands for an array
ArrayMaker = Callable[[np.ndarray[Any, Any]], Any]
#: makes the attribute value that holds a graph
GraphMaker = Callable[[Graph], Any]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+)|(?P<newline>\n)|(?P<comment>\#[^\n]*)
    |(?P<value>%[\w.\-]+)|(?P<graph>@[\w.\-]+)|(?P<opaque><[^>\n]*>)
    |(?P<bytes>b(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<number>[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|inf\b|nan\b)
        (?:[+-](?:\d+\.?\d*(?:[eE][+-]?\d+)?|inf|nan)(?=j))?j?)
    |(?P<word>[A-Za-z_]\w*)|(?P<dots>\.\.\.)|(?P<mark>[(){}\[\],:=])
    |(?P<sign>[-+*^])""",
    re.VERBOSE,
)
_LOCATION = re.compile(r"#\s*(.+?):(\d+)(?::(\d+))?\s*$")
_DTYPES: Final = {short: dtype for dtype, short in SHORT_NAMES.items()}
_WEAK: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "complex": complex}
_CONSTANTS: Final = {"None": None, "True": True, "False": False}


def parse_graph(text: str, resolve: Resolver, array: ArrayMaker, held: GraphMaker) -> Graph:
    """Read a graph from its text.

    Args:
        text: what `format_graph` writes; comments and line breaks are free.
        resolve: finds operations by name.
        array: makes the attribute value for an array.
        held: makes the attribute value for a graph.

    Returns:
        Graph: prints to the same text. It is not verified.

    Raises:
        GraphError: the text is malformed or names an unknown operation, value or attribute; the message tells line and
            column.

    Example:
        >>> print(parse_graph("subgraph @id(%x: f32[2]) { Return(%x) }", {}.__getitem__, list, list), end="")
        subgraph @id(%x: f32[2]) {
          Return(%x)
        }
    """
    reader = _Reader(text, resolve, array, held)
    graph = reader.subgraph(None)
    if reader.kind != "end":
        reader.fail("nothing more is expected after the graph")
    return graph


class _Reader:
    """Recursive descent over the tokens of a text."""

    def __init__(self, text: str, resolve: Resolver, array: ArrayMaker, held: GraphMaker) -> None:
        self.source = text
        self.resolve = resolve
        self.array = array
        self.held = held
        self.tokens: list[tuple[str, str, int]] = []
        self.locations: dict[int, Location] = {}
        self.subgraphs: dict[str, Graph] = {}
        self.position = 0
        self._scan(text)
        self.kind, self.text, self.offset = self.tokens[0]

    # -- tokens ----------------------------------------------------------------------------------------------------

    def _scan(self, text: str) -> None:
        offset, line = 0, 1
        while offset < len(text):
            match = _TOKEN.match(text, offset)
            if match is None:
                self.fail(f"unexpected character {text[offset]!r}", offset)
            kind, found = match.lastgroup, match.group()
            assert kind is not None
            if kind == "newline":
                line += 1
            elif kind == "comment":
                place = _LOCATION.match(found)
                if place is not None:
                    column = None if place[3] is None else int(place[3]) - 1
                    self.locations[line] = Location(place[1], int(place[2]), column)
            elif kind != "space":
                self.tokens.append((kind, found, offset))
            offset = match.end()
        self.tokens.append(("end", "end of text", len(text)))

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        at = self.offset if offset is None else offset
        line = self.source.count("\n", 0, at) + 1
        column = at - self.source.rfind("\n", 0, at)
        raise GraphError(f"line {line}, column {column}: {message}")

    def advance(self) -> str:
        text = self.text
        self.position += 1
        self.kind, self.text, self.offset = self.tokens[self.position]
        return text

    def take(self, kind: str, what: str) -> str:
        if self.kind != kind:
            self.fail(f"expected {what}, found {self.text!r}")
        return self.advance()

    def expect(self, text: str) -> None:
        if self.text != text:
            self.fail(f"expected {text!r}, found {self.text!r}")
        self.advance()

    def accept(self, text: str) -> bool:
        if self.text != text or self.kind not in ("mark", "word"):
            return False
        self.advance()
        return True

    def ahead(self, count: int) -> str:
        """The text of a later token."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)][1]

    # -- graphs ----------------------------------------------------------------------------------------------------

    def subgraph(self, parent: Graph | None) -> Graph:
        self.expect("subgraph")
        graph = Graph(self.take("graph", "a graph name such as @main")[1:], parent)
        self.subgraphs[graph.name] = graph
        values: dict[str, Value] = {}
        self.expect("(")
        while not self.accept(")"):
            at = self.offset
            name = self.take("value", "a parameter such as %x")
            self.expect(":")
            shown = name[1:]
            self.define(values, name, graph.add_param(self.type(), "" if shown.isdigit() else shown), at)
            if self.text != ")":
                self.expect(",")
        self.expect("{")
        while not (self.text == "Return" and self.kind == "word"):
            self.node(graph, values)
        self.advance()
        self.expect("(")
        graph.outputs = [value for value in self.operands(values, optional=False) if value is not None]
        self.expect("}")
        return graph

    def define(self, values: dict[str, Value], name: str, value: Value, at: int) -> None:
        if name in values:
            self.fail(f"{name} is defined twice", at)
        values[name] = value

    def operands(self, values: dict[str, Value], *, optional: bool) -> list[Value | None]:
        """Values up to the closing parenthesis."""
        found: list[Value | None] = []
        while not self.accept(")"):
            if optional and self.accept("None"):
                found.append(None)
            else:
                at = self.offset
                name = self.take("value", "a value such as %0")
                if name not in values:
                    self.fail(f"{name} is not defined", at)
                found.append(values[name])
            if self.text != ")":
                self.expect(",")
        return found

    def node(self, graph: Graph, values: dict[str, Value]) -> None:
        start = self.offset
        results: list[tuple[str, int]] = []
        if self.kind == "value":
            while True:
                at = self.offset
                results.append((self.take("value", "a value such as %0"), at))
                if not self.accept(","):
                    break
            self.expect("=")
        at = self.offset
        name = self.take("word", "an operation name")
        try:
            op = self.resolve(name)
        except KeyError:
            self.fail(f"there is no operation {name!r}", at)
        self.expect("(")
        inputs = self.operands(values, optional=True)
        attrs: dict[str, tuple[Any, int]] = {}
        regions: list[Graph] = []
        while self.text == "{" and self.kind == "mark":
            if self.ahead(2) == ":":
                self.blocks(graph, op, attrs, regions)
            else:
                self.attributes(attrs)
        self.expect(":")
        types_at = self.offset
        types = self.types()
        if len(types) != len(results):
            self.fail(f"{len(results)} results have {len(types)} types", types_at)
        node = graph.add_node(
            op, tuple(inputs), self.ordered(op, attrs, at), tuple(types), tuple(regions), self.place(start)
        )
        for (result, where), value in zip(results, node.outputs, strict=True):
            self.define(values, result, value, where)

    def place(self, offset: int) -> Location | None:
        return self.locations.get(self.source.count("\n", 0, offset) + 1) if self.locations else None

    def ordered(self, op: Operation, attrs: dict[str, tuple[Any, int]], at: int) -> tuple[Any, ...]:
        """Attribute values in the order of the operation's attribute names."""
        for name, (_, where) in attrs.items():
            if name not in op.attr_names:
                known = ", ".join(op.attr_names) or "none"
                self.fail(f"{op.name} has no attribute {name!r}; it has: {known}", where)
        missing = [name for name in op.attr_names if name not in attrs]
        if missing:
            self.fail(f"{op.name} needs the attribute {missing[0]!r}", at)
        return tuple([attrs[name][0] for name in op.attr_names])

    def blocks(self, graph: Graph, op: Operation, attrs: dict[str, tuple[Any, int]], regions: list[Graph]) -> None:
        """The graphs inside a node: what has the name of an attribute is held by that, the others are regions."""
        self.expect("{")
        while not self.accept("}"):
            at = self.offset
            label = self.take("word", "a label such as 'then'")
            self.expect(":")
            if label in op.attr_names:
                if label in attrs:
                    self.fail(f"attribute {label!r} is given twice", at)
                attrs[label] = (self.held(self.block(None)), at)
            else:
                regions.append(self.block(graph))

    def block(self, parent: Graph | None) -> Graph:
        """A graph, or the name of one that stands before."""
        if self.kind != "graph":
            return self.subgraph(parent)
        shared = self.subgraphs.get(self.text[1:])
        if shared is None:
            self.fail(f"{self.text} is not defined before")
        self.advance()
        return shared

    def attributes(self, attrs: dict[str, tuple[Any, int]]) -> None:
        self.expect("{")
        while not self.accept("}"):
            at = self.offset
            name = self.take("word", "an attribute name")
            self.expect("=")
            if name in attrs:
                self.fail(f"attribute {name!r} is given twice", at)
            attrs[name] = (self.value(), at)
            if self.text != "}":
                self.expect(",")

    # -- types and attribute values --------------------------------------------------------------------------------

    def types(self) -> list[ValueType]:
        if not self.accept("("):
            return [self.type()]
        types: list[ValueType] = []
        while not self.accept(")"):
            types.append(self.type())
            if self.text != ")":
                self.expect(",")
        return types

    def type(self) -> ValueType:
        at = self.offset
        name = self.take("word", "a type such as f32[2,3]")
        if name == "token":
            return TOKEN
        if name not in _DTYPES:
            self.fail(f"{name!r} is not an element type", at)
        shape = self.shape()
        weak = None
        if self.text == ":" and self.ahead(1) in _WEAK:
            self.advance()
            weak = _WEAK[self.advance()]
        return TensorType.of(_DTYPES[name], shape, weak)

    def shape(self) -> tuple[Size, ...]:
        self.expect("[")
        dims: list[Size] = []
        while not self.accept("]"):
            if self.spells_size():
                dims.append(self.size())
            elif self.text.isdigit():
                dims.append(int(self.advance()))
            else:
                self.fail(f"expected a dimension, found {self.text!r}")
            if self.text != "]":
                self.expect(",")
        return tuple(dims)

    def spells_size(self) -> bool:
        """Whether an open size begins here."""
        if self.kind == "word":
            return ATOM.fullmatch(self.text) is not None or self.text in SIZE_FUNCTIONS
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        signed = following[0] == "sign" or (following[0] == "number" and following[1][0] in "+-")
        return self.kind == "sign" or (self.kind == "number" and signed)

    def size(self) -> Size:
        """An open size: all up to the comma or bracket that ends it."""
        start, depth = self.offset, 0
        while self.kind in ("word", "number", "sign", "mark"):
            if depth == 0 and self.text in (",", ")", "]", "}"):
                break
            depth += (self.text == "(") - (self.text == ")")
            self.advance()
        try:
            found = parsed(self.source[start : self.offset])
        except ValueError as error:
            self.fail(str(error), start)
        if not is_open_size(found):
            self.fail(f"{found} is no open size", start)
        return found

    def value(self) -> Any:
        at, token = self.offset, self.kind
        if self.spells_size():
            return self.size()
        if token == "opaque":
            self.fail(f"the attribute value {self.text} has no text form, so it cannot be read", at)
        if token in ("string", "bytes"):
            return ast.literal_eval(self.advance())
        if token == "number":
            return self.number(self.advance(), at)
        if token == "dots":
            self.advance()
            return Ellipsis
        if self.accept("("):
            items = []
            while not self.accept(")"):
                items.append(self.value())
                if self.text != ")":
                    self.expect(",")
            # a complex number's text has parentheses of its own
            alone = len(items) == 1 and self.tokens[self.position - 2][1] != ","
            return items[0] if alone else tuple(items)
        name = self.take("word", "an attribute value")
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name == "slice" and self.accept("("):
            bounds = []
            for end in (",", ",", ")"):
                bounds.append(self.value())
                self.expect(end)
            return slice(*bounds)
        if name == "type" and self.accept("("):
            kind = self.take("word", "a Python number type")
            self.expect(")")
            if kind not in _WEAK:
                self.fail(f"{kind!r} is not a Python number type", at)
            return _WEAK[kind]
        if name not in _DTYPES:
            self.fail(f"{name!r} is not an attribute value", at)
        return self.elements(name) if self.text == "[" else _DTYPES[name]

    def number(self, text: str, at: int) -> Any:
        try:
            if text.endswith("j"):
                return complex(text)
            if re.fullmatch(r"[+-]?\d+", text):
                return int(text)
            return float(text)
        except ValueError:
            self.fail(f"{text!r} is not a number", at)

    def elements(self, name: str) -> Any:
        """An array: shape, then elements or base64 in braces."""
        at = self.offset
        shape = self.shape()
        if any(map(is_open_size, shape)):
            self.fail("the size of an array is a number", at)
        np_dtype = _DTYPES[name].np_dtype
        self.expect("{")
        if self.kind == "string":
            try:
                data = base64.b64decode(ast.literal_eval(self.advance()), validate=True)
            except (binascii.Error, ValueError):
                self.fail("the array's bytes are not base64", at)
            if len(data) != np_dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
                self.fail(f"the array's {len(data)} bytes do not fit its shape", at)
            flat = np.frombuffer(data, np_dtype)
        else:
            texts = []
            while self.text != "}":
                if self.kind not in ("number", "word"):
                    self.fail(f"expected a number, found {self.text!r}")
                texts.append(self.advance())
                if self.text != "}":
                    self.expect(",")
            try:
                flat = array_of_elements(texts, np_dtype)
            except (ValueError, OverflowError):
                self.fail("an element does not fit the array's type", at)
            if flat.size != int(np.prod(shape, dtype=np.int64)):
                self.fail(f"the array's {flat.size} elements do not fit its shape", at)
        self.expect("}")
        return self.array(flat.reshape(shape).copy())
