"""Names that no program spells, and values that equality does not tell apart: both stand in guards and entries."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from object_programs import show

from weft import Tensor
from weft.jit import jit

NAMES = [
    "lambda", "a-b", "{q}", "{}", "", 'q"\'', "a\nb", "\\", "\ud800", "\u00fc", "\ufb01", "None", "%s", "{0!r}", "a.b",
    "x[0]", "stored", "a0", "MISS", "\x00", "e" * 300,
]  # fmt: skip
MOD = types.ModuleType("mod")


class Plain:
    pass


HOLD = Plain()


# -- names: a program, what changes from outside, and what the program leaves behind --------------------------------------


def n_attr_read(name):
    o = Plain()
    o.__dict__[name] = 2

    def f(x):
        return x * getattr(o, name) + getattr(o, name + "_", 5)

    def change(i):
        o.__dict__[name] = i + 3

    return f, change, lambda: o.__dict__


def n_attr_tensor(name):
    o = Plain()
    o.__dict__[name] = Tensor(np.ones(2, np.float32))

    def f(x):
        setattr(o, name, getattr(o, name) + x)
        return getattr(o, name)

    def change(i):
        o.__dict__[name] = Tensor(np.ones(2, np.float32) * i)

    return f, change, lambda: o.__dict__


def n_absent(name):
    o = Plain()

    def f(x):
        return x * (2 if hasattr(o, name) else 3)

    def change(i):
        o.__dict__[name] = i

    return f, change, lambda: o.__dict__


def n_del(name):
    o = Plain()

    def f(x):
        setattr(o, name, 4)
        y = getattr(o, name)
        o.__dict__["k"] = x
        delattr(o, name)
        return x + y

    return f, lambda i: None, lambda: o.__dict__


def n_class(name):
    C = type("C", (), {name: 2})
    o = C()

    def f(x):
        return x * getattr(C, name) + getattr(o, name)

    return f, lambda i: setattr(C, name, i + 3), lambda: C.__dict__.get(name)


def n_classname(name):
    if "\x00" in name or "\ud800" in name:
        return None
    C = type(name, (), {"k": 2})
    o = C()
    o.n = 1

    def f(x):
        o.n += 1
        p = C()
        p.z = x * C.k
        return p.z + o.n + o.k, p

    return f, lambda i: setattr(C, "k", i + 3), lambda: o.__dict__


def n_method(name):
    C = type("C", (), {name: lambda self, x: x * self.k, "k": 2})
    o = C()

    def f(x):
        return getattr(o, name)(x)

    return f, lambda i: setattr(o, "k", i), lambda: o.__dict__


def n_prop(name):
    C = type("C", (), {name: property(lambda self: self.k), "k": 2})
    o = C()

    def f(x):
        return x + getattr(o, name)

    return f, lambda i: setattr(o, "k", i), lambda: o.__dict__


def n_slot(name):
    if not name.isidentifier() or name.startswith("__") or name == "ﬁ":
        return None
    try:
        C = type("C", (), {"__slots__": (name,)})
    except Exception:
        return None
    o = C()
    setattr(o, name, 2)

    def f(x):
        setattr(o, name, getattr(o, name) + 1)
        return x * getattr(o, name)

    return f, lambda i: setattr(o, name, i), lambda: getattr(o, name)


def n_module(name):
    setattr(MOD, name, 2)

    def f(x):
        y = getattr(MOD, name)
        setattr(MOD, name, y + 1)
        return x * y

    return f, lambda i: setattr(MOD, name, 7), lambda: MOD.__dict__[name]


def n_globals(name):
    G = globals()

    def f(x):
        g = globals()
        g["N" + name] = g.get("N" + name, 1) + 1
        return x * g["N" + name]

    return f, lambda i: None, lambda: G.pop("N" + name, None) if False else G.get("N" + name)


def n_key(name):
    d = {name: 2, name + "z": Tensor(np.ones(2, np.float32))}

    def f(x):
        d[name] += 1
        d[name + "z"] = d[name + "z"] + x
        d["new" + name] = x
        return d[name] * x + (name in d) + len(d)

    return f, lambda i: d.__setitem__(name, i), lambda: d


def n_kwargs(name):
    def g(x, **kw):
        return x * kw[name]

    def f(x):
        return g(x, **{name: 3})

    return f, lambda i: None, lambda: 0


def n_argkw(name):
    def g(x, i=0, **kw):
        return x * kw[name] + len(kw) + kw[name + "w"]

    f = lambda way: (lambda compiled: lambda x: compiled(x, **{name: x + 1, name + "w": 2}))(way(g))
    f.takes_way = True
    return f, lambda i: None, lambda: 0


def n_ret(name):
    def f(x):
        o = Plain()
        setattr(o, name, x)
        return {name: x * 2, "o": o}, o.__dict__

    return f, lambda i: None, lambda: 0


MAKERS = [value for name, value in list(globals().items()) if name.startswith("n_")]


def calls(make: Callable[[str], Any], name: str, way: Callable[..., Any]) -> list[Any] | None:
    """What four calls return and leave behind, with a change from outside in between."""
    globals().pop("N" + name, None)
    made = make(name)
    if made is None:
        return None
    program, change, left = made
    function = program(way) if getattr(program, "takes_way", False) else way(program)
    found = []
    for number in range(4):
        if number == 2:
            change(number)
        try:
            result = show(function(Tensor(np.array([1.0, 2.0], np.float32) * (number + 1))))
        except Exception as error:
            result = type(error).__name__, str(error)
        state = left()
        found.append((result, show(dict(state) if isinstance(state, dict) else state)))
    return found


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_names(make: Callable[[str], Any]) -> None:
    for name in NAMES:
        wanted = calls(make, name, lambda function: function)
        assert calls(make, name, jit) == wanted, ascii(name)


# -- values ----------------------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class IC(enum.IntEnum):
    A = 1
    B = 2


class Fl(enum.Flag):
    X = 1
    Y = 2


class SubInt(int):
    pass


class SubStr(str):
    pass


@dataclasses.dataclass
class DC:
    a: object
    b: object = 0


NT = collections.namedtuple("NT", "a b")
D = decimal.Decimal
nan = math.nan
TZ = datetime.UTC
VALUES = [
    nan,
    -nan,
    0.0,
    -0.0,
    float("inf"),
    -float("inf"),
    complex(nan, 1),
    complex(0.0, -0.0),
    complex(-0.0, 0.0),
    complex(0, nan),
    1,
    True,
    1.0,
    0,
    False,
    None,
    ...,
    NotImplemented,
    b"a'{}\x00",
    "{}'\"\n",
    2**70,
    -(2**70),
    2**300,
    "x" * 1000,
    Color.RED,
    Color.BLUE,
    IC.A,
    IC.B,
    Fl.X | Fl.Y,
    SubInt(3),
    SubStr("{a}"),
    D("NaN"),
    D("-NaN"),
    D("sNaN"),
    D("0"),
    D("-0"),
    D("0.0"),
    D("1.10"),
    D("1.1"),
    D("Infinity"),
    fractions.Fraction(1, 3),
    datetime.datetime(2020, 1, 1),
    datetime.datetime(2020, 1, 1, tzinfo=TZ),
    datetime.datetime(2020, 1, 1, fold=1),
    datetime.timedelta(1),
    datetime.date(2020, 1, 1),
    range(0),
    range(1, 1),
    range(0, 3, 2),
    range(0, 4, 2),
    slice(1, 2),
    slice(nan),
    np.float32(nan),
    np.int64(3),
    np.dtype("f4"),
    (0.0, -0.0),
    (-0.0, 0.0),
    (nan,),
    (1, True),
    (True, 1),
    frozenset({1}),
    frozenset({True}),
    frozenset({1.0}),
    frozenset({nan}),
    {1: 2},
    {True: 2},
    {1.0: 2},
    {0.0: 1},
    {-0.0: 1},
    {nan: 1},
    {(1, 0.0): 1},
    {(True, -0.0): 1},
    {1},
    {True},
    {-0.0},
    [nan, -0.0],
    DC(nan, -0.0),
    DC(D("NaN")),
    NT(nan, -0.0),
    {"a": nan},
    {"{}": D("NaN")},
    int,
    list,
    Color,
    len,
]


def v_use(x, v):
    return x + 1, v, type(v).__name__, [v]


def v_repr(x, v):
    return x + 1, repr(v), str(v)


def v_times(x, v):
    return (x * v if isinstance(v, (int, float)) and abs(v) < 1e9 else x), v


def v_attribute(x, v):
    HOLD.v = v
    return x + 1, HOLD.v


def v_is(x, v):
    return x + 1, v is None, v is ..., v is True


USES = [value for name, value in list(globals().items()) if name.startswith("v_")]


def shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return str(value.dtype), repr(value.asnumpy().tolist())
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [shown(part) for part in value]
    return type(value).__name__, repr(value)


def used(function: Callable[..., Any], brought: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    found = []
    for value in [*values, values[0]]:
        try:
            found.append(shown(function(Tensor(np.array([1.0, 2.0], np.float32)), brought(value))))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found


@pytest.mark.parametrize(
    "brought", [lambda v: v, copy.deepcopy, lambda v: (v, 1)], ids=["same", "copied", "in a tuple"]
)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_values(use: Callable[..., Any], brought: Callable[[Any], Any]) -> None:
    for first in range(0, len(VALUES), 6):
        values = VALUES[first : first + 6]
        assert used(jit(use), brought, values) == used(use, brought, values)
