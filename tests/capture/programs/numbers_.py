"""Integers, floats and bools as constants, as counters, and taken out of tensors."""

from __future__ import annotations

import math
from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import b, f32, i64

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X)
def integer_arithmetic(x: Any) -> Any:
    k = (7 // 2) * 3 % 5 + 2**3 - (1 << 2) | 1
    return x * k, k, -7 // 2, -7 % 3, 7 & 3, 7 ^ 2, ~5


@case(X)
def float_arithmetic(x: Any) -> Any:
    k = 7 / 2 + 2**-1 - 1e-3
    return x * k, k, 7.5 // 2, -7.5 % 2, float("inf"), int(3.9)


@case([(f32(1.0, 2.0), 2), (f32(1.0, 2.0), 5), (f32(3.0, 2.0), 2)])
def python_int_argument(x: Any, k: int) -> Any:
    return x * k + k // 2, k * 2


@case([(f32(1.0, 2.0), 0.5), (f32(1.0, 2.0), 2.0)])
def python_float_argument(x: Any, k: float) -> Any:
    return x * k, k / 2


@case([(f32(1.0, 2.0), True), (f32(1.0, 2.0), False)])
def python_bool_argument(x: Any, flag: bool) -> Any:
    return x * flag, not flag


@case([(f32(1.0, 2.0), 1), (f32(1.0, 2.0), 1.0), (f32(1.0, 2.0), True)])
def equal_numbers_of_different_types(x: Any, k: Any) -> Any:
    return x, k, type(k).__name__


@case(X)
def number_from_tensor(x: Any) -> Any:
    total = float(x.sum())
    count = int((x > 0).sum())
    return x * total, count + 1, total


@case(X)
def item_of_tensor(x: Any) -> Any:
    v = x.sum().item()
    return v * 2, x * v


@case(X)
def number_from_tensor_in_condition(x: Any) -> Any:
    if int(x.sum()) > 1:
        return x * 2
    return x


@case([i64(5), i64(-5)])
def int_arithmetic_on_taken_number(n: Any) -> Any:
    k = int(n)
    return k // 2, k % 3, k * k - 1, k / 2, -k, abs(k), k > 0, min(k, 2), max(k, 2)


@case(X)
def is_not_a_tensor(x: Any) -> Any:
    k = float(x.sum())
    return isinstance(k, float), isinstance(k, int), type(k) is float


@case(X)
def bool_is_an_int(x: Any) -> Any:
    return True + True, x * (x.ndim == 1), sum([True, False, True])


@case([b(True), b(False)])
def bool_tensor_to_number(p: Any) -> Any:
    return int(p), float(p), int(p) + 1


@case(X)
def math_module(x: Any) -> Any:
    return x * math.sqrt(4.0), math.pi, math.floor(2.5), math.prod([2, 3])


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))])
def float_counter(x: Any, n: Any) -> Any:
    t = 0.0
    while t < n:
        x = x + t
        t += 0.5
    return x, t


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))])
def counter_used_as_factor_and_exponent(x: Any, n: Any) -> Any:
    i = 1
    while i <= n:
        x = x * i + 2**i
        i += 1
    return x, i


@case(X)
def chained_assignment_and_augmented(x: Any) -> Any:
    a = c = 3
    a += 1
    c *= 2
    x += a
    x -= c
    x *= 2
    x /= 4
    return x, a, c


@case(X)
def integer_division_of_tensors(x: Any) -> Any:
    return x // 0.5, x % 2, -x // 1, divmod(x, 2.0)[0]


@case([i64(7, -7), i64(3, -2)])
def integer_tensor_arithmetic(n: Any) -> Any:
    return n // 2, n % 3, n / 2, n * 2.5, n + True, 2 ** abs(n), -n, n & 3, n << 1


@case(X)
def complex_numbers(x: Any) -> Any:
    z = 3 + 4j
    return abs(z), z.real * x


@case(X)
def big_integers(x: Any) -> Any:
    n = 10**20
    return n % 7 * x, n


@case(X)
def number_left_and_right(x: Any) -> Any:
    return 1 - x, 2 / (x + 3), 2**x, 3 - x * 2, 5 % (x + 3), 7 // (x + 3)
