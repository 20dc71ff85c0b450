"""The frames of a call that waits: what is the same in every call about them, and their values."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import Decoded, Instr, decode
from weft.capture.leaving.steps import VALUE
from weft.capture.state.frame import NULL, UNBOUND, Await, Frame, Lazy


class FrameShape:
    """What is the same in every call about a frame that waits: all but the values.

    Args:
        function: a function with the frame's code and globals.
        pc: the instruction at which it goes on.
        bound: for each local variable whether it has a value.
        stack: `VALUE` or `NULL` for each entry of the stack.
        handling: whether it is handling an exception.
        awaits: what it does with the result of a call that it waits for.
    """

    __slots__ = ("function", "decoded", "pc", "bound", "stack", "handling", "awaits", "key")

    def __init__(
        self, function: types.FunctionType, pc: int, bound: tuple[bool, ...], stack: tuple[Any, ...], handling: bool,
        awaits: Await = Await.VALUE,
    ) -> None:  # fmt: skip
        self.function = function
        self.decoded: Decoded = decode(function.__code__)
        self.pc = pc
        self.bound = bound
        self.stack = stack
        self.handling = handling
        self.awaits = awaits
        self.key = (function.__code__, id(function.__globals__), pc, bound, stack, handling, awaits)

    @property
    def slots(self) -> list[int]:
        """The local variables that have values."""
        return [i for i, bound in enumerate(self.bound) if bound]

    @property
    def size(self) -> int:
        """How many values the frame has: local variables, then the stack, then the exception that it handles."""
        return sum(self.bound) + self.stack.count(VALUE) + self.handling

    def names(self) -> tuple[list[str], list[str]]:
        """The local variables with values, and those in cells."""
        decoded = self.decoded
        named = [decoded.slot_names[i] for i in self.slots]
        cells = {*decoded.cell_names, *decoded.free_names}
        return [n for n in named if n not in cells], [n for n in named if n in cells]


def shape_of(frame: Frame, pc: int, shown: bool = False, waiting: bool = False) -> FrameShape:
    """The shape of a frame that goes on at an instruction; variables that it does not read again count as unbound.

    Args:
        frame: the frame.
        pc: the instruction.
        shown: whether a debugger shows the frame, so that all its variables stay.
        waiting: whether the frame waits in the call before the instruction, which may raise.
    """
    flow = flow_of(frame.decoded)
    live = frozenset(range(len(frame.slots))) if shown else flow.live[pc]
    handler = frame.decoded.handler_at(pc - 1) if waiting else None
    if handler is not None:
        live = live | flow.live[handler.target]
    bound = tuple(i in live and value is not UNBOUND for i, value in enumerate(frame.slots))
    stack = tuple(NULL if value is NULL else VALUE for value in frame.stack)
    return FrameShape(_template(frame.function), pc, bound, stack, frame.exception is not None, frame.awaits)


def _template(function: types.FunctionType) -> types.FunctionType:
    """A function with the same code and globals that keeps nothing else alive."""
    if not function.__closure__ and not function.__defaults__ and not function.__dict__:
        return function
    cells = tuple(types.CellType() for _ in function.__code__.co_freevars)
    return types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells)


def values_of(frame: Frame, shape: FrameShape) -> list[Any]:
    """The values of a frame in the order in which continuations take them."""
    values = [frame.slots[i] for i in shape.slots]
    values += [value for value in frame.stack if value is not NULL]
    if shape.handling:
        values.append(frame.exception)
    return values


def value_names(shapes: Sequence[FrameShape]) -> list[str]:
    """What the values of frames are called in reports: their variables, with the function's name for outer frames."""
    names = []
    for depth, shape in enumerate(shapes):
        code = shape.decoded.code
        prefix = "" if depth == len(shapes) - 1 else f"{code.co_name}: "
        names += [f"{prefix}{shape.decoded.slot_names[slot]}" for slot in shape.slots]
        names += [f"{prefix}value {i} of the expression in line {shape.decoded.location(shape.pc).line}"
                  for i in range(shape.stack.count(VALUE))]  # fmt: skip
        names += [f"{prefix}the exception that is handled"] * shape.handling
    return names


def _stored_unread(frame: Frame) -> Instr | None:
    """The instruction with which a frame goes on, if it does not look at the value that it takes."""
    instr = frame.instrs[frame.pc]
    return instr if instr.name in ("STORE_FAST", "POP_TOP") else None


def restore_frames(
    shapes: Sequence[FrameShape], values: Sequence[Any], names: Sequence[str], arrive: Callable[[str, Any], Any]
) -> Frame:
    """Frames with some values, the innermost returned; local variables stay lazy until they are read."""
    frame: Frame | None = None
    position = 0
    for shape in shapes:
        frame = Frame(shape.function, [UNBOUND] * len(shape.bound), frame)
        frame.pc, frame.awaits = shape.pc, shape.awaits
        cells = set(shape.names()[1])
        for slot in shape.slots:
            lazy = Lazy(names[position], values[position])
            in_cell = isinstance(lazy.value, types.CellType) and shape.decoded.slot_names[slot] in cells
            frame.slots[slot] = arrive(lazy.expression, lazy.value) if in_cell else lazy
            position += 1
        stored = _stored_unread(frame) if shape is shapes[-1] and shape.stack and shape.stack[-1] is not NULL else None
        for place, kind in enumerate(shape.stack):
            if kind is NULL:
                frame.stack.append(NULL)
            elif stored is not None and place == len(shape.stack) - 1:
                frame.pc += 1
                if stored.name == "STORE_FAST":
                    frame.slots[stored.arg] = Lazy(names[position], values[position])
                position += 1
            else:
                frame.stack.append(arrive(names[position], values[position]))
                position += 1
        if shape.handling:
            frame.exception = arrive(names[position], values[position])
            position += 1
    assert frame is not None
    return frame
