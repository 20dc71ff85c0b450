"""The optimizers that keep their parameters in groups: the arithmetic of each."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import jax.numpy as jnp

from weft.nn.declared import Described, constructor, flag, like
from weft.nn.experimental.optimizer import Optimizer, Slots, rate_of
from weft.nn.optim.checks import DeclaredOptimizer, number
from weft.nn.optim.seldom import averaged_step, resilient_step
from weft.ops.optimizer import adadelta_step, adam_step, amsgrad_step, sgd_step


def _pair(name: str, option: str, value: Any) -> None:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"For '{name}', '{option}' must be a pair of numbers, not {value!r}.")


def _shares(name: str, option: str, value: Any) -> None:
    _pair(name, option, value)
    for place, each in enumerate(value):
        if not isinstance(each, (int, float)) or not 0 <= each < 1:
            raise ValueError(f"Invalid {option}[{place}] value: {each}")


#: how options are checked, by their name or by their annotation in the constructor
_CHECKS: Final = {"betas": _shares, "float": number, "bool": flag, "tuple[float, float]": _pair}


def _towards(g: Any, p: Any, options: dict[str, Any]) -> Any:
    """The gradient of what is made smaller, with the weight decay."""
    g = -g if options.get("maximize") else g
    return g + options["weight_decay"] * p if options["weight_decay"] else g


def _moments(g: Any, state: tuple[Any, ...], beta1: float, beta2: float) -> tuple[Any, Any]:
    return state[0] * beta1 + g * (1 - beta1), state[1] * beta2 + jnp.square(g) * (1 - beta2)


class _Rule(Described, Optimizer):
    """Base of the optimizers below: what they take besides `params` are options, of which each group may have its own.

    Args:
        params: Parameters, or groups: dicts of ``params`` and options.
        lr: learning rate.
        betas: shares of the first and second moment that stay.
        eps: added to the denominator.
        weight_decay: share of each parameter that is added to its gradient.
        amsgrad: divide by the largest second moment so far.
        momentum: share of the velocity that stays.
        maximize: step along the gradient instead of against it.

    Raises:
        TypeError: an option has the wrong type.
        ValueError: an option is out of range.
    """

    _example = DeclaredOptimizer._example
    #: options that are no arguments
    _fixed: ClassVar[dict[str, Any]] = {}
    #: the annotations of the constructor
    _declared: ClassVar[dict[str, str]] = {}

    def _check_options(self, group: dict[str, Any]) -> None:
        name = type(self).__name__
        for option, kind in self._declared.items():
            check = _CHECKS.get(option) or _CHECKS.get(kind)
            if check is not None:
                check(name, option, group[option])


def _build(self: _Rule, owner: type, given: dict[str, Any]) -> None:
    params, defaults = given.pop("params"), {**given, **self._fixed}
    self._check_options(defaults)
    rate_of(defaults["lr"], "lr")
    Optimizer.__init__(self, params, defaults)


#: makes the constructor of a signature
options = constructor(_build)


class Adadelta(_Rule, shows=("", "1.0", "round(p.value().item(), 4)", "0.9968")):
    """Steps as large as those before, by the sizes of the gradients before.

    Args:
        rho: share of the squares before that stays.
        eps: added under the roots.
    """

    slots: Slots = (("accum", 0.0), ("accum_update", 0.0))

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None: ...

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if group["rho"] > 1 or not group["eps"]:
            raise ValueError("For 'Adadelta', rho must be in [0, 1] and eps be positive.")

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        return adadelta_step(p, *state, lr, options["rho"], options["eps"], g)  # type: ignore[call-arg]


class Adagrad(_Rule, shows=(", 0.5", "2.0", "p.value()", "[0.5]")):
    """Steps by the root of the sum of the squares of all gradients.

    Args:
        lr_decay: the learning rate is divided by 1 + (steps before) * this.
        initial_accumulator_value: what the sums begin with.
    """

    slots: Slots = (("accum", lambda group: group["initial_accumulator_value"]),)
    counter = "step_t"

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        squares = state[0] + jnp.square(g)
        rate = lr / (1 + (step - 1) * options["lr_decay"])
        return p - rate * g / (jnp.sqrt(squares) + options["eps"]), squares


class Adam(_Rule, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """Adaptive moment estimation."""

    slots: Slots = (("exp_avg", 0.0), ("exp_avg_sq", 0.0), ("max_exp_avg_sq", 0.0))
    counter = "state_step"
    #: whether the decay is apart from the moments
    decoupled: ClassVar[bool] = False
    #: whether eps is added to the root before it is unbiased
    eps_in_biased: ClassVar[bool] = True
    of_class = ("decoupled", "eps_in_biased")

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        beta1, beta2 = options["betas"]
        if options["decoupled"]:
            g = -g if options["maximize"] else g
            p = p - lr * options["weight_decay"] * p
        else:
            g = _towards(g, p, options)
        powers = beta1**step, beta2**step
        eps = options["eps"] if options["eps_in_biased"] else options["eps"] * jnp.sqrt(1 - powers[1])
        kept = 3 if options["amsgrad"] else 2
        rule: Any = amsgrad_step if options["amsgrad"] else adam_step
        return *rule(p, *state[:kept], *powers, lr, beta1, beta2, eps, g), *state[kept:]


class AdamW(Adam, shows=(", 0.5, weight_decay=0.0", "1.0", "round(p.value().item(), 4)", "0.5")):
    """`Adam` whose weight decay is apart from the moments.

    Args:
        weight_decay: share of the parameter that each step removes, times the learning rate.
    """

    decoupled = True
    eps_in_biased = False

    __init__ = options(like(Adam.__init__, weight_decay=0.01))


class Adamax(_Rule, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """`Adam` with the largest gradient in place of the second moment.

    Args:
        betas: shares of the first moment and of the largest gradient that stay.
        eps: added to the size of the gradient.
    """

    slots: Slots = (("exp_avg", 0.0), ("exp_inf", 0.0))
    counter = "step_t"

    __init__ = options(like(Adam.__init__, without=("amsgrad",), lr=2e-3))

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        beta1, beta2 = options["betas"]
        first = state[0] * beta1 + g * (1 - beta1)
        largest = jnp.maximum(state[1] * beta2, jnp.abs(g) + options["eps"])
        return p - lr / (1 - beta1**step) * first / largest, first, largest


class ASGD(_Rule, shows=(", 0.5, lambd=0.0", "1.0", "p.value()", "[0.5]")):
    """Gradient descent with the average of the parameters beside it.

    Args:
        lambd: how fast the parameters decay.
        alpha: power of the decay of the step's size.
        t0: the step from which on the average counts.
    """

    slots: Slots = (("eta", lambda group: float(group["lr"])), ("mu", 1.0), ("ax", 0.0))
    counter = "step_t"

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        lambd, alpha, start = options["lambd"], options["alpha"], options["t0"]
        return averaged_step(p, g, *state, lr, step, lambd, alpha, start)  # type: ignore[call-arg]


class NAdam(_Rule, shows=(", 0.5", "1.0", "p.value().item() < 1", "True")):
    """`Adam` that looks ahead by one step.

    Args:
        momentum_decay: how fast the share of the first moment comes to its value.
    """

    slots: Slots = (("exp_avg", 0.0), ("exp_avg_sq", 0.0), ("mu_product", 1.0))
    counter = "step_t"

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        beta1, beta2 = options["betas"]
        now, ahead = [beta1 * (1 - 0.5 * 0.96 ** (each * options["momentum_decay"])) for each in (step, step + 1)]
        product = state[2] * now
        first, second = _moments(g, state, beta1, beta2)
        root = jnp.sqrt(second / (1 - beta2**step)) + options["eps"]
        p = p - lr * (1 - now) / (1 - product) * g / root - lr * ahead / (1 - product * ahead) * first / root
        return p, first, second, product


class RAdam(_Rule, shows=(", 0.5", "1.0", "round(p.value().item(), 4)", "0.5")):
    """`Adam` whose second moment counts once its variance is known."""

    slots: Slots = (("exp_avg", 0.0), ("exp_avg_sq", 0.0))
    counter = "step_t"

    __init__ = options(like(Adam.__init__, without=("amsgrad", "maximize")))

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        beta1, beta2 = options["betas"]
        first, second = _moments(g, state, beta1, beta2)
        most = 2 / (1 - beta2) - 1
        left = 1 - beta2**step
        length = most - 2 * step * beta2**step / left
        # where the length is too small the root is of no use, and must not be of a negative number
        usable = jnp.maximum(length, 5.0)
        factor = jnp.sqrt((usable - 4) * (usable - 2) * most / ((most - 4) * (most - 2) * usable))
        adaptive = factor * jnp.sqrt(left) / (jnp.sqrt(second) + options["eps"])
        return p - lr * first / (1 - beta1**step) * jnp.where(length > 5, adaptive, 1.0), first, second


class RMSprop(_Rule, shows=(", 0.05", "1.0", "round(p.value().item(), 4)", "0.5")):
    """Steps by the root of the mean of the squares of the gradients.

    Args:
        alpha: share of the squares before that stays.
        centered: divide by the deviation from the mean gradient.
    """

    slots: Slots = (("mean_grad", 0.0), ("mean_square", 0.0), ("moment", 0.0))

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None: ...

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        alpha = options["alpha"]
        mean, squares, moment = state
        squares = squares * alpha + jnp.square(g) * (1 - alpha)
        spread = squares
        if options["centered"]:
            mean = mean * alpha + g * (1 - alpha)
            spread = squares - jnp.square(mean)
        moment = moment * options["momentum"] + g / (jnp.sqrt(spread) + options["eps"])
        return p - lr * moment, mean, squares, moment


class Rprop(_Rule, shows=(", 0.5", "3.0", "p.value()", "[0.5]")):
    """Steps whose sizes grow while the gradient keeps its sign, and shrink where it changes.

    Args:
        lr: the first size.
        etas: by how much the sizes shrink and grow.
        step_sizes: the smallest and the largest size.
    """

    slots: Slots = (("prev", 0.0), ("step_size", lambda group: float(group["lr"])))
    _fixed = {"weight_decay": 0.0}
    counter = "step_t"

    @options
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None: ...

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if not 0 < group["etas"][0] < 1 < group["etas"][1]:
            raise ValueError(f"Invalid eta values: {group['etas'][0]}, {group['etas'][1]}")

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        return resilient_step(p, g, *state, options["etas"], options["step_sizes"])  # type: ignore[call-arg]


class SGD(_Rule, shows=(", 0.5", "1.0", "p.value()", "[0.5]")):
    """Stochastic gradient descent: ``v = momentum * v + (1 - dampening) * g``, ``p = p - lr * v``.

    Args:
        dampening: share of the gradient that the velocity leaves out, the first one aside.
        nesterov: look ahead by one step; needs momentum and no dampening.
    """

    slots: Slots = (("accum", 0.0), ("stat", 1.0))
    _fixed = {"grad_centralization": False}

    @options
    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None: ...

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError(
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0.0, but got "
                f"'momentum' {group['momentum']}, 'dampening' {group['dampening']}"
            )

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        g = _towards(g, p, options)
        momentum = options["momentum"]
        velocity, first = state
        if momentum:
            settings = {each: options[each] for each in ("dampening", "nesterov")}
            p, velocity = sgd_step(p, g, lr, velocity, momentum, first > 0, **settings)
        else:
            p = p - lr * g
        return p, velocity, jnp.zeros_like(first)
