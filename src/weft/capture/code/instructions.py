"""Facts about CPython bytecode, the only place that knows versions: every code object is decoded to one canonical form.

Canonical instructions differ from the interpreter's own in that fused instructions are split, calls carry their
keyword names, jumps have no direction, and the end of a `for` loop needs no clean-up instruction.
"""

from __future__ import annotations

import dis
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from weft import lazily
from weft.errors import Location

if TYPE_CHECKING:
    import bytecode
else:
    bytecode = lazily.deferred("bytecode")

VERSION: Final = sys.version_info[:2]
SUPPORTED: Final = ((3, 11), (3, 12), (3, 13))
#: whether closing a generator returns what it returns
CLOSE_RETURNS: Final = VERSION >= (3, 13)
if VERSION not in SUPPORTED:
    known = ", ".join(f"{a}.{b}" for a, b in SUPPORTED)
    raise ImportError(f"weft knows the bytecode of CPython {known}; this is {VERSION[0]}.{VERSION[1]}")

#: instructions without effect on the abstract machine
_SKIPPED: Final = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "COPY_FREE_VARS", "RESUME_CHECK"})
#: names that differ between versions, or only in direction or in a hint -> canonical name
_RENAMED: Final = {
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "LOAD_METHOD": "LOAD_ATTR_METHOD",
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "FORMAT_SIMPLE": "FORMAT_VALUE",
    **{
        f"POP_JUMP_{way}_IF_{test}": f"POP_JUMP_IF_{test}"
        for way in ("FORWARD", "BACKWARD")
        for test in ("TRUE", "FALSE", "NONE", "NOT_NONE")
    },
}
#: fused instruction -> its parts
_FUSED: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
#: instructions whose argument is an index into `Decoded.slot_names`
_SLOT_INSTRUCTIONS: Final = frozenset(
    {
        "LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_CLOSURE",
        "MAKE_CELL", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF",
    }
)  # fmt: skip
_INTRINSIC_1: Final = {3: "STOPITERATION_ERROR", 5: "UNARY_POSITIVE", 6: "LIST_TO_TUPLE"}
CONDITIONAL: Final = frozenset(
    {
        "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE",
        "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP", "FOR_ITER", "SEND",
    }
)  # fmt: skip
_TERMINAL: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})


class Instr:
    """One canonical instruction.

    Args:
        name: canonical name.
        arg: what the handler needs: a number, a name, a constant, an index.
        target: index of the instruction it may jump to, -1 for none.
        offset: position in the original bytecode, in code units; exception ranges are given in them.
        position: (line, end_line, column, end_column) in the source.
    """

    __slots__ = ("name", "arg", "target", "offset", "position", "handler")

    def __init__(self, name: str, arg: Any, offset: int, position: Any) -> None:
        self.name = name
        self.arg = arg
        self.target = -1
        self.offset = offset
        self.position = position
        #: the function that executes it, bound by the interpreter
        self.handler: Any = None

    def __repr__(self) -> str:
        return f"{self.name}({self.arg!r})" + (f"->{self.target}" if self.target >= 0 else "")


@dataclass(frozen=True, slots=True)
class Handler:
    """One entry of an exception table: where to go from a range of instructions, both ends included."""

    start: int
    stop: int
    target: int
    depth: int
    push_lasti: bool


class Decoded:
    """A code object in canonical form.

    Args:
        code: the code object.
    """

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.instrs: list[Instr] = []
        #: lines that are nothing but a NOP (`try:`, `pass`), by the instruction that follows them
        self.nop_lines: dict[int, list[int]] = {}
        first_index: dict[int, int] = {}
        raw_targets: list[tuple[Instr, int]] = []
        kw_names: tuple[str, ...] = ()
        for raw in dis.get_instructions(code, show_caches=False):
            first_index[raw.offset] = len(self.instrs)
            if raw.opname == "NOP" and raw.positions is not None and raw.positions.lineno is not None:
                self.nop_lines.setdefault(len(self.instrs), []).append(raw.positions.lineno)
            if raw.opname in _SKIPPED:
                continue
            if raw.opname == "KW_NAMES":
                kw_names = code.co_consts[raw.arg]  # type: ignore[index]
                continue
            if raw.opname == "CALL_KW":  # its names, a constant loaded just before, are no operand here
                kw_names = self.instrs.pop().arg
                first_index[raw.offset] = len(self.instrs)
            for instr in _canonical(code, raw, kw_names):
                if instr.target == -2:
                    raw_targets.append((instr, raw.argval))
                self.instrs.append(instr)
            if raw.opname in ("CALL", "CALL_KW"):
                kw_names = ()
        for instr, offset in raw_targets:
            target = first_index[offset]
            if instr.name == "FOR_ITER":
                while self.instrs[target].name == "END_FOR":
                    target += 1
                    if VERSION >= (3, 13):
                        target += 1  # the POP_TOP that follows END_FOR pops the iterator
            instr.target = target
        self.handlers = [
            Handler(e.start_offset, e.stop_offset, first_index[e.target * 2], e.stack_depth, e.push_lasti)
            for e in bytecode.ConcreteBytecode.from_code(code).exception_table
        ]
        self.is_generator = bool(code.co_flags & (0x20 | 0x80 | 0x200))
        self.local_names: tuple[str, ...] = code.co_varnames
        self.cell_names: tuple[str, ...] = code.co_cellvars
        self.free_names: tuple[str, ...] = code.co_freevars
        #: names of the fast-locals array, in its order: locals, cells that are not arguments, free variables
        self.slot_names = (
            *code.co_varnames,
            *[c for c in code.co_cellvars if c not in code.co_varnames],
            *code.co_freevars,
        )
        self._flow: Any = None

    def handler_at(self, index: int) -> Handler | None:
        """The innermost exception handler that covers an instruction."""
        offset = self.instrs[index].offset
        found = None
        for handler in self.handlers:
            if handler.start <= offset <= handler.stop:
                found = handler  # ranges never overlap: the table is flat
        return found

    def location(self, index: int) -> Location:
        """The user's source location of an instruction."""
        line, end_line, column, end_column = self.instrs[index].position
        return Location(
            self.code.co_filename,
            line or self.code.co_firstlineno,
            column,
            end_column if end_line == line else None,
            self.code.co_qualname,
        )

    def successors(self, index: int) -> list[int]:
        """Instructions that may run next, those reached by an explicit raise included; empty at a return."""
        instr = self.instrs[index]
        if instr.name in _TERMINAL:
            if instr.name in ("RAISE_VARARGS", "RERAISE"):
                handler = self.handler_at(index)
                return [] if handler is None else [handler.target]
            return []
        if instr.name == "JUMP":
            return [instr.target]
        if instr.target >= 0:
            return [index + 1, instr.target]
        return [index + 1]


