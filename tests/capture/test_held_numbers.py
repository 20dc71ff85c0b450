"""Numbers that only a call knows, held by objects that native code copies, compares, shows and takes apart."""

from __future__ import annotations

import array
import bisect
import collections
import copy
import functools
import heapq
import itertools
import json
import operator
import pickle
import pprint
import statistics
import struct
import types
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import weft
from weft import Tensor


@dataclass(slots=True, order=True)
class Slotted:
    n: int
    f: float = 0.5
    listed: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frozen:
    n: int
    f: float = 0.5


class Named(NamedTuple):
    n: int
    f: float = 0.5


class Listed(list[Any]):
    n: Any


class Mapped(dict[str, Any]):
    z: Any


class Plain:
    def __init__(self, n: Any) -> None:
        self.n = n
        self.inner = Slotted(n)


def _listed(n: Any) -> Any:
    made = Listed([n])
    made.n = n
    return copy.deepcopy(made), copy.deepcopy(made).n, json.dumps(made)


def _mapped(n: Any) -> Any:
    made = Mapped(a=n)
    made.z = [n]
    copied = copy.deepcopy(made)
    return copied, copied.z, json.dumps(made), pickle.loads(pickle.dumps(copied)) == {"a": 1}


def _changed_copies(n: Any) -> Any:
    made = [Slotted(n), Frozen(n)]
    copied: Any = copy.deepcopy(made)
    copied[0].n = 7
    return made, copied, json.dumps([asdict(item) for item in made])  # type: ignore[call-overload]


def _deep(n: Any) -> Any:
    made = Slotted(n, listed=[Slotted(n)])
    copied = copy.deepcopy(made)
    copied.listed[0].n += 1
    return copied, made, copied is made


def _appended(n: Any) -> Any:
    made = Slotted(n)
    made.listed.append(made.n)
    return asdict(made)["listed"], pprint.pformat(made)


def _assigned(n: Any) -> Any:
    made = Slotted(n)
    for each in fields(made):
        setattr(made, each.name, getattr(made, each.name))
    return [getattr(made, each.name) for each in fields(made)], pprint.pformat(asdict(made))


def _heap(n: Any) -> Any:
    heap: list[Any] = []
    heapq.heappush(heap, (n, "a"))
    heapq.heappush(heap, (1, "b"))
    return heapq.heappop(heap), bisect.bisect([0, 1, 2], n)


def _matched(n: Any) -> Any:
    match Slotted(n):
        case Slotted(n=1):
            return "one"
        case Slotted(n=other):
            return other
    return None


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "fields": lambda n: (asdict(Slotted(n, listed=[n])), astuple(Slotted(n, listed=[n]))),
    "texts": lambda n: (str(Slotted(n, listed=[n])), json.dumps(asdict(Slotted(n)))),
    "compared": lambda n: (Slotted(n) == Slotted(1), Slotted(n) < Slotted(1), hash(Frozen(n)) == hash(Frozen(1))),
    "keys": lambda n: (Frozen(n) in {Frozen(1), Frozen(2)}, {Frozen(1): 5, Frozen(0): 6}.get(Frozen(n))),
    "replaced": lambda n: (replace(Slotted(n), f=1.5), replace(Frozen(n), n=n + 1), repr(Frozen(n))),
    "heap": _heap,
    "sorted": lambda n: (sorted([Slotted(n), Slotted(1)])[0].n, min([Slotted(n)], key=operator.attrgetter("n")).n),
    "named tuple": lambda n: (Named(n)._asdict(), Named(n)._replace(n=n + 5), Named._make([n, 1.0])),
    "counted": lambda n: collections.Counter([n, n, 1]),
    "C data": lambda n: (array.array("i", [n, 2]).tolist(), struct.pack("<i", n), statistics.mean([n, 2, 3])),
    "arrays": lambda n: (np.array([n, 2]).sum(), np.full(2, n)),
    "assigned": _assigned,
    "pickled": lambda n: pickle.loads(pickle.dumps(Slotted(n))) == Slotted(1),
    "deep": _deep,
    "matched": _matched,
    "namespace": lambda n: (
        copy.deepcopy(types.SimpleNamespace(n=n, t=(n,))),
        json.dumps(vars(Plain(n)), default=repr),
    ),
    "plain": lambda n: (copy.deepcopy(Plain(n)).inner.n, copy.copy(Plain(n)).inner),
    "exception": lambda n: (repr(ValueError(n, "a")), str(KeyError(n)), copy.copy(ValueError(n)).args),
    "deque": lambda n: (copy.deepcopy(deque([n, 2], maxlen=3)), json.dumps(list(deque([n]))), repr(deque([n]))),
    "derived list": _listed,
    "derived dict": _mapped,
    "partial": lambda n: (functools.partial(max, n)(1), copy.deepcopy(functools.partial(max, n)).args),
    "changed copies": _changed_copies,
    "appended": _appended,
    "number": lambda n: (json.dumps({"a": [n, {"b": (n,)}]}), copy.copy(n), copy.deepcopy([n]), pickle.dumps(n)),
    "slice": lambda n: (slice(0, n).indices(5), copy.copy(range(n)), pickle.loads(pickle.dumps(range(n)))),
    "iterated": lambda n: (list(itertools.accumulate([n, 2])), list(itertools.product([n], repeat=2))),
    "getters": lambda n: (operator.attrgetter("n", "listed")(Slotted(n)), operator.methodcaller("__eq__", 1)(n)),
}


@pytest.mark.parametrize("policy", ["auto", "PIJit"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_native_code_is_given_values(name: str, policy: str) -> None:
    look = PROGRAMS[name]

    def program(x: Any) -> Any:
        return look(int(x.argmax())), x * 2

    compiled = weft.jit(program) if policy == "auto" else weft.jit(program, mode=policy)
    for values in ([3, 1, 2], [1, 3, 2], [1, 2, 3], [9, 1, 1]):
        x = Tensor(np.array(values, np.float32))
        assert repr(compiled(x)) == repr(program(x))
