"""Frames of the interpreter, and the ways a run can end."""

from __future__ import annotations

import builtins
import types
from typing import Any, Final

from weft.capture.isa import Decoded, decode
from weft.capture.journal import EMPTY_CELL, Journaled
from weft.core.transparency import TRANSPARENT_MODULES


class _Marker:
    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        self.label = label

    def __repr__(self) -> str:
        return f"<{self.label}>"


#: a local variable without a value; on the stack, the absent half of a call pair
UNBOUND: Final = _Marker("unbound")
NULL: Final = _Marker("null")


class MaybeUnbound:
    """A local variable that has a value only where a condition holds.

    Args:
        value: the value it may have.
        bound: whether it has it, a symbolic truth.
    """

    __slots__ = ("value", "bound")

    def __init__(self, value: Any, bound: Any) -> None:
        self.value = value
        self.bound = bound


class Frame(Journaled):
    """One activation of a function under capture.

    Args:
        function: the function whose code runs.
        slots: values of the fast locals, cells included, in the order of `Decoded.slot_names`.
        caller: the frame that called, None for the outermost.
    """

    __slots__ = (
        "decoded", "instrs", "slots", "stack", "pc", "globals", "builtins", "function", "caller", "exception",
        "transparent", "unrolled",
    )  # fmt: skip

    def __init__(self, function: types.FunctionType, slots: list[Any], caller: Frame | None) -> None:
        self.decoded: Decoded = decode(function.__code__)
        self.instrs = self.decoded.instrs
        self.slots = slots
        self.stack: list[Any] = []
        self.pc = 0
        self.globals = function.__globals__
        found = self.globals.get("__builtins__", builtins)
        self.builtins: dict[str, Any] = found if isinstance(found, dict) else found.__dict__
        self.function = function
        self.caller = caller
        #: the exception being handled, what a bare `raise` raises again
        self.exception: BaseException | None = None
        #: whether this is library code that is stepped through; the user's line is then the caller's
        module = function.__module__
        self.transparent = module is not None and (module.startswith("weft.") or module in TRANSPARENT_MODULES)
        #: how often each loop test ran on a symbolic condition without becoming a `while`
        self.unrolled: dict[int, int] = {}

    def take(self, count: int) -> list[Any]:
        """Pop the topmost values of the stack, in the order they were pushed."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def journal_contents(self) -> Any:
        return (list(self.slots), list(self.stack), self.pc, self.exception)

    def journal_restore(self, contents: Any) -> None:
        slots, stack, self.pc, self.exception = contents
        self.slots[:] = slots
        self.stack[:] = stack


def slots_for(function: types.FunctionType, arguments: list[Any]) -> list[Any]:
    """The fast locals at the start of a call: arguments, then the cells of the closure."""
    decoded = decode(function.__code__)
    closure = function.__closure__ or ()
    return [*arguments, *[UNBOUND] * (len(decoded.slot_names) - len(closure) - len(arguments)), *closure]


def cell_value(cell: types.CellType) -> Any:
    """The contents of a closure cell, `EMPTY_CELL` if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY_CELL


class Exit:
    """How a run of a frame ended."""

    __slots__ = ()


class Return(Exit):
    """The function returned a value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Raise(Exit):
    """The function raised (used where an exception is one of several outcomes)."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


class Yield(Exit):
    """A generator yielded a value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Stop(Exit):
    """The run reached an instruction at which it was told to stop."""

    __slots__ = ("pc",)

    def __init__(self, pc: int) -> None:
        self.pc = pc


class Fork(Exit):
    """A handler met a condition that only the running graph knows.

    Args:
        condition: the symbolic scalar.
        when_true: what to do on the true side: pops or pushes values, then returns the next instruction.
        when_false: likewise for the false side.
        true_pc: the instruction that `when_true` returns.
        false_pc: the instruction that `when_false` returns.
    """

    __slots__ = ("condition", "when_true", "when_false", "true_pc", "false_pc")

    def __init__(self, condition: Any, when_true: Any, when_false: Any, true_pc: int, false_pc: int) -> None:
        self.condition = condition
        self.when_true = when_true
        self.when_false = when_false
        self.true_pc = true_pc
        self.false_pc = false_pc
