"""Optimizer updates: the arithmetic of one parameter's step, and the operator classes that write it into Parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from weft.core import Primitive, Tensor, apply, operator_class, present, shows, told
from weft.core.declare import freeze
from weft.core.describing import completed

__all__: list[str] = []

#: new values of what a step is for: a parameter, and what its optimizer keeps of it
Updated = tuple[Any, ...]

# -- the arithmetic, on arrays ---------------------------------------------------------------------------------------


def momentum_step(p: Any, v: Any, lr: Any, g: Any, momentum: Any, *, nesterov: bool = False) -> Updated:
    """Momentum: new parameter and velocity."""
    v = v * momentum + g
    return p - lr * (g + v * momentum if nesterov else v), v


def adam_step(p: Any, m: Any, v: Any, *numbers: Any, nesterov: bool = False) -> Updated:
    """Adam: new parameter, first and second moment; the other operands are those of `amsgrad_step`."""
    return amsgrad_step(p, m, v, None, *numbers, nesterov=nesterov)[:3]


def amsgrad_step(p: Any, m: Any, v: Any, largest: Any, *numbers: Any, nesterov: bool = False) -> Updated:
    """Adam that divides by the largest second moment so far: new parameter, moments and largest moment.

    Args:
        p: the parameter.
        m: its first moment.
        v: its second moment.
        largest: the largest second moment; None for that of this step.
        numbers: the powers of the decays for this step, the learning rate, the decays, what is added to the divisor;
            and the gradient.
        nesterov: whether to look ahead by one step.
    """
    beta1_power, beta2_power, lr, beta1, beta2, epsilon, g = numbers
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + jnp.square(g) * (1 - beta2)
    largest = v if largest is None else jnp.maximum(largest, v)
    rate = lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)
    ahead = m * beta1 + g * (1 - beta1) if nesterov else m
    return p - rate * ahead / (jnp.sqrt(largest) + epsilon), m, v, largest


def adam_weight_decay_step(
    p: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, g: Any
) -> Updated:
    """Adam without bias correction, with the decay apart from the moments: new parameter and moments."""
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + jnp.square(g) * (1 - beta2)
    return p - lr * (m / (jnp.sqrt(v) + epsilon) + decay * p), m, v


def sgd_step(
    p: Any, g: Any, lr: Any, v: Any, momentum: Any, first: Any, *, dampening: float, nesterov: bool
) -> Updated:
    """Stochastic gradient descent: new parameter and velocity; the first velocity is the gradient."""
    v = jnp.where(first, g, v * momentum + g * (1 - dampening))
    return p - lr * (g + v * momentum if nesterov else v), v


def adagrad_step(p: Any, accum: Any, lr: Any, g: Any, *, update_slots: bool = True) -> Updated:
    """Adagrad: new parameter and sum of squares."""
    if update_slots:
        accum = accum + jnp.square(g)
    return p - lr * g / jnp.sqrt(accum), accum


def ftrl_step(p: Any, accum: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, lr_power: Any) -> Updated:
    """FTRL: new parameter, sum of squares and linear term."""
    total = accum + jnp.square(g)
    scale = jnp.power(total, -lr_power)
    linear = linear + g - (scale - jnp.power(accum, -lr_power)) / lr * p
    found = (jnp.sign(linear) * l1 - linear) / (scale / lr + 2 * l2)
    return jnp.where(jnp.abs(linear) > l1, found, jnp.zeros_like(p)), total, linear


def rmsprop_step(p: Any, ms: Any, moment: Any, lr: Any, g: Any, rho: Any, momentum: Any, epsilon: Any) -> Updated:
    """RMSProp: new parameter, mean square and moment."""
    ms = ms * rho + jnp.square(g) * (1 - rho)
    moment = moment * momentum + lr * g / jnp.sqrt(ms + epsilon)
    return p - moment, ms, moment


def centered_rmsprop_step(
    p: Any, mg: Any, ms: Any, moment: Any, lr: Any, g: Any, decay: Any, momentum: Any, epsilon: Any
) -> Updated:
    """RMSProp by the variance: new parameter, mean gradient, mean square and moment."""
    mg = mg * decay + g * (1 - decay)
    ms = ms * decay + jnp.square(g) * (1 - decay)
    moment = moment * momentum + lr * g / jnp.sqrt(ms - jnp.square(mg) + epsilon)
    return p - moment, mg, ms, moment


def adadelta_step(p: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, g: Any) -> Updated:
    """Adadelta: new parameter, mean square of gradients and of updates."""
    accum = accum * rho + jnp.square(g) * (1 - rho)
    update = jnp.sqrt(accum_update + epsilon) / jnp.sqrt(accum + epsilon) * g
    return p - lr * update, accum, accum_update * rho + jnp.square(update) * (1 - rho)


def adamax_step(
    p: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, g: Any
) -> Updated:
    """Adam by the infinity norm: new parameter, moment and norm."""
    m = m * beta1 + g * (1 - beta1)
    v = jnp.maximum(v * beta2, jnp.abs(g))
    return p - lr / (1 - beta1_power) * m / (v + epsilon), m, v


# -- the operator classes --------------------------------------------------------------------------------------------


def updating(
    name: str,
    operands: str,
    step: Callable[..., Any],
    what: str,
    *,
    init: str = "use_locking=False",
    gives: str = "all",
    everywhere: bool = False,
    primitive: str = "",
    example: tuple[str, str] | None = None,
    no_gradient: str = "",
) -> type:
    """The operator class of a step, which writes what the step gives into its operands.

    Args:
        name: of the class.
        operands: names of what it is called with; those with a star get new values. ``grad`` is the gradient,
            ``indices`` are the rows that it is for.
        step: the arithmetic, with new values in the order in which they are written. Those parameters of the
            constructor that it has are given to it by name.
        what: the first sentence of the docstring.
        init: parameters of the constructor.
        gives: ``"all"`` that is written, ``"first"``, or the ``"rest"`` of what the step gives.
        everywhere: whether a step for some rows is one of all rows.
        primitive: name of the primitive, if other than that of the class with ``Step``.
        example: an expression, and what it prints.
        no_gradient: why there is no derivative.
    """
    names = operands.replace("*", "").split()
    targets = tuple([at for at, each in enumerate(operands.split()) if each[0] == "*"])
    given_to_class = [each.partition("=")[0] for each in init.split(", ") if each]
    code: Any = step.__code__
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    settings = tuple([each for each in given_to_class if each in taken])
    if names[-1] == "indices":
        step = _on_rows(step, len(targets), names.index("grad"), everywhere)
    computed = Primitive(
        primitive or f"{name}Step",
        _settled(step, targets),
        attr_names=settings,
        multiple=True,
        promotes=True,
        no_gradient=no_gradient,
    )

    def update(*given: Any, **options: Any) -> Any:
        if len(given) != len(names):
            raise TypeError(f"{name} takes {len(names)} operands ({', '.join(names)}), not {len(given)}")
        for at in targets:
            if not isinstance(given[at], Tensor):
                raise TypeError(f"{name} writes into Parameters: {names[at]} is no {type(given[at]).__name__}")
        values = apply(computed, given, tuple([freeze(options[setting]) for setting in settings]))
        for at, value in zip(targets, values, strict=False):
            if given[at].shape != value.shape:
                raise ValueError(f"{name}: a gradient does not fit {names[at]} of shape {given[at].shape}")
        for at, value in zip(targets, values, strict=False):
            given[at].rebind(value)
        if gives == "rest":
            return values[len(targets)]
        held = tuple(present(given[at]) for at in targets)
        return held[0] if gives == "first" or len(held) == 1 else held

    sentence = f"{what}: ``{name}(...)({', '.join(names)})``."
    told(update, name, completed(sentence, given_to_class, _MEANINGS, {}, ""))
    return operator_class(name, update if example is None else shows(*example)(update), init)


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


_MEANINGS: Final = {
    name: f"    {name}: {meaning}."
    for name, meaning in {
        "use_locking": "accepted",
        "use_nesterov": "whether to look ahead by one step",
        "nesterov": "whether to look ahead by one step",
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
        "gradient_scale": "factor of the gradient",
        "dampening": "share of the gradient that the velocity leaves out",
        "weight_decay": "share of the parameter added to the gradient",
    }.items()
}


def adam(*operands: Any, use_nesterov: bool) -> Any:
    """`adam_step` under the name that operator classes have for its setting."""
    return adam_step(*operands, nesterov=use_nesterov)


def _momentum(p: Any, v: Any, lr: Any, g: Any, momentum: Any, *, use_nesterov: bool, gradient_scale: float) -> Any:
    return momentum_step(p, v, lr, g * np.asarray(gradient_scale, g.dtype), momentum, nesterov=use_nesterov)


def _descent(
    p: Any, g: Any, lr: Any, v: Any, momentum: Any, stat: Any, *, dampening: float, weight_decay: float, nesterov: bool
) -> Any:
    decayed = g + p * np.asarray(weight_decay, p.dtype)
    step = sgd_step(p, decayed, lr, v, momentum, stat > 0, dampening=dampening, nesterov=nesterov)
    return (*step, jnp.zeros_like(stat))


updating(
    "ApplyMomentum", "*variable *accumulation learning_rate gradient momentum", _momentum, "One momentum step",
    init="use_nesterov=False, use_locking=False, gradient_scale=1.0", gives="first", primitive="MomentumStep",
    example=("ApplyMomentum()(Tensor([1.0]), Tensor([0.0]), 0.5, Tensor([1.0]), 0.9)", "[0.5]"),
)  # fmt: skip
updating(
    "Adam", "*var *m *v beta1_power beta2_power lr beta1 beta2 epsilon gradient", adam, "One Adam step",
    init="use_locking=False, use_nesterov=False", example=(
        "Adam()(Tensor([1.0]), Tensor([0.0]), Tensor([0.0]), 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, Tensor([2.0]))[1]", "[1.]",
    ),
)  # fmt: skip
updating(
    "AdamWeightDecay", "*var *m *v lr beta1 beta2 epsilon decay gradient", adam_weight_decay_step,
    "One Adam step with decoupled decay", example=(
        "AdamWeightDecay()(Tensor([1.0]), Tensor([0.0]), Tensor([0.0]), 0.0, 0.5, 0.5, 0.0, 0.0, Tensor([2.0]))[1]",
        "[1.]",
    ),
)  # fmt: skip
updating(
    "SGD", "*parameters gradient learning_rate *accum momentum *stat", _descent, "One step of gradient descent",
    init="dampening=0.0, weight_decay=0.0, nesterov=False", gives="first",
    example=("SGD()(Tensor([1.0]), Tensor([1.0]), 0.5, Tensor([0.0]), 0.9, Tensor([1.0]))", "[0.5]"),
)  # fmt: skip
updating(
    "ApplyGradientDescent", "*var alpha delta", lambda p, alpha, delta: (p - alpha * delta,),
    "One plain step, which subtracts ``alpha * delta``", init="", primitive="GradientDescentStep",
    example=("ApplyGradientDescent()(Tensor([1.0]), 0.5, Tensor([1.0]))", "[0.5]"),
)  # fmt: skip
updating(
    "ApplyAdagrad", "*var *accum lr grad", adagrad_step, "One Adagrad step", init="update_slots=True",
    primitive="AdagradStep", example=("ApplyAdagrad()(Tensor([1.0]), Tensor([0.0]), 0.5, Tensor([2.0]))[0]", "[0.5]"),
)  # fmt: skip
updating(
    "ApplyRMSProp", "*var *mean_square *moment learning_rate grad decay momentum epsilon", rmsprop_step,
    "One RMSProp step", gives="first", primitive="RMSPropStep", example=(
        "ApplyRMSProp()(Tensor([1.0]), Tensor([0.0]), Tensor([0.0]), 0.5, Tensor([1.0]), 0.0, 0.0, 0.0)", "[0.5]",
    ),
)  # fmt: skip
