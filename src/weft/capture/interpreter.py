"""The symbolic interpreter: executes the user's bytecode on real Python objects whose tensor leaves are symbolic."""

from __future__ import annotations

import sys
import types
from typing import Any, Final

from weft.capture import opcodes, opcodes_control  # noqa: F401 - they fill the table of handlers
from weft.capture.access import Access
from weft.capture.branches import Alternatives, Branches
from weft.capture.calls import Calls
from weft.capture.frame import UNBOUND, Exit, Fork, Frame, Raise, Stop
from weft.capture.handlers import HANDLERS
from weft.capture.isa import Decoded
from weft.capture.journal import EMPTY_CELL, Journal
from weft.capture.loops import Loops
from weft.capture.sources import Sources
from weft.core.tensor import LiteralTensor, Tensor
from weft.core.trace import Trace
from weft.errors import Location, Refusal, Unsupported

_NO_STOPS: Final[frozenset[int]] = frozenset()
#: calls nested deeper than this are taken for endless recursion
MAX_DEPTH: Final = 400


class Interpreter(Access, Calls, Branches, Loops):
    """One capture's interpreter.

    Args:
        trace: the graph under construction.
        sources: where outside values come from.
    """

    def __init__(self, trace: Trace, sources: Sources) -> None:
        self.trace = trace
        self.sources = sources
        self.journal = Journal()
        #: the frame that is running
        self.frame: Frame = None  # type: ignore[assignment]
        #: objects made during this capture, by id
        self.created = self.journal.created
        self.depth = 0
        #: branches that were followed past their join because their sides did not merge there
        self.duplications = 0
        trace.on_write = self.journal.touch
        sources.before = self.journal.original
        trace.location = self.locate

    # -- facts -------------------------------------------------------------------------------------------------------

    def made(self, obj: Any) -> Any:
        """Note that an object was made during this capture."""
        self.created[id(obj)] = obj
        return obj

    def made_if_fresh(self, obj: Any) -> Any:
        """Note the result of a native call if nobody else can hold it yet."""
        if isinstance(obj, (list, dict, set)) and sys.getrefcount(obj) <= 3:
            self.created[id(obj)] = obj
        return obj

    def made_if_container(self, obj: Any) -> Any:
        """Note the result of an operation that makes a new container."""
        if obj.__class__ in (list, dict, set):
            self.created[id(obj)] = obj
        return obj

    def is_runtime(self, tensor: Tensor) -> bool:
        """Whether only the running graph knows a tensor's value."""
        if tensor.is_symbolic:
            return True
        return tensor.__class__ is not LiteralTensor and id(tensor) not in self.trace.created

    def locate(self) -> Any:
        """Where in the user's code the interpreter is, to be resolved on demand."""
        frame: Frame | None = self.frame
        while frame is not None and frame.transparent:
            frame = frame.caller
        if frame is None:
            return None
        decoded, pc = frame.decoded, frame.pc - 1
        return lambda: decoded.location(pc)

    def local_variables(self) -> dict[str, Any]:
        """What `locals()` returns in the running frame."""
        found = {}
        for name, value in zip(self.frame.decoded.slot_names, self.frame.slots, strict=True):
            if isinstance(value, types.CellType):
                value = getattr(value, "cell_contents", UNBOUND)
            if value is not UNBOUND and value is not EMPTY_CELL:
                found[name] = value
        return found

    # -- running -----------------------------------------------------------------------------------------------------

    def run_call(self, frame: Frame) -> Exit:
        """Run a called function to its end: `Return`, or `Alternatives`; an exception propagates."""
        result = self.run_frame(frame)
        if isinstance(result, Raise):
            raise result.exception
        return result

    def run_frame(self, frame: Frame, exception: BaseException | None = None) -> Exit:
        """Run a frame until it returns or yields, raising `exception` at its current place first."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.depth -= 1
            raise RecursionError("maximum recursion depth exceeded while capturing")
        before, self.frame = self.frame, frame
        try:
            if exception is not None:
                frame.pc -= 1
                while frame.instrs[frame.pc].name != "YIELD_VALUE":
                    frame.pc -= 1
                self.unwind(frame, frame.pc, exception)
            return self.run(frame, _NO_STOPS)
        finally:
            self.frame = before
            self.depth -= 1

    def run(self, frame: Frame, stops: frozenset[int], entered: bool = False) -> Exit:
        """Execute from the frame's place until it returns, yields or is about to execute an instruction in `stops`.

        Args:
            frame: the frame.
            stops: where to stop.
            entered: whether the first instruction is executed even if it is in `stops`.
        """
        instrs = frame.instrs
        if entered:
            stops, later = frozenset(), stops
        while True:
            pc = frame.pc
            if pc in stops:
                return Stop(pc)
            instr = instrs[pc]
            frame.pc = pc + 1
            if entered:
                entered, stops = False, later
            try:
                handler = instr.handler
                if handler is None:
                    handler = bind_handler(frame.decoded, pc)
                result = handler(self, frame, instr)
                if result is None:
                    continue
                if result.__class__ is Fork:
                    result = self.fork(frame, pc, result, stops)
                elif result.__class__ is Alternatives:
                    result = self.continue_call(frame, result, stops)
            except Unsupported as refusal:
                if refusal.location is None and not frame.transparent:
                    refusal.location = frame.decoded.location(pc)
                raise
            except BaseException as error:
                self.unwind(frame, pc, error)
                continue
            if result is not None:
                return result

    def execute(self, frame: Frame, pc: int) -> Any:
        """Execute one instruction; returns what its handler returns."""
        instr = frame.instrs[pc]
        return (instr.handler or bind_handler(frame.decoded, pc))(self, frame, instr)

    def unwind(self, frame: Frame, pc: int, error: BaseException) -> None:
        """Go to the exception handler that covers an instruction; re-raise if there is none."""
        handler = frame.decoded.handler_at(pc)
        if handler is None:
            raise error
        if error.__context__ is None and frame.exception is not error:
            error.__context__ = frame.exception
        del frame.stack[handler.depth :]
        if handler.push_lasti:
            frame.stack.append(frame.instrs[pc].offset)
        frame.stack.append(error)
        frame.pc = handler.target

    def where(self, frame: Frame, pc: int) -> Location:
        """The source location of an instruction."""
        return frame.decoded.location(pc)


def bind_handler(decoded: Decoded, pc: int) -> Any:
    """Find the handler of an instruction, once."""
    instr = decoded.instrs[pc]
    handler = HANDLERS.get(instr.name)
    if handler is None:
        raise Unsupported(
            Refusal.UNSUPPORTED_SYNTAX, f"the bytecode instruction {instr.name} is not known", "please report this"
        )
    instr.handler = handler
    return handler
