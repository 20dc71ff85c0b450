"""`mindspore.mint.optim`: optimizers whose weight decay applies to all parameters, and which can maximize."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import jax.numpy as jnp

from weft.core.tensor import Parameter
from weft.nn.optim.checks import flag, number
from weft.nn.optim.optimizer import Optimizer

__all__ = ["Adam", "AdamW", "FusedAdamW", "SGD"]


def _grouped(params: Any) -> list[dict[str, Any]]:
    """The parameters as groups, in which none is left out of the weight decay by its name."""
    if isinstance(params, Parameter) or not isinstance(params, Iterable):
        raise TypeError(f"an optimizer takes Parameters, or groups of them, not {type(params).__name__}")
    given = list(params)
    return given if given and isinstance(given[0], dict) else [{"params": given}]


class _Optimizer(Optimizer):
    decay_in_gradient = False

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The parameters by learning rate and weight decay: ``"params"``, and ``"lr"``, which can be assigned to."""
        found: dict[tuple[int, Any], dict[str, Any]] = {}
        for param, (rate, decay, _) in zip(self.parameters, self._plan, strict=True):
            group = found.setdefault((rate, decay), {"params": [], "lr": self._rates[rate], "weight_decay": decay})
            group["params"].append(param)
        return list(found.values())


class Adam(_Optimizer):
    """Adaptive moment estimation.

    Args:
        params: Parameters, or groups: dicts of ``params``, ``lr``, ``weight_decay``.
        lr: learning rate.
        betas: shares of the first and second moment that stay.
        eps: added to the denominator.
        weight_decay: share of each parameter that is added to its gradient.
        amsgrad: divide by the largest second moment so far.
        maximize: step along the gradient instead of against it.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = Adam([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(round(p.value().item(), 4))
        0.5
    """

    slots: tuple[tuple[str, str, Any], ...] = (("exp_avg", "exp_avg", "zeros"), ("exp_avg_sq", "exp_avg_sq", "zeros"))
    #: whether the decay is apart from the moments
    decoupled: ClassVar[bool] = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if flag("amsgrad", amsgrad):
            self.slots = (*type(self).slots, ("max_exp_avg_sq", "max_exp_avg_sq", "zeros"))
        super().__init__(lr, _grouped(params), weight_decay)
        first, second = betas
        self.betas = (number("betas[0]", first, below_one=True), number("betas[1]", second, below_one=True))
        self.eps = number("eps", eps)
        self.amsgrad = amsgrad
        self.maximize = flag("maximize", maximize)

    def settings(self) -> tuple[Any, ...]:
        return *self.betas, self.eps, self.maximize, self.decoupled

    @staticmethod
    def update(
        p: Any, g: Any, state: tuple[Any, ...], lr: Any, decay: Any, step: Any, scalars: Any, settings: Any
    ) -> tuple[Any, ...]:
        beta1, beta2, eps, maximize, decoupled = settings
        g = -g if maximize else g
        if decoupled:
            p = p - lr * decay * p
        else:
            g = g + decay * p
        t = (step + 1).astype(p.dtype)
        m = state[0] * beta1 + g * (1 - beta1)
        v = state[1] * beta2 + jnp.square(g) * (1 - beta2)
        largest = jnp.maximum(state[2], v) if len(state) == 3 else v
        wide = jnp.sqrt(largest) / jnp.sqrt(1 - jnp.power(jnp.asarray(beta2, p.dtype), t)) + eps
        p = p - lr / (1 - jnp.power(jnp.asarray(beta1, p.dtype), t)) * m / wide
        return (p, m, v, largest) if len(state) == 3 else (p, m, v)


class AdamW(Adam):
    """`Adam` whose weight decay is apart from the moments.

    Args:
        params: Parameters, or groups: dicts of ``params``, ``lr``, ``weight_decay``.
        lr: learning rate.
        betas: shares of the first and second moment that stay.
        eps: added to the denominator.
        weight_decay: share of the parameter that each step removes, times the learning rate.
        amsgrad: divide by the largest second moment so far.
        maximize: step along the gradient instead of against it.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = AdamW([p], 0.5, weight_decay=0.0)((weft.Tensor([1.0]),))
        >>> print(round(p.value().item(), 4))
        0.5
    """

    decoupled = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """`AdamW`: a step of every optimizer is one operation here."""


class SGD(_Optimizer):
    """Stochastic gradient descent: ``v = momentum * v + (1 - dampening) * g``, ``p = p - lr * v``.

    Args:
        params: Parameters, or groups: dicts of ``params``, ``lr``, ``weight_decay``.
        lr: learning rate.
        momentum: share of the velocity that stays.
        dampening: share of the gradient that the velocity leaves out, the first one aside.
        weight_decay: share of each parameter that is added to its gradient.
        nesterov: look ahead by one step; needs momentum and no dampening.
        maximize: step along the gradient instead of against it.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = SGD([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    slots = (("momentum_buf", "momentum_buf", "zeros"),)

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(lr, _grouped(params), weight_decay)
        self.momentum = number("momentum", momentum)
        self.dampening = number("dampening", dampening)
        self.nesterov = flag("nesterov", nesterov)
        self.maximize = flag("maximize", maximize)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD(nesterov=True) needs a positive momentum and dampening=0")

    def settings(self) -> tuple[Any, ...]:
        return self.momentum, self.dampening, self.nesterov, self.maximize

    @staticmethod
    def update(
        p: Any, g: Any, state: tuple[Any, ...], lr: Any, decay: Any, step: Any, scalars: Any, settings: Any
    ) -> tuple[Any, ...]:
        momentum, dampening, nesterov, maximize = settings
        g = (-g if maximize else g) + decay * p
        if momentum == 0:
            return p - lr * g, state[0]
        v = jnp.where(step == 0, g, state[0] * momentum + g * (1 - dampening))
        return p - lr * (g + momentum * v if nesterov else v), v
