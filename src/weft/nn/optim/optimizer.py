"""Optimizer: what all optimizers share, and the one call that updates all parameters.

A subclass names its state (`slots`, `scalars`) and gives `update`, the arithmetic of one parameter on JAX arrays. One
step of any optimizer is one primitive: parameters, gradients, state and rates in, new values out. So it costs one
dispatch eagerly and is one node in a graph.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.autodiff.composite import HyperMap, Map
from weft.core import Parameter, Primitive, Tensor, apply, described, transparent
from weft.core.parameters import ParameterTuple
from weft.nn.cell import Cell
from weft.nn.optim.keeping import OfSteps, keeping
from weft.ops._checks import one_of, reals, strings
from weft.ops.state import assign_add
from weft.parallel.spreading import arrange, stages_of

#: arrays of one step
Arrays = tuple[Any, ...]
#: state with the shape of the parameters: attribute, prefix of the names, initial value
Slots = tuple[tuple[str, str, Any], ...]

_described = described(gradients="one for each parameter.")
_GROUP_KEYS = frozenset({"params", "lr", "weight_decay", "grad_centralization", "order_params"})


class Optimizer(OfSteps):
    """Base of the optimizers: ``optimizer(gradients)`` updates the parameters.

    Args:
        learning_rate: a number; an iterable of numbers, one for each step; a 0- or 1-dimensional Tensor; or a
            `LearningRateSchedule`, called with the step.
        parameters: Parameters, or dicts that group them: ``{"params": [...], "lr": ..., "weight_decay": ...,
            "grad_centralization": ...}`` where all but ``params`` may be left out. A dict ``{"order_params": [...]}``
            gives the order in which gradients are passed.
        weight_decay: share of each parameter added to its gradient: a number, or a Cell called with the step. Without
            groups, parameters named ``beta`` or ``gamma`` do not decay.
        loss_scale: the gradients are divided by this.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number is out of range, there are no parameters, or one is listed twice.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> optimizer = nn.SGD([p], learning_rate=0.5)
        >>> _ = optimizer((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    #: the state of each parameter
    slots: Slots = ()
    #: state that is one number: attribute
    scalars: ClassVar[tuple[str, ...]] = ()
    #: whether the weight decay is added to the gradient before `update`, or given to it
    decay_in_gradient: ClassVar[bool] = True
    #: whether gradients with repeated rows are joined first; kept, all gradients here are dense
    unique: bool = True

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        groups = _groups_of(parameters)
        self.is_group = groups is not None
        reals("an optimizer", loss_scale=loss_scale)
        if loss_scale <= 0:
            raise ValueError(f"loss_scale must be positive, not {loss_scale}")
        self.loss_scale = float(loss_scale)
        self.reciprocal_scale = 1.0 / self.loss_scale
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), name="global_step", requires_grad=False)
        self.global_step_increase_tensor = Tensor(np.ones(1, np.int32))
        self._rates: list[Any] = []
        self._decays: list[Any] = []
        #: for each parameter: index of its rate, its weight decay (a number, or the index of a Cell as a 1-tuple),
        #: whether its gradient is centralised
        self._plan: list[tuple[int, Any, bool]] = []
        chosen: list[Parameter] = []
        default_rate = self._add_rate(learning_rate, "learning_rate")
        default_decay = self._add_decay(weight_decay)
        for number, group in enumerate([{"params": parameters}] if groups is None else groups):
            rate = default_rate if "lr" not in group else self._add_rate(group["lr"], f"group{number}_lr")
            decay = default_decay if "weight_decay" not in group else self._add_decay(group["weight_decay"])
            for param in _checked_parameters(group["params"]):
                chosen.append(param)
                own = decay if self.is_group or _decays(param) else 0.0
                self._plan.append((rate, own, bool(group.get("grad_centralization", False))))
        _check_unique(chosen)
        orders = [item["order_params"] for item in parameters if "order_params" in item] if self.is_group else []
        if orders:
            order = _checked_parameters(orders[0])
            position = {id(param): i for i, param in enumerate(chosen)}
            if len(order) != len(chosen) or any(id(param) not in position for param in order):
                raise ValueError("order_params must list the same parameters as the groups")
            self._plan = [self._plan[position[id(param)]] for param in order]
            chosen = order
        self.parameters = self._parameters = ParameterTuple(chosen)
        self.param_length = len(chosen)
        self.params = self.parameters
        self.weight_decay = weight_decay
        if self.is_group and not self._decays:
            self.weight_decay = tuple(Tensor(decay * self.loss_scale, dtypes.float32) for _, decay, _ in self._plan)
        self.is_group_lr = any(rate != default_rate for rate, _, _ in self._plan)
        self.dynamic_lr = any(isinstance(rate, Cell) or rate.ndim == 1 for rate in self._rates)
        self.dynamic_weight_decay = bool(self._decays)
        self.grad_centralization = any(centralised for _, _, centralised in self._plan)
        self._may_decay = tuple(self.is_group or _decays(param) for param in chosen)
        self.decay_flags = tuple(decay != 0.0 for _, decay, _ in self._plan)
        self.exec_weight_decay = any(self.decay_flags)
        # a plain attribute: the rates are registered already
        rates = [_Rates(rate) if isinstance(rate, Parameter) and rate.ndim else rate for rate in self._rates]
        self.__dict__["learning_rate"] = tuple(rates[r] for r, _, _ in self._plan) if self.is_group_lr else rates[0]
        #: what a program may set to something else
        self.__dict__["_made_with"] = self.learning_rate, self.weight_decay
        self.hyper_map, self.map_ = HyperMap(), Map()
        self.optim_filter = (True,) * self.param_length
        self.use_parallel = False
        self.need_scale = self.loss_scale != 1.0
        for attribute in self.scalars:
            value = np.asarray(self.initial_scalar(attribute), np.float32)
            setattr(self, attribute, Parameter(Tensor(value), name=attribute, requires_grad=False))
        for attribute, prefix, init in self.slots:
            states = self.parameters.clone(prefix=prefix, init=init)
            for state in states:
                state.requires_grad = False
            setattr(self, attribute, states)

    # -- rates -------------------------------------------------------------------------------------------

    def _add_rate(self, rate: Any, name: str) -> int:
        """Keep a learning rate as a Parameter or a schedule; returns its index."""
        if isinstance(rate, (Parameter, Cell)):
            made: Any = rate
        elif isinstance(rate, Tensor):
            if rate.ndim > 1:
                raise ValueError(f"a learning_rate Tensor must have 0 or 1 dimensions, not shape {rate.shape}")
            made = Parameter(Tensor(rate, dtypes.float32), name=name, requires_grad=False)
        else:
            if isinstance(rate, (bool, str)) or not isinstance(rate, (int, float, np.floating, Iterable)):
                raise TypeError(
                    "learning_rate must be a number, an iterable, a Tensor or a LearningRateSchedule, "
                    f"not {type(rate).__name__}"
                )
            values = np.asarray([float(v) for v in rate] if isinstance(rate, Iterable) else rate, np.float64)
            if not values.size:
                raise ValueError("a learning_rate iterable must not be empty")
            if values.min() < 0:
                raise ValueError(f"learning_rate must not be negative, got {values.min()}")
            made = Parameter(Tensor(values.astype(np.float32)), name=name, requires_grad=False)
        self._rates.append(made)
        if isinstance(made, Parameter):
            self._params[name] = made
        else:
            self._cells[name] = made
        return len(self._rates) - 1

    def _add_decay(self, decay: Any) -> Any:
        if isinstance(decay, Cell):
            self._decays.append(decay)
            self._cells[f"weight_decay{len(self._decays)}"] = decay
            return (len(self._decays) - 1,)
        if isinstance(decay, bool) or not isinstance(decay, (int, float, np.floating)):
            raise TypeError(f"weight_decay must be a float or a Cell, not {type(decay).__name__}")
        if decay < 0:
            raise ValueError(f"weight_decay must not be negative, got {decay}")
        return float(decay)

    def _rate_now(self, rate: Any) -> Tensor:
        """A learning rate at the current step, as a 0-dimensional tensor."""
        if isinstance(rate, Cell):
            return rate(self.global_step).reshape(())
        if rate.ndim == 0:
            return rate
        return apply(_RATE_AT, (rate, self.global_step))

    def _decay_now(self, decay: Any) -> Tensor:
        """A weight decay at the current step, as a 0-dimensional tensor."""
        found = decay(self.global_step) if isinstance(decay, Cell) else decay
        return found.reshape(()) if isinstance(found, Tensor) else Tensor(float(found), dtypes.float32)

    def get_lr(self) -> Any:
        """The learning rate of the current step; with group rates, a tuple with one for each parameter."""
        if _is_other(self.learning_rate, self._made_with[0]):
            now = [self._rate_now(self.learning_rate_operand(rate)) for rate in _each(self.learning_rate)]
            return tuple(now) if isinstance(self.learning_rate, (tuple, list)) else now[0]
        now = [self._rate_now(rate) for rate in self._rates]
        return tuple(now[r] for r, _, _ in self._plan) if self.is_group_lr else now[0]

    def get_weight_decay(self) -> Any:
        """The weight decay of the current step; with groups, a tuple with one for each parameter."""
        if _is_other(self.weight_decay, self._made_with[1]):
            return self._decay_now(self.weight_decay) if isinstance(self.weight_decay, Cell) else self.weight_decay
        now = [decay(self.global_step) for decay in self._decays]
        found = [now[d[0]] if isinstance(d, tuple) else d for _, d, _ in self._plan]
        if self.is_group:
            return tuple(found)
        return now[0] if now else self.weight_decay

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate (Parameter or schedule) of a parameter, or of each in a list.

        Args:
            param: a Parameter, or a list of them.
        """
        rates = {id(each): self._rates[rate] for each, (rate, _, _) in zip(self.parameters, self._plan, strict=True)}
        found = []
        for one in [param] if isinstance(param, Parameter) else param:
            if id(one) not in rates:
                raise ValueError(f"{one!r} is not optimized by this {type(self).__name__}")
            found.append(rates[id(one)])
        return found[0] if isinstance(param, Parameter) else found

    @property
    def target(self) -> str:
        """Where parameters are updated, as MindSpore names it: ``"CPU"``, ``"GPU"`` or ``"Ascend"``; kept."""
        return getattr(self, "_target", "CPU")

    @target.setter
    def target(self, value: str) -> None:
        self._set_base_target(value)

    # -- parts for optimizers written by users; a step calls those that a subclass has of its own ----------

    @_described
    def flatten_gradients(self, gradients: Any) -> Any:
        """Return the gradients (kept for programs that fuse them by hand)."""
        return gradients

    @_described
    def decay_weight(self, gradients: Any) -> tuple[Any, ...]:
        """The gradients with the weight decay added."""
        _, decays, plan = self._as_set()
        now = [self._decay_now(decay) for decay in decays]
        found = []
        for param, gradient, (_, decay, _) in zip(self.parameters, gradients, plan, strict=True):
            share = now[decay[0]] if isinstance(decay, tuple) else decay
            # the scale is divided out afterwards, from the decay too
            applies = isinstance(decay, tuple) or decay != 0.0
            found.append(gradient + param * (share * self.loss_scale) if applies else gradient)
        return tuple(found)

    @_described
    def scale_grad(self, gradients: Any) -> tuple[Any, ...]:
        """The gradients divided by the loss scale."""
        if self.loss_scale == 1.0:
            return tuple(gradients)
        return tuple([gradient * self.reciprocal_scale for gradient in gradients])

    @_described
    def gradients_centralization(self, gradients: Any) -> tuple[Any, ...]:
        """The gradients, centralised where a group asks for it."""
        found = []
        for gradient, (_, _, centralised) in zip(gradients, self._plan, strict=True):
            if centralised and gradient.ndim > 1:
                gradient = gradient - gradient.mean(tuple(range(1, gradient.ndim)), True)
            found.append(gradient)
        return tuple(found)

    def broadcast_params(self, optim_result: Any) -> Any:
        """The parameters as all processes have them; each process has all of them.

        Args:
            optim_result: what the updates gave.
        """
        return optim_result

    def assignadd(self, variable: Parameter, value: Any) -> Any:
        """Add to a parameter in place.

        Args:
            variable: the parameter.
            value: what to add.
        """
        return assign_add(variable, value)

    def _grad_sparse_indices_deduplicate(self, gradients: Any) -> Any:
        # gradients have all rows here, each once
        return gradients

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    def _set_base_target(self, value: str) -> None:
        strings(type(self).__name__, target=value)
        one_of(type(self).__name__, ("CPU", "GPU", "Ascend"), target=value)
        self.__dict__["_target"] = value

    # -- the step --------------------------------------------------------------------------------------------

    def initial_scalar(self, attribute: str) -> float:
        """Initial value of a state number (see `scalars`).

        Args:
            attribute: its attribute.
        """
        raise NotImplementedError(f"{type(self).__name__} gives no initial value for {attribute}")

    def settings(self) -> tuple[Any, ...]:
        """The hyper-parameters that `update` takes, hashable."""
        return ()

    @staticmethod
    def advance(scalars: tuple[Any, ...], settings: tuple[Any, ...]) -> tuple[Any, ...]:
        """The state numbers as this step uses them and as they are stored afterwards.

        Args:
            scalars: their values before.
            settings: see `settings`.
        """
        del settings
        return scalars

    @staticmethod
    def update(p: Any, g: Any, state: Arrays, lr: Any, decay: Any, step: Any, scalars: Any, settings: Any) -> Arrays:
        """New values of a parameter and its state, on JAX arrays.

        Args:
            p: the parameter.
            g: its gradient.
            state: its entry of each slot.
            lr: learning rate.
            decay: weight decay that is not in the gradient yet, 0.0 for none.
            step: number of the step, from 0.
            scalars: the state numbers.
            settings: see `settings`.
        """
        raise NotImplementedError

    @classmethod
    def _new_primitive(cls) -> Primitive:
        scalar_count = len(cls.scalars)
        update, advance, in_gradient = cls.update, cls.advance, cls.decay_in_gradient

        def implementation(*arrays: Any, layout: Any, settings: Any) -> tuple[Any, ...]:
            count, slot_count, rate_count, decay_count, plan, loss_scale, *conditional = layout
            holds = arrays[-1]
            rule = keeping(update, holds) if conditional else update
            taken = iter(arrays)

            def take(n: int) -> tuple[Any, ...]:
                return tuple([next(taken) for _ in range(n)])

            (step,) = take(1)
            scalars = advance(take(scalar_count), settings)
            params = take(count)
            states = [take(count) for _ in range(slot_count)]
            rates = [_rate_at(rate, step) for rate in take(rate_count)]
            decays = take(decay_count)
            gradients = take(count)
            new_params: list[Any] = []
            new_states: list[list[Any]] = [[] for _ in range(slot_count)]
            for i, (p, g, (rate, decay, centralised)) in enumerate(zip(params, gradients, plan, strict=True)):
                if g.shape != p.shape:
                    raise ValueError(f"gradient {i} has shape {tuple(g.shape)}, its parameter {tuple(p.shape)}")
                own = [state[i] for state in states]
                wide = jnp.float32 if p.dtype.itemsize < 4 else p.dtype
                p_wide, g = p.astype(wide), g.astype(wide)
                if loss_scale != 1.0:
                    g = g * np.asarray(1.0 / loss_scale, wide)
                share = decays[decay[0]].astype(wide) if isinstance(decay, tuple) else decay
                applies = isinstance(decay, tuple) or decay != 0.0
                if applies and in_gradient:
                    g = g + p_wide * share
                if centralised and g.ndim > 1:
                    g = g - jnp.mean(g, axis=tuple(range(1, g.ndim)), keepdims=True)
                before = tuple([s.astype(wide) for s in own])
                rest = 0.0 if in_gradient or not applies else share
                results = rule(p_wide, g, before, rates[rate].astype(wide), rest, step.reshape(()), scalars, settings)
                new_params.append(results[0].astype(p.dtype))
                for new, old, result in zip(new_states, own, results[1:], strict=True):
                    new.append(result.astype(old.dtype))
            numbers = (step + 1, *scalars)
            if conditional:
                numbers = tuple([jnp.where(holds, new, old) for new, old in zip(numbers, arrays, strict=False)])
            return (*numbers, *new_params, *[s for state in new_states for s in state])

        made = Primitive(
            f"{cls.__name__}Update", implementation, attr_names=("layout", "settings"), multiple=True, register=False
        )
        made.conditional = lambda layout, settings: (((*layout, "where it holds"), settings), 0)
        if all(part.__module__.startswith("weft.") for part in (cls, update, advance)):
            made.known_as = f"{cls.__module__}.{cls.__qualname__}"
        return made

    def _as_set(self) -> tuple[list[Any], list[Any], list[tuple[int, Any, bool]]]:
        """The rates, decays and plan of a step: those that the optimizer was made with, or what the program has set, or
        what the methods of a subclass give.
        """
        rates, decays, plan = self._rates, self._decays, self._plan
        rate, decay = self._made_with
        own, count = type(self).get_lr is not Optimizer.get_lr, len(plan)
        if own or _is_other(self.learning_rate, rate):
            rates = _each(self.get_lr() if own else self.learning_rate)
            plan = [(i if len(rates) == count > 1 else 0, d, c) for i, (_, d, c) in enumerate(plan)]
        own = type(self).get_weight_decay is not Optimizer.get_weight_decay
        if own or _is_other(self.weight_decay, decay):
            decays = _each(self.get_weight_decay() if own else self.weight_decay)
            indices = [i if len(decays) == count > 1 else 0 for i in range(count)]
            chosen = zip(plan, indices, self._may_decay, strict=True)
            plan = [(r, (i,) if may else 0.0, c) for (r, _, c), i, may in chosen]
        return rates, decays, plan

    def _changes_gradients(self) -> bool:
        """Whether a subclass has methods of its own for what becomes of gradients."""
        names = ("decay_weight", "scale_grad", "gradients_centralization", "flatten_gradients")
        return any(getattr(type(self), name) is not getattr(Optimizer, name) for name in names)

    def construct(self, gradients: Any) -> Any:
        cls = type(self)
        if cls.update is Optimizer.update:
            raise NotImplementedError(f"{cls.__name__} must define construct(self, gradients)")
        if isinstance(gradients, Tensor):
            gradients = (gradients,)
        count = self.param_length
        if len(gradients) != count:
            raise ValueError(f"{cls.__name__} got {len(gradients)} gradients for {count} parameters")
        states = [getattr(self, slot) for slot, _, _ in self.slots]
        numbers = [self.global_step, *[getattr(self, name) for name in self.scalars]]
        gradients = arrange(self.parameters, states, numbers, gradients)
        given_rates, given_decays, every = self._as_set()
        loss_scale = self.loss_scale
        if self._changes_gradients():
            gradients = self.flatten_gradients(gradients)
            if self.decay_in_gradient:
                gradients = self.decay_weight(gradients)
            gradients = self.scale_grad(self.gradients_centralization(gradients))
            loss_scale = 1.0
            every = [(r, 0.0 if self.decay_in_gradient else d, False) for r, d, _ in every]
        rates = [self.learning_rate_operand(rate) for rate in given_rates]
        decays = [self._decay_now(decay) for decay in given_decays]
        settings = self._checked_settings()
        for chosen in stages_of(self.parameters):
            held = [slot[i] for slot in (self.parameters, *states) for i in chosen]
            plan = tuple([every[i] for i in chosen])
            layout = (len(chosen), len(self.slots), len(rates), len(decays), plan, loss_scale)
            operands = (*numbers, *held, *rates, *decays, *[gradients[i] for i in chosen])
            results = apply(cls._step_primitive(), operands, (layout, settings))
            for target, result in zip(held, results[len(numbers) :], strict=True):
                target.rebind(result)
        for number, result in zip(numbers, results[: len(numbers)], strict=True):
            number.rebind(result)
        return True

    def _checked_settings(self) -> tuple[Any, ...]:
        """The settings of a step, which are no operands.

        Raises:
            TypeError: one is a Tensor.
        """
        settings = self.settings()
        for value in settings:
            if isinstance(value, Tensor):
                name = next((name for name, held in vars(self).items() if held is value), "a setting")
                raise TypeError(
                    f"{type(self).__name__}.{name} must be a Python number, not a {type(value).__name__}; "
                    f"outside of compiled code, assign float(...) of it"
                )
        return settings

    @property
    def targets(self) -> tuple[Parameter, ...]:
        """Everything that a step writes: the step, state numbers, parameters, and their state."""
        found = [self.global_step, *[getattr(self, name) for name in self.scalars], *self.parameters]
        for attribute, _, _ in self.slots:
            found += getattr(self, attribute)
        return tuple(found)

    def learning_rate_operand(self, rate: Any) -> Tensor:
        """A learning rate as the step takes it: a number or a vector indexed by the step.

        Args:
            rate: Parameter or schedule.
        """
        if isinstance(rate, Tensor):
            return rate
        return self._rate_now(rate) if isinstance(rate, Cell) else Tensor(float(rate), dtypes.float32)


def _decays(param: Parameter) -> bool:
    """Whether the weight decay of all is for a parameter: not for those of normalisations."""
    return "beta" not in param.name and "gamma" not in param.name


def _is_other(value: Any, before: Any) -> bool:
    """Whether a value is not the one that was there before; numbers are what they are."""
    return value is not before and not (isinstance(value, (int, float)) and value == before)


def _each(value: Any) -> list[Any]:
    """What there is of a value: one, or one for each parameter."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


