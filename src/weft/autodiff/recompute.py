"""Recomputation: what a block computed on the way is computed again in the backward pass, and not kept for it.

The entries that a call of the block leaves on the tape become one entry, which keeps what they read from before and
which operations they are (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", section 4). The backward
pass makes the same operations on the same operands once more. So the block's Python code, its side effects and its
draws of random numbers belong to the first run alone, and the results of the second are those of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from weft.autodiff.backward import ended, start_walk
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core import trace as trace_module
from weft.core.dispatch import apply, note_edges, pass_on
from weft.core.primitive import PURE, Primitive
from weft.core.recording import PrimitiveNode
from weft.core.sharing import member, share
from weft.core.tape import SYMBOL, Edge, TapeNode, next_sequence
from weft.core.tensor import Tensor, data_of, tracked
from weft.core.trace import detached
from weft.core.transparency import keeps, unbroken

#: the operands themselves; nothing that follows is computed before all of them are there, or taken for what was
#: computed from them earlier
BARRIER: Primitive = Primitive(
    "Barrier",
    lambda *arrays: jax.lax.optimization_barrier(arrays),
    multiple=True,
    derivative=lambda *operands: apply(BARRIER, tuple(operands[-1])),
)

#: where an operand of an operation comes from: the number of an earlier one and which of its results; -1 and which of
#: what was there before; -2 and which of the constants; None if there is none
_Source = tuple[int, int] | None


@unbroken
def recompute(block: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a block; gradients compute again what it computed on the way, and do not keep it.

    Memory of the results inside the block is given up for the time of a second forward pass. A gradient that is taken
    outside of a compiled function keeps what that function's graph computed; take it inside.

    Args:
        block: a Cell or a function of tensors.
        args: its arguments.
        kwargs: its keyword arguments.

    Returns:
        What the block returns.

    Raises:
        TypeError: `block` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> print(grad(lambda x: recompute(lambda y: (y * y).exp(), x))(Tensor([0.0, 1.0])))
        [0.        5.4365635]
    """
    if not callable(block):
        raise TypeError(f"recompute takes a Cell or a function, not {type(block).__name__}")
    begun = next_sequence()
    return _compacted(block(*args, **kwargs), begun)


@keeps
def _compacted(out: Any, begun: int) -> Any:
    """The results of a block on one entry of the tape, in place of those that were recorded since it began."""
    inner = [t for t in tensors_of(out) if _may_repeat(t._node, begun)]
    if not inner:
        return out
    handles = {id(t): t for t in inner}
    places = {key: place for place, key in enumerate(handles)}
    results = _compact(list(handles.values()), begun)
    for tensor, result in zip(handles.values(), results, strict=True):
        known = member(tensor)
        base = None if known is None else known.base
        if known is not None and base is not None and not _may_repeat(base._node, begun):  # of what was there before
            share(result, base, *known.way)
    return map_tensors(lambda t: results[places[id(t)]] if id(t) in places else t, out)


def _may_repeat(node: Any, begun: int) -> bool:
    """Whether an entry was recorded since the block began and can be made again: no code of the user's runs there."""
    if node is None or node is SYMBOL or node.sequence <= begun or node.hooks:
        return False
    if node.__class__ is PrimitiveNode:
        return bool(node.primitive.effect == PURE and not node.primitive.asks)
    return node.__class__ is Recomputed


def _compact(outputs: Sequence[Tensor], begun: int) -> list[Tensor]:
    level = outputs[0]._node.level  # type: ignore[union-attr]
    seen: set[Any] = set()
    stack: list[Any] = [t._node for t in outputs]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [e[0] for e in node.edges if e is not None and _may_repeat(e[0], begun) and e[0].level is level]
    order: list[Any] = sorted(seen, key=lambda node: node.sequence)
    numbers = {node: number for number, node in enumerate(order)}
    before: dict[tuple[TapeNode, int], int] = {}
    operands: list[Tensor] = []
    constants: list[Tensor] = []
    steps: list[tuple[Any, tuple[_Source, ...]]] = []
    for node in order:
        sources: list[_Source] = []
        for tensor, edge in zip(node.inputs, node.edges, strict=True):
            if edge is not None and edge[0] in numbers:
                sources.append((numbers[edge[0]], edge[1]))
            elif edge is not None:
                if edge not in before:
                    before[edge] = len(operands)
                    operands.append(tensor)
                sources.append((-1, before[edge]))
            elif tensor is None:
                sources.append(None)
            else:
                sources.append((-2, len(constants)))
                constants.append(tensor)
        again = node.again if node.__class__ is Recomputed else _Operation(node.primitive, node.attrs)
        steps.append((again, tuple(sources)))
    found = tuple([(numbers[t._node], t._index) for t in outputs])
    again = _Operations(steps, found, len(operands))
    made = Recomputed(again, (*operands, *constants), (*before, *[None] * len(constants)), len(outputs), level)
    results = [tracked(data_of(t), made, index) for index, t in enumerate(outputs)]
    if level is not None:
        note_edges(made, [data_of(t) for t in outputs])
    return results


