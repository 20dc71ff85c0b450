"""Operator classes of further optimizers: one step each, for dense gradients and for gradients of some rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from weft.core import Primitive, Tensor, apply, as_operator, operator_class, present
from weft.core.describing import completed, indent_of
from weft.ops import optimizer

_WHY: Final = "a step of an optimizer is no path for gradients"
_MEANINGS: Final = {
    name: f"{indent_of(2)}{name}: {meaning}."
    for name, meaning in {
        "use_locking": "accepted",
        "use_nesterov": "whether to look ahead by one step",
        "update_slots": "whether the sums of squares grow",
        "epsilon": "a small number in the divisor",
        "beta1": "decay of the first moment",
        "beta2": "decay of the second moment",
        "lr": "the learning rate",
        "l1": "weight of the sum of magnitudes",
        "l2": "weight of the sum of squares",
        "l2_shrinkage": "weight of the sum of squares in the gradient",
        "lr_power": "power of the sums of squares that divides",
        "rho": "decay of the mean squares",
        "momentum": "share of the former step",
    }.items()
}


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


def _amsgrad(
    p: Any, m: Any, v: Any, largest: Any, power1: Any, power2: Any, lr: Any, g: Any, *, beta1: float, beta2: float,
    epsilon: float,
) -> Any:  # fmt: skip
    return optimizer.amsgrad_step(p, m, v, largest, power1, power2, lr, beta1, beta2, epsilon, g)


def _add_sign(p: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, g: Any) -> Any:
    m = m * beta + g * (1 - beta)
    return p - lr * (alpha + sign_decay * jnp.sign(g) * jnp.sign(m)) * g, m


def _power_sign(p: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, g: Any) -> Any:
    m = m * beta + g * (1 - beta)
    return p - lr * jnp.exp(logbase * sign_decay * jnp.sign(g) * jnp.sign(m)) * g, m


def _ftrl(p: Any, accum: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, lr_power: Any) -> Any:
    return optimizer.ftrl_step(p, accum, linear, g, lr, l1=l1, l2=l2, lr_power=lr_power)


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


def _adam(*operands: Any, use_nesterov: bool) -> Any:
    return optimizer.adam_step(*operands, nesterov=use_nesterov)


def _adam_change(
    m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, g: Any, *,
    use_nesterov: bool,
) -> Any:  # fmt: skip
    operands = (jnp.zeros_like(m), m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, g)
    change, m, v = optimizer.adam_step(*operands, nesterov=use_nesterov)
    return m, v, change


def _lars(
    p: Any, g: Any, squares: Any, gradient_squares: Any, weight_decay: Any, lr: Any, *, epsilon: float,
    hyperpara: float, use_clip: bool,
) -> Any:  # fmt: skip
    norm, gradient_norm = jnp.sqrt(squares), jnp.sqrt(gradient_squares)
    trust = hyperpara * norm / (gradient_norm + weight_decay * norm + epsilon)
    if use_clip:
        trust = jnp.clip(trust / lr, None, 1)
    return (g + weight_decay * p) * trust


def _adagrad_rows(p: Any, accum: Any, g: Any, *, lr: float, update_slots: bool) -> Any:
    return optimizer.adagrad_step(p, accum, lr, g, update_slots=update_slots)


def _adagrad_v2_rows(p: Any, accum: Any, g: Any, *, lr: float, epsilon: float, update_slots: bool) -> Any:
    if update_slots:
        accum = accum + jnp.square(g)
    return p - lr * g / jnp.sqrt(accum + epsilon), accum


def _adadelta_rows(p: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, g: Any, *, epsilon: float) -> Any:
    return optimizer.adadelta_step(p, accum, accum_update, lr, rho, epsilon, g)


def _ftrl_rows(p: Any, accum: Any, linear: Any, g: Any, *, lr: float, l1: float, l2: float, lr_power: float) -> Any:
    return optimizer.ftrl_step(p, accum, linear, g, lr, l1=l1, l2=l2, lr_power=lr_power)


def _shrinking_ftrl_rows(
    p: Any, accum: Any, linear: Any, g: Any, *, lr: float, l1: float, l2: float, l2_shrinkage: float, lr_power: float
) -> Any:
    shrunk = g + 2 * l2_shrinkage * p
    scale, former = jnp.power(accum + jnp.square(g), -lr_power), jnp.power(accum, -lr_power)
    linear = linear + shrunk - (scale - former) / lr * p
    found = (jnp.sign(linear) * l1 - linear) / (scale / lr + 2 * l2)
    return jnp.where(jnp.abs(linear) > l1, found, jnp.zeros_like(p)), accum + jnp.square(g), linear


def _rmsprop_rows(p: Any, ms: Any, moment: Any, lr: Any, g: Any, *, rho: float, momentum: float, epsilon: float) -> Any:
    return optimizer.rmsprop_step(p, ms, moment, lr, g, rho, momentum, epsilon)


# -- what makes operator classes of them -------------------------------------------------------------------------------


def _settled(step: Callable[..., Any], written: tuple[int, ...]) -> Callable[..., Any]:
    """A step whose results keep the types of what they are written to."""

    def settled(*operands: Any, **settings: Any) -> Any:
        found = step(*operands, **settings)
        kept = tuple(new.astype(operands[at].dtype) for new, at in zip(found, written, strict=False))
        return (*kept, *found[len(kept) :])

    return settled


def _on_rows(step: Callable[..., Any], count: int, gradient: int, everywhere: bool) -> Callable[..., Any]:
    """A step for a gradient of some rows, whose last operand are their positions.

    Gradients of one row are summed. Other rows stay as they are, unless the step is one of all rows, where theirs is 0.
    """

    def on_rows(*operands: Any, **settings: Any) -> Any:
        *given, indices = operands
        target, rows = given[0], given[gradient]
        if rows.shape != (*indices.shape, *target.shape[1:]):
            raise ValueError(
                f"a gradient of {indices.shape} rows of a parameter of shape {target.shape} has not shape {rows.shape}"
            )
        given[gradient] = jnp.zeros_like(target).at[indices].add(rows.astype(target.dtype))
        found = step(*given, **settings)
        if everywhere:
            return found
        touched = jnp.zeros(target.shape[:1], bool).at[indices].set(True).reshape(-1, *[1] * (target.ndim - 1))
        return tuple(jnp.where(touched, new, old) for new, old in zip(found, given[:count], strict=True))

    return on_rows


def _updating(
    name: str,
    operands: str,
    step: Callable[..., Any],
    what: str,
    *,
    init: str = "use_locking=False",
    settings: str = "",
    written: int = 0,
    first: int = 0,
    gives: str = "all",
    everywhere: bool = False,
) -> Any:
    """The operator class of a step.

    Args:
        name: of the class.
        operands: names of what it is called with; ``grad`` is the gradient, ``indices`` are the rows that it is for.
        step: the arithmetic.
        what: the first sentence of the docstring.
        init: parameters of the constructor.
        settings: those of them that the step takes.
        written: how many operands get new values.
        first: the position of the first of them.
        gives: ``"all"`` that is written, ``"first"``, or the ``"rest"`` of what the step gives.
        everywhere: whether a step for some rows is one of all rows.
    """
    names, fixed = operands.split(), tuple(settings.split())
    sparse = names[-1] == "indices"
    targets = tuple(range(first, first + written))
    if sparse:
        step = _on_rows(step, written, names.index("grad"), everywhere)
    primitive = Primitive(
        f"{name}Step", _settled(step, targets), attr_names=fixed, multiple=True, promotes=True, no_gradient=_WHY
    )

    def update(*given: Any, **options: Any) -> Any:
        if len(given) != len(names):
            raise TypeError(f"{name} takes {len(names)} operands ({', '.join(names)}), not {len(given)}")
        for at in targets:
            if not isinstance(given[at], Tensor):
                raise TypeError(f"{name} writes into Parameters: {names[at]} is no {type(given[at]).__name__}")
        values = apply(primitive, given, tuple([options[setting] for setting in fixed]))
        for at, value in zip(targets, values, strict=False):
            if given[at].shape != value.shape:
                raise ValueError(f"{name}: a gradient does not fit {names[at]} of shape {given[at].shape}")
        for at, value in zip(targets, values, strict=False):
            given[at].rebind(value)
        if gives == "rest":
            return values[written]
        held = tuple(present(given[at]) for at in targets)
        return held[0] if gives == "first" or written == 1 else held

    own = [each.partition("=")[0] for each in init.split(", ") if each]
    said = completed(f"{what}: ``{name}(...)({', '.join(names)})``.", own, _MEANINGS, {}, indent_of(1))
    update.__doc__ = said
    return operator_class(name, update, init)


_MOMENTS: Final = "beta1_power beta2_power lr beta1 beta2 epsilon grad"
_ADAM_INIT: Final = "use_locking=False, use_nesterov=False"

AdamNoUpdateParam = _updating(
    "AdamNoUpdateParam", f"m v {_MOMENTS}", _adam_change, "The change that one Adam step would make, after which the "
    "moments are those of the step", init=_ADAM_INIT, settings="use_nesterov", written=2, gives="rest",
)  # fmt: skip
ApplyAdaMax = _updating(
    "ApplyAdaMax", "var m v beta1_power lr beta1 beta2 epsilon grad", optimizer.adamax_step,
    "One step of Adam by the infinity norm", init="", written=3,
)  # fmt: skip
ApplyAdadelta = _updating(
    "ApplyAdadelta", "var accum accum_update lr rho epsilon grad", optimizer.adadelta_step, "One Adadelta step",
    init="", written=3,
)  # fmt: skip
ApplyAdagradDA = _updating(
    "ApplyAdagradDA", "var gradient_accumulator gradient_squared_accumulator grad lr l1 l2 global_step", _adagrad_da,
    "One Adagrad step by dual averages", written=3, gives="first",
)  # fmt: skip
ApplyAdagradV2 = _updating(
    "ApplyAdagradV2", "var accum lr grad", _adagrad_v2, "One Adagrad step that adds a small number to the divisor",
    init="epsilon, update_slots=True", settings="epsilon update_slots", written=2,
)  # fmt: skip
ApplyAdamWithAmsgrad = _updating(
    "ApplyAdamWithAmsgrad", "var m v vhat beta1_power beta2_power lr grad", _amsgrad,
    "One step of Adam that divides by the largest second moment so far",
    init="beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False", settings="beta1 beta2 epsilon", written=4,
)  # fmt: skip
ApplyAdamWithAmsgradV2 = _updating(
    "ApplyAdamWithAmsgradV2", f"var m v vhat {_MOMENTS}", optimizer.amsgrad_step,
    "One step of Adam that divides by the largest second moment so far", written=4,
)  # fmt: skip
ApplyAddSign = _updating(
    "ApplyAddSign", "var m lr alpha sign_decay beta grad", _add_sign,
    "One step that is longer where gradient and moment agree in sign", init="", written=2,
)  # fmt: skip
ApplyCenteredRMSProp = _updating(
    "ApplyCenteredRMSProp", "var mean_gradient mean_square moment grad lr decay momentum epsilon",
    lambda p, mg, ms, moment, g, lr, *numbers: optimizer.centered_rmsprop_step(p, mg, ms, moment, lr, g, *numbers),
    "One RMSProp step by the variance", written=4, gives="first",
)  # fmt: skip
ApplyFtrl = _updating(
    "ApplyFtrl", "var accum linear grad lr l1 l2 lr_power", _ftrl, "One FTRL step", written=3, gives="first"
)
ApplyKerasMomentum = _updating(
    "ApplyKerasMomentum", "var accum lr grad momentum", _keras_momentum, "One momentum step as Keras defines it",
    init=_ADAM_INIT, settings="use_nesterov", written=2,
)  # fmt: skip
ApplyPowerSign = _updating(
    "ApplyPowerSign", "var m lr logbase sign_decay beta grad", _power_sign,
    "One step that is scaled by a power, up where gradient and moment agree in sign and down elsewhere", init="",
    written=2,
)  # fmt: skip
ApplyProximalAdagrad = _updating(
    "ApplyProximalAdagrad", "var accum lr l1 l2 grad", _proximal_adagrad, "One Adagrad step with a proximal pull",
    written=2,
)  # fmt: skip
ApplyProximalGradientDescent = _updating(
    "ApplyProximalGradientDescent", "var alpha l1 l2 grad", _proximal_descent,
    "One step of gradient descent with a proximal pull", init="", written=1,
)  # fmt: skip
FusedCastAdamWeightDecay = _updating(
    "FusedCastAdamWeightDecay", "var m v lr beta1 beta2 epsilon decay grad", optimizer.adam_weight_decay_step,
    "One Adam step with decoupled decay, by a gradient of another precision", written=3,
)  # fmt: skip
FusedWeightScaleApplyMomentum = _updating(
    "FusedWeightScaleApplyMomentum", "weight_decay loss_scale var accumulation lr grad momentum", _scaled_momentum,
    "One momentum step by a gradient that is decayed and scaled", init="", written=2, first=2, gives="first",
)  # fmt: skip
FusedSparseAdam = _updating(
    "FusedSparseAdam", f"var m v {_MOMENTS} indices", _adam, "One Adam step by a gradient of some rows",
    init=_ADAM_INIT, settings="use_nesterov", written=3, everywhere=True,
)  # fmt: skip
FusedSparseLazyAdam = _updating(
    "FusedSparseLazyAdam", f"var m v {_MOMENTS} indices", _adam, "One Adam step of the rows that have a gradient",
    init=_ADAM_INIT, settings="use_nesterov", written=3,
)  # fmt: skip
_FTRL_ROWS: Final[dict[str, Any]] = {
    "init": "lr, l1, l2, lr_power, use_locking=False", "settings": "lr l1 l2 lr_power", "written": 3,
}  # fmt: skip
FusedSparseFtrl = _updating(
    "FusedSparseFtrl", "var accum linear grad indices", _ftrl_rows, "One FTRL step of some rows", **_FTRL_ROWS
)
SparseApplyFtrl = _updating(
    "SparseApplyFtrl", "var accum linear grad indices", _ftrl_rows, "One FTRL step of some rows", **_FTRL_ROWS
)
SparseApplyFtrlV2 = _updating(
    "SparseApplyFtrlV2", "var accum linear grad indices", _shrinking_ftrl_rows,
    "One FTRL step of some rows that shrinks them", init="lr, l1, l2, l2_shrinkage, lr_power, use_locking=False",
    settings="lr l1 l2 l2_shrinkage lr_power", written=3,
)  # fmt: skip
FusedSparseProximalAdagrad = _updating(
    "FusedSparseProximalAdagrad", "var accum lr l1 l2 grad indices", _proximal_adagrad,
    "One Adagrad step of some rows with a proximal pull", written=2,
)  # fmt: skip
SparseApplyProximalAdagrad = _updating(
    "SparseApplyProximalAdagrad", "var accum lr l1 l2 grad indices", _proximal_adagrad,
    "One Adagrad step of some rows with a proximal pull", written=2,
)  # fmt: skip
SparseApplyAdadelta = _updating(
    "SparseApplyAdadelta", "var accum accum_update lr rho grad indices", _adadelta_rows,
    "One Adadelta step of some rows", init="epsilon, use_locking=False", settings="epsilon", written=3,
)  # fmt: skip
SparseApplyAdagrad = _updating(
    "SparseApplyAdagrad", "var accum grad indices", _adagrad_rows, "One Adagrad step of some rows",
    init="lr, update_slots=True, use_locking=False", settings="lr update_slots", written=2,
)  # fmt: skip
SparseApplyAdagradV2 = _updating(
    "SparseApplyAdagradV2", "var accum grad indices", _adagrad_v2_rows,
    "One Adagrad step of some rows that adds a small number to the divisor",
    init="lr, epsilon, use_locking=False, update_slots=True", settings="lr epsilon update_slots", written=2,
)  # fmt: skip
SparseApplyRMSProp = _updating(
    "SparseApplyRMSProp", "var ms mom lr grad indices", _rmsprop_rows, "One RMSProp step of some rows",
    init="rho, momentum, epsilon, use_locking=False", settings="rho momentum epsilon", written=3,
)  # fmt: skip


_LARS: Final = Primitive(
    "LARSScaled", _lars, attr_names=("epsilon", "hyperpara", "use_clip"), promotes=True, no_gradient=_WHY
)


@as_operator
def LARSUpdate(
    weight: Any, gradient: Any, norm_weight: Any, norm_gradient: Any, weight_decay: Any, learning_rate: Any, *,
    epsilon: float = 1e-05, hyperpara: float = 0.001, use_clip: bool = False,
) -> Any:  # fmt: skip
    """A gradient scaled by the ratio of the norms of a weight and its gradient.

    Args:
        epsilon: a small number in the divisor.
        hyperpara: the trust in the ratio.
        use_clip: whether the ratio is at most the learning rate, of which it is then the share.
    """
    operands = (weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate)
    return apply(_LARS, operands, (float(epsilon), float(hyperpara), bool(use_clip)))
