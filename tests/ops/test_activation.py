"""Activations against their formulas in NumPy, at both ends of the range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from weft import dtypes, ops
from weft.autodiff.grad import grad
from weft.core.tensor import Tensor

X = np.array([-60.0, -7.0, -3.5, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 3.5, 7.0, 60.0], np.float32)
ERF = np.array([math.erf(v / math.sqrt(2)) for v in X])
WIDE = X.astype(np.float64)


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


FORMULAS: dict[str, tuple[Any, Any]] = {
    "relu": (ops.relu, np.maximum(WIDE, 0)),
    "relu6": (ops.relu6, np.clip(WIDE, 0, 6)),
    "sigmoid": (ops.sigmoid, logistic(WIDE)),
    "tanh": (ops.tanh, np.tanh(WIDE)),
    "gelu": (ops.gelu, WIDE * (1 + ERF) / 2),
    "gelu_tanh": (
        lambda x: ops.gelu(x, "tanh"),
        WIDE * (1 + np.tanh(math.sqrt(2 / math.pi) * (WIDE + 0.044715 * WIDE**3))) / 2,
    ),
    "leaky_relu": (lambda x: ops.leaky_relu(x, 0.1), np.where(WIDE > 0, WIDE, 0.1 * WIDE)),
    "elu": (lambda x: ops.elu(x, 2.0), np.where(WIDE > 0, WIDE, 2 * np.expm1(np.minimum(WIDE, 0)))),
    "celu": (lambda x: ops.celu(x, 2.0), np.maximum(WIDE, 0) + np.minimum(0, 2 * np.expm1(np.minimum(WIDE, 0) / 2))),
    "selu": (
        ops.selu,
        1.0507009873554805 * np.where(WIDE > 0, WIDE, 1.6732632423543772 * np.expm1(np.minimum(WIDE, 0))),
    ),
    "hardswish": (ops.hardswish, WIDE * np.clip(WIDE + 3, 0, 6) / 6),
    "hardsigmoid": (ops.hardsigmoid, np.clip(WIDE + 3, 0, 6) / 6),
    "hardtanh": (lambda x: ops.hardtanh(x, -0.5, 2.0), np.clip(WIDE, -0.5, 2.0)),
    "mish": (ops.mish, WIDE * np.tanh(softplus(WIDE))),
    "softplus": (lambda x: ops.softplus(x, 2, 20), np.where(2 * WIDE > 20, WIDE, softplus(2 * WIDE) / 2)),
    "softsign": (ops.softsign, WIDE / (1 + np.abs(WIDE))),
    "silu": (ops.silu, WIDE * logistic(WIDE)),
    "logsigmoid": (ops.logsigmoid, -softplus(-WIDE)),
    "hardshrink": (ops.hardshrink, np.where(np.abs(WIDE) > 0.5, WIDE, 0)),
    "softshrink": (ops.softshrink, np.sign(WIDE) * np.maximum(np.abs(WIDE) - 0.5, 0)),
    "tanhshrink": (ops.tanhshrink, WIDE - np.tanh(WIDE)),
    "threshold": (lambda x: ops.threshold(x, 0.5, 9.0), np.where(WIDE > 0.5, WIDE, 9.0)),
    "softmax": (ops.softmax, np.exp(WIDE - 60) / np.exp(WIDE - 60).sum()),
    "log_softmax": (ops.log_softmax, WIDE - 60 - np.log(np.exp(WIDE - 60).sum())),
    "softmin": (ops.softmin, np.exp(-WIDE - 60) / np.exp(-WIDE - 60).sum()),
    "glu": (ops.glu, WIDE[:6] * logistic(WIDE[6:])),
    "fast_gelu": (ops.fast_gelu, WIDE / (1 + np.exp(-1.702 * np.abs(WIDE))) * np.exp(0.851 * (WIDE - np.abs(WIDE)))),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str) -> None:
    function, wanted = FORMULAS[name]
    found = function(Tensor(X))
    assert found.dtype is dtypes.float32
    np.testing.assert_allclose(found.asnumpy(), wanted, 2e-5, 1e-6)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradient_is_finite_and_the_slope(name: str) -> None:
    function, _ = FORMULAS[name]
    weights = Tensor(np.linspace(0.5, 1.5, 6 if name == "glu" else 12))
    found = grad(lambda x: (function(x) * weights).sum())(Tensor(WIDE)).asnumpy()
    for i in range(len(WIDE)):
        shifted = [WIDE.copy(), WIDE.copy()]
        shifted[0][i] += 1e-5
        shifted[1][i] -= 1e-5
        high, low = (float((function(Tensor(v)) * weights).sum().asnumpy()) for v in shifted)
        assert found[i] == pytest.approx((high - low) / 2e-5, rel=1e-4, abs=1e-5)


def test_relu_has_gradient_zero_at_zero_and_keeps_integers() -> None:
    np.testing.assert_array_equal(grad(ops.relu)(Tensor([0.0, 1.0])).asnumpy(), [0.0, 1.0])
    found = ops.relu(Tensor([-1, 2]))
    assert found.dtype is dtypes.int64
    np.testing.assert_array_equal(found.asnumpy(), [0, 2])


@pytest.mark.parametrize("axis", (0, 1, -1))
def test_softmax_along_axes(axis: int) -> None:
    x = X.reshape(3, 4)
    wide = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    wanted = wide / wide.sum(axis, keepdims=True)
    np.testing.assert_allclose(ops.softmax(Tensor(x), axis).asnumpy(), wanted, 1e-5, 1e-7)
    np.testing.assert_allclose(ops.Softmax(axis)(Tensor(x)).asnumpy(), wanted, 1e-5, 1e-7)
    assert ops.softmax(Tensor(x), axis, dtype=dtypes.float64).dtype is dtypes.float64


def test_prelu_has_a_slope_for_each_channel() -> None:
    x = X.reshape(2, 3, 2)
    slopes = np.array([0.1, 0.2, 0.3], np.float32)
    wanted = np.where(x > 0, x, x * slopes[:, None])
    np.testing.assert_allclose(ops.prelu(Tensor(x), Tensor(slopes)).asnumpy(), wanted, 1e-6)
    with pytest.raises(ValueError, match=r"\(1,\) or \(3,\)"):
        ops.prelu(Tensor(x), Tensor([0.1, 0.2]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    (
        (lambda: ops.softmax(Tensor([1.0]), 3), ValueError, "axis 3 is out of range"),
        (lambda: ops.softmax(Tensor([1.0]), 1.5), TypeError, "axis must be an int"),
        (lambda: ops.gelu(Tensor([1.0]), "exact"), ValueError, "'none' or 'tanh'"),
        (lambda: ops.gelu(Tensor([1])), TypeError, "floating"),
        (lambda: ops.glu(Tensor([1.0])), ValueError, "not even"),
        (lambda: ops.hardtanh(Tensor([1.0]), 2.0, 1.0), ValueError, "above max_val"),
    ),
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
