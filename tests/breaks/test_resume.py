"""Resume functions: calls that capture begins and Python ends, from every kind of place."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.cpython.pure_programs import pure_program
from tests.helpers.outcomes import outcome
from tests.helpers.sources import function_of
from weft import jit, jit_disable
from weft.capture import attempt
from weft.capture.leaving import suspension
from weft.capture.leaving.rest import rest_of_frame
from weft.capture.machine import interpreter
from weft.errors import Refusal, Unsupported


class Leaving:
    """Stands for the end of a graph: all frames of the call go on in Python at once, without a step in between."""

    def __init__(self, owner: Any, shapes: Any, resumed: list[str], patch: pytest.MonkeyPatch) -> None:
        self.continuation = suspension.continuation_at(owner, shapes)
        self.shapes, self.site = shapes, None
        self.resumed = resumed
        self.patch = patch

    def go_on(self, values: tuple[Any, ...]) -> Any:
        """What `BreakPoint.go_on` does."""
        inner = self.continuation.shapes[-1]
        run = rest_of_frame(self.continuation)
        if run is None:
            return self.continuation.entries.call(values)
        self.patch.setattr(suspension, "IDLE_CAPTURES", 0)
        self.resumed.append(inner.decoded.instrs[inner.pc].name + " handling" * inner.handling)
        return run(values)


@contextlib.contextmanager
def ending_before(step: int, after: int = 0) -> Iterator[list[str]]:
    """A capture ends before a step, and Python goes on there; gives the instruction at which it did.

    Args:
        step: the number of the step.
        after: how many breaks are run before.
    """
    patch = pytest.MonkeyPatch()
    original, end, generate = interpreter.bind_handler, suspension.BreakPoint, suspension.BreakPoint._generate
    resumed: list[str] = []
    forced_at: list[int] = []
    broken: list[Any] = []

    def bind_handler(decoded: Any, pc: int) -> Any:
        handler = original(decoded, pc)

        def forced(interp: Any, frame: Any, instr: Any) -> Any:
            # what the capture itself raises has no traceback, so nothing could be compared
            ready = not interp.inside_step and not interp.raised and not forced_at
            if ready and interp.steps - 1 == step and len(broken) == after:
                forced_at.append(pc)
                raise Unsupported(Refusal.FORCED, "a test asks for a break here")
            return handler(interp, frame, instr)

        decoded.instrs[pc].handler = forced
        return forced

    def counted(point: Any, values: Any) -> Any:
        broken.append(point)
        return generate(point)(values)

    def break_point(owner: Any, shapes: Any, site: Any, *rest: Any) -> Any:
        forced = site is not None and site.kind == Refusal.FORCED.value
        return Leaving(owner, shapes, resumed, patch) if forced else end(owner, shapes, site, *rest)

    patch.setattr(interpreter, "bind_handler", bind_handler)
    patch.setattr(suspension.BreakPoint, "_generate", lambda point: lambda values: counted(point, values))
    patch.setattr(attempt, "BreakPoint", break_point)
    try:
        yield resumed
    finally:
        patch.undo()


def made(source: str) -> types.FunctionType:
    """The function `f` of a source text, whose function `fails` is never captured."""
    function = function_of(source)
    if "fails" in function.__globals__:
        function.__globals__["fails"] = jit_disable(function.__globals__["fails"])
    return function


def check(source: str, step: int, after: int, *args: Any) -> list[str]:
    """Compare a program with itself where Python goes on before a step; returns where it did."""
    function = made(source)
    wanted = outcome(lambda: function(*args))
    other = jit(made(source))
    with ending_before(step, after) as resumed:
        found = outcome(lambda: other(*args))
    if resumed:  # else this is another test's subject
        assert found == wanted, f"before step {step} after {after}: {resumed}"
    return list(resumed)


PROGRAMS = {
    "calls": """
def add(a, b, *, k=1):
    return a + b + k
def f(a, b):
    return add(add(a, b, k=2), add(b, [a][0]), k=len(str(a))), max(a, b), "{} {x}".format(a, x=b), (
        add(*[a, b], **{"k": 3}))
""",
    "loops": """
def f(a, b):
    found = []
    for i in range(3):
        for j, k in enumerate("abc"):
            if j > i:
                continue
            found.append((i, k, a))
    else:
        found.append(b)
    while a < 5:
        a += 1
        if a == 4:
            break
    return found, a
""",
    "handlers": """
def fails(kind, *args):
    raise kind(*args)
