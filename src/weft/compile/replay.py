"""Run a graph again on tensors, node by node: into another trace, and onto a tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.autodiff.marks import MARK, Run, enter, renewed
from weft.core.control import CALL
from weft.core.dispatch import append, record
from weft.core.primitive import IO
from weft.core.tensor import Tensor, wrap
from weft.core.trace import CONSTANT, OUTSIDE, Trace
from weft.ir.graph import Graph, Node, Value

#: operations with regions -> how they are replayed; `weft.compile.control` fills it
HANDLERS: Final[dict[Any, Callable[[Trace, Node, list[Any]], Sequence[Tensor]]]] = {}


def replay(trace: Trace, graph: Graph, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Append a graph's computation to the current graph of a trace.

    Args:
        trace: the active trace.
        graph: what to compute.
        inputs: one symbolic tensor for each parameter; a gradient may follow some.

    Returns:
        list: one tensor for each output.
    """
    env: dict[Value, Tensor] = dict(zip(graph.params, inputs, strict=True))
    outer = trace.location
    run = Run()
    try:
        for node in graph.nodes:
            location = node.location
            trace.location = None if location is None else (lambda here=location: here)
            operands = [None if value is None else env[value] for value in node.inputs]
            results: Sequence[Tensor]
            if node.op is CONSTANT or node.op is OUTSIDE:
                values = trace.append(node.op, (), node.attrs, (node.outputs[0].type,))
                results = [wrap(value) for value in values]
            elif node.op in HANDLERS:
                results = HANDLERS[node.op](trace, node, operands)
            elif node.op is CALL:
                results = replay(trace, node.regions[0], operands)  # type: ignore[arg-type]
            elif node.op.effect == IO:
                used = tuple([None if t is None else trace.use(t) for t in operands])
                types = tuple([value.type for value in node.outputs])
                results = [wrap(value) for value in trace.append(node.op, used, node.attrs, types)]
            else:
                op: Any = node.op
                attrs = renewed(node, operands, trace.graph, run) if op is MARK else node.attrs
                values = append(trace, op, operands, attrs)
                if op is MARK:
                    results = enter(attrs[0], operands, values, trace.graph)
                else:
                    results = record(op, attrs, tuple(operands), values, trace.graph)
            env.update(zip(node.outputs, results, strict=True))
    finally:
        trace.location = outer
    return [env[value] for value in graph.outputs]
