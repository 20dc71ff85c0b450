"""Programs with one statement that leaves the graph, whose line the tests know by its comment."""

from __future__ import annotations

import contextlib
import functools
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft import ops
from weft.core.tensor import Tensor


class Scale:
    """A context manager written in Python."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def __enter__(self) -> float:
        self.log.append("enter")
        return 2.0

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.log.append("exit" if kind is None else kind.__name__)
        return kind is ValueError


@contextlib.contextmanager
def noted(log: list[Any]) -> Iterator[float]:
    log.append("begin")
    try:
        yield 3.0
    finally:
        log.append("end")


def work(x: Any) -> Any:
    """Operations around a break."""
    for _ in range(4):
        x = ops.tanh(x * 1.5 + 0.25) - x * 0.125
    return x


def top_level(x: Any) -> Any:
    y = work(x)
    n = float(np.sin(y.asnumpy()).sum())  # BREAK 1
    return work(y) * n


def first_statement(x: Any) -> Any:
    n = float(np.sum(x.asnumpy()))  # BREAK 1
    return work(x) * n


def nested(x: Any) -> Any:
    def one(v: Any) -> Any:
        return work(two(work(v))) + 1

    def two(v: Any) -> Any:
        return work(three(v * 2)) + v

    def three(v: Any) -> Any:
        w = four(v + 1)
        return work(w) * v

    def four(v: Any) -> Any:
        return five(work(v)) - v

    def five(v: Any) -> Any:
        n = float(np.sum(v.asnumpy()))  # BREAK 1
        return work(v) * n

    return work(one(x))


def in_for(x: Any) -> Any:
    parts = []
    for i in range(4):
        x = work(x + i)
        n = float(np.sum(x.asnumpy()))  # BREAK 4
        parts.append(work(x) * n)
    return work(sum(parts, x))


def in_while(x: Any) -> Any:
    i = 0
    while i < 3:
        i += 1
        x = work(x)
        x = x + float(np.mean(x.asnumpy()))  # BREAK 3
    x = work(x)
    return x


def in_with(x: Any) -> Any:
    log: list[Any] = []
    with Scale(log) as k, noted(log) as m:
        y = work(x) * k
        n = float(np.sum(y.asnumpy()))  # BREAK 1
        y = work(y) * m * n
    return work(y), log


def in_with_that_raises(x: Any) -> Any:
    log: list[Any] = []
    y = work(x)
    with Scale(log):
        n = float(np.sum(y.asnumpy()))  # BREAK 1
        y = work(y) * n
        raise ValueError("left")
    return work(y), log


def in_try(x: Any) -> Any:
    try:
        y = work(x)
        n = int(str(float(np.sum(y.asnumpy()))) + "no number")  # BREAK 1
        y = y * n
    except ValueError as error:
        y = work(x) * len(str(error).split(":")[0])
    else:
        y = work(y)
    finally:
        z = work(x)
    return work(y + z)


def in_except(x: Any) -> Any:
    y = work(x)
    try:
        raise KeyError("gone")
    except KeyError as error:
        n = float(np.sum(y.asnumpy()))  # BREAK 1
        y = work(y) * n + len(error.args)
    return work(y)


def in_finally(x: Any) -> Any:
    y = work(x)
    try:
        y = work(y)
    finally:
        n = float(np.sum(y.asnumpy()))  # BREAK 1
        y = work(y) * n
    return work(y)


def in_comprehension(x: Any) -> Any:
    y = work(x)
    parts = [work(y * i) * float(np.sum(y.asnumpy())) for i in range(3)]  # BREAK 3
    return work(sum(parts, y))


def in_dict_comprehension(x: Any) -> Any:
    y = work(x)
    parts = {i: work(y) * float(np.sum(y.asnumpy())) for i in range(2)}  # BREAK 2
    return work(parts[0] + parts[1])


def in_generator(x: Any) -> Any:
    def pieces(v: Any) -> Iterator[Any]:
        for i in range(3):
            v = work(v + i)
            n = float(np.sum(v.asnumpy()))  # BREAK 3
            yield work(v) * n

    total = work(x)
    for piece in pieces(x):
        total = work(total + piece)
    return total


def in_contextmanager(x: Any) -> Any:
    @contextlib.contextmanager
    def scaled(v: Any) -> Iterator[Any]:
        v = work(v)
        n = float(np.sum(v.asnumpy()))  # BREAK 1
        try:
            yield work(v) * n
        finally:
            log.append("closed")

    log: list[Any] = []
    with scaled(x) as y:
        y = work(y)
    return work(y), log


def in_expression(x: Any) -> Any:
    y = work(x)
    return work(y) + work(y * float(np.sum(y.asnumpy()))) * work(x)  # BREAK 1


def in_branch_on_tensor(x: Any) -> Any:
    y = work(x)
    if y.sum() > -100:  # BREAK 1
        y = y * float(np.sum(y.asnumpy()))
    return work(y)


def in_operator(x: Any) -> Any:
    return work((Quantity(work(x)) + Quantity(x)).value)


def in_reflected_operator(x: Any) -> Any:
    return work((2.0 * Quantity(work(x))).value)


def in_operator_of_the_second(x: Any) -> Any:
    return work((Plain() - Quantity(work(x))).value)


def in_augmented_assignment(x: Any) -> Any:
    q = Quantity(work(x))
    q += 1.0
    return work(q.value)


def in_unary_operator(x: Any) -> Any:
    return work((-Quantity(work(x))).value)


def in_comparison(x: Any) -> Any:
    q = Quantity(work(x))
    return work(q.value) if q < 1.0 else work(q.value * 2)


def in_equality(x: Any) -> Any:
    q = Quantity(work(x))
    return work(q.value) if q == 1.0 else work(q.value * 2)


def in_membership(x: Any) -> Any:
    q = Quantity(work(x))
    return work(q.value) if 1.0 not in q else work(q.value * 2)


def in_property(x: Any) -> Any:
    return work(Quantity(work(x)).double)


def in_missing_attribute(x: Any) -> Any:
    return work(Quantity(work(x)).anything)


def in_descriptor(x: Any) -> Any:
    holder = Holder(work(x))
    return work(holder.looked)


def in_cached_property(x: Any) -> Any:
    holder = Holder(work(x))
    return work(holder.cached) + holder.cached


class Plain:
    """What has no operators that know of the others."""

    def __sub__(self, other: Any) -> Any:
        return NotImplemented


class Quantity:
    """A value with operators that look at it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(looked(self.value + other.value))

    def __rmul__(self, other: float) -> Quantity:
        return Quantity(looked(self.value * other))

    def __rsub__(self, other: Any) -> Quantity:
        return Quantity(looked(self.value))

    def __iadd__(self, other: float) -> Quantity:
        self.value = looked(self.value + other)
        return self

    def __neg__(self) -> Quantity:
        return Quantity(looked(-self.value))

    def __lt__(self, other: float) -> bool:
        self.value = looked(self.value)
        return other > 0

    def __eq__(self, other: object) -> Any:
        self.value = looked(self.value)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, item: float) -> Any:
        self.value = looked(self.value)
        return 0

    @property
    def double(self) -> Any:
        return looked(self.value) * 2

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "value":
            raise AttributeError(name)
        return looked(self.value)


