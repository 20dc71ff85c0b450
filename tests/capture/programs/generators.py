"""Generators made and consumed inside: loops, `yield from`, `send`, `close`, `return` values, exhaustion."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X, second_order=True)
def simple_generator(x: Any) -> Any:
    def powers(v: Any, n: int) -> Any:
        p = v
        for _ in range(n):
            yield p
            p = p * v

    total = x * 0
    for p in powers(x, 3):
        total = total + p
    return total


@case(X)
def yield_from_with_return_value(x: Any) -> Any:
    def inner() -> Any:
        yield x
        yield x * 2
        return 7

    def outer() -> Any:
        got = yield from inner()
        yield x * got

    return list(outer())


@case(X)
def send_values(x: Any) -> Any:
    def accumulator() -> Any:
        total = x
        while True:
            received = yield total
            total = total + received

    g = accumulator()
    next(g)
    g.send(x)
    return g.send(x * 10)


@case(X)
def next_with_default(x: Any) -> Any:
    g = (x * i for i in range(2))
    return next(g), next(g), next(g, None), next(g, 5)


@case(X)
def exhausted_generator_raises(x: Any) -> Any:
    g = iter([x])
    first = next(g)
    try:
        next(g)
    except StopIteration:
        return first * 2
    return first


@case(X)
def generator_with_branch(x: Any) -> Any:
    def choose() -> Any:
        for i in range(3):
            v = x * i
            if v.sum() > 2:
                v = v * 10
            yield v

    return list(choose())


@case(X)
def interleaved_generators(x: Any) -> Any:
    def count(start: int) -> Any:
        while True:
            yield start
            start += 1

    total = x
    for a, c in zip(count(0), count(10), strict=False):
        if a == 3:
            break
        total = total + a * c
    return total


@case(X)
def generator_with_finally(x: Any) -> Any:
    log = []

    def g() -> Any:
        try:
            yield x
            yield x * 2
        finally:
            log.append("closed")

    it = g()
    first = next(it)
    it.close()
    return first, log


@case(X)
def generator_throw(x: Any) -> Any:
    def g() -> Any:
        try:
            yield x
        except ValueError as error:
            yield x * int(str(error))

    it = g()
    next(it)
    return it.throw(ValueError("3"))


@case(X)
def itertools_pipeline(x: Any) -> Any:
    pairs = itertools.product([1, 2], [10, 20])
    total = x * 0
    for a, c in itertools.islice(pairs, 3):
        total = total + x * a + c
    chained = list(itertools.chain([x], (x * 2,)))
    return total, chained, list(itertools.accumulate([1, 2, 3], lambda p, q: p * q))


@case(X)
def recursive_generator(x: Any) -> Any:
    def walk(tree: Any) -> Any:
        if isinstance(tree, list):
            for child in tree:
                yield from walk(child)
        else:
            yield tree

    return sum(walk([x, [x * 2, [x * 3, x]], x]))


@case(X)
def generator_passed_to_builtins(x: Any) -> Any:
    def values() -> Any:
        yield from (3, 1, 2)

    return x * max(values()), sorted(values()), tuple(values()), dict(zip("abc", values(), strict=True))


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))])
def generator_inside_tensor_loop(x: Any, n: Any) -> Any:
    def parts(v: Any) -> Any:
        yield v
        yield v * 0.5

    while n > 0:
        x = sum(parts(x))
        n -= 1
    return x


@case(X)
def contextmanager_generator(x: Any) -> Any:
    events = []

    @contextlib.contextmanager
    def scaled(k: float) -> Any:
        events.append("enter")
        try:
            yield x * k
        finally:
            events.append("exit")

    with scaled(2.0) as y:
        z = y + 1
    return z, events


@case(X)
def partially_consumed(x: Any) -> Any:
    g = (x * i for i in range(5))
    first = next(g)
    rest = list(g)
    return first, rest
