"""Optimizers that adapt each element's rate to its past gradients: Adagrad, RMSProp, Adadelta, FTRL."""

from __future__ import annotations

from typing import Any

from weft.nn.declared import flag
from weft.nn.optim.checks import DeclaredOptimizer, declares, number, only_float, strength
from weft.nn.optim.optimizer import Arrays
from weft.ops.optimizer import adadelta_step, adagrad_step, centered_rmsprop_step, ftrl_step, rmsprop_step


class Adagrad(DeclaredOptimizer, shows=(", accum=0.0, learning_rate=0.5", "2.0", "p.value()", "[0.5]")):
    """Divides by the root of the sum of squared gradients.

    Args:
        update_slots: whether the sum grows.
    """

    slots = (("accum", "accum", "zeros"),)
    _begins = ("accum", "accum")
    _update_takes = ("update_slots",)

    @declares(update_slots=flag)
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return adagrad_step(p, state[0], lr, g, update_slots=settings[0])


class RMSProp(DeclaredOptimizer, shows=(", 0.5", "1.0", "p.value()", "[0.5]")):
    """Divides by the root of a running mean of squared gradients.

    Args:
        decay: share of the mean that stays.
        momentum: share of the last step that is repeated.
        epsilon: added to the mean.
        centered: subtract the squared mean gradient.
    """

    slots = (("moment", "moment", "zeros"), ("ms", "mean_square", "ones"), ("mg", "mean_grad", "zeros"))
    _update_takes = ("decay", "momentum", "epsilon", "centered")

    @declares(decay=number, momentum=number, epsilon=number, centered=flag)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        moment, ms, mg = state
        *numbers, centered = settings
        if not centered:
            p, ms, moment = rmsprop_step(p, ms, moment, lr, g, *numbers)
        else:
            p, mg, ms, moment = centered_rmsprop_step(p, mg, ms, moment, lr, g, *numbers)
        return p, moment, ms, mg


class Adadelta(DeclaredOptimizer, shows=("", "1.0", "p.value() < 1", "[ True]")):
    """Scales gradients by the ratio of past updates to past gradients.

    Args:
        rho: share of the means that stays.
        epsilon: added to the means.
    """

    slots = (("accum", "accum", "zeros"), ("accum_update", "accum_update", "zeros"))
    _update_takes = ("rho", "epsilon")

    @declares(rho=number, epsilon=number)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return adadelta_step(p, *state, lr, *settings, g)  # type: ignore[call-arg]


def _falling(optimizer: str, what: str, value: Any) -> float:
    if only_float(optimizer, what, value) > 0:
        raise ValueError(f"{optimizer}: {what} must be at most 0, not {value}")
    return value


class FTRL(DeclaredOptimizer, shows=(", initial_accum=0.0, learning_rate=0.5", "2.0", "p.value()", "[0.5]")):
    """Follows the regularised leader: parameters whose summed gradients stay small become zero.

    Args:
        initial_accum: initial sum of squared gradients.
        lr_power: the power of the sum by which the rate falls, at most 0.
    """

    slots = (("moments", "moments", "zeros"), ("linear", "linear", "zeros"))
    _begins = ("moments", "initial_accum")
    _update_takes = ("l1", "l2", "lr_power")

    @declares(lr_power=_falling, l1=strength, l2=strength, use_locking=flag)
    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return ftrl_step(p, *state, g, lr, *settings)  # type: ignore[call-arg]
