"""Special methods of the program's own classes are called under capture as often as in Python, and in its order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from special_methods import DEEDS, MAKERS, TOLD

from weft.jit import jit

#: what islice() gets is taken for an iterable, though it is an index, too
LEFT_OUT = {("everything", "isl")}
#: what depends on addresses
BY_ADDRESS = {"hs"}


def shown(value: Any) -> str:
    """A value without its address; a set in the order of its items' texts."""
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__} of {sorted(map(shown, type(value).__mro__[-2].__iter__(value)))}"
    own = type(value).__module__ == "special_methods"
    return re.sub(" at 0x[0-9a-f]+", "", object.__repr__(value) if own else repr(value))


def told(function: Callable[[Any], Any], make: Callable[[], Any]) -> list[Any]:
    """What some calls tell and return: two with one object, one with another."""
    found = []
    first = make()
    for value in (first, first, make()):
        TOLD.clear()
        result: Any = None
        error = ""
        try:
            result = function(value)
        except Exception as raised:
            error = re.sub(" at 0x[0-9a-f]+", "", repr(raised))
        calls = tuple(TOLD)
        found.append((shown(result), error, calls))
    return found


@pytest.mark.parametrize("kind", MAKERS)
def test_methods_are_called_as_python_calls_them(kind: str) -> None:
    make = MAKERS[kind]
    differing = {}
    for name, function in DEEDS.items():
        wanted, got = told(function, make), told(jit(function, mode="PIJit"), make)
        if got != wanted and (kind, name) not in LEFT_OUT and not (name in BY_ADDRESS and got[0][2] == wanted[0][2]):
            differing[name] = (wanted, got)
    assert not differing
