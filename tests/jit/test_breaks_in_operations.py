"""Breaks in functions of the user's that are not called by name: constructors, properties, items, `with` statements."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor


@weft.jit_disable
def in_python(value: Any) -> Any:
    return value


class Pair:
    """Every operation on it has a break in its middle."""

    def __init__(self, x: Any) -> None:
        self.first = x * 2
        in_python("init")
        self.second = x + self.first

    @property
    def total(self) -> Any:
        total = self.first + self.second
        in_python("getter")
        return total * 2

    @total.setter
    def total(self, value: Any) -> None:
        self.first = value * 2
        in_python("setter")
        self.second = value + 1

    @total.deleter
    def total(self) -> None:
        self.first = self.first * 5
        in_python("deleter")
        self.second = self.first + 1

    @property
    def adder(self) -> Callable[[Any], Any]:
        first = self.first * 2
        in_python("method")
        return lambda value: value + first

    def __getitem__(self, key: Any) -> Any:
        value = self.first + (key if isinstance(key, int) else key.stop)
        in_python("item")
        return value * 3

    def __setitem__(self, key: Any, value: Any) -> None:
        self.first = value + (key if isinstance(key, int) else key.stop)
        in_python("set item")
        self.second = value * 2

    def __delitem__(self, key: int) -> None:
        self.first = self.first * key
        in_python("del item")
        self.second = self.first - 1

    def __enter__(self) -> Any:
        self.first = self.first * 2
        in_python("enter")
        return self.first + 1

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.second = self.second * 2
        in_python("exit")
        self.first = self.first + 1
        return kind is ValueError


class Child(Pair):
    """A constructor that calls another one, and may fail."""

    def __init__(self, x: Any, fails: bool = False) -> None:
        super().__init__(x)
        self.third = x * 3
        if fails:
            raise ValueError("it fails")
        in_python("child")
        self.third = self.third + 1


class Watched:
    """Its attributes are set by a method."""

    def __setattr__(self, name: str, value: Any) -> None:
        value = value * 2
        in_python("setattr")
        object.__setattr__(self, name, value + 1)

    def __delattr__(self, name: str) -> None:
        in_python("delattr")
        object.__delattr__(self, name)


class Wrong:
    """A constructor that returns something."""

    def __init__(self, x: Any) -> None:
        self.x = x * 2
        in_python("wrong")
        return 1  # type: ignore[return-value] # noqa: PLE0101


def constructor(x: Any) -> Any:
    pair = Pair(x + 1)
    return pair.first * 2, pair.second


def constructor_of_a_child(x: Any) -> Any:
    made = [Child(x), 1]
    return made[0].third, made[0].first, made[0].second


def constructor_in_an_expression(x: Any) -> Any:
    return x * 2 + Pair(x).second * Pair(x + 1).first


def property_read(x: Any) -> Any:
    pair = Pair(x)
    return x + pair.total * 2


def property_written(x: Any) -> Any:
    pair = Pair(x)
    pair.total = x * 3
    return pair.first, pair.second


def property_deleted(x: Any) -> Any:
    pair = Pair(x)
    del pair.total
    return pair.first, pair.second


def property_called(x: Any) -> Any:
    pair = Pair(x)
    return pair.adder(x) * 2


def item_read(x: Any) -> Any:
    pair = Pair(x)
    return pair[3] + pair[1:2]


def item_written(x: Any) -> Any:
    pair = Pair(x)
    pair[3] = x * 2
    pair[0:4] = pair.first * x
    return pair.first, pair.second


def item_deleted(x: Any) -> Any:
    pair = Pair(x)
    del pair[3]
    return pair.first, pair.second


def with_statement(x: Any) -> Any:
    pair = Pair(x)
    with pair as value:
        x = x + value
    return x, pair.first, pair.second


def exception_in_a_with_statement(x: Any) -> Any:
    pair = Pair(x)
    with pair as value:
        x = x + value
        raise ValueError("it fails")
    return x, pair.first, pair.second


def exception_in_a_constructor(x: Any) -> Any:
    try:
        Child(x, True)
    except ValueError as error:
        x = x + len(str(error))
    return x


def attributes_set_by_a_method(x: Any) -> Any:
    watched = Watched()
    watched.x = x * 2
    watched.y = watched.x + 1
    del watched.x
    return watched.y, hasattr(watched, "x")


def in_a_loop(x: Any) -> Any:
    pairs = []
    for number in range(3):
        pairs.append(Pair(x + number))
        x = pairs[-1].total - pairs[number // 2][number]
    return x


def raises_by_a_tensor(x: Any) -> Any:
    class Checked:
        def __init__(self, value: Any) -> None:
            if value.sum() > 100:
                raise ValueError("too large")
            self.value = value * 2

    try:
        return Checked(x).value
    except ValueError:
        return x


PROGRAMS = [
    constructor, constructor_of_a_child, constructor_in_an_expression, property_read, property_written,
    property_deleted, property_called, item_read, item_written, item_deleted, with_statement,
    exception_in_a_with_statement, exception_in_a_constructor, attributes_set_by_a_method, in_a_loop,
    raises_by_a_tensor,
]  # fmt: skip


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.asnumpy() if isinstance(value, Tensor) else value]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_are_those_of_python(program: Callable[..., Any]) -> None:
    compiled = weft.jit(program)
    for values in ([1.0, 2.0], [3.0, 4.0], [50.0, 60.0]):
        wanted, got = leaves(program(Tensor(values))), leaves(compiled(Tensor(values)))
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("program", "called"),
    [
        (constructor, {"init": 1}),
        (constructor_of_a_child, {"init": 1, "child": 1}),
        (property_read, {"init": 1, "getter": 1}),
        (property_written, {"init": 1, "setter": 1}),
        (property_called, {"init": 1, "method": 1}),
        (item_read, {"init": 1, "item": 2}),
        (item_deleted, {"init": 1, "del item": 1}),
        (with_statement, {"init": 1, "enter": 1, "exit": 1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_only_the_call_itself_runs_in_python(program: Callable[..., Any], called: dict[str, int]) -> None:
    compiled = weft.jit(program)
    compiled(Tensor([1.0, 2.0]))
    lines, _ = inspect.findsource(inspect.getmodule(program))  # type: ignore[arg-type]
    found = {}
    for broken in compiled.report().breaks:
        line = lines[broken.site.location.line - 1]
        assert broken.site.kind == "disabled"
        found[line.split('"')[1]] = broken.count
    assert found == called


def test_a_constructor_that_returns_something() -> None:
    for compiled in (Wrong, weft.jit(lambda x: Wrong(x).x)):
        with pytest.raises(TypeError, match=r"__init__\(\) should return None, not 'int'"):
            compiled(Tensor([1.0]))


def test_the_object_is_the_same_before_and_after() -> None:
    seen = []

    @weft.jit_disable
    def note(value: Any) -> None:
        seen.append(value)

    class Noted:
        def __init__(self, x: Any) -> None:
            self.x = x * 2
            note(self)
            self.x = self.x + 1

    def program(x: Any) -> Any:
        return Noted(x)

    made = weft.jit(program)(Tensor([1.0]))
    assert seen == [made]
    np.testing.assert_array_equal(made.x.asnumpy(), [3.0])
