"""Tensor indexing and slice assignment, alone, in branches and in loops."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import b, f32, i64

from weft import ops
from weft.core.tensor import Tensor

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
M = [f32([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), f32([[-1.0, 0.5, 2.0], [0.0, -3.0, 1.0]])]
N = [(f32(0.5, 1.5, 2.5, 3.5), i64(3)), (f32(0.5, 1.5, 2.5, 3.5), i64(0))]


@case(M, second_order=True)
def basic_indexing(x: Any) -> Any:
    return x[0] * x[1], x[:, 1], x[-1, -1] * x[0, 0], x[..., 0], x[None, 0], x[:, ::2], x[::-1]


@case([(f32(1.0, 2.0, 3.0), i64(0)), (f32(1.0, 2.0, 3.0), i64(2))], second_order=True)
def tensor_index(x: Any, i: Any) -> Any:
    return x[i] * x[i], x[Tensor([0, 2])] * x[i]


@case([(f32(1.0, 2.0, 3.0), b(True, False, True)), (f32(1.0, 2.0, 3.0), b(False, False, True))])
def mask_assignment(x: Any, mask: Any) -> Any:
    y = x * 1
    y[mask] = 0.0
    return y


@case(M, second_order=True)
def slice_assignment(x: Any) -> Any:
    y = x * 2
    y[0] = x[1] * x[0]
    y[1, 1:] = 5.0
    return y * y


@case(M)
def augmented_item_assignment(x: Any) -> Any:
    y = x + 0
    y[0, 0] += 10
    y[:, 1] *= 2
    y[1] -= x[0]
    return y


@case(X)
def assignment_in_python_loop(x: Any) -> Any:
    y = ops.zeros((3,))
    for i in range(3):
        y[i] = x[i] * i
    return y


@case(N, second_order=True)
def assignment_in_tensor_loop(x: Any, n: Any) -> Any:
    y = x * 0
    i = 0
    while i < n:
        y[i] = x[i] * x[i] + i
        i += 1
    return y


@case(N)
def prefix_sum_in_tensor_loop(x: Any, n: Any) -> Any:
    y = x + 0
    for i in range(1, n):
        y[i] = y[i - 1] + x[i]
    return y


@case(X, second_order=True)
def assignment_in_branch(x: Any) -> Any:
    y = x * 2
    if x.sum() > 0:
        y[0] = x[1] * x[1]
    else:
        y[1:] = 7.0
    return y


@case(X)
def assignment_to_the_argument(x: Any) -> Any:
    x[0] = 100.0
    return x * 2


@case(X)
def assignment_to_the_argument_in_branch(x: Any) -> Any:
    if x.sum() > 0:
        x[0] = 100.0
    return x * 2


@case(X)
def alias_sees_in_place_write(x: Any) -> Any:
    y = x * 1
    z = y
    z[0] = 9.0
    return y, z is y


@case(X)
def augmented_assignment_rebinds(x: Any) -> Any:
    y = x
    y = y + 1
    return x, y


@case([f32(3.0, 1.0, 2.0), f32(-1.0, -2.0, -3.0)])
def bubble_sort(x: Any) -> Any:
    y = x * 1
    for i in range(3):
        for j in range(2 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y


@case([(f32(1.0, 2.0, 4.0, 8.0), f32(5.0)), (f32(1.0, 2.0, 4.0, 8.0), f32(0.5)), (f32(1.0, 2.0, 4.0, 8.0), f32(50.0))])
def binary_search(table: Any, wanted: Any) -> Any:
    low, high = 0, 4
    while low < high:
        middle = (low + high) // 2
        if table[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@case(M)
def shape_driven_loop(x: Any) -> Any:
    total = 0.0
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            if row != column:
                total = total + x[row, column]
    return total, x.reshape(-1)[:2], x.T.shape


@case(X)
def index_with_python_computed(x: Any) -> Any:
    k = len([1, 2])
    return x[k], x[k - 2 :], x[: -k + 1]


@case([(f32(1.0, 2.0, 3.0), i64(1)), (f32(1.0, 2.0, 3.0), i64(2))])
def index_by_taken_number(x: Any, i: Any) -> Any:
    k = int(i)
    return x[k], x[k - 1]


@case([(f32(1.0, 2.0, 3.0), i64(1)), (f32(1.0, 2.0, 3.0), i64(2))])
def list_indexed_by_tensor(x: Any, i: Any) -> Any:
    items = [x, x * 2, x * 3]
    return items[i]
