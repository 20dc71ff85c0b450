"""A graph that leaves sizes of its inputs open, where they are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from weft.compile.body import Body
from weft.core.primitive import IO
from weft.errors import WeftError
from weft.ir.graph import Graph, Value
from weft.ir.sizes import Size, atoms_of, settled
from weft.ir.types import TensorType, ValueType


class Place(NamedTuple):
    """Where a call brings a size.

    Args:
        input: the number of the parameter.
        axis: the axis of its array.
    """

    input: int
    axis: int


def places_of(graph: Graph) -> dict[str, Place]:
    """Where a call brings the sizes that a graph leaves open, by their names."""
    found: dict[str, Place] = {}
    for number, param in enumerate(graph.params):
        if isinstance(param.type, TensorType) and param.type.is_open:
            for axis, size in enumerate(param.type.shape):
                if str(size) in atoms_of(size):
                    found.setdefault(str(size), Place(number, axis))
    return found


def with_sizes(graph: Graph, sizes: Mapping[str, Size], check: bool = True) -> Graph:
    """The graph where the sizes that it leaves open are known.

    Args:
        graph: a graph; it stays as it is.
        sizes: the sizes by name.
        check: whether to infer all shapes again.

    Raises:
        WeftError: the shapes that were inferred for all sizes are not those for these.
    """
    return _Settled(sizes, check).graph(graph, None)


class _Settled:
    """Makes graphs with known sizes.

    Args:
        sizes: the sizes by name.
        check: whether to infer all shapes again.
    """

    def __init__(self, sizes: Mapping[str, Size], check: bool) -> None:
        self.sizes = sizes
        self.check = check
        self.done: dict[int, Graph] = {}

    def graph(self, graph: Graph, parent: Graph | None) -> Graph:
        """A graph; one that stands in several places is made once."""
        if id(graph) in self.done:
            return self.done[id(graph)]
        result = self.done[id(graph)] = Graph(graph.name, parent)
        result.reuses_blocks = graph.reuses_blocks
        values: dict[Value | None, Value | None] = {None: None}
        for param in graph.params:
            values[param] = result.add_param(self.type(param.type), param.name)
        for node in graph.nodes:
            regions = tuple([self.graph(region, result) for region in node.regions])
            inputs = tuple([values[value] for value in node.inputs])
            attrs = tuple([self.attribute(attribute) for attribute in node.attrs])
            types = tuple([self.type(value.type) for value in node.outputs])
            plain = not node.regions and node.op.effect != IO
            if self.check and plain and any(map(_has_sizes, (*node.inputs, *node.outputs))):
                op: Any = node.op
                given: Any = tuple([None if value is None else value.type for value in inputs])
                if op.infer(attrs, given) != types:
                    raise WeftError(
                        f"the shapes of {op.name} ({node.where()}) do not follow from sizes as inferred: "
                        f"{op.infer(attrs, given)} for {types}"
                    )
            made = result.add_node(node.op, inputs, attrs, types, regions, node.location)
            for before, after in zip(node.outputs, made.outputs, strict=True):
                after.name = before.name
                values[before] = after
        result.outputs = [values[value] for value in graph.outputs]  # type: ignore[misc]
        return result

    def type(self, kind: ValueType) -> ValueType:
        """A type with known sizes."""
        if not isinstance(kind, TensorType) or not kind.is_open:
            return kind
        return TensorType.of(kind.dtype, settled(kind.shape, self.sizes), kind.weak)

    def attribute(self, value: Any) -> Any:
        """An attribute with known sizes."""
        return Body(self.graph(value.graph, None)) if isinstance(value, Body) else settled(value, self.sizes)


def _has_sizes(value: Value | None) -> bool:
    return value is not None and value.type.is_open
