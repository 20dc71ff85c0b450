"""Containers of the program's own classes, whose methods tell of each call: captured code calls them as Python does.

Guards and replayed writes go past those methods, and native code that would call them is noticed.
"""

from __future__ import annotations

import collections
import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
from special_methods import TOLD, tell, through

from weft.jit import jit


def telling(base: Any, *names: str, **others: Any) -> Any:
    """A class derived from a container whose methods tell of each call, and do what those of the container do."""
    methods = {name: tell(name, through(name)) for name in names}
    return type(f"Telling{base.__name__}", (base,), {**methods, **others})


Listed = telling(list, "__iter__", "__len__", "__getitem__", "__setitem__", "extend", "__contains__")
Mapped = telling(
    dict, "__iter__", "__len__", "keys", "items", "__getitem__", "__setitem__", "__contains__",
    __missing__=tell("__missing__", 7),
)  # fmt: skip
Unordered = telling(set, "__iter__", "__len__", "__contains__", "__eq__", __hash__=None)
Queue = telling(collections.deque, "__iter__", "__len__", "__getitem__")


class Iterable:
    def __iter__(self) -> Any:
        TOLD.append("iter")
        return iter([1, 2])

    def __len__(self) -> int:
        TOLD.append("len")
        return 2

    def __length_hint__(self) -> int:
        TOLD.append("hint")
        return 2


class Generating:
    def __iter__(self) -> Any:
        TOLD.append("first")
        yield 1
        TOLD.append("second")
        yield 2


class Indexed:
    def __getitem__(self, index: int) -> int:
        TOLD.append("item")
        if index > 1:
            raise IndexError
        return index + 1

    def __len__(self) -> int:
        TOLD.append("len")
        return 2


def starred(x: Any) -> Any:
    def inner(*args: Any) -> Any:
        return args

    return inner(*x), inner(0, *x)


def keywords(x: Any) -> Any:
    def inner(**kwargs: Any) -> Any:
        return kwargs

    return inner(a=1, **x)


def put(x: Any) -> Any:
    made = [0]
    made[:] = x
    made += x
    made.extend(x)
    return made


def merged(x: Any) -> Any:
    made = {3: 4}
    made.update(x)
    return made


def write(x: Any) -> Any:
    x[1] = 9
    return x[1]


def grow(x: Any) -> None:
    x.extend([8, 9])


def unpacked(x: Any) -> Any:
    a, b = x
    c, *d = x
    return a, b, c, d


DEEDS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: all(x),
    "bool": lambda x: bool(x),
    "bytearray": lambda x: bytearray(x),
    "comprehension": lambda x: [(y, y) for y in x],
    "contains": lambda x: (1 in x, 5 in x),
    "copy": lambda x: copy.copy(x),
    "count": lambda x: x.count(1),
    "deque": lambda x: collections.deque(x),
    "dict": lambda x: dict(x),
    "display": lambda x: ([*x], (*x,), {*x}),
    "display of a mapping": lambda x: {0: 1, **x},
    "enumerate": lambda x: list(enumerate(x)),
    "equals": lambda x: x == x,
    "format": lambda x: (f"{x}", "{}".format(x), "%s" % (x,)),  # noqa: UP031, UP032
    "frozenset": lambda x: frozenset(x),
    "fromkeys": lambda x: dict.fromkeys(x),
    "get": lambda x: x.get(1),
    "grow": grow,
    "index": lambda x: x.index(1),
    "item": lambda x: x[1],
    "item that is missing": lambda x: x[5],
    "join": lambda x: "".join(x),
    "join of texts": lambda x: ",".join(map(str, x)),
    "keywords": keywords,
    "last": lambda x: x[-1],
    "len": lambda x: len(x),
    "list": lambda x: list(x),
    "list of another class": lambda x: list.__len__(Listed(x)),
    "map": lambda x: list(map(str, x)),
    "max": lambda x: max(x),
    "merge": merged,
    "plus": lambda x: [1] + x,
    "put": put,
    "reversed": lambda x: list(reversed(x)),
    "set": lambda x: set(x),
    "slice": lambda x: x[:1],
    "sorted": lambda x: sorted(x),
    "starred": starred,
    "sum": lambda x: sum(x),
    "times": lambda x: x * 2,
    "tuple": lambda x: tuple(x),
    "unpack": unpacked,
    "update": lambda x: set().update(x),
    "values": lambda x: list(dict.values(x)),
    "write": write,
    "zip": lambda x: list(zip(x, x, strict=False)),
}

MAKERS: dict[str, Callable[[], Any]] = {
    "list": lambda: Listed([1, 2]),
    "dict": lambda: Mapped({1: 1, 2: 2}),
    "set": lambda: Unordered([1, 2]),
    "deque": lambda: Queue([1, 2]),
    "iterable": Iterable,
    "generating": Generating,
    "indexed": Indexed,
}


def plain(value: Any) -> Any:
    """What a container holds, past its methods."""
    for base in (list, dict, set, collections.deque):
        if isinstance(value, base):
            return type(value).__name__, base.__repr__(value)  # type: ignore[type-var]
    shown = None if type(value).__module__ == __name__ else re.sub(" at 0x[0-9a-f]+", "", repr(value))
    return type(value).__name__, shown


def told(function: Callable[[Any], Any], make: Callable[[], Any]) -> list[Any]:
    """What some calls give and tell, and what then is in their argument."""
    found = []
    kept = make()
    for argument in (kept, kept, make()):
        TOLD.clear()
        result: Any
        try:
            result = function(argument)
        except Exception as error:
            result = repr(error)
        calls = tuple(TOLD)
        found.append((plain(result), calls, plain(argument)))
    return found


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("maker", MAKERS)
def test_methods_are_called_as_python_calls_them(deed: str, maker: str) -> None:
    function, make = DEEDS[deed], MAKERS[maker]
    assert told(jit(function, mode="PIJit"), make) == told(function, make)


class Counted(int):
    """A key that counts how often it is hashed and compared."""

    counts: collections.Counter[str] = collections.Counter()

    def __hash__(self) -> int:
        Counted.counts["hash"] += 1
        return int(self)

    def __eq__(self, other: object) -> bool:
        Counted.counts["eq"] += 1
        return int(self) == other


def total(container: Any) -> Any:
    return sum(container.values()) if isinstance(container, dict) else sum(1 for _ in container)


@pytest.mark.parametrize("make", [dict, collections.OrderedDict, collections.Counter, set, frozenset])
def test_guards_do_not_hash_the_keys_of_the_program(make: Any) -> None:
    keys = [Counted(n) for n in range(4)]
    container = make(keys) if make in (set, frozenset) else make(zip(keys, range(4), strict=True))
    jitted = jit(total, mode="PIJit")
    Counted.counts.clear()
    wanted = total(container)
    if make is not collections.OrderedDict:  # which looks up its keys itself
        Counted.counts.clear()
        assert [jitted(container) for _ in range(3)] == [wanted] * 3
        assert not Counted.counts
    if make is dict:
        container[keys[2]] = 10
        assert jitted(container) == total(container)
    elif make is collections.OrderedDict:
        container.move_to_end(keys[0])
        assert jit(lambda d: list(d.values()), mode="PIJit")(container) == [1, 2, 3, 0]
