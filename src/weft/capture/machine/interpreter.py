"""The symbolic interpreter: executes the user's bytecode on real Python objects whose tensor leaves are symbolic."""

from __future__ import annotations

import contextlib
import itertools
import sys
import types
from typing import Any, Final

from weft.capture.branching.branches import Branches
from weft.capture.branching.outcomes import Alternatives
from weft.capture.code.instructions import Decoded
from weft.capture.machine import (
    opcodes,  # noqa: F401 - they fill the table of handlers
    opcodes_control,  # noqa: F401 - they fill the table of handlers
    opcodes_names,  # noqa: F401 - they fill the table of handlers
)
from weft.capture.machine.handlers import HANDLERS
from weft.capture.meaning.arrays import Arrays
from weft.capture.meaning.attributes import Attributes
from weft.capture.meaning.builtins import refuse_addresses
from weft.capture.meaning.calls import Calls
from weft.capture.meaning.gate import Gate
from weft.capture.meaning.iteration import Iteration
from weft.capture.meaning.native import Native
from weft.capture.meaning.native_calls import NativeCalls
from weft.capture.meaning.objects import Objects
from weft.capture.meaning.stand_ins import refuse_stand_ins
from weft.capture.python.containers import native_class
from weft.capture.python.exceptions import chain_native, drop_context, raise_as_it_is, set_context
from weft.capture.python.packages import CAPTURE
from weft.capture.sources.sources import Sources
from weft.capture.state.counts import COUNT, counts_changes
from weft.capture.state.frame import UNBOUND, Await, Exit, Fork, Frame, Lazy, Raise, Return, Stop, Suspend
from weft.capture.state.fresh import is_value, leads_to_this_call, note_parts
from weft.capture.state.journal import EMPTY_CELL, Journal, cell_value
from weft.capture.state.lazytext import hole
from weft.core.tensor import LiteralTensor, Tensor
from weft.core.trace import Trace
from weft.core.tracebacks import raised_in
from weft.core.transparency import UNBROKEN
from weft.errors import NOTED, Location, Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.types import TOKEN

_NO_STOPS: Final[frozenset[int]] = frozenset()
#: set up a frame; their line is that of the `def`
_PROLOGUE: Final = frozenset({"MAKE_CELL", "RETURN_GENERATOR"})
#: calls nested deeper than this are taken for endless recursion
MAX_DEPTH: Final = 900


