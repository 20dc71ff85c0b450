"""How many graphs and executables changing sizes need, and what is stated of sizes in advance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_open_sizes import same

import weft
from weft import Parameter, Tensor, nn, ops
from weft.compile.buckets import Buckets
from weft.explain.explain import report_of

WORDS, WIDTH, LONGEST = 30, 16, 64


class Block(nn.Cell):
    """Embedding, positions, causal attention, a network of two layers, scores."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = Parameter(Tensor(np.linspace(-1, 1, LONGEST * WIDTH).reshape(LONGEST, WIDTH), weft.float32))
        self.norm = nn.LayerNorm((WIDTH,))
        self.mixed = nn.Dense(WIDTH, 3 * WIDTH)
        self.inner, self.outer = nn.Dense(WIDTH, 2 * WIDTH), nn.Dense(2 * WIDTH, WIDTH)
        self.scores = nn.Dense(WIDTH, WORDS)

    def construct(self, ids: Any) -> Any:
        b, t = ids.shape
        x = self.words(ids) + self.positions[:t]
        q, k, v = self.mixed(self.norm(x)).reshape(b, t, 3, 2, WIDTH // 2).transpose(2, 0, 3, 1, 4)
        later = ops.triu(ops.ones((t, t)), 1)
        weights = ops.where(later == 1, Tensor(-1e9), ops.matmul(q, k.swapaxes(-1, -2)))
        x = x + ops.matmul(ops.softmax(weights, -1), v).transpose(0, 2, 1, 3).reshape(b, t, WIDTH)
        return self.scores(x + self.outer(ops.gelu(self.inner(x))))


def compilations(compiled: Any) -> int:
    """Executables that XLA made for a function."""
    return sum(len(graph.event.compilations) for graph in report_of(compiled).graphs)


def train(calls: int, inside: bool) -> tuple[int, int]:
    """Loss and gradients at random sizes; returns how many graphs and executables there are."""
    weft.set_seed(1)
    net = Block()

    def loss(ids: Any, labels: Any) -> Any:
        found = net(ids)
        return ops.cross_entropy(found.reshape(-1, found.shape[-1]), labels.reshape(-1))

    weights = net.trainable_params()
    eager = weft.value_and_grad(loss, None, weights)
    compiled = weft.jit(eager if inside else loss)
    both = compiled if inside else weft.value_and_grad(compiled, None, weights)
    draw = np.random.default_rng(0)
    for _ in range(calls):
        shape = (int(draw.integers(1, 17)), int(draw.integers(1, LONGEST + 1)))
        ids, labels = [Tensor(draw.integers(0, WORDS, shape).astype(np.int32)) for _ in range(2)]
        same(both(ids, labels), eager(ids, labels))
    return len(report_of(compiled).graphs), compilations(compiled)


@pytest.mark.parametrize(("inside", "executables"), [(True, 12), (False, 24)])
def test_a_transformer_at_random_sizes(inside: bool, executables: int) -> None:
    graphs, made = train(7, inside)
    assert graphs == 2
    assert made <= executables


@pytest.mark.slow
@pytest.mark.parametrize(("inside", "executables"), [(True, 12), (False, 24)])
def test_a_transformer_at_a_hundred_random_sizes(inside: bool, executables: int) -> None:
    graphs, made = train(100, inside)
    assert graphs == 2
    assert made <= executables


def test_buckets_are_few() -> None:
    buckets, draw = Buckets(), np.random.default_rng(0)
    for _ in range(1000):
        key = tuple(int(size) for size in draw.integers(1, 300, 2))
        chosen = buckets.choose(key)[0]
        assert all(size <= room for size, room in zip(key, chosen, strict=True))
        if chosen not in buckets.made:
            buckets.made.append(chosen)
    assert len(buckets.made) <= 8


def test_sizes_that_were_equal_are_one_until_they_differ() -> None:
    @weft.jit
    def f(x: Any, y: Any) -> Any:
        return x.sum(0) * y.sum(0), x.shape[0] + y.shape[0]

    for a, b in [(2, 2), (3, 3), (5, 5), (4, 7), (6, 2), (3, 3), (9, 1)]:
        found, total = f(Tensor(np.ones((a, 2), np.float32)), Tensor(np.ones((b, 2), np.float32)))
        assert found.asnumpy().tolist() == [a * b] * 2
        assert total == a + b
    assert len(report_of(f).graphs) == 3


def test_a_step_that_writes_weights() -> None:
    def trained(wrap: Any) -> Any:
        weight = Parameter(Tensor(np.ones((3, 1), np.float32)), name="w")
        optimizer = nn.Momentum([weight], 0.1, 0.9)
        forward = weft.value_and_grad(lambda x: (ops.matmul(x, weight) ** 2).mean(), None, [weight])

        def step(x: Any) -> Any:
            loss, gradients = forward(x)
            optimizer(gradients)
            return loss

        step = wrap(step)
        draw = np.random.default_rng(0)
        losses = [step(Tensor(draw.standard_normal((1 + n * 5 % 9, 3)).astype(np.float32))) for n in range(14)]
        return losses, weight.asnumpy().tolist(), step

    losses, weight, _ = trained(lambda step: step)
    found, compiled, step = trained(weft.jit)
    same(found, losses)
    np.testing.assert_allclose(compiled, weight, rtol=1e-5)
    assert len(report_of(step).graphs) <= 3


def test_what_python_has_to_know() -> None:
    """After a break by which Python learns a size, one graph is for all of them."""

    @weft.jit
    def f(x: Any) -> Any:
        chosen = x[x > 0]
        return chosen * 2 - chosen.sum() / (chosen.shape[0] + 1)

    draw = np.random.default_rng(0)
    for size in (5, 9, 30, 12, 44, 17, 8, 21):
        array = draw.standard_normal(size).astype(np.float32)
        kept = array[array > 0]
        np.testing.assert_allclose(f(Tensor(array)).asnumpy(), kept * 2 - kept.sum() / (len(kept) + 1), rtol=1e-4)
    assert len(report_of(f).graphs) <= 6


def test_an_exception_is_that_of_eager_code() -> None:
    def f(x: Any, y: Any) -> Any:
        try:
            return x + y
        except ValueError as error:
            return str(error)

    compiled = weft.jit(f)
    for a, b in [
        ((2, 3), (2, 3)),
        ((4, 3), (4, 3)),
        ((5, 3), (4, 3)),
        ((7, 2), (3, 2)),
        ((6, 3), (6, 3)),
        ((1, 3), (4, 3)),
    ]:
        x, y = Tensor(np.ones(a, np.float32)), Tensor(np.ones(b, np.float32))
        same(compiled(x, y), f(x, y))


def test_inputs_are_stated() -> None:
    net = nn.Dense(3, 2)
    assert net.get_inputs() is None
    described = Tensor(shape=[None, 3], dtype=weft.float32)
    assert described.shape == (-1, 3)
    assert repr(described) == str(described) == "Tensor(shape=[-1, 3], dtype=Float32)"
    net.set_inputs(described)
    weft.set_context(mode=weft.GRAPH_MODE)
    try:
        for rows in (2, 5, 7):
            assert net(Tensor(np.ones((rows, 3), np.float32))).shape == (rows, 2)
        with pytest.raises(TypeError, match="does not agree with set_inputs"):
            net(Tensor(np.ones((2, 4), np.float32)))
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)
    with pytest.raises(ValueError, match="it has no elements"):
        described + 1
    for wrong in (lambda: Tensor(shape=[None, 3]), lambda: Tensor(shape=[None, -2], dtype=weft.float32)):
        with pytest.raises(ValueError, match="Tensor"):
            wrong()
