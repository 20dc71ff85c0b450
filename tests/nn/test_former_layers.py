"""Layers and the optimizer that older programs use: answers of MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops
from weft.ops import operations as P

F = np.float32


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, [0.13565692, -0.0459192, 0.9362533]),
        ({"lr_power": -0.7, "weight_decay": 0.1, "loss_scale": 2.0}, [0.10316373, -0.03046488, 0.94771284]),
        ({"initial_accum": 0.5, "learning_rate": 0.5}, [-0.5520965, 0.12475788, 0.54901314]),
    ],
)
def test_ftrl(settings: Any, wanted: Any) -> None:
    for compiled in (False, True):
        p = Parameter(Tensor([0.5, -0.3, 1.0]), name="p")
        optimizer = nn.FTRL([p], **settings)
        step = weft.jit(lambda g, o=optimizer: o((g,))) if compiled else lambda g, o=optimizer: o((g,))
        for gradient in ([0.3, -0.2, 5.0], [1.0, 0.0, -2.0]):
            step(Tensor(gradient))
        np.testing.assert_allclose(p.asnumpy(), wanted, 2e-4, 1e-5)
        names = [each.name for each in optimizer.get_parameters()]
        assert names == ["global_step", "learning_rate", "p", "moments.p", "linear.p"]


def test_penalties_of_ftrl() -> None:
    """The documented formula; MindSpore's CPU build has the sign of `l1` wrong where the linear term is negative."""
    start, l1, l2, lr = np.array([0.5, -0.3, 1.0, 0.0]), 0.5, 0.1, 0.01
    p = Parameter(Tensor(start.astype(F)), name="p")
    optimizer = nn.FTRL([p], learning_rate=lr, l1=l1, l2=l2)
    wanted, total, linear = start, np.full(4, 0.1), np.zeros(4)
    for gradient in np.array([[0.3, -0.2, 5, 0.1], [1, 0, -2, 0.2]]):
        optimizer((Tensor(gradient.astype(F)),))
        before, total = total, total + gradient**2
        linear = linear + gradient - (np.sqrt(total) - np.sqrt(before)) / lr * wanted
        found = (np.sign(linear) * l1 - linear) / (np.sqrt(total) / lr + 2 * l2)
        wanted = np.where(np.abs(linear) > l1, found, 0)
    np.testing.assert_allclose(p.asnumpy(), wanted, 1e-4, 1e-5)
    assert wanted[3] == 0


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"l1": -1.0}, ValueError),
        ({"lr_power": 0.5}, ValueError),
        ({"initial_accum": -1.0}, ValueError),
        ({"l1": 1}, TypeError),
        ({"lr_power": -1}, TypeError),
    ],
)
def test_ftrl_refuses(settings: Any, error: Any) -> None:
    with pytest.raises(error):
        nn.FTRL([Parameter(Tensor([0.5]), name="p")], **settings)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ({"stride": 2}, (6, 8, 10)),
        ({"stride": 2, "pad_mode": "valid"}, (7, 9, 11)),
        ({"stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1}, (6, 8, 10)),
        ({"stride": (1, 2, 3), "pad_mode": "pad", "padding": (1, 1, 0, 0, 1, 1)}, (3, 9, 13)),
    ],
)
def test_transposed_convolution_of_volumes(settings: Any, shape: Any) -> None:
    layer = nn.Conv3dTranspose(2, 4, 3, has_bias=True, **settings)
    assert layer.weight.shape == (2, 4, 3, 3, 3)
    x = ops.ones((1, 2, 3, 4, 5))
    found = layer(x)
    assert found.shape == (1, 4, *shape)
    np.testing.assert_allclose(weft.jit(lambda x: layer(x))(x).asnumpy(), found.asnumpy(), 1e-5, 1e-5)


def test_combined_layers() -> None:
    normal = ["batchnorm.moving_mean", "batchnorm.moving_variance", "batchnorm.gamma", "batchnorm.beta"]
    layer: Any = nn.Conv2dBnAct(3, 4, 3, has_bn=True, activation="relu")
    assert sorted(layer.parameters_dict()) == sorted(["conv.weight", *normal])
    assert layer(ops.ones((2, 3, 5, 5))).shape == (2, 4, 5, 5)
    layer = nn.DenseBnAct(3, 4, has_bn=True, activation="relu6")
    assert sorted(layer.parameters_dict()) == sorted(["dense.weight", "dense.bias", *normal])
    assert layer(ops.ones((2, 3))).shape == (2, 4)
    assert list(nn.Conv2dBnAct(3, 4, 3).parameters_dict()) == ["conv.weight"]


@pytest.mark.parametrize(
    ("activation", "wanted"),
    [("leakyrelu", -0.3), ("elu", -0.63212055), (P.ReLU(), 0.0), (nn.ReLU(), 0.0), (None, -1.0)],
)
def test_activations_of_combined_layers(activation: Any, wanted: float) -> None:
    image, row = Tensor(np.full((1, 1, 1, 1), -1, F)), Tensor(np.full((1, 1), -1, F))
    settings: Any = {"activation": activation, "alpha": 0.3, "weight_init": "ones"}
    for layer, x in ((nn.Conv2dBnAct(1, 1, 1, **settings), image), (nn.DenseBnAct(1, 1, **settings), row)):
        for function in (layer, weft.jit(lambda x, c=layer: c(x))):
            np.testing.assert_allclose(function(x).asnumpy().item(), wanted, 1e-6)


def test_combined_layers_refuse() -> None:
    with pytest.raises(TypeError, match="activation"):
        nn.DenseBnAct(3, 4, activation=3)
    with pytest.raises(KeyError):
        nn.Conv2dBnAct(1, 1, 1, activation="foo")
    with pytest.raises(TypeError, match="has_bn"):
        nn.DenseBnAct(2, 2, has_bn=3)


def test_ratio_of_images() -> None:
    rows = np.array([[[[1, 2, 3, 4], [1, 2, 3, 4]]]], F)
    layer = nn.PSNR()
    for function in (layer, weft.jit(lambda *images: layer(*images))):
        np.testing.assert_allclose(function(Tensor(rows), Tensor(rows + 2)).asnumpy(), [-6.0206], 1e-5)
        assert function(Tensor(rows), Tensor(rows)).asnumpy().tolist() == [np.inf]
    np.testing.assert_allclose(nn.PSNR(255)(Tensor(rows), Tensor(rows + 2)).asnumpy(), [42.1102], 1e-5)
    with pytest.raises(ValueError, match="max_val"):
        nn.PSNR(0)
    with pytest.raises(ValueError, match="dimensions"):
        layer(Tensor(rows[0]), Tensor(rows[0]))
    with pytest.raises(ValueError, match="shapes"):
        layer(Tensor(rows), Tensor(rows[..., :2]))
