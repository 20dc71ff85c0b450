"""Objects of the standard library that a compiled function makes or writes: as the library's own code would."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Held:
    kind = Color


def signature(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


FIRST = functools.partial(signature, "first")


def _member_written(x: Any) -> Any:
    try:
        Held().kind.RED = 5  # type: ignore[assignment, misc]
    except AttributeError as error:
        return x * 2, str(error)
    return x


def _member_deleted(x: Any) -> Any:
    try:
        del Held().kind.RED  # type: ignore[misc]
    except AttributeError as error:
        return x * 2, str(error)
    return x


def _attribute_of_an_enum(x: Any) -> Any:
    Held().kind.extra = "extra"  # type: ignore[attr-defined]
    found = Color.extra  # type: ignore[attr-defined]
    del Held().kind.extra  # type: ignore[attr-defined]
    return x, found, hasattr(Color, "extra")


def _nested_partial(x: Any) -> Any:
    nested = functools.partial(functools.partial(signature, "a"), b=True)
    return x * 2, nested.func is signature, nested.args, nested.keywords


def _partial_of_one_from_outside(x: Any) -> Any:
    nested = functools.partial(FIRST, b=True)
    return x * 2, nested.func is signature, nested.args, nested.keywords


def _partial_with_attributes(x: Any) -> Any:
    first = functools.partial(signature, 1)
    first.note = "s"  # type: ignore[attr-defined]
    second = functools.partial(first, 2)
    return x * 2, second.func is first, second(3), first.note  # type: ignore[attr-defined]


PROGRAMS = (
    _member_written, _member_deleted, _attribute_of_an_enum, _nested_partial, _partial_of_one_from_outside,
    _partial_with_attributes,
)  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Callable[[Any], Any], mode: str) -> None:
    compiled = weft.jit(program) if mode == "auto" else weft.jit(program, mode=mode)
    for value in (1.0, 2.0):
        assert repr(compiled(Tensor([value]))) == repr(program(Tensor([value])))
    assert list(Color) == [Color.RED, Color.GREEN]
    assert not FIRST.__reduce__()[2][3]  # type: ignore[index]
