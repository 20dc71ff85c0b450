"""`max` and `min` where only the graph knows which is which: what they give is one of the objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor


class Ranked:
    def __init__(self, rank: Any) -> None:
        self.rank = rank

    def __gt__(self, other: Any) -> Any:
        return self.rank > other.rank

    def __lt__(self, other: Any) -> Any:
        return self.rank < other.rank


def _written(a: Any, b: Any) -> Any:
    found = max(a, b)
    found[0] = 9.0
    return found is a, found is b


def _smallest_written(a: Any, b: Any) -> Any:
    found = min([a, b, a + b])
    found += 1
    return found


def _by_key(a: Any, b: Any) -> Any:
    found = max([a, b], key=lambda t: -t)
    return found is a, found * 2


def _with_a_number(a: Any, b: Any) -> Any:
    return min(a, b, 2.5)


def _dictionaries(a: Any, b: Any) -> Any:
    return max({"k": a}, {"k": b}, key=lambda d: d["k"])["k"] + 1


def _pairs(a: Any, b: Any) -> Any:
    return max(("a", a), ("b", b), key=lambda pair: pair[1].item())


def _positions(a: Any, b: Any) -> Any:
    return max(range(2), key=lambda i: (a, b)[i])


def _objects(a: Any, b: Any) -> Any:
    first, second = Ranked(a), Ranked(b)
    found = max(first, second)
    return found is first, found.rank


def _objects_written(a: Any, b: Any) -> Any:
    ranked = [Ranked(a), Ranked(b), Ranked(a * b)]
    found = min(ranked)
    found.rank = found.rank + 1
    return [item.rank for item in ranked]


PROGRAMS = (
    _written, _smallest_written, _by_key, _with_a_number, _dictionaries, _pairs, _positions, _objects, _objects_written,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_extremes_of_tensors(program: Callable[..., Any]) -> None:
    compiled = weft.jit(program)
    for values in ((3.0, 2.0), (2.0, 3.0), (3.0, 3.0), (-1.0, 0.0)):
        found = []
        for function in (program, compiled):
            a, b = (Tensor([value]) for value in values)
            found.append((repr(function(a, b)), repr(a), repr(b)))
        assert found[0] == found[1]
