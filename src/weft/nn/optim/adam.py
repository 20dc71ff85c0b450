"""Adam and its relatives."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp

from weft.nn.declared import flag, like
from weft.nn.optim.checks import DeclaredOptimizer, declares, number, share
from weft.nn.optim.optimizer import Arrays, Slots
from weft.ops.optimizer import adam_step, adam_weight_decay_step, adamax_step, amsgrad_step


class _WithPowers(DeclaredOptimizer):
    """Base of those that correct the bias of their moments by powers of their shares."""

    slots: Slots = (("moment1", "moment1", "zeros"), ("moment2", "moment2", "zeros"))
    _update_takes: ClassVar[tuple[str, ...]] = ("beta1", "beta2", "eps")

    def initial_scalar(self, attribute: str) -> float:
        return 1.0

    @staticmethod
    def advance(scalars: Arrays, settings: Arrays) -> Arrays:
        return tuple([power * share for power, share in zip(scalars, settings, strict=False)])


class Adam(_WithPowers, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """Adaptive moment estimation.

    Args:
        use_amsgrad: divide by the largest second moment so far.
        kwargs: `use_lazy` and `use_offload` are accepted, and change nothing.
    """

    _update_takes = ("beta1", "beta2", "eps", "use_nesterov")
    scalars = ("beta1_power", "beta2_power")

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        unknown = set(kwargs) - {"use_lazy", "use_offload"}
        if unknown:
            raise TypeError(f"Adam got unknown settings: {', '.join(sorted(unknown))}")
        if flag("Adam", "use_amsgrad", use_amsgrad):
            self.slots = (*type(self).slots, ("vhat", "vhat", "zeros"))  # before the base makes the state
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = share("Adam", "beta1", beta1)
        self.beta2 = share("Adam", "beta2", beta2)
        self.eps = number("Adam", "eps", eps)
        self.use_locking = use_locking
        self.use_nesterov = flag("Adam", "use_nesterov", use_nesterov)
        self.use_amsgrad = use_amsgrad

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        beta1, beta2, eps, nesterov = settings
        powers = [power.astype(p.dtype) for power in scalars]
        rule: Any = adam_step if len(state) == 2 else amsgrad_step
        return rule(p, *state, *powers, lr, beta1, beta2, eps, g, nesterov=nesterov)


class AdamWeightDecay(DeclaredOptimizer, shows=(", 0.1", "1.0", "p.value() < 1", "[ True]")):
    """Adam without bias correction, with the weight decay apart from the moments.

    Args:
        weight_decay: share of the parameter that each step removes, times the learning rate.
    """

    slots = (("moments1", "adam_m", "zeros"), ("moments2", "adam_v", "zeros"))
    _update_takes = ("beta1", "beta2", "eps")
    decay_in_gradient = False

    @declares(beta1=share, beta2=share, eps=number)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return adam_weight_decay_step(p, *state, lr, *settings, decay, g)  # type: ignore[call-arg]


class Lamb(AdamWeightDecay, shows=(", 0.1", "1.0", "p.value() < 1", "[ True]")):
    """Adam whose step in each parameter is scaled to the parameter's norm, for large batches.

    Args:
        weight_decay: share of the parameter that the update contains.
    """

    slots = (("moments1", "lamb_m", "zeros"), ("moments2", "lamb_v", "zeros"))

    @declares(beta1=share, beta2=share, eps=number)
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        beta1, beta2, eps = settings
        m = state[0] * beta1 + g * (1 - beta1)
        v = state[1] * beta2 + jnp.square(g) * (1 - beta2)
        count = (step + 1).astype(p.dtype)
        corrected = m / (1 - jnp.power(jnp.asarray(beta1, p.dtype), count))
        spread = v / (1 - jnp.power(jnp.asarray(beta2, p.dtype), count))
        change = corrected / (jnp.sqrt(spread) + eps) + decay * p
        size, change_size = jnp.sqrt(jnp.sum(p * p)), jnp.sqrt(jnp.sum(change * change))
        both = (size > 0) & (change_size > 0)
        ratio = jnp.where(both, size / jnp.where(both, change_size, 1), 1)
        return p - lr * ratio * change, m, v


class AdaMax(_WithPowers, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """Adam by the infinity norm.

    Args:
        beta1: share of the moment that stays.
        beta2: share of the norm that stays.
    """

    scalars = ("beta1_power",)

    __init__ = declares(beta1=share, beta2=share, eps=number)(
        like(Adam.__init__, without=("use_locking", "use_nesterov", "use_amsgrad"))
    )

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        return adamax_step(p, *state, scalars[0].astype(p.dtype), lr, *settings, g)  # type: ignore[call-arg]
