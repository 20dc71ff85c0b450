"""Learning rates as functions of the step."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp

from weft.core import Primitive, Tensor, apply
from weft.nn.cell import Cell
from weft.nn.declared import Described, declared, flag, positive_int
from weft.ops._checks import reals


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


def _schedule(name: str, formula: Any) -> Primitive:
    """A schedule as one primitive of the step, in float32; its settings are what the formula takes by name."""
    code = formula.__code__
    return Primitive(
        f"Schedule{name}",
        lambda step, **settings: formula(jnp, step.astype(jnp.float32), **settings),
        attr_names=code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount],
        no_gradient="a learning rate takes no part in gradients",
    )


# The formulas are for arrays of JAX, and for those of NumPy where rates are lists (`dynamic_lr`).


def exponential(xp: Any, step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    p = step / steps
    return rate * xp.power(decay, xp.floor(p) if stair else p)


def natural(xp: Any, step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    return rate * xp.exp(-decay * (xp.floor(step / steps) * steps if stair else step))


def inverse(xp: Any, step: Any, *, rate: float, decay: float, steps: int, stair: bool) -> Any:
    p = step / steps
    return rate / (1 + decay * (xp.floor(p) if stair else p))


def cosine(xp: Any, step: Any, *, low: float, high: float, steps: int) -> Any:
    return low + 0.5 * (high - low) * (1 + xp.cos(xp.minimum(step, steps) / steps * xp.pi))


def polynomial(xp: Any, step: Any, *, rate: float, end: float, steps: int, power: float, again: bool) -> Any:
    total: Any = float(steps)
    if again:  # the decay period doubles, triples... once the step is past it
        total = steps * xp.maximum(xp.ceil(step / steps), 1.0)
    else:
        step = xp.minimum(step, total)
    return (rate - end) * xp.power(1 - step / total, power) + end


def warmup(xp: Any, step: Any, *, rate: float, steps: int) -> Any:
    return rate * xp.minimum(step, steps) / steps


def _rate(cell: str, what: str, value: Any) -> float:
    reals(cell, **{what: value})
    if value < 0:
        raise ValueError(f"{cell}: {what} must be at least 0.0, not {value}")
    return float(value)


def _positive(cell: str, what: str, value: Any) -> float:
    if _rate(cell, what, value) == 0:
        raise ValueError(f"{cell}: {what} must be above 0.0, not {value}")
    return float(value)


class _Formula(Described, LearningRateSchedule):
    """Base of the schedules of a formula, which is given what the constructor keeps.

    Args:
        learning_rate: initial rate.
        decay_rate: speed.
        decay_steps: length of the decay.
        is_stair: decay in whole steps only.
    """

    _example = """
        >>> print({name}({})(Tensor({})))
        {}
    """

    _primitive: ClassVar[Any] = None

    def __init_subclass__(cls, formula: Any = None, **kwargs: Any) -> None:
        if formula is not None:
            cls._primitive = _schedule(cls.__name__.removesuffix("LR"), formula)
        super().__init_subclass__(**kwargs)

    def construct(self, global_step: Any) -> Tensor:
        code = type(self).__init__.__code__
        settings = tuple([getattr(self, name) for name in code.co_varnames[1 : code.co_argcount]])
        return apply(self._primitive, (global_step,), settings)


class _Decay(_Formula):
    @declared(learning_rate=_positive, decay_rate=_positive, decay_steps=positive_int, is_stair=flag)
    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None: ...


class ExponentialDecayLR(_Decay, formula=exponential, shows=("0.5, 0.5, 2", "2", "0.25")):
    """``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
        decay_rate: factor for each `decay_steps`.
    """


class NaturalExpDecayLR(_Decay, formula=natural, shows=("0.5, 0.5, 2", "0", "0.5")):
    """``learning_rate * exp(-decay_rate * step)``.

    Args:
        decay_steps: with `is_stair`, how many steps have one rate.
        is_stair: take the last multiple of `decay_steps` for the step.
    """


class InverseDecayLR(_Decay, formula=inverse, shows=("0.5, 1.0, 2", "2", "0.25")):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``."""


class CosineDecayLR(_Formula, formula=cosine, shows=("0.0, 0.5, 2", "0", "0.5")):
    """Half a cosine from `max_lr` to `min_lr`.

    Args:
        min_lr: last rate.
        max_lr: first rate.
    """

    @declared(min_lr=_rate, max_lr=_positive, decay_steps=positive_int)
    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None: ...

    def _made(self) -> None:
        if self.min_lr >= self.max_lr:
            raise ValueError(f"CosineDecayLR: max_lr must be above min_lr, got {self.max_lr} and {self.min_lr}")


class PolynomialDecayLR(_Formula, formula=polynomial, shows=("0.5, 0.0, 2, 1.0", "1", "0.25")):
    """A power of the remaining share of the steps, from `learning_rate` to `end_learning_rate`.

    Args:
        learning_rate: first rate.
        end_learning_rate: last rate.
        power: exponent.
        update_decay_steps: start over with a longer decay once it has ended.
    """

    @declared(
        learning_rate=_positive, end_learning_rate=_rate, decay_steps=positive_int, power=_positive,
        update_decay_steps=lambda cell, what, value: bool(value),
    )  # fmt: skip
    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None: ...

    def _made(self) -> None:
        if self.learning_rate <= self.end_learning_rate:
            raise ValueError("PolynomialDecayLR: learning_rate must be above end_learning_rate")


class WarmUpLR(_Formula, formula=warmup, shows=("0.5, 2", "1", "0.25")):
    """A line from 0 to `learning_rate`, which then stays.

    Args:
        learning_rate: last rate.
        warmup_steps: length of the rise.
    """

    @declared(learning_rate=_rate, warmup_steps=positive_int)
    def __init__(self, learning_rate: float, warmup_steps: int) -> None: ...
