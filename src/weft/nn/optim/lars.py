"""LARS: scale each layer's gradient to its weight before another optimizer applies it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from weft.core import Parameter, Primitive, apply
from weft.nn.cell import Cell
from weft.nn.declared import flag
from weft.nn.optim.checks import number
from weft.nn.optim.optimizer import Optimizer
from weft.ops._kinks import root


def _scaled(*arrays: Any, chosen: tuple[bool, ...], decays: tuple[float, ...], epsilon: float, coefficient: float,
            use_clip: bool) -> tuple[Any, ...]:  # fmt: skip
    count = len(chosen)
    params, gradients, lr = arrays[:count], arrays[count : 2 * count], arrays[2 * count]
    results = []
    for p, g, include, decay in zip(params, gradients, chosen, decays, strict=True):
        if not include:
            results.append(g + decay * p)
            continue
        size, slope = root(jnp.sum(p * p)), root(jnp.sum(g * g))
        ratio = coefficient * size / (slope + decay * size + epsilon)
        ratio = jnp.where((size > 0) & (slope > 0), ratio, 1.0)
        if use_clip:
            ratio = jnp.minimum(ratio / lr, 1.0)
        results.append(ratio * (g + decay * p))
    return tuple(results)


_LARS = Primitive(
    "LarsScale", _scaled, attr_names=("chosen", "decays", "epsilon", "coefficient", "use_clip"), multiple=True
)


class LARS(Cell):
    """Layer-wise adaptive rate scaling around another optimizer.

    Args:
        optimizer: applies the scaled gradients.
        epsilon: added to the denominator.
        coefficient: trust in a layer's own scale.
        use_clip: never raise a layer's rate.
        lars_filter: which parameters are scaled.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = nn.LARS(nn.Momentum([p], 0.1, 0.9))((weft.Tensor([1.0]),))
        >>> print(p.value() < 1)
        [ True]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-05,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"LARS wraps an Optimizer, not {type(optimizer).__name__}")
        self.epsilon = number("LARS", "epsilon", epsilon)
        self.coefficient = number("LARS", "coefficient", coefficient)
        self.use_clip = flag("LARS", "use_clip", use_clip)
        self.opt = optimizer
        self.parameters = optimizer.parameters
        self.lars_flag = tuple(bool(lars_filter(p)) for p in optimizer.parameters)
        # the decay is part of the scaled gradient, so the wrapped optimizer must not add it again
        self.decays = tuple(0.0 if isinstance(d, tuple) else d for _, d, _ in optimizer._plan)
        optimizer._plan = [(rate, 0.0 if not isinstance(d, tuple) else d, c) for rate, d, c in optimizer._plan]

    @property
    def targets(self) -> tuple[Parameter, ...]:
        """Everything that a step writes: what one of the wrapped optimizer does."""
        return self.opt.targets

    def construct(self, gradients: Any) -> Any:
        if len(gradients) != len(self.lars_flag):
            raise ValueError(f"LARS got {len(gradients)} gradients for {len(self.lars_flag)} parameters")
        rate = self.opt.get_lr()
        rate = rate[0] if isinstance(rate, tuple) else rate
        gradients = self.opt.scale_grad(gradients)
        settings = (self.lars_flag, self.decays, self.epsilon, self.coefficient, self.use_clip)
        scaled = apply(_LARS, (*self.parameters, *gradients, rate), settings)
        if self.opt.loss_scale != 1.0:
            scaled = tuple([g * self.opt.loss_scale for g in scaled])
        return self.opt(scaled)
