"""The rules that every graph obeys, as a table of small functions.

`verify` looks at a graph and all its regions and raises `GraphError` at the first broken rule, showing the node, the
nodes around it and the user's source line. Passes are checked with it in tests, and everywhere if ``WEFT_VERIFY=1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.errors import GraphError
from weft.ir.graph import Graph, Node, Value
from weft.ir.sizes import is_open_size
from weft.ir.text import context_lines, format_node, graph_name
from weft.ir.types import TOKEN, TensorType, ValueType

#: what a rule about nodes finds wrong, or None
NodeRule = Callable[["Scope", Node], str | None]


class Scope:
    """What is known of a graph while its nodes are checked in order.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.defined: set[Value] = set(graph.params)
        self.nodes: set[int] = set()

    def problem_of(self, value: object) -> str | None:
        """Why a value cannot be used at this point, or None."""
        if value in self.defined:
            return None
        if not isinstance(value, Value):
            return f"{value!r} is not a value"
        if value.graph is not self.graph:
            return f"{value!r} belongs to graph @{graph_name(value.graph)}; a region sees nothing but its parameters"
        if value.node is None:
            return f"{value!r} is not among the graph's parameters"
        if any(node is value.node for node in self.graph.nodes):
            return "it uses a value before it is defined"
        return f"{value!r} is the result of a node that is not in the graph"


# -- rules about values ------------------------------------------------------------------------------------------


def type_problem(kind: object) -> str | None:
    """Why something is not a type of the IR, or None."""
    if kind is TOKEN:
        return None
    if not isinstance(kind, TensorType):
        return f"{kind!r} is not a type"
    if any(not is_open_size(dim) and (dim.__class__ is not int or dim < 0) for dim in kind.shape):
        return f"the shape {kind.shape} has a dimension that is no size"
    if TensorType.of(kind.dtype, kind.shape, kind.weak) is not kind:
        return f"the type {kind!r} is not the interned one; make types with TensorType.of"
    return None


def graph_problems(graph: Graph) -> Iterator[str]:
    """What is wrong with a graph's parameters."""
    for i, value in enumerate(graph.params):
        if value.graph is not graph or value.node is not None:
            yield f"parameter {i} is a value of something else"
        if value.index != i:
            yield f"parameter {i} says that it is parameter {value.index}"
        problem = type_problem(value.type)
        if problem:
            yield f"parameter {i}: {problem}"
    if len(set(graph.params)) != len(graph.params):
        yield "a parameter stands in the list twice"


# -- rules about nodes -------------------------------------------------------------------------------------------


def once(scope: Scope, node: Node) -> str | None:
    """A node stands in the graph once."""
    if id(node) in scope.nodes:
        return "the node stands in the graph twice"
    scope.nodes.add(id(node))
    return None


def operands_defined(scope: Scope, node: Node) -> str | None:
    """Operands are parameters of the graph or results of earlier nodes."""
    if node.inputs.__class__ is not tuple:
        return "its operands are not a tuple"
    for value in node.inputs:
        if value is not None and value not in scope.defined:
            return scope.problem_of(value)
    return None


def results_consistent(scope: Scope, node: Node) -> str | None:
    """Results know their node, graph and position, have a type, and are new."""
    for i, value in enumerate(node.outputs):
        if value.node is not node or value.index != i or value.graph is not scope.graph:
            return f"result {i} says that it comes from somewhere else"
        if value in scope.defined:
            return f"result {i} is defined twice"
        problem = type_problem(value.type)
        if problem:
            return f"result {i}: {problem}"
    return None


def attributes_fit(scope: Scope, node: Node) -> str | None:
    """There is one hashable value for each attribute of the operation."""
    del scope
    if len(node.attrs) != len(node.op.attr_names):
        return f"{node.op.name} has {len(node.op.attr_names)} attributes, the node has {len(node.attrs)}"
    try:
        hash(node.attrs)
    except TypeError as error:
        return f"an attribute cannot be hashed ({error})"
    return None


def constant_fits(scope: Scope, node: Node) -> str | None:
    """The array of a constant has the type of its result."""
    del scope
    if node.op.name != "Constant":
        return None
    array = getattr(node.attrs[0], "array", None)
    kind = node.outputs[0].type if len(node.outputs) == 1 else None
    if array is None or not isinstance(kind, TensorType):
        return "a constant needs an array and gives one tensor"
    if array.shape != kind.shape or array.dtype != kind.dtype.np_dtype:
        return f"the array is {array.dtype}{list(array.shape)}, the result {kind!r}"
    return None


