"""Objects of library classes: what Python code of a library reads from one is not taken for what another has."""

from __future__ import annotations

import collections
import copy
import decimal
import fractions
import ipaddress
import math
import pathlib
import string
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from weft.jit import jit

PAIRS: dict[str, tuple[Any, Any]] = {
    "typing": (typing.List[int], typing.Tuple[int]),  # noqa: UP006
    "alias": (list[int], list[str]),
    "path": (pathlib.PurePosixPath("a"), pathlib.PurePosixPath("b")),
    "fraction": (fractions.Fraction(1, 2), fractions.Fraction(1, 3)),
    "decimal": (decimal.Decimal(1), decimal.Decimal(2)),
    "uuid": (uuid.UUID(int=1), uuid.UUID(int=2)),
    "address": (ipaddress.ip_address("1.1.1.1"), ipaddress.ip_address("1.1.1.2")),
    "template": (string.Template("$a"), string.Template("$b")),
    "dict": (collections.UserDict(a=1), collections.UserDict(b=1)),
    "text": (collections.UserString("a"), collections.UserString("b")),
    "list": (collections.UserList([1]), collections.UserList([2])),
    "namespace": (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    "counter": (collections.Counter("a"), collections.Counter("b")),
}

DEEDS: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: abs(x),
    "attributes": lambda x: dict(x.__dict__),
    "bool": lambda x: bool(x),
    "call": lambda x: x(),
    "contains": lambda x: "a" in x,
    "copy": lambda x: copy.copy(x) == x or vars(copy.copy(x)),
    "equals": lambda x: x == x,
    "float": lambda x: float(x),
    "format": lambda x: (f"{x}", f"{[x]!r}", "%s" % (x,)),  # noqa: UP031
    "hash": lambda x: hash(x),
    "int": lambda x: int(x),
    "is one of": lambda x: x in (1, x),
    "item": lambda x: x["a"],
    "iterate": lambda x: sorted(x),
    "key": lambda x: {x: 1}[x],
    "len": lambda x: len(x),
    "less": lambda x: x < x,
    "max": lambda x: str(max(x, x)),
    "minus": lambda x: (-x, 5 - x),
    "or": lambda x: str(x | None),
    "over": lambda x: str(x / "c"),
    "over, reflected": lambda x: str("c" / x),
    "plus": lambda x: str(x + x),
    "round": lambda x: round(x),
    "times": lambda x: (str(x * 2), str(2 * x)),
    "truncate": lambda x: math.trunc(x),
}


def outcome(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return repr(function(value))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("pair", PAIRS)
def test_another_object_of_the_class_is_not_taken_for_the_first(pair: str, deed: str) -> None:
    function = DEEDS[deed]
    jitted = jit(function, mode="PIJit")
    a, b = PAIRS[pair]
    for value in (a, b, a):
        assert outcome(jitted, value) == outcome(function, value)
