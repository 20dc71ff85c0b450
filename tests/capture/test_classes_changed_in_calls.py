"""Calls that change classes: what attributes are before and after the call's own writes, and edits between calls.

A guard is asked before the writes of its call, so it must not look an attribute up through what they change.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, jit
from weft.testing import assert_no_breaks

X = Tensor([1.0])
World = tuple[Callable[[Tensor], Any], list[Callable[[], Any]]]


class Answer:
    """A descriptor that goes after an instance's own attributes."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __get__(self, obj: Any, kind: Any = None) -> float:
        return self.number * (2 if obj is None else 1)


class SetAnswer(Answer):
    """One that goes before them."""

    def __set__(self, obj: Any, value: Any) -> None:
        obj.__dict__["set"] = value


def class_and_instance() -> tuple[Any, Any]:
    """A class that has no ``k`` itself, and an instance that has."""

    class A:
        k: Any

    a = A()
    a.k = 2
    return A, a


def toggled_property() -> World:
    A, a = class_and_instance()

    def f(x: Tensor) -> Any:
        p = x * a.k
        if "k" in vars(A):
            del A.k
        else:
            A.k = property(lambda self: 50)
        return p, x * a.k

    return f, []


def deleted_property() -> World:
    A, a = class_and_instance()

    def f(x: Tensor) -> Any:
        p = x * a.k
        if "k" in vars(A):
            del A.k
        return p, x * a.k

    def put() -> None:
        A.k = property(lambda self: 50)

    return f, [put, put]


def number_of_a_base() -> World:
    class Base:
        k: Any = 3.0

    class A(Base):
        k: Any = 5.0

    a = A()

    def f(x: Tensor) -> Any:
        if "k" in vars(A):
            del A.k
        return x * a.k

    def put() -> None:
        A.k = 9.0

    return f, [put, lambda: setattr(Base, "k", 4.0), put]


def number_that_hides_a_property() -> World:
    class A:
        k: Any

    class Side:
        k = property(lambda self: 40.0)

    class C(A, Side):
        pass

    c = C()
    c.__dict__["k"] = 2.0

    def f(x: Tensor) -> Any:
        p = x * c.k
        A.k = 5.0
        return p, x * c.k

    def edit() -> None:
        del A.k
        c.__dict__["k"] = 3.0

    return f, [edit, lambda: c.__dict__.update(k=4.0)]


def own_attribute_deleted() -> World:
    class A:
        k: Any = 5.0

    a = A()
    a.k = 2.0

    def f(x: Tensor) -> Any:
        del a.k
        return x * a.k

    def edit() -> None:
        A.k, a.k = 7.0, 2.0

    return f, [lambda: setattr(a, "k", 1.0), edit]


def whether_a_class_has_it() -> World:
    class A:
        k: Any

    def f(x: Tensor) -> Any:
        try:
            del A.k
        except AttributeError:
            return x * 2
        return x * 3

    return f, [lambda: setattr(A, "k", 1.0), lambda: None, lambda: setattr(A, "k", 1.0)]


def whether_a_slot_is_filled() -> World:
    class A:
        __slots__ = ("k",)
        k: Any

    a = A()

    def f(x: Tensor) -> Any:
        try:
            del a.k
        except AttributeError:
            return x * 2
        return x * 3

    return f, [lambda: setattr(a, "k", 1.0), lambda: setattr(a, "k", 1.0), lambda: None]


def descriptor_through_super() -> World:
    answer = Answer(3.0)

    class Base:
        k: Any = answer
        p = property(lambda self: 7.0)

    class A(Base):
        k = 1.0

        def above(self) -> Any:
            return super().k

        @classmethod
        def of_class(cls) -> Any:
            return super().k

        @classmethod
        def the_property(cls) -> Any:
            return super().p

    def f(x: Tensor) -> Any:
        return x * A().above() * A.of_class(), isinstance(A.the_property(), property)

    return f, [lambda: setattr(answer, "number", 4.0), lambda: setattr(Base, "k", 5.0)]


def descriptor_of_a_metaclass() -> World:
    class Meta(type):
        k: Any = Answer(3.0)

    class A(metaclass=Meta):
        pass

    def f(x: Tensor) -> Any:
        return x * A.k

    def put(value: Any) -> Callable[[], Any]:
        return lambda: setattr(A, "k", value)

    return f, [put(5.0), put(Answer(6.0)), lambda: setattr(Meta, "k", property(lambda cls: 8.0))]


def another_class_of_the_same_object() -> World:
    class Meta(type):
        pass

    class A(metaclass=Meta):
        def value(self) -> Any:
            return getattr(self, "k", None)

    class B(A):
        k = 4.0

    a = A()

    def f(x: Tensor) -> Any:
        found = a.value()
        return x * (1.0 if found is None else found)

    return f, [lambda: setattr(a, "__class__", B), lambda: setattr(a, "__class__", A)]


def special_method() -> World:
    class A:
        k: Any = 2.0

    a = A()

    def f(x: Tensor) -> Any:
        p = x * len(a) if hasattr(a, "__len__") else x
        if "__len__" in vars(A):
            del A.__len__
        else:
            A.__len__ = lambda self: 3
        return p, hasattr(a, "__len__")

    return f, [lambda: None]


