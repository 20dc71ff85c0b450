"""Special methods that Python and code in C ask for: edited between calls, added, deleted, or reading what changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor

_IMPORTS = """
import bisect, collections, copy, enum, functools, heapq, itertools, math, operator, os, pickle
"""
#: name -> (a class `C`, with what `f(x)` does with it; statements, each before one more call)
PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "with": (
        "class C:\n"
        "    def __enter__(self): return 1.0\n"
        "    def __exit__(self, *a): seen.append('old')\n"
        "def f(x):\n"
        "    with C() as k: return x * k\n",
        ["C.__enter__ = lambda self: 10.0", "C.__exit__ = lambda self, *a: seen.append('new')", "del C.__exit__"],
    ),
    "sorted": (
        "class C:\n"
        "    def __init__(self, n): self.n = n\n"
        "    def __lt__(self, o): return self.n < o.n\n"
        "def f(x): return x + sorted([C(1.0), C(5.0)])[0].n, [C(1)] < [C(2)], heapq.nsmallest(1, [C(1), C(2)])[0].n\n",
        ["C.__lt__ = lambda self, o: self.n > o.n"],
    ),
    "equal": (
        "class C:\n"
        "    def __eq__(self, o): return True\n"
        "    __hash__ = object.__hash__\n"
        "o = C()\n"
        "def f(x): return x + (3 in [o]), [o] == [3], [o].count(3), (o,) == (4,), operator.eq(o, 3)\n",
        ["C.__eq__ = lambda self, o: False", "del C.__eq__"],
    ),
    "hash": (
        "class C:\n"
        "    def __hash__(self): return 1\n"
        "    def __eq__(self, o): return self is o\n"
        "o = C()\n"
        "def f(x): return x + hash(o), len({o, o}), {o: 1}[o]\n",
        ["C.__hash__ = lambda self: 7"],
    ),
    "index": (
        "class C:\n"
        "    def __index__(self): return 0\n"
        "o = C()\n"
        "def f(x): return x[o], [1.0, 2.0][o], list(range(o)), [1, 2][:o], list(enumerate('a', o)), 'ab'[o]\n",
        ["C.__index__ = lambda self: 1"],
    ),
    "index reads": (
        "config = {'k': 0}\n"
        "class C:\n"
        "    def __index__(self): seen.append(1); return config['k']\n"
        "o = C()\n"
        "def f(x): return x[o], x[:o], len(seen)\n",
        ["config['k'] = 1", "config['k'] = 0"],
    ),
    "match": (
        "class C:\n    a, b = 1.0, 10.0\no = C()\ndef f(x):\n    match o:\n        case C(v): return x + v\n",
        ["C.__match_args__ = ('a',)", "C.__match_args__ = ('b',)"],
    ),
    "class item": (
        "class C:\n    def __class_getitem__(cls, i): return i\ndef f(x): return x + C[1]\n",
        ["C.__class_getitem__ = classmethod(lambda c, i: i * 10)"],
    ),
    "instances": (
        "class M(type):\n"
        "    def __instancecheck__(cls, o): return True\n"
        "class C(metaclass=M): pass\n"
        "def f(x): return x + 1 if isinstance(3, C) else x - 1\n",
        ["M.__instancecheck__ = lambda c, o: False"],
    ),
    "copied": (
        "class C:\n"
        "    def __init__(self, n): self.n = n\n"
        "o = C(1.0)\n"
        "def f(x): return x + copy.copy(o).n, copy.deepcopy([o])[0].n\n",
        ["C.__copy__ = lambda self: C(10.0)", "C.__deepcopy__ = lambda self, memo: C(20.0)", "del C.__copy__"],
    ),
    "text of an exception": (
        "config = {'k': 1}\n"
        "class C:\n"
        "    def __repr__(self): return f\"C{config['k']}\"\n"
        "o = C()\n"
        "def f(x): return x + 1, str(ValueError(o)), repr(KeyError(o)), str([o])\n",
        ["config['k'] = 2", "C.__repr__ = lambda self: 'other'"],
    ),
    "grouped": (
        "config = {'same': False}\n"
        "class C:\n"
        "    def __eq__(self, o): seen.append(1); return config['same']\n"
        "a, b = C(), C()\n"
        "def f(x): return x + len(list(itertools.groupby([a, b]))), len(seen)\n",
        ["config['same'] = True"],
    ),
    "tested": (
        "config = {'k': True}\n"
        "class C:\n"
        "    def __bool__(self): return config['k']\n"
        "a = C()\n"
        "def tested(v): return a\n"
        "def f(x):\n"
        "    return x, list(itertools.compress('ab', [a, a])), list(itertools.takewhile(tested, 'ab')), any([a])\n",
        ["config['k'] = False"],
    ),
    "rounded": (
        "config = {'k': 1}\n"
        "class C:\n"
        "    def __floor__(self): return config['k']\n"
        "    def __float__(self): return float(config['k'])\n"
        "o = C()\n"
        "def f(x): return x + math.floor(o), x + math.fsum([o]), math.sqrt(o), math.hypot(o, o)\n",
        ["config['k'] = 2", "config['k'] = 1", "config['k'] = 5", "C.__float__ = lambda s: 9.0", "del C.__floor__"],
    ),
    "delegated": (
        "class C:\n"
        "    def __iter__(self): return iter([1.0])\n"
        "o = C()\n"
        "def f(x):\n"
        "    def g(): yield from o\n"
        "    return x + sum(g())\n",
        ["del C.__iter__", "C.__iter__ = lambda s: iter([2.0])"],
    ),
    "hints": (
        "class C:\n"
        "    def __bool__(self): return True\n"
        "    def __length_hint__(self): return 3\n"
        "o = C()\n"
        "def f(x): return x + operator.truth(o), operator.length_hint(o), callable(o)\n",
        ["C.__bool__ = lambda s: False", "C.__length_hint__ = lambda s: 5", "C.__call__ = lambda s: 5"],
    ),
    "missing member": (
        "config = {'k': 1}\n"
        "class C(enum.Enum):\n"
        "    A, B = 1, 2\n"
        "    @classmethod\n"
        "    def _missing_(cls, value): return cls.A if config['k'] == 1 else cls.B\n"
        "def f(x): return x, C(7), C(1)\n",
        ["config['k'] = 2", "config['k'] = 1"],
    ),
    "array": (
        "config = {'k': 1.0}\n"
        "class C:\n"
        "    def __array__(self, dtype=None, copy=None): return numpy.full(2, config['k'], numpy.float32)\n"
        "o = C()\n"
        "def f(x): return x + numpy.asarray(o), numpy.sum(o)\n",
        ["config['k'] = 2.0", "config['k'] = 1.0", "config['k'] = 5.0"],
    ),
    "pickled": (
        "config = {'k': 1.0}\n"
        "class C:\n"
        "    def __reduce__(self): return (int, (config['k'],))\n"
        "    def __fspath__(self): return str(config['k'])\n"
        "o = C()\n"
        "def f(x): return x, pickle.loads(pickle.dumps(o)), os.fspath(o), os.path.join('a', o)\n",
        ["config['k'] = 2.0", "config['k'] = 1.0", "config['k'] = 5.0"],
    ),
    "method of an instance": (
        "class C:\n"
        "    def __init__(self, k): self.k = k\n"
        "    def method(self, x): return x * self.k\n"
        "o, other = C(2), C(3)\n"
        "def f(x): return o.method(x)\n",
        ["o.method = o.method", "o.method = other.method", "other.k = 7", "del o.method", "o.method = o.method"],
    ),
    "method that became static": (
        "def act(*args): return args[-1] * len(args)\n"
        "class C:\n"
        "    method = act\n"
        "class D(C): pass\n"
        "o, other = C(), D()\n"
        "def f(x): return o.method(x) + other.method(x)\n",
        [
            "C.method = staticmethod(act)",
            "C.method = act",
            "D.method = staticmethod(act)",
            "C.method = classmethod(act)",
        ],
    ),
    "static operators": (
        "def last(*args): return args[-1] * len(args)\n"
        "class C:\n"
        "    __add__ = __radd__ = staticmethod(last)\n"
        "    __sub__ = last\n"
        "o = C()\n"
        "def f(x): return o + x, o - x, 2 + o\n",
        ["C.__sub__ = staticmethod(last)", "C.__add__ = last", "C.__radd__ = last"],
    ),
    "no exit": ("class C:\n    def __enter__(self): return self\ndef f(x):\n    with C(): return x\n", []),
    "metaclass that has everything": (
        "class M(type):\n"
        "    def __getattr__(cls, name): return 1\n"
        "class C(metaclass=M): pass\n"
        "o = C()\n"
        "C.n = 1.0\n"
        "def f(x, o=o): return x + o.n, copy.copy(o) is o\n",
        ["C.n = 2.0"],
    ),
    "nan": (
        "a = numpy.array([numpy.nan, 1.0], numpy.float32)\n"
        "def f(x): return x + a, float(a[1]), a.shape[0], float(numpy.nansum(a))\n",
        ["a[1] = 5.0", "a[0] = 0.0", "a[0] = -0.0", "a[1] = numpy.nan"],
    ),
    "keys after a branch": (
        "class C:\n"
        "    def __init__(self, k): self.k = k\n"
        "    def __hash__(self): return hash(self.k)\n"
        "    def __eq__(self, o): return self.k == o.k\n"
        "    def __repr__(self): return f'C{self.k}'\n"
        "def f(x):\n"
        "    if x.sum() < 5: seen.append(1)\n"
        "    made = {C(1): 2, C(2): x}\n"
        "    if x.sum() < 3: return {C(1): x}, made\n"
        "    return {C(2): x}, made\n",
        ["C.__hash__ = lambda self: 5"],
    ),
}


def _answers(text: str, edits: list[str], compiler: Callable[[Any], Any]) -> list[str]:
    """What calls return or raise, in a namespace of their own."""
    names: dict[str, Any] = {"seen": [], "numpy": np}
    exec(_IMPORTS + text, names)
    function, found = compiler(names["f"]), []
    for edit in ("", "", *edits, ""):
        exec(edit, names)
        for values in ([1.0, 1.0], [3.0, 4.0]):
            try:
                found.append(repr(function(Tensor(values))))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
            found.append(repr(names["seen"]))
    return found


@pytest.mark.parametrize("policy", ["auto", "PIJit"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_special_methods_are_those_of_the_call(name: str, policy: str) -> None:
    text, edits = PROGRAMS[name]
    compiled = _answers(text, edits, lambda f: weft.jit(f) if policy == "auto" else weft.jit(f, mode=policy))
    assert compiled == _answers(text, edits, lambda f: f)
