"""Loops as functions: `ops.while_loop`, `ops.fori_loop`, `ops.scan` and their operators."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0)), (f32(-0.5, 1.25), i64(5))]
V = [f32(1.0, 2.0), f32(10.0, 20.0), f32(-1.0, 0.5)]


@case(V, second_order=True)
def while_on_a_tensor(x: Any) -> Any:
    return ops.while_loop(lambda v: (v * v).sum() > 1, lambda v: v * 0.5, x) * x


@case(N, second_order=True)
def while_over_a_structure(x: Any, n: Any) -> Any:
    state = {"left": n, "values": [x, (x * 2, "name")]}

    def body(state: Any) -> Any:
        first, (second, name) = state["values"]
        return {"left": state["left"] - 1, "values": [first * 0.5 + second, (ops.sin(second), name)]}

    return ops.WhileLoop()(lambda state: state["left"] > 0, body, state)


@case(V)
def while_on_python_numbers(x: Any) -> Any:
    return ops.WhileLoop()(lambda state: state[0] < 4, lambda state: (state[0] + 1, state[1] * x), (1, x))


@case(N, second_order=True)
def fori_to_a_tensor(x: Any, n: Any) -> Any:
    return ops.fori_loop(0, n, lambda i, v: v * i + ops.sin(v), x)


@case(N)
def fori_from_a_tensor(x: Any, n: Any) -> Any:
    return ops.ForiLoop()(n, 6, lambda i, v: (v[0] + i, v[1] * 0.5 + i), (0, x), unroll=False)


@case([(f32(0.5, 1.5), 3), (f32(0.5, 1.5), 0), (f32(2.0, 1.0), 3)], second_order=True, entries=-1)
def fori_to_a_number(x: Any, n: Any) -> Any:
    return ops.fori_loop(0, n, lambda i, v: v * x + i, x)


@case(V, second_order=True)
def scan_of_tensors(x: Any) -> Any:
    return ops.scan(lambda carry, item: (carry * item, carry + item), x, [x, x * 2, ops.sin(x)])


@case(V, second_order=True)
def scan_from_the_end(x: Any) -> Any:
    total, parts = ops.scan(lambda carry, item: (carry + x * item, carry), x, (1, 2, 3), reverse=True)
    return total, parts


@case(V)
def scan_without_items(x: Any) -> Any:
    return ops.Scan()(lambda carry, item: (carry * 0.5, item is None), x, None, 3, unroll=False)


@case(N, second_order=True)
def loops_in_loops_and_branches(x: Any, n: Any) -> Any:
    def outer(i: Any, v: Any) -> Any:
        if v.sum() > 2:
            return ops.while_loop(lambda w: w.sum() > 1, lambda w: w * 0.5, v)
        return ops.fori_loop(0, i, lambda j, w: w * 1.5 + j, v)

    return ops.fori_loop(0, n, outer, x)


@case(N)
def effects_in_order(x: Any, n: Any) -> Any:
    def goes_on(v: Any) -> Any:
        print("test", v.sum())
        return v.sum() < 20

    def body(v: Any) -> Any:
        print("body", n)
        return v * 2 + 1

    return ops.while_loop(goes_on, body, x)


@case(N)
def body_raises_for_some_values(x: Any, n: Any) -> Any:
    def body(i: Any, v: Any) -> Any:
        if i > 3:
            raise RuntimeError(f"step {i}")
        return v * 2

    return ops.fori_loop(0, n, body, x)


@case(V)
def another_shape(x: Any) -> Any:
    return ops.while_loop(lambda v: v.sum() > 5, lambda v: v.reshape(2, 1) * 0.5, x)


@case(N)
def another_type(x: Any, n: Any) -> Any:
    return ops.fori_loop(0, n, lambda i, v: {"a": v["a"].astype("int32")}, {"a": x})


@case(V)
def no_pair(x: Any) -> Any:
    return ops.scan(lambda carry, item: carry + item, x, [x])


@case(V)
def written_outside(x: Any) -> Any:
    seen = []

    def body(carry: Any, item: Any) -> Any:
        seen.append(carry)
        return carry * item, item

    return ops.scan(body, x, [x, x + 1]), seen
