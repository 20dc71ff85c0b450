"""`dir()` of classes and objects of the program's, whose names change between calls."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.compiled import compiler
from weft import Tensor


def run(decorate: Callable[[Any], Any]) -> list[Any]:
    class Base:
        first = 1

    class Derived(Base):
        second = 2

        def method(self) -> None: ...

    class Colour(enum.Enum):
        RED = 1
        GREEN = 2

    @decorate
    def names(x: Any, obj: Any) -> Any:
        found = [name for name in dir(obj) if not name.startswith("__")]
        return x * len(found), found

    @decorate
    def of_own(x: Any) -> Any:
        class Local:
            one = 1

        Local.two = 2  # type: ignore[attr-defined]
        return x * len([name for name in dir(Local) if name[0] != "_"]), dir(Local())[-2:]

    obj, seen = Derived(), []

    def ask(*asked: Any) -> None:
        for one in asked:
            scaled, found = names(Tensor([1.0]), one)
            seen.append((scaled.item(), found))

    ask(Derived, obj, Colour, Colour.RED)
    Derived.third = 3  # type: ignore[attr-defined]
    ask(Derived, obj)
    Base.fourth = 4  # type: ignore[attr-defined]
    ask(Derived, obj, Base)
    obj.own = 5  # type: ignore[attr-defined]
    ask(obj, Derived())
    del Derived.second
    ask(obj, Derived)
    Colour.extra = 6  # type: ignore[attr-defined]
    ask(Colour, Colour.RED)
    scaled, found = of_own(Tensor([1.0]))
    return [*seen, scaled.item(), found]


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_names_that_change_between_calls(mode: str) -> None:
    assert run(compiler(mode)) == run(lambda f: f)
