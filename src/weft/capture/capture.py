"""Capture a call: run it in the interpreter, and make an entry that does the same with one graph."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any, Final

from weft.autodiff import session
from weft.capture.branches import Alternatives, MergedTensor
from weft.capture.emit import Writer
from weft.capture.frame import Exit, Return
from weft.capture.interpreter import Interpreter
from weft.capture.journal import contents_of, restore
from weft.capture.sources import Sources
from weft.compile.segment import Segment
from weft.core import trace as trace_module
from weft.core.containers import is_mutable
from weft.core.number import STORAGE
from weft.core.tensor import LiteralTensor, Tensor, view, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.pipeline import optimize

#: what an entry returns when its guards do not hold
MISS: Final = object()
_PYTHON_STACK: Final = 20_000
_lock = threading.RLock()


class Entry:
    """One captured call: guards, graph, executable and the code that ties them together.

    Args:
        run: ``run(*args) -> result``; returns `MISS` if a guard does not hold.
        segment: the graph with its executables and derivatives.
        guards: what is guarded, for reports.
    """

    __slots__ = ("run", "segment", "guards", "source")

    def __init__(self, run: Callable[..., Any], segment: Segment, guards: dict[str, str], source: str) -> None:
        self.run = run
        self.segment = segment
        self.guards = guards
        self.source = source


def capture(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], guarded: bool, name: str) -> Entry:
    """Capture a call as one graph.

    Args:
        function: the function, method or Cell to call.
        args: positional arguments.
        kwargs: keyword arguments.
        guarded: whether outside values that the function reads are guarded, or constants of this capture.
        name: name of the graph.

    Returns:
        Entry: for calls with arguments of the same types.

    Raises:
        Unsupported: something cannot be in a graph.
        Exception: what the function itself raises.
    """
    with _lock:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _PYTHON_STACK))
        try:
            return _capture(function, args, kwargs, guarded, name)
        finally:
            sys.setrecursionlimit(limit)


def _capture(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], guarded: bool, name: str) -> Entry:
    sources = Sources(guarded)
    trace = Trace(name)
    numbers: dict[Value, str] = {}
    parameters = [f"a{i}" for i in range(len(args))] + [f"k_{key}" for key in kwargs]
    values = [
        _argument(trace, sources, numbers, parameter, value)
        for parameter, value in zip(parameters, (*args, *kwargs.values()), strict=True)
    ]
    kwargs = dict(zip(kwargs, values[len(args) :], strict=True))
    sources.root(function, sources.name(function, "function"))
    interpreter = Interpreter(trace, sources)
    gradients = session.depth()
    with trace_module.tracing(trace):
        try:
            result = _run(interpreter, function, values[: len(args)], kwargs)
            writer = Writer(sources, interpreter.created, trace.use, _constant_test(trace))
            stored = _write_results(interpreter, writer, result)
            writer.load_first()
            if trace.token is not None:
                writer.output(trace.use(trace.token))
        finally:
            session.unwind(gradients)
            while len(interpreter.journal.layers) > 1:
                interpreter.journal.pop().undo()
            interpreter.journal.layers[0].undo()
    graph = trace.root
    graph.outputs = list(writer.outputs)
    optimize(graph)
    handles = {param: handle for handle, param in trace.externals.values()}
    _drop_unused(graph)
    return _assemble(graph, handles, numbers, writer, parameters, stored)


def _argument(trace: Trace, sources: Sources, numbers: dict[Value, str], expression: str, value: Any) -> Any:
    """An argument as the captured function gets it: numbers marked mutable are inputs of the graph."""
    if not is_mutable(value):
        sources.argument(expression, value)
        return value
    sources.mutable(expression, value)
    if isinstance(value, (int, float)):
        kind = int if isinstance(value, int) else float
        param = trace.root.add_param(TensorType.of(STORAGE[kind], (), kind), expression)
        numbers[param] = f"{sources.name(STORAGE[kind].np_dtype.type, 'object')}({expression})"
        return wrap(param)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    made = {key: _argument(trace, sources, numbers, f"{expression}[{key!r}]", item) for key, item in items}
    return made if isinstance(value, dict) else list(made.values()) if isinstance(value, list) else tuple(made.values())


def _run(interpreter: Interpreter, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Exit:
    try:
        return interpreter.call_outcome(function, args, kwargs)
    finally:
        interpreter.frame = None  # type: ignore[assignment]


def _constant_test(trace: Trace) -> Callable[[Tensor], bool]:
    return lambda tensor: tensor.__class__ is LiteralTensor or id(tensor) in trace.created


def _write_results(interpreter: Interpreter, writer: Writer, result: Exit) -> dict[int, Tensor]:
    """Write what a call returns and the changes it leaves; returns the outside tensors always written, by output."""
    if isinstance(result, Return):
        stored = _write_effects(interpreter, writer)
        writer.lines.append(f"return {writer.expression(result.value)}")
        return stored
    assert isinstance(result, Alternatives)
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
            writer.lines.append(f"raise {writer.expression(outcome.payload)}")
        else:
            writer.lines.append(f"raise again({writer.constant(outcome.payload)})")
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
                stored[writer.write_tensor(obj)] = obj
            if namespace is not None and namespace != after:
                writer.write_object(obj, {"attributes": namespace}, {"attributes": after})
        elif hasattr(obj, "journal_contents"):
            if sources.is_known(obj):
                raise AssertionError(f"{obj!r} cannot have come from outside")
        else:
            writer.write_object(obj, contents, contents_of(obj))
    return stored


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
) -> Entry:
    """Compile the entry's code: guards, inputs, the executable's call, results."""
    sources = writer.sources
    scope: dict[str, Any] = {**writer.scope, "MISS": MISS, "copy": view, "again": _again, "leaf_of": wrap}
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
    scope |= {"segment": segment, "run": segment.executable.run, "call": segment.executable.call}
    checks = list(sources.guards)
    tensors = [load for load in loads if load is not None]
    followed = " or ".join(f"{load}._node is not None" for load in tensors)
    body: list[str] = []
    if checks:
        body += ["try:", *[f"    if not ({check}): return MISS" for check in checks]]
        body += ["except (AttributeError, KeyError, IndexError, TypeError, ValueError):", "    return MISS"]
    if followed:
        inputs = "".join(f"{text}, " for text in wrapped)
        body += [f"if {followed}:", f"    return rebuild(segment.follow(({inputs})), {', '.join(parameters)})"]
    if donatable:
        body.append(f"outs = call([{', '.join(datas)}])")
    else:
        body.append(f"outs = run({', '.join(datas)})")
    types_of = {i: value.type for i, value in enumerate(graph.outputs)}
    body += [line for text in writer.lines for line in _inline(text, types_of, sources)]
    signature = ", ".join(parameters)
    source = f"def entry({signature}):\n" + "".join(f"    {line}\n" for line in body)
    source += f"def rebuild(outs, {signature}):\n    leaf = outs.__getitem__\n"
    source += "    def store(handle, position): handle.rebind(outs[position])\n"
    source += "".join(f"    {line}\n" for line in writer.lines)
    scope |= sources.scope
    exec(compile(source, f"<weft entry {graph.name}>", "exec"), scope)
    return Entry(scope["entry"], segment, sources.guards, source)


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


def _again(exception: BaseException) -> BaseException:
    """A new exception like the one met while capturing."""
    try:
        made = type(exception)(*exception.args)
    except TypeError:
        return exception.with_traceback(None)
    made.__cause__ = exception.__cause__
    made.__dict__.update(exception.__dict__)
    return made
