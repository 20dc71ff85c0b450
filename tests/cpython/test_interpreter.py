"""What CPython's tests and random programs showed to be different once, as programs of their own."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cpython.test_pure_programs import outcome
from weft import jit


class Items:
    def __iter__(self) -> Any:
        yield from (1, 2)


def appended_iterable() -> Any:
    kept: list[Any] = []
    kept.append(Items())
    kept.extend(Items())
    return type(kept[0]).__name__, kept[1:]


def exhausted_iterator() -> Any:
    items = [1]
    it = iter(items)
    taken = list(it)
    items.append(2)
    return taken, list(it), next(it, "end")


def changed_dictionary() -> Any:
    d = {1: 1}
    for k in d:
        d[k + 1] = k
    return d


def late_values() -> Any:
    d = {1: 1, 2: 2}
    seen = []
    for k, v in d.items():
        d[2] = 7
        seen.append((k, v))
    return seen


def positional_only_name_as_keyword() -> Any:
    def f(a: Any = 1, /, **others: Any) -> Any:
        return a, others

    return f(a=2)


def context_of_replaced_error() -> Any:
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            [][1]  # noqa: PLE0643 - the error is the case
    except IndexError as error:
        return repr(error.__context__)


def reraise_in_callee() -> Any:
    def again() -> None:
        raise  # noqa: PLE0704 - called from a handler

    try:
        raise ValueError("first")
    except ValueError:
        again()


def throw_into_delegate() -> Any:
    def inner() -> Any:
        try:
            yield 1
        except ValueError:
            yield 2
        return 3

    def outer() -> Any:
        got = yield from inner()
        yield got

    g = outer()
    return next(g), g.throw(ValueError), next(g)


def comparison_of_subclass() -> Any:
    class A:
        def __lt__(self, other: Any) -> Any:
            return "A"

    class B(A):
        def __gt__(self, other: Any) -> Any:
            return "B"

    return A() < B()


def len_is_checked() -> Any:
    class Negative:
        def __len__(self) -> int:
            return -1  # noqa: PLE0303 - the error is the case

    return bool(Negative())


def bad_operands() -> Any:
    class Thing:
        pass

    return Thing() + 1


def counted_items() -> Any:
    return sorted(collections.Counter("abca").items())


def own_class_attribute() -> Any:
    class Odd:
        @property
        def __class__(self) -> Any:
            raise RuntimeError("looked at")

    odd = Odd()
    return [odd][0] is odd


def descriptor_below_instance() -> Any:
    class Plain:
        def __get__(self, obj: Any, kind: Any) -> Any:
            return "descriptor"

    class Holder:
        x = Plain()

    holder = Holder()
    first = holder.x
    holder.__dict__["x"] = "instance"
    return first, holder.x, Holder.x


def long_numbers() -> Any:
    long = 1 << 100_000
    d = {long: 1}
    made = json.loads("[1]")  # ends the graph
    d[long] += made[0]
    return long, d, -long, [long]


PROGRAMS = [
    appended_iterable, exhausted_iterator, changed_dictionary, late_values, positional_only_name_as_keyword,
    context_of_replaced_error, reraise_in_callee, throw_into_delegate, comparison_of_subclass, len_is_checked,
    bad_operands, counted_items, own_class_attribute, descriptor_below_instance, long_numbers,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program_does_what_python_does(program: Callable[[], Any]) -> None:
    wanted = outcome(program)
    jitted = jit(program, mode="PIJit")
    assert [outcome(jitted), outcome(jitted)] == [wanted, wanted]


def test_numbers_with_more_digits_than_python_writes_are_compared() -> None:
    held = {1 << 100_000: 1}

    @jit(mode="PIJit")
    def f(n: int) -> Any:
        return n + (1 << 50_000), n > 1 << 50_000, held.get(n), {n: n}

    for n in (1 << 100_000, (1 << 100_000) + 1, (1 << 100_000) + 2, 5):
        assert f(n) == (n + (1 << 50_000), n > 1 << 50_000, held.get(n), {n: n})


def test_iterator_from_outside_advances_once_a_call() -> None:
    it = iter([1, 2, 3])

    @jit
    def f() -> Any:
        return next(it)

    assert [f(), f()] == [1, 2]
    assert list(it) == [3]


def test_writes_through_library_code_are_replayed() -> None:
    counter: collections.Counter[str] = collections.Counter()

    @jit(mode="PIJit")
    def f() -> None:
        counter["a"] += 1
        counter["b"] = 5

    f()
    f()
    assert counter == {"a": 2, "b": 5}
