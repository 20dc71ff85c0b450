"""The structure of a tape: backward passes over tapes of the same structure are the same computation on other arrays.

A training loop makes such a tape at every step. Compiling the whole backward pass costs about as much as fifty passes
node by node, so that is when it is compiled (rent, then buy). Where renting means to compile most of the entries' rules
one by one, the pass is bought at once: one program is compiled faster than its pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from weft.core.dispatch import PrimitiveNode
from weft.core.primitive import Primitive
from weft.core.tape import TapeNode

#: how many passes over a structure are run node by node before it is compiled
PATIENCE = 32
#: compiled passes for one sequence of primitives; a program whose structure keeps changing gets no more
VARIANTS = 4
_MOST = 1024
#: share of the entries whose rules are not compiled yet from which on a pass is compiled as a whole at first sight
_NEW_SHARE = 0.5
#: passes compiled at first sight that were not seen again, after which no more are
_UNPROVEN = 3


#: one entry of a tape in numbers: primitive, attributes, the array of each operand (-1 for one left out), the array of
#: each result, and for each operand None or the entry that produced it and which result it is
Step = tuple[Primitive, tuple[Any, ...], tuple[int, ...], tuple[int, ...], tuple[tuple[int, int] | None, ...]]
#: rules epoch, steps, the output gradients given (entry, result, array), the targets, types of the outside arrays
Key = tuple[int, tuple[Step, ...], tuple[tuple[int, int, int], ...], tuple[int, ...], tuple[Any, ...]]


class Habit:
    """How often a sequence of primitives was seen, and the backward passes compiled for it."""

    __slots__ = ("count", "compiled", "unproven")

    def __init__(self) -> None:
        self.count = 0
        self.compiled: dict[Key, Any] = {}
        #: whether it was compiled at first sight, and not seen again
        self.unproven = False


_habits: dict[tuple[Primitive, ...], Habit] = {}
#: the entries whose rules were compiled one by one: primitive, attributes, types of the operands
_alone: set[Any] = set()


def habit_of(order: Sequence[TapeNode]) -> Habit | None:
    """The record of tapes like this one, once there have been enough of them; it counts this one."""
    primitives = []
    for node in order:
        if node.__class__ is not PrimitiveNode or node.hooks or node.level is not None:
            return None
        if node.primitive.asks:
            return None
        primitives.append(node.primitive)
    key = tuple(primitives)
    habit = _habits.get(key)
    if habit is None:
        if len(_habits) >= _MOST:
            _habits.clear()
        habit = _habits[key] = Habit()
    habit.count += 1
    if habit.count == 1 and _is_bought_at_once(order):
        habit.count, habit.unproven = PATIENCE + 1, True
    elif habit.unproven:
        habit.unproven = False
    return habit if habit.count > PATIENCE else None


def _is_bought_at_once(order: Sequence[Any]) -> bool:
    """Whether a pass that is new would compile so much one by one that one program for all of it costs less."""
    entries = {
        (
            node.primitive,
            node.primitive.key(node.attrs),
            tuple([None if tensor is None else (tensor._data.shape, tensor._data.dtype) for tensor in node.inputs]),
        )
        for node in order
    }
    new = entries - _alone
    if len(new) >= _NEW_SHARE * len(order) and sum(habit.unproven for habit in _habits.values()) < _UNPROVEN:
        return True
    if len(_alone) > _MOST:
        _alone.clear()
    _alone.update(new)
    return False


def describe(
    order: Sequence[Any],
    relevant: Collection[TapeNode],
    seeds: Iterable[tuple[TapeNode, list[Any]]],
    targets: Sequence[TapeNode],
) -> tuple[Key, list[Any]]:
    """A tape as a key that does not depend on its values, and the arrays that the backward pass reads.

    Args:
        order: the entries to pull, oldest first.
        relevant: the entries that lead to a target, and the targets.
        seeds: the output gradients by entry.
        targets: where to stop.
    """
    numbers: dict[TapeNode, int] = {}
    for target in targets:
        if target not in numbers:
            numbers[target] = -1 - len(numbers)
    slots: dict[int, int] = {}
    arrays: list[Any] = []
    outside: list[Any] = []
    steps = []
    for number, node in enumerate(order):
        numbers[node] = number
        if node.attrs:
            outside.append((number, node.primitive.key(node.attrs)))
        inputs = []
        for tensor in node.inputs:
            if tensor is None:
                inputs.append(-1)
                continue
            array = tensor._data
            slot = slots.get(id(array))
            if slot is None:
                slot = slots[id(array)] = len(arrays)
                arrays.append(array)
                outside.append((slot, array.shape, array.dtype))
            inputs.append(slot)
        results = []
        for array in node.results:
            slot = slots.get(id(array))
            if slot is None:
                slot = slots[id(array)] = len(arrays)
                arrays.append(array)
            results.append(slot)
        edges = tuple(
            [None if edge is None or edge[0] not in relevant else (numbers[edge[0]], edge[1]) for edge in node.edges]
        )
        steps.append((node.primitive, node.attrs, tuple(inputs), tuple(results), edges))
    given = []
    for node, douts in seeds:
        if node in relevant:
            for index, dout in enumerate(douts):
                if dout is not None:
                    given.append((numbers[node], index, len(arrays)))
                    arrays.append(dout._data)
    key = (
        Primitive.rules_epoch,
        tuple(steps),
        tuple(given),
        tuple([numbers[target] for target in targets]),
        tuple(outside),
    )
    return key, arrays


__all__ = ["PATIENCE", "VARIANTS", "Habit", "Key", "Step", "describe", "habit_of"]
