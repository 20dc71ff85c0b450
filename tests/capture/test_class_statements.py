"""Class statements inside compiled functions: bodies that read, write, loop and raise like any other code."""

from __future__ import annotations

import abc
import dataclasses
import enum
import typing
from collections.abc import Callable
from typing import Any

import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Tensor

STATE: dict[str, Any] = {}


class Holder:
    scale = 2

    def program(self, x: Any, n: int) -> Any:
        class Made:
            scale = self.scale + n

            def apply(self, x: Any) -> Any:
                return x * self.scale

        return Made().apply(x)


def reads_what_the_instance_has(x: Any, n: int) -> Any:
    holder = STATE.setdefault("holder", Holder())
    holder.scale = n % 3
    return holder.program(x, n)


def loops_and_comprehensions(x: Any, n: int) -> Any:
    class Made:
        items = []
        for k in range(n % 3 + 1):
            items.append(k)
        squares = [k * k for k in items]
        total = sum(items)
        del k

    assert not hasattr(Made, "k")
    return x * (Made.total + len(Made.squares))


def counts_its_bodies(x: Any, n: int) -> Any:
    class Made:
        STATE["bodies"] = STATE.get("bodies", 0) + 1
        number = STATE["bodies"]

    return x * Made.number


def shadows_names(x: Any, n: int) -> Any:
    width = n

    class Made:
        width = width_of = n + 1
        n_before = n

        class Inner:
            width = 3

        inner = Inner.width

        def both(self) -> int:
            return width + self.width

    made = Made()
    return x * (made.both() + made.n_before + made.inner + Made.width_of)


def inherits_with_super(x: Any, n: int) -> Any:
    class Base:
        def __init__(self, k: int) -> None:
            self.k = k

        def value(self) -> int:
            return self.k

    class Derived(Base):
        def value(self) -> int:
            return super().value() + 1 + (__class__ is Derived)  # type: ignore[name-defined]

    return x * Derived(n).value()


def decorates_methods(x: Any, n: int) -> Any:
    def noted(function: Any) -> Any:
        STATE.setdefault("noted", []).append(function.__name__)
        return function

    class Made:
        @noted
        def a(self) -> int:
            return n

        @property
        @noted
        def b(self) -> int:
            return self.a() + 1

        @staticmethod
        def c() -> int:
            return 2

        @classmethod
        def d(cls) -> int:
            return cls.c()

    made = Made()
    return x * (made.a() + made.b + made.c() + made.d() + len(STATE["noted"]))


def holds_tensors(x: Any, n: int) -> Any:
    class Made:
        doubled = x * 2
        if n % 2:
            doubled = doubled + n

        def apply(self) -> Any:
            return self.doubled.sum()

    return Made().apply()


def branches_on_a_tensor(x: Any, n: int) -> Any:
    class Made:
        scale = 2 if x.sum() > n else 3

    return x * Made.scale


def has_run_time_numbers(x: Any, n: int) -> Any:
    class Made:
        first = int(x[0]) + n

    return x * Made.first


def raises_in_the_body(x: Any, n: int) -> Any:
    try:

        class Made:
            STATE["reached"] = n
            value = {0: 1}[n % 2]

    except KeyError as error:
        return x * (10 + error.args[0])
    return x * Made.value


def has_annotations(x: Any, n: int) -> Any:
    class Made:
        a: int = n
        b: str

        def f(self, k: int = n) -> int:
            return k

    return x * (len(Made.__annotations__) + Made.a + Made().f())


def makes_a_dataclass(x: Any, n: int) -> Any:
    @dataclasses.dataclass
    class Made:
        a: int
        b: float = 0.5
        c: list[int] = dataclasses.field(default_factory=list)

    made = Made(n)
    made.c.append(n)
    return x * (made.a + made.b + len(made.c) + (made == Made(n, c=[n])))


def makes_an_abstract_class(x: Any, n: int) -> Any:
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self) -> int: ...

    class Square(Shape):
        def area(self) -> int:
            return n * n

    try:
        Shape()  # type: ignore[abstract]
    except TypeError:
        return x * Square().area()
    return x


def makes_an_enumeration(x: Any, n: int) -> Any:
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    return x * (Color.RED if n % 2 else Color.BLUE).value


def makes_a_named_tuple(x: Any, n: int) -> Any:
    class Pair(typing.NamedTuple):
        a: int
        b: int = 3

    return x * sum(Pair(n))


def derives_from_a_class_of_the_outside(x: Any, n: int) -> Any:
    base = STATE.setdefault("base", type("Base", (), {"k": 1}))
    base.k = n % 3

    class Made(base):  # type: ignore[misc, valid-type]
        own = n

    return x * (Made.k + Made.own)


def hooks_of_a_base(x: Any, n: int) -> Any:
    registry: list[str] = STATE.setdefault("registry", [])

    class Base:
        def __init_subclass__(cls, **options: Any) -> None:
            registry.append(cls.__name__ + str(sorted(options)))

    class Made(Base, tag=1):
        pass

    return x * len(registry)


def metaclass_of_the_program(x: Any, n: int) -> Any:
    class Meta(type):
        def __new__(cls, name: str, bases: Any, namespace: Any) -> Any:
            namespace["added"] = n
            return super().__new__(cls, name, bases, namespace)

    class Made(metaclass=Meta):
        pass

    return x * Made.added  # type: ignore[attr-defined]


def names_what_it_holds(x: Any, n: int) -> Any:
    class Named:
        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = name + str(n)

    class Made:
        field = Named()

    return x * len(Made.field.name)


def leaves_its_class(x: Any, n: int) -> Any:
    class Made:
        value = n

    STATE["class"] = Made
    return x * STATE["class"].value


def loses_names(x: Any, n: int) -> Any:
    try:

        class Made:
            if n % 2:
                value = 1
            found = value

    except NameError as error:
        return x * len(error.args[0])
    return x * Made.found


PROGRAMS: list[Callable[[Any, int], Any]] = [
    reads_what_the_instance_has, loops_and_comprehensions, counts_its_bodies, shadows_names, inherits_with_super,
    decorates_methods, holds_tensors, branches_on_a_tensor, has_run_time_numbers, raises_in_the_body, has_annotations,
    makes_a_dataclass, makes_an_abstract_class, makes_an_enumeration, makes_a_named_tuple,
    derives_from_a_class_of_the_outside, hooks_of_a_base, metaclass_of_the_program, names_what_it_holds,
    leaves_its_class, loses_names,
]  # fmt: skip


def answers(call: Callable[[Any, int], Any]) -> list[Any]:
    STATE.clear()
    found = []
    for n in (1, 2, 3, 3, 4, 0):
        found.append(call(Tensor([1.0, 2.5]), n).asnumpy().tolist())
        found.append({key: value for key, value in STATE.items() if isinstance(value, int | list)} | {})
        found[-1] = repr(found[-1])
    return found


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_statements(program: Callable[[Any, int], Any], mode: str) -> None:
    compiled = compiler(mode)(program)
    assert answers(compiled) == answers(program)


@pytest.mark.parametrize(
    "program",
    [
        loops_and_comprehensions, shadows_names, inherits_with_super, holds_tensors, has_annotations, makes_a_dataclass,
        makes_an_abstract_class, reads_what_the_instance_has, raises_in_the_body,
    ],
)  # fmt: skip
def test_bodies_are_part_of_the_graph(program: Callable[[Any, int], Any]) -> None:
    compiled = weft.jit(program)
    answers(compiled)
    assert not compiled.report().breaks
