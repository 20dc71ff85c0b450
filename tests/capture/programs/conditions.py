"""Conditional expressions, `and`, `or`, `not`, chained comparisons, membership, identity."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import b, f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
FLAGS = [(b(p), b(q)) for p in (True, False) for q in (True, False)]


@case(X, second_order=True)
def conditional_expression(x: Any) -> Any:
    return x * x if x.sum() > 0 else x * x * x


@case(X)
def nested_conditional_expression(x: Any) -> Any:
    s = x.sum()
    return x if s > 2 else x * 2 if s > 0 else x * 3


@case([f32(2.0, 1.0), f32(-2.0, 1.0), f32(-2.0, -1.0), f32(2.0, -1.0)], second_order=True)
def and_of_tensors(x: Any) -> Any:
    if x[0] > 0 and x[1] > 0:
        return x * x
    return x * 2


@case([f32(2.0, 1.0), f32(-2.0, 1.0), f32(-2.0, -1.0), f32(2.0, -1.0)], second_order=True)
def or_of_tensors(x: Any) -> Any:
    y = x
    if x[0] > 0 or x[1] > 0:
        y = ops.exp(x)
    return y * x


@case(X)
def not_of_tensor(x: Any) -> Any:
    if not x.sum() > 0:
        x = -x
    return x


@case([f32(2.0, 1.0), f32(-2.0, 1.0), f32(-2.0, -1.0)])
def mixed_and_or_not(x: Any) -> Any:
    a, c = x[0] > 0, x[1] > 0
    if (a and not c) or (c and not a):
        return x + 10
    return x


@case(FLAGS, gradients=False)
def and_as_a_value(p: Any, q: Any) -> Any:
    return p and q


@case(FLAGS, gradients=False)
def or_as_a_value(p: Any, q: Any) -> Any:
    return p or q


@case(FLAGS, gradients=False)
def not_as_a_value(p: Any, q: Any) -> Any:
    return not p, not q


@case([(f32(1.0, 2.0), True), (f32(-1.0, -2.0), True), (f32(1.0, 2.0), False)])
def python_and_tensor(x: Any, flag: bool) -> Any:
    if flag and x.sum() > 0:
        return x * 2
    return x * 3


@case([(f32(1.0, 2.0), None), (f32(-1.0, -2.0), None), (f32(1.0, 2.0), f32(3.0, 4.0))])
def optional_argument(x: Any, mask: Any) -> Any:
    if mask is not None and mask.sum() > 5:
        x = x * mask
    return x


@case(X)
def in_a_python_list(x: Any) -> Any:
    if x.ndim in (1, 2) and "a" not in ["b"]:
        return x * 2
    return x


@case(X)
def identity_of_tensors(x: Any) -> Any:
    y = x
    z = x + 0
    return (x is y), (x is z), (z is not None)


@case(X)
def condition_stored_then_used_twice(x: Any) -> Any:
    positive = x.sum() > 0
    y = x * 2 if positive else x
    z = y + 1 if positive else y - 1
    return z, positive


@case([i64(3), i64(12), i64(-4)])
def chained_comparison_value(n: Any) -> Any:
    inside = 0 <= n < 10
    return inside


@case(X)
def default_by_or(x: Any) -> Any:
    name = "" or "default"
    items = [] or [x]
    return name, items[0] * 2


@case([f32(2.0, 1.0), f32(-2.0, 1.0), f32(-2.0, -1.0)])
def any_and_all_over_list(x: Any) -> Any:
    if all([x[0] > 0, x[1] > 0]):
        return x
    if any(v > 0 for v in x):
        return x * 2
    return x * 3


@case(X)
def bool_call(x: Any) -> Any:
    flag = bool(x.sum() > 0)
    if flag:
        return x, flag
    return x * 2, flag


@case([f32(0.5, 1.0), f32(0.0, 0.0)])
def truth_of_float_tensor(x: Any) -> Any:
    if x.sum():
        return x / x.sum()
    return x
