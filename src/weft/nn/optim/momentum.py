"""Gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from weft.nn.optim.checks import flag, number
from weft.nn.optim.optimizer import Optimizer
from weft.ops.optimizer import momentum_step, sgd_step


class SGD(Optimizer):
    """Stochastic gradient descent: ``v = momentum * v + (1 - dampening) * g``, ``p = p - lr * v``.

    Args:
        params: Parameters, or groups (see `Optimizer`).
        learning_rate: see `Optimizer`.
        momentum: share of the velocity that stays.
        dampening: share of the gradient that the velocity leaves out, the first one aside.
        weight_decay: see `Optimizer`.
        nesterov: look ahead by one step; needs momentum and no dampening.
        loss_scale: see `Optimizer`.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = SGD([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    slots = (("accum", "accum", "zeros"),)

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = number("momentum", momentum)
        self.dampening = number("dampening", dampening)
        self.nesterov = flag("nesterov", nesterov)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD(nesterov=True) needs a positive momentum and dampening=0")

    def settings(self) -> tuple[Any, ...]:
        return self.momentum, self.dampening, self.nesterov

    @staticmethod
    def update(
        p: Any, g: Any, state: tuple[Any, ...], lr: Any, decay: Any, step: Any, scalars: Any, settings: Any
    ) -> tuple[Any, ...]:
        momentum, dampening, nesterov = settings
        if momentum == 0:
            return p - lr * g, state[0]
        return sgd_step(p, g, lr, state[0], momentum, step == 0, dampening=dampening, nesterov=nesterov)


class Momentum(Optimizer):
    """Gradient descent with momentum: ``v = momentum * v + g``, ``p = p - lr * v``.

    Args:
        params: Parameters, or groups (see `Optimizer`).
        learning_rate: see `Optimizer`.
        momentum: share of the velocity that stays.
        weight_decay: see `Optimizer`.
        loss_scale: see `Optimizer`.
        use_nesterov: look ahead by one step.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = Momentum([p], 0.5, 0.9)((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    slots = (("moments", "moments", "zeros"),)

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum = number("momentum", momentum)
        self.use_nesterov = flag("use_nesterov", use_nesterov)

    def settings(self) -> tuple[Any, ...]:
        return self.momentum, self.use_nesterov

    @staticmethod
    def update(
        p: Any, g: Any, state: tuple[Any, ...], lr: Any, decay: Any, step: Any, scalars: Any, settings: Any
    ) -> tuple[Any, ...]:
        return momentum_step(p, state[0], lr, g, settings[0], nesterov=settings[1])
