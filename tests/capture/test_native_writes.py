"""Native code that writes objects from outside: whatever keeps them in memory of its own, or shows memory of others."""

from __future__ import annotations

import array
import bisect
import collections
import configparser
import contextvars
import csv
import ctypes
import decimal
import functools
import gc
import hashlib
import heapq
import io
import itertools
import json
import operator
import pickle
import queue
import random
import struct
import threading
import types
import warnings
import weakref
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit

POLICIES: dict[str, Callable[[Any], Any]] = {"auto": jit, "PIJit": functools.partial(jit, mode="PIJit")}


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int * 3)]


#: what makes an object, what changes it by a number, what shows it
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "array.array item": (
        lambda: array.array("i", [0, 0]),
        lambda o, k: o.__setitem__(0, o[0] + k),
        lambda o: o.tolist(),
    ),
    "array.array +=": (
        lambda: array.array("i", [0, 0]),
        lambda o, k: operator.iadd(o, array.array("i", [k])),
        lambda o: o.tolist(),
    ),
    "array.append": (lambda: array.array("i", [0, 0]), lambda o, k: o.append(k), lambda o: o.tolist()),
    "ctypes arr": (lambda: (ctypes.c_int * 3)(), lambda o, k: o.__setitem__(0, o[0] + k), lambda o: list(o)),
    "ctypes struct": (lambda: Pair(), lambda o, k: setattr(o, "a", o.a + k), lambda o: o.a),
    "ctypes nested": (lambda: Pair(), lambda o, k: o.b.__setitem__(1, o.b[1] + k), lambda o: list(o.b)),
    "ctypes value": (lambda: ctypes.c_int(0), lambda o, k: setattr(o, "value", o.value + k), lambda o: o.value),
    "a.ctypes.data_as": (
        lambda: np.zeros(3, np.int32),
        lambda o, k: o.ctypes.data_as(ctypes.POINTER(ctypes.c_int)).__setitem__(1, k),
        lambda o: o.tolist(),
    ),
    "as_ctypes": (
        lambda: np.zeros(3, np.int32),
        lambda o, k: np.ctypeslib.as_ctypes(o).__setitem__(1, k + o[1]),
        lambda o: o.tolist(),
    ),
    "masked": (
        lambda: np.ma.array([1.0, 2.0, 3.0]),
        lambda o, k: o.__setitem__(0, np.ma.masked if k == 2 else o[1] + k),
        lambda o: str(o),
    ),
    "masked .mask": (
        lambda: np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 0]),
        lambda o, k: o.mask.__setitem__(k % 3, not o.mask[k % 3]),
        lambda o: str(o),
    ),
    "masked .data": (
        lambda: np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 0]),
        lambda o, k: o.data.__setitem__(k % 3, k + o.data[k % 3]),
        lambda o: str(o),
    ),
    "poly1d": (lambda: np.poly1d([1, 2, 3]), lambda o, k: o.__setitem__(1, o[1] + k), lambda o: o.coeffs.tolist()),
    "np.put": (lambda: np.zeros(3), lambda o, k: np.put(o, [1], o[1] + k), lambda o: o.tolist()),
    "np.copyto": (lambda: np.zeros(3), lambda o, k: np.copyto(o, o + k), lambda o: o.tolist()),
    "add.at": (lambda: np.zeros(3), lambda o, k: np.add.at(o, [0, 0], k), lambda o: o.tolist()),
    "out=": (lambda: np.zeros(3), lambda o, k: np.add(o, k, out=o), lambda o: o.tolist()),
    "fill": (lambda: np.zeros(3), lambda o, k: o.fill(o[0] + k), lambda o: o.tolist()),
    "real": (lambda: np.zeros(3, complex), lambda o, k: o.real.__setitem__(0, o.real[0] + k), lambda o: o.tolist()),
    ".imag attr": (lambda: np.zeros(3, complex), lambda o, k: setattr(o, "imag", o.imag + k), lambda o: o.tolist()),
    ".T": (lambda: np.zeros((2, 3)), lambda o, k: o.T.__setitem__((0, 1), o[1, 0] + k), lambda o: o.tolist()),
    "diagonal view": (lambda: np.zeros((3, 3)), lambda o, k: np.fill_diagonal(o, o[0, 0] + k), lambda o: o.tolist()),
    "lambda einsum view": (
        lambda: np.zeros((3, 3)),
        lambda o, k: np.einsum("ii->i", o).__setitem__(0, o[0, 0] + k),
        lambda o: o.tolist(),
    ),
    "as_strided": (
        lambda: np.zeros(3),
        lambda o, k: np.lib.stride_tricks.as_strided(o, (2,), (8,)).__setitem__(0, o[0] + k),
        lambda o: o.tolist(),
    ),
    "ravel": (lambda: np.zeros((2, 2)), lambda o, k: o.ravel().__setitem__(0, o[0, 0] + k), lambda o: o.tolist()),
    "split": (lambda: np.zeros((2, 2)), lambda o, k: np.split(o, 2)[1].__iadd__(k), lambda o: o.tolist()),
    "ndenumerate": (
        lambda: np.zeros((2, 2)),
        lambda o, k: [o.__setitem__(i, v + k) for i, v in np.ndenumerate(o)],
        lambda o: o.tolist(),
    ),
    "nditer": (
        lambda: np.zeros((2, 2)),
        lambda o, k: [e.__setitem__(..., e + k) for e in np.nditer(o, op_flags=["readwrite"])],
        lambda o: o.tolist(),
    ),
    "frombuffer": (
        lambda: bytearray(8),
        lambda o, k: np.frombuffer(o, np.uint8).__setitem__(0, o[0] + k),
        lambda o: bytes(o),
    ),
    "struct pack_into": (lambda: bytearray(8), lambda o, k: struct.pack_into("i", o, 0, o[0] + k), lambda o: bytes(o)),
    "memoryview cast": (
        lambda: bytearray(8),
        lambda o, k: memoryview(o).cast("i").__setitem__(0, o[0] + k),
        lambda o: bytes(o),
    ),
    "mv outside": (lambda: memoryview(bytearray(8)), lambda o, k: o.__setitem__(0, o[0] + k), lambda o: bytes(o)),
    "mv of array": (
        lambda: memoryview(array.array("i", [0, 0])),
        lambda o, k: o.__setitem__(0, o[0] + k),
        lambda o: o.tolist(),
    ),
    "mv of np": (lambda: memoryview(np.zeros(2)), lambda o, k: o.__setitem__(0, o[0] + k), lambda o: o.tolist()),
    "readinto": (lambda: bytearray(4), lambda o, k: io.BytesIO(bytes([k] * 4)).readinto(o), lambda o: bytes(o)),
    "readinto np": (
        lambda: np.zeros(4, np.uint8),
        lambda o, k: io.BytesIO(bytes([k + int(o[0])] * 4)).readinto(o),
        lambda o: bytes(o),
    ),
    "shuffle np": (lambda: np.arange(5), lambda o, k: np.random.default_rng(k).shuffle(o), lambda o: o.tolist()),
    "shuffle list": (lambda: list(range(5)), lambda o, k: random.Random(k).shuffle(o), lambda o: o),
    "heappush": (list, lambda o, k: heapq.heappush(o, -k), lambda o: o),
    "insort": (list, lambda o, k: bisect.insort(o, -k), lambda o: o),
    "StringIO": (lambda: io.StringIO(), lambda o, k: o.write(str(k)), lambda o: o.getvalue()),
    "BytesIO getbuffer": (
        lambda: io.BytesIO(b"abc"),
        lambda o, k: o.getbuffer().__setitem__(0, o.getbuffer()[0] + k),
        lambda o: o.getvalue(),
    ),
    "BytesIO": (lambda: io.BytesIO(b"abc"), lambda o, k: o.write(bytes([k])), lambda o: o.getvalue()),
    "queue": (lambda: queue.Queue(), lambda o, k: o.put(k), lambda o: list(o.queue)),
    "SimpleQueue": (lambda: queue.SimpleQueue(), lambda o, k: o.put(k), lambda o: o.qsize()),
    "deque rotate": (lambda: collections.deque([1, 2, 3]), lambda o, k: o.rotate(k), lambda o: list(o)),
    "Counter": (lambda: collections.Counter(), lambda o, k: o.update([k, k]), lambda o: dict(o)),
    "ChainMap": (
        lambda: collections.ChainMap({}, {}),
        lambda o, k: o.__setitem__(k, o.get(k - 1, 0) + 1),
        lambda o: dict(o),
    ),
    "OrderedDict move": (
        lambda: collections.OrderedDict.fromkeys("abc"),
        lambda o, k: o.move_to_end("abc"[k % 3]),
        lambda o: list(o),
    ),
    "UserList": (lambda: collections.UserList(), lambda o, k: o.append(k), lambda o: list(o)),
    "cycle": (lambda: itertools.cycle([1, 2, 3]), lambda o, k: next(o), lambda o: next(o)),
    "count": (lambda: itertools.count(), lambda o, k: next(o), lambda o: next(o)),
    "SimpleNamespace": (lambda: types.SimpleNamespace(n=0), lambda o, k: setattr(o, "n", o.n + k), lambda o: o.n),
    "contextvar": (lambda: contextvars.ContextVar("v", default=0), lambda o, k: o.set(o.get() + k), lambda o: o.get()),
    "local": (lambda: threading.local(), lambda o, k: setattr(o, "n", getattr(o, "n", 0) + k), lambda o: o.n),
    "hashlib": (lambda: hashlib.md5(), lambda o, k: o.update(bytes([k])), lambda o: o.hexdigest()),
    "zlib": (lambda: zlib.compressobj(), lambda o, k: o.compress(bytes([k])), lambda o: o.flush()),
    "Random": (lambda: random.Random(3), lambda o, k: o.random(), lambda o: o.random()),
    "default_rng": (lambda: np.random.default_rng(3), lambda o, k: o.random(), lambda o: o.random()),
    "RandomState": (lambda: np.random.RandomState(3), lambda o, k: o.rand(), lambda o: o.rand()),
    "decimal ctx": (lambda: decimal.Context(), lambda o, k: setattr(o, "prec", o.prec + k), lambda o: o.prec),
    "decimal flags": (
        lambda: decimal.Context(),
        lambda o, k: o.divide(decimal.Decimal(k), decimal.Decimal(3)),
        lambda o: str(o.flags[decimal.Inexact]),
    ),
    "WeakValueDict": (
        lambda: (weakref.WeakValueDictionary(), [Tensor([1.0]) for _ in range(9)]),
        lambda o, k: o[0].__setitem__(k, o[1][k]),
        lambda o: sorted(o[0]),
    ),
    "WeakKeyDict": (
        lambda: (weakref.WeakKeyDictionary(), [type("K", (), {})() for _ in range(9)]),
        lambda o, k: o[0].__setitem__(o[1][k], k),
        lambda o: sorted(o[0].values()),
    ),
    "WeakSet": (
        lambda: (weakref.WeakSet(), [type("K", (), {})() for _ in range(9)]),
        lambda o, k: o[0].add(o[1][k]),
        lambda o: len(o[0]),
    ),
    "configparser": (
        lambda: configparser.ConfigParser(),
        lambda o, k: o.read_dict({"a": {str(k): "1"}}),
        lambda o: dict(o["a"]),
    ),
    "csv": (lambda: (io.StringIO(),), lambda o, k: csv.writer(o[0]).writerow([k]), lambda o: o[0].getvalue()),
    "json.dump": (lambda: io.StringIO(), lambda o, k: json.dump([k], o), lambda o: o.getvalue()),
    "pickle.dump": (lambda: io.BytesIO(), lambda o, k: pickle.dump(k, o), lambda o: o.getvalue()),
    "print file": (lambda: io.StringIO(), lambda o, k: print(k, file=o), lambda o: o.getvalue()),
    "object array": (lambda: np.array([[], {}], dtype=object), lambda o, k: o[0].append(k), lambda o: o.tolist()),
    "dict in tuple": (lambda: ({}, []), lambda o, k: o[0].setdefault("a", []).append(k), lambda o: o),
    "lru_cache": (lambda: functools.lru_cache(lambda k: k), lambda o, k: o(k // 2), lambda o: str(o.cache_info())),
    "dict |=": (dict, lambda o, k: operator.ior(o, {k: k}), lambda o: o),
    "generator send": (lambda: (lambda: (yield from itertools.count()))(), lambda o, k: next(o), lambda o: next(o)),
    "str.maketrans sort": (lambda: [3, 1, 2], lambda o, k: (o.append(k), o.sort(key=lambda v: -v)), lambda o: o),
    "np structured field set": (
        lambda: np.zeros(2, dtype=[("a", "f4"), ("s", [("b", "i4")])]),
        lambda o, k: o[1]["s"].__setitem__("b", o[1]["s"]["b"] + k),
        lambda o: o.tolist(),
    ),
    "np rec setattr": (
        lambda: np.zeros(2, dtype=[("a", "f4")]).view(np.recarray),
        lambda o, k: setattr(o[0], "a", o[0].a + k),
        lambda o: o.tolist(),
    ),
    "np.void setfield": (
        lambda: np.zeros(2, dtype=[("a", "f4")]),
        lambda o, k: o[0].setfield(k + o[0]["a"], np.float32),
        lambda o: o.tolist(),
    ),
    "flat.__array__": (lambda: np.zeros(4), lambda o, k: o.flat.__array__().__iadd__(k), lambda o: o.tolist()),
    "a.data": (lambda: np.zeros(4), lambda o, k: o.data.__setitem__(1, o[1] + k), lambda o: o.tolist()),
    "broadcast_arrays": (
        lambda: np.zeros((2, 2)),
        lambda o, k: np.broadcast_arrays(o, o)[0].base.__class__,
        lambda o: o.tolist(),
    ),
    "atleast_2d": (lambda: np.zeros(2), lambda o, k: np.atleast_2d(o).__iadd__(k), lambda o: o.tolist()),
    "dlpack": (lambda: np.zeros(2), lambda o, k: np.from_dlpack(o).__iadd__(k), lambda o: o.tolist()),
    "asarray of interface": (
        lambda: np.zeros(2),
        lambda o, k: np.asarray(types.SimpleNamespace(__array_interface__=o.__array_interface__)).__iadd__(k),
        lambda o: o.tolist(),
    ),
    "resize inplace": (lambda: np.zeros(2), lambda o, k: o.resize(k + 2, refcheck=False), lambda o: o.tolist()),
    "shape set": (
        lambda: np.zeros(4),
        lambda o, k: setattr(o, "shape", (2, 2) if o.ndim == 1 else (4,)),
        lambda o: o.tolist(),
    ),
    "sort": (lambda: np.array([3, 1, 2]), lambda o, k: (o.__setitem__(0, k), o.sort()), lambda o: o.tolist()),
    "place": (lambda: np.zeros(3), lambda o, k: np.place(o, o < k, [k]), lambda o: o.tolist()),
    "weft Tensor asnumpy": (lambda: Tensor([1.0, 2.0]), lambda o, k: o.asnumpy().copy().__iadd__(k), lambda o: str(o)),
}


def outcome(name: str, compiled: Callable[[Any], Any]) -> tuple[list[Any], Any, list[str]]:
    """What calls with several numbers give, what the object shows afterwards, what was warned of."""
    make, change, show = CASES[name]
    held = make()

    def function(x: Any, k: int) -> Any:
        change(held, k)
        return x + k

    called = compiled(function)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        results = [called(Tensor([1.0]), k).item() for k in (1, 2, 3, 2)]
    return results, show(held), [str(warning.message) for warning in warned]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", CASES)
def test_it_is_written_once_in_each_call(name: str, policy: str) -> None:
    expected = outcome(name, lambda function: function)
    assert outcome(name, POLICIES[policy]) == expected


FIELDS = [("a", "f4"), ("n", "i4")]


def _flat(x: Any, k: int, held: Any) -> Any:
    held.flat[1] += k
    return x + held.sum()


def _records(x: Any, k: int, held: Any) -> Any:
    for record in held:
        record["n"] += k
    return x + held["n"].sum()


def _record(x: Any, k: int, held: Any) -> Any:
    record = held[0]
    record["n"] += k
    return x + record["n"]


def _kept_view(x: Any, k: int, held: Any) -> Any:
    kept = held.b
    print(end="")
    kept[1] += k
    return x + held.b[1]


def _library_object(x: Any, k: int, held: Any) -> Any:
    held[1] = held[1] + k
    return x + held.coeffs[1] + held(2)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("make", "function", "show"),
    [
        (lambda: np.zeros(4), _flat, np.ndarray.tolist),
        (lambda: np.zeros(2, FIELDS), _records, np.ndarray.tolist),
        (lambda: np.zeros(2, FIELDS), _record, np.ndarray.tolist),
        (Pair, _kept_view, lambda held: list(held.b)),
        (lambda: np.poly1d([1, 2, 3]), _library_object, lambda held: held.coeffs.tolist()),
    ],
)
def test_what_is_written_is_read_again(make: Any, function: Any, show: Any, policy: str) -> None:
    eager, compiled = make(), make()
    called = POLICIES[policy](function)
    for k in (1, 2, 3, 2):
        assert called(Tensor([1.0]), k, compiled).item() == function(Tensor([1.0]), k, eager).item()
        assert show(compiled) == show(eager)


