"""Capture a call: run it in the interpreter, and make an entry that does the same with one graph."""

from __future__ import annotations

import inspect
import sys
import threading
import time
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from weft.autodiff import session
from weft.capture.branches import Alternatives, MergedTensor
from weft.capture.emit import Writer
from weft.capture.entries import MISS, Entry, Owner
from weft.capture.events import BreakSite, Captured
from weft.capture.frame import Exit, Return, Suspend, Yield
from weft.capture.generators import Yielded, yield_point
from weft.capture.guards import check_lines
from weft.capture.interpreter import Interpreter
from weft.capture.iterators import refuse_abandoned
from weft.capture.journal import Journaled, contents_of, restore
from weft.capture.leaving import rest_of_frame
from weft.capture.native_warnings import refused_warnings
from weft.capture.sources import Sources
from weft.capture.steps import raised_again
from weft.capture.suspension import (
    BreakPoint,
    Continuation,
    Suspension,
    drive,
    restore_frames,
    shape_of,
    value_names,
    values_of,
)
from weft.compile.executable import Executable
from weft.compile.segment import Segment
from weft.core import trace as trace_module
from weft.core.containers import is_mutable
from weft.core.number import STORAGE
from weft.core.tensor import LiteralTensor, Tensor, view, wrap
from weft.core.trace import Trace
from weft.core.transparency import TRANSPARENT
from weft.errors import Location, Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.pipeline import optimize

_PYTHON_STACK: Final = 20_000
#: a call that has computed nothing with tensors after so many steps is left to Python
_TENSORLESS_STEPS: Final = 100_000
#: likewise the rest of a frame at a place where earlier captures did not compute anything either
_IDLE_STEPS: Final = 10_000
#: names in code that looks at frames and generators as Python keeps them, at memory, or at the depth of the stack
_LOOKS_AT_FRAMES: Final = frozenset(
    {
        "tb_frame", "f_back", "f_locals", "f_lineno", "gi_frame", "gi_yieldfrom", "_getframe", "currentframe",
        "getrefcount", "is_tracked", "getsizeof", "setrecursionlimit", "getrecursionlimit", "unraisablehook",
    }
)  # fmt: skip


