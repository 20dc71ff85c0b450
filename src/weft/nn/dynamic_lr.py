"""Learning rates as lists, one number for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import described, shows, told
from weft.nn import learning_rate_schedule as formulas


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
    formula: Callable[..., Any], total_step: int, step_per_epoch: int, decay_epoch: int, **settings: Any
) -> list[float]:
    """The rate of each step, by the formula of a schedule, for which epochs are the steps."""
    for what, value in (("total_step", total_step), ("step_per_epoch", step_per_epoch), ("decay_epoch", decay_epoch)):
        _positive(what, value, integer=True)
    rates: list[float] = formula(np, np.arange(total_step) // step_per_epoch, steps=decay_epoch, **settings).tolist()
    return rates


def _decaying(name: str, formula: Callable[..., Any], text: str, example: str) -> Any:
    """The function of rates that decay by a formula."""

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
        settings = {"rate": learning_rate, "decay": decay_rate, "stair": is_stair}
        return _decay(formula, total_step, step_per_epoch, decay_epoch, **settings)

    return _described(told(rates, name, f"{text}\n\nExample:\n    >>> print({name}{example}"))


exponential_decay_lr = _decaying(
    "exponential_decay_lr",
    formulas.exponential,
    "``learning_rate * decay_rate ** (epoch / decay_epoch)`` for each step.",
    "(0.5, 0.5, 3, 1, 1))\n    [0.5, 0.25, 0.125]",
)
natural_exp_decay_lr = _decaying(
    "natural_exp_decay_lr",
    formulas.natural,
    "``learning_rate * exp(-decay_rate * epoch)`` for each step; with `is_stair`, `decay_epoch` epochs have one rate.",
    "(0.5, 0.9, 2, 2, 1))\n    [0.5, 0.5]",
)
inverse_decay_lr = _decaying(
    "inverse_decay_lr",
    formulas.inverse,
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
    return _decay(formulas.cosine, total_step, step_per_epoch, decay_epoch, low=min_lr, high=max_lr)


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
    settings = {"rate": learning_rate, "end": end_learning_rate, "power": power, "again": update_decay_epoch}
    return _decay(formulas.polynomial, total_step, step_per_epoch, decay_epoch, **settings)


@_described
@shows("warmup_lr(0.5, 3, 1, 2)", "[0.0, 0.25, 0.5]")
def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """A line from 0 to `learning_rate`, for each step.

    Args:
        learning_rate: last rate.
        warmup_epoch: length of the rise.
    """
    _positive("learning_rate", learning_rate)
    _positive("warmup_epoch", warmup_epoch, integer=True)
    return _decay(formulas.warmup, total_step, step_per_epoch, warmup_epoch, rate=learning_rate)
