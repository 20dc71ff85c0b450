"""Operator classes of further optimizers: one step each, for dense gradients and for gradients of some rows."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp

from weft.core import op
from weft.ops import optimizer
from weft.ops.optimizer import adam, updating

_WHY: Final = "a step of an optimizer is no path for gradients"


def _proximal(p: Any, lr: Any, l1: Any, l2: Any) -> Any:
    """The nearest point that small and sparse parameters pull to."""
    return jnp.sign(p) / (1 + lr * l2) * jnp.maximum(jnp.abs(p) - lr * l1, 0)


# -- the steps: operands in the order of the call, new values in the order in which they are written ------------------


def _adagrad_da(p: Any, total: Any, squares: Any, g: Any, lr: Any, l1: Any, l2: Any, global_step: Any) -> Any:
    global_step = jnp.asarray(global_step).astype(p.dtype)
    total, squares = total + g, squares + jnp.square(g)
    shrunk = jnp.sign(total) * jnp.maximum(jnp.abs(total) - l1 * global_step, 0)
    pulled = jnp.where(l1 > 0, shrunk, total)
    return -lr * pulled / (l2 * global_step * lr + jnp.sqrt(squares)), total, squares


def _adagrad_v2(p: Any, accum: Any, lr: Any, g: Any, *, epsilon: float, update_slots: bool) -> Any:
    if update_slots:
        accum = accum + jnp.square(g)
    return p - lr * g / (jnp.sqrt(accum) + epsilon), accum


def _amsgrad(*operands: Any, beta1: float, beta2: float, epsilon: float) -> Any:
    *given, g = operands
    return optimizer.amsgrad_step(*given, beta1, beta2, epsilon, g)


def _add_sign(p: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, g: Any) -> Any:
    m = m * beta + g * (1 - beta)
    return p - lr * (alpha + sign_decay * jnp.sign(g) * jnp.sign(m)) * g, m


def _power_sign(p: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, g: Any) -> Any:
    m = m * beta + g * (1 - beta)
    return p - lr * jnp.exp(logbase * sign_decay * jnp.sign(g) * jnp.sign(m)) * g, m


def _centered_rmsprop(p: Any, mg: Any, ms: Any, moment: Any, g: Any, lr: Any, *numbers: Any) -> Any:
    return optimizer.centered_rmsprop_step(p, mg, ms, moment, lr, g, *numbers)


def _keras_momentum(p: Any, accum: Any, lr: Any, g: Any, momentum: Any, *, use_nesterov: bool) -> Any:
    accum = accum * momentum - g * lr
    return p + (accum * momentum - g * lr if use_nesterov else accum), accum


def _proximal_adagrad(p: Any, accum: Any, lr: Any, l1: Any, l2: Any, g: Any) -> Any:
    accum = accum + jnp.square(g)
    rate = lr / jnp.sqrt(accum)
    return _proximal(p - rate * g, rate, l1, l2), accum


def _proximal_descent(p: Any, alpha: Any, l1: Any, l2: Any, g: Any) -> Any:
    return (_proximal(p - alpha * g, alpha, l1, l2),)


def _scaled_momentum(decay: Any, scale: Any, p: Any, v: Any, lr: Any, g: Any, momentum: Any) -> Any:
    return optimizer.momentum_step(p, v, lr, (g + decay * p) * scale, momentum)


def _adam_change(m: Any, v: Any, *numbers: Any, use_nesterov: bool) -> Any:
    change, m, v = adam(jnp.zeros_like(m), m, v, *numbers, use_nesterov=use_nesterov)
    return m, v, change


def _adagrad_rows(p: Any, accum: Any, g: Any, *, lr: float, update_slots: bool) -> Any:
    return optimizer.adagrad_step(p, accum, lr, g, update_slots=update_slots)


def _adagrad_v2_rows(p: Any, accum: Any, g: Any, *, lr: float, epsilon: float, update_slots: bool) -> Any:
    if update_slots:
        accum = accum + jnp.square(g)
    return p - lr * g / jnp.sqrt(accum + epsilon), accum


def _adadelta_rows(p: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, g: Any, *, epsilon: float) -> Any:
    return optimizer.adadelta_step(p, accum, accum_update, lr, rho, epsilon, g)


def _shrinking_ftrl(
    p: Any, accum: Any, linear: Any, g: Any, *, lr: float, l1: float, l2: float, l2_shrinkage: float, lr_power: float
) -> Any:
    return optimizer.ftrl_step(p, accum, linear + 2 * l2_shrinkage * p, g, lr, l1, l2, lr_power)


# -- the classes: name, operands, step, sentence, what else `updating` is told -----------------------------------------

_NUMBERS: Final = "beta1_power beta2_power lr beta1 beta2 epsilon grad"
_NESTEROV: Final = {"init": "use_locking=False, use_nesterov=False"}
_FTRL: Final = {"init": "lr, l1, l2, lr_power, use_locking=False"}
_ROWS: Final[tuple[tuple[Any, ...], ...]] = (
    ("AdamNoUpdateParam", f"*m *v {_NUMBERS}", _adam_change,
     "The change that one Adam step would make, after which the moments are those of the step",
     {"gives": "rest", **_NESTEROV}),
    ("ApplyAdaMax", "*var *m *v beta1_power lr beta1 beta2 epsilon grad", optimizer.adamax_step,
     "One step of Adam by the infinity norm", {"init": ""}),
    ("ApplyAdadelta", "*var *accum *accum_update lr rho epsilon grad", optimizer.adadelta_step, "One Adadelta step",
     {"init": ""}),
    ("ApplyAdagradDA", "*var *gradient_accumulator *gradient_squared_accumulator grad lr l1 l2 global_step",
     _adagrad_da, "One Adagrad step by dual averages", {"gives": "first"}),
    ("ApplyAdagradV2", "*var *accum lr grad", _adagrad_v2, "One Adagrad step that adds a small number to the divisor",
     {"init": "epsilon, update_slots=True"}),
    ("ApplyAdamWithAmsgrad", "*var *m *v *vhat beta1_power beta2_power lr grad", _amsgrad,
     "One step of Adam that divides by the largest second moment so far",
     {"init": "beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False"}),
    ("ApplyAdamWithAmsgradV2", f"*var *m *v *vhat {_NUMBERS}", optimizer.amsgrad_step,
     "One step of Adam that divides by the largest second moment so far", {}),
    ("ApplyAddSign", "*var *m lr alpha sign_decay beta grad", _add_sign,
     "One step that is longer where gradient and moment agree in sign", {"init": ""}),
    ("ApplyCenteredRMSProp", "*var *mean_gradient *mean_square *moment grad lr decay momentum epsilon",
     _centered_rmsprop, "One RMSProp step by the variance", {"gives": "first"}),
    ("ApplyFtrl", "*var *accum *linear grad lr l1 l2 lr_power", optimizer.ftrl_step, "One FTRL step",
     {"gives": "first"}),
    ("ApplyKerasMomentum", "*var *accum lr grad momentum", _keras_momentum, "One momentum step as Keras defines it",
     _NESTEROV),
    ("ApplyPowerSign", "*var *m lr logbase sign_decay beta grad", _power_sign,
     "One step that is scaled by a power, up where gradient and moment agree in sign and down elsewhere", {"init": ""}),
    ("ApplyProximalAdagrad", "*var *accum lr l1 l2 grad", _proximal_adagrad, "One Adagrad step with a proximal pull",
     {}),
    ("ApplyProximalGradientDescent", "*var alpha l1 l2 grad", _proximal_descent,
     "One step of gradient descent with a proximal pull", {"init": ""}),
    ("FusedCastAdamWeightDecay", "*var *m *v lr beta1 beta2 epsilon decay grad", optimizer.adam_weight_decay_step,
     "One Adam step with decoupled decay, by a gradient of another precision", {}),
    ("FusedWeightScaleApplyMomentum", "weight_decay loss_scale *var *accumulation lr grad momentum", _scaled_momentum,
     "One momentum step by a gradient that is decayed and scaled", {"init": "", "gives": "first"}),
    ("FusedSparseAdam", f"*var *m *v {_NUMBERS} indices", adam, "One Adam step by a gradient of some rows",
     {"everywhere": True, **_NESTEROV}),
    ("FusedSparseLazyAdam", f"*var *m *v {_NUMBERS} indices", adam, "One Adam step of the rows that have a gradient",
     _NESTEROV),
    ("FusedSparseFtrl", "*var *accum *linear grad indices", optimizer.ftrl_step, "One FTRL step of some rows", _FTRL),
    ("SparseApplyFtrl", "*var *accum *linear grad indices", optimizer.ftrl_step, "One FTRL step of some rows", _FTRL),
    ("SparseApplyFtrlV2", "*var *accum *linear grad indices", _shrinking_ftrl,
     "One FTRL step of some rows that shrinks them",
     {"init": "lr, l1, l2, l2_shrinkage, lr_power, use_locking=False"}),
    ("FusedSparseProximalAdagrad", "*var *accum lr l1 l2 grad indices", _proximal_adagrad,
     "One Adagrad step of some rows with a proximal pull", {}),
    ("SparseApplyProximalAdagrad", "*var *accum lr l1 l2 grad indices", _proximal_adagrad,
     "One Adagrad step of some rows with a proximal pull", {}),
    ("SparseApplyAdadelta", "*var *accum *accum_update lr rho grad indices", _adadelta_rows,
     "One Adadelta step of some rows", {"init": "epsilon, use_locking=False"}),
    ("SparseApplyAdagrad", "*var *accum grad indices", _adagrad_rows, "One Adagrad step of some rows",
     {"init": "lr, update_slots=True, use_locking=False"}),
    ("SparseApplyAdagradV2", "*var *accum grad indices", _adagrad_v2_rows,
     "One Adagrad step of some rows that adds a small number to the divisor",
     {"init": "lr, epsilon, use_locking=False, update_slots=True"}),
    ("SparseApplyRMSProp", "*var *ms *mom lr grad indices", optimizer.rmsprop_step, "One RMSProp step of some rows",
     {"init": "rho, momentum, epsilon, use_locking=False"}),
)  # fmt: skip
for *_row, _more in _ROWS:
    updating(*_row, **_more, no_gradient=_WHY)


@op(
    "LARSScaled", classes="LARSUpdate", init="epsilon=1e-05, hyperpara=0.001, use_clip=False", promotes=True,
    no_gradient=_WHY,
)  # fmt: skip
def _lars_update(
    weight: Any, gradient: Any, norm_weight: Any, norm_gradient: Any, weight_decay: Any, learning_rate: Any, *,
    epsilon: float, hyperpara: float, use_clip: bool,
) -> Any:  # fmt: skip
    """A gradient scaled by the ratio of the norms of a weight and its gradient.

    Args:
        epsilon: a small number in the divisor.
        hyperpara: the trust in the ratio.
        use_clip: whether the ratio is at most the learning rate, of which it is then the share.
    """
    norm, gradient_norm = jnp.sqrt(norm_weight), jnp.sqrt(norm_gradient)
    trust = hyperpara * norm / (gradient_norm + weight_decay * norm + epsilon)
    if use_clip:
        trust = jnp.clip(trust / learning_rate, None, 1)
    return (gradient + weight_decay * weight) * trust
