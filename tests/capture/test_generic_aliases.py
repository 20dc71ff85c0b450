"""Instances made through `Class[Argument]`: of `typing.Generic`, of classes with Python's own alias, of builtins."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any

import pytest

from weft import Tensor, jit

T = typing.TypeVar("T")
MADE: list[str] = []


class Box(typing.Generic[T]):
    def __init__(self, value: T) -> None:
        MADE.append("box")
        self.value = value

    def map(self, function: Any) -> Any:
        return type(self)(function(self.value))


class Aliased:
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclasses.dataclass
class Data(typing.Generic[T]):
    value: T


def of_generic(x: Any, k: int) -> Any:
    box = Box[int](x * k)
    return box.value, box.__orig_class__ is Box[int], box.map(lambda v: v + 1).value  # type: ignore[attr-defined]


def of_alias(x: Any, k: int) -> Any:
    made = Aliased[int](x * k)  # type: ignore[misc]
    return made.value, made.__orig_class__ == Aliased[int]  # type: ignore[misc]


def of_slots(x: Any, k: int) -> Any:
    made = Slotted[int](x * k)  # type: ignore[misc]
    return made.value, hasattr(made, "__orig_class__")


def of_dataclass(x: Any, k: int) -> Any:
    made = Data[Tensor](x * k)
    return dataclasses.replace(made, value=made.value + 1).value, repr(made.__orig_class__)  # type: ignore[attr-defined]


def of_list(x: Any, k: int) -> Any:
    made = list[Any]([x, k])
    return made[0] * made[1], type(made)


def of_dict(x: Any, k: int) -> Any:
    made = dict[str, Any](a=x, b=k)
    return made["a"] * made["b"], len(made)


def of_typing(x: Any, k: int) -> Any:
    try:
        return typing.List[int]([x]), 0  # noqa: UP006
    except TypeError as error:
        return x * k, str(error)


@pytest.mark.parametrize("function", [of_generic, of_alias, of_slots, of_dataclass, of_list, of_dict, of_typing])
@pytest.mark.parametrize("policy", [jit, functools.partial(jit, mode="PIJit")])
def test_an_alias_makes_what_its_class_makes(function: Any, policy: Any) -> None:
    compiled = policy(function)
    for k in range(6):
        MADE.clear()
        wanted = str(function(Tensor([1.0, 2.0]), k))
        made = len(MADE)
        MADE.clear()
        assert str(compiled(Tensor([1.0, 2.0]), k)) == wanted
        assert len(MADE) == made
    assert len(compiled.report().graphs) <= 2
    assert not compiled.report().breaks
