"""Learning rates as lists, one number for each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.core import described, shows, told


def _positive(what: str, value: Any, integer: bool = False, zero: bool = False) -> None:
    kinds = int if integer else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(f"{what} must be {'an int' if integer else 'a float'}, not {type(value).__name__}")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"{what} must be positive, not {value}")


_described = described(
    learning_rate="initial rate.",
    decay_rate="speed.",
    total_step="number of steps.",
    step_per_epoch="steps in an epoch.",
    decay_epoch="length of the decay.",
    is_stair="decay in whole steps only.",
)


@shows("piecewise_constant_lr([2, 3], [0.1, 0.01])", "[0.1, 0.1, 0.01]")
def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """A rate for each stretch of steps.

    Args:
        milestone: the step at which each stretch ends, rising.
        learning_rates: the rate of each stretch.
    """
    for what, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{what} must be a list or tuple, not {type(value).__name__}")
    if not milestone or len(milestone) != len(learning_rates):
        raise ValueError(f"milestone and learning_rates need the same length, got {milestone} and {learning_rates}")
    rates: list[float] = []
    for end, rate in zip(milestone, learning_rates, strict=True):
        _positive("a milestone", end, integer=True)
        if end <= len(rates):
            raise ValueError(f"milestones must rise, got {list(milestone)}")
        if not isinstance(rate, float):
            raise TypeError(f"a learning rate must be a float, not {type(rate).__name__}")
        rates.extend([rate] * (end - len(rates)))
    return rates


def _decay(
    formula: Callable[[float], float], total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:
    """The rate of each step, by a formula of how many lengths of a decay have passed."""
    for what, value in (("total_step", total_step), ("step_per_epoch", step_per_epoch), ("decay_epoch", decay_epoch)):
        _positive(what, value, integer=True)
    epochs = [step // step_per_epoch for step in range(total_step)]
    return [formula(epoch // decay_epoch if is_stair else epoch / decay_epoch) for epoch in epochs]


def _decaying(name: str, formula: Callable[[float, float, int, float], float], text: str, example: str) -> Any:
    """The function of rates that decay, by a formula of the initial rate, the speed, the unit of time and the time."""

    def rates(
        learning_rate: float,
        decay_rate: float,
        total_step: int,
        step_per_epoch: int,
        decay_epoch: int,
        is_stair: bool = False,
    ) -> list[float]:
        _positive("learning_rate", learning_rate)
        _positive("decay_rate", decay_rate)
        rate = partial(formula, learning_rate, decay_rate, decay_epoch)
        return _decay(rate, total_step, step_per_epoch, decay_epoch, is_stair)

    return _described(told(rates, name, f"{text}\n\nExample:\n    >>> print({name}{example}"))


exponential_decay_lr = _decaying(
    "exponential_decay_lr",
    lambda first, speed, unit, n: first * speed**n,
    "``learning_rate * decay_rate ** (epoch / decay_epoch)`` for each step.",
    "(0.5, 0.5, 3, 1, 1))\n    [0.5, 0.25, 0.125]",
)
natural_exp_decay_lr = _decaying(
    "natural_exp_decay_lr",
    lambda first, speed, unit, n: first * math.exp(-speed * n * unit),
    "``learning_rate * exp(-decay_rate * epoch)`` for each step; with `is_stair`, `decay_epoch` epochs have one rate.",
    "(0.5, 0.9, 2, 2, 1))\n    [0.5, 0.5]",
)
inverse_decay_lr = _decaying(
    "inverse_decay_lr",
    lambda first, speed, unit, n: first / (1 + speed * n),
    "``learning_rate / (1 + decay_rate * epoch / decay_epoch)`` for each step.",
    "(0.5, 1.0, 2, 1, 1))\n    [0.5, 0.25]",
)


@_described
@shows("[round(v, 3) for v in cosine_decay_lr(0.0, 0.1, 3, 1, 2)]", "[0.1, 0.05, 0.0]")
def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine from `max_lr` to `min_lr`, for each step.

    Args:
        min_lr: last rate.
        max_lr: first rate.
    """
    _positive("min_lr", min_lr, zero=True)
    _positive("max_lr", max_lr)
    if min_lr >= max_lr:
        raise ValueError(f"max_lr must be above min_lr, got {max_lr} and {min_lr}")
    passed = _decay(lambda n: min(n, 1.0), total_step, step_per_epoch, decay_epoch)
    return [min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * n)) for n in passed]


@_described
@shows("polynomial_decay_lr(0.5, 0.0, 3, 1, 2, 1.0)", "[0.5, 0.25, 0.0]")
def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """A power of the remaining share of the epochs, for each step.

    Args:
        learning_rate: first rate.
        end_learning_rate: last rate.
        power: exponent.
        update_decay_epoch: start over with a longer decay once it has ended.
    """
    _positive("learning_rate", learning_rate)
    _positive("end_learning_rate", end_learning_rate, zero=True)
    _positive("power", power)
    if learning_rate <= end_learning_rate:
        raise ValueError("learning_rate must be above end_learning_rate")

    def formula(n: float) -> float:
        total = max(math.ceil(n), 1) if update_decay_epoch else 1.0
        return (learning_rate - end_learning_rate) * (1 - min(n, total) / total) ** power + end_learning_rate

    return _decay(formula, total_step, step_per_epoch, decay_epoch)


@_described
@shows("warmup_lr(0.5, 3, 1, 2)", "[0.0, 0.25, 0.5]")
def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """A line from 0 to `learning_rate`, for each step.

    Args:
        learning_rate: last rate.
        warmup_epoch: length of the rise.
    """
    _positive("learning_rate", learning_rate)
    return _decay(lambda n: learning_rate * min(n, 1.0), total_step, step_per_epoch, warmup_epoch)
