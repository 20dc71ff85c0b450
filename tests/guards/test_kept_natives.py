"""Methods in C, partials and views that are kept outside read what they are bound to: as it is at each call."""

from __future__ import annotations

import array
import collections
import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor

CONTAINERS: dict[str, Callable[[], Any]] = {
    "list": lambda: [3, 1, 2],
    "dict": lambda: {1: 10, 2: 20, "a": 5},
    "set": lambda: {1, 2, 3},
    "deque": lambda: collections.deque([1, 2, 3]),
    "bytearray": lambda: bytearray(b"abc"),
    "OrderedDict": lambda: collections.OrderedDict(a=1, b=2),
    "defaultdict": lambda: collections.defaultdict(int, {1: 2}),
    "Counter": lambda: collections.Counter("aab"),
    "array": lambda: array.array("i", [1, 2, 3]),
    "ndarray": lambda: np.arange(3.0),
}
ARGUMENTS: tuple[tuple[Any, ...], ...] = ((), (1,), ("a",), ([1],), (slice(0, 2),), (1, 2))
#: what makes or describes objects, shows addresses, keeps memory from being resized (from 3.12 on), or gives elements
#: of a set in an order that Python leaves open
LEFT_OUT = {
    "__class__", "__init_subclass__", "__subclasshook__", "__new__", "__init__", "__setstate__", "__sizeof__",
    "__reduce__", "__reduce_ex__", "__getstate__", "__class_getitem__", "__array_finalize__", "setflags", "__dlpack__",
    "mT", "byteswap", "resize", "buffer_info", "__buffer__", "__release_buffer__", "tofile", "dump", "dumps",
    "partition", "__array_wrap__",
}  # fmt: skip


