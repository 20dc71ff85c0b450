"""Optimizer updates: the arithmetic of one parameter's step, and the operator classes that write it into Parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft.core import OPERATOR_CLASSES, Operator, Primitive, Tensor, apply, present

# -- the arithmetic, on arrays ---------------------------------------------------------------------------------------


def momentum_step(p: Any, v: Any, lr: Any, g: Any, momentum: Any, *, nesterov: bool = False) -> tuple[Any, Any]:
    """Momentum: new parameter and velocity."""
    v = v * momentum + g
    return p - lr * (g + v * momentum if nesterov else v), v


def adam_step(
    p: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    g: Any,
    *,
    nesterov: bool = False,
) -> tuple[Any, Any, Any]:
    """Adam: new parameter, first and second moment; the powers are those of this step."""
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + jnp.square(g) * (1 - beta2)
    rate = lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
    ahead = m * beta1 + g * (1 - beta1) if nesterov else m
    return p - rate * ahead / (jnp.sqrt(v) + epsilon), m, v


def amsgrad_step(
    p: Any,
    m: Any,
    v: Any,
    largest: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    g: Any,
    *,
    nesterov: bool = False,
) -> tuple[Any, Any, Any, Any]:
    """Adam that divides by the largest second moment so far: new parameter, moments and largest moment."""
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + jnp.square(g) * (1 - beta2)
    largest = jnp.maximum(largest, v)
    rate = lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
    ahead = m * beta1 + g * (1 - beta1) if nesterov else m
    return p - rate * ahead / (jnp.sqrt(largest) + epsilon), m, v, largest


def adam_weight_decay_step(
    p: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, g: Any
) -> tuple[Any, Any, Any]:
    """Adam without bias correction, with the decay apart from the moments: new parameter and moments."""
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + jnp.square(g) * (1 - beta2)
    return p - lr * (m / (jnp.sqrt(v) + epsilon) + decay * p), m, v


def sgd_step(
    p: Any, g: Any, lr: Any, v: Any, momentum: Any, first: Any, *, dampening: float, nesterov: bool
) -> tuple[Any, Any]:
    """Stochastic gradient descent: new parameter and velocity; the first velocity is the gradient."""
    v = jnp.where(first, g, v * momentum + g * (1 - dampening))
    return p - lr * (g + v * momentum if nesterov else v), v


def adagrad_step(p: Any, accum: Any, lr: Any, g: Any, *, update_slots: bool = True) -> tuple[Any, Any]:
    """Adagrad: new parameter and sum of squares."""
    if update_slots:
        accum = accum + jnp.square(g)
    return p - lr * g / jnp.sqrt(accum), accum


def ftrl_step(
    p: Any, accum: Any, linear: Any, g: Any, lr: Any, *, l1: float, l2: float, lr_power: float
) -> tuple[Any, Any, Any]:
    """FTRL: new parameter, sum of squares and linear term."""
    total = accum + jnp.square(g)
    scale = jnp.power(total, -lr_power)
    linear = linear + g - (scale - jnp.power(accum, -lr_power)) / lr * p
    found = (jnp.sign(linear) * l1 - linear) / (scale / lr + 2 * l2)
    return jnp.where(jnp.abs(linear) > l1, found, jnp.zeros_like(p)), total, linear


def rmsprop_step(
    p: Any, ms: Any, moment: Any, lr: Any, g: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any]:
    """RMSProp: new parameter, mean square and moment."""
    ms = ms * decay + jnp.square(g) * (1 - decay)
    moment = moment * momentum + lr * g / jnp.sqrt(ms + epsilon)
    return p - moment, ms, moment


def centered_rmsprop_step(
    p: Any, mg: Any, ms: Any, moment: Any, lr: Any, g: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:
    """RMSProp by the variance: new parameter, mean gradient, mean square and moment."""
    mg = mg * decay + g * (1 - decay)
    ms = ms * decay + jnp.square(g) * (1 - decay)
    moment = moment * momentum + lr * g / jnp.sqrt(ms - jnp.square(mg) + epsilon)
    return p - moment, mg, ms, moment


def adadelta_step(
    p: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, g: Any
) -> tuple[Any, Any, Any]:
    """Adadelta: new parameter, mean square of gradients and of updates."""
    accum = accum * rho + jnp.square(g) * (1 - rho)
    update = jnp.sqrt(accum_update + epsilon) / jnp.sqrt(accum + epsilon) * g
    return p - lr * update, accum, accum_update * rho + jnp.square(update) * (1 - rho)


def adamax_step(
    p: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, g: Any
) -> tuple[Any, Any, Any]:
    """Adam by the infinity norm: new parameter, moment and norm."""
    m = m * beta1 + g * (1 - beta1)
    v = jnp.maximum(v * beta2, jnp.abs(g))
    return p - lr / (1 - beta1_power) * m / (v + epsilon), m, v


# -- the operator classes --------------------------------------------------------------------------------------------


def _settled(step: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A step whose numbers take the parameter's dtype, and whose first `count` results keep their operands' dtype."""

    def settled(*operands: Any, **settings: Any) -> Any:
        results = step(*operands, **settings)
        return tuple(new.astype(old.dtype) for new, old in zip(results, operands[:count], strict=True))

    return settled


