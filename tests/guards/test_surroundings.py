"""What native code reads besides its arguments: settings of libraries and of the process, state kept in C."""

from __future__ import annotations

import array
import collections
import contextlib
import ctypes
import decimal
import functools
import gc
import io
import itertools
import logging
import mmap
import os
import queue
import random
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit

POLICIES: dict[str, Callable[[Any], Any]] = {"auto": jit, "PIJit": functools.partial(jit, mode="PIJit")}


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int * 3)]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Settings of the process are put back."""
    errors, shown, limit = np.geterr(), np.get_printoptions(), sys.get_int_max_str_digits()
    folder, path, modules = Path.cwd(), list(sys.path), set(sys.modules)
    with warnings.catch_warnings(), decimal.localcontext():
        yield
    np.seterr(**errors)
    np.set_printoptions(**shown)
    sys.set_int_max_str_digits(limit)
    os.chdir(folder)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    gc.enable()
    logging.getLogger("a").setLevel(logging.NOTSET)


def divides_by_zero(divide: Callable[[], Any]) -> int:
    try:
        divide()
    except (FloatingPointError, decimal.DivisionByZero):
        return 1
    return 0


def precision(_: Any, k: int) -> None:
    decimal.getcontext().prec = k


def digits(_: Any, k: int) -> None:
    np.set_printoptions(precision=k)


def errors(_: Any, k: int) -> None:
    np.seterr(divide="raise" if k == 2 else "ignore")


def first(held: Any, k: int) -> None:
    held[0] = k


def lock(held: Any, k: int) -> None:
    held.acquire() if k % 2 else held.release()


def flag(held: Any, k: int) -> None:
    held.set() if k % 2 else held.clear()


#: what makes an object, what changes it or a setting by a number, what is read
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any, int], Any], Callable[[Any], Any]]] = {
    "decimal /": (lambda: Decimal(1), precision, lambda held: float(held / 3)),
    "decimal sqrt": (lambda: Decimal(2), precision, lambda held: float(held.sqrt())),
    "decimal sum": (lambda: [Decimal("2.5123"), Decimal("1.23")], precision, lambda held: float(sum(held))),
    "decimal +": (lambda: Decimal("2.5123"), precision, lambda held: float(+held)),
    "decimal precision": (lambda: None, precision, lambda held: decimal.getcontext().prec),
    "decimal rounding": (
        lambda: Decimal("2.5"),
        lambda held, k: setattr(decimal.getcontext(), "rounding", ("ROUND_UP", "ROUND_DOWN")[k % 2]),
        lambda held: float(held.quantize(Decimal(1))),
    ),
    "decimal capitals": (
        lambda: Decimal("1e30"),
        lambda held, k: setattr(decimal.getcontext(), "capitals", k % 2),
        lambda held: sum(map(ord, str(held))),
    ),
    "decimal traps": (
        lambda: Decimal(1),
        lambda held, k: decimal.getcontext().traps.__setitem__(decimal.DivisionByZero, k % 2),
        lambda held: divides_by_zero(lambda: held / 0),
    ),
    "decimal context": (
        decimal.Context,
        lambda held, k: setattr(held, "prec", k),
        lambda held: float(held.divide(Decimal(1), Decimal(3))),
    ),
    "NumPy's errors in an ufunc": (lambda: np.zeros(1), errors, lambda held: divides_by_zero(lambda: np.log(held))),
    "NumPy's errors in /": (lambda: np.zeros(1), errors, lambda held: divides_by_zero(lambda: 1 / held)),
    "NumPy errors of items": (
        lambda: np.zeros(1),
        errors,
        lambda held: divides_by_zero(lambda: np.float64(1) / held[0]),
    ),
    "NumPy's errors": (lambda: None, errors, lambda held: len(np.geterr()["divide"])),
    "text of an array": (lambda: np.array([1 / 3]), digits, lambda held: len(str(held))),
    "f-string of an array": (lambda: np.array([1 / 3]), digits, lambda held: len(f"{held}")),
    "% of an array": (lambda: np.array([1 / 3]), digits, lambda held: len("%s" % held)),  # noqa: UP031
    "text of a list": (lambda: [np.array([1 / 3])], digits, lambda held: len(str(held))),
    "array2string": (lambda: np.array([1 / 3]), digits, lambda held: len(np.array2string(held))),
    "printoptions": (lambda: None, digits, lambda held: np.get_printoptions()["precision"]),
    "text of a tensor": (lambda: Tensor([1 / 3]), digits, lambda held: len(str(held))),
    "longest int": (
        lambda: None,
        lambda held, k: sys.set_int_max_str_digits(1000 * k),
        lambda held: sys.get_int_max_str_digits(),
    ),
    "folder": (lambda: None, lambda held, k: os.chdir("/tmp" if k % 2 else "/"), lambda held: len(os.getcwd())),
    "collector": (lambda: None, lambda held, k: gc.disable() if k % 2 else gc.enable(), lambda held: gc.isenabled()),
    "level of a logger": (
        lambda: logging.getLogger("a.b"),
        lambda held, k: logging.getLogger("a").setLevel(k * 10),
        lambda held: held.getEffectiveLevel(),
    ),
    "warning filters": (
        lambda: None,
        lambda held, k: warnings.simplefilter("ignore", append=True),
        lambda held: len(warnings.filters),
    ),
    "sys.path": (lambda: sys, lambda held, k: sys.path.append(str(k)), lambda held: len(held.path)),
    "sys.modules": (
        lambda: sys,
        lambda held, k: sys.modules.__setitem__(f"zz{k}", sys),
        lambda held: sum(f"zz{i}" in sys.modules for i in range(4)),
    ),
    "name of a thread": (
        threading.current_thread,
        lambda held, k: setattr(held, "name", "x" * k),
        lambda held: len(threading.current_thread().name),
    ),
    "array.array": (lambda: array.array("i", [0, 0]), first, lambda held: held[0]),
    "memoryview": (lambda: memoryview(bytearray(8)), first, lambda held: held[0]),
    "mmap": (lambda: mmap.mmap(-1, 16), first, lambda held: held[0]),
    "ctypes int": (lambda: ctypes.c_int(0), lambda held, k: setattr(held, "value", k), lambda held: held.value),
    "ctypes array": (lambda: (ctypes.c_int * 3)(), first, lambda held: held[0]),
    "ctypes array summed": (lambda: (ctypes.c_int * 3)(), first, sum),
    "ctypes structure": (Pair, lambda held, k: setattr(held, "a", k), lambda held: held.a),
    "ctypes nested": (Pair, lambda held, k: first(held.b, k), lambda held: held.b[0]),
    "ctypes bytes": (Pair, lambda held, k: setattr(held, "a", k), lambda held: bytes(held)[0]),
    "BytesIO": (io.BytesIO, lambda held, k: held.write(bytes([k])), lambda held: held.getvalue()[-1]),
    "StringIO": (io.StringIO, lambda held, k: held.write("a"), lambda held: held.tell()),
    "queue": (queue.Queue, lambda held, k: held.put(k), lambda held: held.qsize()),
    "SimpleQueue": (queue.SimpleQueue, lambda held, k: held.put(k), lambda held: held.qsize()),
    "lock": (threading.Lock, lock, lambda held: held.locked()),
    "event": (threading.Event, flag, lambda held: held.is_set()),
    "thread's own": (threading.local, lambda held, k: setattr(held, "n", k), lambda held: held.n),
    "text of a count": (itertools.count, lambda held, k: [next(held) for _ in range(5)], lambda held: len(repr(held))),
    "generator's state": (
        lambda: np.random.default_rng(0),
        lambda held, k: held.random(),
        lambda held: held.bit_generator.state["state"]["state"] % 97,
    ),
    "random's state": (lambda: random.Random(0), lambda held, k: held.random(), lambda held: held.getstate()[1][3]),
    "polynomial": (lambda: np.polynomial.Polynomial([1, 2]), lambda held, k: first(held.coef, k), lambda held: held(2)),
    "masked array": (lambda: np.ma.array([1.0, 2.0]), first, lambda held: held.sum()),
    "mask": (
        lambda: np.ma.array([1.0, 2.0, 4.0], mask=[0, 0, 0]),
        lambda held, k: held.mask.__setitem__(k % 3, not held.mask[k % 3]),
        lambda held: held.sum(),
    ),
    "vectorize": (
        lambda: np.vectorize(lambda v: v),
        lambda held, k: setattr(held, "pyfunc", lambda v: v + k),
        lambda held: held(1).item(),
    ),
    "mapping proxy": (
        lambda: (held := {"a": 0}, types.MappingProxyType(held)),
        lambda held, k: held[0].update(a=k),
        lambda held: held[1]["a"],
    ),
    "chain of dictionaries": (
        lambda: collections.ChainMap({}, {"a": 0}),
        lambda held, k: held.maps[1].update(a=k),
        lambda held: held["a"],
    ),
    "partial": (
        lambda: functools.partial(lambda a: a, a=0),
        lambda held, k: held.keywords.update(a=k),
        lambda held: held(),
    ),
    "singledispatch": (
        lambda: functools.singledispatch(lambda v: 0),
        lambda held, k: held.register(int, lambda v: k),
        lambda held: held(1),
    ),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", CASES)
def test_what_changed_between_calls_is_seen(name: str, policy: str) -> None:
    make, change, read = CASES[name]
    held = make()
    closed = POLICIES[policy](lambda x: x + read(held))
    given = POLICIES[policy](lambda x, held: x + read(held))
    x = Tensor([1.0])
    for k in (1, 2, 3, 2):
        change(held, k)
        expected = (x + read(held)).item()
        assert closed(x).item() == expected
        assert given(x, held).item() == expected


def sets_digits(x: Any) -> Any:
    np.set_printoptions(precision=3)
    return x + len(str(np.array([1 / 3])))


def sets_errors(x: Any) -> Any:
    np.seterr(divide="ignore")
    return x + 1


def within_errors(x: Any) -> Any:
    with np.errstate(divide="ignore"):
        found = np.log(np.array([0.0, 1.0]))
    return x + float(found[1])


def within_digits(x: Any) -> Any:
    with np.printoptions(precision=2):
        text = str(np.array([1 / 3]))
    return x + len(text)


def sets_precision(x: Any) -> Any:
    decimal.getcontext().prec = 3
    return x + float(Decimal(1) / 3)


def sets_context(x: Any) -> Any:
    decimal.setcontext(decimal.Context(prec=5))
    return x + float(Decimal(1) / 3)


def within_precision(x: Any) -> Any:
    with decimal.localcontext() as context:
        context.prec = 4
        found = Decimal(1) / 3
    return x + float(found)


def raises_a_flag(x: Any) -> Any:
    return x + float(Decimal(1) / 3)


def reads_a_flag(x: Any) -> Any:
    decimal.getcontext().clear_flags()
    third = Decimal(1) / 3
    return x + int(decimal.getcontext().flags[decimal.Inexact]) + float(third)


def divides_decimals(x: Any) -> Any:
    with contextlib.suppress(decimal.DivisionByZero):
        return x + float(Decimal(1) / 0)
    return x + 5


def outcome(function: Callable[[Any], Any]) -> list[Any]:
    seen = []
    for k in range(4):
        np.set_printoptions(precision=8 - k % 2)
        np.seterr(all="warn")
        decimal.setcontext(decimal.Context(prec=28 - k % 2))
        result = function(Tensor([1.0])).item()
        context = decimal.getcontext()
        flags = [found for found in context.flags if context.flags[found]]
        seen.append((result, np.get_printoptions()["precision"], np.geterr(), context.prec, flags))
    return seen


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "function",
    [
        sets_digits, sets_errors, within_errors, within_digits, sets_precision, sets_context, within_precision,
        raises_a_flag, reads_a_flag, divides_decimals,
    ],
)  # fmt: skip
def test_a_call_sets_what_python_sets(function: Any, policy: str) -> None:
    assert outcome(POLICIES[policy](function)) == outcome(function)
