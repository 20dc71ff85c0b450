"""One try at capturing a piece of a call: where it ends, and the entry that is written if it fits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from weft.autodiff import session
from weft.capture.branching.leaves import settled_contents
from weft.capture.branching.outcomes import Alternatives
from weft.capture.branching.reached import reached
from weft.capture.leaving.entries import Owner
from weft.capture.leaving.entry import Entry
from weft.capture.leaving.generators import yield_point
from weft.capture.leaving.shapes import shape_of, values_of
from weft.capture.leaving.suspension import BreakPoint, Continuation, continuation_at
from weft.capture.machine.interpreter import Interpreter
from weft.capture.meaning.generators import refuse_abandoned
from weft.capture.meaning.native_warnings import refused_warnings
from weft.capture.sources.sources import Sources
from weft.capture.state.events import BreakSite
from weft.capture.state.frame import Exit, Lazy, Return, Suspend, Yield
from weft.capture.state.journal import restore
from weft.capture.writing.assemble import (
    assemble,
    drop_unused,
    keep_params,
    keep_where_it_fails,
    kept_apart,
    uses_results,
)
from weft.capture.writing.handing import Handing
from weft.capture.writing.writer import Writer
from weft.capture.writing.writes import Stored, Writes
from weft.core import trace as trace_module
from weft.core.containers import is_mutable
from weft.core.number import STORAGE, number_of
from weft.core.tensor import LiteralTensor, Tensor
from weft.core.threads import others_run
from weft.core.trace import Trace
from weft.errors import NOTED, Location, Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ir.types import TensorType
from weft.passes.pipeline import OPEN, PIPELINE, optimize

#: a call that has computed nothing with tensors after so many steps is left to Python
_TENSORLESS_STEPS: Final = 100_000
#: likewise the rest of a frame at a place where earlier captures did not compute anything either
_IDLE_STEPS: Final = 10_000
#: names in code that looks at frames and generators as Python keeps them, at memory, or at the depth of the stack, or
#: that watches what runs
_LOOKS_AT_FRAMES: Final = frozenset(
    {
        "tb_frame", "f_back", "f_locals", "f_lineno", "gi_frame", "gi_yieldfrom", "_getframe", "currentframe",
        "getrefcount", "is_tracked", "getsizeof", "setrecursionlimit", "getrecursionlimit", "unraisablehook",
        "settrace", "setprofile",
    }
)  # fmt: skip


class End:
    """Where a capture ends, and why.

    Args:
        step: the number of the step before which it ends.
        reason: what was refused there, or the exception that the program raised there.
        inside: whether the exception came from inside of the step, which may read what is not guarded.
    """

    def __init__(self, step: int, reason: Unsupported | BaseException, inside: bool = False) -> None:
        self.step = step
        self.reason = reason
        self.inside = inside

    def site(self, location: Location) -> BreakSite | None:
        """What is reported; None for what is no break in the user's sense."""
        reason = self.reason
        if not isinstance(reason, Unsupported):
            return None
        condition = reason.condition
        if condition is not None and reason.location not in (None, condition):
            why = f"a side of it cannot be in the graph, so it is decided in Python: at {reason.location}, {reason.why}"
            return BreakSite(Refusal.TENSOR_CONDITION.value, condition, why, reason.do)
        if reason.quiet or reason.in_generator:
            return None
        return BreakSite.of(reason, location)


