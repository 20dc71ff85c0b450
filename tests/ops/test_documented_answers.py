"""Answers that the public documentation of operations shows, and what they rest on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes, jit, nn, ops
from weft.mint import nn as mint_nn
from weft.nn.experimental import SGD, lr_scheduler
from weft.train import ROC, auc

NAN = math.nan
ways = pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "jit"])


@ways
def test_extremes_of_what_is_a_number(way: Any) -> None:
    x = Tensor([[9.0, 3, 4], [5, NAN, 7], [8, NAN, NAN]])
    every = way(lambda x: ops.aminmax(x, axis=None))(x)
    assert [float(each.asnumpy()) for each in every] == [3.0, 9.0]
    low, high = way(lambda x: ops.aminmax(x, axis=0, keepdims=True))(x)
    assert low.asnumpy().tolist() == [[5.0, 3.0, 4.0]]
    assert high.asnumpy().tolist() == [[9.0, 3.0, 7.0]]
    none = way(lambda x: ops.aminmax(x, axis=0))(Tensor([[NAN, 1.0]]))
    assert np.isnan(none[0].asnumpy()).tolist() == [True, False]


@ways
def test_the_place_of_an_initial_value_is_0(way: Any) -> None:
    x = Tensor([[2, 5, 1, 6], [3, -7, -2, 4], [8, -4, 1, -3]])
    chosen = Tensor([[True, False, True, False], [False, False, True, True], [True, True, True, False]])
    for function, initial, values, places in (
        (ops.min, 0, [0, -2, -4], [0, 2, 1]),
        (ops.min, -100, [-100] * 3, [0] * 3),
        (ops.min, 100, [1, -2, -4], [2, 2, 1]),
        (ops.max, 0, [2, 4, 8], [0, 3, 0]),
        (ops.max, 100, [100] * 3, [0] * 3),
    ):
        found = way(lambda x, w, function=function, initial=initial: function(x, 1, initial=initial, where=w))(
            x, chosen
        )
        assert [each.asnumpy().tolist() for each in found] == [values, places]


@ways
def test_bools_beside_tensors(way: Any) -> None:
    assert way(lambda x: ops.logical_and(True, x))(Tensor([True, False])).asnumpy().tolist() == [True, False]
    assert way(lambda x: ops.logical_or(x, True))(Tensor([True, False])).asnumpy().tolist() == [True, True]
    assert not bool(ops.logical_and(True, False))


@ways
def test_products_of_single_matrices(way: Any) -> None:
    x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3))
    found = way(lambda x: ops.baddbmm(x, x, x, beta=0.5, alpha=2))(x)
    np.testing.assert_allclose(found.asnumpy(), 0.5 * x.asnumpy() + 2 * x.asnumpy() @ x.asnumpy())


@ways
def test_dimensions_by_number(way: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((2, 3, 4), (2, 4, 5)))
    found = way(lambda a, b: ops.einsum(a, [..., 0, 1], b, [..., 1, 2], [..., 0, 2]))(a, b)
    np.testing.assert_allclose(found.asnumpy(), a.asnumpy() @ b.asnumpy(), rtol=1e-5)
    assert ops.einsum(a, [2, 0, 1]).shape == (3, 4, 2)
    with pytest.raises(ValueError, match="numbers from 0 to 51"):
        ops.einsum(a, [0, 1, 52])
    with pytest.raises(TypeError, match="followed by a list"):
        ops.einsum(a, b)


def test_powers_and_inverses() -> None:
    assert ops.logspace(1, 10, 10).asnumpy().tolist() == [10.0**power for power in range(1, 11)]
    matrix = Tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(ops.MatrixInverse(adjoint=True)(matrix).asnumpy(), [[-2, 1.5], [1, -0.5]], rtol=1e-5)
    assert [int(each) for each in ops.Median(True)(Tensor([[1, 7, 6], [5, 1, 3]], dtypes.int32))] == [3, 0]
    assert ops.operations.EuclideanNorm()(Tensor([[3.0, 4.0]]), Tensor([1])).asnumpy().tolist() == [5.0]


def test_classes_behind_the_last_one() -> None:
    _, chances, _ = ops.LogUniformCandidateSampler(2, 5, True, 5)(Tensor([[1, 7], [0, 4], [3, 3]]))
    assert chances.asnumpy().tolist() == [[1.0, 1.0]] * 3
    _, chances, drawn = ops.UniformCandidateSampler(1, 3, False, 4, 1)(Tensor([[1], [6]]))
    assert chances.asnumpy().tolist() == [[0.75]] * 2
    assert drawn.asnumpy().tolist() == [0.75] * 3


def test_methods_of_tensors() -> None:
    x = Tensor([1.0, 2.0])
    assert x.itemset(0, 5).asnumpy().tolist() == [5.0, 2.0]
    assert x.asnumpy().tolist() == [1.0, 2.0]
    assert x.flush_from_cache() is None
    assert x.data_ptr() == x.asnumpy().ctypes.data


def test_what_programs_say_of_operators() -> None:
    operator = ops.Add()
    operator.init_prim_io_names(["x", "y"], ["sum"])
    assert (operator.input_names, operator.output_names) == (["x", "y"], ["sum"])
    assert operator.set_device("GPU").primitive_target == "GPU"
    assert operator.set_stage(1).stage == 1


def test_losses_and_layers() -> None:
    scores = Tensor(np.arange(10, dtype=np.float32).reshape(5, 2))
    loss = nn.CTCLoss(blank=0, reduction="none")(scores, Tensor([1, 1]), Tensor([5]), Tensor([2]))
    assert loss.shape == ()
    assert float(loss) == pytest.approx(-25.794968)
    down, up = mint_nn.Conv2d(3, 4, 3, stride=2, padding=1), mint_nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1)
    x = ops.ones((1, 3, 12, 12))
    assert up(down(x)).shape == (1, 3, 11, 11)
    assert up(down(x), output_size=x.shape).shape == x.shape
    with pytest.raises(ValueError, match=r"output_size\[0\] can be 11 to 12, not 13"):
        up(down(x), output_size=(13, 13))


def test_scores_of_each_label() -> None:
    metric = ROC(pos_label=2)
    metric.update(np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]]))
    rates, hits, _ = metric.eval()
    assert auc(rates, hits) == pytest.approx(0.5357142857142857)


def test_a_schedule_reads_the_last_rates() -> None:
    class Constant(lr_scheduler.LRScheduler):
        def get_lr(self) -> Any:
            if self.last_epoch == 0:
                return [rate * 0.5 for rate in self._last_lr]
            return [rate * (1.0 if self.last_epoch != 3 else 2.0) for rate in self._last_lr]

    optimizer = SGD(nn.Dense(2, 2).trainable_params(), 0.01)
    scheduler = Constant(optimizer)
    found = []
    for _ in range(4):
        scheduler.step()
        found.append(float(scheduler.get_last_lr()[0]))
    assert found == pytest.approx([0.005, 0.005, 0.01, 0.01])


def test_batches_are_multiplied_by_batches() -> None:
    with pytest.raises(ValueError, match="bmm: needs two batches of matrices"):
        ops.bmm(Tensor(np.ones((2, 2, 3), np.float32)), Tensor(np.ones((3, 2), np.float32)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ops.mvlgamma(x, "2"), "p must be an int"),
        (lambda x: ops.round(x, decimals=1.5), "decimals must be an int"),
    ],
)
def test_rows_say_what_ints_are(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(Tensor([3.0]))
