"""Mixed dtypes, casts, and numbers beside tensors, in and around control flow."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import b, f32, f64, i32, i64

import weft
from weft import ops
from weft.core.tensor import Tensor

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case([(f32(1.0, 2.0), i64(1, 2)), (f32(-1.0, 2.0), i64(3, 0))])
def float_and_int_tensors(x: Any, n: Any) -> Any:
    return x + n, x * n, n / 2, n + 0.5, x > n, n // 2 + x


@case([(f32(1.0, 2.0), f64(1.0, 2.0)), (f32(-1.0, 2.0), f64(3.0, 0.0))])
def float32_and_float64(x: Any, y: Any) -> Any:
    return x + y, x * 2.0, y * 2.0


@case([(i32(1, 2), i64(3, 4)), (i32(5, 6), i64(7, 8))])
def int32_and_int64(p: Any, q: Any) -> Any:
    return p + q, p * 2, p / q, -p, p.astype(weft.float32) * 0.5


@case([b(True, False), b(False, False)])
def bool_arithmetic(p: Any) -> Any:
    return p & True, p | p, ~p, p.astype(weft.int32).sum(), p.sum()


@case(X)
def casts_in_branches(x: Any) -> Any:
    if x.sum() > 0:
        y = x.astype(weft.float16).astype(weft.float32)
    else:
        y = ops.cast(x, weft.int32).astype(weft.float32)
    return y


@case([(i64(3), f32(0.5)), (i64(0), f32(0.5)), (i64(5), f32(4.0))])
def int_loop_float_body(n: Any, x: Any) -> Any:
    total = Tensor(0.0)
    while n > 0:
        total = total + n * x
        n = n - 1
    return total, n


@case(X)
def number_becomes_tensor_in_branch(x: Any) -> Any:
    bias = Tensor(0.0)
    if x.sum() > 0:
        bias = x.sum()
    return x + bias


@case(X)
def int_and_float_numbers_merge(x: Any) -> Any:
    if x.sum() > 0:
        k = 1
    else:
        k = 0.5
    return x * k


@case(X)
def int_or_float_returned(x: Any) -> Any:
    if x.sum() > 0:
        return 1
    return 0.5


@case(X)
def number_or_tensor_merge(x: Any) -> Any:
    if x.sum() > 0:
        k = 1.0
    else:
        k = x.max()
    return x * k


@case(X)
def bool_number_merge(x: Any) -> Any:
    flag = False
    if x.sum() > 0:
        flag = True
    return flag, x * flag


@case([i64(3), i64(-2)])
def bool_merges_with_bool_tensor(n: Any) -> Any:
    found = False
    if n > 0:
        found = n > 2
    return found


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))])
def float_number_becomes_tensor_in_loop(x: Any, n: Any) -> Any:
    best = 0.0
    while n > 0:
        best = x.max() * n
        n -= 1
    return x + best


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))])
def int_number_becomes_float_in_loop(x: Any, n: Any) -> Any:
    k = 0
    while n > 0:
        k = k + 0.5
        n -= 1
    return x * k


@case(X)
def weak_numbers_do_not_widen(x: Any) -> Any:
    h = x.astype(weft.float16)
    return h * 2, h + 0.1, h * Tensor(2, weft.float16), (h * 2.5).dtype


@case(X)
def comparison_dtypes(x: Any) -> Any:
    return x > 0, x == 1, (x > 0) & (x < 2), ops.logical_not(x > 0), (x != x).any()


@case(X)
def zeros_like_in_loop_carry(x: Any) -> Any:
    m = ops.zeros_like(x)
    i = Tensor(0)
    while i < 3:
        m = m * 0.9 + x * 0.1
        i = i + 1
    return m, i
