"""Tools that the passes share: walking, replacing, inlining, copying."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.core.primitive import IO, exact
from weft.core.trace import CONSTANT, Literal
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType

#: looks at a node whose operands are up to date; returns the values that replace its results, or None to keep it
Visit = Callable[[Node], Sequence[Value] | None]


def graphs_of(root: Graph) -> list[Graph]:
    """A graph and all graphs nested in it, each once, inner ones first."""
    found: list[Graph] = []
    seen: set[int] = set()

    def visit(graph: Graph) -> None:
        seen.add(id(graph))
        for node in graph.nodes:
            for region in node.regions:
                if id(region) not in seen:
                    visit(region)
        found.append(graph)

    visit(root)
    return found


def rewrite(graph: Graph, visit: Visit) -> bool:
    """Visit the nodes of one graph in order, replacing those for which `visit` returns values.

    Nodes that `visit` adds to the graph come before the visited one.

    Returns:
        bool: whether anything was replaced.
    """
    old = graph.nodes
    graph.nodes = []
    replaced: dict[Value, Value] = {}
    get: Any = replaced.get
    for node in old:
        if replaced:
            for value in node.inputs:
                if value in replaced:
                    node.inputs = tuple([get(v, v) for v in node.inputs])
                    break
        results = visit(node)
        if results is None:
            graph.nodes.append(node)
        else:
            for before, after in zip(node.outputs, results, strict=True):
                replaced[before] = after
    if replaced:
        graph.outputs = [get(value, value) for value in graph.outputs]
    return bool(replaced)


def replace(graph: Graph, replaced: dict[Value, Value]) -> None:
    """Use other values in place of some, everywhere in one graph."""
    get: Any = replaced.get
    for node in graph.nodes:
        for value in node.inputs:
            if value in replaced:
                node.inputs = tuple([get(v, v) for v in node.inputs])
                break
    graph.outputs = [get(value, value) for value in graph.outputs]


def splice(target: Graph, body: Graph, operands: Sequence[Value]) -> list[Value]:
    """Move the nodes of a graph to the end of another, with operands for its parameters.

    Args:
        target: the graph to extend.
        body: a graph that nothing else uses; it is empty afterwards.
        operands: values of `target`, one for each parameter of `body`.

    Returns:
        list: the values that the body's outputs became.
    """
    replaced = dict(zip(body.params, operands, strict=True))
    replace(body, replaced)
    for node in body.nodes:
        for value in node.outputs:
            value.graph = target
        for region in node.regions:
            region.parent = target
    target.nodes.extend(body.nodes)
    outputs, body.nodes, body.outputs = body.outputs, [], []
    return outputs


def copy_graph(graph: Graph, parent: Graph | None = None) -> Graph:
    """A graph of its own with the same contents; regions are copied, a callee that several calls share stays shared."""
    return _copy(graph, parent, {})


def _copy(graph: Graph, parent: Graph | None, done: dict[int, Graph]) -> Graph:
    result = done[id(graph)] = Graph(graph.name, parent)
    result.reuses_blocks = graph.reuses_blocks
    values: dict[Value | None, Value | None] = {None: None}
    for value in graph.params:
        values[value] = result.add_param(value.type, value.name)
    for node in graph.nodes:
        regions = tuple(
            [done[id(region)] if id(region) in done else _copy(region, result, done) for region in node.regions]
        )
        inputs = tuple([values[value] for value in node.inputs])
        types = tuple([value.type for value in node.outputs])
        made = result.add_node(node.op, inputs, node.attrs, types, regions, node.location)
        for before, after in zip(node.outputs, made.outputs, strict=True):
            after.name = before.name
            values[before] = after
    result.outputs = [values[value] for value in graph.outputs]  # type: ignore[misc]
    return result


def part(name: str, joint: Graph, params: Sequence[Value], nodes: Sequence[Node], outputs: Sequence[Value]) -> Graph:
    """A graph of its own with some of another's nodes."""
    part = Graph(name)
    part.reuses_blocks = joint.reuses_blocks
    values: dict[Value | None, Value | None] = {None: None}
    for param in params:
        values[param] = part.add_param(param.type, param.name)
    for node in nodes:
        regions = tuple([copy_graph(region, part) for region in node.regions])
        inputs = tuple([values[value] for value in node.inputs])
        types = tuple([value.type for value in node.outputs])
        made = part.add_node(node.op, inputs, node.attrs, types, regions, node.location)
        values.update(zip(node.outputs, made.outputs, strict=True))
    part.outputs = [values[value] for value in outputs]  # type: ignore[misc]
    return part


