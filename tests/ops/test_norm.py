"""Normalisation against its formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.values import normals
from weft import dtypes, ops
from weft.autodiff.grad import grad
from weft.core.tensor import Parameter, Tensor

normal = normals()


def by(values: Any, ndim: int) -> Any:
    return values.reshape((1, -1) + (1,) * (ndim - 2))


@pytest.mark.parametrize("shape", ((5, 3), (4, 3, 6), (2, 3, 4, 5), (2, 3, 2, 2, 3)))
def test_batch_norm_trains_and_infers(shape: tuple[int, ...]) -> None:
    x, gamma, beta = normal(*shape), normal(3), normal(3)
    mean, var = Parameter(Tensor(normal(3))), Parameter(Tensor(np.abs(normal(3)) + 1))
    before = np.array(mean), np.array(var)
    axes = (0, *range(2, len(shape)))
    found = ops.batch_norm(Tensor(x), mean, var, Tensor(gamma), Tensor(beta), training=True, momentum=0.25, eps=1e-3)
    centre, spread = x.mean(axes), x.var(axes)
    wanted = (x - by(centre, x.ndim)) / np.sqrt(by(spread, x.ndim) + 1e-3) * by(gamma, x.ndim) + by(beta, x.ndim)
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-4, 1e-4)
    np.testing.assert_allclose(mean.asnumpy(), 0.75 * before[0] + 0.25 * centre, 1e-5, 1e-5)
    np.testing.assert_allclose(var.asnumpy(), 0.75 * before[1] + 0.25 * x.var(axes, ddof=1), 1e-5, 1e-5)
    now = np.array(mean), np.array(var)
    found = ops.batch_norm(Tensor(x), mean, var, Tensor(gamma), Tensor(beta), eps=1e-3)
    wanted = (x - by(now[0], x.ndim)) / np.sqrt(by(now[1], x.ndim) + 1e-3) * by(gamma, x.ndim) + by(beta, x.ndim)
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-4, 1e-4)
    np.testing.assert_array_equal(mean.asnumpy(), now[0])


def test_running_statistics_take_no_part_in_gradients() -> None:
    mean, var = Parameter(Tensor(np.zeros(2, np.float32))), Parameter(Tensor(np.ones(2, np.float32)))
    x = Tensor(normal(4, 2))
    grad(lambda x: (ops.batch_norm(x, mean, var, None, None, True) ** 3).sum())(x)
    assert mean._node is None
    assert var._node is None
    np.testing.assert_allclose(mean.asnumpy(), 0.1 * x.asnumpy().mean(0), 1e-5, 1e-6)


def test_half_precision_statistics_are_computed_in_float32() -> None:
    x = (normal(64, 2) * 100 + 1000).astype(np.float16)
    found = ops.batch_norm(Tensor(x), None, None, training=True)
    assert found.dtype is dtypes.float16
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(0)) / wide.std(0)
    np.testing.assert_allclose(found.asnumpy().astype(np.float64), wanted, 5e-3, 5e-3)


def test_batch_norm_operator_returns_five_and_moves_statistics() -> None:
    x = Tensor(normal(4, 2, 3))
    mean, var = Parameter(Tensor(np.zeros(2, np.float32))), Parameter(Tensor(np.ones(2, np.float32)))
    ones = Tensor(np.ones(2, np.float32))
    outputs = ops.BatchNorm(is_training=True, momentum=1.0)(x, ones, ones, mean, var)
    assert len(outputs) == 5
    np.testing.assert_allclose(mean.asnumpy(), x.asnumpy().mean((0, 2)), 1e-5, 1e-6)
    outputs = ops.BatchNorm()(x, ones, ones, mean, var)
    np.testing.assert_allclose(outputs[0].asnumpy().mean((0, 2)), 1.0, 1e-4)
    with pytest.raises(ValueError, match="has 2 channels"):
        ops.BatchNorm()(x, Tensor([1.0]), ones, mean, var)
    with pytest.raises(ValueError, match="epsilon"):
        ops.BatchNorm(epsilon=0)


def test_layer_norm() -> None:
    x, gamma, beta = normal(2, 3, 4), normal(3, 4), normal(3, 4)
    wanted = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(
        ops.layer_norm(Tensor(x), (3, 4), Tensor(gamma), Tensor(beta)).asnumpy(), wanted, 1e-4, 1e-5
    )
    out, mean, var = ops.LayerNorm(1, 1, 1e-5)(Tensor(x), Tensor(gamma), Tensor(beta))
    np.testing.assert_allclose(out.asnumpy(), wanted, 1e-4, 1e-5)
    assert mean.shape == var.shape == (2, 1, 1)
    np.testing.assert_allclose(var.asnumpy(), x.var((1, 2), keepdims=True), 1e-5)
    with pytest.raises(ValueError, match="does not end with"):
        ops.layer_norm(Tensor(x), (3,))
    with pytest.raises(ValueError, match="gamma has shape"):
        ops.LayerNorm(1, 1)(Tensor(x), Tensor([1.0]), Tensor(beta))


@pytest.mark.parametrize("groups", (1, 2, 4))
def test_group_norm(groups: int) -> None:
    x, gamma, beta = normal(3, 4, 2, 5), normal(4), normal(4)
    grouped = x.reshape(3, groups, -1)
    wanted = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
    wanted = wanted.reshape(x.shape) * by(gamma, 4) + by(beta, 4)
    np.testing.assert_allclose(
        ops.group_norm(Tensor(x), groups, Tensor(gamma), Tensor(beta)).asnumpy(), wanted, 1e-4, 1e-5
    )
    if groups == 4:
        np.testing.assert_allclose(
            ops.instance_norm(Tensor(x), Tensor(gamma), Tensor(beta)).asnumpy(), wanted, 1e-4, 1e-5
        )


def test_other_norms() -> None:
    x, gamma = normal(3, 4), normal(4)
    out, rstd = ops.rms_norm(Tensor(x), Tensor(gamma))
    scale = 1 / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(out.asnumpy(), x * scale * gamma, 1e-5, 1e-6)
    np.testing.assert_allclose(rstd.asnumpy(), scale, 1e-5)
    np.testing.assert_allclose(
        ops.L2Normalize(axis=1)(Tensor(x)).asnumpy(), x / np.linalg.norm(x, axis=1, keepdims=True), 1e-5
    )
    np.testing.assert_array_equal(ops.L2Normalize()(Tensor([0.0, 0.0])).asnumpy(), 0.0)
    image = normal(2, 7, 2, 2)
    square = np.stack([(image[:, max(c - 2, 0) : c + 3] ** 2).sum(1) for c in range(7)], 1)
    wanted = image / (1.0 + 0.5 * square) ** 0.75
    np.testing.assert_allclose(ops.lrn(Tensor(image), 2, 1.0, 0.5, 0.75).asnumpy(), wanted, 1e-5)


@pytest.mark.parametrize("name", ("batch_norm", "layer_norm"))
def test_gradients_by_finite_differences(name: str) -> None:
    x, gamma, beta = (normal(*s).astype(np.float64) for s in ((4, 3), (3,), (3,)))
    weights = normal(4, 3)

    def loss(x: Any, gamma: Any, beta: Any) -> Any:
        if name == "batch_norm":
            out = ops.batch_norm(x, None, None, gamma, beta, True)
        else:
            out = ops.layer_norm(x, (3,), gamma, beta)
        return (out * Tensor(weights)).sum()

    values = [x, gamma, beta]
    found = grad(loss, (0, 1, 2))(*map(Tensor, values))
    for k, value in enumerate(values):
        for at in np.ndindex(value.shape):
            shifted = [[v.copy() for v in values] for _ in range(2)]
            shifted[0][k][at] += 1e-5
            shifted[1][k][at] -= 1e-5
            high, low = (float(loss(*map(Tensor, v)).asnumpy()) for v in shifted)
            assert found[k].asnumpy()[at] == pytest.approx((high - low) / 2e-5, abs=1e-6)
