"""The random stream, and the distributions drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn, ops
from weft.ops.random import draw_key, numpy_generator

DRAWS = [
    lambda: ops.randn(3),
    lambda: ops.rand((3,)),
    lambda: ops.randint(0, 100, (3,)),
    lambda: ops.normal((3,), 0.0, 1.0),
    lambda: ops.uniform((3,), Tensor(0.0), Tensor(1.0)),
    lambda: ops.standard_normal((3,)),
    lambda: ops.standard_laplace(3),
    lambda: ops.truncated_normal((3,)),
    lambda: ops.bernoulli(Tensor(np.zeros(64, np.float32))),
    lambda: ops.multinomial(Tensor(np.ones(50, np.float32)), 20),
    lambda: ops.multinomial(Tensor(np.ones(50, np.float32)), 20, replacement=False),
    lambda: ops.random_categorical(Tensor(np.zeros((1, 50), np.float32)), 20),
    lambda: ops.randperm(50),
    lambda: ops.gamma((3,), Tensor(2.0), Tensor(1.0)),
    lambda: ops.random_poisson((20,), Tensor(9.0)),
    lambda: ops.shuffle(Tensor(np.arange(50))),
    lambda: ops.StandardNormal()((3,)),
    lambda: ops.StandardNormal(seed=4)((3,)),
    lambda: ops.UniformReal(seed=2)((3,)),
    lambda: ops.UniformInt()((9,), Tensor(0), Tensor(1000)),
    lambda: ops.dropout(Tensor(np.ones(64, np.float32))),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_seed_repeats_and_the_stream_advances(draw: Any) -> None:
    weft.set_seed(7)
    first, second = draw().asnumpy(), draw().asnumpy()
    weft.set_seed(7)
    again = draw().asnumpy()
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("draw", DRAWS)
def test_compiled_draws_are_the_eager_ones(draw: Any) -> None:
    compiled = weft.jit(lambda: draw() * 1)
    weft.set_seed(3)
    wanted = [draw().asnumpy() for _ in range(3)]
    weft.set_seed(3)
    found = [draw().asnumpy(), compiled().asnumpy(), compiled().asnumpy()]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, 1e-6)


def test_seeds() -> None:
    weft.set_seed(5)
    assert weft.get_seed() == 5
    a = numpy_generator().normal()
    weft.set_seed(5)
    assert numpy_generator().normal() == a
    for wrong, error in (("a", TypeError), (-1, ValueError), (True, TypeError)):
        with pytest.raises(error):
            weft.set_seed(wrong)


def test_large_seeds_differ() -> None:
    drawn = []
    for seed in (1, 1 + (1 << 32), 1 + (1 << 40)):
        weft.set_seed(seed)
        drawn.append(ops.rand(1).item())
    assert len(set(drawn)) == 3


def test_keys_are_plain_values() -> None:
    key = draw_key()
    kept = key.asnumpy().copy()
    draw_key()
    np.testing.assert_array_equal(key.asnumpy(), kept)
    assert key.shape == (2,)
    assert key.dtype is weft.uint32


def test_own_seeds_pick_other_streams() -> None:
    weft.set_seed(1)
    a = ops.StandardNormal(seed=1)((4,)).asnumpy()
    weft.set_seed(1)
    b = ops.StandardNormal(seed=2)((4,)).asnumpy()
    weft.set_seed(2)
    c = ops.StandardNormal(seed=1)((4,)).asnumpy()
    assert not np.array_equal(a, b)
    np.testing.assert_array_equal(a, c)  # its own seed decides, wherever the stream starts


COUNT = 20000


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda: ops.randn(COUNT), 0.0, 1.0),
        (lambda: ops.rand(COUNT), 0.5, 12**-0.5),
        (lambda: ops.randint(0, 10, (COUNT,)), 4.5, (99 / 12) ** 0.5),
        (lambda: ops.normal((COUNT,), 3.0, 2.0), 3.0, 2.0),
        (lambda: ops.uniform((COUNT,), -1.0, 3.0), 1.0, 4 * 12**-0.5),
        (lambda: ops.standard_laplace((COUNT,)), 0.0, 2**0.5),
        (lambda: ops.bernoulli(Tensor(np.zeros(COUNT, np.float32)), 0.25), 0.25, 0.1875**0.5),
        (lambda: ops.gamma((COUNT,), Tensor(4.0), Tensor(2.0)), 2.0, 1.0),
        (lambda: ops.random_poisson((COUNT,), Tensor(4.0)), 4.0, 2.0),
        (lambda: ops.multinomial(Tensor([1.0, 0.0, 3.0]), COUNT), 1.5, 0.75**0.5),
    ],
)
def test_moments(draw: Any, mean: float, std: float) -> None:
    weft.set_seed(0)
    x = draw().asnumpy().astype(np.float64)
    assert abs(x.mean() - mean) < 5 * std / COUNT**0.5
    assert abs(x.std() - std) < 0.05 * std


def test_draws_without_replacement_differ() -> None:
    drawn = ops.multinomial(Tensor(np.ones(10, np.float32)), 10, replacement=False).tolist()
    assert sorted(drawn) == list(range(10))
    assert sorted(ops.randperm(10).tolist()) == list(range(10))
    with pytest.raises(ValueError, match="without replacement"):
        ops.multinomial(Tensor([1.0, 1.0]), 3, replacement=False)


def test_types() -> None:
    assert ops.randn(2).dtype is weft.float32
    assert ops.randn(2, dtype=weft.float16).dtype is weft.float16
    assert ops.randint(0, 3, (2,), dtype=weft.int32).dtype is weft.int32
    assert ops.UniformInt()((2,), Tensor(0), Tensor(3)).dtype is weft.int32
    with pytest.raises(ValueError, match="floating dtype"):
        ops.randn(2, dtype=weft.int32)
    with pytest.raises(ValueError, match="low must be smaller"):
        ops.randint(3, 3, (2,))


def test_cells_draw_from_the_stream() -> None:
    net = nn.Dropout(p=0.5)
    net.set_train()
    x = Tensor(np.ones(64, np.float32))
    weft.set_seed(1)
    a, b = net(x).asnumpy(), net(x).asnumpy()
    weft.set_seed(1)
    np.testing.assert_array_equal(net(x).asnumpy(), a)
    assert not np.array_equal(a, b)
