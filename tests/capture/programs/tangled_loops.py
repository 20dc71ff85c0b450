"""Loops with several tests, `continue` before the test, exits in the middle: those that run from header to header."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

V = [f32(0.5, 1.5), f32(-1.0, -4.0), f32(6.0, 7.0)]
N = [(x, i64(n)) for x in V for n in (0, 5)]
W = [(f32(0.5, 1.5), f32(0.2, 0.3)), (f32(-1.0, -4.0), f32(3.0, 3.0)), (f32(6.0, 7.0), f32(9.0, 9.0))]


@case(V, second_order=True)
def continue_before_the_exit(x: Any) -> Any:
    while True:
        if x.sum() < 0:
            x = x + 3
            continue
        x = x * 1.5
        if x.sum() > 10:
            break
    return x


@case(N)
def four_ways_out(x: Any, n: Any) -> Any:
    i = 0
    while True:
        i += 1
        if x.sum() < 0:
            x = x + 3
            if i > n:
                return x, i
            continue
        x = x * 1.5
        if x.sum() > 10 and x.max() > 5:
            break
        if x.sum() == 9:
            return x * 2, 7
    return x, i


@case(V)
def three_tests_with_or(x: Any) -> Any:
    i = 0
    while x.sum() < 5 or x.max() < 3 or i < 3:
        x = x + 0.5
        i += 1
    return x, i


@case(W)
def and_of_or_with_else(x: Any, y: Any) -> Any:
    while (x.sum() < 5 and y.sum() < 7) or (x.max() < 3 and not y.max() > 9):
        x = x + 0.5
        y = y * 1.3
        if x.sum() == 4:
            continue
        y = y + 0.1
    else:
        return x, y, 3
    return x


@case([W[0], W[2]])
def nested_with_or(x: Any, y: Any) -> Any:
    while x.sum() < 20 or y.sum() < 20:
        while y.sum() < 5 or x.max() < 2:
            y = y + 1
            x = x + 0.5
            if x.sum() > 15:
                break
            if y.sum() > 9:
                continue
            y = y + 0.3
        x = x * 2
        y = y * 1.7
    return x, y


@case([V[0], V[2]])
def chained_comparison_or_counter(x: Any) -> Any:
    k = 0
    while 0 < x.sum() < 10 or k < 2:
        x = x * 1.9
        k += 1
    return x, k


@case(V)
def continue_through_finally(x: Any) -> Any:
    while True:
        try:
            if x.sum() > 5:
                break
            if x.max() < 1:
                continue
        finally:
            x = x + 1
    return x


@case(V)
def counted_by_python(x: Any) -> Any:
    out = []
    i = 0
    while True:
        i += 1
        if i > 3:
            break
        if x.sum() < 0:
            out.append(x)
            continue
        out.append(x * 2)
        x = x - 1
    return out
