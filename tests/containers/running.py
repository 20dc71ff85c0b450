"""Which calls make sense, and how the programs of a subject are run and counted."""

from __future__ import annotations

import contextlib
import functools
import io
import signal
import textwrap
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tests.containers import prelude
from tests.containers.operands import operand, watches_outside
from tests.gate.matrix import TooLong, turn
from tests.gate.operands import Operand
from tests.gate.programs import GUARDED, NAMES, POLICIES, Operation, Program
from tests.gate.report import Report
from tests.gate.running import run

#: what stands in each program's module
SETUP: Final = "from tests.containers.prelude import *"
#: the same names where it is tried which calls make sense
_NAMES: Final = {**NAMES, **{name: getattr(prelude, name) for name in prelude.__all__}}
#: of each subject one program in so many, in a quick round
SAMPLE: Final = {
    "methods of sequences": 32,
    "methods of dictionaries": 32,
    "methods of arrays": 64,
    "methods of NumPy's numbers": 64,
    "methods of sets, objects, views, texts and numbers": 48,
    "operators and statements": 48,
    "two containers": 20,
    "builtins": 12,
    "exceptions": 20,
    "attributes": 8,
    "writes on sides of branches": 12,
    "arrays, results, named operators": 12,
}
#: seconds that a call may take in Python
_LIMIT: Final = 2


def program(name: str, lines: str, value: Operand, setup: str = "") -> Program:
    """A program that does something with an operand."""
    return Program(Operation(name, lines), value, "\n".join(filter(None, (SETUP, setup))))


@functools.lru_cache(5000)
def _code(lines: str) -> types.CodeType | None:
    try:
        return compile("def f(v, x, y):\n" + textwrap.indent(lines, "    "), "<containers>", "exec")
    except SyntaxError:
        return None


@functools.lru_cache(500)
def _function(code: types.CodeType) -> Callable[..., Any]:
    scope = dict(_NAMES)
    exec(code, scope)
    return scope["f"]


@functools.cache
def _tensors(text: str) -> tuple[Any, Any]:
    x = eval(text, _NAMES)
    return x, x * 2


def _too_long(*_: Any) -> None:
    raise TooLong


def makes_sense(lines: str, kind: str, inside: str) -> bool:
    """Whether Python does something in the first call: it does not say that this cannot be."""
    code = _code(lines)
    if code is None:
        return False
    value = operand(kind, inside, "made")
    x, y = _tensors(value.tensors[0])
    (text,) = value.code
    scope = dict(_NAMES)
    exec(text, scope | {}, local := {"x": x, "y": y})
    previous = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_LIMIT)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _function(code)(local["v"], x, y)
    except (TypeError, AttributeError, NameError, TooLong):
        return False
    except Exception:
        pass
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return True


def by_turns(options: Iterable[str], *key: object) -> str:
    """One of the options, the same one in each run."""
    found = list(options)
    return found[turn(*key) % len(found)]


def policies_of(value: Program) -> tuple[str, ...]:
    """The policies under which a program does what Python does: without guards, what is outside is constant."""
    name = value.operand.name
    way = name.rpartition("(")[2].removesuffix(")") if name.endswith(")") else "made"
    return GUARDED if watches_outside(way) or value.operand.before else tuple(POLICIES)


def outcomes(programs: Iterable[Program]) -> Iterator[dict[str, Any]]:
    """Run programs one after the other; those that do not repeat themselves in Python are left out."""
    for each in programs:
        outcome = run(each, policies_of(each))
        if outcome["compared"]:
            yield outcome


def report(programs: Iterable[Program]) -> Report:
    """What the programs of a subject do."""
    return Report(outcomes(programs))