class Looked:
    """A descriptor that looks at the value of its object."""

    def __get__(self, obj: Any, kind: Any) -> Any:
        return looked(obj.value)


class Holder:
    looked = Looked()

    def __init__(self, value: Any) -> None:
        self.value = value

    @functools.cached_property
    def cached(self) -> Any:
        return looked(self.value)


def looked(value: Any) -> Any:
    y = work(value)
    n = float(np.sum(y.asnumpy()))  # BREAK 1
    return work(y) * n


PROGRAMS = [
    top_level, first_statement, nested, in_for, in_while, in_with, in_with_that_raises, in_try, in_except, in_finally,
    in_comprehension, in_dict_comprehension, in_generator, in_contextmanager, in_expression,
    in_operator, in_reflected_operator, in_operator_of_the_second, in_augmented_assignment, in_unary_operator,
    in_comparison, in_equality, in_membership, in_property, in_missing_attribute, in_descriptor, in_cached_property,
]  # fmt: skip


def expected(function: Any) -> tuple[int, int]:
    """The line of a program's break, and how often it runs."""
    first = function.__code__.co_firstlineno
    for number, line in enumerate(linecache.getlines(__file__)[first - 1 :], first):
        if "# BREAK" in line:
            return number, int(line.split("# BREAK")[1])
    raise AssertionError(f"{function.__name__} has no break")


def sample() -> Tensor:
    return Tensor(np.array([0.5, -0.25, 1.0], np.float32))
