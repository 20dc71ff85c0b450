"""Algebraic identities that hold bit by bit, as a table of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft.dtypes import DType
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.passes.base import Pass
from weft.passes.rewrite import constant_array, graphs_of, known_number, rewrite, truth

#: gives the value that replaces a node's only result, or None
Row = Callable[[Graph, Node], Value | None]


def _operand(node: Node, index: int, op_name: str = "") -> Value | None:
    """An operand, if there is one; with a name: the first operand of the operation that computes it."""
    value = node.inputs[index] if index < len(node.inputs) else None
    if not op_name or value is None:
        return value
    inner = value.node
    if inner is None or inner.op.name != op_name or not inner.inputs:
        return None
    return inner.inputs[0]


def _without(neutral: Callable[[Any], bool], *, left: bool = True) -> Row:
    """A binary operation with a neutral operand gives the other one, if that has the result's type."""

    def row(graph: Graph, node: Node) -> Value | None:
        del graph
        for kept, other in ((0, 1), (1, 0)) if left else ((0, 1),):
            x, number = _operand(node, kept), known_number(_operand(node, other))
            if x is not None and number is not None and x.type is node.outputs[0].type and neutral(number):
                return x
        return None

    return row


def _is_one(number: Any) -> bool:
    # complex numbers: (inf+1j) * (1+0j) is not the same; bool: 1 is "and"
    return bool(number.dtype.kind != "c" and number == 1)


def _adds_nothing(number: Any) -> bool:
    """``x + 0`` for integers; for floats ``x + -0.0``, since ``-0.0 + 0.0`` is ``0.0``."""
    if number.dtype.kind == "c" or number != 0:
        return False
    return number.dtype.kind in "iub" or bool(np.signbit(np.float64(number)))


def _takes_nothing(number: Any) -> bool:
    """``x - 0`` for integers; for floats ``x - 0.0``, since ``-0.0 - -0.0`` is ``0.0``."""
    if number.dtype.kind == "c" or number != 0:
        return False
    return number.dtype.kind in "iu" or not bool(np.signbit(np.float64(number)))


def _twice(name: str) -> Row:
    """An operation that undoes itself."""

    def row(graph: Graph, node: Node) -> Value | None:
        del graph
        x = _operand(node, 0, name)
        return x if x is not None and x.type is node.outputs[0].type else None

    return row


def _no_change(graph: Graph, node: Node) -> Value | None:
    """A conversion or change of shape to what the operand already is."""
    del graph
    x = _operand(node, 0)
    return x if len(node.inputs) == 1 and x is not None and x.type is node.outputs[0].type else None


def _cast_back(graph: Graph, node: Node) -> Value | None:
    """``Cast(Cast(x, wider), type of x)`` -> ``x``"""
    x = _operand(node, 0, "Cast")
    middle = _operand(node, 0)
    if x is None or middle is None or x.type is not node.outputs[0].type:
        return _no_change(graph, node)
    assert isinstance(x.type, TensorType)
    assert isinstance(middle.type, TensorType)
    return x if lossless(x.type.dtype, middle.type.dtype) else None


def lossless(narrow: DType, wide: DType) -> bool:
    """Whether every value of one dtype survives the way through another."""
    if narrow.category == 0:
        return True
    if narrow.category == 1:
        if wide.category == 1:
            return (narrow.is_signed == wide.is_signed and narrow.itemsize <= wide.itemsize) or (
                not narrow.is_signed and wide.is_signed and narrow.itemsize < wide.itemsize
            )
        return False
    return narrow.category == wide.category == 2 and (narrow is wide or wide.itemsize > narrow.itemsize)


def _reshape_reshape(graph: Graph, node: Node) -> Value | None:
    """``Reshape(Reshape(x, a), b)`` -> ``Reshape(x, b)``"""
    x = _operand(node, 0, "Reshape")
    kind = node.outputs[0].type
    if x is None or not isinstance(kind, TensorType) or node.op.attr_names != ("shape",):
        return _no_change(graph, node)
    if x.type is kind:
        return x
    return graph.add_node(node.op, (x,), (kind.shape,), (kind,), (), node.location).outputs[0]


def _transpose_transpose(graph: Graph, node: Node) -> Value | None:
    """``Transpose(Transpose(x, a), b)`` -> ``Transpose(x, a then b)``, and none at all if nothing moves"""
    outer = _axes(node)
    if outer is None:
        return None
    value = node.inputs[0]
    x, axes = value, outer
    inner_node = None if value is None else value.node
    if inner_node is not None and inner_node.op is node.op:
        inner = _axes(inner_node)
        if inner is not None:
            x, axes = inner_node.inputs[0], tuple([inner[i] for i in outer])
    if x is None:
        return None
    kind = node.outputs[0].type
    if axes == tuple(range(len(axes))):
        return x if x.type is kind else None
    if x is value:
        return None
    return graph.add_node(node.op, (x,), (axes,), (kind,), (), node.location).outputs[0]


def _axes(node: Node) -> tuple[int, ...] | None:
    """The permutation of a transposition, from 0 up; None if it is not that simple."""
    kind = node.outputs[0].type
    if len(node.attrs) != 1 or len(node.inputs) != 1 or not isinstance(kind, TensorType):
        return None
    axes, rank = node.attrs[0], len(kind.shape)
    if axes.__class__ is not tuple or any(axis.__class__ is not int for axis in axes):
        return None
    positive = tuple([axis % rank for axis in axes]) if rank else ()
    return positive if sorted(positive) == list(range(rank)) else None


def _where(graph: Graph, node: Node) -> Value | None:
    """``Where(c, x, x)``, ``Where(True, x, y)`` -> ``x``"""
    del graph
    condition, x, y = node.inputs
    if x is y:
        chosen = x
    else:
        array = constant_array(condition)
        known = truth(condition) if array is not None and array.size == 1 else None
        chosen = None if known is None else (x if known else y)
    return chosen if chosen is not None and chosen.type is node.outputs[0].type else None


#: operation -> what it may be replaced by
ROWS: Final[dict[str, Sequence[Row]]] = {
    "Mul": (_without(_is_one),),
    "RealDiv": (_without(_is_one, left=False),),
    "Div": (_without(_is_one, left=False),),
    "Pow": (_without(_is_one, left=False),),
    "Add": (_without(_adds_nothing),),
    "Sub": (_without(_takes_nothing, left=False),),
    "Neg": (_twice("Neg"),),
    "LogicalNot": (_twice("LogicalNot"),),
    "Conj": (_twice("Conj"),),
    "Cast": (_cast_back,),
    "Reshape": (_reshape_reshape,),
    "Transpose": (_transpose_transpose,),
    "BroadcastTo": (_no_change,),
    "SumTo": (_no_change,),
    "Where": (_where,),
}


@dataclass(frozen=True)
class Simplify(Pass):
    """Apply the rows of `ROWS`: ``x * 1`` -> ``x``, ``Neg(Neg(x))`` -> ``x``, ``Reshape(Reshape(x))``, ...

    A row changes no bit of a result: signed zeros, NaN, integer overflow and dtypes are as they were.
    """

    name: ClassVar[str] = "simplify"

    def apply(self, graph: Graph) -> Graph:
        for inner in graphs_of(graph):
            self._simplify(inner)
        return graph

    def _simplify(self, graph: Graph) -> None:
        rows_of = ROWS.get

        def visit(node: Node) -> Sequence[Value] | None:
            for row in rows_of(node.op.name, ()):
                found = row(graph, node)
                if found is not None:
                    return (found,)
            return None

        rewrite(graph, visit)