def shown(value: Any) -> Any:
    """A result as something that compares by value."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, tuple):
        return tuple(map(shown, value))
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, (Iterator, *map(type, ({}.keys(), {}.values(), {}.items())))):
        return [shown(item) for item in value]
    return repr(value)


def change(held: Any, number: int) -> None:
    """Change a container as programs do between two calls."""
    if isinstance(held, dict):
        held[number + 100] = number
    elif isinstance(held, set):
        held.add(number + 10)
    elif isinstance(held, np.ndarray):
        held[0] = number + 7
    else:
        held.append(number + 65)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return shown(function(*args))
    except Exception as error:
        return type(error).__name__, str(error)[:60]


def bound_methods(kind: str) -> list[tuple[str, tuple[Any, ...]]]:
    """The calls that each method of a container in C takes."""
    found = []
    for name in dir(CONTAINERS[kind]()):
        if name in LEFT_OUT or (kind, name) == ("set", "pop"):
            continue
        for args in ARGUMENTS:
            method = getattr(CONTAINERS[kind](), name)
            if name not in LEFT_OUT and callable(method) and not (kind == "set" and name == "pop"):
                try:
                    method(*args)
                except Exception:
                    continue
                found.append((name, args))
    return found


@pytest.mark.parametrize("kind", CONTAINERS)
def test_bound_methods_read_their_container(kind: str) -> None:
    for name, args in bound_methods(kind):
        found = []
        for compiled in (False, True):
            held = CONTAINERS[kind]()
            method = getattr(held, name)

            def program(x: Tensor, method: Any = method, args: Any = args) -> Any:
                return x * 2, method(*args)

            function = weft.jit(program, mode="PIJit") if compiled else program
            seen: list[Any] = []
            for number in range(3):
                seen += [outcome(function, Tensor([1.0])), shown(held)]
                change(held, number)
            found.append(seen)
        assert found[0] == found[1], (name, args)


def world() -> dict[str, Any]:
    """Objects that change between two calls."""
    return {
        "l": [3, 1, 2], "d": {0: 5, 1: 3, 2: 4}, "s": {0, 2}, "q": collections.deque([5, 6, 7]),
        "b": bytearray(b"abcd"), "o": collections.OrderedDict([(0, 1), (1, 2), (2, 0)]), "n": np.arange(3.0),
    }  # fmt: skip


def change_world(w: dict[str, Any], number: int) -> None:
    for name in ("l", "d", "q", "o", "b", "n"):
        w[name][number % 3] += number + 1
    w["l"].append(number)
    w["d"][number + 10] = number
    w["s"] ^= {number % 3, number + 5}


#: callables of one argument
KEPT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "list": lambda w: w["l"].__getitem__,
    "dict": lambda w: w["d"].__getitem__,
    "dict.get": lambda w: w["d"].get,
    "set": lambda w: w["s"].__contains__,
    "ndarray": lambda w: w["n"].__getitem__,
    "ndarray.item": lambda w: w["n"].item,
    "partial of a method": lambda w: functools.partial(w["d"].get),
    "partial of an operator": lambda w: functools.partial(operator.getitem, w["l"]),
    "partial of a function": lambda w: functools.partial(lambda held, i: held[i], w["l"]),
    "method of a list": lambda w: types.MethodType(lambda held, i: held[i], w["l"]),
    "keys": lambda w: functools.partial(lambda view, i: (i, len(view), 10 in view), w["d"].keys()),
    "values": lambda w: functools.partial(lambda view, i: (i, list(view)), w["d"].values()),
    "items of an OrderedDict": lambda w: functools.partial(lambda view, i: (i, list(view)), w["o"].items()),
    "mappingproxy": lambda w: types.MappingProxyType(w["d"]).__getitem__,
}
#: what programs do with them
USES: dict[str, Callable[[Any], Any]] = {
    "call": lambda f: f(1),
    "map": lambda f: list(map(f, [0, 1, 2])),
    "filter": lambda f: list(filter(f, [0, 1, 2])),
    "sorted": lambda f: sorted([0, 1, 2], key=f),
    "max": lambda f: max([0, 1, 2], key=f),
    "partial": lambda f: functools.partial(f, 1)(),
    "starmap": lambda f: list(itertools.starmap(f, [(0,), (1,)])),
    "takewhile": lambda f: list(itertools.takewhile(f, [0, 1, 2])),
    "groupby": lambda f: [(key, list(group)) for key, group in itertools.groupby([0, 1, 2], f)],
    "comprehension": lambda f: [f(i) for i in (0, 1, 2)],
    "condition": lambda f: 1 if f(1) else 2,
}


class Box:
    held: Any


def carried(how: str, use: Callable[[Any], Any], kept: Any) -> Callable[[Tensor], Any]:
    """A program that uses what is kept in a closure, an attribute or a tuple."""
    box = Box()
    box.held = kept
    both = (kept, 1)
    if how == "closure":
        return lambda x: (x * 2, use(kept))
    return (lambda x: (x * 2, use(box.held))) if how == "attribute" else lambda x: (x * 2, use(both[0]))


@pytest.mark.parametrize("how", ["closure", "attribute", "tuple"])
@pytest.mark.parametrize("name", KEPT)
def test_kept_callables(name: str, how: str) -> None:
    for use in USES:
        found = []
        for compiled in (False, True):
            w = world()
            program = carried(how, USES[use], KEPT[name](w))
            function = weft.jit(program, mode="PIJit") if compiled else program
            seen = []
            for number in range(4):
                seen.append(outcome(function, Tensor([1.0])))
                change_world(w, number)
            found.append(seen)
        assert found[0] == found[1], use


def test_functions_as_items_stay_themselves() -> None:
    def item(value: Any) -> Any:
        return value

    @weft.jit(mode="PIJit")
    def program(x: Tensor) -> Any:
        return x * 2, list(itertools.repeat(item, 2)), list(itertools.zip_longest([1], [2, 3], fillvalue=item))

    _, repeated, filled = program(Tensor([1.0]))
    assert repeated == [item, item]
    assert filled == [(1, 2), (item, 3)]