class Program(Owner):
    """A compiled callable as its entries see it: policy, history, places, and how calls are captured."""

    def capture_call(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str
    ) -> Entry:  # fmt: skip
        """Capture a call from its beginning.

        Args:
            function: the function, method or Cell to call.
            args: positional arguments.
            kwargs: keyword arguments.
            why: why a new entry is needed.

        Returns:
            Entry: for calls with arguments of the same types.

        Raises:
            Unsupported: something cannot be in a graph, and the call cannot leave the graph there.
        """

        def begin(attempt: _Attempt) -> Exit:
            names = [f"a{i}" for i in range(len(args))] + [f"k_{key}" for key in kwargs]
            paths = argument_names(function, len(args), kwargs)
            values = attempt.take(names, paths, (*args, *kwargs.values()))
            given = dict(zip(kwargs, values[len(args) :], strict=True))
            loaded = attempt.sources.name(function, "function")
            attempt.sources.paths[loaded] = getattr(function, "__name__", type(function).__name__)
            attempt.sources.root(function, loaded)
            if self.guarded and not is_transparent(function):
                given_names = [*names[: len(args)], *[f"{key}=k_{key}" for key in kwargs]]
                attempt.whole_call = f"{loaded}({', '.join(given_names)})"
            return attempt.interpreter.call_outcome(function, values[: len(args)], given)

        return self._capture(begin, None, why)

    def capture_continuation(
        self, continuation: Continuation, values: tuple[Any, ...], why: str
    ) -> Entry:  # fmt: skip
        def begin(attempt: _Attempt) -> Exit:
            attempt.parameters = [f"a{i}" for i in range(len(values))]
            attempt.sources.paths.update(zip(attempt.parameters, value_names(continuation.shapes), strict=True))
            interpreter = attempt.interpreter
            frame = restore_frames(continuation.shapes, values, attempt.parameters, interpreter.arrive)
            return interpreter.run_chain(frame)

        return self._capture(begin, continuation, why)

    def rest_of(
        self, continuation: Continuation, site: BreakSite | None
    ) -> Callable[[tuple[Any, ...]], Any] | None:  # fmt: skip
        return None if self.fullgraph else rest_of_frame(continuation, site)

    def _capture(
        self, begin: Callable[[_Attempt], Exit], continuation: Continuation | None, why: str
    ) -> Entry:  # fmt: skip
        """Capture as far as possible: each attempt that meets what cannot be in the graph names where the next ends."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _PYTHON_STACK))
        started = time.perf_counter()
        try:
            entry, attempt = self._attempt_until_it_fits(begin, continuation)
        finally:
            sys.setrecursionlimit(limit)
        self._record(attempt, entry, why, time.perf_counter() - started)
        return entry

    def _attempt_until_it_fits(
        self, begin: Callable[[_Attempt], Exit], continuation: Continuation | None
    ) -> tuple[Entry, _Attempt]:
        end: _End | None = None
        varying: Collection[str] = self.varying
        blamed: _End | None = None  # what was refused with varying numbers, which may be why
        while True:
            attempt = _Attempt(self, end, continuation, varying if blamed is None else ())
            refused = attempt.build(begin)
            if isinstance(refused, Entry):
                return refused, attempt
            whole = (
                isinstance(refused.reason, Unsupported)
                and not self.fullgraph
                and (refused.reason.whole or attempt.looks_at_frames())
            )
            if whole and attempt.whole_call is not None:
                return attempt.in_python(refused), attempt
            if whole and continuation is not None and continuation.idle is not None:
                entry = attempt.rest_in_python(continuation)
                if entry is not None:
                    return entry, attempt
                continue
            if blamed is None and varying:
                blamed = refused
                continue
            if blamed is not None:
                if refused.step <= blamed.step:
                    refused = blamed
                else:
                    varying = ()
                blamed = None
            strict = self.fullgraph and isinstance(refused.reason, Unsupported) and not refused.reason.quiet
            if strict or refused.step < 0 or (end is not None and refused.step >= end.step):
                if isinstance(refused.reason, Unsupported) and not self.fullgraph:
                    if attempt.whole_call is not None:
                        return attempt.in_python(refused), attempt
                    entry = None if continuation is None else attempt.rest_in_python(continuation, refused.reason)
                    if entry is not None:
                        return entry, attempt
                if isinstance(refused.reason, Unsupported):
                    self.history.refused(refused.reason)
                raise refused.reason
            end = refused

    def _record(self, attempt: _Attempt, entry: Entry, reason: str, seconds: float) -> None:
        graph = entry.segment.graph
        if entry.computes:
            self.idle = None
        continuation, point = attempt.continuation, attempt.point
        if continuation is not None and not graph.nodes:
            return
        starts = None
        if continuation is not None:
            inner = continuation.shapes[-1]
            starts = inner.decoded.location(inner.pc)
        ends = None if point is None else point.site
        guards = {guard.condition: guard.path for guard in entry.guards if guard.kind != "compute"}
        entry.event = Captured(graph, guards, reason, starts, ends, attempt.interpreter.lines(), seconds)
        self.history.add(entry.event)


class _End:
    """Where a capture ends, and why.

    Args:
        step: the number of the step before which it ends.
        reason: what was refused there, or the exception that the program raised there.
    """

    def __init__(self, step: int, reason: Unsupported | BaseException) -> None:
        self.step = step
        self.reason = reason

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
        return BreakSite(reason.kind.value, reason.location or location, reason.why, reason.do)


class _Attempt:
    """One try at capturing a piece of a call.

    Args:
        owner: the compiled callable.
        end: where the capture ends; None to go on to the end of the call.
        continuation: what is captured; None for a call from its beginning.
        varying: paths of numbers that are no constants of this capture.
    """

    def __init__(
        self, owner: Program, end: _End | None, continuation: Continuation | None, varying: Collection[str]
    ) -> None:
        self.owner = owner
        self.end = end
        self.continuation = continuation
        self.sources = Sources(owner.guarded, varying)
        self.trace = Trace(owner.name)
        self.interpreter = Interpreter(self.trace, self.sources, None if end is None else end.step)
        if continuation is None or continuation.idle is not None:
            self.interpreter.limit = (
                _IDLE_STEPS if continuation is not None and continuation.is_idle() else _TENSORLESS_STEPS
            )
        self.numbers = self.sources.numbers.inputs
        self.parameters: list[str] = []
        self.point: BreakPoint | None = None
        #: the call itself, where the entry may make it in Python
        self.whole_call: str | None = None

    def take(self, names: list[str], paths: list[str], values: Sequence[Any]) -> list[Any]:
        """The arguments of a call as the captured function gets them."""
        self.parameters = names
        self.sources.paths.update(zip(names, paths, strict=True))
        return [
            _argument(self.trace, self.sources, self.numbers, name, value)
            for name, value in zip(names, values, strict=True)
        ]

    def build(self, begin: Callable[[_Attempt], Exit]) -> Entry | _End:
        """Capture; returns the entry, or where a further attempt has to end."""
        try:
            with refused_warnings():
                return self._build(begin)
        except Unsupported as refusal:
            return _End(self.interpreter.steps - 1 if refusal.step is None else refusal.step, refusal)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raised = self.interpreter.raised.get(id(error))
            return _End(-1 if raised is None else raised[1], error)
        finally:
            self.sources.restore_tracebacks()
            self.interpreter.journal.restore_exceptions()

    def _build(self, begin: Callable[[_Attempt], Exit]) -> Entry:
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
                if trace.token is not None:
                    writer.output(trace.use(trace.token))
            finally:
                interpreter.frame = None  # type: ignore[assignment]
                session.unwind(gradients)
                while len(interpreter.journal.layers) > 1:
                    interpreter.journal.pop().undo()
                interpreter.journal.layers[0].undo()
        graph = trace.root
        if self.whole_call is not None and isinstance(result, Return) and self._is_tensorless(writer):
            writer.lines = [f"return {self.whole_call}"]  # what Python does is Python's own
        graph.outputs = list(writer.outputs)
        optimize(graph)
        handles = {param: handle for handle, param in trace.externals.values()}
        _drop_unused(graph)
        if self.point is not None:
            self.point.counts = self.continuation is None or bool(graph.nodes) or not self._goes_on(self.point)
        return _assemble(graph, handles, self.numbers, writer, self.parameters, stored, computes)

    def _is_tensorless(self, writer: Writer) -> bool:
        """Whether the call computes nothing with tensors."""
        trace = self.trace
        return not trace.root.nodes and not writer.outputs and not trace.created and trace.token is None

    def looks_at_frames(self) -> bool:
        """Whether code that ran so far names what no call has that leaves a graph: its own frames, memory, depth."""
        return any(not _LOOKS_AT_FRAMES.isdisjoint(decoded.code.co_names) for decoded in self.interpreter.ran)

    def in_python(self, refused: _End) -> Entry:
        """An entry that makes the whole call in Python, under the guards of what was read so far."""
        assert self.whole_call is not None
        writer = self._writer()
        writer.lines = [f"return left_to_python({self.whole_call})"]
        location = refused.reason.location if isinstance(refused.reason, Unsupported) else None
        site = refused.site(location) if location is not None else None
        history = self.owner.history

        def left_to_python(result: Any) -> Any:
            if site is not None:
                history.ran_break(site)
            return result

        writer.scope["left_to_python"] = left_to_python
        return _assemble(Graph(self.owner.name), {}, {}, writer, self.parameters, {})

    def rest_in_python(self, continuation: Continuation, refused: Unsupported | None = None) -> Entry | None:
        """An entry that leaves the rest of the innermost frame to Python; None where Python cannot go on.

        Args:
            continuation: the place.
            refused: why; None where nothing was ever computed with tensors.
        """
        site = None
        if refused is not None:
            inner = continuation.shapes[-1]
            location = refused.location or inner.decoded.location(inner.pc)
            site = BreakSite(refused.kind.value, location, refused.why, refused.do)
        run = continuation.leave(site)
        if run is None:
            return None
        writer = self._writer()
        flat = "".join(f"{name}, " for name in self.parameters)
        writer.lines = [f"return left_to_python(({flat}))"]
        writer.scope["left_to_python"] = run
        return _assemble(Graph(self.owner.name), {}, {}, writer, self.parameters, {}, False)

    def _writer(self) -> Writer:
        interpreter, trace = self.interpreter, self.trace
        return Writer(
            self.sources, interpreter.journal, trace.use, _constant_test(trace), self.owner, interpreter.last_fork,
            interpreter.raised,
        )  # fmt: skip

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

    def _write_results(self, writer: Writer, result: Exit) -> dict[int, Tensor]:
        """Write what a call returns and changes; returns the outside tensors always written, by output."""
        interpreter = self.interpreter
        if isinstance(result, Alternatives):
            writer.raised = {}  # the entry raises one of them itself
            return _write_alternatives(interpreter, writer, result)
        stored = _write_effects(interpreter, writer)
        if isinstance(result, Return):
            writer.lines.append(f"return {writer.expression(result.value)}")
        elif isinstance(result, Yield):
            point, values = yield_point(self.owner, result.frame, True)
            flat = "".join(f"{writer.state(value)}, " for value in values)
            writer.lines.append(
                f"return Yielded({writer.constant(point)}, {writer.expression(result.value)}, ({flat}))"
            )
        else:
            assert isinstance(result, Suspend)
            self._write_suspension(writer, result)
        refuse_abandoned(interpreter.created, interpreter.journal.births, writer.written)
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
            for value in values_of(frame, shape):
                values.append(writer.state(value))
        inner = chain[-1]
        site = self.end.site(inner.decoded.location(inner.pc))
        expected = None if isinstance(self.end.reason, Unsupported) else self.end.reason
        self.point = BreakPoint(self.owner, tuple(shapes), site, expected, True)
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
        return wrap(param)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    made = {key: _argument(trace, sources, numbers, f"{expression}[{key!r}]", item) for key, item in items}
    return made if isinstance(value, dict) else list(made.values()) if isinstance(value, list) else tuple(made.values())


def _constant_test(trace: Trace) -> Callable[[Tensor], bool]:
    return lambda tensor: type(tensor) is LiteralTensor or id(tensor) in trace.created


def _write_alternatives(interpreter: Interpreter, writer: Writer, result: Alternatives) -> dict[int, Tensor]:
    """Write the outcomes of which the running graph picks one."""
    always: dict[int, Tensor] | None = None
    selector = writer.output(interpreter.trace.use(result.selector))
    writer.lines.append(f"which = leaf({selector}).item()")
    for number, outcome in enumerate(result.outcomes):
        layer = interpreter.journal.push()
        for obj, contents in outcome.heap.values():
            interpreter.journal.touch(obj)
            restore(obj, contents.settled() if isinstance(contents, MergedTensor) else contents)
        first = len(writer.lines)
        names = dict(writer._names)
        stored = _write_effects(interpreter, writer)
        handles = set(map(id, stored.values()))
        always = stored if always is None else {k: handle for k, handle in always.items() if id(handle) in handles}
        if outcome.label[0] == "return":
            writer.lines.append(f"return {writer.expression(outcome.payload)}")
        elif id(outcome.payload) in interpreter.created:
            writer.raise_created(outcome.payload)
        else:
            writer.lines.append(f"raise again({writer.constant(outcome.payload)})")
        refuse_abandoned(interpreter.created, interpreter.journal.births, writer.written)
        writer._names = names
        block = ["    " + line for line in writer.lines[first:]]
        writer.lines[first:] = [f"if which == {number}:", *block]
        interpreter.journal.pop()
        layer.undo()
    return always or {}


def _write_effects(interpreter: Interpreter, writer: Writer) -> dict[int, Tensor]:
    stored: dict[int, Tensor] = {}
    sources = interpreter.sources
    before: dict[int, tuple[Any, Any]] = {}
    for layer in interpreter.journal.layers:
        for key, noted in layer.before.items():
            before.setdefault(key, noted)
    for key, (obj, contents) in before.items():
        if key in interpreter.created or isinstance(obj, (types.FrameType,)):
            continue
        if isinstance(obj, Tensor):
            data, namespace = contents
            if data[0].__class__ is Value or key in interpreter.trace.created:
                continue
            now, after = contents_of(obj)
            if now[0] is not data[0]:
                sources.written(obj)
                stored[writer.write_tensor(obj)] = obj
            if namespace is not None and namespace != after:
                writer.write_object(obj, {"attributes": namespace}, {"attributes": after})
        elif isinstance(obj, Journaled):
            if sources.is_known(obj):
                raise AssertionError(f"{obj!r} cannot have come from outside")
        else:
            sources.written(obj)
            writer.write_object(obj, contents, contents_of(obj))
    return stored


def is_transparent(function: Any) -> bool:
    """Whether a function is the framework's own, which capture steps through."""
    return getattr(function, "__code__", None) in TRANSPARENT


