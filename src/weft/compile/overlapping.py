"""Writes that XLA would do in place while it still reads what they overwrite.

XLA for CPUs writes a box of an array in place where it can, and computes what is written in the same loop. It sees that
the loop reads the array elsewhere, but not through a reshape: ``v = x.reshape(-1); v[4:] = v[:-4]`` gives rows that are
written already (jaxlib 0.10.2). What may be read so is written into zeros first, and chosen from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
from jax import numpy as jnp

from weft.core.dispatch import IDENTITY
from weft.core.trace import CONSTANT
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType
from weft.ops.index import GETITEM, INDEX_ADD, INDEX_SET, UPDATE_AT, box_of

_WRITES: Final = frozenset({INDEX_SET, INDEX_ADD, UPDATE_AT})


def overlapping(graph: Graph) -> set[Node]:
    """The writes of a graph, its regions apart, whose value may be read from what they overwrite.

    Args:
        graph: the graph.
    """
    boxes = [node for node in graph.nodes if node.op in _WRITES and _is_box(node)]
    turned = [node for node in boxes if _is_turned(node.inputs[0])]
    if not turned:
        return set()
    sources: dict[Value | None, int] = {None: 0}  # the parameters that a value depends on, a bit each
    for i, param in enumerate(graph.params):
        sources[param] = 1 << i
    count = len(graph.params)
    for node in graph.nodes:
        source = 0
        for value in node.inputs:
            source |= sources[value]
        if not source and node.op is not CONSTANT:  # random numbers, say: an array of its own
            source, count = 1 << count, count + 1
        sources.update(dict.fromkeys(node.outputs, source))
    of_turned = 0
    for node in turned:
        of_turned |= sources[node.outputs[0]]
    return {
        node
        for node in boxes
        if sources[node.inputs[0]] & sources[node.inputs[1]]
        and sources[node.outputs[0]] & of_turned
        and not _is_apart(node)
    }


def _is_box(node: Node) -> bool:
    """Whether a write is one of a box, which XLA does in place; others are loops of their own."""
    return node.op is UPDATE_AT or _box(node) is not None


def _box(node: Node) -> Any:
    """The box that a node reads or writes, if it is known."""
    target = node.inputs[0]
    if node.op is UPDATE_AT or target is None or not isinstance(target.type, TensorType) or target.type.is_open:
        return None
    plain = len(node.inputs) == (1 if node.op is GETITEM else 2)
    return box_of(node.attrs[0], target.type.shape) if plain else None


def _is_turned(value: Value | None) -> bool:
    """Whether an array that is written may be another form of one in memory: a reshape, a row, a transpose."""
    waiting, seen = [value], {value}
    while waiting:
        value = waiting.pop()
        node = None if value is None else value.node
        if node is None or node.op is CONSTANT:
            continue
        if node.op in _WRITES:
            following = node.inputs[:1]
        elif node.op is IDENTITY or getattr(node.op, "elementwise", False):
            following = node.inputs
        else:
            return True
        waiting += [v for v in following if v not in seen]
        seen.update(following)
    return False


def _is_apart(node: Node) -> bool:
    """Whether the value is read from elements that are not written, or each from the one that it replaces."""
    target, value = node.inputs[:2]
    box = _box(node)
    if box is None or value is None:
        return False
    waiting, seen = [value], {value}
    while waiting:
        reader = waiting.pop().node
        if reader is None:
            return False
        if reader.op is CONSTANT:
            continue
        if reader.op is GETITEM and reader.inputs[0] is target:
            read = _box(reader)
            if read is None or not (_are_disjoint(box, read) or read == box):
                return False
        elif getattr(reader.op, "elementwise", False):
            for v in reader.inputs:
                if v is None or v in seen:
                    continue
                if v.type != value.type and not (isinstance(v.type, TensorType) and not v.type.shape):
                    return False
                seen.add(v)
                waiting.append(v)
        else:
            return False
    return True


def _are_disjoint(one: Any, other: Any) -> bool:
    """Whether two boxes have no element in common, strides aside."""
    for start, size, step, start2, size2, step2 in zip(*one[:3], *other[:3], strict=True):
        if start + (size - 1) * step < start2 or start2 + (size2 - 1) * step2 < start:
            return True
    return False


def apart(node: Node, run: Callable[..., Any]) -> Callable[..., Any]:
    """A write that reads nothing of what it overwrites, as a function of its operands.

    Args:
        node: the write.
        run: the function that writes in place.
    """

    def written(x: Any, value: Any, *indices: Any) -> Any:
        zeros = jnp.zeros_like(x)
        if node.op is INDEX_ADD:
            return x + run(zeros, value, *indices)
        chosen = run(jnp.zeros(x.shape, bool), jnp.ones(jnp.shape(value), bool), *indices)
        return jax.lax.select(chosen, run(zeros, value, *indices), x)

    return written
