"""Optimizers that few programs use: averaged descent, resilient steps, proximal and factored ones, and other names of
Adam.
"""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp

from weft import dtypes
from weft.core import Parameter
from weft.core.parameters import ParameterTuple
from weft.nn.declared import declared, flag, like
from weft.nn.optim.adam import Adam
from weft.nn.optim.checks import DeclaredOptimizer, declares, number, only_float, strength
from weft.nn.optim.optimizer import Arrays, Slots
from weft.ops._checks import bools, tuples
from weft.ops.create import zeros


def averaged_step(
    p: Any, g: Any, eta: Any, mu: Any, average: Any, lr: Any, step: Any, lambd: float, alpha: float, start: float
) -> Arrays:
    """Averaged descent: new parameter, size of the next step, weight of the next parameter, average; steps from 1."""
    p = p * (1 - lambd * eta) - eta * g
    average = jnp.where(mu == 1, p, average + (p - average) * mu)
    eta = jnp.full_like(p, lr / (1 + lambd * lr * step) ** alpha)
    return p, eta, jnp.full_like(p, 1 / jnp.maximum(1.0, step - start)), average


def resilient_step(
    p: Any, g: Any, before: Any, size: Any, etas: tuple[float, float], sizes: tuple[float, float]
) -> Arrays:
    """A resilient step: new parameter, the gradient that counts as the one before, size."""
    shrink, grow = etas
    agreement = g * before
    factor = jnp.where(agreement > 0, grow, jnp.where(agreement < 0, shrink, 1.0)).astype(p.dtype)
    size = jnp.clip(size * factor, *sizes)
    g = jnp.where(agreement < 0, 0.0, g)
    return p - jnp.sign(g) * size, g, size


class ASGD(DeclaredOptimizer, shows=(", 0.5, lambd=0.0", "1.0", "p.value()", "[0.5]")):
    """Gradient descent with the average of the parameters beside it.

    Args:
        lambd: how fast the parameters decay.
        alpha: the power by which the size of the steps falls.
        t0: the step from which on the average counts.
    """

    slots = (("eta", "eta", "zeros"), ("mu", "mu", "ones"), ("ax", "ax", "zeros"))
    _update_takes = ("lambd", "alpha", "t0")

    @declares(lambd=only_float, alpha=only_float, t0=only_float)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        eta, mu, average = state
        eta = jnp.where(step == 0, lr, eta)
        return averaged_step(p, g, eta, mu, average, lr, (step + 1).astype(p.dtype), *settings)


def _pair(optimizer: str, what: str, value: Any) -> tuple[float, float]:
    """A tuple of two floats."""
    tuples(optimizer, **{what: value})
    if len(value) != 2:
        raise ValueError(f"{optimizer}: {what} must have two items, not {len(value)}")
    for each in value:
        only_float(optimizer, what, each)
    return value


def _etas(optimizer: str, what: str, value: Any) -> tuple[float, float]:
    """The two factors of `Rprop`, on the two sides of 1."""
    shrink, grow = _pair(optimizer, what, value)
    if not 0 < shrink < 1 < grow:
        raise ValueError(f"{optimizer}: {what} must be in (0, 1) and above 1, not {value}")
    return value


def _sizes(optimizer: str, what: str, value: Any) -> tuple[float, float]:
    """The bounds of the sizes of steps."""
    low, high = _pair(optimizer, what, value)
    if low > high:
        raise ValueError(f"{optimizer}: the smallest of {what} must not be above the largest: {value}")
    return value


class Rprop(DeclaredOptimizer, shows=(", 0.5", "3.0", "p.value()", "[0.5]")):
    """Steps whose sizes grow while the gradient keeps its sign, and shrink where it changes.

    Args:
        etas: by how much the sizes shrink and grow.
        step_sizes: the smallest and the largest size.
    """

    slots = (("prev", "prev", "zeros"), ("step_size", "step_size", "zeros"))
    _update_takes = ("etas", "step_sizes")

    @declares(etas=_etas, step_sizes=_sizes)
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        before, size = state
        return resilient_step(p, g, before, jnp.where(step == 0, lr, size), *settings)


class ProximalAdagrad(DeclaredOptimizer, shows=(", accum=0.0, learning_rate=0.5", "2.0", "p.value()", "[0.5]")):
    """`Adagrad` that draws parameters to zero."""

    slots = (("accum", "accum", "zeros"),)
    _begins = ("accum", "accum")
    _update_takes = ("l1", "l2")

    @declares(accum=strength, l1=strength, l2=strength, use_locking=flag)
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        l1, l2 = settings
        total = state[0] + g * g
        rate = lr / jnp.sqrt(total)
        moved = p - rate * g
        return jnp.sign(moved) * jnp.maximum(jnp.abs(moved) - rate * l1, 0) / (1 + rate * l2), total


