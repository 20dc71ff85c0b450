"""The programs of the matrix: operations of each kind, each with the operands that make sense for it."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import hashlib
import io
import signal
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tests.gate.functions import BUILTINS, EXCEPTIONS, LIBRARY, OPERATOR, SHAPES, UNKNOWN, counts_up
from tests.gate.methods import FOR_ARGUMENT, FOR_RECEIVER, INSTANCES, RECEIVERS, members
from tests.gate.operands import LARGE, PLAIN, RUN_TIME, VALUES, Operand, arrivals, outside, run_time
from tests.gate.programs import CALLS, NAMES, Operation, Program, World
from tests.gate.statements import BLOCKS, EXPRESSIONS

#: whether a pair of operation and kind of operand is wanted, of which one in so many is enough
Wanted = Callable[[str, str, int], bool]
#: seconds that a program may take eagerly
_LIMIT: Final = 2
#: operations that are asked in full: all kinds of operands, in several ways of arriving
_KINDS: Final = (*VALUES, *RUN_TIME)
#: kinds of which each function gets all, the others by turns
_ALWAYS: Final = {
    "int", "float", "str", "tuple", "list", "dict", "object", "array", "nested", "equal numbers",
    "run-time small int", "run-time float", "run-time bool", "branch int", "loop int", "size", "tensor",
}  # fmt: skip


def turn(*key: object) -> int:
    """A number that is the same in each run."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=4).digest(), "little")


def operand(kind: str, arrival: str = "argument") -> Operand:
    """The operand of a kind."""
    return run_time(kind) if kind in RUN_TIME else outside(kind, arrival)


class TooLong(BaseException):
    """An operation that takes too long in Python itself."""


def _too_long(*_: Any) -> None:
    raise TooLong


@functools.cache
def _operands(kind: str) -> list[Any]:
    """What `v`, `x` and `y` are in each eager call with a kind that the running graph knows."""
    program = Program(Operation("", "r = v, x, y"), run_time(kind))
    world = World(program)
    return [world.scope["f"](*world.arguments(call)[0])[0] for call in range(CALLS)]


@functools.cache
def _plain(call: int) -> tuple[Any, Any]:
    """Tensors `x` and `y` of a call with another operand."""
    x = eval(PLAIN[call], NAMES)
    return x, x * 2


@functools.lru_cache(200)
def _code(lines: str) -> types.CodeType | None:
    """The code of an operation, unless it breaks Python's rules."""
    text = "def f(v, x, y):\n" + textwrap.indent(lines, "    ")
    try:
        return compile(text, "<gate>", "exec")
    except SyntaxError:
        return None


def makes_sense(program: Program, kind: str) -> bool:
    """Whether Python does something with the operand: some call neither refuses it nor takes forever."""
    code = _code(program.lines)
    if code is None:
        return False
    scope = dict(NAMES)
    exec(code, scope)
    previous = signal.signal(signal.SIGALRM, _too_long)
    collects = gc.isenabled()
    gc.disable()  # what is raised in a callback of the collector is lost
    signal.alarm(_LIMIT)
    try:
        return any(_does_something(scope["f"], kind, call) for call in (1, 2, 0))
    except TooLong:
        return False
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        if collects:
            gc.enable()


def _does_something(function: Callable[..., Any], kind: str, call: int) -> bool:
    if kind in RUN_TIME:
        v, x, y = copy.deepcopy(_operands(kind)[call])
    else:
        v, (x, y) = eval(VALUES[kind][1][call], dict(NAMES)), _plain(call)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            function(v, x, y)
    except (TypeError, AttributeError, NameError):
        return False
    except Exception:
        pass
    return True


def usable(operation: str, kind: str) -> bool:
    """Whether an operation takes time that does not grow with the operand."""
    large = kind in LARGE or (kind in RUN_TIME and not RUN_TIME[kind][3])
    return not (large and counts_up(operation)) or "augmented" in operation


def fitting(name: str, shapes: Sequence[str], call: Callable[[str], str], kind: str, most: int) -> Iterator[Program]:
    """Programs for the argument lists that a callee takes, the likeliest ones."""
    found = 0
    if not usable(name, kind):
        return
    for shape in shapes:
        program = Program(Operation(name, f"r = {call(shape)}"), operand(kind))
        if makes_sense(program, kind):
            yield program
            found += 1
            if found == most:
                return


def arriving(program: Program, kind: str) -> Program:
    """A program whose operand arrives in another way, by turns."""
    ways = arrivals(kind)
    return Program(program.operation, operand(kind, ways[turn(program.name) % len(ways)]))


