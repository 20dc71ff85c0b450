"""Frames of the interpreter, and the ways a run can end."""

from __future__ import annotations

import enum
import types
from typing import Any, Final, cast

from weft.capture.code.instructions import Decoded, decode
from weft.capture.python.packages import module_of_function
from weft.capture.state.journal import Journaled
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


#: instructions by which compiled code leaves an exception handler
_CLEAN_UP: Final = frozenset(
    {"PUSH_EXC_INFO", "POP_EXCEPT", "COPY", "SWAP", "POP_TOP", "LOAD_CONST", "STORE_FAST", "DELETE_FAST"}
)


class Await(enum.Enum):
    """What a frame does with the result of the function that it has called."""

    #: push it
    VALUE = enum.auto()
    #: push it as the callable of a call pair
    CALLABLE = enum.auto()
    #: drop it
    NOTHING = enum.auto()
    #: drop it; it must be None, since the function is an `__init__`
    NONE = enum.auto()


def check_init(returned: Any) -> None:
    """Raise Python's own error if an `__init__` returned anything but None."""
    if returned is not None:
        raise TypeError(f"__init__() should return None, not '{type(returned).__name__}'")


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


class Lazy:
    """A local variable that came with the call and has not been read yet, so that nothing of it is guarded.

    Args:
        expression: what it is called in the entry.
        value: its value.
    """

    __slots__ = ("expression", "value")

    def __init__(self, expression: str, value: Any) -> None:
        self.expression = expression
        self.value = value


class Frame(Journaled):
    """One activation of a function under capture.

    Args:
        function: the function whose code runs.
        slots: values of the fast locals, cells included, in the order of `Decoded.slot_names`.
        caller: the frame that called, None for the outermost.
        names: for the body of a class, what is to be the class's namespace.
    """

    __slots__ = (
        "decoded", "instrs", "slots", "stack", "pc", "globals", "builtins", "function", "caller", "exception",
        "transparent", "unrolled", "awaits", "names", "begun",
    )  # fmt: skip

    def __init__(
        self, function: types.FunctionType, slots: list[Any], caller: Frame | None, names: dict[str, Any] | None = None
    ) -> None:
        self.decoded: Decoded = decode(function.__code__)
        self.instrs = self.decoded.instrs
        self.slots = slots
        self.stack: list[Any] = []
        self.pc = 0
        self.globals = function.__globals__
        self.builtins: dict[str, Any] = cast(Any, function).__builtins__  # known to some releases of mypy only
        self.function = function
        self.caller = caller
        self.names = names
        #: the exception being handled, what a bare `raise` raises again
        self.exception: BaseException | None = None
        #: what it does with the result that it waits for
        self.awaits = Await.VALUE
        #: whether this is library code that is stepped through; the user's line is then the caller's
        module = module_of_function(function)
        self.transparent = module.startswith("weft.") or module in TRANSPARENT_MODULES
        #: how many objects the capture had made when it was called; None if it began otherwise than by a call
        self.begun: int | None = None
        #: how often each loop test ran on a symbolic condition without becoming a `while`
        self.unrolled: dict[int, int] = {}

    def take(self, count: int) -> list[Any]:
        """Pop the topmost values of the stack, in the order they were pushed."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def receive(self, value: Any) -> None:
        """Take the result of the function that it has called."""
        awaits, self.awaits = self.awaits, Await.VALUE
        if awaits is Await.VALUE:
            self.stack.append(value)
        elif awaits is Await.CALLABLE:
            self.stack += (value, NULL)
        elif awaits is Await.NONE:
            check_init(value)

    def delegate(self) -> Any:
        """What a suspended generator delegates to by `yield from`, None if nothing."""
        return self.stack[-1] if self.instrs[self.pc - 2].name == "SEND" else None

    def leave_delegate(self, value: Any) -> None:
        """Go on behind the `yield from` at which a suspended generator stands, `value` being its result."""
        send = self.instrs[self.pc - 2]
        if send.arg:
            self.stack.pop()
        self.stack.append(value)
        self.pc = send.target

    def watched(self) -> bool:
        """Whether a generator has a `yield` where closing it runs more than the compiler's own clean-up."""
        return any(instr.name == "YIELD_VALUE" and self.protected(pc) for pc, instr in enumerate(self.instrs))

    def protected(self, pc: int) -> bool:
        """Whether closing a generator that stands at an instruction runs more than the compiler's own clean-up."""
        handler = self.decoded.handler_at(pc)
        while handler is not None:
            pc, kinds, matches = handler.target, None, False
            while (name := self.instrs[pc].name) not in ("RERAISE", "STOPITERATION_ERROR", "CLEANUP_THROW"):
                if name == "LOAD_GLOBAL":
                    kinds = self.globals.get(self.instrs[pc].arg, self.builtins.get(self.instrs[pc].arg))
                elif name == "CHECK_EXC_MATCH":
                    if not (isinstance(kinds, type) and not issubclass(GeneratorExit, kinds)):
                        return True
                    matches = True
                elif name == "POP_JUMP_IF_FALSE" and matches:
                    pc, matches = self.instrs[pc].target, False
                    continue
                elif name not in _CLEAN_UP:
                    return True
                pc += 1
            handler = self.decoded.handler_at(pc)
        return False

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
    """A generator yielded a value.

    Args:
        value: the value.
        frame: the generator's frame.
    """

    __slots__ = ("value", "frame")

    def __init__(self, value: Any, frame: Frame) -> None:
        self.value = value
        self.frame = frame


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
        otherwise: for a test that need not be one: goes on without it, if the loop that it decides cannot be a `while`.
    """

    __slots__ = ("condition", "when_true", "when_false", "true_pc", "false_pc", "otherwise")

    def __init__(
        self, condition: Any, when_true: Any, when_false: Any, true_pc: int, false_pc: int, otherwise: Any = None
    ) -> None:
        self.condition = condition
        self.when_true = when_true
        self.when_false = when_false
        self.true_pc = true_pc
        self.false_pc = false_pc
        self.otherwise = otherwise


class Suspend(Exit):
    """The capture ends before the next instruction of a frame; its callers wait in calls.

    Args:
        frame: the innermost frame.
    """

    __slots__ = ("frame",)

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def chain(self) -> list[Frame]:
        """All frames, the outermost first."""
        frames = []
        frame: Frame | None = self.frame
        while frame is not None:
            frames.append(frame)
            frame = frame.caller
        return frames[::-1]
