"""Learning-rate schedules: the cells agree with their formulas and with the lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from weft import nn
from weft.core.tensor import Tensor

CELLS: dict[str, tuple[Any, Any]] = {
    "exponential": (nn.ExponentialDecayLR(0.1, 0.9, 4), lambda t: 0.1 * 0.9 ** (t / 4)),
    "exponential_stair": (nn.ExponentialDecayLR(0.1, 0.9, 4, True), lambda t: 0.1 * 0.9 ** (t // 4)),
    "natural": (nn.NaturalExpDecayLR(0.1, 0.9, 4), lambda t: 0.1 * math.exp(-0.9 * t)),
    "natural_stair": (nn.NaturalExpDecayLR(0.1, 0.9, 4, True), lambda t: 0.1 * math.exp(-0.9 * (t // 4 * 4))),
    "inverse": (nn.InverseDecayLR(0.1, 0.9, 4), lambda t: 0.1 / (1 + 0.9 * t / 4)),
    "cosine": (nn.CosineDecayLR(0.01, 0.1, 4), lambda t: 0.01 + 0.045 * (1 + math.cos(min(t, 4) / 4 * math.pi))),
    "polynomial": (nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), lambda t: 0.09 * (1 - min(t, 4) / 4) ** 0.5 + 0.01),
    "polynomial_again": (
        nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True),
        lambda t: 0.09 * (1 - t / (4 * max(math.ceil(t / 4), 1))) ** 0.5 + 0.01,
    ),
    "warmup": (nn.WarmUpLR(0.1, 4), lambda t: 0.1 * min(t, 4) / 4),
}


@pytest.mark.parametrize("name", CELLS)
def test_formula(name: str) -> None:
    cell, formula = CELLS[name]
    for t in range(10):
        found = cell(Tensor(np.int32(t)))
        assert float(found.asnumpy()) == pytest.approx(formula(t), rel=1e-5)


def test_lists_agree_with_the_cells() -> None:
    steps = [Tensor(np.int32(t)) for t in range(8)]
    pairs = [
        (nn.exponential_decay_lr(0.1, 0.9, 8, 1, 4), nn.ExponentialDecayLR(0.1, 0.9, 4)),
        (nn.natural_exp_decay_lr(0.1, 0.9, 8, 1, 4, True), nn.NaturalExpDecayLR(0.1, 0.9, 4, True)),
        (nn.inverse_decay_lr(0.1, 0.9, 8, 1, 4), nn.InverseDecayLR(0.1, 0.9, 4)),
        (nn.cosine_decay_lr(0.01, 0.1, 8, 1, 4), nn.CosineDecayLR(0.01, 0.1, 4)),
        (nn.polynomial_decay_lr(0.1, 0.01, 8, 1, 4, 0.5), nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)),
        (nn.polynomial_decay_lr(0.1, 0.01, 8, 1, 4, 0.5, True), nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True)),
        (nn.warmup_lr(0.1, 8, 1, 4), nn.WarmUpLR(0.1, 4)),
    ]
    for rates, cell in pairs:
        assert rates == pytest.approx([float(cell(t).asnumpy()) for t in steps], rel=1e-5)


def test_lists_are_the_formulas() -> None:
    first, last, speed, length = 0.1, 0.01, 0.9, 4
    epochs = [step // 2 for step in range(12)]
    stairs = [epoch // length * length for epoch in epochs]
    periods = [max(math.ceil(n / length), 1) * length for n in epochs]
    wanted = {
        nn.exponential_decay_lr: ((first, speed, 12, 2, length), [first * speed ** (n / length) for n in epochs]),
        nn.natural_exp_decay_lr: ((first, speed, 12, 2, length, True), [first * math.exp(-speed * n) for n in stairs]),
        nn.inverse_decay_lr: ((first, speed, 12, 2, length), [first / (1 + speed * n / length) for n in epochs]),
        nn.cosine_decay_lr: (
            (last, first, 12, 2, length),
            [last + (first - last) * (1 + math.cos(math.pi * min(n / length, 1))) / 2 for n in epochs],
        ),
        nn.polynomial_decay_lr: (
            (first, last, 12, 2, length, 0.5, True),
            [last + (first - last) * (1 - n / total) ** 0.5 for n, total in zip(epochs, periods, strict=True)],
        ),
        nn.warmup_lr: ((first, 12, 2, length), [first * min(n / length, 1) for n in epochs]),
    }
    for function, (given, rates) in wanted.items():
        assert function(*given) == pytest.approx(rates, rel=1e-12)


def test_a_warmup_is_named() -> None:
    with pytest.raises(ValueError, match="warmup_epoch must be positive"):
        nn.warmup_lr(0.1, 8, 1, 0)


def test_piecewise() -> None:
    assert nn.piecewise_constant_lr([2, 5], [0.1, 0.05]) == [0.1, 0.1, 0.05, 0.05, 0.05]
    with pytest.raises(ValueError, match="must rise"):
        nn.piecewise_constant_lr([5, 2], [0.1, 0.05])
    with pytest.raises(ValueError, match="the same length"):
        nn.piecewise_constant_lr([5], [0.1, 0.05])


@pytest.mark.parametrize(
    ("call", "error"),
    (
        (lambda: nn.ExponentialDecayLR(0.0, 0.9, 4), ValueError),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4.0), TypeError),
        (lambda: nn.CosineDecayLR(0.1, 0.01, 4), ValueError),
        (lambda: nn.WarmUpLR(0.1, 0), ValueError),
        (lambda: nn.PolynomialDecayLR(0.01, 0.1, 4, 1.0), ValueError),
        (lambda: nn.warmup_lr(0.1, 8, 1, 0), ValueError),
    ),
)
def test_mistakes_are_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
