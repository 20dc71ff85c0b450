"""Learning rates as functions of the step."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core.dispatch import apply
from weft.core.primitive import Primitive, Sample
from weft.core.tensor import Tensor
from weft.nn.cell import Cell


class LearningRateSchedule(Cell):
    """Base of the schedules: `construct(global_step)` returns the learning rate.

    Example:
        >>> import weft
        >>> class Halving(LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 1.0 / (global_step + 1)
        >>> print(Halving()(weft.Tensor(3)))
        0.25
    """

    def construct(self, global_step: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define construct(self, global_step)")


def _step(value: Any) -> Any:
    return value.astype(jnp.float32)


def _schedule(name: str, formula: Any, **attrs: Any) -> Primitive:
    """A schedule as one primitive of the step."""
    return Primitive(
        f"Schedule{name}",
        lambda step, **settings: formula(_step(step), **settings),
        attr_names=tuple(attrs),
        samples=[Sample((np.array(3),), attrs, differentiable=False)],
        no_gradient="a learning rate takes no part in gradients",
    )


def _exponential(step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    p = step / steps
    return rate * jnp.power(decay, jnp.floor(p) if stair else p)


def _natural(step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    return rate * jnp.exp(-decay * (jnp.floor(step / steps) * steps if stair else step))


def _inverse(step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    p = step / steps
    return rate / (1 + decay * (jnp.floor(p) if stair else p))


def _cosine(step: Any, *, low: float, high: float, steps: int) -> Any:
    return low + 0.5 * (high - low) * (1 + jnp.cos(jnp.minimum(step, steps) / steps * jnp.pi))


def _polynomial(step: Any, *, rate: float, end: float, steps: int, power: float, again: bool) -> Any:
    total: Any = float(steps)
    if again:  # the decay period doubles, triples... once the step is past it
        total = steps * jnp.maximum(jnp.ceil(step / steps), 1.0)
    else:
        step = jnp.minimum(step, total)
    return (rate - end) * jnp.power(1 - step / total, power) + end


def _warmup(step: Any, *, rate: float, steps: int) -> Any:
    return rate * jnp.minimum(step, steps) / steps


_DECAY: dict[str, Any] = {"rate": 0.1, "decay": 0.9, "steps": 4, "stair": False}
EXPONENTIAL = _schedule("ExponentialDecay", _exponential, **_DECAY)
NATURAL = _schedule("NaturalExpDecay", _natural, **_DECAY)
INVERSE = _schedule("InverseDecay", _inverse, **_DECAY)
COSINE = _schedule("CosineDecay", _cosine, low=0.01, high=0.1, steps=4)
POLYNOMIAL = _schedule("PolynomialDecay", _polynomial, rate=0.1, end=0.01, steps=4, power=2.0, again=False)
WARMUP = _schedule("WarmUp", _warmup, rate=0.1, steps=4)


def _check_number(cell: str, what: str, value: Any, least: float = 0.0, strict: bool = True) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{cell}: {what} must be a float, not {type(value).__name__}")
    if value < least or (strict and value == least):
        raise ValueError(f"{cell}: {what} must be {'above' if strict else 'at least'} {least}, not {value}")
    return float(value)


def _check_steps(cell: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{cell}: {what} must be an int, not {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{cell}: {what} must be positive, not {value}")
    return value


class _Decay(LearningRateSchedule):
    _primitive: Primitive

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        name = type(self).__name__
        self.learning_rate = _check_number(name, "learning_rate", learning_rate)
        self.decay_rate = _check_number(name, "decay_rate", decay_rate)
        self.decay_steps = _check_steps(name, "decay_steps", decay_steps)
        if not isinstance(is_stair, bool):
            raise TypeError(f"{name}: is_stair must be a bool, not {type(is_stair).__name__}")
        self.is_stair = is_stair

    def construct(self, global_step: Any) -> Tensor:
        settings = (self.learning_rate, self.decay_rate, self.decay_steps, self.is_stair)
        return apply(type(self)._primitive, (global_step,), settings)


class ExponentialDecayLR(_Decay):
    """``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
        learning_rate: initial rate.
        decay_rate: factor for each `decay_steps`.
        decay_steps: length of the decay.
        is_stair: decay in whole steps only.

    Example:
        >>> import weft
        >>> print(ExponentialDecayLR(0.5, 0.5, 2)(weft.Tensor(2)))
        0.25
    """

    _primitive = EXPONENTIAL


class NaturalExpDecayLR(_Decay):
    """``learning_rate * exp(-decay_rate * step)``.

    Args:
        learning_rate: initial rate.
        decay_rate: speed.
        decay_steps: with `is_stair`, how many steps have one rate.
        is_stair: take the last multiple of `decay_steps` for the step.

    Example:
        >>> import weft
        >>> print(NaturalExpDecayLR(0.5, 0.5, 2)(weft.Tensor(0)))
        0.5
    """

    _primitive = NATURAL


class InverseDecayLR(_Decay):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
        learning_rate: initial rate.
        decay_rate: speed.
        decay_steps: length of the decay.
        is_stair: decay in whole steps only.

    Example:
        >>> import weft
        >>> print(InverseDecayLR(0.5, 1.0, 2)(weft.Tensor(2)))
        0.25
    """

    _primitive = INVERSE


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine from `max_lr` to `min_lr`.

    Args:
        min_lr: last rate.
        max_lr: first rate.
        decay_steps: length of the decay.

    Example:
        >>> import weft
        >>> print(CosineDecayLR(0.0, 0.5, 2)(weft.Tensor(0)))
        0.5
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = _check_number("CosineDecayLR", "min_lr", min_lr, strict=False)
        self.max_lr = _check_number("CosineDecayLR", "max_lr", max_lr)
        if min_lr >= max_lr:
            raise ValueError(f"CosineDecayLR: max_lr must be above min_lr, got {max_lr} and {min_lr}")
        self.decay_steps = _check_steps("CosineDecayLR", "decay_steps", decay_steps)

    def construct(self, global_step: Any) -> Tensor:
        return apply(COSINE, (global_step,), (self.min_lr, self.max_lr, self.decay_steps))


class PolynomialDecayLR(LearningRateSchedule):
    """A power of the remaining share of the steps, from `learning_rate` to `end_learning_rate`.

    Args:
        learning_rate: first rate.
        end_learning_rate: last rate.
        decay_steps: length of the decay.
        power: exponent.
        update_decay_steps: start over with a longer decay once it has ended.

    Example:
        >>> import weft
        >>> print(PolynomialDecayLR(0.5, 0.0, 2, 1.0)(weft.Tensor(1)))
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        name = "PolynomialDecayLR"
        self.learning_rate = _check_number(name, "learning_rate", learning_rate)
        self.end_learning_rate = _check_number(name, "end_learning_rate", end_learning_rate, strict=False)
        if learning_rate <= end_learning_rate:
            raise ValueError(f"{name}: learning_rate must be above end_learning_rate")
        self.decay_steps = _check_steps(name, "decay_steps", decay_steps)
        self.power = _check_number(name, "power", power)
        self.update_decay_steps = bool(update_decay_steps)

    def construct(self, global_step: Any) -> Tensor:
        settings = (
            self.learning_rate, self.end_learning_rate, self.decay_steps, self.power, self.update_decay_steps,
        )  # fmt: skip
        return apply(POLYNOMIAL, (global_step,), settings)


class WarmUpLR(LearningRateSchedule):
    """A line from 0 to `learning_rate`, which then stays.

    Args:
        learning_rate: last rate.
        warmup_steps: length of the rise.

    Example:
        >>> import weft
        >>> print(WarmUpLR(0.5, 2)(weft.Tensor(1)))
        0.25
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = _check_number("WarmUpLR", "learning_rate", learning_rate, strict=False)
        self.warmup_steps = _check_steps("WarmUpLR", "warmup_steps", warmup_steps)

    def construct(self, global_step: Any) -> Tensor:
        return apply(WARMUP, (global_step,), (self.learning_rate, self.warmup_steps))
