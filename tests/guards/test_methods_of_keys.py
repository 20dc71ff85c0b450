"""Guards look at keys and members of containers without calling methods of the program's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.compiled import compiler
from tests.helpers.values import values, x


class Key:
    """Passes for a value, and notes who asks."""

    asked: list[Any]

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        self.asked.append("hash")
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        self.asked.append(("==", other))
        return other == self.value


def counted(v: Any, keys: Any) -> Any:
    return v * len(list(keys)) + sum(1 for _ in keys)


def compared(v: Any, keys: Any) -> Any:
    return v + (3 if set(keys) == {"a"} else 4)


def one_by_one(v: Any, keys: Any) -> Any:
    for key in keys:
        v = v + (1 if key is None else 2)
    return v


def items(v: Any, keys: Any) -> Any:
    pairs = keys.items() if isinstance(keys, dict) else enumerate(keys)
    return v + sum(1 for _, value in pairs if value is None)


def outcomes(function: Callable[..., Any], container: Callable[..., Any]) -> list[Any]:
    found = []
    for keys in (
        ["a"],
        ["a"],
        ["b"],
        [Key("a")],
        [Key("b")],
        [("a", Key("a"))],
        ["a"],
        [Key("b")],
        ["a", Key("c")],
        [],
    ):
        given = container(keys)
        Key.asked = []
        found.append((values(function(x(), given)), Key.asked))
    return found


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("container", [dict.fromkeys, set, frozenset, tuple, list])
@pytest.mark.parametrize("function", [counted, compared, one_by_one, items])
def test_keys_and_members(mode: str, container: Callable[..., Any], function: Callable[..., Any]) -> None:
    assert outcomes(compiler(mode)(function), container) == outcomes(function, container)
