"""Metrics against counts made by hand, over one batch and over several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.core.tensor import Tensor
from weft.train import (
    F1,
    MAE,
    MSE,
    Accuracy,
    Loss,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
    get_metric_fn,
    names,
)  # fmt: skip

GENERATOR = np.random.default_rng(0)
SCORES = GENERATOR.random((40, 6)).astype(np.float32)
LABELS = GENERATOR.integers(0, 6, 40)
FOUND = SCORES.argmax(1)


def gathered(metric: Any, a: Any, b: Any) -> Any:
    metric.clear()
    for part in (slice(0, 10), slice(10, 40)):
        metric.update(Tensor(a[part]), Tensor(b[part]))
    return metric.eval()


def test_accuracy_and_its_relatives() -> None:
    assert gathered(Accuracy(), SCORES, LABELS) == (FOUND == LABELS).mean()
    assert gathered(Accuracy(), SCORES, np.eye(6)[LABELS]) == (FOUND == LABELS).mean()
    order = np.argsort(-SCORES, 1)
    for k, metric in ((1, Top1CategoricalAccuracy()), (3, TopKCategoricalAccuracy(3)), (5, Top5CategoricalAccuracy())):
        wanted = np.mean([label in row[:k] for label, row in zip(LABELS, order, strict=True)])
        assert gathered(metric, SCORES, LABELS) == pytest.approx(wanted)
    flags, truth = SCORES[:, :2], (SCORES[:, :2] > 0.4).astype(np.float32)
    assert gathered(Accuracy("multilabel"), flags, truth) == (np.round(flags) == truth).all(1).mean()


def test_precision_recall_and_f1() -> None:
    precision = [(LABELS[c == FOUND] == c).mean() if (c == FOUND).any() else 0 for c in range(6)]
    recall = [(FOUND[c == LABELS] == c).mean() if (c == LABELS).any() else 0 for c in range(6)]
    np.testing.assert_allclose(gathered(Precision(), SCORES, LABELS), precision)
    np.testing.assert_allclose(gathered(Recall(), SCORES, LABELS), recall)
    f1 = [2 * p * r / (p + r) if p + r else 0 for p, r in zip(precision, recall, strict=True)]
    np.testing.assert_allclose(gathered(F1(), SCORES, LABELS), f1)
    metric = F1()
    metric.update(Tensor(SCORES), Tensor(LABELS))
    assert metric.eval(True) == pytest.approx(np.mean(f1))


def test_errors_and_loss() -> None:
    a, b = SCORES[:, 0], SCORES[:, 1]
    assert gathered(MAE(), a, b) == pytest.approx(np.abs(a - b).mean(), rel=1e-5)
    assert gathered(MSE(), a, b) == pytest.approx(((a - b) ** 2).mean(), rel=1e-5)
    loss = Loss()
    loss.update(Tensor(1.0))
    loss.update(Tensor([2.0, 4.0]))
    assert loss.eval() == 2.0


def test_names_and_mistakes() -> None:
    assert {"accuracy", "loss", "mse", "mae", "F1"} <= set(names())
    assert isinstance(get_metric_fn("top_1_accuracy"), Top1CategoricalAccuracy)
    with pytest.raises(RuntimeError, match="no samples"):
        Accuracy().eval()
    with pytest.raises(RuntimeError, match="no samples"):
        F1().eval()
    with pytest.raises(ValueError, match="do not fit labels"):
        Accuracy().update(Tensor(SCORES), Tensor(LABELS[:5]))
    with pytest.raises(ValueError, match="predictions and labels"):
        MSE().update(Tensor([1.0]))
    with pytest.raises(TypeError, match="takes tensors"):
        MSE().update("a", "b")
    with pytest.raises(TypeError, match="eval_type"):
        Precision("other")