class _Operation:
    """One operation of a block, made again."""

    __slots__ = ("attrs", "primitive")

    def __init__(self, primitive: Primitive, attrs: tuple[Any, ...]) -> None:
        self.primitive = primitive
        self.attrs = attrs

    def __call__(self, operands: Sequence[Tensor | None]) -> tuple[Tensor, ...]:
        made = apply(self.primitive, tuple(operands), self.attrs)
        return tuple(made) if self.primitive.multiple else (made,)


class _Operations:
    """All operations of a block, made again.

    Args:
        steps: what each makes again, and where its operands come from.
        results: which of their results are the block's.
        count: how many of the operands lead to what was computed before; constants follow them.
    """

    __slots__ = ("count", "results", "steps")

    def __init__(
        self, steps: Sequence[tuple[Any, tuple[_Source, ...]]], results: Sequence[tuple[int, int]], count: int
    ) -> None:
        self.steps = steps
        self.results = results
        self.count = count

    def __call__(self, operands: Sequence[Tensor | None]) -> tuple[Tensor, ...]:
        made: list[tuple[Tensor, ...]] = []
        for again, sources in self.steps:
            taken: list[Tensor | None] = []
            for source in sources:
                if source is None:
                    taken.append(None)
                elif source[0] >= 0:
                    taken.append(made[source[0]][source[1]])
                else:
                    taken.append(operands[source[1] + (self.count if source[0] == -2 else 0)])
            made.append(again(taken))
        return tuple([made[number][index] for number, index in self.results])


class Recomputed(TapeNode):
    """The tape entry of a block whose operations are made again when its gradient is asked for.

    Args:
        again: its operations.
        inputs: what they read from before: what a gradient follows, then constants.
        edges: the producers of the inputs.
        output_count: number of results.
        level: the graph under construction, None in eager code.
    """

    __slots__ = ("again", "inputs")

    def __init__(
        self, again: _Operations, inputs: tuple[Tensor, ...], edges: tuple[Edge, ...], output_count: int, level: Any
    ) -> None:
        super().__init__(edges, output_count, self.pull, level)
        self.again = again
        self.inputs = inputs

    def pull(self, douts: list[Any], needs: list[bool], record: bool) -> Sequence[Any]:
        """The gradients of the inputs, by a tape of the second run."""
        present = [d for d in douts if d is not None]
        values = list(self.inputs)
        trace = trace_module.current()
        level = None if trace is None else trace.graph
        # what a graph reads from around it has its history there, where the operation that holds the graph follows it
        linked = record and level is self.level
        if trace is not None:  # in a graph the second run must not become one with the first
            plain = [detached(t) for t in values] if linked or not record else values
            held = apply(BARRIER, (*plain, *present))
            values, present = list(held[: len(values)]), list(held[len(values) :])
        handles: list[Tensor] = []
        leaves: list[TapeNode | None] = []
        for tensor, edge in zip(values, self.edges, strict=True):
            if edge is None:
                handles.append(detached(tensor))
                leaves.append(None)
                continue
            leaf = TapeNode((edge,) if linked else (), 1, pass_on if linked else None, level)
            if level is not None:
                note_edges(leaf, [data_of(tensor)])
            handles.append(tracked(data_of(tensor), leaf, 0))
            leaves.append(leaf)
        results = self.again(handles)
        if any(d is not None and t._node is None for d, t in zip(douts, results, strict=True)):
            raise SystemError("the second run of a recomputed block has left no tape")
        wanted = [leaf for leaf, need in zip(leaves, needs, strict=True) if need and leaf is not None]
        given = iter(present)
        seeds = [None if d is None else next(given) for d in douts]
        found = ended(start_walk(results, seeds, wanted, record, not record)).arrived
        gradients = dict(zip(wanted, found, strict=True))
        return [None if leaf is None else gradients.get(leaf) for leaf in leaves]
