"""The sides of a branch on a tensor write different attributes: each leaves those of the other as they are by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, nn

NUMBERS = (1, 1, -1, 1, -1, 1, -1, -1, 1, 3, -3, 4, 2, -5, 0, 3)


class Plain:
    total = other = 0

    def __init__(self) -> None:
        self.good: Any = 0
        self.bad: Any = 0


class Slotted:
    __slots__ = ("good", "bad")
    total = other = 0

    def __init__(self) -> None:
        self.good, self.bad = 0, 0


class WithProperties:
    total = other = 0

    def __init__(self) -> None:
        self._good = self._bad = 0

    @property
    def good(self) -> Any:
        return self._good

    @good.setter
    def good(self, value: Any) -> None:
        self._good = value

    @property
    def bad(self) -> Any:
        return self._bad

    @bad.setter
    def bad(self, value: Any) -> None:
        self._bad = value


class Network(nn.Cell):
    total = other = 0

    def __init__(self) -> None:
        super().__init__()
        self.good, self.bad = 0, 0


def counting(state: Any, x: Any) -> Any:
    if x > 0:
        state.good += 1
    else:
        state.bad += 1


def constant_on_one_side(state: Any, x: Any) -> Any:
    if x > 0:
        state.good += 1
    else:
        state.bad = 7


def constants_that_are_there(state: Any, x: Any) -> Any:
    if x > 0:
        state.good = 1
    elif x < -2:
        state.bad += 1
    else:
        state.bad = 1


def both_on_one_side(state: Any, x: Any) -> Any:
    if x > 0:
        state.good += 2
        state.bad -= 1
    else:
        state.bad *= 2
    return x * state.bad


def in_a_loop(state: Any, x: Any) -> Any:
    i = 0
    while i < x:
        if x > 2:
            state.good += 1
        else:
            state.bad += 2
        i = i + 1
    return state.good


def nested(state: Any, x: Any) -> Any:
    if x > 0:
        if x > 1:
            state.good += 1
    elif x < -1:
        state.bad += 1
    return x


def early_return(state: Any, x: Any) -> Any:
    if x > 0:
        state.good += 0.5
        return x * state.good
    state.bad += 1
    return x - state.bad


def in_a_callee(state: Any, x: Any) -> Any:
    def add(name: str) -> None:
        setattr(state, name, getattr(state, name) + 1)

    add("good") if x > 0 else add("bad")
    return x


def of_the_class(state: Any, x: Any) -> Any:
    kind = type(state)
    if x > 0:
        kind.total = kind.total + 1
    else:
        kind.other = kind.other + 1
    return x


PROGRAMS = [
    counting, constant_on_one_side, constants_that_are_there, both_on_one_side, in_a_loop, nested, early_return,
    in_a_callee, of_the_class,
]  # fmt: skip


def outcomes(program: Callable[..., Any], kind: Any, decorate: Callable[[Any], Any]) -> list[Any]:
    kind.total = kind.other = 0
    state = kind()
    step = decorate(lambda x: program(state, x))
    found = []
    for number, value in enumerate(NUMBERS):
        result = step(Tensor(value))
        result = result.asnumpy().tolist() if isinstance(result, Tensor) else result
        found.append((result, state.good, state.bad, kind.total, kind.other))
        if number % 5 == 4:
            state.bad = number
    return found


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("kind", [Plain, Slotted, WithProperties, Network])
@pytest.mark.parametrize("program", PROGRAMS)
def test_state_of_the_other_side(program: Callable[..., Any], kind: Any, mode: str) -> None:
    assert outcomes(program, kind, compiler(mode)) == outcomes(program, kind, lambda function: function)
