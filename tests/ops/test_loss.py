"""Losses against their formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import ops
from weft.autodiff.grad import grad
from weft.core.tensor import Tensor

GENERATOR = np.random.default_rng(0)
A = GENERATOR.standard_normal((3, 4)).astype(np.float32)
B = GENERATOR.standard_normal((3, 4)).astype(np.float32)
P = GENERATOR.uniform(0.1, 0.9, (3, 4)).astype(np.float32)
Q = GENERATOR.uniform(0.1, 0.9, (3, 4)).astype(np.float32)
SIGN = np.sign(B)
FAR = np.abs(A - B)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


ELEMENTS: dict[str, tuple[Any, Any]] = {
    "mse": (lambda r: ops.mse_loss(Tensor(A), Tensor(B), r), (A - B) ** 2),
    "l1": (lambda r: ops.l1_loss(Tensor(A), Tensor(B), r), FAR),
    "smooth_l1": (lambda r: ops.smooth_l1_loss(Tensor(A), Tensor(B), 0.5, r), np.where(FAR < 0.5, FAR**2, FAR - 0.25)),
    "huber": (
        lambda r: ops.huber_loss(Tensor(A), Tensor(B), r, 0.5),
        np.where(FAR < 0.5, FAR**2 / 2, 0.5 * (FAR - 0.25)),
    ),
    "bce": (
        lambda r: ops.binary_cross_entropy(Tensor(P), Tensor(Q), None, r),
        -(Q * np.log(P) + (1 - Q) * np.log(1 - P)),
    ),
    "bce_weighted": (
        lambda r: ops.binary_cross_entropy(Tensor(P), Tensor(Q), Tensor(np.abs(B)), r),
        -np.abs(B) * (Q * np.log(P) + (1 - Q) * np.log(1 - P)),
    ),
    "bce_logits": (
        lambda r: ops.binary_cross_entropy_with_logits(Tensor(A), Tensor(Q), Tensor(P), Tensor(np.abs(B)), r),
        -P * (np.abs(B) * Q * np.log(sigmoid(A)) + (1 - Q) * np.log(1 - sigmoid(A))),
    ),
    "kl": (lambda r: ops.kl_div(Tensor(A), Tensor(Q), r), Q * (np.log(Q) - A)),
    "soft_margin": (lambda r: ops.soft_margin_loss(Tensor(A), Tensor(SIGN), r), np.log1p(np.exp(-A * SIGN))),
    "hinge": (
        lambda r: ops.hinge_embedding_loss(Tensor(A), Tensor(SIGN), 1.0, r),
        np.where(SIGN == 1, A, np.maximum(1 - A, 0)),
    ),
    "ranking": (
        lambda r: ops.margin_ranking_loss(Tensor(A), Tensor(B), Tensor(SIGN), 0.25, r),
        np.maximum(-SIGN * (A - B) + 0.25, 0),
    ),
    "gaussian": (
        lambda r: ops.gaussian_nll_loss(Tensor(A), Tensor(B), Tensor(P), True, 1e-6, r),
        0.5 * (np.log(P) + (A - B) ** 2 / P) + 0.5 * np.log(2 * np.pi),
    ),
    "triplet": (
        lambda r: ops.triplet_margin_loss(Tensor(A), Tensor(B), Tensor(P), reduction=r),
        np.maximum(np.linalg.norm(A - B + 1e-6, axis=1) - np.linalg.norm(A - P + 1e-6, axis=1) + 1, 0),
    ),
    "cosine": (
        lambda r: ops.cosine_embedding_loss(Tensor(A), Tensor(B), Tensor([1, -1, 1]), 0.1, r),
        np.where(
            np.array([1, -1, 1]) == 1,
            1 - (A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1),
            np.maximum((A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1) - 0.1, 0),
        ),
    ),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_formula_and_reductions(name: str) -> None:
    function, wanted = ELEMENTS[name]
    np.testing.assert_allclose(function("none").asnumpy(), wanted, 1e-4, 1e-6)
    np.testing.assert_allclose(function("sum").asnumpy(), wanted.sum(), 1e-4, 1e-6)
    np.testing.assert_allclose(function("mean").asnumpy(), wanted.mean(), 1e-4, 1e-6)
    with pytest.raises(ValueError, match="reduction must be"):
        function("median")


def log_softmax(x: Any, axis: int) -> Any:
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


@settings(max_examples=25)
@given(
    shape=st.sampled_from([(4,), (3, 4), (2, 4, 3), (2, 4, 2, 3)]),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 1]),
    smoothing=st.sampled_from([0.0, 0.25]),
    reduction=st.sampled_from(["mean", "sum", "none"]),
    seed=st.integers(0, 99),
)
def test_cross_entropy_with_classes(
    shape: Any, weighted: bool, ignore: int, smoothing: float, reduction: str, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.standard_normal(shape)
    axis = 0 if len(shape) == 1 else 1
    target = generator.integers(0, 4, shape[:1] + shape[2:] if axis else ())
    weight = generator.uniform(0.5, 2.0, 4)
    logs = log_softmax(scores, axis)
    each = weight if weighted else np.ones(4)
    loss = np.zeros(target.shape)
    weights = np.zeros(target.shape)
    for at in np.ndindex(target.shape):
        row = logs if axis == 0 else logs[(at[0], slice(None), *at[1:])]
        if target[at] != ignore:
            weights[at] = each[target[at]]
            loss[at] = -(1 - smoothing) * each[target[at]] * row[target[at]] - smoothing / 4 * (each * row).sum()
    if reduction == "mean" and weights.sum() == 0:
        return
    wanted = {"none": loss, "sum": loss.sum(), "mean": loss.sum() / max(weights.sum(), 1e-9)}[reduction]
    given_weight = Tensor(weight) if weighted else None
    found = ops.cross_entropy(Tensor(scores), Tensor(target), given_weight, ignore, reduction, smoothing)
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-6, 1e-9)
    if not smoothing:
        found = ops.nll_loss(Tensor(logs), Tensor(target), given_weight, ignore, reduction)
        np.testing.assert_allclose(found.asnumpy(), wanted, 1e-6, 1e-9)


@pytest.mark.parametrize("ignore", (-100, 2))
@pytest.mark.parametrize("reduction", ("mean", "sum"))
def test_cross_entropy_gradient_in_closed_form(reduction: str, ignore: int) -> None:
    target = np.array([2, 0, 1])
    found = grad(lambda x: ops.cross_entropy(x, Tensor(target), None, ignore, reduction) * 3)(Tensor(A)).asnumpy()
    wanted = np.exp(log_softmax(A, 1)) - np.eye(4)[target]
    wanted[target == ignore] = 0
    if reduction == "mean":
        wanted /= (target != ignore).sum()
    np.testing.assert_allclose(found, 3 * wanted, 1e-4, 1e-6)


def test_cross_entropy_with_probabilities() -> None:
    target = P / P.sum(1, keepdims=True)
    wanted = -(target * log_softmax(A, 1)).sum(1)
    np.testing.assert_allclose(ops.cross_entropy(Tensor(A), Tensor(target)).asnumpy(), wanted.mean(), 1e-5)
    found = grad(lambda x, t: ops.cross_entropy(x, t, reduction="sum"), (0, 1))(Tensor(A), Tensor(target))
    np.testing.assert_allclose(found[0].asnumpy(), np.exp(log_softmax(A, 1)) - target, 1e-4, 1e-6)
    np.testing.assert_allclose(found[1].asnumpy(), -log_softmax(A, 1), 1e-5)


def test_softmax_cross_entropy_operator_returns_loss_and_gradient() -> None:
    hot = np.eye(4, dtype=np.float32)[[2, 0, 1]]
    loss, dlogits = ops.SoftmaxCrossEntropyWithLogits()(Tensor(A), Tensor(hot))
    np.testing.assert_allclose(loss.asnumpy(), -(hot * log_softmax(A, 1)).sum(1), 1e-5)
    np.testing.assert_allclose(dlogits.asnumpy(), np.exp(log_softmax(A, 1)) - hot, 1e-4, 1e-6)
    found = grad(lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, Tensor(hot))[0].sum())(Tensor(A))
    np.testing.assert_allclose(found.asnumpy(), dlogits.asnumpy(), 1e-5, 1e-6)
    labels = Tensor(np.array([2, 0, 1], np.int32))
    mean = ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor(A), labels)
    np.testing.assert_allclose(mean.asnumpy(), loss.asnumpy().mean(), 1e-5)
    slope = ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(Tensor(A), labels)
    np.testing.assert_allclose(slope.asnumpy(), dlogits.asnumpy() / 3, 1e-4, 1e-6)


def test_large_scores_do_not_overflow() -> None:
    x = Tensor(np.array([[1000.0, -1000.0]], np.float32))
    assert float(ops.cross_entropy(x, Tensor([0])).asnumpy()) == 0.0
    assert float(ops.cross_entropy(x, Tensor([1])).asnumpy()) == 2000.0
    found = ops.SigmoidCrossEntropyWithLogits()(x, Tensor([[0.0, 0.0]]))
    np.testing.assert_array_equal(found.asnumpy(), [[1000.0, 0.0]])
    found = ops.binary_cross_entropy_with_logits(x, Tensor([[0.0, 1.0]]), reduction="none")
    np.testing.assert_array_equal(found.asnumpy(), [[1000.0, 1000.0]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    (
        (lambda: ops.cross_entropy(Tensor(A), Tensor([1, 2])), ValueError, r"take class indices of shape \(3,\)"),
        (lambda: ops.cross_entropy(Tensor([[1, 2]]), Tensor([1])), TypeError, "must be floating"),
        (lambda: ops.cross_entropy(Tensor(A), Tensor([1, 2, 3]), Tensor([1.0])), ValueError, r"shape \(4,\)"),
        (lambda: ops.smooth_l1_loss(Tensor(A), Tensor(B[:2])), ValueError, "same shape"),
        (lambda: ops.huber_loss(Tensor(A), Tensor(B), delta=0), ValueError, "delta must be positive"),
    ),
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