class LazyAdam(Adam, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """`Adam` under the name that programs with sparse gradients use."""

    __init__ = declared()(like(Adam.__init__, without=("use_amsgrad",)))

    def _made(self) -> None:
        flag(type(self).__name__, "use_locking", self.use_locking)
        if self.eps == 0:
            raise ValueError(f"{type(self).__name__}: eps must be positive")


class AdamOffload(LazyAdam, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """`Adam` under the name that programs use which compute its steps elsewhere; the device computes them."""


#: the sums over rows and over columns, and those of each element where there are no columns
_SUMS: Final = ("exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq")


def _shape_of_sums(attribute: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) < 2:
        return shape if attribute == "exp_avg_sq" else (1,)
    return {"exp_avg_sq_row": shape[:-1], "exp_avg_sq_col": shape[:-2] + shape[-1:]}.get(attribute, (1,))


def _root_mean_square(x: Any) -> Any:
    return jnp.sqrt(jnp.mean(jnp.square(x)))


class AdaFactor(DeclaredOptimizer, shows=("", "1.0", "p.value()", "[0.999]")):
    """Adaptive steps from the sums of squared gradients over rows and columns, which take little memory.

    Args:
        learning_rate: None with `relative_step`.
        eps: added to squared gradients, and the least size of a parameter that counts.
        clip_threshold: the largest root mean square of an update.
        decay_rate: how fast the sums forget.
        beta1: share of the first moment that stays; None for no first moment.
        scale_parameter: whether the rate grows with the size of the parameter.
        relative_step: whether the rate follows from the number of steps.
        warmup_init: whether that rate grows at first.
        compression: whether the sums are float16.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range, or there is a learning rate with `relative_step`.
    """

    slots: Slots = tuple([(name, name, "zeros") for name in ("exp_avg", *_SUMS)])
    _update_takes = (
        *("eps", "clip_threshold", "decay_rate", "beta1", "scale_parameter", "relative_step", "warmup_init"),
    )
    decay_in_gradient = False

    def __init__(
        self,
        params: Any,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: Any = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        name = "AdaFactor"
        bools(name, scale_parameter=scale_parameter, relative_step=relative_step)
        bools(name, warmup_init=warmup_init, compression=compression)
        if relative_step != (learning_rate is None):
            raise ValueError(
                f"AdaFactor takes either a learning_rate or relative_step, but got {learning_rate!r} and "
                f"{relative_step}"
            )
        if warmup_init and not relative_step:
            raise ValueError("AdaFactor: warmup_init needs relative_step")
        if not isinstance(eps, (tuple, list)) or len(eps) != 2:
            raise TypeError(f"AdaFactor: eps must be a tuple of two floats, not {eps!r}")
        if beta1 is None:
            self.slots = self.slots[1:]  # before the base makes the state
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        self.eps = tuple(number(name, "eps", each) for each in eps)
        self.clip_threshold = number(name, "clip_threshold", clip_threshold)
        self.decay_rate = number(name, "decay_rate", decay_rate)
        if beta1 is not None and not 0 <= number(name, "beta1", beta1) < 1:
            raise ValueError(f"AdaFactor: beta1 must be in [0, 1), not {beta1}")
        self.beta1 = beta1
        self.scale_parameter, self.relative_step = scale_parameter, relative_step
        self.warmup_init, self.compression = warmup_init, compression
        for attribute in _SUMS:
            states = []
            for param, state in zip(self.parameters, getattr(self, attribute), strict=True):
                shape = _shape_of_sums(attribute, param.shape)
                sums = zeros(shape, dtype=dtypes.float16 if compression else state.dtype)
                states.append(Parameter(sums, name=state.name, requires_grad=False))
            setattr(self, attribute, ParameterTuple(states))

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        (tiny, least), clip, decay_rate, beta1, scaled, relative, warmup = settings
        row, column, whole = state[-3:]
        taken = (step + 1).astype(p.dtype)
        if relative:
            lr = jnp.minimum(1e-6 * taken if warmup else 1e-2, 1 / jnp.sqrt(taken))
        if scaled:
            lr = lr * jnp.maximum(least, _root_mean_square(p))
        kept = 1 - taken**-decay_rate
        squares = jnp.square(g) + tiny
        if p.ndim > 1:
            row = kept * row + (1 - kept) * squares.mean(-1)
            column = kept * column + (1 - kept) * squares.mean(-2)
            share = row / row.mean(-1, keepdims=True)
            change = g / jnp.sqrt(share[..., None] * column[..., None, :])
        else:
            whole = kept * whole + (1 - kept) * squares
            change = g / jnp.sqrt(whole)
        change = lr * change / jnp.maximum(1.0, _root_mean_square(change) / clip)
        moments: Arrays = ()
        if beta1 is not None:
            change = beta1 * state[0] + (1 - beta1) * change
            moments = (change,)
        return (p - p * decay * lr - change, *moments, row, column, whole)