def _canonical(code: types.CodeType, raw: dis.Instruction, kw_names: tuple[str, ...]) -> list[Instr]:
    name = _RENAMED.get(raw.opname, raw.opname)
    arg: Any = raw.argval
    position = tuple(raw.positions) if raw.positions is not None else (raw.starts_line, None, None, None)
    offset = raw.offset // 2

    def make(canonical: str, value: Any) -> Instr:
        return Instr(canonical, value, offset, position)

    if raw.opname in _FUSED:
        slots = (raw.arg >> 4, raw.arg & 15)  # type: ignore[operator]
        return [make(part, slot) for part, slot in zip(_FUSED[raw.opname], slots, strict=True)]
    if raw.opname in _SLOT_INSTRUCTIONS:
        return [make(name, raw.arg)]
    match raw.opname:
        case "LOAD_GLOBAL":
            parts = [make("LOAD_GLOBAL", arg)]
            if raw.arg & 1:  # type: ignore[operator]
                parts.insert(0 if VERSION < (3, 13) else 1, make("PUSH_NULL", None))
            return parts
        case "LOAD_ATTR" if VERSION >= (3, 12) and raw.arg & 1:  # type: ignore[operator]
            return [make("LOAD_ATTR_METHOD", arg)]
        case "LOAD_SUPER_ATTR":
            return [make("LOAD_SUPER_ATTR", (arg, bool(raw.arg & 1), bool(raw.arg & 2)))]  # type: ignore[operator]
        case "CALL" | "CALL_KW":
            return [make("CALL", (raw.arg, kw_names))]
        case "SEND":
            instr = make("SEND", VERSION < (3, 12))  # whether the receiver is popped when it is exhausted
            instr.target = -2
            return [instr]
        case "BINARY_OP":
            return [make("BINARY_OP", raw.arg)]
        case "FORMAT_VALUE":
            conversion, with_spec = raw.argval
            return [make("FORMAT_VALUE", (conversion, with_spec))]
        case "FORMAT_SIMPLE":
            return [make("FORMAT_VALUE", (None, False))]
        case "FORMAT_WITH_SPEC":
            return [make("FORMAT_VALUE", (None, True))]
        case "CONVERT_VALUE":
            return [make("CONVERT_VALUE", (None, str, repr, ascii)[raw.arg])]  # type: ignore[index]
        case "RETURN_CONST":
            return [make("LOAD_CONST", arg), make("RETURN_VALUE", None)]
        case "CALL_INTRINSIC_1":
            return [make(_INTRINSIC_1.get(raw.arg, f"INTRINSIC_1_{raw.arg}"), None)]  # type: ignore[arg-type]
        case "CALL_INTRINSIC_2":
            return [make("PREP_RERAISE_STAR" if raw.arg == 1 else f"INTRINSIC_2_{raw.arg}", None)]
        case "LIST_TO_TUPLE" | "UNARY_POSITIVE":
            return [make(raw.opname, None)]
        case "COMPARE_OP":
            return [make("COMPARE_OP", raw.argval)]
        case (
            "IS_OP" | "CONTAINS_OP" | "MAKE_FUNCTION" | "CALL_FUNCTION_EX" | "RAISE_VARARGS" | "SET_FUNCTION_ATTRIBUTE"
        ):
            return [make(name, raw.arg)]
    instr = make(name, arg)
    if raw.opcode in dis.hasjrel or raw.opcode in dis.hasjabs:
        instr.target = -2
    return [instr]


#: by identity: code objects that differ in nothing but their file are equal, and hashing one reads all of it
_decoded: dict[int, Decoded] = {}


def decode(code: types.CodeType) -> Decoded:
    """The canonical form of a code object, made once."""
    found = _decoded.get(id(code))
    if found is None:
        found = _decoded[id(code)] = Decoded(code)  # keeps the code alive, and so its id unique
    return found
