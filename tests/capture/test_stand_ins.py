"""What stands for Python's objects while capturing (ranges, iterators, texts, numbers, choices) is never seen.

Each stand-in goes through every door by which a program can look at an object. What a door shows is what it shows in
Python: that the capture cannot tell may cost a break, and never changes an answer.
"""

from __future__ import annotations

import collections
import collections.abc
import copy
import functools
import inspect
import itertools
import json
import numbers
import operator
import re
import types
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor

X = Tensor([1.0, 2.0])


class _Indexed:
    def __getitem__(self, index: int) -> int:
        return [5, 6, 7][index]


class _Text(str):
    __slots__ = ()


class _Holder:
    pass


class _Slotted:
    __slots__ = ("held", "listed")

    def __init__(self, held: Any) -> None:
        self.held = held
        self.listed = [held]


def _generator(n: Any) -> Any:
    yield n
    yield 2


def _choice(n: Any) -> Any:
    a, b = X + 1, X + 2
    return a if n > 1 else b


STAND_INS: dict[str, Callable[[Any], Any]] = {
    "range": lambda n: range(int(n)),
    "range from": lambda n: range(int(n) - 2, 9, 2),
    "range iterator": lambda n: iter(range(int(n))),
    "list iterator": lambda n: iter([int(n), 2]),
    "str iterator": lambda n: iter("ab"),
    "dict iterator": lambda n: iter({"a": n}),
    "items iterator": lambda n: iter({"a": 1}.items()),
    "reversed": lambda n: reversed([int(n), 2]),
    "zip": lambda n: zip([int(n)], [2], strict=False),
    "map": lambda n: map(lambda i: i + 1, [int(n), 2]),  # noqa: C417
    "filter": lambda n: filter(None, [2, 3]),
    "enumerate": lambda n: enumerate([int(n), 2]),
    "call iterator": lambda n: iter([4, 3, 2].pop, 4),
    "islice": lambda n: itertools.islice([int(n), 2], 1),
    "chain": lambda n: itertools.chain([int(n)], [2]),
    "generator": lambda n: _generator(int(n)),
    "generator expression": lambda n: (i * n for i in [1, 2]),
    "by index": lambda n: iter(_Indexed()),
    "text": lambda n: f"a{int(n)}",
    "text by str": lambda n: str(int(n)),
    "int": lambda n: int(n),
    "float": lambda n: float(n) / 2,
    "bool": lambda n: bool(n > 1),
    "item": lambda n: n.item(),
    "choice": _choice,
    "slice": lambda n: slice(int(n)),
    "exception": lambda n: ValueError(int(n)),
    "method": lambda n: [int(n)].append,
    "keys": lambda n: {1: int(n)}.keys(),
}


def _looped(v: Any) -> Any:
    found = []
    for i in v:
        found.append(i)
        if len(found) > 3:
            break
    return found


def _matched(v: Any) -> Any:
    match v:
        case range():
            return "range"
        case str():
            return "str"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case []:
            return "empty"
        case [_, *_]:
            return "sequence"
        case {}:
            return "mapping"
    return "other"


@functools.singledispatch
def _dispatched(v: Any) -> Any:
    return "object"


_dispatched.register(range)(lambda v: "range")
_dispatched.register(str)(lambda v: "str")
_dispatched.register(int)(lambda v: "int")
_dispatched.register(collections.abc.Iterator)(lambda v: "iterator")


def _raised(v: Any) -> Any:
    try:
        raise KeyError(v)
    except KeyError as error:
        return str(error), error.args[0] is v


def _held(v: Any) -> Any:
    holder: Any = _Holder()
    holder.v = v
    return holder.v is v, isinstance(holder.v, type(v)), [holder.v]


def _written(v: Any) -> Any:
    v.name = 1
    return "written"


def _defaulted(v: Any) -> Any:
    d: Any = collections.defaultdict(list)
    d[v].append(1)
    return len(d), list(d.values())


