"""ROC curves, areas under curves, inputs that are rearranged, learning rates by steps: numbers of MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, nn
from weft.nn.optim.optimizer import opt_init_args_register
from weft.train import ROC, LearningRateScheduler, Metric, Model, auc, rearrange_inputs

SCORES = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.9, 0.05, 0.05], [0.3, 0.4, 0.3]])


def curve(scores: Any, labels: Any, **options: Any) -> Any:
    metric = ROC(**options)
    metric.update(scores, labels)
    return metric.eval()


def test_curves_of_two_classes() -> None:
    found = curve(Tensor([3.0, 1.0, 4.0, 2.0]), Tensor([0.0, 1.0, 2.0, 3.0]), pos_label=1)
    expected = [[0, 1 / 3, 2 / 3, 1, 1], [0, 0, 0, 0, 1], [5, 4, 3, 2, 1]]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)
    rates = curve(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    for one, other in zip(rates, [[0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1], [1.8, 0.8, 0.4, 0.35, 0.1]], strict=True):
        np.testing.assert_allclose(one, other)
    assert auc(rates[0], rates[1]) == 0.75


def test_curves_of_classes() -> None:
    labels = np.array([1, 2, 0, 0])
    for number, (false, true, thresholds) in enumerate(zip(*curve(SCORES, labels, class_num=3), strict=True)):
        scores, positive = SCORES[:, number], labels == number
        assert thresholds[0] == scores.max() + 1
        assert sorted(thresholds[1:], reverse=True) == sorted(set(scores), reverse=True) == thresholds[1:].tolist()
        for rates, chosen in ((false, ~positive), (true, positive)):
            np.testing.assert_allclose(rates, [(scores[chosen] >= threshold).mean() for threshold in thresholds])


def test_batches_are_put_together() -> None:
    metric = ROC()
    for part in (slice(0, 2), slice(2, 4)):
        metric.update(np.array([0.1, 0.4, 0.35, 0.8])[part], np.array([0, 0, 1, 1])[part])
    assert metric.eval()[1].tolist() == [0, 0.5, 0.5, 1, 1]
    metric.clear()
    with pytest.raises(RuntimeError):
        metric.eval()
    for wrong in ((SCORES,), (SCORES, np.zeros(3)), (SCORES[None], np.zeros(1))):
        with pytest.raises(ValueError, match="ROC"):
            metric.update(*wrong)
    with pytest.raises(ValueError, match="not of 2"):
        ROC(class_num=2).update(SCORES, np.zeros(4))


def test_areas() -> None:
    assert auc(np.array([0, 0.5, 1.0]), np.array([0, 1.0, 1.0])) == auc([1, 0.5, 0], [1, 1, 0.0]) == 0.75
    assert auc([0, 0.5, 0.3], [0, 1.0, 1.0], True) == pytest.approx(0.35)
    with pytest.raises(ValueError, match="must be increasing or decreasing"):
        auc([0, 0.5, 0.3], [0, 1.0, 1.0])
    with pytest.raises(ValueError, match="points of shapes"):
        auc([0, 0.5], [0])


def test_inputs_that_are_rearranged() -> None:
    class Kept(Metric):
        def clear(self) -> None:
            self.seen: Any = None

        @rearrange_inputs
        def update(self, *inputs: Any) -> None:
            self.seen = inputs

        def eval(self) -> Any:
            return self.seen

    assert Kept()(1, 2, 3) == (1, 2, 3)
    assert Kept().set_indexes([2, 0])(1, 2, 3) == (3, 1)


def test_learning_rates_by_steps() -> None:
    seen: list[tuple[float, int]] = []

    def halved(rate: float, step: int) -> float:
        seen.append((rate, step))
        return rate * 0.5

    net = nn.Dense(2, 1)
    optimizer = nn.Momentum(net.trainable_params(), 0.5, 0.9)
    data = [(Tensor(np.ones((1, 2), np.float32)), Tensor(np.ones((1, 1), np.float32)))] * 3
    Model(net, nn.MSELoss(), optimizer).train(1, data, callbacks=[LearningRateScheduler(halved)])
    assert seen == [(0.5, 1), (0.25, 2), (0.125, 3)]
    assert optimizer.learning_rate.asnumpy() == 0.0625
    with pytest.raises(TypeError):
        LearningRateScheduler(5)  # type: ignore[arg-type]
    many = nn.Momentum(nn.Dense(2, 1).trainable_params(), [0.5, 0.25], 0.9)
    with pytest.raises(ValueError, match="one number"):
        Model(nn.Dense(2, 1), nn.MSELoss(), many).train(1, data, callbacks=[LearningRateScheduler(halved)])


def test_arguments_that_a_constructor_keeps() -> None:
    class Own(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, params: Any, learning_rate: Any, momentum: float = 0.5, **more: Any) -> None:
            super().__init__(learning_rate, params)

    optimizer = Own([Parameter(Tensor([1.0]), name="p")], 0.1, more=3)
    assert optimizer.init_args == {"momentum": 0.5, "more": {"more": 3}}
    assert optimizer.target == "CPU"
    optimizer.target = "GPU"
    assert optimizer.target == "GPU"
    for wrong, error in (("zz", ValueError), (5, TypeError)):
        with pytest.raises(error):
            optimizer.target = wrong  # type: ignore[assignment]