@pytest.mark.parametrize(
    "read",
    [
        lambda x, held: x + held[1],
        lambda x, held: x + held.coeffs[1],
        lambda x, held: x + held(2),
        lambda x, held: x + (held * held)[1],
        lambda x, held: x + np.polyval(held, 2),
    ],
)
def test_an_object_of_a_library_is_read_in_each_call(read: Any) -> None:
    held = np.poly1d([1, 2, 3])
    compiled = jit(lambda x: read(x, held))
    for k in (2, 10, 30):
        held[1] = k
        assert compiled(Tensor([1.0])).item() == read(Tensor([1.0]), held).item()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "make", [lambda: bytearray(b"abc"), lambda: io.BytesIO(b"abc"), lambda: array.array("B", b"abc")]
)
def test_what_was_written_through_a_view_can_be_resized(make: Callable[[], Any], policy: str) -> None:
    def f(x: Any, held: Any, k: int) -> Any:
        view = held.getbuffer() if isinstance(held, io.BytesIO) else memoryview(held)
        view[0] = k
        return x * 2

    compiled = POLICIES[policy](f)
    for k in range(65, 69):
        held = make()
        compiled(Tensor([1.0]), held, k)
        gc.collect()
        if isinstance(held, io.BytesIO):
            held.seek(0, io.SEEK_END)
            held.write(b"d")
            assert held.getvalue() == bytes([k]) + b"bcd"
        else:
            held.append(100)
            assert bytes(held) == bytes([k]) + b"bcd"
