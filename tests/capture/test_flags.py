"""Members of enumerations that a call makes: a flag keeps the number that it is made of, for all calls to come."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from weft import Tensor, jit


def flags(x: Any, value: Any, kind: Any) -> Any:
    flag = kind(value)
    low = kind(value & 6)
    return x * flag.value + len(list(flag)), flag, flag | kind.A, low, low.value, value * 2


def bits(x: Any, value: Any, kind: Any) -> Any:
    return [(flag.name, x * flag.value) for flag in kind if flag in kind(value)]


def answer(function: Any, *args: Any) -> str:
    try:
        return repr(function(*args))
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("base", [enum.Flag, enum.IntFlag])
@pytest.mark.parametrize("function", [flags, bits])
@pytest.mark.parametrize("first", ["compiled", "eager"])
def test_flags_of_numbers_that_change(base: Any, function: Any, first: str) -> None:
    compiled = jit(function)
    kind = base("kind", {"A": 1, "B": 2, "C": 4, "D": 8})
    for value in (1, 2, 3, 5, 6, 7, 9, 1, 11, 10, 19, 0, True, 12, 14, 15):
        x = Tensor([float(value)])
        order = (compiled, function) if first == "compiled" else (function, compiled)
        one, other = (answer(called, x, value, kind) for called in order)
        assert one == other
    assert {type(member._value_) for member in kind._value2member_map_.values()} == {int}
