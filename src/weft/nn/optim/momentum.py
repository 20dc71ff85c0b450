"""Gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from weft.nn.declared import flag
from weft.nn.optim.checks import DeclaredOptimizer, declares, number
from weft.nn.optim.optimizer import Arrays
from weft.ops.optimizer import momentum_step, sgd_step


class SGD(DeclaredOptimizer, shows=(", 0.5", "1.0", "p.value()", "[0.5]")):
    """Stochastic gradient descent: ``v = momentum * v + (1 - dampening) * g``, ``p = p - lr * v``.

    Args:
        dampening: share of the gradient that the velocity leaves out, the first one aside.
        nesterov: look ahead by one step; needs momentum and no dampening.
    """

    slots = (("accum", "accum", "zeros"),)
    _update_takes = ("momentum", "dampening", "nesterov")

    @declares(momentum=number, dampening=number, nesterov=flag)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None: ...

    def _made(self) -> None:
        if self.nesterov and (self.momentum <= 0 or self.dampening != 0):
            raise ValueError("SGD(nesterov=True) needs a positive momentum and dampening=0")

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        momentum, dampening, nesterov = settings
        if momentum == 0:
            return p - lr * g, state[0]
        return sgd_step(p, g, lr, state[0], momentum, step == 0, dampening=dampening, nesterov=nesterov)


class Momentum(DeclaredOptimizer, shows=(", 0.5, 0.9", "1.0", "p.value()", "[0.5]")):
    """Gradient descent with momentum: ``v = momentum * v + g``, ``p = p - lr * v``."""

    slots = (("moments", "moments", "zeros"),)
    _update_takes = ("momentum", "use_nesterov")

    @declares(momentum=number, use_nesterov=flag)
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return momentum_step(p, state[0], lr, g, settings[0], nesterov=settings[1])