def io_ordered(scope: Scope, node: Node) -> str | None:
    """An IO operation takes a token first and gives one first."""
    del scope
    if node.op.effect != "io" or node.regions:
        return None
    if not node.inputs or node.inputs[0] is None or node.inputs[0].type is not TOKEN:
        return "its first operand must be the token that orders IO"
    if not node.outputs or node.outputs[0].type is not TOKEN:
        return "its first result must be a token"
    return None


def types_inferred(scope: Scope, node: Node) -> str | None:
    """The results have the types that the operation infers from its operands."""
    del scope
    infer = getattr(node.op, "infer", None)
    if infer is None or node.regions or node.op.effect == "io" or node.op.name == "Constant":
        return None
    if any(value is not None and value.type is TOKEN for value in (*node.inputs, *node.outputs)):
        return None
    types = tuple([None if value is None else value.type for value in node.inputs])
    try:
        wanted = infer(node.attrs, types)
    except Exception as error:  # whatever an implementation raises for wrong operands
        return f"the operands do not fit the operation: {error}"
    found = tuple([value.type for value in node.outputs])
    return None if same_types(wanted, found) else f"the operation gives {show(wanted)}, the node says {show(found)}"


def regions_fit(scope: Scope, node: Node) -> str | None:
    """Control flow: regions, operands and results agree."""
    del scope
    rule = CONTROL_RULES.get(node.op.name)
    if rule is None:
        return "the operation takes no regions" if node.regions and not hasattr(node.op, "regions") else None
    return rule(node)


def show(types: Any) -> str:
    """Types in parentheses."""
    return f"({', '.join(map(repr, types))})"