def f(a, b):
    log = []
    try:
        try:
            log.append(a)
            fails(KeyError, a)
        except KeyError as e:
            log.append(str(e))
            try:
                fails(ValueError, b)
            except ValueError as inner:
                log.append(repr(inner.__context__))
            log.append(b)
            fails(TypeError, "second")
        finally:
            log.append("finally")
            print(log)
    except TypeError as last:
        return log, repr(last.__context__)
""",
    "raising": """
def fails(kind, *args):
    raise kind(*args)
def inner(a):
    try:
        return fails(IndexError, a)
    finally:
        print("leaving", a)
def middle(a):
    try:
        inner(a)
    except (KeyError, IndexError) as e:
        print("middle", repr(e))
        raise ValueError("middle") from e
def f(a, b):
    try:
        middle(a)
    except ValueError:
        print("again", b)
        if b:
            print(len("more"))
            raise
""",
    "handling_caller": """
def fails(kind, *args):
    raise kind(*args)
import sys
def inner(a):
    try:
        fails(IndexError, a)
    except IndexError:
        print(a, repr(sys.exception()))
    print(repr(sys.exception()))
    return a
def f(a, b):
    try:
        fails(ValueError, a)
    except ValueError as e:
        got = inner(b)
        print(repr(sys.exception()))
        try:
            {}[got]
        except KeyError as second:
            return repr(second.__context__), got
""",
    "with": """
def fails(kind, *args):
    raise kind(*args)
class Manager:
    def __init__(self, name, swallow): self.name, self.swallow = name, swallow
    def __enter__(self): print("enter", self.name); return self
    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind, value)
        return self.swallow
def f(a, b):
    with Manager("outer", True) as m, Manager("inner", False):
        print(m.name, a)
        fails(KeyError, b)
    with Manager("last", False):
        return a + b
""",
    "closures": """
def f(a, b):
    total = 0
    def grow(by, *, times=2):
        nonlocal total, a
        for _ in range(times):
            total += by
        a = a * 2
        return total
    values = [grow(i) + b for i in (1, 2)]
    grow(5, times=1)
    return total, a, values, [x for x in values if (lambda: x)() > 2], {k: a for k in "xy"}
""",
    "hidden": """
def f(a, b):
    x = 5
    found = [x + a for x in range(2) if str(x)]
    del x
    more = [x * b for x in range(2) for y in [x + 1]]
    try:
        return x, found, more
    except UnboundLocalError as e:
        return str(e), found, more
""",
    "classes": """
class Base:
    def value(self, more): return more + 1
class Derived(Base):
    def value(self, more):
        got = super().value(more * 2)
        return [got, self.__class__.__name__]
def f(a, b, *rest, flag=True, **named):
    return Derived().value(a), Derived().value(b), rest, flag, named
""",
    "match": """
def f(a, b):
    match [a, {"k": b}, "s"]:
        case [int(x), {"k": y, **others}, str() as z] if x < 3:
            return x, y, z, others
        case _:
            return "none"
""",
    "groups": """
def fails(kind, *args):
    raise kind(*args)
def f(a, b):
    log = []
    try:
        try:
            fails(ExceptionGroup, "g", [KeyError(a), ValueError(b), TypeError(3)])
        except* KeyError as e:
            log.append(str(e.exceptions))
        except* ValueError as e:
            log.append(len(log))
            raise
    except ExceptionGroup as e:
        log.append([repr(x) for x in e.exceptions])
    return log
""",
    "conditions": """
class Odd:
    def __init__(self, truth): self.truth = truth
    def __bool__(self): return self.truth
    def __eq__(self, other): return Odd(False)
    def __lt__(self, other): return Odd(True)
def f(a, b):
    log = []
    if Odd(a) == b: log.append(1)
    if Odd(a) < b and not Odd(False): log.append(2)
    log.append(a and b or None)
    log.append(1 < a < 5)
    log.append(2 if a is None else f"{a!r:>5}{b}")
    return log
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_place(name: str) -> None:
    source, resumed = PROGRAMS[name], set()
    for after in range(source.count("fails(") or 1):
        missed = 0
        for step in range(300):
            here = check(source, step, after, 1, 2)
            missed = 0 if here else missed + 1
            resumed.update(here)
            if missed > 20:
                break
    assert len(resumed) >= 10
    if "fails" in source:
        assert sum("handling" in place for place in resumed) >= 3


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 100), st.integers(0, 3))
def test_random_programs(seed: int, step: int, after: int) -> None:
    source = pure_program(Random(seed))
    note(source)
    check(source, step, after, 1, 2)
