"""Tokens of mixtures of experts and products with the weights of each, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, jit, ops
from weft.ops import operations as P
from weft.ops.experts import grouped_matmul_v4

RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-5)


#: the example of MindSpore's documentation
TOKENS = [[1.0, 1, 1], [7, 7, 7], [2, 2, 2], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
INDICES = [5, 0, 3, 1, 2, 4]


def test_tokens_of_one_expert_stand_together() -> None:
    for run in (ops.moe_token_permute, jit(lambda *x: ops.moe_token_permute(*x))):
        moved, where_to = run(Tensor(TOKENS), Tensor(INDICES, weft.int32))
        assert moved[:, 0].tolist() == [7, 1, 2, 2, 3, 1]
        assert where_to.tolist() == INDICES
        assert where_to.dtype is weft.int32


@pytest.mark.parametrize("experts", (1, 3))
def test_tokens_come_back(experts: int) -> None:
    tokens = Tensor(normal(5, 4))
    indices = RANDOM.integers(0, 4, (5, experts))
    probs = RANDOM.random((5, experts)).astype(np.float32)

    def there_and_back(tokens: Tensor, probs: Tensor, kept: int | None = None) -> Tensor:
        moved, where_to = ops.moe_token_permute(tokens, Tensor(indices), kept)
        return ops.moe_token_unpermute(moved, where_to, probs)

    def loss(tokens: Tensor, probs: Tensor) -> Tensor:
        return ops.square(there_and_back(tokens, probs)).sum()

    total = probs.sum(1, keepdims=True)
    order = np.argsort(indices.ravel(), kind="stable")
    kept = np.zeros(5 * experts, bool)
    kept[order[:4]] = True
    for run in (there_and_back, jit(there_and_back)):
        close(run(tokens, Tensor(probs)), tokens.asnumpy() * total)
        some = (probs * kept.reshape(5, experts)).sum(1, keepdims=True)
        close(run(tokens, Tensor(probs), 4), tokens.asnumpy() * some)
    for run in (weft.grad(loss, (0, 1)), jit(weft.grad(loss, (0, 1)))):
        of_tokens, of_probs = run(tokens, Tensor(probs))
        close(of_tokens, 2 * tokens.asnumpy() * total**2)
        size = (tokens.asnumpy() ** 2).sum(1, keepdims=True)
        close(of_probs, np.broadcast_to(2 * total * size, probs.shape))
    moved, where_to = ops.moe_token_permute(tokens, Tensor(indices[:, 0]))
    close(ops.moe_token_unpermute(moved, where_to), tokens.asnumpy())


@pytest.mark.parametrize(
    ("arguments", "error"),
    (
        ((1, Tensor([0])), TypeError),
        ((Tensor([[1.0]]), 1), TypeError),
        ((Tensor([[1.0]]), Tensor([0.0])), TypeError),
        ((Tensor([[1.0]]), Tensor([0]), 1.5), TypeError),
        ((Tensor([[1.0]]), Tensor([0]), None, 1), TypeError),
        ((Tensor([[1.0]]), Tensor([0]), None, True), ValueError),
        ((Tensor([1.0]), Tensor([0])), ValueError),
        ((Tensor([[1.0]]), Tensor([0, 1])), RuntimeError),
    ),
)
def test_what_moving_refuses(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        ops.moe_token_permute(*arguments)


def test_what_moving_back_refuses() -> None:
    with pytest.raises(TypeError):
        ops.moe_token_unpermute(1, Tensor([0]))
    with pytest.raises(ValueError, match="padded_mode"):
        ops.moe_token_unpermute(Tensor([[1.0]]), Tensor([0]), None, True)


X, W, B = normal(7, 3), normal(3, 3, 2), normal(3, 2)
COUNTS = np.array([2, 0, 4])


def by_groups(x: Any, w: Any, b: Any = None) -> Any:
    made = np.zeros((7, 2), np.float32)
    for i, (start, end) in enumerate(((0, 2), (2, 2), (2, 6))):
        made[start:end] = x[start:end] @ w[i] + (0 if b is None else b[i])
    return made


def test_products_of_groups_of_rows() -> None:
    x, w, b = map(Tensor, (X, W, B))
    ends = np.cumsum(COUNTS)
    plain = P.GroupedMatmul(3, 0)

    def by_ends(x: Tensor, w: Tensor, b: Any = None) -> Tensor:
        return plain([x], [w], None if b is None else [b], group_list=Tensor(ends))[0]

    def by_counts(x: Tensor, w: Tensor, b: Any = None) -> Tensor:
        bias = None if b is None else [b]
        return grouped_matmul_v4(
            [x], [w], bias, group_list=Tensor(COUNTS), split_item=3, group_type=0, group_list_type=1
        )[0]

    for run in (by_ends, jit(by_ends), by_counts, jit(by_counts)):
        close(run(x, w), by_groups(X, W))
        close(run(2 * x, w, b), by_groups(2 * X, W, B))
    turned = P.GroupedMatmul(3, 0, transpose_a=True, transpose_b=True)
    close(turned([x.T], [w.swapaxes(1, 2)], group_list=Tensor(ends))[0], by_groups(X, W))
    factor, others = normal(7, 2), np.eye(7, dtype=np.float32)
    inside = others * (np.arange(7) < 6)
    for run in (by_ends, by_counts):

        def loss(x: Tensor, w: Tensor, run: Any = run) -> Tensor:
            return (run(x, w) * Tensor(factor)).sum()

        for grad in (weft.grad(loss, (0, 1)), jit(weft.grad(loss, (0, 1)))):
            of_x, of_w = grad(x, w)
            rows = np.repeat(np.arange(3), [2, 0, 5])
            close(of_x, inside @ np.einsum("mn,mkn->mk", factor, W[rows]))
            wanted = [X[a:b].T @ factor[a:b] for a, b in ((0, 2), (2, 2), (2, 6))]
            close(of_w, np.stack(wanted))


def test_products_of_several_matrices() -> None:
    several = P.GroupedMatmul()
    given = [normal(2, 3), normal(4, 2, 3)]
    weights, biases = [normal(3, 5), normal(3, 4)], [normal(5), normal(4)]
    found = several([Tensor(a) for a in given], [Tensor(w) for w in weights], [Tensor(b) for b in biases])
    for made, a, w, b in zip(found, given, weights, biases, strict=True):
        close(made, a @ w + b)


def test_weights_of_integers() -> None:
    whole = RANDOM.integers(-9, 9, (3, 3, 2)).astype(np.int8)
    scale, offset = normal(3, 2), normal(3, 2)
    floats = (whole + offset[:, None]) * scale[:, None]
    found = grouped_matmul_v4(
        [Tensor(X)], [Tensor(whole)], antiquant_scale=[Tensor(scale)], antiquant_offset=[Tensor(offset)],
        group_list=Tensor(np.cumsum(COUNTS)), split_item=3, group_type=0, output_dtype=weft.float64,
    )  # fmt: skip
    assert found[0].dtype is weft.float64
    np.testing.assert_allclose(found[0].asnumpy(), by_groups(X, floats), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "error"),
    (
        ({"split_item": 1}, TypeError),
        ({"group_type": -1}, TypeError),
        ({"group_list": None}, TypeError),
        ({"group_list": Tensor([1, 2])}, ValueError),
        ({"group_list_type": 2}, TypeError),
        ({"scale": [Tensor(1.0)]}, NotImplementedError),
        ({"pre_token_scale": [Tensor(1.0)]}, NotImplementedError),
    ),
)
def test_what_products_refuse(change: dict[str, Any], error: type[Exception]) -> None:
    settings = {"group_list": Tensor(COUNTS), "split_item": 3, "group_type": 0, "group_list_type": 1}
    with pytest.raises(error):
        grouped_matmul_v4([Tensor(X)], [Tensor(W)], **{**settings, **change})