@transparent
def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Let the constructor of an optimizer keep what it was given.

    Args:
        fn: the constructor. The parameters are in the attribute `init_params`, the learning rate in
            `init_learning_rate`, everything else in `init_args`, by name.

    Returns:
        The constructor that keeps them.

    Example:
        >>> class Named:
        ...     @opt_init_args_register
        ...     def __init__(self, params, learning_rate=0.1, momentum=0.5):
        ...         pass
        >>> Named([]).init_args
        {'momentum': 0.5}
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        object.__setattr__(self, "init_params", {"params": given.pop("params", None)})
        object.__setattr__(self, "init_learning_rate", given.pop("learning_rate", None))
        object.__setattr__(self, "init_args", given)
        fn(self, *args, **kwargs)

    return constructor


def _rate_at(rates: Any, step: Any) -> Any:
    return rates if rates.ndim == 0 else rates[jnp.minimum(step.reshape(()), rates.shape[0] - 1)]


class _Rates(Cell):
    """A rate for each step, as a schedule: the last one holds for all steps behind it.

    Args:
        rates: the rates.
    """

    def __init__(self, rates: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self.rates = rates

    def construct(self, global_step: Any) -> Any:
        return apply(_RATE_AT, (self.rates, global_step)).reshape(global_step.shape)


_RATE_AT = Primitive("LearningRateAt", _rate_at)


def _checked_parameters(parameters: Any) -> list[Parameter]:
    if isinstance(parameters, Parameter) or not isinstance(parameters, Iterable):
        raise TypeError(
            f"an optimizer takes an iterable of Parameters, not {type(parameters).__name__}; "
            "pass network.trainable_params()"
        )
    found = list(parameters)
    if not found:
        raise ValueError("an optimizer needs at least one parameter; the list is empty")
    for param in found:
        if not isinstance(param, Parameter):
            raise TypeError(f"an optimizer takes Parameters, not {type(param).__name__}: {param!r:.60}")
        if not param.dtype.is_floating:
            raise TypeError(f"parameter {param.name!r} is {param.dtype}; only floating parameters are optimized")
    return found


def _groups_of(parameters: Any) -> list[dict[str, Any]] | None:
    """The parameter groups, None if the parameters are not grouped."""
    if isinstance(parameters, Parameter) or not isinstance(parameters, (list, tuple)):
        return None
    if not any(isinstance(item, dict) for item in parameters):
        return None
    groups = []
    for item in parameters:
        if not isinstance(item, dict):
            raise TypeError("parameters must be all Parameters or all dicts, not a mix")
        unknown = set(item) - _GROUP_KEYS
        if unknown:
            raise KeyError(f"unknown keys {sorted(unknown)} in a parameter group; known: {sorted(_GROUP_KEYS)}")
        if "order_params" in item:
            if len(item) > 1:
                raise ValueError("a dict with order_params must hold nothing else")
            continue
        if "params" not in item:
            raise KeyError("a parameter group needs params")
        groups.append(item)
    return groups


def _check_unique(parameters: list[Parameter]) -> None:
    names: dict[str, Parameter] = {}
    for param in parameters:
        if names.get(param.name) is param:
            raise RuntimeError(f"parameter {param.name!r} is listed twice")
        if param.name in names:
            raise RuntimeError(
                f"two different parameters are named {param.name!r}; their states would be mixed up in a checkpoint"
            )
        names[param.name] = param
