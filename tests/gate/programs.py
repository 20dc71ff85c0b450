"""Programs of the matrix: one operation on one operand, run four times eagerly and compiled."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.gate import prelude
from tests.gate.frozen import Frozen, difference
from tests.gate.operands import CONSTANTS, Operand
from weft.jit import jit

CALLS: Final = 4
#: policies of the compiled side, as arguments of `jit`
POLICIES: Final[dict[str, dict[str, Any]]] = {"auto": {}, "PIJit": {"mode": "PIJit"}, "PSJit": {"mode": "PSJit"}}
#: those that see at each call what changed outside
GUARDED: Final = ("auto", "PIJit")
NAMES: Final = {name: value for name, value in vars(prelude).items() if not name.startswith("__")}
_CONSTANT: Final = re.compile(r"\bC\b")


@dataclass(frozen=True)
class Operation:
    """Something that takes a value.

    Attributes:
        name: what reports call it.
        lines: statements that bind `r`, in which C stands for a constant beside the operand `v`.
        constant: which of the constants of the operand's family C is.
    """

    name: str
    lines: str
    constant: int = 0


@dataclass(frozen=True)
class Program:
    """An operation on an operand.

    Attributes:
        operation: what is done.
        operand: the value `v` and the tensor `x`.
        setup: text of the module before the function: classes and objects of the program's own.
    """

    operation: Operation
    operand: Operand
    setup: str = ""

    @property
    def name(self) -> str:
        """Operation and operand."""
        return f"{self.operation.name} | {self.operand.name}"

    @property
    def lines(self) -> str:
        """The statements of the operation, the constant filled in."""
        constants = CONSTANTS[self.operand.family]
        constant = constants[min(self.operation.constant, len(constants) - 1)]
        return _CONSTANT.sub(lambda _: constant, self.operation.lines)

    @property
    def source(self) -> str:
        """Text of the module that defines the function `f`."""
        operand, lines = self.operand, self.lines
        own = ["y = x * 2", *operand.code, *lines.split("\n"), "return r, y + 1"]
        parameters = ", ".join(filter(None, ("x", operand.arguments)))
        text = [f"def f({parameters}):", *(f"    {line}" for line in own)]
        if "cell" in "".join(operand.code):
            text = [
                "def make():",
                "    cell = None",
                "    def CELL(value):",
                "        nonlocal cell",
                "        cell = value",
                *(f"    {line}" for line in text),
                "    return f, CELL",
                "f, CELL = make()",
            ]
        return "\n".join([*filter(None, [self.setup]), *text, ""])


class World:
    """A program's module, as one of the modes sees it."""

    def __init__(self, program: Program) -> None:
        source = program.source
        self.program = program
        self.file = f"<gate {program.name}>"
        linecache.cache[self.file] = (len(source), None, source.splitlines(True), self.file)
        self.scope: dict[str, Any] = {**NAMES, "__name__": "gate", "O": prelude.P(), "KEPT": {}}
        self.scope["KEEP"] = self.keep
        exec(compile("def given(v=None):\n    return v\n", "<gate>", "exec"), self.scope)
        exec(compile(source, self.file, "exec"), self.scope)

    def keep(self, value: Any) -> None:
        """Give the object that is passed in each call the contents of a new one."""
        kept = self.scope["KEPT"].setdefault(type(value), value)
        if kept is value:
            return
        if isinstance(value, dict | set):
            kept.clear()
            kept.update(value)
        elif isinstance(value, prelude.collections.deque):
            kept.clear()
            kept.extend(value)
        elif isinstance(value, prelude.np.ndarray | list | bytearray):
            kept[:] = value
        else:
            for name in getattr(value, "__slots__", vars(value) if hasattr(value, "__dict__") else ()):
                setattr(kept, name, getattr(value, name))

    def arguments(self, call: int) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of one call, made anew; what is not passed is put in its place."""
        operand = self.program.operand
        args = [eval(operand.tensors[call], self.scope)]
        if not operand.values:
            return args, {}
        value = eval(operand.values[call], self.scope)
        if operand.before:
            exec(operand.before, self.scope, {"value": value})
        if not operand.passed:
            return args, {}
        scope = {**self.scope, "value": value}
        given, named = eval(f"(lambda *args, **named: (args, named))({operand.passed})", scope)
        return [*args, *given], named

    def call(self, function: Callable[..., Any], call: int) -> tuple[Frozen, str]:
        """What a call leaves behind, and the frames of what it raised."""
        args, named = self.arguments(call)
        printed = io.StringIO()
        error: BaseException | None = None
        result: Any = None
        where = ""
        with contextlib.redirect_stdout(printed):
            try:
                result = function(*args, **named)
            except Exception as raised:
                error = raised
                where = frames(raised)
                error.__traceback__ = None
        outside = [args, named, self.scope.get("G"), vars(self.scope["O"]), self.scope["KEPT"], self.scope.get("W")]
        return Frozen(result, error, printed.getvalue(), outside), where


def frames(error: BaseException) -> str:
    """The last frames of a traceback."""
    found = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        found.append(f"{code.co_filename.rpartition('/')[2]}:{step.tb_lineno} {code.co_name}")
        step = step.tb_next
    return " < ".join(reversed(found[-4:]))


@dataclass
class Finding:
    """A call whose compiled outcome differs from the eager one."""

    operation: str
    operand: str
    policy: str
    call: int
    symptom: str
    text: str
    where: str
    source: str


class TooSlow(BaseException):
    """A program that does not come to an end."""


def eager_calls(program: Program) -> list[tuple[Frozen, str]]:
    """The outcomes of the calls in Python."""
    world = World(program)
    return [world.call(world.scope["f"], number) for number in range(CALLS)]


def check(program: Program, policies: Sequence[str] = GUARDED) -> list[Finding] | None:
    """Where a program differs under some policy, the first call under each; None if it does not repeat itself."""
    try:
        wanted, again = eager_calls(program), eager_calls(program)
    except TooSlow:
        return None  # nor does it in Python
    if any(difference(one, other)[0] for (one, _), (other, _) in zip(wanted, again, strict=True)):
        return None  # what it gives depends on addresses or the clock
    found = []
    for policy in policies:
        world = World(program)
        function = jit(world.scope["f"], **POLICIES[policy])
        for number in range(CALLS):
            got, where = world.call(function, number)
            symptom, text = difference(got, wanted[number][0])
            changed = symptom in ("value", "type", "exception")
            if changed and any(got.answer == old.answer for old, _ in wanted[:number]):
                symptom = "stale"
            if symptom == "exception" and is_internal(got.error, wanted[number][0].error):
                symptom = "internal error"
            if symptom:
                arguments = (program.operation.name, program.operand.name, policy, number)
                found.append(Finding(*arguments, symptom, text, where, program.source))
                break
    return found


def is_internal(got: BaseException | None, wanted: BaseException | None) -> bool:
    """Whether an exception is of the framework's making, and not what Python raises there."""
    if got is None:
        return False
    own = type(got).__module__.partition(".")[0] in ("weft", "jax", "jaxlib")
    words = ("internal", "symbolic", "Traced", "generated", "graph takes")
    return own or (type(got) is not type(wanted) and any(word in str(got) for word in words))
