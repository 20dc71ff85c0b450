"""The structure of a tape: backward passes over tapes of the same structure are the same computation on other arrays.

A training loop makes such a tape at every step. Compiling the whole backward pass costs about as much as fifty passes
node by node, so that is when it is compiled (rent, then buy). Where renting means to compile most of the entries' rules
one by one, the pass is bought at once: one program is compiled faster than its pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from weft.core.primitive import ACROSS, Primitive
from weft.core.recording import Form, GraphNode, PrimitiveNode
from weft.core.tape import TapeNode
from weft.core.tensor import data_of

#: how many passes over a structure are run node by node before it is compiled
PATIENCE = 32
#: compiled passes for one sequence of primitives; a program whose structure keeps changing gets no more
VARIANTS = 4
_MOST = 1024
#: share of the entries whose rules are not compiled yet from which on a pass is compiled as a whole at first sight
_NEW_SHARE = 0.5
#: passes compiled at first sight that were not seen again, after which no more are
_UNPROVEN = 3


#: one entry of a tape in numbers: primitive or `GraphRule`, attributes, the array of each operand (-1 for one that was
#: left out), the array of each result, and for each operand None or the entry that produced it and which result it is
Step = tuple[Any, tuple[Any, ...], tuple[int, ...], tuple[int, ...], tuple[tuple[int, int] | None, ...]]
#: an output gradient: entry, result, array, and whether that is the gradient (else it is the result, and the gradient
#: is ones)
Seed = tuple[int, int, int, bool]
#: rules epoch, steps, the output gradients, the targets, types of the outside arrays
Key = tuple[int, tuple[Step, ...], tuple[Seed, ...], tuple[int, ...], tuple[Any, ...]]


class Habit:
    """How often a sequence of primitives was seen, and the backward passes compiled for it."""

    __slots__ = ("count", "compiled", "unproven")

    def __init__(self) -> None:
        self.count = 0
        self.compiled: dict[Key, Any] = {}
        #: whether it was compiled at first sight, and not seen again
        self.unproven = False


_habits: dict[tuple[Any, ...], Habit] = {}
#: the entries whose rules were compiled one by one: primitive, attributes, types of the operands
_alone: set[Any] = set()


def habit_of(order: Sequence[TapeNode], form: Form | None) -> Habit | None:
    """The record of tapes like this one, once there have been enough of them; it counts this one.

    Args:
        order: the entries to pull, oldest first.
        form: the form of the tape, None if it is not known.
    """
    rules: list[Any] = []
    plain = True
    for node in order:
        if node.hooks or node.level is not None:
            return None
        if node.__class__ is PrimitiveNode:
            if node.primitive.asks or node.primitive.effect == ACROSS:
                return None
            rules.append(node.primitive)
        elif form is not None and node.__class__ is GraphNode and node.recording is not None:
            rules.append(node.rule)
            plain = False
        else:
            return None
    habits = _habits if form is None or form.habits is None else form.habits
    key = tuple(rules)
    habit = habits.get(key)
    if habit is None:
        if len(habits) >= _MOST:
            habits.clear()
        habit = habits[key] = Habit()
    habit.count += 1
    if habit.count == 1 and plain and _is_bought_at_once(order):
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
            tuple([None if array is None else (array.shape, array.dtype) for array in node.arrays()]),
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
        for array in node.arrays():
            if array is None:
                inputs.append(-1)
                continue
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
                    given.append((numbers[node], index, len(arrays), True))
                    arrays.append(data_of(dout))
    key = (
        Primitive.rules_epoch,
        tuple(steps),
        tuple(given),
        tuple([numbers[target] for target in targets]),
        tuple(outside),
    )
    return key, arrays


def key_of(form: Form, seeds: Iterable[tuple[int, int | None]]) -> Key:
    """A form as such a key. Arrays have the numbers that they have in the form.

    Args:
        form: the form of a tape, all leaves of which are targets.
        seeds: for each output the number of its array, and that of its gradient's; None for ones.
    """
    steps: list[Step] = []
    producers: dict[int, tuple[int, int]] = {}
    outside: list[Any] = []
    targets: list[int] = []
    for step in form.steps():
        if step.rule is None:
            number = -1 - len(targets)
            targets.append(number)
        else:
            number = len(steps)
            operands = tuple([-1 if array is None else array for array in step.operands])
            edges = tuple([producers[array] if f else None for array, f in zip(operands, step.followed, strict=True)])
            steps.append((step.rule, step.attrs, operands, tuple(step.results), edges))
        producers.update((array, (number, index)) for index, array in enumerate(step.results))
        outside.append(step.described)
    given = tuple([(*producers[array], array if dout is None else dout, dout is not None) for array, dout in seeds])
    return Primitive.rules_epoch, tuple(steps), given, tuple(targets), tuple(outside)


__all__ = ["PATIENCE", "VARIANTS", "Habit", "Key", "Seed", "Step", "describe", "habit_of", "key_of"]