MOMENTUM = Primitive(
    "MomentumStep",
    lambda p, v, lr, g, momentum, *, nesterov, scale: _settled(momentum_step, 2)(
        p, v, lr, g * np.asarray(scale, g.dtype), momentum, nesterov=nesterov
    ),
    attr_names=("nesterov", "scale"),
    multiple=True,
    promotes=True,
)
ADAM = Primitive("AdamStep", _settled(adam_step, 3), attr_names=("nesterov",), multiple=True, promotes=True)
ADAM_WEIGHT_DECAY = Primitive("AdamWeightDecayStep", _settled(adam_weight_decay_step, 3), multiple=True, promotes=True)
ADAGRAD = Primitive(
    "AdagradStep", _settled(adagrad_step, 2), attr_names=("update_slots",), multiple=True, promotes=True
)
RMSPROP = Primitive("RMSPropStep", _settled(rmsprop_step, 3), multiple=True, promotes=True)
DESCENT = Primitive("GradientDescentStep", lambda p, alpha, delta: (p - alpha * delta).astype(p.dtype), promotes=True)
SGD = Primitive(
    "SGDStep",
    lambda p, g, lr, v, momentum, stat, *, dampening, weight_decay, nesterov: (
        *_settled(
            lambda p, v: sgd_step(
                p, g + p * np.asarray(weight_decay, p.dtype), lr, v, momentum, stat > 0, dampening=dampening,
                nesterov=nesterov,
            ),
            2,
        )(p, v),
        jnp.zeros_like(stat),
    ),
    attr_names=("dampening", "weight_decay", "nesterov"),
    multiple=True,
    promotes=True,
)  # fmt: skip


