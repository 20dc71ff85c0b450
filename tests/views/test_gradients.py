"""Gradients through writes by views: those of the functional form, eagerly and compiled, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, ops, value_and_grad
from weft.jit import jit


def item_of_a_row(x: Any) -> Any:
    y = x * 1
    y[0][1] = x[1, 2] ** 2
    return (y * y).sum()


def product_in_place(x: Any) -> Any:
    y = x * 1
    y[0].mul_(y[1])
    return (y.T.reshape(-1) ** 2).sum()


def through_a_transposed_one(x: Any) -> Any:
    y = ops.sin(x)
    y.T[1:].add_(x[1, 0])
    return (y * x).sum()


def diagonal(x: Any) -> Any:
    y = x * x
    y.diagonal().mul_(x[:, 2])
    return y.sum()


def read_before_and_after(x: Any) -> Any:
    y = x * 2
    view = y.reshape(-1)
    before = view * 1
    y[1] = x[0]
    return (before * view).sum()


def written_in_a_loop(x: Any) -> Any:
    y = x * 1
    for i in range(1, 3):
        y[i].add_(y[i - 1] * y[i])
    return y.sum()


def overwritten(x: Any) -> Any:
    y = x * 3
    y[0].zero_()
    return (y * x).sum()


def on_a_condition(x: Any) -> Any:
    y = x * 1
    v = y[0] if x.sum() > 0 else y[1]
    v.mul_(x[2])
    return (y * y).sum()


PROGRAMS = [
    item_of_a_row, product_in_place, through_a_transposed_one, diagonal, read_before_and_after, written_in_a_loop,
    overwritten, on_a_condition,
]  # fmt: skip


def differences(function: Callable[[Any], Any], at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found, step = np.zeros_like(at), 1e-6
    for place in np.ndindex(at.shape):
        moved = np.zeros_like(at)
        moved[place] = step
        found[place] = (function(Tensor(at + moved)).item() - function(Tensor(at - moved)).item()) / (2 * step)
    return found


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: str(function.__name__))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gradients(function: Callable[[Any], Any], sign: float) -> None:
    at = sign * (np.arange(9, dtype=np.float64).reshape(3, 3) / 4 + 0.3)
    wanted = differences(function, at)
    for way in (grad(function), jit(grad(function)), grad(jit(function))):
        for _ in range(2):
            np.testing.assert_allclose(way(Tensor(at)).asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_a_weight_that_is_written_through_a_view() -> None:
    def program(weight: Any, x: Any) -> Any:
        def loss(x: Any) -> Any:
            kept = weight * 1
            kept[0].mul_(x)
            return (kept * weight).sum()

        return value_and_grad(loss, 0, [weight])(x)

    found = []
    for way in (program, jit(program)):
        weight = Parameter(Tensor(np.array([[1.0, 2.0], [3.0, 4.0]])))
        value, (dx, (dw,)) = way(weight, Tensor(np.array([5.0, 6.0])))
        found.append((value.item(), dx.tolist(), dw.tolist()))
    assert found[0] == found[1] == (54.0, [1.0, 4.0], [[10.0, 24.0], [6.0, 8.0]])
