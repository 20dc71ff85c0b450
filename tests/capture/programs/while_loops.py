"""`while` loops whose trip count only the running graph knows."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops
from weft.core.tensor import Tensor

N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0)), (f32(-0.5, 1.25), i64(5))]
V = [f32(1.0, 2.0), f32(10.0, 20.0), f32(-1.0, 0.5)]


@case(N, second_order=True)
def count_down(x: Any, n: Any) -> Any:
    while n > 0:
        x = x * x * 0.5 + x
        n = n - 1
    return x


@case(N, second_order=True)
def python_counter_to_tensor_bound(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        x = x * 0.9 + ops.sin(x)
        i += 1
    return x, i


@case(V, second_order=True)
def until_small(x: Any) -> Any:
    while (x * x).sum() > 1:
        x = x * 0.5
    return x * x


@case(N, second_order=True)
def accumulates(x: Any, n: Any) -> Any:
    total = ops.zeros_like(x)
    i = 0
    while i < n:
        total = total + x * i
        i = i + 1
    return total * total


@case(N)
def invariant_outside_tensor(x: Any, n: Any) -> Any:
    y = x * 2
    out = x
    while n > 0:
        out = out + y
        n -= 1
    return out


@case(N)
def float_accumulator_starts_as_python_number(x: Any, n: Any) -> Any:
    s = 0.0
    while n > 0:
        s = s + x.sum()
        n -= 1
    return s + x


@case([(i64(2), i64(3)), (i64(3), i64(2)), (i64(1), i64(0))])
def while_in_while(n: Any, m: Any) -> Any:
    total = Tensor(0)
    i = 0
    while i < n:
        j = 0
        while j < m:
            total = total + i * 10 + j
            j += 1
        i += 1
    return total


@case([(f32(0.3, 0.7), i64(3)), (f32(0.3, 0.7), i64(1))], second_order=True)
def triangular_nest(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        j = 0
        while j < i:
            x = x + ops.sin(x) * 0.5
            j += 1
        x = x * 1.5
        i += 1
    return x


@case([i64(27), i64(1), i64(6)])
def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps, n


@case([(i64(48), i64(18)), (i64(17), i64(5)), (i64(7), i64(0))])
def greatest_common_divisor(p: Any, q: Any) -> Any:
    while q != 0:
        p, q = q, p % q
    return p


@case([f32(2.0), f32(9.0), f32(0.25)], second_order=True)
def newton_square_root(a: Any) -> Any:
    guess = a * 0.5 + 0.5
    while ops.abs(guess * guess - a) > 1e-4:
        guess = 0.5 * (guess + a / guess)
    return guess


@case(N, second_order=True)
def if_inside_while(x: Any, n: Any) -> Any:
    while n > 0:
        if n % 2 == 0:
            x = x * x
        else:
            x = x + 0.25
        n = n - 1
    return x


@case(N)
def while_else(x: Any, n: Any) -> Any:
    while n > 0:
        x = x * 2
        n = n - 1
    else:
        x = x + 100
    return x


@case(N, second_order=True)
def while_true_with_break(x: Any, n: Any) -> Any:
    while True:
        if n <= 0:
            break
        x = x * 1.1 + 0.1
        n = n - 1
    return x


@case(V)
def two_conditions(x: Any) -> Any:
    i = 0
    while i < 10 and x.sum() < 100:
        x = x * 2
        i += 1
    return x, i


@case(V)
def or_condition(x: Any) -> Any:
    i = 0
    while x.sum() < 5 or i < 2:
        x = x + 1
        i += 1
    return x, i


@case([f32(1.0, 2.0), f32(3.0, -4.0)], second_order=True)
def python_while_unrolls(x: Any) -> Any:
    i = 0
    while i < 3:
        x = x * x * 0.1 + i
        i += 1
    return x


@case(N)
def tuple_carried(x: Any, n: Any) -> Any:
    state = (x, x * 2)
    while n > 0:
        state = (state[1], state[0] + state[1])
        n -= 1
    return state


@case(N)
def list_element_carried(x: Any, n: Any) -> Any:
    state = [x, x * 2]
    while n > 0:
        state[0], state[1] = state[1], state[0] + 1
        n -= 1
    return state


@case(N)
def dict_carried(x: Any, n: Any) -> Any:
    state = {"x": x, "steps": 0}
    while n > 0:
        state["x"] = state["x"] * 1.5
        state["steps"] += 1
        n -= 1
    return state


@case(N)
def fibonacci(x: Any, n: Any) -> Any:
    p, q = 0, 1
    while n > 0:
        p, q = q, p + q
        n -= 1
    return x * p


@case(N)
def condition_function(x: Any, n: Any) -> Any:
    def go_on(k: Any) -> Any:
        return k > 0

    while go_on(n):
        x = ops.tanh(x)
        n = n - 1
    return x


@case(N, second_order=True)
def walrus_in_condition(x: Any, n: Any) -> Any:
    total = x * 0
    while (n := n - 1) >= 0:
        total = total + x * n
    return total * x


@case(N)
def slice_written_in_loop(x: Any, n: Any) -> Any:
    out = ops.zeros((8,))
    i = 0
    while i < n:
        out[i] = x.sum() * i
        i += 1
    return out


@case(N)
def indexed_by_counter(x: Any, n: Any) -> Any:
    table = Tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    i = 0
    while i < n:
        x = x + table[i]
        i += 1
    return x


@case(N)
def body_makes_local_only(x: Any, n: Any) -> Any:
    while n > 0:
        temporary = x * 2
        x = temporary - 1
        n -= 1
    return x


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(1))])
def name_first_bound_in_loop(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        last = x * i
        i += 1
    return last
