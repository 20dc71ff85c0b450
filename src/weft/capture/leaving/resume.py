"""Resume functions: the rest of a frame as a real Python function, which goes on from a place with given values.

A resume function is the frame's own code with a prologue in front of it: the prologue puts the values of the frame in
their places, restores the exception that is being handled, and jumps. The code itself stays as it is, so lines,
exception handlers and signature are the user's.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from weft import lazily
from weft.capture.code.instructions import VERSION, Decoded
from weft.capture.leaving.steps import VALUE
from weft.capture.state.frame import NULL, UNBOUND
from weft.core.frames import passed_over

if TYPE_CHECKING:
    import bytecode

    from weft.capture.leaving.shapes import FrameShape
else:
    bytecode = lazily.deferred("bytecode")

#: the free variable in which a resume function gets the values of its frame: no program can have it
_VALUES: Final = "(values)"
#: what an entry of the stack is besides a value: the lower one of a callable and its first argument (either may be
#: NULL); an exception that an `except` block restores, the outermost of the frame or an inner one; the place where a
#: `finally` block raises again; a local variable that a comprehension hides
_PAIR, _OUTERMOST, _SAVED, _PLACE, _HIDDEN = range(5)
#: instructions that CPython gives nothing but `True` and `False`, where capture has any object
_ONLY_TRUTH: Final = frozenset({"POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "UNARY_NOT"} if VERSION >= (3, 13) else ())
#: instructions that belong to the one that follows
_PREFIXES: Final = frozenset({"EXTENDED_ARG", "KW_NAMES", "PRECALL"})
_ENDS: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_JUMPS: Final = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
#: the handler that covers these is that of what follows, which finds more on the stack
_NEVER_RAISE: Final = frozenset({"PUSH_EXC_INFO", "POP_EXCEPT"})

#: the stack at an instruction: its depth, and (position, what it is) for entries that are not just values
_Stack = tuple[int, frozenset[tuple[int, int]]]


class StackMap:
    """Where canonical instructions begin in the original code, and what the stack holds there.

    Args:
        decoded: the code.
    """

    def __init__(self, decoded: Decoded) -> None:
        self.code = decoded.code
        self.raw = list(dis.get_instructions(self.code, show_caches=False))
        #: canonical instruction -> where it begins, in code units; none in the middle of an instruction of CPython
        self.begins: dict[int, int] = {}
        offsets = {instr.offset: pc for pc, instr in reversed(list(enumerate(decoded.instrs)))}
        begin: int | None = None
        for position, raw in enumerate(self.raw):
            if begin is None:
                begin = raw.offset // 2
                if raw.opname == "LOAD_CONST" and self._after_prefixes(position + 1) == "CALL_KW":
                    continue  # its names, which capture knows as part of the call
            if raw.opname in _PREFIXES:
                continue
            pc = offsets.get(raw.offset // 2)
            if pc is not None:
                self.begins[pc] = begin
            begin = None
        #: stacks by the place of the instruction, in code units; None if paths that meet disagree
        self.stacks: dict[int, _Stack] | None = self._flow(decoded)

    def _after_prefixes(self, position: int) -> str:
        while self.raw[position].opname in _PREFIXES:
            position += 1
        return self.raw[position].opname

    def _flow(self, decoded: Decoded) -> dict[int, _Stack] | None:
        index = {raw.offset // 2: i for i, raw in enumerate(self.raw)}
        table = bytecode.ConcreteBytecode.from_code(self.code).exception_table
        found: dict[int, _Stack] = {}
        work: list[tuple[int, _Stack]] = [(0, (0, frozenset()))]
        while work:
            position, stack = work.pop()
            raw = self.raw[position]
            place = raw.offset // 2
            if place in found:
                if found[place] != stack:
                    return None
                continue
            found[place] = stack
            for entry in table:
                if entry.start_offset <= place <= entry.stop_offset and raw.opname not in _NEVER_RAISE:
                    depth = entry.stack_depth
                    known = _below(stack[1], depth)
                    if entry.push_lasti:
                        known |= {(depth, _PLACE)}
                    work.append((index[entry.target], (depth + entry.push_lasti + 1, known)))
            if raw.opname in _ENDS:
                continue
            if raw.opcode in dis.hasjrel:
                work.append((index[raw.argval // 2], _after(raw, stack, True)))
            if raw.opname not in _JUMPS:
                work.append((position + 1, _after(raw, stack, False)))
        return found


def _below(known: frozenset[tuple[int, int]], depth: int) -> frozenset[tuple[int, int]]:
    return frozenset((position, kind) for position, kind in known if position < depth)


def _after(raw: dis.Instruction, stack: _Stack, jump: bool) -> _Stack:
    """The stack after an instruction."""
    depth, known = stack
    arg = raw.arg or 0
    after = depth + dis.stack_effect(raw.opcode, raw.arg, jump=jump)
    match raw.opname:
        case "SWAP":
            moved = {depth - 1: depth - arg, depth - arg: depth - 1}
            return after, frozenset((moved.get(position, position), kind) for position, kind in known)
        case "COPY":
            return after, known | {(depth, kind) for position, kind in known if position == depth - arg}
        case "PUSH_EXC_INFO":
            inner = any(kind in (_OUTERMOST, _SAVED) for _, kind in known)
            return after, known | {(depth - 1, _SAVED if inner else _OUTERMOST)}
        case "LOAD_FAST_AND_CLEAR":
            return after, known | {(depth, _HIDDEN)}
        case "CALL" | "CALL_KW" | "CALL_FUNCTION_EX":
            return after, _below(known, after - 1)
        case "PUSH_NULL":
            return after, known | {(depth if VERSION < (3, 13) else depth - 1, _PAIR)}
        case "LOAD_METHOD":
            return after, known | {(after - 2, _PAIR)}
        case "LOAD_GLOBAL" | "LOAD_ATTR" | "LOAD_SUPER_ATTR" if arg & 1 and (
            VERSION >= (3, 12) or raw.opname == "LOAD_GLOBAL"
        ):
            return after, _below(known, after - 2) | {(after - 2, _PAIR)}
    return after, _below(known, after)


_maps: dict[int, StackMap] = {}


def stack_map(decoded: Decoded) -> StackMap:
    """The stack map of a code object, made once."""
    found = _maps.get(id(decoded))
    if found is None:
        found = _maps[id(decoded)] = StackMap(decoded)  # `decode` keeps the decoded code alive, and so its id unique
    return found


@passed_over
def resume_function(shape: FrameShape) -> Callable[..., Any] | None:
    """A function that takes the values of a frame and goes on from its place to the frame's end.

    Args:
        shape: the frame; its values come in the order of `values_of`.

    Returns:
        The function; None where Python cannot go on: in generators, and inside an instruction of CPython that capture
        knows as several.
    """
    made = _Resumption.of(shape, shape.stack)
    if made is None:
        return None
    if not made.hidden:
        return made.call
    variants: dict[tuple[int, ...], _Resumption] = {(): made}
    before = len(shape.slots)

    def call(*values: Any) -> Any:
        absent = tuple(i for i in made.hidden if values[i] is UNBOUND)
        variant = variants.get(absent)
        if variant is None:
            stack = list(shape.stack)
            places = [place for place, kind in enumerate(stack) if kind is not NULL]
            for i in absent:
                stack[places[i - before]] = NULL
            found = _Resumption.of(shape, tuple(stack))
            assert found is not None
            variant = variants.setdefault(absent, found)
        return variant.call(*[value for i, value in enumerate(values) if i not in absent])

    return call


@passed_over
class _Resumption:
    """One resume function: its code, and where each value goes."""

    __slots__ = ("code", "namespace", "defaults", "keywords", "order", "cells", "places", "shift", "hidden")

    def __init__(
        self, shape: FrameShape, stack: tuple[Any, ...], begin: int, known: frozenset[tuple[int, int]]
    ) -> None:
        code = shape.decoded.code
        self.namespace = shape.function.__globals__
        self.defaults = (None,) * code.co_argcount
        self.keywords = dict.fromkeys(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount])
        free = len(shape.decoded.slot_names) - len(code.co_freevars)
        position = {slot: i for i, slot in enumerate(shape.slots)}
        before = len(position)
        #: for each free variable the position of its cell among the values, -1 if it has none
        self.cells = [position.get(free + i, -1) for i in range(len(code.co_freevars))]
        stored = [slot for slot in shape.slots if slot < free]
        count = sum(kind is not NULL for kind in stack)
        tail = range(before + count + shape.handling - 1, before - 1, -1)
        #: the values that the prologue unpacks: local variables, then the stack from its top
        self.order = [*[position[slot] for slot in stored], *tail]
        above = len(stack) - 1
        number = {place: i for i, place in enumerate(p for p, kind in enumerate(stack) if kind is not NULL)}
        # positions among the unpacked values of the places at which the frame raises again
        self.places = [self.order.index(before + number[p]) for p, kind in known if kind == _PLACE and p <= above]
        self.hidden = sorted(before + number[p] for p, kind in known if kind == _HIDDEN and p in number)
        outermost = [number[p] for p, kind in known if kind == _OUTERMOST]
        stack = _arranged(stack, known)
        made = bytecode.ConcreteBytecode.from_code(code, extended_arg=True)
        instruction = bytecode.ConcreteInstr
        location = made[begin].location
        made.freevars = [*code.co_freevars, _VALUES]
        prologue: list[bytecode.ConcreteInstr] = []
        for name, arg in self._prologue(shape, stack, stored, outermost, begin):
            instr = instruction(name, location=location) if arg is None else instruction(name, arg, location=location)
            prologue += [instr, *[instruction("CACHE", 0, location=location)] * instr.use_cache_opcodes()]
        #: how far the code is moved, in code units
        self.shift = sum(instr.size for instr in prologue) // 2
        made[:0] = prologue
        for entry in made.exception_table:
            entry.start_offset += self.shift
            entry.stop_offset += self.shift
            entry.target += self.shift
        size = max(code.co_stacksize, len(self.order) + 3, len(stack) + 3)
        self.code = made.to_code(stacksize=size, compute_exception_stack_depths=False)

    @staticmethod
    def of(shape: FrameShape, stack: tuple[Any, ...]) -> _Resumption | None:
        """The resumption of a frame with some stack; None where Python cannot go on."""
        decoded = shape.decoded
        if decoded.is_generator or decoded.instrs[shape.pc].name in _ONLY_TRUTH:
            return None
        where = stack_map(decoded)
        begin = where.begins.get(shape.pc)
        if begin is None or where.stacks is None or begin not in where.stacks:
            return None
        depth, known = where.stacks[begin]
        if depth != len(stack) or (shape.handling and not any(kind == _OUTERMOST for _, kind in known)):
            return None
        return _Resumption(shape, stack, begin, known)

    @staticmethod
    def _prologue(
        shape: FrameShape, stack: tuple[Any, ...], stored: list[int], outermost: list[int], begin: int
    ) -> Iterator[tuple[str, int | None]]:
        """The instructions that put the values in their places."""
        code = shape.decoded.code
        values = len(shape.decoded.slot_names)
        count = sum(kind is not NULL for kind in stack)
        yield "COPY_FREE_VARS", len(code.co_freevars) + 1
        yield "RESUME", 0
        yield "LOAD_DEREF", values
        yield "DELETE_DEREF", values
        yield "UNPACK_SEQUENCE", len(stored) + count + shape.handling
        for slot in stored:
            yield "STORE_FAST", slot
        flags = code.co_flags
        arguments = code.co_argcount + code.co_kwonlyargcount + bool(flags & 4) + bool(flags & 8)
        for slot in range(arguments):
            if slot not in stored:
                yield "DELETE_FAST", slot
        if shape.handling:  # what was handled before is what the outermost `except` block restores
            yield "PUSH_EXC_INFO", None
            yield "POP_TOP", None
            for number in outermost:
                yield "COPY", 1
                yield "SWAP", count - number + 2
                yield "POP_TOP", None
            yield "POP_TOP", None
        above = count
        for kind in stack:
            if kind is not NULL:
                above -= 1
                continue
            yield "PUSH_NULL", None
            for depth in range(above + 1, 1, -1):
                yield "SWAP", depth
        yield "JUMP_FORWARD", begin

    def call(self, *values: Any) -> Any:
        """Go on with the values of the frame."""
        held = [values[i] for i in self.order]
        for i in self.places:
            held[i] += self.shift
        cells = [values[i] if i >= 0 else types.CellType() for i in self.cells]
        function = types.FunctionType(
            self.code, self.namespace, self.code.co_name, self.defaults, (*cells, types.CellType(held))
        )
        if self.keywords:
            function.__kwdefaults__ = self.keywords
        del values, held, cells  # the frame alone decides how long its values live
        return function()


def _arranged(stack: tuple[Any, ...], known: frozenset[tuple[int, int]]) -> tuple[Any, ...]:
    """The stack with each callable and its absent first argument in the order in which this CPython has them."""
    made = list(stack)
    for position, kind in known:
        if kind == _PAIR and position + 1 < len(made) and (made[position] is NULL) != (made[position + 1] is NULL):
            if VERSION < (3, 13):
                made[position], made[position + 1] = NULL, VALUE
            else:
                made[position], made[position + 1] = VALUE, NULL
    return tuple(made)