WORLDS = [
    toggled_property, deleted_property, number_of_a_base, number_that_hides_a_property, own_attribute_deleted,
    whether_a_class_has_it, whether_a_slot_is_filled, descriptor_through_super, descriptor_of_a_metaclass,
    another_class_of_the_same_object, special_method,
]  # fmt: skip


def results(world: Callable[[], World], prepare: Callable[[Any], Any]) -> list[Any]:
    function, edits = world()
    prepared = prepare(function)
    found = []
    for edit in [None, None, *edits, None]:
        if edit is not None:
            edit()
        found.append(repr(prepared(X)))
    return found


@pytest.mark.parametrize("world", WORLDS)
def test_a_class_is_changed_in_a_call(world: Callable[[], World]) -> None:
    if world is own_attribute_deleted:  # each call needs it again
        made, edits = world()
        eager, (other, other_edits) = [repr(made(X))], world()
        compiled = jit(other)
        found = [repr(compiled(X))]
        for edit, same_edit in zip(edits, other_edits, strict=True):
            edit()
            same_edit()
            eager.append(repr(made(X)))
            found.append(repr(compiled(X)))
        assert found == eager
        return
    assert results(world, jit) == results(world, lambda function: function)


def test_a_number_of_a_class_is_changed_without_a_break() -> None:
    class A:
        k: Any = 2.0

    a = A()

    def f(x: Tensor) -> Any:
        A.k = A.k + 1.0
        return x * a.k

    compiled = jit(f)
    with assert_no_breaks():
        assert [float(compiled(X)[0]) for _ in range(3)] == [3.0, 4.0, 5.0]


# -- random programs -------------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[float], Any]] = {
    "number": lambda n: n,
    "property": lambda n: property(lambda self: n * 10.0),
    "settable": lambda n: property(lambda self: n * 11.0, lambda self, value: None, lambda self: None),
    "function": lambda n: lambda self=None: n * 12.0,
    "static": lambda n: staticmethod(lambda: n * 13.0),
    "of_class": lambda n: classmethod(lambda cls: n * 14.0),
    "answer": Answer,
    "set_answer": SetAnswer,
}
READS = [
    "a.k", "c.k", "A.k", "C.k", "Base.k", "a.method()", "c.method()", "a.above()", "c.above()", "getattr(a, 'k', -2.0)",
    "hasattr(c, 'k')", "vars(a).get('k', -3.0)", "B().k", "'k' in vars(A)",
]  # fmt: skip
OTHER_WRITES = [
    "    try: del A.k\n    except AttributeError: pass\n",
    "    if '__getattr__' in vars(A): del A.__getattr__\n    else: A.__getattr__ = asked\n",
    "    a.__class__ = C if type(a) is A else A\n",
    "    A.__bases__ = (Side,) if A.__bases__ != (Side,) else (Base,)\n",
]


def value_of(found: Any) -> Any:
    if isinstance(found, (int, float)):
        return found
    return 77.0 if isinstance(found, property) or not callable(found) else found()


def asked(obj: Any, name: str) -> Any:
    return 33.0 if name == "k" else object.__getattribute__(obj, name)


def world_of_classes() -> dict[str, Any]:
    namespace: dict[str, Any] = {"value_of": value_of, "asked": asked}
    exec(
        "class Meta(type): pass\nclass Base(metaclass=Meta): pass\nclass Side(metaclass=Meta): pass\n"
        "class A(Base):\n    def method(self): return self.k\n    def above(self): return super().k\n"
        "class C(A, Side): pass\nclass B(A): pass\na = A()\nc = C()\n",
        namespace,
    )
    namespace["made"] = [{name: make(float(n)) for name, make in KINDS.items()} for n in range(1, 6)]
    return namespace


def read(rng: random.Random) -> str:
    where = f"    try: found = value_of({rng.choice(READS)})\n"
    return where + "    except (AttributeError, TypeError): found = -1.0\n    out.append(x * found)\n"


def write(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return rng.choice(OTHER_WRITES)
    owner = rng.choice(["Meta", "Base", "Side", "A", "C", "a", "c"])
    kind = "number" if owner in "ac" else rng.choice(sorted(KINDS))
    put, drop = f"{owner}.k = made[{rng.randrange(5)}]['{kind}']\n", f"    if 'k' in vars({owner}): del {owner}.k\n"
    return rng.choice([f"    {put}", drop, f"{drop}    else: {put}"])


def program(seed: int) -> tuple[str, list[str]]:
    rng = random.Random(seed)
    body = "def f(x):\n    out = []\n"
    for _ in range(rng.randint(2, 5)):
        first, then = read(rng), write(rng)
        body += rng.choice([first + then, then + first, first, then + first])
    edits = [
        "def edit():\n    pass\n" + "".join(write(rng) for _ in range(rng.randint(0, 2)))
        for _ in range(5)
    ]  # fmt: skip
    return body + read(rng) + "    return out\n", edits


def outcomes(seed: int, prepare: Callable[[Any], Any]) -> list[Any]:
    body, edits = program(seed)
    namespace = world_of_classes()
    exec(body, namespace)
    function = prepare(namespace["f"])
    found: list[Any] = []
    for edit in ["def edit(): pass", "def edit(): pass", *edits]:
        exec(edit, namespace)
        try:
            namespace["edit"]()
            found.append([float(value[0]) for value in function(X)])
        except (AttributeError, TypeError) as error:
            found.append(repr(error))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_that_change_classes(seed: int) -> None:
    assert outcomes(seed, jit) == outcomes(seed, lambda function: function)
