"""`for` loops: Python ranges, ranges of tensors, over rows, with `else`."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops
from weft.core.tensor import Tensor

N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0)), (f32(-0.5, 1.25), i64(5))]
X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X, second_order=True)
def python_range(x: Any) -> Any:
    for i in range(4):
        x = x * 0.5 + i * x * x
    return x


@case(N, second_order=True)
def range_of_tensor(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + ops.sin(x) * i
    return x


@case(N)
def range_start_stop_of_tensor(x: Any, n: Any) -> Any:
    for i in range(1, n):
        x = x + i
    return x


@case(N)
def range_with_step_of_tensor(x: Any, n: Any) -> Any:
    for i in range(0, n, 2):
        x = x * 2 + i
    return x


@case(N)
def range_descending_of_tensor(x: Any, n: Any) -> Any:
    for i in range(n, 0, -1):
        x = x * 0.5 + i
    return x


@case(N)
def nested_ranges_of_tensor(x: Any, n: Any) -> Any:
    total = Tensor(0)
    for i in range(n):
        for j in range(i):
            total = total + i * j
    return x + total


@case([f32(1.0, 2.0, 3.0), f32(-1.0, 0.5, 2.0)], second_order=True)
def over_elements(x: Any) -> Any:
    product = Tensor(1.0)
    for v in x:
        product = product * v + v
    return product


@case([f32([[1.0, 2.0], [3.0, 4.0]]), f32([[-1.0, 0.5], [2.0, 1.0]])], second_order=True)
def over_rows_with_branch(x: Any) -> Any:
    out = ops.zeros((2,))
    for row in x:
        if row.sum() > 2:
            out = out + row * row
        else:
            out = out - row
    return out


@case([f32([[1.0, 2.0], [3.0, 4.0]]), f32([[-1.0, 0.5], [2.0, 1.0]])])
def enumerate_rows(x: Any) -> Any:
    out = []
    for i, row in enumerate(x):
        out.append(row * (i + 1))
    return ops.stack(out)


@case(X)
def for_else_without_break(x: Any) -> Any:
    for i in range(3):
        x = x + i
    else:
        x = x * 10
    return x


@case(X)
def for_else_with_tensor_break(x: Any) -> Any:
    for _ in range(3):
        x = x * 2
        if x.sum() > 8:
            break
    else:
        x = x * 100
    return x


@case(N)
def for_else_over_tensor_range(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + i
        if x.sum() > 6:
            break
    else:
        x = x - 1
    return x


@case(X, second_order=True)
def while_in_for(x: Any) -> Any:
    for i in range(2):
        while x.max() > 1:
            x = x * 0.5
        x = x + i
    return x


@case(N, second_order=True)
def for_in_while(x: Any, n: Any) -> Any:
    while n > 0:
        for k in range(2):
            x = x * 0.8 + k
        n = n - 1
    return x


@case(N)
def loop_variable_after_python_loop(x: Any, n: Any) -> Any:
    for i in range(3):
        x = x + n
    return x * i


@case([(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(1))])
def loop_variable_after_tensor_loop(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + 1
    return x * i


@case(X)
def over_list_of_tensors(x: Any) -> Any:
    total = 0
    for t in [x, x * 2, x * 3]:
        total = total + t
    return total


@case(X)
def over_dict_items(x: Any) -> Any:
    parts = {"a": x, "b": x * 2}
    out = {}
    for key, value in parts.items():
        out[key + "_squared"] = value * value
    return out


@case(X)
def over_zip(x: Any) -> Any:
    total = 0
    for t, w in zip([x, x + 1, x + 2], (1, 2, 3), strict=True):
        total = total + t * w
    return total


@case([f32([[1.0, 2.0], [3.0, 4.0]]), f32([[-1.0, 0.5], [2.0, 1.0]])])
def double_loop_over_indices(x: Any) -> Any:
    total = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total + x[i, j] * (i - j)
    return total