def _drop_unused(graph: Graph) -> None:
    used: set[Value | None] = set(graph.outputs)
    for node in graph.nodes:
        used.update(node.inputs)
    graph.params[:] = [param for param in graph.params if param in used]
    for index, param in enumerate(graph.params):
        param.index = index


def _assemble(
    graph: Graph,
    handles: dict[Value, Tensor],
    numbers: dict[Value, str],
    writer: Writer,
    parameters: list[str],
    stored: dict[int, Tensor],
    computes: bool = True,
) -> Entry:
    """Compile the entry's code: guards, inputs, the executable's call, results."""
    sources = writer.sources
    scope: dict[str, Any] = {
        **writer.scope, "MISS": MISS, "copy": view, "again": raised_again, "leaf_of": wrap, "Suspension": Suspension,
        "drive": drive, "Yielded": Yielded,
    }  # fmt: skip
    loads: list[str | None] = []
    datas: list[str] = []
    wrapped: list[str] = []  # the inputs as tensors, for a call that a gradient follows
    donatable: list[int] = []
    written = {id(handle) for handle in stored.values()}
    for position, param in enumerate(graph.params):
        if param.type is TOKEN or param in numbers:
            number = numbers.get(param)
            loads.append(None)
            datas.append("()" if number is None else number)
            wrapped.append("None" if number is None else f"leaf_of({number})")
            continue
        handle = handles[param]
        known = sources.known.get(id(handle))
        expression = known[1] if known is not None else sources.name(handle, "handle")
        loads.append(expression)
        wrapped.append(expression)
        datas.append(f"{expression}._data")
        if id(handle) in written:
            donatable.append(position)
    segment = Segment(graph, donatable)
    scope["segment"] = segment
    _compile_once(scope, segment.executable)
    held = "".join(f", {name}" for name in sources.numbers.names)  # numbers of the call, which the checks computed
    tensors = [load for load in loads if load is not None]
    followed = " or ".join(f"{load}._node is not None" for load in tensors)
    body: list[str] = []
    body += check_lines(sources.guards.values(), "MISS")
    if followed:
        inputs = "".join(f"{text}, " for text in wrapped)
        body += [f"if {followed}:", f"    return rebuild(segment.follow(({inputs})), {', '.join(parameters)}{held})"]
    if not graph.outputs:
        body.append("outs = ()")
    elif donatable:
        body.append(f"outs = call([{', '.join(datas)}])")
    else:
        body.append(f"outs = run({', '.join(datas)})")
    types_of = {i: value.type for i, value in enumerate(graph.outputs)}
    body += [line for text in writer.lines for line in _inline(text, types_of, sources)]
    signature = ", ".join(parameters)
    source = f"def entry({signature}):\n" + "".join(f"    {line}\n" for line in body)
    source += f"def rebuild(outs, {signature}{held}):\n    leaf = outs.__getitem__\n"
    source += "    def store(handle, position): handle.rebind(outs[position])\n"
    source += "".join(f"    {line}\n" for line in writer.lines)
    scope |= sources.scope
    exec(compile(source, f"<weft entry {graph.name}>", "exec"), scope)
    guards = list(sources.guards.values())
    return Entry(scope["entry"], segment, guards, source, parameters, dict(sources.scope, Tensor=Tensor), computes)


