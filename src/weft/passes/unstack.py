"""Stacks that a graph takes apart and puts together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.core.primitive import Primitive
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType

#: an item of a stack: the stack, the position
Item = tuple[Value, int]
_CONCAT: Final = Primitive.table["Concat"]
_STACK: Final = Primitive.table["Stack"]


@dataclass
class Unstacking:
    """``Stack`` of the items of a stack, from the first to the last, is the stack."""

    graph: Graph
    items: dict[Value, Item]

    def visit(self, node: Node) -> Sequence[Value] | None:
        kinds = {value.type for value in node.inputs if value is not None}
        if node.op is not _STACK or node.attrs[0] != 0 or len(kinds) != 1:
            return None
        parts: list[Value | list[Value]] = []
        position = 0
        while position < len(node.inputs):
            stack = self._whole(node.inputs[position:])
            if stack is not None:
                parts.append(stack)
                position += stack.type.shape[0]  # type: ignore[union-attr]
                continue
            if not parts or not isinstance(parts[-1], list):
                parts.append([])
            parts[-1].append(node.inputs[position])  # type: ignore[union-attr,arg-type]
            position += 1
        if all(isinstance(part, list) for part in parts):
            return None
        return self._joined(node, [self._stack(p) if isinstance(p, list) else p for p in parts])

    def _whole(self, values: Sequence[Value | None]) -> Value | None:
        """The stack whose items the first values are, all of them."""
        stack, _ = self.items.get(values[0], (None, 0))  # type: ignore[arg-type]
        if stack is None:
            return None
        count = stack.type.shape[0]  # type: ignore[union-attr]
        found = [self.items.get(value) for value in values[:count]]  # type: ignore[arg-type]
        return stack if found == [(stack, i) for i in range(count)] else None

    def _stack(self, values: Sequence[Value]) -> Value:
        kind: Any = values[0].type
        stacked = TensorType.of(kind.dtype, (len(values), *kind.shape))
        return self.graph.add_node(_STACK, tuple(values), (0,), (stacked,)).outputs[0]

    def _joined(self, node: Node, parts: Sequence[Value]) -> Sequence[Value]:
        if len(parts) == 1:
            return parts
        return self.graph.add_node(_CONCAT, tuple(parts), (0,), (node.outputs[0].type,), (), node.location).outputs
