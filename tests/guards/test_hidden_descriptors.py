"""Attributes that hide code of the program, keys that it compares, indices that it gives: run as often as in Python."""

from __future__ import annotations

import functools
import unittest.mock
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import weft
from weft import Tensor

Compiler = Callable[[Any], Any]


def _cached_property(compiler: Compiler) -> Any:
    class C:
        def __init__(self) -> None:
            self.n = 1

        @functools.cached_property
        def cached(self) -> int:
            self.n += 10
            return self.n

    obj, found = C(), []

    def f(x: Any, k: int) -> Any:
        obj.__dict__["n"] += 1
        y = x * obj.cached
        if k == 2:
            del obj.__dict__["cached"]
        return y

    function = compiler(f)
    for k in range(5):
        found.append((function(Tensor([1.0]), k).asnumpy().tolist(), dict(vars(obj))))
    return found


def _descriptor(compiler: Compiler) -> Any:
    class Counting:
        def __get__(self, obj: Any, kind: Any) -> Any:
            obj.n += 10
            return obj.n

    class C:
        q = Counting()

        def __init__(self) -> None:
            self.n = 1
            self.__dict__["q"] = 3

    obj, found = C(), []
    function = compiler(lambda x: x * obj.q)
    for k in range(4):
        found.append((function(Tensor([1.0])).asnumpy().tolist(), obj.n))
        if k == 1:
            del obj.__dict__["q"]
    return found


def _index(compiler: Compiler) -> Any:
    calls = []

    class Cursor:
        def __init__(self) -> None:
            self.value = 0

        def __index__(self) -> int:
            self.value += 1
            calls.append(self.value)
            return self.value

    cursor, items = Cursor(), [0] * 8

    def f(x: Any) -> Any:
        items[cursor] = 5
        return x + 1

    function = compiler(f)
    for _ in range(3):
        function(Tensor([1.0]))
    return items, calls


def _member(comes_later: bool) -> Callable[[Compiler], Any]:
    def scenario(compiler: Compiler) -> Any:
        compared: list[int] = []

        class K:
            def __init__(self, value: int) -> None:
                self.value, self.compared = value, compared

            def __eq__(self, other: object) -> bool:
                self.compared.append(self.value)
                return self.value == (other.value if isinstance(other, K) else other)

            def __hash__(self) -> int:
                return hash(self.value)

        members: set[Any] = {1, 2} if comes_later else {K(1), K(2)}

        def f(x: Any) -> Any:
            members.add(1)
            return x * len(members)

        function, found = compiler(f), []
        for k in range(4):
            found.append((function(Tensor([1.0])).item(), len(compared)))
            if comes_later and k == 1:
                members.clear()
                members.add(K(1))
        return found

    return scenario


SCENARIOS = {
    "cached property": _cached_property,
    "descriptor": _descriptor,
    "index": _index,
    "members of a set": _member(False),
    "members that come later": _member(True),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_runs_as_often_as_in_python(name: str) -> None:
    assert SCENARIOS[name](weft.jit) == SCENARIOS[name](lambda function: function)


def test_annotations_are_not_made() -> None:
    class Plain:
        pass

    class Read:
        pass

    kept = Plain()

    @weft.jit(mode="PIJit")
    def looked_up(x: Tensor) -> tuple[Any, ...]:
        made = Plain()
        return x * 2, getattr(made, "__annotations__", None), getattr(kept, "__annotations__", None)

    @weft.jit(mode="PIJit")
    def read(x: Tensor) -> tuple[Any, ...]:
        before = "__annotations__" in vars(Read)
        return x * 2, before, Read.__annotations__, "__annotations__" in vars(Read)

    for _ in range(2):
        assert looked_up(Tensor([1.0]))[1:] == (None, None)
    assert "__annotations__" not in vars(Plain)
    assert read(Tensor([1.0]))[1:] == (False, {}, True)
    assert read(Tensor([1.0]))[1:] == (True, {}, True)


class Node:
    def __init__(self) -> None:
        self.v = 1


class Lazy:
    """A proxy as programs write it."""

    def __init__(self, held: Any) -> None:
        self.__dict__["held"] = held

    @property
    def __class__(self) -> Any:
        return type(self.held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.held, name)


class Watched(Node):
    asked: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> Any:
        Watched.asked.append(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("proxy", [Lazy, weakref.proxy, unittest.mock.NonCallableMock])
@pytest.mark.parametrize("how", ["argument", "closure", "item"])
def test_what_says_that_it_is_of_another_class_is_left_to_python(proxy: Any, how: str) -> None:
    node = Node()
    stands = proxy(spec=node, v=1) if proxy is unittest.mock.NonCallableMock else proxy(node)
    held = [stands]

    @weft.jit(mode="PIJit")
    def program(x: Tensor, given: Any) -> Any:
        found = given if how == "argument" else stands if how == "closure" else held[0]
        return x * found.v, isinstance(found, Node)

    for v in (1, 2, 3):
        stands.v = node.v = v
        result, is_node = program(Tensor([1.0]), stands if how == "argument" else None)
        assert (result.asnumpy().tolist(), is_node) == ([v], True)


def test_guards_do_not_ask_the_program_for_a_class() -> None:
    watched = Watched()

    def program(x: Tensor, given: Any) -> Tensor:
        return x * given.v

    compiled = weft.jit(program, mode="PIJit")
    for v in (1, 2, 2, 3):
        watched.v = v
        asked = []
        for function in (program, compiled):
            Watched.asked.clear()
            assert function(Tensor([1.0]), watched).asnumpy().tolist() == [v]
            asked.append(list(Watched.asked))
        assert asked[0] == asked[1]