_ABSTRACT = (
    collections.abc.Iterator, collections.abc.Iterable, collections.abc.Sequence, collections.abc.Sized,
    collections.abc.Container, collections.abc.Hashable, collections.abc.Generator, collections.abc.Reversible,
    collections.abc.Callable, numbers.Number, numbers.Integral,
)  # fmt: skip
_CLASSES = (range, zip, map, filter, enumerate, str, int, float, bool, types.GeneratorType, Tensor, list, object)

DOORS: dict[str, Callable[[Any], Any]] = {
    "type": lambda v: (type(v), type(v).__name__, type(v) is range, type(v) is str, type(v) in (int, float)),
    "__class__": lambda v: (v.__class__, v.__class__.__name__),
    "isinstance": lambda v: [isinstance(v, kind) for kind in _CLASSES],
    "isinstance of several": lambda v: (isinstance(v, (range, list)), isinstance(v, (str, int))),
    "isinstance of abstract": lambda v: [isinstance(v, kind) for kind in _ABSTRACT],
    "issubclass": lambda v: [issubclass(type(v), kind) for kind in (*_CLASSES, *_ABSTRACT)],
    "str": lambda v: str(v),
    "str.__str__": lambda v: type(v).__str__(v),
    "repr": lambda v: repr(v),
    "ascii": lambda v: ascii(v),
    "f-string": lambda v: f"<{v}>",
    "f-string by repr": lambda v: f"<{v!r}>",
    "f-string by ascii": lambda v: f"<{v!a}>",
    "f-string with a width": lambda v: f"<{v:>9}>",
    "format": lambda v: (format(v), format(v, "")),
    "format with a width": lambda v: format(v, ">9"),
    "str.format": lambda v: "<{}>".format(v),  # noqa: UP032
    "str.format by repr": lambda v: "<{!r}>".format(v),  # noqa: UP032
    "str.format with a width": lambda v: "<{:>9}>".format(v),  # noqa: UP032
    "str.format of an attribute": lambda v: "<{0.__class__.__name__}>".format(v),  # noqa: UP030, UP032
    "str.format of an item": lambda v: "<{0[0]}>".format(v),  # noqa: UP030, UP032
    "str.format inside a list": lambda v: "<{}>".format([v]),  # noqa: UP032
    "format_map": lambda v: "<{v}>".format_map({"v": v}),
    "percent": lambda v: "<%s>" % (v,),  # noqa: UP031
    "percent by repr": lambda v: "<%r>" % (v,),  # noqa: UP031
    "percent with a width": lambda v: "<%9s>" % (v,),  # noqa: UP031
    "percent of a number": lambda v: "<%d>" % (v,),  # noqa: UP031
    "join": lambda v: ", ".join([v, "b"]),
    "join of its items": lambda v: ", ".join(v),
    "concatenated": lambda v: "a" + v,
    "added": lambda v: v + v,
    "added in place": lambda v: operator.iadd(v, v),
    "times": lambda v: v * 2,
    "upper": lambda v: v.upper(),
    "str of a list": lambda v: str([v]),
    "str of a dictionary": lambda v: str({"a": v}),
    "==": lambda v: (v == v, v != v, v == None, v != 3, v == "a3", v == range(3)),  # noqa: E711
    "== reflected": lambda v: (range(3) == v, 3 == v, "a3" == v, None == v, [] == v),  # noqa: E711, SIM300
    "== in lists": lambda v: ([v] == [v], [v] == [range(3)], (v,) == (3,)),
    "<": lambda v: v < 3,
    "operator.eq": lambda v: (operator.eq(v, v), operator.eq(v, range(3)), operator.ne(3, v)),
    "is": lambda v: (v is v, v is None, v is not None, [v][0] is v),
    "hash": lambda v: (hash(v) == hash(v), isinstance(hash(v), int)),
    "hash of an equal": lambda v: (hash(v) == hash(range(3)), hash(v) == hash(3), hash(v) == hash("a3")),
    "in a list": lambda v: (v in [v], v in [None, range(3)], v in (3, "a3"), [v].index(v), [v, v].count(v)),
    "in a set": lambda v: (v in {range(3), 3, "a3"}, v in {None}),
    "an item in it": lambda v: (2 in v, "a" in v),
    "a key": lambda v: ({v: 1}[v], {range(3): 1, 3: 2, "a3": 3}.get(v)),
    "a set": lambda v: (len({v, v}), len(frozenset([v])), {v} == {range(3)}),
    "setdefault": lambda v: {}.setdefault(v, 4),
    "defaultdict": _defaulted,
    "Counter": lambda v: list(collections.Counter([v, v]).values()),
    "len": lambda v: len(v),
    "length_hint": lambda v: operator.length_hint(v),
    "bool": lambda v: (bool(v), not v, v and 1, v or 2),
    "if": lambda v: X + 1 if v else X - 1,
    "first": lambda v: v[0],
    "last": lambda v: v[-1],
    "far": lambda v: v[99],
    "slice": lambda v: v[1:],
    "by a name": lambda v: v["a"],
    "getitem": lambda v: operator.getitem(v, 0),
    "written": lambda v: operator.setitem(v, 0, 1),
    "deleted": lambda v: operator.delitem(v, 0),
    "attribute written": _written,
    "iterated": _looped,
    "next": lambda v: next(v),
    "next of iter": lambda v: next(iter(v)),
    "iter is": lambda v: iter(v) is v,
    "reversed": lambda v: list(itertools.islice(reversed(v), 3)),
    "list": lambda v: list(itertools.islice(v, 3)),
    "unpacked": lambda v: [*itertools.islice(v, 2)],
    "starred": lambda v: (lambda a, *rest: (a, len(rest)))(*itertools.islice(v, 2)),
    "sum": lambda v: sum(itertools.islice(v, 2)),
    "zip": lambda v: next(zip(v, [1, 2], strict=False)),
    "enumerate": lambda v: next(enumerate(v)),
    "min": lambda v: min(itertools.islice(v, 2)),
    "sorted": lambda v: sorted(itertools.islice(v, 2)),
    "sorted list of it": lambda v: len(sorted([v], key=lambda i: 0)),
    "max of several": lambda v: max(v, v, key=lambda i: 0) is v,
    "callable": lambda v: callable(v),
    "hasattr": lambda v: [
        hasattr(v, name)
        for name in ("send", "__next__", "__iter__", "__len__", "upper", "real", "touch", "journal", "stands_for")
    ],
    "hasattr of the capture's": lambda v: [
        hasattr(v, name) for name in ("start", "parts", "tensor", "kind", "cases", "machine")
    ],
    "getattr with a default": lambda v: (getattr(v, "nothing", 4), getattr(v, "position", 4), getattr(v, "kind", 4)),
    "dir": lambda v: dir(v),
    "vars": lambda v: vars(v),
    "__doc__": lambda v: v.__doc__,
    "__module__": lambda v: type(v).__module__,
    "mro": lambda v: type(v).__mro__,
    "made by its type": lambda v: type(v)(3),
    "int": lambda v: int(v),
    "float": lambda v: float(v),
    "index": lambda v: operator.index(v),
    "abs": lambda v: abs(v),
    "divmod": lambda v: divmod(v, 2),
    "copy": lambda v: type(copy.copy(v)),
    "deepcopy": lambda v: type(copy.deepcopy(v)),
    "copied slot": lambda v: copy.copy(_Slotted(v)).held,
    "deep-copied slots": lambda v: (lambda c: (c.held, c.listed))(copy.deepcopy(_Slotted(v))),
    "state of slots": lambda v: _Slotted(v).__reduce_ex__(4)[2],
    "held by __getstate__": lambda v: _Slotted(v).__getstate__(),
    "copied items": lambda v: copy.deepcopy([[v]])[0],
    "named slot": lambda v: operator.attrgetter("held", "listed")(_Slotted(v)),
    "slot in a text": lambda v: "{0.held} {0.listed[0]}".format(_Slotted(v)),
    "json": lambda v: json.dumps([v]),
    "isgenerator": lambda v: (inspect.isgenerator(v), inspect.isfunction(v)),
    "singledispatch": _dispatched,
    "match": _matched,
    "raised": _raised,
    "held": _held,
    "returned": lambda v: v,
    "returned in a list": lambda v: [v, 1],
    "returned in a dictionary": lambda v: {"v": v},
    "partial": lambda v: functools.partial(type, v)(),
    "reduce": lambda v: functools.reduce(lambda a, b: b, [v, v]) is v,
    "map": lambda v: list(map(type, [v])),
    "start": lambda v: v.start,
    "stop": lambda v: (v.stop, v.step),
    "index of": lambda v: v.index(2),
    "count of": lambda v: v.count(2),
    "as a tensor": lambda v: Tensor(v),
    "beside a tensor": lambda v: X * v,
}  # fmt: skip

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shown(value: Any, depth: int = 0) -> Any:
    """A result to compare: what it is, and what can be taken out of it."""
    if isinstance(value, Tensor):
        return "tensor", str(value.dtype), value.asnumpy().tolist()
    if isinstance(value, str):
        return type(value), _ADDRESS.sub(" at", value)
    if isinstance(value, (list, tuple)):
        return type(value), [shown(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: shown(item, depth + 1) for key, item in value.items()}
    if isinstance(value, collections.abc.Iterator):
        return type(value), [shown(item) for item in itertools.islice(value, 4)]
    if isinstance(value, BaseException):
        return type(value), [shown(item) for item in value.args]
    if callable(value) and not isinstance(value, type):
        return type(value)
    return type(value), _ADDRESS.sub(" at", repr(value))


def answer(function: Any, n: Any) -> Any:
    """What a call returns or raises."""
    try:
        return shown(function(n))
    except Exception as error:
        return "raised", type(error), _ADDRESS.sub(" at", str(error))


def through(stand_in: Any, door: Any) -> Any:
    """A program that makes an object and looks at it."""

    def program(n: Any) -> Any:
        return door(stand_in(n))

    return program


@pytest.mark.parametrize("name", STAND_INS)
def test_no_door_shows_a_stand_in(name: str) -> None:
    wrong = []
    for door, look in DOORS.items():
        program = through(STAND_INS[name], look)
        compiled = weft.jit(program)
        for value in (3, 0) if name == "range" else (3,):
            wanted, found = answer(program, Tensor(value)), answer(compiled, Tensor(value))
            if wanted != found:
                wrong.append((door, value, wanted, found))
    assert not wrong, "\n".join(f"{door} ({value}):\n  wanted {w}\n  found  {f}" for door, value, w, f in wrong)


def reversed_loop(x: Any, n: Any) -> Any:
    for i in reversed(range(1, int(n) * 2, 2)):
        x = x * 2 + i
    return x


def loop_of_iter(x: Any, n: Any) -> Any:
    for i in iter(range(int(n))):
        x = x * 2 + i
    return x


IN_GRAPHS: dict[str, Callable[[Any, Any], Any]] = {
    "if": lambda x, n: x + 1 if range(int(n)) else x - 1,
    "len": lambda x, n: x * len(range(int(n))),
    "len by a step": lambda x, n: x * len(range(1, int(n), 2)),
    "len backwards": lambda x, n: x * len(range(7, int(n), -3)),
    "bounds": lambda x, n: x * range(int(n)).stop + range(int(n)).step,
    "isinstance": lambda x, n: x if isinstance(range(int(n)), range) else -x,
    "type": lambda x, n: x if type(range(int(n))) is range else -x,
    "first": lambda x, n: x * range(2, int(n) + 5)[0],
    "last": lambda x, n: x * range(2, int(n) + 5, 2)[-1],
    "reversed": reversed_loop,
    "iter": loop_of_iter,
}


@pytest.mark.parametrize("name", IN_GRAPHS)
def test_what_a_graph_computes_of_ranges(name: str) -> None:
    program = IN_GRAPHS[name]
    compiled = weft.jit(program, fullgraph=True)
    for n in (3, 0, 1, -2, 6):
        assert shown(compiled(X, Tensor(n))) == shown(program(X, Tensor(n)))
    assert len(compiled.report().graphs) == 1