class Interpreter:
    """One capture's interpreter.

    Args:
        trace: the graph under construction.
        sources: where outside values come from.
        end: the number of the step before which the capture ends, None to go on to the end of the call.

    A *step* is an instruction that the capture may end before: everything that it depends on is in a chain of frames,
    each waiting in a plain call. Instructions on the sides of branches, in bodies of loops and in functions that an
    operation calls (a comparison, a key function, a generator) are part of the step that contains them.
    """

    def __init__(self, trace: Trace, sources: Sources, end: int | None = None) -> None:
        self.trace = trace
        self.sources = sources
        self.journal = Journal()
        #: the frame that is running
        self.frame: Frame = None  # type: ignore[assignment]
        #: objects made during this capture, by id
        self.created = self.journal.created
        self.native = Native(self)
        self.gate = Gate(sources, self.native.call, self.made)
        self.depth = 0
        #: after how many steps without tensors the code is left to Python; -1 for never
        self.limit = -1
        #: steps begun so far
        self.steps = 0
        self.end = end
        #: how many constructs that are one step as a whole the interpreter is inside of
        self.inside_step = 0
        #: what operations in progress gave the functions that they call, and may hold
        self.given: list[Any] = []
        #: the last step that was a branch on a tensor
        self.last_fork = -1
        #: exceptions of the program -> the step that raised them, and their context then
        self.raised: dict[int, tuple[BaseException, int, BaseException | None]] = {}
        #: ids of those that were raised inside of an operation, a gradient or a mapping
        self.raised_inside: set[int] = set()
        self.journal.clock = lambda: self.steps - 1
        #: what was being handled when an exception was raised, by its id: the capture may be handling the same
        self.contexts: dict[int, BaseException | None] = {}
        #: the exception on its way out of a frame, whose `__context__` was set where it was raised
        self.propagating: BaseException | None = None
        #: which instructions of each code object ran, for reports
        self.ran: dict[Decoded, set[int]] = {}
        trace.on_write = self.journal.touch_itself
        trace.on_shown = sources.shown
        trace.write_text = hole
        sources.before = self.journal.original
        sources.wrote_objects = lambda: self.journal.wrote_objects
        sources.places, sources.cleared = self.journal.places, self.journal.cleared
        sources.created = self.created
        sources.belongs = self.journal.belongs
        sources.in_library = lambda: self.frame is not None and self.frame.transparent
        sources.is_new = self._is_new
        sources.is_outside = lambda tensor: id(tensor) in trace.externals
        trace.location = self.locate
        trace.items_of = sources.items_of_tuple
        trace.watched = True
        trace.is_made = lambda obj: id(obj) in self.created
        trace.read_hooks = sources.hooks
        trace.read_layout = sources.layout
        trace.replaces = sources.replaced
        trace.looks_before = sources.bounds
        self.journal.on_birth = sources.meet
        self.journal.on_side_write = self._read_before_side_write
        self.objects = Objects(self)
        self.attributes = Attributes(self)
        self.arrays = Arrays(self)
        self.iteration = Iteration(self)
        self.calls = Calls(self)
        self.natives = NativeCalls(self)
        self.branches = Branches(self)

    def _read_before_side_write(self, obj: Any) -> None:
        """One side of a branch is about to write an object: what the other side leaves is read, too."""
        numbers: dict[Any, Any] = {}
        count = COUNT if counts_changes(type(self.journal.owner(id(obj)))) else None
        self.sources.contents(obj, numbers if self.journal.can_exchange(obj) else None, count)
        for key, (value, number) in numbers.items():
            with contextlib.suppress(LookupError):
                if native_class(type(obj)).__getitem__(obj, key) is value:  # and nothing was written there meanwhile
                    self.journal.exchange(obj, key, number)

    # -- facts -------------------------------------------------------------------------------------------------------

    def made(self, obj: Any) -> Any:
        """Note that an object was made during this capture."""
        self.journal.born(obj)
        return obj

    def made_if_fresh(self, obj: Any, held: int = 0) -> Any:
        """Note the result of a native call if nobody else can hold it yet, and what only it holds.

        A text must not show where objects are.

        Args:
            obj: the result.
            held: how many variables of the caller hold it.
        """
        if type(obj) is str:
            return refuse_addresses(self, obj)
        if sys.getrefcount(obj) <= 2 + held and not is_value(obj) and self._made_natively(obj):
            self.made_inside(obj)
        return obj

    def made_inside(self, obj: Any) -> None:
        """Note what only a new object holds."""
        note_parts(obj, self._made_natively)

    def _is_new(self, obj: Any) -> bool:
        """Whether an object that nobody noted was made by this call, as what it leads to was."""
        if self.journal.original(obj) is not None:  # and it was written
            return False
        return leads_to_this_call(obj, self.sources.known, self.created, self._was_outside)

    def _was_outside(self, tensor: Tensor) -> bool:
        return self.journal.data_before(tensor).__class__ is not Value

    def _made_natively(self, obj: Any) -> bool:
        known = id(obj) in self.created or self.sources.is_known(obj)
        if not known:
            self.journal.born(obj)
        return not known

    def made_if_container(self, obj: Any) -> Any:
        """Note the result of an operation that makes a new container."""
        if type(obj) in (list, dict, set):
            self.journal.born(obj)
        return obj

    def is_runtime(self, tensor: Tensor) -> bool:
        """Whether only the running graph knows a tensor's value."""
        if tensor.is_symbolic:
            return True
        return type(tensor) is not LiteralTensor and id(tensor) not in self.trace.created

    def locate(self) -> Any:
        """Where in the user's code the interpreter is, to be resolved on demand."""
        frame: Frame | None = self.frame
        while frame is not None and frame.transparent:
            frame = frame.caller
        if frame is None:
            return None
        decoded, pc = frame.decoded, frame.pc - 1
        return lambda: decoded.location(pc)

    def lines(self) -> frozenset[tuple[str, int]]:
        """(file, line) of the user's code that ran so far."""
        found: set[tuple[str, Any]] = set()
        for decoded, ran in self.ran.items():
            file, instrs = decoded.code.co_filename, decoded.instrs
            found.update((file, instrs[pc].position[0]) for pc in ran if instrs[pc].name not in _PROLOGUE)
            found.update((file, line) for pc, lines in decoded.nop_lines.items() if pc in ran for line in lines)
        return frozenset((file, line) for file, line in found if line is not None)

    def literal_tuples(self) -> frozenset[int]:
        """The ids of the tuples that stand as constants in the code that ran."""
        pending = [value for decoded in self.ran for value in decoded.code.co_consts]
        found = set()
        while pending:
            value = pending.pop()
            if type(value) is tuple:
                found.add(id(value))
                pending += value
        return frozenset(found)

    def local_variables(self) -> dict[str, Any]:
        """What `locals()` returns in the running frame."""
        if self.frame.names is not None:
            return self.frame.names
        found = self.made({})
        self.resolve_all(self.frame)
        decoded = self.frame.decoded
        cells = {*decoded.cell_names, *decoded.free_names}
        for name, value in zip(decoded.slot_names, self.frame.slots, strict=True):
            if isinstance(value, types.CellType) and name in cells:
                value = cell_value(value)
            if value is not UNBOUND and value is not EMPTY_CELL:
                found[name] = value
        return found

    def resolve(self, frame: Frame, slot: int) -> Any:
        """Read a local variable that nothing was known of so far: from now on it is guarded."""
        lazy: Lazy = frame.slots[slot]
        value = frame.slots[slot] = self.arrive(lazy.expression, lazy.value)
        return value

    def resolve_all(self, frame: Frame) -> None:
        """Read all local variables of a frame."""
        for slot, value in enumerate(frame.slots):
            if type(value) is Lazy:
                self.resolve(frame, slot)

    def arrive(self, expression: str, value: Any) -> Any:
        """A value that the entry is called with becomes part of the capture."""
        return self.sources.argument(expression, value)

    # -- running -----------------------------------------------------------------------------------------------------

    def run_call(self, frame: Frame) -> Exit:
        """Run a called function to its end: `Return`, or `Alternatives`; an exception propagates."""
        barrier = frame.function.__code__ in UNBROKEN
        frame.begun = len(self.created)
        self.inside_step += barrier
        try:
            result = self.run_frame(frame)
        finally:
            self.inside_step -= barrier
        if isinstance(result, Raise):
            raise_as_it_is(result.exception)
        return result

    def computes(self) -> bool:
        """Whether something was computed with tensors so far: more than host calls that are given none."""
        values = (value for node in self.trace.root.nodes for value in (*node.inputs, *node.outputs))
        return bool(self.trace.created) or any(value is not None and value.type is not TOKEN for value in values)

    def refuse_tensorless(self) -> None:
        """Leave code to Python of which many instructions ran and nothing was computed with tensors."""
        if not self.computes():
            refusal = Unsupported(
                Refusal.NO_TENSORS,
                f"the first {self.limit:,} instructions of the call compute nothing with tensors",
                "compile the functions that compute with tensors",
            )
            refusal.whole = True
            raise refusal

    def run_chain(self, frame: Frame) -> Exit:
        """Run a frame and then the frames that wait for it, to the end of the outermost."""
        waiting: Frame | None = frame
        while waiting is not None:
            waiting, self.depth = waiting.caller, self.depth + 1
        self.frame = frame
        error: BaseException | None = None
        while True:
            try:
                if error is not None:
                    self.unwind(frame, frame.pc - 1, error)
                    error = None
                result: Exit | None = self.run(frame, _NO_STOPS)
            except Unsupported:
                raise
            except BaseException as raised:
                if frame.caller is None:
                    raise
                self.frame = frame = frame.caller
                error = raised
                continue
            while result is not None:
                if frame.caller is None or not isinstance(result, (Return, Alternatives)):
                    return result
                self.frame = frame = frame.caller
                self.depth -= 1
                if isinstance(result, Return):
                    try:
                        frame.receive(result.value)
                    except TypeError as raised:
                        error = raised
                    result = None
                else:
                    result = self.branches.continue_call(frame, result, _NO_STOPS)

    def run_frame(self, frame: Frame, exception: BaseException | None = None) -> Exit:
        """Run a frame until it returns or yields, raising `exception` at its current place first."""
        if self.depth >= MAX_DEPTH // 4 and len(self.journal.layers) > 1:
            raise Unsupported(
                Refusal.TENSOR_CONDITION, "how deep this recursion goes depends on a tensor", "use a while loop"
            )
        if self.depth >= MAX_DEPTH:
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"calls are nested more than {MAX_DEPTH} deep, which looks like endless recursion",
                "use a loop",
            )
        self.depth += 1
        before, self.frame = self.frame, frame
        try:
            if exception is not None:
                set_context(exception, frame.exception)
                self.propagating = exception
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
        ran = set() if frame.transparent else self.ran.setdefault(frame.decoded, set())
        ambient = sys.exception()
        refused = NOTED.refused
        if entered:
            stops, later = frozenset(), stops
        while True:
            pc = frame.pc
            if pc in stops:
                return Stop(pc)
            if not self.inside_step:
                if self.steps == self.end:
                    return Suspend(frame)
                self.steps += 1
                if self.steps == self.limit:
                    self.refuse_tensorless()
            instr = instrs[pc]
            ran.add(pc)
            frame.pc = pc + 1
            if entered:
                entered, stops = False, later
            try:
                handler = instr.handler
                if handler is None:
                    handler = bind_handler(frame.decoded, pc)
                result = handler(self, frame, instr)
                if refused:  # which native code took for an error of its own
                    raise refused[-1]
                if result is None:
                    continue
                if type(result) is Fork:
                    result = (
                        self.branches.fork(frame, pc, result, stops)
                        if self.inside_step
                        else self._fork_step(frame, pc, result, stops)
                    )
                elif type(result) is Alternatives:
                    result = self.branches.continue_call(frame, result, stops)
            except Unsupported as refusal:
                if refusal.location is None and not frame.transparent:
                    refusal.location = frame.decoded.location(pc)
                raise
            except BaseException as error:
                refuse_stand_ins(error)
                if refused:
                    refused[-1].location = refused[-1].location or frame.decoded.location(pc)
                    raise refused[-1] from error
                self.unwind(frame, pc, error, ambient)
                continue
            if result is not None:
                return result

    def _fork_step(self, frame: Frame, pc: int, fork: Fork, stops: frozenset[int]) -> Exit | None:
        """A branch that is a step of its own: what is refused on its sides is refused here."""
        self.last_fork = step = self.steps - 1
        merged = len(self.trace.merged)
        try:
            result = self.branches.fork(frame, pc, fork, stops)
            self.journal.births.update(dict.fromkeys(itertools.islice(self.trace.merged, merged, None), step))
            return result
        except Unsupported as refusal:
            if refusal.step is None:
                while frame.transparent and frame.caller is not None:
                    frame = frame.caller
                    pc = frame.pc - 1
                refusal.condition = self.where(frame, pc)
            raise

    def execute(self, frame: Frame, pc: int) -> Any:
        """Execute one instruction; returns what its handler returns."""
        instr = frame.instrs[pc]
        return (instr.handler or bind_handler(frame.decoded, pc))(self, frame, instr)

    def unwind(self, frame: Frame, pc: int, error: BaseException, ambient: BaseException | None = None) -> None:
        """Go to the exception handler that covers an instruction; re-raise if there is none.

        Args:
            frame: the frame.
            pc: the instruction that raised.
            error: the exception.
            ambient: what the capture itself was handling meanwhile, which is no context in the program.
        """
        if self.inside_step and id(error) not in self.raised:
            self.raised_inside.add(id(error))
        first = self.raised.setdefault(id(error), (error, self.steps - 1, error.__context__))
        if error is not self.propagating:
            if id(error) not in self.created and not self.sources.is_known(error):
                self.made(error)
            handled = self.handled(frame)
            if not self._is_context(ambient, error):
                drop_context(error, ambient, handled)
            chain_native(error, handled)
        elif error.__context__ is ambient is not None and not self._is_context(ambient, error):
            error.__context__ = None
            set_context(error, self.handled(frame) if first[2] is ambient else first[2])
        self.contexts[id(error)] = error.__context__
        self.journal.left(error, frame, pc)
        handler = frame.decoded.handler_at(pc)
        if handler is None:
            self.propagating = error
            raise error
        if self.trace.open_types and self.raised_by_library(error):
            raise Unsupported(
                Refusal.DYNAMIC_SHAPE,
                f"the program handles a {type(error).__name__} of the library, which may come of sizes left open",
                "compile for one size",
            )
        self.propagating = None
        frame.awaits = Await.VALUE
        del frame.stack[handler.depth :]
        if handler.push_lasti:
            frame.stack.append(frame.instrs[pc].offset)
        frame.stack.append(error)
        frame.pc = handler.target

    def raised_by_library(self, error: BaseException) -> bool:
        """Whether an exception comes from the library or from what it calls."""
        file = raised_in(error)
        return bool(file) and not file.startswith(CAPTURE)

    def _is_context(self, ambient: BaseException | None, error: BaseException) -> bool:
        """Whether what the capture handles is what the program was handling when it raised an exception."""
        return error.__context__ is ambient and self.contexts.get(id(error)) is ambient

    def handled(self, frame: Frame | None) -> BaseException | None:
        """The exception that is being handled in a frame or the nearest of its callers."""
        while frame is not None and frame.exception is None:
            frame = frame.caller
        return None if frame is None else frame.exception

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
