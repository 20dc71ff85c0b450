"""`mindspore.mint.optim`: the optimizers of `weft.nn.experimental` with the formulas and the state that mint has."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from weft.nn.experimental import rules
from weft.nn.experimental.optimizer import Slots

__all__ = ["Adam", "AdamW", "FusedAdamW", "SGD"]


class Adam(rules.Adam):
    """Adaptive moment estimation.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = Adam([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(round(p.value().item(), 4))
        0.5
    """

    slots: Slots = rules.Adam.slots[:2]
    eps_in_biased = False

    def _add_state(self) -> None:
        if any(group["amsgrad"] for group in self.param_groups):
            self.slots = rules.Adam.slots
        super()._add_state()


class AdamW(Adam, rules.AdamW):
    """`Adam` whose weight decay is apart from the moments.

    Args:
        weight_decay: share of the parameter that each step removes, times the learning rate.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = AdamW([p], 0.5, weight_decay=0.0)((weft.Tensor([1.0]),))
        >>> print(round(p.value().item(), 4))
        0.5
    """


class FusedAdamW(AdamW):
    """`AdamW`: a step of every optimizer is one operation here."""


class SGD(rules.SGD):
    """Stochastic gradient descent: ``v = momentum * v + (1 - dampening) * g``, ``p = p - lr * v``.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = SGD([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    slots: Slots = (("momentum_buf", 0.0),)
    counter = "step_t"

    @rules.options
    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        first = jnp.where(step == 1, jnp.ones_like(p), jnp.zeros_like(p))
        return rules.SGD.update(p, g, (*state, first), lr, step, options)[:2]
