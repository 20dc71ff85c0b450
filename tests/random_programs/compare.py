"""A random program under each policy: eagerly, automatic, guarded; what differs."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tests.random_programs.observe import MODULE, UNREADABLE, Snapshot, difference, same_text
from weft import Unsupported, jit, nn, value_and_grad
from weft.core.tensor import Tensor
from weft.explain import Recorder

# what capture got wrong is put right in Python, with this warning
warnings.filterwarnings("error", message="capture raised|the new graph", category=RuntimeWarning)

#: the compiled policies that are compared with eager execution
POLICIES: Final[dict[str, Callable[[Any], Any]]] = {"auto": jit, "PIJit": partial(jit, mode="PIJit")}


@dataclass(frozen=True)
class Raised:
    """An exception that left a call.

    Args:
        kind: name of its class.
        text: its text.
        by_program: whether a `raise` of the program made it.
        refused: whether it says that something cannot be compiled.
        lines: where, innermost last.
    """

    kind: str
    text: str
    by_program: bool
    refused: bool
    lines: tuple[str, ...] = ()


@dataclass
class Step:
    """What one call did.

    Args:
        label: which call.
        raised: the exception that left it.
        printed: its standard output.
        state: all objects after it.
    """

    label: str
    raised: Raised | None
    printed: str
    state: Any


@dataclass
class Run:
    """A program under one policy."""

    steps: list[Step] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    graphs: int = 0
    breaks: int = 0


@dataclass(frozen=True)
class Difference:
    """Where a compiled program did not do what the eager one did.

    Args:
        policy: how it was compiled.
        kind: internal error, leak, refused, exception, output, result, state.
        where: the call.
        text: what was found and what eager execution does.
        raised: the class of what the eager call raises.
    """

    policy: str
    kind: str
    where: str
    text: str
    raised: str = ""

    @property
    def sort(self) -> tuple[str, str, str]:
        """What stays while a program is made smaller."""
        found = re.search(r"raised (\w+)", self.text) or re.match(r"(\w+)", self.text)
        return self.kind, found[1] if found and self.kind == "internal error" else "", self.raised


class _Calls:
    """What `drive` gets: calls the program and notes what each call did."""

    def __init__(self, names: dict[str, Any], run: Run) -> None:
        self.names = names
        self.run = run
        self.given: list[Any] = []
        self.results: list[Any] = []

    def __call__(self, function: Callable[..., Any], *args: Any) -> None:
        self._note("call", args, lambda: function(*args))

    def gradient(self, function: Callable[..., Any], x: Any, y: Any, k: Any) -> None:
        """Differentiate a call with respect to its tensors and the parameters, outside of what is compiled."""
        weights = [self.names[name] for name in ("w", "u") if name in self.names]
        take = value_and_grad(lambda x, y: _total(function(x, y, k)), (0, 1), weights or None)
        self._note("gradient", (x, y, k), lambda: take(x, y))

    def _note(self, how: str, args: tuple[Any, ...], call: Callable[[], Any]) -> None:
        text = io.StringIO()
        raised = None
        self.given.append(list(args))
        with contextlib.redirect_stdout(text):
            try:
                self.results.append(call())
            except Exception as error:
                raised = _described(error, self.names["__file__"])
                self.results.append("raised")
        label = f"{how} {len(self.run.steps) + 1}"
        kept = {
            name: value
            for name, value in sorted(self.names.items())
            if (not name.startswith("__") and not callable(value)) or isinstance(value, nn.Cell)
        }
        objects = {k: v for k, v in kept.items() if not isinstance(v, (types.ModuleType, type))}
        state = Snapshot({**objects, "given": self.given, "results": self.results}).form
        self.run.steps.append(Step(label, raised, text.getvalue(), state))


def _total(result: Any) -> Any:
    """The sum of all floating tensors of a result, so that it can be differentiated."""
    found: list[Any] = []

    def visit(obj: Any) -> None:
        if isinstance(obj, Tensor) and "Float" in str(obj.dtype):
            found.append(obj.sum())
        elif isinstance(obj, (list, tuple)):
            for item in obj:
                visit(item)
        elif isinstance(obj, dict):
            for item in obj.values():
                visit(item)

    visit(result)
    return sum(found[1:], found[0]) if found else Tensor(0.0)


def _described(error: BaseException, file: str) -> Raised:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    by_program = last is not None and last.filename == file and "raise" in (last.line or "")
    lines = tuple(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-3:])
    return Raised(type(error).__name__, str(error), by_program, isinstance(error, Unsupported), lines)


@contextlib.contextmanager
def _traced(file: str, lines: set[int]) -> Iterator[None]:
    """Note which lines of a file run."""

    def local(frame: types.FrameType, event: str, argument: Any) -> Any:
        lines.add(frame.f_lineno)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: local if frame.f_code.co_filename == file else None)
    try:
        yield
    finally:
        sys.settrace(before)


def play(source: str, policy: str, traced: bool = False) -> Run:
    """Run a program.

    Args:
        source: the module.
        policy: "eager" or one of `POLICIES`.
        traced: whether to note the lines that run.
    """
    file = f"<random program {hash(source):x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    run = Run()
    names: dict[str, Any] = {"__name__": MODULE, "__file__": file}
    names["jit"] = POLICIES.get(policy, lambda function: function)
    try:
        exec(compile(source, file, "exec", dont_inherit=True), names)
        with Recorder() as recorder, _traced(file, run.lines) if traced else contextlib.nullcontext():
            names["drive"](_Calls(names, run))
        report = recorder.report()
        run.graphs, run.breaks = len(report.graphs), len(report.breaks)
    except Exception as error:
        run.steps.append(Step("drive", _described(error, file), "", {}))
    finally:
        del linecache.cache[file]
    return run


def differs(found: Run, expected: Run, policy: str) -> Difference | None:
    """The first difference of a compiled run from the eager one."""
    for one, other in zip(found.steps, expected.steps, strict=False):
        kind, text = _step_differs(one, other)
        if kind:
            return Difference(policy, kind, other.label, text, other.raised.kind if other.raised else "")
    if len(found.steps) != len(expected.steps):
        return Difference(policy, "exception", "drive", "the script ended elsewhere")
    return None


def _step_differs(found: Step, expected: Step) -> tuple[str, str]:
    one, other = found.raised, expected.raised
    if not _same_exception(one, other):
        wanted = f"eager {other.kind}: {other.text}" if other else "eager raises nothing"
        if one is None:
            return "exception", f"none, {wanted}"
        if one.refused:
            return "refused", f"{one.kind}: {one.text}; {wanted}"
        kind = "exception" if one.by_program or (other and other.kind == one.kind) else "internal error"
        return kind, f"{one.kind}: {one.text}; {wanted}"
    if not same_text(found.printed, expected.printed):
        return "output", f"{found.printed!r}, eager {expected.printed!r}"
    text = difference(found.state, expected.state)
    if not text:
        return "", ""
    return "leak" if UNREADABLE in text else "result" if text.startswith("results") else "state", text


def _same_exception(one: Raised | None, other: Raised | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.kind == other.kind and (one.refused or same_text(one.text, other.text))


@dataclass
class Checked:
    """A program under all policies."""

    eager: Run
    runs: dict[str, Run]
    differences: list[Difference]


def check(source: str, policies: tuple[str, ...] = tuple(POLICIES), traced: bool = False) -> Checked:
    """Compare compiled runs of a program with an eager one.

    Args:
        source: the module.
        policies: which to compare.
        traced: whether to note the lines that run eagerly.
    """
    eager = play(source, "eager", traced)
    runs = {policy: play(source, policy) for policy in policies}
    found = [differs(run, eager, policy) for policy, run in runs.items()]
    return Checked(eager, runs, [difference for difference in found if difference])