class _Update(Operator):
    """Base: computes new values and writes them into the Parameters it was called with."""

    def _write(self, targets: tuple[Tensor, ...], values: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Write, and return what the Parameters then hold."""
        for target, value in zip(targets, values, strict=True):
            if not isinstance(target, Tensor):
                raise TypeError(f"{self.name} writes into Parameters, not {type(target).__name__}")
            if target.shape != value.shape:
                raise ValueError(f"{self.name}: a gradient does not fit a parameter of shape {target.shape}")
        for target, value in zip(targets, values, strict=True):
            target.rebind(value)
        return tuple(map(present, targets))


class ApplyMomentum(_Update):
    """One momentum step: ``ApplyMomentum()(variable, accumulation, learning_rate, gradient, momentum)``.

    Args:
        use_nesterov: look ahead by one step.
        use_locking: accepted.
        gradient_scale: factor of the gradient.

    Example:
        >>> p, v = Tensor([1.0]), Tensor([0.0])
        >>> print(ApplyMomentum()(p, v, 0.5, Tensor([1.0]), 0.9))
        [0.5]
    """

    def __init__(self, use_nesterov: bool = False, use_locking: bool = False, gradient_scale: float = 1.0) -> None:
        self.use_nesterov = use_nesterov
        self.gradient_scale = gradient_scale
        self.fixed = {
            "use_nesterov": use_nesterov, "use_locking": use_locking, "gradient_scale": gradient_scale,
        }  # fmt: skip

    def construct(self, variable: Any, accumulation: Any, learning_rate: Any, gradient: Any, momentum: Any) -> Any:
        settings = (bool(self.use_nesterov), float(self.gradient_scale))
        values = apply(MOMENTUM, (variable, accumulation, learning_rate, gradient, momentum), settings)
        return self._write((variable, accumulation), values)[0]


class Adam(_Update):
    """One Adam step: ``Adam()(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient)``.

    Args:
        use_locking: accepted.
        use_nesterov: look ahead by one step.

    Example:
        >>> p, m, v = Tensor([1.0]), Tensor([0.0]), Tensor([0.0])
        >>> print(Adam()(p, m, v, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, Tensor([2.0]))[1])
        [1.]
    """

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None:
        self.use_nesterov = use_nesterov
        self.fixed = {"use_locking": use_locking, "use_nesterov": use_nesterov}

    def construct(
        self,
        var: Any,
        m: Any,
        v: Any,
        beta1_power: Any,
        beta2_power: Any,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        gradient: Any,
    ) -> Any:
        operands = (var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient)
        return self._write((var, m, v), apply(ADAM, operands, (bool(self.use_nesterov),)))


class AdamWeightDecay(_Update):
    """One Adam step with decoupled decay: ``AdamWeightDecay()(var, m, v, lr, beta1, beta2, epsilon, decay, gradient)``.

    Args:
        use_locking: accepted.

    Example:
        >>> p, m, v = Tensor([1.0]), Tensor([0.0]), Tensor([0.0])
        >>> print(AdamWeightDecay()(p, m, v, 0.0, 0.5, 0.5, 0.0, 0.0, Tensor([2.0]))[1])
        [1.]
    """

    def __init__(self, use_locking: bool = False) -> None:
        self.fixed = {"use_locking": use_locking}

    def construct(
        self, var: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, gradient: Any
    ) -> Any:
        operands = (var, m, v, lr, beta1, beta2, epsilon, decay, gradient)
        return self._write((var, m, v), apply(ADAM_WEIGHT_DECAY, operands))


class SGDOperator(_Update):
    """One step of gradient descent: ``SGD()(parameters, gradient, learning_rate, accum, momentum, stat)``.

    Args:
        dampening: share of the gradient that the velocity leaves out.
        weight_decay: share of the parameter added to the gradient.
        nesterov: look ahead by one step.

    Example:
        >>> p, v, stat = Tensor([1.0]), Tensor([0.0]), Tensor([1.0])
        >>> print(SGDOperator()(p, Tensor([1.0]), 0.5, v, 0.9, stat))
        [0.5]
    """

    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None:
        self.fixed = {"dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov}

    def construct(
        self, parameters: Any, gradient: Any, learning_rate: Any, accum: Any, momentum: Any, stat: Any
    ) -> Any:
        settings = (float(self.fixed["dampening"]), float(self.fixed["weight_decay"]), bool(self.fixed["nesterov"]))
        values = apply(SGD, (parameters, gradient, learning_rate, accum, momentum, stat), settings)
        self._write((parameters, accum, stat), values)
        return parameters


class ApplyGradientDescent(_Update):
    """One plain step: ``ApplyGradientDescent()(var, alpha, delta)`` subtracts ``alpha * delta``.

    Example:
        >>> print(ApplyGradientDescent()(Tensor([1.0]), 0.5, Tensor([1.0])))
        [0.5]
    """

    def __init__(self) -> None:
        self.fixed = {}

    def construct(self, var: Any, alpha: Any, delta: Any) -> Any:
        return self._write((var,), (apply(DESCENT, (var, alpha, delta)),))[0]


class ApplyAdagrad(_Update):
    """One Adagrad step: ``ApplyAdagrad()(var, accum, lr, gradient)``.

    Args:
        update_slots: whether the sum of squares grows.

    Example:
        >>> print(ApplyAdagrad()(Tensor([1.0]), Tensor([0.0]), 0.5, Tensor([2.0]))[0])
        [0.5]
    """

    def __init__(self, update_slots: bool = True) -> None:
        self.update_slots = update_slots
        self.fixed = {"update_slots": update_slots}

    def construct(self, var: Any, accum: Any, lr: Any, grad: Any) -> Any:
        return self._write((var, accum), apply(ADAGRAD, (var, accum, lr, grad), (bool(self.update_slots),)))


class ApplyRMSProp(_Update):
    """One RMSProp step: ``ApplyRMSProp()(var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon)``.

    Args:
        use_locking: accepted.

    Example:
        >>> p, ms, mom = Tensor([1.0]), Tensor([0.0]), Tensor([0.0])
        >>> print(ApplyRMSProp()(p, ms, mom, 0.5, Tensor([1.0]), 0.0, 0.0, 0.0))
        [0.5]
    """

    def __init__(self, use_locking: bool = False) -> None:
        self.fixed = {"use_locking": use_locking}

    def construct(
        self,
        var: Any,
        mean_square: Any,
        moment: Any,
        learning_rate: Any,
        grad: Any,
        decay: Any,
        momentum: Any,
        epsilon: Any,
    ) -> Any:
        operands = (var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon)
        return self._write((var, mean_square, moment), apply(RMSPROP, operands))[0]


OPERATOR_CLASSES.update(
    {
        "Adam": Adam,
        "AdamWeightDecay": AdamWeightDecay,
        "ApplyAdagrad": ApplyAdagrad,
        "ApplyGradientDescent": ApplyGradientDescent,
        "ApplyMomentum": ApplyMomentum,
        "ApplyRMSProp": ApplyRMSProp,
        "SGD": SGDOperator,
    }
)
__all__: list[str] = []
