"""`break`, `continue` and `return` in any nesting of loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops
from weft.core.tensor import Tensor

N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0)), (f32(-0.5, 1.25), i64(8))]
X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(N, second_order=True)
def break_in_while(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        if x.sum() > 6:
            break
        x = x + x * x * 0.5
        i += 1
    return x, i


@case(N, second_order=True)
def continue_in_while(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        x = x * 1.2 + 0.1
    return x


@case(N, second_order=True)
def return_in_while(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        x = x * x + 0.5
        if x.sum() > 5:
            return x * 10
        i += 1
    return x


@case(N)
def break_and_continue_in_while(x: Any, n: Any) -> Any:
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i == 2:
            continue
        x = x + i
    return x, i


@case(X, second_order=True)
def break_in_python_for(x: Any) -> Any:
    for i in range(5):
        x = x * 1.5
        if x.sum() > 5:
            break
        x = x + i
    return x


@case(X)
def continue_in_python_for(x: Any) -> Any:
    total = x * 0
    for i in range(4):
        if (x * i).sum() > 3:
            continue
        total = total + x * i
    return total


@case(X, second_order=True)
def return_in_python_for(x: Any) -> Any:
    for i in range(4):
        x = x * 1.5 + 0.1
        if x.sum() > 4:
            return x * x
    return x - 1


@case([f32(1.0, 2.0, 3.0, 4.0), f32(5.0, 0.0, 0.0, 0.0), f32(0.1, 0.1, 0.1, 0.1)])
def first_index_above(x: Any) -> Any:
    for i in range(4):
        if x[i] > 2:
            return i
    return -1


@case([f32([[1.0, 2.0], [3.0, 4.0]]), f32([[-1.0, 9.0], [2.0, 1.0]]), f32([[0.0, 0.0], [0.0, 0.0]])])
def return_from_nested_for(x: Any) -> Any:
    for i in range(2):
        for j in range(2):
            if x[i, j] > 2.5:
                return i, j, x[i, j]
    return -1, -1, x.sum()


@case([(i64(4), i64(3)), (i64(2), i64(9)), (i64(0), i64(1))])
def return_from_nested_while(n: Any, m: Any) -> Any:
    i = 0
    while i < n:
        j = 0
        while j < m:
            if i * j >= 4:
                return i * 100 + j
            j += 1
        i += 1
    return Tensor(-1)


@case([(i64(4), i64(3)), (i64(2), i64(9)), (i64(5), i64(1))])
def break_inner_continue_outer(n: Any, m: Any) -> Any:
    total = 0
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        j = 0
        while True:
            if j >= m:
                break
            if j > i:
                break
            total = total + j
            j += 1
        total = total + 100
    return total


@case(N)
def if_in_while_in_for(x: Any, n: Any) -> Any:
    for k in range(2):
        i = 0
        while i < n:
            if x.sum() > 4:
                x = x * 0.5
            else:
                x = x + k + 1
            i += 1
    return x


@case(N)
def break_in_tensor_range(x: Any, n: Any) -> Any:
    for i in range(n):
        if x.sum() > 4:
            break
        x = x + i
    return x


@case(N)
def continue_in_tensor_range(x: Any, n: Any) -> Any:
    for i in range(n):
        if i % 2 == 1:
            continue
        x = x + i
    return x


@case(N)
def return_in_tensor_range(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + i
        if x.sum() > 6:
            return x, i
    return x, -1


@case([(f32(1.0, 2.0), True), (f32(4.0, 2.0), True), (f32(1.0, 2.0), False)])
def python_break_condition(x: Any, stop: bool) -> Any:
    for _ in range(3):
        x = x * 2
        if stop:
            break
    return x


@case(X)
def early_return_of_other_structure(x: Any) -> Any:
    if x[0] > 0:
        return [x, x]
    for i in range(2):
        if x[i] < -1.5:
            return {"i": i}
    return x


@case(X, second_order=True)
def guard_clauses(x: Any) -> Any:
    if x.max() > 100:
        return x * 0
    if x.min() < -100:
        return x * 0 - 1
    if x.sum() > 0:
        return ops.log(1 + x * x)
    return ops.exp(x)


@case([i64(0), i64(3), i64(10), i64(50)])
def while_else_with_break(n: Any) -> Any:
    i = 0
    while i < n:
        if i * i > 30:
            result = i
            break
        i += 1
    else:
        result = -i
    return result


@case([f32(3.0, 1.0), f32(0.5, 0.25), f32(90.0, 3.0)], second_order=True)
def endless_loop_left_by_return(x: Any) -> Any:
    k = 0
    while True:
        if x.sum() > 50:
            return x
        x = x * 2 + x * x * 0.1
        k += 1
        if k > 20:
            return -x


@case(N)
def break_or_return_in_tensor_range(x: Any, n: Any) -> Any:
    for i in range(n):
        if x.sum() > 4:
            break
        if x.max() > 2.5:
            return x * 10, i
        x = x + i
    return x, -1, x * 2


@case(N)
def break_or_return_of_other_structure(x: Any, n: Any) -> Any:
    for _ in range(n):
        if not x.sum() > 0.5:
            break
        if not x.max() < 1.5:
            return x * x, 2
    return x * 1.0, x, 3, x


@case(N)
def chained_comparison_in_loop_test(x: Any, n: Any) -> Any:
    i = 0
    while n > 0 and -1 < x.sum() < 2.5:
        n -= 1
        i += 1
        if not x.sum() > 0.5:
            return x * 3, i
        x = x * 1.1
    return x, i


@case([i64(0), i64(3), i64(12)])
def chained_comparison_as_loop_test(n: Any) -> Any:
    steps = 0
    while 0 < n < 10:
        n = n + 2
        steps += 1
    return n, steps


#: as many rows as make a loop of the graph worth while, left in the middle, at once and never
ROWS = [np.linspace(-0.5, 1.5, 24, dtype=np.float32).reshape(12, 2) * scale for scale in (1.0, -8.0, 0.1)]


@case(ROWS, second_order=True)
def rows_until_a_break(x: Any) -> Any:
    h = x[0] * 0
    for row in x:
        h = ops.tanh(h * 0.6 + row)
        if h.sum() > 1:
            break
    return h * h


@case(ROWS)
def rows_until_a_return(x: Any) -> Any:
    h = x[0] * 0
    for row in x:
        h = h * 0.5 + row
        if h.sum() > 1:
            return h * 2
        h = h * row
    return h


@case(ROWS)
def rows_until_an_exception(x: Any) -> Any:
    h = x[0] * 0
    for row in x:
        h = h + row * row
        if h.sum() > 4:
            raise ValueError("too large")
    return h


@case(ROWS)
def rows_that_are_written_until_a_break(x: Any) -> Any:
    x = x * 1
    total, count = x[0] * 0, 0
    for row in x:
        total = total + row
        x[11] = total
        count += 1
        if total.sum() > 1.5:
            break
    else:
        count = -1
    return total, x, count


@case(ROWS)
def rows_of_a_shared_iterator(x: Any) -> Any:
    rows, total = iter(x), x[0] * 0
    for row in rows:
        total = total + row
        if total.sum() > 0.5:
            break
    for row in rows:
        total = total - row * 0.5
        if total.sum() < -2:
            break
    return total


@case(ROWS)
def rows_in_rows(x: Any) -> Any:
    total = x[0] * 0
    for row in x:
        for other in x:
            total = total + row * other
            if total.sum() > 3:
                break
        if total.sum() < -3:
            return total
    return total * 2
