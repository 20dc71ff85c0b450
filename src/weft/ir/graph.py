"""Value, Node and Graph: flat SSA with nested regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.errors import Location
from weft.ir.form import Operation
from weft.ir.text import format_graph
from weft.ir.types import ValueType


class Value:
    """One SSA value: a parameter of a graph or a result of a node.

    Args:
        type: its type.
        graph: the graph that defines it.
        node: the node that computes it, None for a graph parameter.
        index: position among the node's outputs or the graph's parameters.
    """

    __slots__ = ("type", "graph", "node", "index", "name", "__weakref__")

    def __init__(self, type: ValueType, graph: Graph, node: Node | None, index: int, name: str = "") -> None:
        self.type = type
        self.graph = graph
        self.node = node
        self.index = index
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name or 'value'}: {self.type!r}>"


class Node:
    """One operation applied to values.

    Args:
        op: the operation.
        inputs: operands; None stands for an optional operand that is left out.
        attrs: static attributes, in the order of `op.attr_names`.
        regions: nested graphs of a control-flow operation; they see nothing but their parameters.
        location: where in the user's code; never part of identity.
    """

    __slots__ = ("op", "inputs", "attrs", "regions", "outputs", "location")

    def __init__(
        self,
        op: Operation,
        inputs: tuple[Value | None, ...],
        attrs: tuple[Any, ...],
        regions: tuple[Graph, ...],
        location: Any = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.regions = regions
        self.outputs: tuple[Value, ...] = ()
        self.location = location

    def where(self) -> Location | None:
        """The user's source location, resolved on demand."""
        location = self.location
        if location is not None and not isinstance(location, Location):
            location = self.location = location()
        return location

    def __repr__(self) -> str:
        return f"<{self.op.name} node>"


class Graph:
    """A function from parameters to outputs: nodes in an order where definitions precede uses.

    Args:
        name: shown in text and reports.
    """

    __slots__ = (
        "name", "params", "nodes", "outputs", "parent", "reuses_blocks", "notes", "facts", "captured", "__weakref__",
    )  # fmt: skip

    def __init__(self, name: str = "graph", parent: Graph | None = None) -> None:
        self.name = name
        self.params: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        #: the graph whose node will hold this one as a region, while it is being built
        self.parent = parent
        #: whether stretches that repeat are compiled once whatever the size of the graph
        self.reuses_blocks = False
        #: what holds of the sizes that it leaves open, as ``"s0 >= 2*s1"``
        self.facts: tuple[str, ...] = ()
        #: gives the graph as it was before passes merged what is equal, where that was kept: with the same parameters
        self.captured: Callable[[], Graph] | None = None
        #: what passes did, for reports: how often
        self.notes: dict[str, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether it leaves sizes of its parameters open."""
        return any(param.type.is_open for param in self.params)

    def add_param(self, type: ValueType, name: str = "") -> Value:
        """Append a parameter and return its value."""
        value = Value(type, self, None, len(self.params), name)
        self.params.append(value)
        return value

    def add_node(
        self,
        op: Operation,
        inputs: tuple[Value | None, ...],
        attrs: tuple[Any, ...],
        output_types: tuple[ValueType, ...],
        regions: tuple[Graph, ...] = (),
        location: Any = None,
    ) -> Node:
        """Append a node; its results are `node.outputs`."""
        node = Node(op, inputs, attrs, regions, location)
        node.outputs = tuple([Value(t, self, node, i) for i, t in enumerate(output_types)])
        self.nodes.append(node)
        return node

    def insert_behind(self, value: Value, op: Operation, attrs: tuple[Any, ...], location: Any = None) -> Value:
        """Put an operation on one value between the node that computes it and all that uses it.

        Returns:
            Value: what the node computes now; `value` is the result of the operation.
        """
        node = value.node
        assert node is not None
        made = Value(value.type, self, node, value.index, value.name)
        node.outputs = tuple([made if output is value else output for output in node.outputs])
        behind = Node(op, (made,), attrs, (), location)
        behind.outputs = (value,)
        value.node, value.index = behind, 0
        self.nodes.insert(self.nodes.index(node) + 1, behind)
        return made

    def note(self, what: str, times: int = 1) -> None:
        """Count something that a pass did."""
        self.notes[what] = self.notes.get(what, 0) + times

    def lies_in(self, region: Graph) -> bool:
        """Whether this is a region under construction, or one inside of it."""
        graph: Graph | None = self
        while graph is not None and graph is not region:
            graph = graph.parent
        return graph is not None

    def walk(self) -> Iterator[Node]:
        """Every node, those of nested regions included, parents before their regions."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    def __len__(self) -> int:
        return sum(1 for _ in self.walk())

    def __str__(self) -> str:
        return format_graph(self)
