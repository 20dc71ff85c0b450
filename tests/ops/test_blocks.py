"""Blocks of pixels, pools over volumes, and small operators, against answers that MindSpore 2.10 gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import ops


@pytest.mark.parametrize("channels", [1, 2])
def test_blocks_become_channels_and_back(channels: int) -> None:
    deep = np.arange(16 * channels, dtype=np.float32).reshape(1, 4 * channels, 2, 2)
    row = {1: [0, 4, 1, 5], 2: [0, 8, 1, 9]}[channels]
    wide = ops.DepthToSpace(2)(weft.Tensor(deep))
    assert wide.shape == (1, channels, 4, 4)
    assert wide.asnumpy()[0, 0, 0].tolist() == row
    for function in (ops.SpaceToDepth(2), weft.jit(lambda x: ops.space_to_depth(x, 2))):
        np.testing.assert_array_equal(function(wide).asnumpy(), deep)
        assert function(wide * 2).asnumpy()[0, 1].tolist() == (deep[0, 1] * 2).tolist()
    found = weft.grad(lambda x: (ops.depth_to_space(x, 2) * wide).sum())(weft.Tensor(deep))
    np.testing.assert_array_equal(found.asnumpy(), deep)


def test_wrong_blocks() -> None:
    with pytest.raises(ValueError, match="no multiple"):
        ops.depth_to_space(weft.Tensor(np.zeros((1, 3, 2, 2))), 2)
    with pytest.raises(ValueError, match="whole blocks"):
        ops.space_to_depth(weft.Tensor(np.zeros((1, 3, 3, 2))), 2)
    with pytest.raises(ValueError, match="at least 2"):
        ops.space_to_depth(weft.Tensor(np.zeros((1, 3, 2, 2))), 1)
    with pytest.raises(ValueError, match="N, C, H, W"):
        ops.depth_to_space(weft.Tensor(np.zeros((4, 2, 2))), 2)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (lambda: ops.MaxPool3D(2, 2), 351.0),
        (lambda: ops.MaxPool3D(3, 2, "SAME"), 568.0),
        (lambda: ops.MaxPool3D((1, 2, 3), (2, 1, 1), "PAD", (0, 0, 1, 1, 1, 0)), 1375.0),
        (lambda: ops.AvgPool3D(2, 2), 192.875),
        (lambda: ops.AvgPool3D(3, 2, "same"), 166.48148),
        (lambda: ops.AvgPool3D(3, 1, "pad", 1), 1225.48144),
        (lambda: ops.AvgPool3D(3, 1, "pad", 1, count_include_pad=False), 1907.36108),
        (lambda: ops.AvgPool3D(2, 2, divisor_override=3), 514.33331),
        (lambda: ops.AvgPool3D(2, 2, ceil_mode=True), 283.375),
    ],
)
def test_pools_over_volumes(operator: Any, expected: float) -> None:
    pool = operator()
    x = weft.Tensor((np.arange(2 * 4 * 5 * 6).reshape(1, 2, 4, 5, 6) % 17).astype(np.float32))
    compiled = weft.jit(lambda x: pool(x).sum())
    np.testing.assert_allclose([float(pool(x).sum()), float(compiled(x))], expected, rtol=1e-5)
    np.testing.assert_allclose(float(compiled(x * 2)), expected * 2, rtol=1e-5)
    found, derived = weft.grad(lambda x: pool(x).sum())(x), weft.jit(weft.grad(lambda x: pool(x).sum()))(x)
    np.testing.assert_allclose(found.asnumpy(), derived.asnumpy(), rtol=1e-6)


def test_layouts_of_volumes() -> None:
    for kind in (ops.MaxPool3D, ops.AvgPool3D):
        with pytest.raises(ValueError, match="NCDHW"):
            kind(data_format="NDHWC")(weft.Tensor(np.zeros((1, 1, 2, 2, 2), np.float32)))


def test_the_status_of_numbers() -> None:
    for function in (ops.FloatStatus(), weft.jit(lambda x: ops.FloatStatus()(x))):
        for values, expected in (([1.0, 2.0], 0.0), ([1.0, np.inf], 1.0), ([np.nan], 1.0)):
            found = function(weft.Tensor(np.array(values, np.float32)))
            assert (found.dtype, found.asnumpy().tolist()) == (weft.float32, [expected])


def test_operators_of_functions() -> None:
    a = weft.Tensor(np.array([[0, 0, 10, 10], [5, 5, 15, 20], [1, 2, 3, 4]], np.float32))
    found = ops.Renorm(2, 0, 1.0)(a).asnumpy()
    np.testing.assert_allclose(found[2], [0.18257418, 0.36514837, 0.54772252, 0.73029673], rtol=1e-5)
    np.testing.assert_allclose(ops.Polar()(weft.Tensor([2.0]), weft.Tensor([0.0])).asnumpy(), [2 + 0j])
    assert ops.StopGradient()(a) is not None
    assert not weft.grad(lambda x: (ops.StopGradient()(x) * 2).sum())(a).asnumpy().any()
    mask = weft.Tensor([True, False])
    assert ops.MaskedScatter()(weft.Tensor([1, 2]), mask, weft.Tensor([5, 6])).asnumpy().tolist() == [5, 2]
