"""What is computed from constants alone becomes a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import numpy as np

from weft._jax_compat import to_device
from weft.core import trace as trace_module
from weft.core.primitive import PURE, Primitive
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.passes.base import Pass
from weft.passes.rewrite import add_constant, constant_array, graphs_of, rewrite


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Compute pure nodes whose operands are all constants.

    ``%2 = Add(2.0, 3.0)``  ->  ``%2 = Constant() {value=5.0}``

    Args:
        limit: results with more elements are left to the running graph.
        made_limit: the same for operations without operands, which describe a large array in few words.
    """

    name: ClassVar[str] = "fold-constants"
    limit: int = 1024
    made_limit: int = 1

    def apply(self, graph: Graph) -> Graph:
        for inner in graphs_of(graph):
            self._fold(inner)
        return graph

    def _fold(self, graph: Graph) -> None:
        known: set[Value] = set()

        def visit(node: Node) -> Sequence[Value] | None:
            if node.op is CONSTANT:
                if not node.attrs[0].is_large:
                    known.update(node.outputs)
                return None
            for value in node.inputs:
                if value is None or value not in known:
                    return None
            if not self._foldable(node):
                return None
            results = evaluate(node)
            if results is None:
                return None
            values = [add_constant(graph, array, like) for array, like in zip(results, node.outputs, strict=True)]
            known.update(values)
            return values

        rewrite(graph, visit)

    def _foldable(self, node: Node) -> bool:
        op = node.op
        if node.regions or op.effect != PURE or not isinstance(op, Primitive):
            return False
        limit = self.limit if node.inputs else self.made_limit
        return all(isinstance(v.type, TensorType) and v.type.size <= limit for v in node.outputs)


def evaluate(node: Node) -> list[np.ndarray[Any, Any]] | None:
    """The results of a node whose operands are constants; None if it fails or gives other types than it says."""
    primitive: Any = node.op
    try:
        with trace_module.suspended(), jax.ensure_compile_time_eval():
            found = primitive.executable(node.attrs)(*[to_device(constant_array(value)) for value in node.inputs])
    except (TypeError, ValueError, ArithmeticError):
        return None  # the running graph will raise it, in its place
    arrays = [np.asarray(array) for array in (found if primitive.multiple else (found,))]
    for array, value in zip(arrays, node.outputs, strict=True):
        kind = value.type
        assert isinstance(kind, TensorType)
        if array.shape != kind.shape or array.dtype != kind.dtype.np_dtype:
            return None
    return arrays
