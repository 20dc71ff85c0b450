"""What a call makes is its own, what it runs is run by each, and what changes between calls is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Tensor

Decorate = Callable[[Any], Any]
X = Tensor([1.0])


def notes_of_kept_exceptions(decorate: Decorate) -> Any:
    kept: list[Exception] = []

    @decorate
    def program(x: Any) -> Any:
        try:
            raise ValueError("v")
        except ValueError as error:
            error.add_note("task")
            kept.append(error)
        return x * 2

    for _ in range(3):
        program(X)
    kept[0].add_note("more")
    return [error.__notes__ for error in kept]


def notes_of_an_exception_from_outside(decorate: Decorate) -> Any:
    error, seen = Exception("shared"), []
    error.add_note("first")

    @decorate
    def program(x: Any) -> Any:
        error.add_note("n")
        return x + 1

    for _ in range(3):
        seen.append((program(X).item(), list(error.__notes__)))
    return seen


def views_of_new_arrays(decorate: Decorate) -> Any:
    seen = []

    @decorate
    def program(x: Any) -> Any:
        first, _ = np.split(np.ones(4), 2)
        return x * 2, first, np.zeros((2, 3))[0], np.where(np.array([1, 0, 1]) > 0)[0]

    for _ in range(3):
        _, *arrays = program(X)
        seen.append([array.tolist() for array in arrays])
        for array in arrays:
            array += 1
    return seen


def mutable_lists(decorate: Decorate) -> Any:
    kept: list[Any] = []

    @decorate
    def program(x: Any) -> Any:
        made = weft.mutable([1, [2]])
        kept.append(made)
        return x * made[0]

    for _ in range(3):
        program(X)
    kept[0].append(3)
    return [len(made) for made in kept]


def annotations_of_new_functions(decorate: Decorate) -> Any:
    kept: list[Any] = []

    @decorate
    def program(x: Any) -> Any:
        def inner(v: Any) -> Any:
            return v

        inner.__annotations__["v"] = int
        kept.append(inner)
        return x * 2

    for _ in range(3):
        program(X)
    kept[0].__annotations__["z"] = 1
    return [sorted(inner.__annotations__) for inner in kept]


def bases_of_classes(decorate: Decorate) -> Any:
    class A:
        factor = 10

        def method(self) -> int:
            return 1

    class B:
        factor = 20

        def method(self) -> int:
            return 2

    class C(A): ...

    class Early(Exception): ...

    class Late(Exception): ...

    class Error(Early): ...

    obj, seen = C(), []

    @decorate
    def reads(x: Any, given: Any) -> Any:
        return x * obj.method() + C.factor, given.method(), isinstance(obj, A), issubclass(C, A), C.__mro__[1].factor

    @decorate
    def raises(x: Any) -> Any:
        try:
            raise Error("a")
        except Early:
            return x
        except Late:
            return x * 2

    for bases, errors in (((A,), (Early,)), ((B,), (Late,)), ((A,), (Early,)), ((B, A), (Late,))):
        C.__bases__, Error.__bases__ = bases, errors
        for _ in range(2):
            first, *others = reads(X, obj)
            seen.append((first.item(), others, raises(X).item()))
    return seen


def methods_of_derived_containers(decorate: Decorate) -> Any:
    class Config(dict): ...

    class Items(list): ...

    config, items, seen = Config(), Items([1, 2]), []

    @decorate
    def program(x: Any) -> Any:
        return x * 2, config.get("z"), items.count(1)

    seen.append(program(X)[1:])
    Config.get = lambda self, key, default=None: "patched"  # type: ignore[assignment,misc]
    Items.count = lambda self, value: 99  # type: ignore[assignment,method-assign,misc]
    seen.append(program(X)[1:])
    return seen


def texts_of_system_errors(decorate: Decorate) -> Any:
    error, seen = OSError(2, "m", "f"), []

    @decorate
    def program(x: Any) -> Any:
        return x * 2, str(error)

    seen.append(program(X)[1])
    error.errno = 3
    seen.append(program(X)[1])
    error.filename = "g"
    seen.append(program(X)[1])
    return seen


def functions_given_to_native_code(decorate: Decorate) -> Any:
    seen = []
    group = ExceptionGroup("g", [ValueError()])

    def make(call: Callable[[Any], Any], read: bool) -> list[Any]:
        state = {"n": 0}

        def hit(*args: Any) -> str:
            state["n"] += 1
            return "b"

        @decorate
        def program(x: Any) -> Any:
            before = state["n"] if read else 0
            call(hit)
            return x * 2, before

        return [(program(X)[1], state["n"]) for _ in range(3)]

    calls: tuple[Callable[[Any], Any], ...] = (
        lambda hit: re.sub("a", hit, "a"),
        lambda hit: json.dumps({"k": object}, default=hit),
        lambda hit: group.subgroup(lambda error: hit() and isinstance(error, ExceptionGroup)),
    )
    for call in calls:
        seen += [make(call, False), make(call, True)]
    return seen


def classes_made_in_calls(decorate: Decorate) -> Any:
    hits: list[Any] = []
    settings = {"scale": 1}

    class Base:
        def __init_subclass__(cls) -> None:
            hits.append(cls.__name__)

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            hits.append(name)

    class Meta(type):
        def __new__(cls, name: str, bases: Any, namespace: Any) -> Any:
            hits.append(name)
            return super().__new__(cls, name, bases, namespace)

    @decorate
    def program(x: Any) -> Any:
        class Own(Base):
            scale = settings["scale"]
            hits.append(scale)

        class WithMeta(metaclass=Meta):
            named = Named()

        made = type("Made", (Base,), {"named": Named()})
        return x * Own.scale, made.__name__, WithMeta.__name__

    seen = []
    for scale in (1, 2, 1, 3):
        settings["scale"] = scale
        seen.append([program(X)[0].item(), len(hits), hits[-3:]])
    return seen


PROGRAMS = (
    notes_of_kept_exceptions, notes_of_an_exception_from_outside, views_of_new_arrays, mutable_lists,
    annotations_of_new_functions, bases_of_classes, methods_of_derived_containers, texts_of_system_errors,
    functions_given_to_native_code, classes_made_in_calls,
)  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_call_is_as_in_python(program: Callable[[Decorate], Any], mode: str) -> None:
    compiled = program(compiler(mode))
    assert compiled == program(lambda f: f)
