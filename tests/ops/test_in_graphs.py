"""Indexing, methods and state inside compiled functions give what they give eagerly, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, ops
from weft.ops import functional as F

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
K = np.array([2, 0, 2])


def written(x: Tensor, index: Any, value: Any) -> Tensor:
    y = x * 1
    y[index] = value
    return y


def in_place(x: Tensor) -> Tensor:
    y = x * 1
    y.add_(1.0)
    y.mul_(x)
    y[0] += 2
    return y


def accumulated(x: Tensor) -> Tensor:
    total = ops.zeros_like(x[0])
    for row in x:
        total += row * 2
    return total


CASES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "int": lambda x, k: x[1] * x[-1],
    "slices": lambda x, k: x[1:, ::-2],
    "new axis": lambda x, k: x[:, None, ..., 0],
    "tensor": lambda x, k: x[k],
    "tensor and slice": lambda x, k: x[k, 1:3],
    "two tensors": lambda x, k: x[k, k],
    "0-d tensor": lambda x, k: x[k[0]],
    "0-d tensors": lambda x, k: x[k[0], k[1]],
    "list of tensors": lambda x, k: x[[k[0], 1]],
    "list": lambda x, k: x[[0, 2], :],
    "set int": lambda x, k: written(x, 1, 7.0),
    "set slice": lambda x, k: written(x, (slice(None), slice(1, 3)), x[:, :2]),
    "set tensor": lambda x, k: written(x, k[:2], x[:2] * 2),
    "set 0-d tensor": lambda x, k: written(x, k[0], 5),
    "set mask": lambda x, k: written(x, x > 0, 0.0),
    "set row mask": lambda x, k: written(x, x[:, 0] > 0, x[0]),
    "in place": lambda x, k: in_place(x),
    "iterate": lambda x, k: accumulated(x),
    "unpack": lambda x, k: sum(x),
    "split": lambda x, k: ops.concat(x.split(2, 1)[::-1], 1),
    "statistics": lambda x, k: (x.mean(0), x.std(1), x.max(), x.min(axis=1), x.var(ddof=1)),
    "products": lambda x, k: (x @ x.T, ops.MatMul(transpose_b=True)(x, x), x @ x[0]),
    "order": lambda x, k: (*ops.topk(x, 2), *x.sort(0), x.argmax(1)),
    "where": lambda x, k: ops.where(x > 0, x, 0) + x.masked_fill(x < 0, 1),
    "gather": lambda x, k: (ops.gather(x, k, 0), ops.gather_d(x, 0, ops.stack([k, k, k, k], 1))),
    "scatter": lambda x, k: ops.tensor_scatter_add(x, k.reshape(-1, 1), x),
    "types": lambda x, k: (x.astype(weft.float16) * 2, x + k[0], k / 2, k // 2, -k % 3),
    "numbers": lambda x, k: (2 - x, 2**k, 1 / (x * x + 1), x**2, round(x), abs(x), divmod(k, 2)[0]),
    "shapes": lambda x, k: x.reshape(-1, 2).T.expand_dims(0).squeeze().flatten().tile((2,)),
    "creation": lambda x, k: (x + ops.ones(4), ops.arange(4) * x, ops.eye(3) @ x, ops.full_like(x, 2) * x),
    "queries": lambda x, k: x * ops.shape(x)[0] + ops.rank(x) + x.size,
    "legacy": lambda x, k: F.tensor_add(x, F.tuple_getitem((x, x), 1)),
}


def leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    return [t.asnumpy() for t in (value if isinstance(value, (tuple, list)) else (value,))]


@pytest.mark.parametrize("name", CASES)
def test_graph_is_eager(name: str) -> None:
    function = CASES[name]
    compiled = weft.jit(function)
    for scale in (1, -2):
        x, k = Tensor(X * scale), Tensor(K if scale > 0 else K[::-1].copy() // 2)
        for found, wanted in zip(leaves(compiled(x, k)), leaves(function(x, k)), strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradient_of_graph_is_eager(name: str) -> None:
    function = CASES[name]

    def loss(x: Tensor, k: Tensor) -> Any:
        found = function(x, k)
        total: Any = 0.0
        for part in found if isinstance(found, tuple) else (found,):
            if part.dtype.is_floating:
                total = total + (part * part).sum()
        return total

    wanted = weft.grad(loss)(Tensor(X), Tensor(K)).asnumpy()
    np.testing.assert_allclose(weft.grad(weft.jit(loss))(Tensor(X), Tensor(K)).asnumpy(), wanted, 1e-4, 1e-4)
    np.testing.assert_allclose(weft.jit(weft.grad(loss))(Tensor(X), Tensor(K)).asnumpy(), wanted, 1e-4, 1e-4)


def test_parameters_written_in_graphs() -> None:
    p, q = Parameter(Tensor(np.zeros(3, np.float32))), Parameter(Tensor(np.arange(3)))

    @weft.jit
    def step(x: Tensor) -> Tensor:
        ops.assign_add(p, x)
        ops.assign(q, q + 1)
        ops.scatter_add(p, Tensor([0]), Tensor([10.0]))
        before = ops.Load()(p)
        p[2] = 5.0
        return before * 2

    first = step(Tensor([1.0, 2.0, 3.0]))
    assert first.tolist() == [22.0, 4.0, 6.0]
    assert p.asnumpy().tolist() == [11.0, 2.0, 5.0]
    step(Tensor([1.0, 1.0, 1.0]))
    assert p.asnumpy().tolist() == [22.0, 3.0, 5.0]
    assert q.asnumpy().tolist() == [2, 3, 4]


def test_assigned_constant_and_outside_tensor() -> None:
    p, outside = Parameter(Tensor([1.0])), Tensor([4.0])

    @weft.jit
    def f(x: Tensor) -> Tensor:
        ops.assign(p, 2)
        y = x * p
        ops.assign(p, outside)
        return y + p

    assert f(Tensor([3.0])).tolist() == [10.0]
    assert p.asnumpy().tolist() == [4.0]
