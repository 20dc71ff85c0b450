"""List, dict and set comprehensions, nested and filtered, and generator expressions."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
M = [f32([[1.0, 2.0], [3.0, 4.0]]), f32([[-1.0, 0.5], [2.0, 1.0]])]


@case(X, second_order=True)
def list_comprehension(x: Any) -> Any:
    return [x * i * x for i in range(3)]


@case(X)
def filtered(x: Any) -> Any:
    return [x * i for i in range(6) if i % 2 == 0 if i > 0]


@case(X)
def dict_comprehension(x: Any) -> Any:
    return {name: x * k for k, name in enumerate("abc")}


@case(X)
def set_comprehension(x: Any) -> Any:
    sizes = {len(name) for name in ("a", "bb", "cc")}
    return x * sum(sizes), sizes


@case(M)
def nested_comprehension(x: Any) -> Any:
    return [[x[i, j] * 2 for j in range(2)] for i in range(2)]


@case(M)
def two_for_clauses(x: Any) -> Any:
    return ops.stack([x[i, j] for i in range(2) for j in range(2) if i != j])


@case(X)
def conditional_inside(x: Any) -> Any:
    return [v * 2 if v > 0 else v * 3 for v in x]


@case(X, second_order=True)
def generator_expression_in_sum(x: Any) -> Any:
    return sum(v * v * i for i, v in enumerate(x))


@case(X)
def closes_over_local(x: Any) -> Any:
    k = x.sum()
    return [k * i + x for i in range(2)]


@case(X)
def comprehension_variable_does_not_leak(x: Any) -> Any:
    i = 10
    parts = [x * i for i in range(3)]
    return parts, i


@case(X)
def walrus_in_comprehension(x: Any) -> Any:
    parts = [y for k in range(4) if (y := k * 2) > 2]
    return x * y, parts


@case(X)
def nested_lambda_in_comprehension(x: Any) -> Any:
    return [(lambda a: a * i)(x) for i in range(3)]


@case(X)
def unpacking_in_comprehension(x: Any) -> Any:
    return [a * c for a, (b_, c) in [(x, (1, 2)), (x * 2, (3, 4))]], {**{"a": x}, "b": [*range(3)]}


@case(X)
def function_called_in_comprehension(x: Any) -> Any:
    def pick(v: Any) -> Any:
        if v.sum() > 0:
            return v
        return -v

    return [pick(x * k) for k in (1.0, -1.0)]


@case(X)
def comprehension_of_tuples_to_dict(x: Any) -> Any:
    return dict((str(i), x + i) for i in range(3))


@case(X)
def dict_inverted(x: Any) -> Any:
    names = {"a": 1, "b": 2}
    return {v: k for k, v in names.items()}, x