def _compile_once(scope: dict[str, Any], executable: Executable) -> None:
    """Put the calls of an executable into an entry's scope; the first, which compiles, is made by one thread alone."""
    lock = threading.RLock()

    def first(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def call_alone(*args: Any) -> Any:
            with lock:
                result = call(*args)
            scope[name] = call
            return result

        return call_alone

    scope["run"] = first("run", executable.run)
    scope["call"] = first("call", executable.call)


def argument_names(function: Any, count: int, kwargs: Iterable[str]) -> list[str]:
    """The arguments of a call in the user's terms: their names in the signature as far as it has them.

    Args:
        function: what is called.
        count: number of positional arguments.
        kwargs: names of keyword arguments.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    names = positional[:count]
    return names + [f"{more}[{index}]" for index in range(count - len(names))] + list(kwargs)


def _inline(text: str, types_of: dict[int, Any], sources: Sources) -> list[str]:
    """The statement for raw arrays: `leaf` and `store` written out."""
    stripped = text.lstrip()
    indent = text[: len(text) - len(stripped)]
    if stripped.startswith("store("):
        target, position = stripped[6:-1].rsplit(", ", 1)
        kind = sources.name(types_of[int(position)], "type")
        return [
            f"{indent}stored = {target}",
            f"{indent}stored._data = outs[{position}]; stored._node = None; stored._type = {kind}",
        ]
    name, _, value = stripped.partition(" = ")
    if value.startswith("leaf(") and value.endswith(").item()"):
        return [f"{indent}{name} = outs[{value[5:-8]}].item()"]
    if value.startswith("leaf("):
        position = value[5:-1]
        kind = types_of[int(position)]
        spelled = sources.name(TensorType.of(kind.dtype, kind.shape), "type")
        made = f"{name} = new(Tensor); {name}._data = outs[{position}]; {name}._node = None; {name}._type = {spelled}"
        return [indent + made]
    return [text]
