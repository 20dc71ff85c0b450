"""Every in-place operator on values of many classes, beside tensors: results, classes, identities and messages."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, jit

SYMBOLS = ("+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")


class Whole(int):
    pass


class Items(list):  # type: ignore[type-arg]
    pass


class Adds:
    def __iadd__(self, other: Any) -> Any:
        return "added", type(other)

    def __rmul__(self, other: Any) -> Any:
        return "times", type(other)


VALUES: tuple[Any, ...] = (
    2, Whole(3), 1.5, 1j, True, "ab", b"c", [1, 2], Items([3]), (4,), {5}, frozenset({5, 6}), {7: 8}, None, Adds(),
)  # fmt: skip


def function(symbol: str) -> Callable[[Any, Any, Any], Any]:
    space: dict[str, Any] = {}
    exec(f"def f(x, a, b):\n    y = x * 2\n    old = a\n    a {symbol}= b\n    return a, type(a), a is old, y", space)
    found: Callable[[Any, Any, Any], Any] = space["f"]
    return found


def outcome(run: Callable[[Any, Any, Any], Any], a: Any, b: Any) -> tuple[str, Any]:
    a, b = copy.deepcopy((a, b))
    try:
        found = repr(run(Tensor([1.0]), a, b))
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return found, repr((a, b)) if not isinstance(a, Adds) and not isinstance(b, Adds) else None


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_as_python_does(symbol: str) -> None:
    run = function(symbol)
    for a in VALUES:
        for b in VALUES:
            assert outcome(jit(run), a, b) == outcome(run, a, b), (a, b)
