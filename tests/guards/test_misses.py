"""A call that fits no entry is compared with those that exist, and nothing of the program's runs meanwhile."""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor

X = Tensor([1.0])


class Counted:
    """Counts how often its parts are asked for."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def rate(self) -> float:
        self.asked += 1
        return 1.0 * self.asked

    def __getitem__(self, index: int) -> float:
        self.asked += 1
        if index > 2:
            raise IndexError
        return 2.0

    def __len__(self) -> int:
        self.asked += 1
        return 3


def lengthy() -> Any:
    return itertools.islice(itertools.cycle("ab"), 3)


#: what is called, with what first, what next, and what is looked at afterwards
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[], Any], Callable[[], Any], Callable[[Any], Any]]] = {
    "an iterator is not consumed": (lambda b: X * len(list(b)), lambda: {"a": 1}, lambda: iter("abc"), list),
    "a generator is not consumed": (lambda b: X * len(list(b)), lambda: {1}, lambda: (i for i in "ab"), list),
    "a defaultdict gets no keys": (
        lambda b: X * len(list(b)), lambda: ["a", "b"], lambda: collections.defaultdict(int), dict
    ),
    "no default is made": (
        lambda d: X * d.get("a", 0.5), lambda: {"a": 2.0}, lambda: collections.defaultdict(lambda: 7.0), dict
    ),
    "no property runs": (
        lambda c: X * c.rate, lambda: types.SimpleNamespace(rate=2.0), Counted, lambda c: c.asked
    ),
    "no item is asked for": (lambda b: X * b[0], lambda: [1.0, 2.0], Counted, lambda c: c.asked),
    "no length is asked for": (lambda b: X * len(b), lambda: (1.0, 2.0), Counted, lambda c: c.asked),
    "an endless iterator ends": (
        lambda c: X * 2 if "a" in c else X, lambda: {"a": 1}.keys(), lengthy, list
    ),
    "a comparison takes no items": (lambda c: X if c == 1 else X * 2, dict, lambda: iter([1, 2]), list),
}  # fmt: skip


@pytest.mark.parametrize("policy", [{}, {"mode": "PIJit"}], ids=["auto", "PIJit"])
@pytest.mark.parametrize("case", CASES)
def test_an_object_of_another_class_is_left_alone(case: str, policy: dict[str, Any]) -> None:
    function, first, then, seen = CASES[case]
    found = []
    for called in (function, weft.jit(function, **policy)):
        called(first())
        value = then()
        result = str(called(value))
        found.append((result, seen(value)))
    assert found[0] == found[1]
