"""Programs that hand objects to native code, which CPython's tests showed to be different once."""

from __future__ import annotations

import collections
import functools
import itertools
import json
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cpython.test_pure_programs import check_program
from weft.jit import jit


def divided_iterator() -> Any:
    a, b = itertools.tee([1, 2, 3])
    next(b)
    c, d = itertools.tee(b)
    return list(a), (c is b) == (itertools.tee(b)[0] is b), list(d), list(type(a)(c))


def native_object_that_holds_a_closure() -> Any:
    def compare(x: Any, y: Any) -> Any:
        calls.append((x, y))
        return x - y

    calls: list[Any] = []
    key = functools.cmp_to_key(compare)
    items = [2, 1]
    random.Random(1).random()
    items.sort(key=key)
    return items, calls


def group_of_made_keys() -> Any:
    class Key:
        def __init__(self, value: Any) -> None:
            pass

        def __eq__(self, other: Any) -> Any:
            nonlocal compared
            compared += 1
            return True

        __hash__ = None  # type: ignore[assignment]

    compared = 0
    group = next(itertools.groupby(range(3), Key))[1]
    return list(group), compared


def group_that_is_needed_later() -> Any:
    group = next(itertools.groupby("aab"))[1]
    random.Random(1).random()
    return list(group)


def arrays_of_native_calls() -> Any:
    made = [np.zeros(2), json.loads("[[1]]")]
    kept, made[0][0] = str(made), random.Random(1).random()
    made[1][0].append(2)
    return kept, made[1]


class Noisy:
    """What tells of each time that it is compared or hashed."""

    def __init__(self, told: list[Any], value: int) -> None:
        self.told, self.value = told, value

    def __eq__(self, other: Any) -> Any:
        self.told.append(("==", self.value, other.value))
        return self.value == other.value

    def __lt__(self, other: Any) -> Any:
        self.told.append(("<", self.value, other.value))
        return self.value < other.value

    def __hash__(self) -> int:
        self.told.append(("hash", self.value))
        return self.value % 2


def comparisons_that_write() -> Any:
    told: list[Any] = []
    a, b, c = [Noisy(told, value) for value in (1, 3, 2)]
    table = {a: 1, b: 2}
    table[c] = table[a]
    found = {a, b} & {b, c}, sorted([c, b, a]), b in [a, b], [a, c].index(c), (a, b) < (a, c)
    del table[b]
    return told, len(found[0]), len(table)


def comparison_that_empties_its_set() -> Any:
    class Emptying:
        def __eq__(self, other: Any) -> Any:
            items.clear()
            return False

        def __hash__(self) -> int:
            return 1

    items: set[Any] = set()
    items.add(Emptying())
    return items == {Emptying()}, len(items)


def comparison_by_a_variable() -> Any:
    answer = True

    class Bound:
        def __eq__(self, other: Any) -> Any:
            return answer

        __hash__ = None  # type: ignore[assignment]

    found = []
    for answer in (True, False):  # noqa: B007 - the class reads it
        random.Random(1).random()
        found.append(1 in [Bound()])
    return found


def order_that_misses_items() -> Any:
    table = collections.OrderedDict(a=1, b=2)
    dict.__delitem__(table, "a")
    try:
        return repr(table)
    except KeyError as error:
        return str(error), len(table), list(dict.items(table))


def coroutine_that_is_driven() -> Any:
    async def answer() -> int:
        return 1

    waiting = answer()
    try:
        waiting.send(None)
    except StopIteration as stop:
        return stop.value


def traced_lines() -> Any:
    def traced() -> int:
        value = 1
        return value

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if event == "line" and frame.f_code is traced.__code__:
            lines.append(frame.f_lineno - traced.__code__.co_firstlineno)
        return trace

    lines: list[int] = []
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        traced()
    finally:
        sys.settrace(before)
    return lines


def long_range() -> Any:
    items = iter(range(1 << 100))
    return type(items).__name__, next(items), next(items)


def module_by_metaclass() -> Any:
    class Meta(type):
        @property
        def __module__(cls) -> Any:  # type: ignore[override]
            raise ZeroDivisionError

    made = Meta("Made", (), {})()
    return type(type(made)) is Meta, [made][0] is made


def generator_for_await() -> Any:
    def generate() -> Any:
        yield 1

    made = generate()

    @types.coroutine
    def wrapped() -> Any:
        return made

    return wrapped().__await__() is made, next(made)


PROGRAMS = [
    divided_iterator, native_object_that_holds_a_closure, group_of_made_keys, arrays_of_native_calls,
    group_that_is_needed_later,
    comparisons_that_write, comparison_that_empties_its_set, comparison_by_a_variable, order_that_misses_items,
    coroutine_that_is_driven, traced_lines, long_range, module_by_metaclass, generator_for_await,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program_does_what_python_does(program: Callable[[], Any]) -> None:
    check_program(program)


def test_profiler_goes_on_while_native_code_compares() -> None:
    seen = []
    told: list[Any] = []

    def watch(frame: types.FrameType, event: str, argument: Any) -> None:
        seen.append(event)

    jitted = jit(lambda value: value in [Noisy(told, 1), Noisy(told, 2)], mode="PIJit")
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        found = jitted(Noisy(told, 2))
        assert sys.getprofile() is watch
    finally:
        sys.setprofile(before)
    assert found
    assert told == [("==", 1, 2), ("==", 2, 2)]
    assert seen
