"""What an object made by the call has from its class is guarded like what an outside object has.

Each program makes a world of its own and returns a function and edits of that world; the function is called before
and after each edit, plainly and compiled.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor, nn

X = Tensor([1.0])
World = tuple[Callable[[Tensor], Any], list[Callable[[], Any]]]


def setting(owner: Any, name: str, *values: Any) -> list[Callable[[], Any]]:
    return [lambda value=value: setattr(owner, name, value) for value in values]  # type: ignore[misc]


def a_number() -> World:
    class Config:
        rate = 1.0

    return lambda x: x * Config().rate, [*setting(Config, "rate", 5.0, 6.0, 7.0), lambda: delattr(Config, "rate")]


def a_list_that_init_fills() -> World:
    class Run:
        seen: list[int] = []

        def __init__(self) -> None:
            self.seen.append(1)

    return lambda x: x * len(Run().seen), [Run.seen.clear]


def a_cell() -> World:
    class Layer(nn.Cell):
        k = 1.0

        def construct(self, x: Tensor) -> Tensor:
            return x * self.k

    return lambda x: Layer()(x), [*setting(Layer, "k", 5.0), *setting(Layer, "construct", lambda self, x: x - 1)]


def methods() -> World:
    class A:
        def plain(self, x: Tensor) -> Tensor:
            return x + 1

        @staticmethod
        def static(x: Tensor) -> Tensor:
            return x * 2

        @classmethod
        def of_class(cls, x: Tensor) -> Tensor:
            return x * 3

    def f(x: Tensor) -> Any:
        a = A()
        return a.plain(x) + a.static(x) + a.of_class(x)

    edits = setting(A, "plain", lambda self, x: x * 10) + setting(A, "static", staticmethod(lambda x: x * 7))
    return f, edits + setting(A, "of_class", classmethod(lambda cls, x: x * 0))


def bases() -> World:
    class Base:
        k = 2.0

        def who(self) -> float:
            return 1.0

    class Derived(Base):
        def who(self) -> float:
            return super().who() + self.k

    edits = [*setting(Base, "k", 3.0), *setting(Base, "who", lambda self: 100.0), *setting(Derived, "k", 9.0)]
    return lambda x: x * Derived().who(), [*edits, lambda: delattr(Derived, "k")]


def names_that_appear() -> World:
    class A:
        pass

    def f(x: Tensor) -> Any:
        return x * 2 if hasattr(A(), "new") else x * getattr(A(), "new", 3.0)

    return f, [*setting(A, "new", 5.0), lambda: delattr(A, "new")]


def classes_made_by_the_call() -> World:
    class Base:
        k = 1.0

    def f(x: Tensor) -> Any:
        class Local(Base):
            pass

        return x * Local().k + x * Local.k + x * type("Other", (Base,), {})().k  # type: ignore[attr-defined]

    return f, setting(Base, "k", 4.0, 5.0)


def members_of_an_enum() -> World:
    class Kind(enum.Enum):
        A = 1

    Kind.gain = 2.0  # type: ignore[attr-defined]
    return lambda x: x * Kind(1).gain + Kind["A"].gain, setting(Kind, "gain", 4.0)  # type: ignore[attr-defined]


def exceptions() -> World:
    class Problem(Exception):
        code = 1

    def f(x: Tensor) -> Any:
        try:
            raise Problem
        except Problem as problem:
            return x * problem.code

    return f, setting(Problem, "code", 4)


def classes_of_containers() -> World:
    class Pair(collections.namedtuple("Pair", "a b")):
        k = 2.0

    class Table(dict[str, float]):
        k = 3.0

        def __missing__(self, key: str) -> float:
            return 7.0

    edits = setting(Pair, "k", 4.0) + setting(Table, "k", 5.0) + setting(Table, "__missing__", lambda self, key: 1.0)
    return lambda x: x * Pair(1, 2).k + x * Table()["q"] * Table().k, edits


def copies() -> World:
    @dataclasses.dataclass
    class Options:
        value: int = 1
        k = 2.0

    outer = Options()

    def f(x: Tensor) -> Any:
        return x * copy.copy(outer).k + x * dataclasses.replace(outer).k + x * type(outer)(3).k

    return f, setting(Options, "k", 4.0)


def descriptors_with_state() -> World:
    class Column:
        def __init__(self) -> None:
            self.held: dict[str, float] = {}

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, obj: Any, owner: type | None = None) -> float:
            return self.held[self.name]

        def __set__(self, obj: Any, value: float) -> None:
            self.held[self.name] = value

    class Constant:
        def __init__(self, value: float) -> None:
            self.value = value

        def __get__(self, obj: Any, owner: type | None = None) -> float:
            return self.value

    class Row:
        column = Column()
        constant = Constant(1.0)

    row = Row()
    row.column = 1.0

    def f(x: Tensor) -> Any:
        return x * row.column * row.constant * Row.constant

    return f, [*setting(row, "column", 5.0, 6.0), *setting(vars(Row)["constant"], "value", 3.0)]


def objects_of_classes() -> World:
    class Inner:
        rate = 1.0

    class State:
        inner = Inner()

    return lambda x: x * State().inner.rate, [*setting(Inner, "rate", 5.0), *setting(State.inner, "rate", 6.0)]


def a_base_that_the_call_writes() -> World:
    class Base:
        count = 0

    class Derived(Base):
        pass

    def f(x: Tensor) -> Any:
        Base.count += 1
        return x * Derived.count * Derived().count

    return f, setting(Base, "count", 5)


def counters_of_a_class_and_its_base() -> World:
    class Base:
        steps = 0

    class Scale(Base):
        good, value = 0, 8.0

    def f(x: Tensor) -> Any:
        if x.sum() > 0:
            Scale.good += 1
            if Scale.good % 3 == 0:
                Scale.value *= 2.0
        else:
            Scale.value = Scale.value / 2.0
            Scale.steps += 1
        return x * Scale.value + Scale.good + Scale().steps + Base.steps

    return f, [*setting(Scale, "good", 100), *setting(Base, "steps", 5)]


def counters_on_the_other_side() -> World:
    function, edits = counters_of_a_class_and_its_base()
    return lambda x: function(-x), edits


def tensors() -> World:
    class A:
        tensor = Tensor([2.0])

    return lambda x: x * A().tensor, setting(A, "tensor", Tensor([3.0]))


def special_methods_by_name() -> World:
    class A:
        def __enter__(self) -> float:
            return 2.0

        def __exit__(self, *problem: object) -> None:
            pass

    return lambda x: x * A().__enter__(), setting(A, "__enter__", lambda self: 3.0)


def a_data_descriptor_over_an_attribute() -> World:
    class A:
        def __init__(self) -> None:
            self.value = 1.0

    class Nine:
        def __get__(self, obj: Any, owner: type | None = None) -> float:
            return 9.0

        def __set__(self, obj: Any, value: float) -> None:
            pass

    return lambda x: x * A().value, setting(A, "value", Nine())


def what_getattr_gave() -> World:
    class A:
        def __getattr__(self, name: str) -> float:
            return 4.0

    return lambda x: x * A().missing, setting(A, "missing", 1.0)


def an_object_that_is_kept() -> World:
    class A:
        k = 1.0

    kept: list[A] = []

    def f(x: Tensor) -> Any:
        kept.append(A())
        return x * kept[-1].k

    return f, setting(A, "k", 5.0)


def properties() -> World:
    class A:
        __slots__ = ("other",)
        k: Any = 1.0

    edits = setting(A, "k", property(lambda self: 8.0))
    return lambda x: x * A().k, [*edits, *setting(A, "__getattr__", lambda self, name: 1.0)]


WORLDS = [
    a_number, a_list_that_init_fills, a_cell, methods, bases, names_that_appear, classes_made_by_the_call,
    members_of_an_enum, exceptions, classes_of_containers, copies, descriptors_with_state, objects_of_classes,
    a_base_that_the_call_writes, counters_of_a_class_and_its_base, counters_on_the_other_side, tensors,
    special_methods_by_name, a_data_descriptor_over_an_attribute,
    what_getattr_gave, an_object_that_is_kept, properties,
]  # fmt: skip


def observed(world: Callable[[], World], deco: Callable[[Any], Any]) -> list[str]:
    function, edits = world()
    called, found = deco(function), []
    for edit in (lambda: None, *edits):
        edit()
        for _ in range(2):
            try:
                found.append(str(called(X)))
            except Exception as error:
                found.append(repr(error))
    return found


@pytest.mark.parametrize("policy", [{}, {"mode": "PIJit"}, {"fullgraph": True}], ids=["auto", "PIJit", "fullgraph"])
@pytest.mark.parametrize("world", WORLDS)
def test_an_edit_of_the_class_is_seen(world: Callable[[], World], policy: dict[str, Any]) -> None:
    assert observed(world, lambda f: weft.jit(f, **policy)) == observed(world, lambda f: f)


def test_a_number_of_a_class_becomes_an_input() -> None:
    function, edits = a_number()
    compiled = weft.jit(function)
    for edit in edits[:3]:
        compiled(X)
        edit()
    compiled(X)
    assert len(compiled.report().graphs) == 2
