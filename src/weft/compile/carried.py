"""What a graph carries and its executable takes for arguments: large constants, and reads of outside handles.

A graph is complete by itself: whoever differentiates, copies or nests it passes it on with its constants. Only compiled
code must not contain a large array, nor what a handle held when it was compiled. So where a graph becomes something
that runs, `expose` makes parameters of both, those in regions included, and says which arrays belong to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft._jax_compat import Array
from weft.core.control import CALL, IF, WHILE
from weft.core.tensor import Tensor, data_of
from weft.core.trace import CONSTANT, OUTSIDE, Literal, Reference
from weft.errors import GraphError
from weft.ir.graph import Graph, Node, Value
from weft.passes.rewrite import copy_graph, replace

#: large constants and outside handles, with a node that carries each
Carried = dict[Literal | Reference, Node]


def expose(graph: Graph) -> tuple[Graph, list[Literal | Reference]]:
    """A graph that takes for its first parameters what another carries.

    Args:
        graph: a valid graph; it is not changed.

    Returns:
        The graph itself if it carries nothing, else a copy; and what its additional first parameters stand for.

    Example:
        >>> expose(Graph("nothing"))[1]
        []
    """
    found = _carried_by(graph, {})
    if not found:
        return graph, []
    result = copy_graph(graph)
    memo: dict[int, Carried] = {}
    carried = _carried_by(result, memo)
    _thread(result, carried, memo, set())
    count = len(carried)
    result.params[:] = [*result.params[-count:], *result.params[:-count]]
    for index, param in enumerate(result.params):
        param.index = index
    return result, list(carried)


def supplied(function: Callable[..., Any], carried: Sequence[Literal | Reference]) -> Callable[..., Any]:
    """A function of an exposed graph's arrays as one of the original graph's.

    Args:
        function: takes the arrays of what is carried, then the others.
        carried: what `expose` returned.
    """
    if not carried:
        return function
    if not any(isinstance(item, Reference) for item in carried):
        return partial(function, *[array_of(item) for item in carried])

    def run(*arrays: Any) -> Any:
        return function(*[array_of(item) for item in carried], *arrays)

    return run


def array_of(item: Literal | Reference) -> Array:
    """The array to hand over."""
    return item.data if isinstance(item, Literal) else data_of(item.tensor)


def tensor_of(item: Literal | Reference) -> Tensor:
    """The tensor to hand over, where an operation takes what a graph carries."""
    return Tensor(item.data) if isinstance(item, Literal) else item.tensor


def _is_carried(node: Node) -> bool:
    return node.op is OUTSIDE or (node.op is CONSTANT and node.attrs[0].is_large)


def _carried_by(graph: Graph, memo: dict[int, Carried]) -> Carried:
    """What a graph and those nested in it carry; `memo` has the answer for each graph."""
    found = memo.get(id(graph))
    if found is None:
        found = memo[id(graph)] = {}
        for node in graph.nodes:
            if _is_carried(node):
                found[node.attrs[0]] = node
            for region in node.regions:
                found |= _carried_by(region, memo)
    return found


def _thread(graph: Graph, wanted: Carried, memo: dict[int, Carried], done: set[int]) -> None:
    """Give a graph one more parameter for each of the wanted, and let it hand them to its regions."""
    done.add(id(graph))
    params = {item: graph.add_param(node.outputs[0].type, node.outputs[0].name) for item, node in wanted.items()}
    replaced: dict[Value, Value] = {}
    nodes = []
    for node in graph.nodes:
        if _is_carried(node):
            replaced[node.outputs[0]] = params[node.attrs[0]]
            continue
        nodes.append(node)
        needed: Carried = {}
        for region in node.regions:
            needed |= memo[id(region)]
        if not needed:
            continue
        if node.op not in (IF, WHILE, CALL):
            raise GraphError(f"operation {node.op.name!r} holds a graph, but cannot hand anything to it")
        node.inputs = (*node.inputs, *[params[item] for item in needed])
        for region in node.regions:
            if id(region) not in done:  # several calls share a callee
                _thread(region, needed, memo, done)
    graph.nodes = nodes
    replace(graph, replaced)


__all__ = ["Carried", "array_of", "expose", "supplied", "tensor_of"]
