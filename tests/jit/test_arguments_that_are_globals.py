"""Whether an argument is a tensor that the function reaches in another way too is looked at in each call, also where
globals and attributes are constants.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from weft import Tensor, jit

G = Tensor([1.0, 2.0, 3.0])
HOLDER = SimpleNamespace(t=Tensor([1.0, 2.0, 3.0]))


def reads_both(a: Any) -> Any:
    return a * 10 + G


def reads_an_attribute(a: Any) -> Any:
    return a * 10 + HOLDER.t


def writes_the_global(a: Any) -> Any:
    G.add_(1)
    return a * 10


def writes_both(a: Any) -> Any:
    a[0] = a[0] + 10.0
    G[1] = G[1] * 2
    return a.sum()


def asks(a: Any) -> Any:
    return a * 10 if a is G else a + 0


def items(a: Any) -> Any:
    first, second = [a, G], [a, a]
    for pair in (first, second):
        pair[0].add_(1)
    return first[1] * 10


@pytest.mark.parametrize("mode", ["PSJit", "PIJit", "auto"])
@pytest.mark.parametrize("function", [reads_both, reads_an_attribute, writes_the_global, writes_both, asks, items])
@pytest.mark.parametrize("order", [(0, 1, 0), (1, 0, 1)])
def test_each_call_has_the_answer_of_python(function: Any, order: tuple[int, ...], mode: str) -> None:
    found = []
    for way in (function, jit(function) if mode == "auto" else jit(function, mode=mode)):
        other, seen = Tensor([5.0, 5.0, 5.0]), []
        G.set_data(Tensor([1.0, 2.0, 3.0]))
        for number in order:
            given = (other, HOLDER.t if function is reads_an_attribute else G)[number]
            seen.append([way(given).tolist(), other.tolist(), G.tolist()])
        found.append(seen)
    assert found[0] == found[1]
