"""Capture a function as one whole graph: its results are data, and of what it writes only tensors are allowed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from weft.capture.attempt import Attempt
from weft.capture.branching.outcomes import Alternatives
from weft.capture.capture import Program, argument_names
from weft.capture.leaving.entries import capture_lock
from weft.capture.leaving.entry import Entry
from weft.capture.sources.numbers import CallNumber
from weft.capture.state.frame import Exit, Return
from weft.capture.writing.writes import Stored, Writes
from weft.core.number import GraphNumber
from weft.core.tensor import Tensor
from weft.core.trace import Trace
from weft.core.transparency import CALLING_BACK
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Node, Value
from weft.ir.sizes import Size
from weft.ir.types import TOKEN, TensorType

_PYTHON_STACK: Final = 20_000


class Whole:
    """A function as one graph.

    Args:
        graph: the graph, passes applied.
        handles: the outside tensors that its parameters stand for.
        result: what the function returns; each tensor is ``["tensor", output]``.
        stored: the outside tensors that the function writes.
        checks: outputs that say whether indices are in bounds, each with what to say if not.
        types: the types of arguments some of whose sizes the graph leaves open, by id of the tensor.
        sizes: the parameters that stand for a size, and which.
        conditions: what the graph relies on: comparisons of two sizes.
        held: why sizes that were to be left open cannot be.
    """

    def __init__(
        self,
        graph: Graph,
        handles: dict[Value, Tensor],
        result: Any,
        stored: Stored,
        checks: list[tuple[int, str]],
        types: dict[int, TensorType],
        sizes: dict[Value, Size],
        conditions: list[tuple[str, Size, Size]],
        held: Unsupported | None,
    ) -> None:
        self.graph = graph
        self.handles = handles
        self.result = result
        self.stored = stored
        self.checks = checks
        self.types = types
        self.sizes = sizes
        self.conditions = conditions
        self.held = held


class _WholeAttempt(Attempt):
    """An attempt that keeps the results as data instead of writing code that rebuilds them."""

    result: Any = None
    stored: Stored
    writer: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.trace.looks_before = Trace.looks_before  # a graph that does all of a call has no guards around it

    def _write_results(self, writer: Any, result: Exit) -> Stored:
        if isinstance(result, Alternatives) or not isinstance(result, Return):
            raise Unsupported(
                Refusal.OUTPUT,
                "how the call ends (which object it returns, or whether it raises) depends on a tensor's value",
                "return tensors, of the same structure on all paths",
            )
        self.writer = writer
        self.stored = Writes(writer).effects(self.trace)
        other = [line for line in writer.lines if not line.startswith("store(")]
        if other:
            raise Unsupported(
                Refusal.OUTPUT,
                f"the call changes a Python object: {other[0].strip()}",
                "return what is needed instead of storing it",
            )
        self.result = _data(result.value, lambda tensor: writer.output(self.trace.use(tensor)))
        writer.lines.append("return None")
        return self.stored


def capture_whole(
    function: Any, args: Sequence[Any], name: str, sizes: Mapping[int, Sequence[int | None]] | None = None
) -> Whole:
    """Capture a call as one graph that does everything that the call does.

    Args:
        function: the function, method or Cell to call.
        args: positional arguments, of the program's own or made for this capture.
        name: name of the graph.
        sizes: by id of a tensor in the arguments, for each axis whose size the graph leaves open a number: axes with
            the same number have the same size. None for an axis of this size only.

    Returns:
        Whole: the graph, the tensors that it reads and writes, and the structure of its result.

    Raises:
        Unsupported: something in it needs Python when it runs; the message names the line.
    """
    attempt, graph = _captured(function, args, name, sizes or {})
    if attempt.trace.token is not None or any(param.type is TOKEN for param in graph.params):
        raise _needs_host(next((node for node in graph.walk() if node.op.effect == "io"), None))
    handles = {param: handle for handle, param in attempt.trace.externals.values()}
    wrong = " or ".join(dict.fromkeys(what for what, _ in attempt.trace.places))
    checks = [(output, wrong) for output in attempt.writer.conditions]
    numbers = attempt.sources.numbers
    carried = {param: numbers.carried[param] for param in graph.params if param in numbers.carried}
    held = _held([*numbers.held, *numbers.fixed()], carried, graph)
    return Whole(
        graph,
        {param: handles[param] for param in graph.params if param not in carried},
        attempt.result,
        attempt.stored,
        checks,
        {id(tensor): kind for tensor, _, kind in attempt.trace.open_types.values()},
        {param: number.size for param, number in carried.items()},
        list(numbers.conditions),
        held,
    )


def follow(function: Any, args: Sequence[Any], name: str) -> None:
    """Let a call be captured, so that what a capture decides is decided, as where parameters lie. Nothing is computed.

    Args:
        function: the function, method or Cell to call.
        args: positional arguments.
        name: of the call, for messages.

    Raises:
        Unsupported: a part of the call needs Python before the rest is known; the message names the line.
    """
    _captured(function, args, name, {})


def _captured(
    function: Any, args: Sequence[Any], name: str, sizes: Mapping[int, Sequence[int | None]]
) -> tuple[_WholeAttempt, Graph]:
    """A call as one graph, and how it was captured."""
    owner = Program(name, True, True)
    owner.exact = True  # a graph that assumes nothing, since nobody would look at whether it holds
    attempt = _WholeAttempt(owner, None, None, (), {})
    attempt.sources.open_sizes.tensors = sizes
    names = [f"a{i}" for i in range(len(args))]

    def begin(attempt: Attempt) -> Exit:
        loaded = attempt.sources.name(function, "function")
        attempt.sources.paths[loaded] = name
        attempt.sources.root(function, loaded)
        attempt.sources.kind(function, loaded)
        taken = attempt.take(function, names, argument_names(function, len(args), {}), args)
        attempt.begin_steps()
        return attempt.interpreter.calls.call_outcome(function, taken, {})

    limit, run = sys.getrecursionlimit(), CALLING_BACK.run
    sys.setrecursionlimit(max(limit, _PYTHON_STACK))
    CALLING_BACK.run = None  # a compiled call that has come to this one in Python has no part in this capture
    try:
        with capture_lock:
            found = attempt.build(begin)
    finally:
        CALLING_BACK.run = run
        sys.setrecursionlimit(limit)
    if not isinstance(found, Entry):
        raise found.reason
    return attempt, found.segment.graph


def _held(held: list[tuple[CallNumber, Any]], carried: Mapping[Value, CallNumber], graph: Graph) -> Unsupported | None:
    """Why sizes cannot be left open, None if they can."""
    for number, locate in held:
        return Unsupported(
            Refusal.DYNAMIC_SHAPE,
            f"the size {number.label} was left open (None), but the call needs it to be one value here "
            f"({number.value!r} for the sample)",
            "give the sample that size, or compute it with the graph's operations",
            None if locate is None else locate(),
        )
    for param, number in carried.items():
        if number.size is None:
            user = next((node for node in graph.walk() if param in node.inputs), None)
            return Unsupported(
                Refusal.DYNAMIC_SHAPE,
                f"{number.label} is computed in Python from a size that was left open (None)",
                "compute it with sums, products, // and % of sizes, or with tensors",
                None if user is None else user.where(),
            )
    return None


def _needs_host(node: Node | None) -> Unsupported:
    return Unsupported(
        Refusal.IMPURE_CALL,
        "the call prints or calls the host, which needs Python when the graph runs",
        "take it out of what is exported",
        None if node is None else node.where(),
    )


def _data(value: Any, output: Callable[[Tensor], int]) -> Any:
    """A result as JSON: containers, tensors by output, plain values."""
    if isinstance(value, GraphNumber):
        return ["number", output(value.tensor)]
    if isinstance(value, Tensor):
        return ["tensor", output(value)]
    if type(value) in (tuple, list):
        return [type(value).__name__, [_data(item, output) for item in value]]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", [[key, _data(item, output)] for key, item in value.items()]]
    if value is None or type(value) in (bool, int, float, str):
        return ["plain", value]
    what = "a size that is left open" if isinstance(value, CallNumber) else f"a {type(value).__name__}"
    raise Unsupported(
        Refusal.OUTPUT,
        f"the call returns {what}, which a graph's file cannot hold",
        "return tensors, numbers that do not change, text, tuples, lists or dictionaries with text for keys",
    )
