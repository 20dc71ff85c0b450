"""Operators that layers have as attributes, called by classes of programs that derive from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit, nn, ops, value_and_grad

_RNG = np.random.default_rng(5)
IMAGE = _RNG.standard_normal((2, 3, 5, 6)).astype(np.float32)
SIGNAL = _RNG.standard_normal((2, 3, 7)).astype(np.float32)
VOLUME = _RNG.standard_normal((1, 3, 4, 4, 4)).astype(np.float32)
ROWS = _RNG.standard_normal((4, 6)).astype(np.float32)


def conv2d(layer: Any, x: Any) -> Any:
    return layer.bias_add(layer.conv2d(x, layer.weight), layer.bias)


def conv1d(layer: Any, x: Any) -> Any:
    return layer.conv2d(x.expand_dims(2), layer.weight).squeeze(2)


def conv2d_transpose(layer: Any, x: Any) -> Any:
    return layer.conv2d_transpose(x, layer.weight, layer(x).shape)


def dense(layer: Any, x: Any) -> Any:
    shape = layer.shape_op(x)
    x = layer.reshape(x, (-1, shape[-1]))
    return layer.bias_add(layer.matmul(x, layer.weight), layer.bias)


def inference(layer: Any, x: Any) -> Any:
    return layer.bn_infer(x, layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)[0]


CASES: list[tuple[Callable[[], Any], Callable[..., Any], np.ndarray]] = [
    (lambda: nn.Conv2d(3, 4, 3, has_bias=True), conv2d, IMAGE),
    (lambda: nn.Conv2d(3, 6, 3, 2, "pad", 1, group=3, has_bias=True), conv2d, IMAGE),
    (lambda: nn.Conv2d(3, 4, (3, 2), 1, "valid", 0, (2, 1), has_bias=True), conv2d, IMAGE),
    (lambda: nn.Conv1d(3, 4, 3, pad_mode="pad", padding=2), conv1d, SIGNAL),
    (lambda: nn.Conv1d(3, 4, 3, 2, "valid"), conv1d, SIGNAL),
    (lambda: nn.Conv3d(3, 4, 2), lambda layer, x: layer.conv3d(x, layer.weight), VOLUME),
    (lambda: nn.Conv2dTranspose(3, 4, 3), conv2d_transpose, IMAGE),
    (
        lambda: nn.Conv3dTranspose(3, 4, 2, pad_mode="valid"),
        lambda layer, x: layer.conv3d_transpose(x, layer.weight),
        VOLUME,
    ),
    (lambda: nn.Dense(6, 2), dense, ROWS),
    (lambda: nn.BatchNorm2d(3).set_train(False), inference, IMAGE),
    (lambda: nn.MaxPool2d(2, 2), lambda layer, x: layer.max_pool(x), IMAGE),
    (lambda: nn.AvgPool2d(2, 2), lambda layer, x: layer.avg_pool(x), IMAGE),
]


@pytest.mark.parametrize(("make", "run", "array"), CASES)
def test_operators_compute_what_the_layer_does(
    make: Callable[[], Any], run: Callable[..., Any], array: np.ndarray
) -> None:
    layer, x = make(), Tensor(array)
    for call in (run, jit(run, fullgraph=True)):
        np.testing.assert_allclose(call(layer, x).asnumpy(), layer(x).asnumpy(), 1e-5, 1e-5)
    expected = grad(lambda v: (layer(v) ** 2).sum())(x)
    found = grad(lambda v: (run(layer, v) ** 2).sum())(x)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), 1e-4, 1e-4)


class Standardized(nn.Conv2d):
    def construct(self, x: Any) -> Any:
        weight = self.weight
        mean = weight.mean((1, 2, 3), keep_dims=True)
        return self.conv2d(x, (weight - mean) / (weight.std((1, 2, 3), keepdims=True) + 1e-5))


def test_a_layer_of_the_program_trains_alike_in_both_modes() -> None:
    def history(compiled: bool) -> list[float]:
        net = Standardized(3, 2, 3, weight_init=Tensor(IMAGE[:2, :, :3, :3].copy()))
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        def train(x: Any) -> Any:
            loss, gradients = step(x)
            optimizer(gradients)
            return loss

        run = jit(train, fullgraph=True) if compiled else train
        return [run(Tensor(IMAGE * (1 + k))).item() for k in range(3)]

    np.testing.assert_allclose(history(True), history(False), 1e-5)


def test_training_statistics_are_written_through_the_operator() -> None:
    layer, other = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    layer.set_train()
    other.set_train()
    x = Tensor(IMAGE)
    expected = other(x)
    found = layer.bn_train(x, layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)[0]
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), 1e-5, 1e-5)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), other.moving_mean.asnumpy(), 1e-5, 1e-6)


class Weighted(nn.LossBase):
    def construct(self, logits: Any, labels: Any) -> Any:
        x = self.mul(self.cast(labels, logits.dtype), ops.square(logits))
        return self.reduce_mean(x) if self.reduction == "mean" else self.reduce_sum(x, self.get_axis(x))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses_of_programs(reduction: str) -> None:
    loss, labels = Weighted(reduction), Tensor(np.arange(6, dtype=np.int32))
    expected = np.square(ROWS) * np.arange(6)
    for call in (loss, jit(lambda x, y: loss(x, y), fullgraph=True)):
        found = call(Tensor(ROWS), labels).item()
        np.testing.assert_allclose(found, expected.mean() if reduction == "mean" else expected.sum(), 1e-5)


def test_an_attribute_of_the_program_comes_first() -> None:
    layer = nn.Conv2d(3, 4, 3)
    layer.conv2d = lambda x, w: x
    assert layer.conv2d(3, None) == 3
    dense = nn.Dense(2, 2)
    dense.matmul = Parameter(Tensor([1.0]), name="mine")
    assert isinstance(dense.matmul, Parameter)
    dense = nn.Dense(2, 2)
    dense.reshape = nn.ReLU()
    assert isinstance(dense.reshape, nn.ReLU)
    assert "matmul" not in vars(nn.Dense(2, 2))
