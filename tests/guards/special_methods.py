"""Classes whose special methods tell of each call, and what programs do with their instances."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import json
import math
import operator
import os
import re
from collections.abc import Callable
from typing import Any

TOLD: list[str] = []


def tell(name: str, value: Any) -> Any:
    """A special method that tells of its call.

    Args:
        name: its name.
        value: what it returns, or a function of its arguments that gives that.
    """

    def method(self: Any, *args: Any) -> Any:
        TOLD.append(name)
        return value(self, *args) if callable(value) else value

    method.__name__ = name
    return method


NUMERIC: dict[str, Any] = {
    "__add__": 11,
    "__radd__": 12,
    "__sub__": 13,
    "__rsub__": 14,
    "__mul__": 15,
    "__rmul__": 16,
    "__truediv__": 17,
    "__floordiv__": 18,
    "__mod__": 19,
    "__pow__": 20,
    "__matmul__": 21,
    "__and__": 22,
    "__or__": 23,
    "__xor__": 24,
    "__lshift__": 25,
    "__rshift__": 26,
    "__neg__": 27,
    "__pos__": 28,
    "__invert__": 29,
    "__abs__": 30,
    "__round__": 31,
    "__trunc__": 32,
    "__floor__": 33,
    "__ceil__": 34,
    "__divmod__": (1, 2),
    "__rdivmod__": (3, 4),
    "__int__": 5,
    "__float__": 2.5,
    "__complex__": 1j,
    "__index__": 1,
    "__bool__": False,
    "__iadd__": 40,
    "__imul__": 41,
    "__rpow__": 42,
}
COMPARING: dict[str, Any] = {
    "__eq__": True,
    "__ne__": False,
    "__lt__": True,
    "__le__": False,
    "__gt__": False,
    "__ge__": True,
    "__hash__": 7,
}
CONTAINING: dict[str, Any] = {
    "__len__": 2,
    "__getitem__": lambda self, i: [10, 20][i],
    "__setitem__": None,
    "__delitem__": None,
    "__contains__": True,
    "__iter__": lambda self: iter([10, 20]),
    "__reversed__": lambda self: iter([20, 10]),
    "__length_hint__": 2,
}
TEXTUAL: dict[str, Any] = {
    "__str__": "S",
    "__repr__": "R",
    "__format__": "F",
    "__bytes__": b"B",
    "__fspath__": "P",
    "__dir__": lambda self: ["a"],
    "__sizeof__": 99,
}
CALLED: dict[str, Any] = {"__call__": lambda self, *a: 77, "__enter__": 5, "__exit__": True}


def no_special_name(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return 55


class Meta(type):
    def __call__(cls, *a):
        TOLD.append("meta call")
        return super().__call__(*a)

    def __instancecheck__(cls, o):
        TOLD.append("instancecheck")
        return True

    def __subclasscheck__(cls, o):
        TOLD.append("subclasscheck")
        return True

    def __iter__(cls):
        TOLD.append("meta iter")
        return iter([1])

    def __len__(cls):
        TOLD.append("meta len")
        return 1

    def __getitem__(cls, k):
        TOLD.append("meta item")
        return k

    def __contains__(cls, k):
        TOLD.append("meta contains")
        return True

    def __eq__(cls, o):
        TOLD.append("meta eq")
        return True

    def __hash__(cls):
        TOLD.append("meta hash")
        return 1

    def __repr__(cls):
        TOLD.append("meta repr")
        return "M"

    def __add__(cls, o):
        TOLD.append("meta add")
        return 3

    def __bool__(cls):
        TOLD.append("meta bool")
        return False


class M(metaclass=Meta):
    pass


class Descriptor:
    def __get__(self, o, t):
        TOLD.append("get")
        return 9

    def __set__(self, o, v):
        TOLD.append("set")

    def __delete__(self, o):
        TOLD.append("delete")

    def __set_name__(self, o, n):
        TOLD.append("set_name")


class Described:
    d = Descriptor()


def enter(x):
    with x as y:
        1 / 0
    return y


def set_item(x):
    x[0] = 1


def delete_item(x):
    del x[0]


def set_attributes(x):
    x.p = 2
    x.q = 3
    del x.q
    return x.p


def delete_attribute(x):
    del x.p


def use_descriptor(x):
    x.d = 4
    r = x.d
    del x.d
    return r


def augment(x):
    x += 1
    x *= 2
    return x


def if_(x):
    if x:
        return 1
    return 2


def while_(x):
    n = 0
    while not x and n < 2:
        n += 1
    return n


def missing_attribute(x):
    try:
        return x.nothing
    except AttributeError:
        return "no"


def match_(x):
    match x:
        case [a, _]:
            return a
        case {"a": 1}:
            return 2
        case 3:
            return 3
        case str():
            return 4
    return 5


def compare(x):
    return ([a for a in (1, 2) if x == a], {x: 1}, {x})


def slice_by(x):
    return [1, 2, 3][:x] if hasattr(x, "__index__") else 0


DEEDS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + 1,
    "radd": lambda x: 1 + x,
    "sub": lambda x: x - 1,
    "rsub": lambda x: 1 - x,
    "mul": lambda x: x * 2,
    "rmul": lambda x: 2 * x,
    "div": lambda x: x / 2,
    "fdiv": lambda x: x // 2,
    "mod": lambda x: x % 2,
    "pw": lambda x: x**2,
    "rpw": lambda x: 2**x,
    "mm": lambda x: x @ x,
    "an": lambda x: x & 1,
    "orr": lambda x: x | 1,
    "xor": lambda x: x ^ 1,
    "ls": lambda x: x << 1,
    "neg": lambda x: -x,
    "pos": lambda x: +x,
    "inv": lambda x: ~x,
    "ab": lambda x: abs(x),
    "rnd": lambda x: round(x),
    "rnd2": lambda x: round(x, 1),
    "tr": lambda x: math.trunc(x),
    "fl": lambda x: math.floor(x),
    "ce": lambda x: math.ceil(x),
    "dm": lambda x: divmod(x, 2),
    "rdm": lambda x: divmod(5, x),
    "it": lambda x: int(x),
    "fl2": lambda x: float(x),
    "cx": lambda x: complex(x),
    "ix": lambda x: [1, 2, 3][x],
    "idx": lambda x: operator.index(x),
    "bl": lambda x: bool(x),
    "nt": lambda x: not x,
    "an2": lambda x: x and 1,
    "or2": lambda x: x or 1,
    "ifs": if_,
    "whil": while_,
    "aug": augment,
    "eq": lambda x: x == 1,
    "eqr": lambda x: 1 == x,
    "ne": lambda x: x != 1,
    "lt": lambda x: x < 1,
    "gt": lambda x: 1 > x,
    "chain": lambda x: 0 < x < 5,
    "hs": lambda x: hash(x),
    "dct": lambda x: {x: 1},
    "dget": lambda x: {7: 1}.get(x),
    "inl": lambda x: x in [1, 2],
    "ind": lambda x: x in {1: 2},
    "cnt": lambda x: [1, x].count(1),
    "idx2": lambda x: [3, x].index(x),
    "rem": lambda x: [3, x].remove(x),
    "srt": lambda x: sorted([x, x]),
    "mx": lambda x: max(x, x),
    "mn": lambda x: min([x, x]),
    "st": lambda x: str(x),
    "rp": lambda x: repr(x),
    "fs": lambda x: f"{x} {x!r} {x:>5}",
    "fm": lambda x: f"{x} {x!r}",
    "pc": lambda x: "%s %r" % (x, x),  # noqa: UP031
    "pcd": lambda x: "%d" % x,  # noqa: UP031
    "by": lambda x: bytes(x),
    "fsp": lambda x: os.fspath(x),
    "dr": lambda x: dir(x),
    "ln": lambda x: len(x),
    "gi": lambda x: x[0],
    "gs": lambda x: x[0:1],
    "si": set_item,
    "di": delete_item,
    "co": lambda x: 1 in x,
    "ls2": lambda x: list(x),
    "rv": lambda x: list(reversed(x)),
    "lh": lambda x: operator.length_hint(x),
    "call": lambda x: x(1, 2),
    "wi": enter,
    "ga": lambda x: x.foo,
    "gat": lambda x: getattr(x, "foo", 3),
    "ha": lambda x: hasattr(x, "foo"),
    "tryx": missing_attribute,
    "sp": set_attributes,
    "dp": delete_attribute,
    "ds": use_descriptor,
    "cl": lambda x: x.__class__.__name__,
    "isi": lambda x: isinstance(x, int),
    "isM": lambda x: isinstance(x, M),
    "iss": lambda x: issubclass(type(x), M),
    "mt": match_,
    "cmp": compare,
    "sl": slice_by,
    "rng": lambda x: list(range(x)),
    "chrr": lambda x: chr(x),
    "hx": lambda x: hex(x),
    "sm": lambda x: sum([x, x]),
    "sms": lambda x: sum([1], x),
    "any": lambda x: any([x, x]),
    "al": lambda x: all([x]),
    "fil": lambda x: list(filter(None, [x])),
    "fmp": lambda x: list(map(x, [1])),
    "prt": lambda x: functools.partial(x, 1)(),
    "red": lambda x: functools.reduce(x, [1, 2]),
    "cpy": lambda x: type(copy.copy(x)).__name__,
    "dcp": lambda x: type(copy.deepcopy(x)).__name__,
    "js": lambda x: json.dumps(x),
    "zp": lambda x: list(zip(x, x, strict=False)),
    "star": lambda x: (lambda *a: a)(*x),
    "key": lambda x: sorted([1, 2], key=x),
    "key2": lambda x: max([1, 2], key=x),
    "opa": lambda x: operator.add(x, 1),
    "opi": lambda x: operator.getitem(x, 0),
    "opt": lambda x: operator.truth(x),
    "opc": lambda x: operator.contains(x, 1),
    "ig": lambda x: operator.itemgetter(0)(x),
    "ag": lambda x: operator.attrgetter("foo")(x),
    "mc": lambda x: operator.methodcaller("foo")(x),
    "setu": lambda x: {1, 2} | {x},
    "sin": lambda x: {x} & {1},
    "tup": lambda x: (1, x) == (1, 1),
    "tlt": lambda x: (1, x) < (1, 1),
    "leq": lambda x: [x] == [1],
    "deq": lambda x: {1: x} == {1: 1},
    "rep": lambda x: [0] * x,
    "srep": lambda x: "a" * x,
    "sfind": lambda x: "abc".find("c", x),
    "rj": lambda x: "a".rjust(x),
    "bi": lambda x: (1).__add__(x),
    "pwm": lambda x: pow(2, x, 5),
    "sq": lambda x: math.sqrt(x),
    "gcd": lambda x: math.gcd(x, 4),
    "isl": lambda x: list(itertools.islice([1, 2, 3], x)),
    "ren": lambda x: re.sub("a", x, "ab"),
    "enum": lambda x: list(enumerate([1], x)),
    "vrs": lambda x: vars(x),
    "idd": lambda x: id(x) == id(x),
    "typ": lambda x: operator.eq(type(x), type(x)),
    "cal": lambda x: callable(x),
    "nxt": lambda x: next(iter(x)),
    "setd": lambda x: {}.setdefault(x, 1),
    "cn": lambda x: collections.Counter([x, x]),
    "dd": lambda x: collections.defaultdict(list)[x],
    "dq": lambda x: collections.deque([x]).count(1),
    "asr": lambda x: (lambda: None)() if not x else 1,
    "jn": lambda x: ",".join([x]),
    "jn2": lambda x: ",".join(x),
    "intb": lambda x: int("11", x),
    "sltu": lambda x: (1, 2, 3)[:x],
    "setx": lambda x: [5, 6, 7].pop(x),
    "ins": lambda x: [1].insert(x, 2),
    "dkeys": lambda x: {x: 1, 1: 2},
}


def through(name: str) -> Callable[..., Any]:
    """A method that calls that of the class's base."""
    return lambda self, *args: getattr(super(type(self), self), name)(*args)


#: how to make an object of each kind
MAKERS: dict[str, Callable[[], Any]] = {"meta": lambda: Meta("M", (), {}), "descriptor": Described}
for kind, methods in {
    "numeric": NUMERIC,
    "comparing": COMPARING,
    "containing": CONTAINING,
    "textual": TEXTUAL,
    "called": CALLED,
    "attributes": {"__getattr__": no_special_name},
    "everything": {**NUMERIC, **COMPARING, **CONTAINING, **TEXTUAL, **CALLED},
}.items():
    MAKERS[kind] = type(kind, (), {name: tell(name, value) for name, value in methods.items()})
for base, given in (
    (int, 3), (float, 2.5), (str, "ab"), (bytes, b"ab"), (tuple, [1, 2]), (list, [1, 2]), (set, [1, 2]),
    (frozenset, [1, 2]), (dict, {1: 2}),
):  # fmt: skip
    methods = {
        name: tell(name, through(name))
        for name in (*NUMERIC, *COMPARING, *CONTAINING, *TEXTUAL)
        if hasattr(base, name) and name not in ("__dir__", "__sizeof__")
    }
    MAKERS[base.__name__] = functools.partial(type(f"Told{base.__name__}", (base,), methods), given)