def cut_out(name: str, graph: Graph, nodes: Sequence[Node], outputs: Sequence[Value]) -> tuple[Graph, list[Value]]:
    """Nodes as a graph of their own, with the constants that they use.

    Args:
        name: of the graph that is made.
        graph: the graph that has the nodes.
        nodes: in their order.
        outputs: values of theirs, one for each output.

    Returns:
        tuple: the graph, and a value of `graph` for each of its parameters.
    """
    made = {value for node in nodes for value in node.outputs}
    needed = dict.fromkeys(v for node in nodes for v in node.inputs if v is not None and v not in made)
    constants = {v.node: None for v in needed if v.node is not None and v.node.op is CONSTANT}
    inputs = [value for value in needed if value.node not in constants]
    return part(name, graph, inputs, [*constants, *nodes], outputs), inputs


def silenced(graph: Graph) -> Graph:
    """A copy without IO, to compute again what was computed before: tokens pass through."""
    result = copy_graph(graph)
    for inner in graphs_of(result):
        rewrite(inner, _token_before)
    return result


def _token_before(node: Node) -> Sequence[Value] | None:
    if node.op.effect != IO or len(node.outputs) != 1:
        return None
    token = node.inputs[0]
    assert token is not None
    return (token,)


def structure(graph: Graph) -> tuple[Any, ...]:
    """What a graph computes, as nested tuples; equal for graphs that differ in names and locations only."""
    numbers: dict[Value, int] = {value: i for i, value in enumerate(graph.params)}
    rows: list[Any] = [tuple([value.type for value in graph.params])]
    for node in graph.nodes:
        operands = tuple([None if value is None else numbers[value] for value in node.inputs])
        types = tuple([value.type for value in node.outputs])
        rows.append(
            (node.op, operands, exact(node.attrs), types, tuple([structure(region) for region in node.regions]))
        )
        for value in node.outputs:
            numbers[value] = len(numbers)
    rows.append(tuple([numbers[value] for value in graph.outputs]))
    return tuple(rows)


def renumber(values: Iterable[Value]) -> None:
    """Tell values their positions after some were removed."""
    for i, value in enumerate(values):
        value.index = i


def constant_array(value: Value | None) -> np.ndarray[Any, Any] | None:
    """The array of a value that is known, or None; passes do not look into large ones."""
    if value is None or value.node is None or value.node.op is not CONSTANT:
        return None
    literal: Literal = value.node.attrs[0]
    return None if literal.is_large else literal.array


def known_number(value: Value | None) -> Any:
    """The one number that a value consists of everywhere, or None."""
    array = constant_array(value)
    if array is not None:
        first = array.reshape(-1)[:1]
        return first[0] if array.size and array.tobytes() == first.tobytes() * array.size else None
    node = None if value is None else value.node
    if node is not None and node.op.name == "Full" and not node.inputs:
        attrs = dict(zip(node.op.attr_names, node.attrs, strict=True))
        number = attrs.get("value")
        kind = value.type  # type: ignore[union-attr]
        if isinstance(kind, TensorType) and number.__class__ in (bool, int, float):
            return np.asarray(number).astype(kind.dtype.np_dtype)[()]
    return None


def add_constant(graph: Graph, array: Any, like: Value) -> Value:
    """Append a constant with the type of another value."""
    return graph.add_node(CONSTANT, (), (Literal(array),), (like.type,)).outputs[0]


def truth(value: Value | None) -> bool | None:
    """The truth of a known condition, or None."""
    array = constant_array(value)
    return None if array is None else bool(array.reshape(())[()])