class Attempt:
    """One try at capturing a piece of a call.

    Args:
        owner: the compiled callable.
        end: where the capture ends; None to go on to the end of the call.
        continuation: what is captured; None for a call from its beginning.
        varying: paths of numbers that are no constants of this capture.
        sizes: paths of sizes that this capture leaves open; those with one number were always equal.
    """

    def __init__(
        self,
        owner: Owner,
        end: End | None,
        continuation: Continuation | None,
        varying: Collection[str],
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.owner = owner
        self.end = end
        self.continuation = continuation
        self.sources = Sources(owner.guarded, () if owner.once else varying)
        self.trace = Trace(owner.name)
        self.sources.open_sizes.paths = {} if owner.once or sizes is None else sizes
        self.sources.leave_open = functools.partial(trace_module.leave_open, self.trace)
        self.trace.size_of = self.sources.numbers.of_size
        self.trace.settle_sizes = self.sources.numbers.settle_sizes
        self.trace.exact = owner.exact
        self.trace.leaves_checks = owner.leaves_checks
        self.trace.followed = owner.followed
        self.interpreter = Interpreter(self.trace, self.sources, None if end is None else end.step)
        self.handing = Handing(self.interpreter.journal.clock)
        self.trace.holds_objects = self.handing.note
        #: whether the entry is for this call only, which loads nothing again: other threads change what it reads
        self.once = owner.once
        self.interpreter.journal.shared = not owner.is_strict() and others_run()
        if continuation is None or continuation.idle is not None:
            self.interpreter.limit = (
                _IDLE_STEPS if continuation is not None and continuation.is_idle() else _TENSORLESS_STEPS
            )
        self.numbers = self.sources.numbers.inputs
        self.parameters: list[str] = []
        self.point: BreakPoint | None = None
        #: the call itself, where the entry may make it in Python
        self.whole_call: str | None = None
        #: the call that is captured from its beginning, for Python to make where nothing else is left
        self.call: str | None = None

    def take(self, function: Any, names: list[str], paths: list[str], values: Sequence[Any]) -> list[Any]:
        """The arguments of a call as the captured function gets them: where it is interpreted, they are guarded when
        they are read.
        """
        self.parameters = names
        self.sources.paths.update(zip(names, paths, strict=True))
        lazily = self.interpreter.calls.takes_variables(function)
        return [
            Lazy(name, value)
            if lazily and not is_mutable(value)
            else _argument(self.trace, self.sources, self.numbers, name, value)
            for name, value in zip(names, values, strict=True)
        ]

    def begin_steps(self) -> None:
        """What is read from now on is read by steps, before which the capture can end."""
        if not self.owner.is_strict():
            self.sources.restless = self.owner.restless

    def build(self, begin: Callable[[Attempt], Exit]) -> Entry | End:
        """Capture; returns the entry, or where a further attempt has to end."""
        before, NOTED.refused = NOTED.refused, []
        try:
            with refused_warnings():
                return self._build(begin)
        except Unsupported as refusal:
            return End(self.interpreter.steps - 1 if refusal.step is None else refusal.step, refusal)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raised = self.interpreter.raised.get(id(error))
            return End(-1 if raised is None else raised[1], error, id(error) in self.interpreter.raised_inside)
        finally:
            NOTED.refused = before
            self.sources.restore_tracebacks()
            self.interpreter.journal.restore_exceptions()

    def _build(self, begin: Callable[[Attempt], Exit]) -> Entry:
        """Run the interpreter, then write the entry."""
        interpreter, trace, sources = self.interpreter, self.trace, self.sources
        gradients = session.depth()
        sources.settings()
        with trace_module.tracing(trace):
            try:
                result = begin(self)
                writer = self._writer()
                try:
                    stored = self._write_results(writer, result)
                except RecursionError:
                    refusal = Unsupported(Refusal.OUTPUT, "what is still needed here is nested too deeply")
                    refusal.whole = True
                    raise refusal from None
                writer.load_first()
                computes = interpreter.computes()
                trace.bring_sizes()
                if trace.token is not None:
                    writer.output(trace.use(trace.token))
                for condition, unless in conditions_of(trace):
                    writer.conditions[writer.output(trace.use(condition))] = unless
                self.begin_steps()  # what is guarded for the graph belongs to the steps that put it there
                self.handing.finish(trace.root, sources, self._writer())
                sources.restless = ()
            except Unsupported as refusal:
                refusal.in_callback = session.depth() > gradients
                raise
            finally:
                interpreter.frame = None  # type: ignore[assignment]
                interpreter.journal.take_back(interpreter.journal.layers[0])
        graph = trace.root
        graph.facts = tuple(sources.numbers.facts)
        if self.whole_call is not None and isinstance(result, Return) and self._is_tensorless(writer):
            writer.lines = [f"return {self.whole_call}"]  # what Python does is Python's own
        graph.outputs = list(writer.outputs)
        handles = {param: handle for handle, param in trace.externals.values()}
        captured, params = kept_apart(graph), list(graph.params)
        if writer.conditions:
            keep_where_it_fails(graph, writer, stored, trace.externals)
        optimize(graph, passes=OPEN if graph.is_open else PIPELINE)
        drop_unused(graph)
        if captured is not None and not (uses_results(captured) or uses_results(graph)):
            captured = None  # hooks on results are told the same by both
        if captured is not None and keep_params(captured, [params.index(param) for param in graph.params]):
            graph.captured = lambda: captured
        if self.point is not None:
            self.point.counts = self.continuation is None or bool(graph.nodes) or not self._goes_on(self.point)
        owner, handing = self.owner, self.handing
        if handing.unguarded is not None or (handing.refused is not None and trace.followed):
            raise handing.unguarded or handing.refused  # type: ignore[misc]
        trace.unrepeatable = trace.unrepeatable or handing.refused is not None
        refused = owner.note_followed if trace.unrepeatable else None
        return assemble(graph, handles, self.numbers, writer, self.parameters, stored, computes, refused, handing)

    def _is_tensorless(self, writer: Writer) -> bool:
        """Whether the call computes nothing with tensors."""
        trace = self.trace
        return not trace.root.nodes and not writer.outputs and not trace.created and trace.token is None

    def looks_at_frames(self) -> bool:
        """Whether code that ran so far names what no call has that leaves a graph: its own frames, memory, depth."""
        return any(not _LOOKS_AT_FRAMES.isdisjoint(decoded.code.co_names) for decoded in self.interpreter.ran)

    def in_python(self, refused: End) -> Entry:
        """An entry that makes the whole call in Python, under the guards of what was read so far."""
        assert self.call is not None
        writer = self._writer()
        writer.lines = [f"return left_to_python({self.call})"]
        reason = refused.reason
        location = reason.location if isinstance(reason, Unsupported) else None
        if location is None and isinstance(reason, Unsupported) and not reason.quiet:
            first = next(iter(self.interpreter.ran), None)  # what is needed was made in no step that is known
            location = None if first is None else first.location(0)
        site = refused.site(location) if location is not None else None
        if reason.in_callback if isinstance(reason, Unsupported) else refused.inside:
            site = None  # the function that is called back is captured by itself, and its breaks count
            writer.scope["calling_back"] = self.owner.captured_callbacks
            writer.lines = ["with calling_back():", f"    result = {self.call}", "return left_to_python(result)"]
        history = self.owner.history

        def left_to_python(result: Any) -> Any:
            if site is not None:
                history.ran_break(site)
            return result

        writer.scope["left_to_python"] = left_to_python
        return assemble(Graph(self.owner.name), {}, {}, writer, self.parameters, {})

    def rest_in_python(self, continuation: Continuation, refused: Unsupported | None = None) -> Entry | None:
        """An entry that leaves the rest of the innermost frame to Python; None where Python cannot go on.

        Args:
            continuation: the place.
            refused: why; None where nothing was ever computed with tensors.
        """
        site = None
        if refused is not None:
            inner = continuation.shapes[-1]
            site = BreakSite.of(refused, inner.decoded.location(inner.pc))
        run = continuation.leave(site)
        if run is None:
            return None
        writer = self._writer()
        flat = "".join(f"{name}, " for name in self.parameters)
        writer.lines = [f"return left_to_python(({flat}))"]
        writer.scope["left_to_python"] = run
        return assemble(Graph(self.owner.name), {}, {}, writer, self.parameters, {}, False)

    def _writer(self) -> Writer:
        interpreter, trace = self.interpreter, self.trace
        writer = Writer(
            self.sources, interpreter.journal, trace.use, _constant_test(trace), self.owner, interpreter.last_fork,
            interpreter.raised, self.once,
        )  # fmt: skip
        writer.hooked = trace.hooked
        return writer

    def _goes_on(self, point: BreakPoint) -> bool:
        """Whether a break takes up what the step before it left: the rest of the same expression."""
        assert self.continuation is not None
        begun, ended = self.continuation.shapes[-1], point.shapes[-1]
        if begun.decoded.code is not ended.decoded.code:
            return False
        line, end_line, column, end_column = begun.decoded.instrs[begun.pc].position
        first_line, last_line, first_column, last_column = ended.decoded.instrs[ended.pc].position
        if None in (line, end_line, column, end_column, first_line, last_line, first_column, last_column):
            return False
        return (first_line, first_column) <= (line, column) and (end_line, end_column) <= (last_line, last_column)

    def _write_results(self, writer: Writer, result: Exit) -> Stored:
        """Write what a call returns and changes; returns the outside tensors always written."""
        interpreter = self.interpreter
        writer.reached = functools.cache(lambda: reached(interpreter, result))
        writer.literal_tuples = functools.cache(interpreter.literal_tuples)
        if isinstance(result, Alternatives):
            self.sources.restless = ()  # what the outcomes write has no step before which all could end
            writer.raised = {}  # the entry raises one of them itself
            return _write_alternatives(interpreter, writer, result)
        stored = Writes(writer).effects(interpreter.trace)
        self.sources.restless = ()
        if isinstance(result, Return):
            writer.lines.append(f"return {writer.expression(result.value)}")
        elif isinstance(result, Yield):
            point, values = yield_point(self.owner, result.frame, True)
            flat = "".join(f"{writer.variable(value)}, " for value in values)
            writer.lines.append(
                f"return Yielded({writer.constant(point)}, {writer.expression(result.value)}, ({flat}))"
            )
        else:
            assert isinstance(result, Suspend)
            self._write_suspension(writer, result)
        ended = isinstance(result, Return)
        refuse_abandoned(interpreter.created, interpreter.journal.births, writer.written, ended)
        return stored

    def _write_suspension(self, writer: Writer, suspend: Suspend) -> None:
        assert self.end is not None
        shapes, values = [], []
        chain = suspend.chain()
        reason = self.end.reason
        shown = isinstance(reason, Unsupported) and reason.kind is Refusal.DEBUGGER
        for frame in chain:
            shape = shape_of(frame, frame.pc, shown, waiting=frame is not chain[-1])
            shapes.append(shape)
            found = values_of(frame, shape)
            for place, value in enumerate(found):
                in_variable = place < len(shape.slots) or self.end.step == 0  # else some code has had it in its hands
                values.append(writer.variable(value) if in_variable else writer.state(value))
        inner = chain[-1]
        site = self.end.site(inner.decoded.location(inner.pc))
        expected = None if isinstance(reason, Unsupported) or self.end.inside else reason
        calls_back = reason.in_callback if isinstance(reason, Unsupported) else self.end.inside
        self.point = BreakPoint(self.owner, tuple(shapes), site, expected, calls_back)
        if isinstance(reason, Unsupported):
            self.point.refused = BreakSite.of(reason, inner.decoded.location(inner.pc))
        if site is not None and isinstance(reason, Unsupported) and reason.whole:  # Python knows how long objects live
            self.point.go_on = continuation_at(self.owner, self.point.shapes).leave(site) or self.point.go_on
        made = f"Suspension({writer.constant(self.point)}, ({''.join(value + ', ' for value in values)}))"
        writer.lines.append(f"return drive({made})" if self.continuation is None else f"return {made}")


def _argument(trace: Trace, sources: Sources, numbers: dict[Value, str], expression: str, value: Any) -> Any:
    """An argument as the captured function gets it: numbers marked mutable are inputs of the graph."""
    if not is_mutable(value):
        return sources.argument(expression, value)
    sources.mutable(expression, value)
    if isinstance(value, (int, float)):
        kind = int if isinstance(value, int) else float
        param = trace.root.add_param(TensorType.of(STORAGE[kind], (), kind), expression)
        numbers[param] = f"{sources.name(STORAGE[kind].np_dtype.type, 'object')}({expression})"
        return number_of(param)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    made = {key: _argument(trace, sources, numbers, f"{expression}[{key!r}]", item) for key, item in items}
    return made if isinstance(value, dict) else list(made.values()) if isinstance(value, list) else tuple(made.values())


def conditions_of(trace: Trace) -> list[tuple[Tensor, str]]:
    """What the results of a graph depend on, each with the statement for calls in which it does not hold."""
    found = []
    if trace.holds is not None:
        found.append((trace.holds, "return failed.assumed()"))
    if trace.checked is not None:  # what was shown cannot be taken back, so the call cannot be made again
        wrong = f"raise IndexError({trace.error()!r})"
        found.append((trace.checked, "return failed.checked()" if trace.token is None else wrong))
    return found


def _constant_test(trace: Trace) -> Callable[[Tensor], bool]:
    return lambda tensor: type(tensor) is LiteralTensor or id(tensor) in trace.created


def _write_alternatives(interpreter: Interpreter, writer: Writer, result: Alternatives) -> Stored:
    """Write the outcomes of which the running graph picks one."""
    always: Stored | None = None
    selector = writer.output(interpreter.trace.use(result.selector.tensor))
    writer.lines.append(f"which = number({selector})")
    for number, outcome in enumerate(result.outcomes):
        layer = interpreter.journal.push()
        for obj, contents in outcome.heap.values():
            interpreter.journal.touch(obj)
            restore(obj, settled_contents(contents))
        first, trace = len(writer.lines), interpreter.trace
        if trace.token is not None:
            writer.output(trace.use(trace.token))
        for condition, unless in conditions_of(trace):  # of this outcome, besides those of all
            holds = writer.fresh()
            writer.has_further_conditions = True
            writer.lines += [f"{holds} = number({writer.output(trace.use(condition))})", f"if not {holds}: {unless}"]
        names, numbers = dict(writer._names), dict(writer._numbers)
        stored = Writes(writer).effects(interpreter.trace)
        always = stored if always is None else {key: always[key] for key in always if key in stored}
        if outcome.label[0] == "return":
            writer.lines.append(f"return {writer.expression(outcome.payload)}")
        elif id(outcome.payload) in interpreter.created:
            writer.raise_created(outcome.payload)
        else:
            writer.lines.append(f"raise again({writer.constant(outcome.payload)})")
        refuse_abandoned(interpreter.created, interpreter.journal.births, writer.written, True)
        writer._names, writer._numbers = names, numbers
        block = ["    " + line for line in writer.lines[first:]]
        writer.lines[first:] = [f"if which == {number}:", *block]
        interpreter.journal.take_back(layer)
    return always or {}