def with_arrivals(programs: Iterator[Program], kind: str) -> Iterator[Program]:
    """Each program, or the same with the operand from elsewhere."""
    for number, program in enumerate(programs):
        if kind in RUN_TIME or (number + turn(program.name)) % 3:
            yield program
        else:
            yield arriving(program, kind)


def of_functions(wanted: Wanted, names: Sequence[str], share: int, most: int = 2) -> Iterator[Program]:
    """Native functions, called with the operand; a share of the kinds that are not always asked."""
    for name in names:
        for kind in _KINDS:
            if wanted(f"{name}()", kind, 2 if kind in _ALWAYS else 2 * share):
                programs = fitting(f"{name}()", SHAPES, lambda shape, name=name: f"{name}({shape})", kind, most)
                yield from with_arrivals(programs, kind)


def of_receivers(wanted: Wanted) -> Iterator[Program]:
    """Methods of an operand, with constant arguments."""
    for cls, kinds in INSTANCES.items():
        for name in members(cls):
            for kind in kinds:
                label = f"{cls.__name__}.{name}"
                if not wanted(label, kind, 4 if name.startswith("__") and kind != kinds[0] else 1):
                    continue
                if not isinstance(getattr(cls, name), types.MemberDescriptorType | types.GetSetDescriptorType):
                    programs = fitting(label, FOR_RECEIVER, lambda shape, name=name: f"v.{name}({shape})", kind, 2)
                    yield from with_arrivals(programs, kind)
                elif makes_sense(program := Program(Operation(label, f"r = v.{name}"), operand(kind)), kind):
                    yield from with_arrivals(iter([program]), kind)


def of_method_arguments(wanted: Wanted) -> Iterator[Program]:
    """Methods of constants that get an operand, which is what they read besides."""
    for cls, receiver in RECEIVERS.items():
        for name in members(cls):
            if not callable(getattr(cls, name)):
                continue
            for kind in _KINDS:
                label = f"{cls.__name__}.{name}(v)"
                special = name.startswith("__")
                if wanted(label, kind, 8 if special else 2 if kind in _ALWAYS else 5):
                    template = "r = " + receiver + "\nr = r." + name
                    programs = fitting(label, FOR_ARGUMENT, lambda s, t=template: f"{t[4:]}({s}), r", kind, 1)
                    yield from with_arrivals(programs, kind)


def of_statements(wanted: Wanted) -> Iterator[Program]:
    """Expressions and statements, with every kind of operand."""
    operations = [Operation(text, f"r = {text}") for text in EXPRESSIONS]
    operations += [Operation(f"statement {name}", lines) for name, lines in BLOCKS.items()]
    for operation in operations:
        for kind in _KINDS:
            if wanted(operation.name, kind, 4 if kind in _ALWAYS else 8) and usable(operation.lines, kind):
                constant = turn(operation.name, kind) % 3
                chosen = Operation(operation.name, operation.lines, constant)
                program = Program(chosen, operand(kind))
                if makes_sense(program, kind):
                    yield from with_arrivals(iter([program]), kind)


SUBJECTS: Final[dict[str, Callable[[Wanted], Iterator[Program]]]] = {
    "statements": of_statements,
    "builtins": lambda wanted: of_functions(wanted, [*BUILTINS, *EXCEPTIONS], 2),
    "receivers": of_receivers,
    "method arguments": of_method_arguments,
    "operator": lambda wanted: of_functions(wanted, OPERATOR, 6, 1),
    "library": lambda wanted: of_functions(wanted, LIBRARY, 5, 1),
    "unknown": lambda wanted: of_functions(wanted, UNKNOWN, 6, 1),
}


def programs(subject: str, share: int = 1, which: int = 0, every_pair: bool = False, only: str = "") -> list[Program]:
    """The programs of a subject, each once.

    Args:
        subject: one of `SUBJECTS`.
        share: keep one pair of operation and kind of operand in this many.
        which: the number of the share.
        every_pair: whether all pairs are wanted, also where one in a few is enough.
        only: what the text ``operation | kind`` contains.
    """

    def wanted(operation: str, kind: str, enough: int) -> bool:
        if only not in f"{operation} | {kind}" or turn("share", operation, kind) % share != which:
            return False
        return every_pair or turn("enough", operation, kind) % enough == 0

    found = {}
    for program in SUBJECTS[subject](wanted):
        found.setdefault(program.source + program.operand.name, program)
    return list(found.values())