def same_types(a: Any, b: Any) -> bool:
    """Whether two sequences hold the same types."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _types(values: Any) -> list[ValueType | None]:
    return [None if value is None else value.type for value in values]


def _is_condition(value: Value | None) -> bool:
    kind = None if value is None else value.type
    return isinstance(kind, TensorType) and kind.shape == () and kind.dtype.np_dtype.kind == "b"


def _if(node: Node) -> str | None:
    if len(node.regions) != 2:
        return f"an If has two regions, this one has {len(node.regions)}"
    if not node.inputs or not _is_condition(node.inputs[0]):
        return "the condition must be a bool[] scalar"
    operands, results = _types(node.inputs[1:]), _types(node.outputs)
    for label, region in zip(("then", "else"), node.regions, strict=True):
        if not same_types(_types(region.params), operands):
            return f"the {label} region takes {show(_types(region.params))}, the operands are {show(operands)}"
        if not same_types(_types(region.outputs), results):
            return f"the {label} region gives {show(_types(region.outputs))}, the results are {show(results)}"
    return None


def _while(node: Node) -> str | None:
    if len(node.regions) != 1:
        return f"a While has one region, this one has {len(node.regions)}"
    carry = node.attrs[0]
    if carry.__class__ is not int or not 1 <= carry <= len(node.inputs):
        return f"{carry!r} values cannot be carried, there are {len(node.inputs)} operands"
    if not _is_condition(node.inputs[0]):
        return "the first carried value must be a bool[] scalar: whether to go on"
    body, operands = node.regions[0], _types(node.inputs)
    if not same_types(_types(body.params), operands):
        return f"the body takes {show(_types(body.params))}, the operands are {show(operands)}"
    for what, types in (("the body gives", _types(body.outputs)), ("the results are", _types(node.outputs))):
        if not same_types(types, operands[:carry]):
            return f"{what} {show(types)}, carried are {show(operands[:carry])}"
    return None


def _call(node: Node) -> str | None:
    if len(node.regions) != 1:
        return f"a Call has one region, this one has {len(node.regions)}"
    callee = node.regions[0]
    if not same_types(_types(callee.params), _types(node.inputs)):
        return f"the callee takes {show(_types(callee.params))}, the operands are {show(_types(node.inputs))}"
    if not same_types(_types(callee.outputs), _types(node.outputs)):
        return f"the callee gives {show(_types(callee.outputs))}, the results are {show(_types(node.outputs))}"
    return None


def _repeat(node: Node) -> str | None:
    if len(node.regions) != 1:
        return f"a Repeat has one region, this one has {len(node.regions)}"
    count, carry, reads, unroll = node.attrs
    if count.__class__ is not int or unroll.__class__ is not int or min(count, unroll) < 1:
        return f"{count!r} iterations, {unroll!r} of them as one, are no numbers from 1 on"
    if carry.__class__ is not int or not 0 <= carry <= len(node.inputs) - len(reads):
        return f"{carry!r} values cannot be carried, there are {len(node.inputs)} operands"
    body, operands = node.regions[0], _types(node.inputs)
    wanted: list[ValueType | None] = list(operands)
    for place, (start, step) in enumerate(reads, carry):
        stack = operands[place]
        if not isinstance(stack, TensorType) or not stack.shape:
            return f"operand {place} is no stack: {stack!r}"
        if not all(0 <= start + step * i < stack.shape[0] for i in (0, count - 1)):
            return f"operand {place} has no items {start} + {step} * i"
        item = body.params[place].type if place < len(body.params) else None
        weak = item.weak if isinstance(item, TensorType) else None
        wanted[place] = TensorType.of(stack.dtype, stack.shape[1:], weak)
    if not same_types(_types(body.params), wanted):
        return f"the body takes {show(_types(body.params))}, the operands are {show(wanted)}"
    kept = [v.type for v in body.outputs[carry:]]
    if not same_types(_types(body.outputs[:carry]), operands[:carry]):
        return f"the body gives {show(_types(body.outputs[:carry]))}, carried are {show(operands[:carry])}"
    stacks = [TensorType.of(k.dtype, (count, *k.shape)) if isinstance(k, TensorType) else k for k in kept]
    if not same_types(_types(node.outputs), [*operands[:carry], *stacks]):
        return f"the results are {show(_types(node.outputs))}, the body gives {show(_types(body.outputs))}"
    return None


CONTROL_RULES: dict[str, Callable[[Node], str | None]] = {"If": _if, "While": _while, "Call": _call, "Repeat": _repeat}

#: in this order; a later rule may rely on an earlier one
NODE_RULES: tuple[NodeRule, ...] = (
    once,
    operands_defined,
    results_consistent,
    attributes_fit,
    constant_fits,
    io_ordered,
    regions_fit,
    types_inferred,
)


# -- the walk ----------------------------------------------------------------------------------------------------


def verify(graph: Graph, after: str = "") -> Graph:
    """Check a graph and its regions.

    Args:
        graph: the graph.
        after: name of the pass that made it, for the message.

    Returns:
        Graph: the same graph.

    Raises:
        GraphError: a rule is broken; says which, where in the graph and where in the user's code.

    Example:
        >>> verify(Graph("empty")).name
        'empty'
    """
    _verify(graph, after, set(), ())
    return graph


def _verify(graph: Graph, after: str, done: set[int], outer: tuple[int, ...]) -> None:
    if id(graph) in outer:
        raise _error(f"graph @{graph_name(graph)} contains itself", graph, None, after)
    if id(graph) in done:
        return
    for problem in graph_problems(graph):
        raise _error(problem, graph, None, after)
    scope = Scope(graph)
    for node in graph.nodes:
        for region in node.regions:
            _verify(region, after, done, (*outer, id(graph)))
        for rule in NODE_RULES:
            found = rule(scope, node)
            if found is not None:
                raise _error(found, graph, node, after)
        scope.defined.update(node.outputs)
    for i, value in enumerate(graph.outputs):
        found = scope.problem_of(value)
        if found is not None:
            raise _error(f"output {i}: {found}", graph, None, after)
    done.add(id(graph))


def _error(problem: str, graph: Graph, node: Node | None, after: str) -> GraphError:
    stage = f" after pass {after!r}" if after else ""
    lines = [f"graph @{graph_name(graph)} is not valid{stage}: {problem}"]
    if node is not None:
        lines.append(f"  in:   {format_node(node, graph)}")
        where = node.where()
        if where is not None:
            lines.append(f"  from: {where}")
        lines += ["  near: " + lines_near for lines_near in context_lines(node, graph)]
    return GraphError("\n".join(lines))
