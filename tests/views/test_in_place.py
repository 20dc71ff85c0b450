"""Methods that write: they are their functional form, and views see what they write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor
from weft.jit import jit
from weft.ops.random import set_seed

#: a call, and what the same elements are in NumPy
CALLS: dict[str, Any] = {
    "add_(2.0)": lambda v: v + 2,
    "add_(v, alpha=3)": lambda v: v + 3 * v,
    "sub_(1.5)": lambda v: v - 1.5,
    "mul_(v)": lambda v: v * v,
    "div_(2)": lambda v: v / 2,
    "copy_(v[0])": lambda v: np.broadcast_to(v[0], v.shape),
    "zero_()": lambda v: v * 0,
    "fill_(7)": lambda v: v * 0 + 7,
    "masked_fill_(v > 2, -1.0)": lambda v: np.where(v > 2, -1, v),
    "index_add_(0, Tensor([1, 1]), v * 1)": lambda v: v + np.array([[0], [1]]) * v.sum(0),
    "index_fill_(1, Tensor([0]), 5.0)": lambda v: np.stack([v[:, 0] * 0 + 5, v[:, 1]], 1),
    "index_put_((Tensor([0, 0]),), v * 1)": lambda v: np.stack([v[1], v[1]]),
    "index_put_((Tensor([0, 0]),), v * 1, accumulate=True)": lambda v: np.stack([v[0] + v.sum(0), v[1]]),
    "scatter_(1, Tensor([[1], [0]]), v[:, :1] * 0)": lambda v: v * np.array([[1, 0], [0, 1]]),
    "masked_scatter_(v > 2, v * 10)": lambda v: np.where(v > 2, 10 * v.flatten()[[0, 0, 1, 2]].reshape(2, 2), v),
    "clamp_(2.0, 3.0)": lambda v: v.clip(2, 3),
    "exp_()": np.exp,
    "log_()": np.log,
    "sigmoid_()": lambda v: 1 / (1 + np.exp(-v)),
    "tanh_()": np.tanh,
    "relu_()": lambda v: np.maximum(v, 0),
    "floor_divide_(2.0)": lambda v: v // 2,
    "remainder_(2.0)": lambda v: v % 2,
    "square_()": np.square,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_method_that_writes(call: str) -> None:
    def program(x: Any) -> Any:
        v = x[:, 1:]
        return eval(f"v.{call}", {"v": v, "Tensor": Tensor}) is v

    start = np.arange(6, dtype=np.float64).reshape(2, 3) + 0.5
    wanted = start.copy()
    wanted[:, 1:] = CALLS[call](start[:, 1:])
    for function in (program, jit(program)):
        x = Tensor(start)
        assert function(x)
        np.testing.assert_allclose(x.asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("call", ["normal_()", "uniform_(2.0, 3.0)", "random_(0, 9)", "bernoulli_(0.5)"])
def test_a_method_that_draws(call: str) -> None:
    x = Tensor(np.full((2, 50), -1.0))
    set_seed(1)
    v = x[1]
    assert eval(f"v.{call}", {"v": v}) is v
    assert x[0].asnumpy().tolist() == [-1.0] * 50
    assert len(set(x[1].tolist())) > 1
    assert x[1].tolist() == v.tolist()
