"""Optimizer: parameters in groups, each with a learning rate that can be assigned to; a group's step is one operation.

A subclass names its state (`slots`) and gives `update`, the arithmetic of one parameter on JAX arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Parameter, Primitive, Tensor, apply, transparent
from weft.core.parameters import ParameterTuple
from weft.nn.optim.keeping import OfSteps, keeping
from weft.ops.state import assign_add

#: state with the shape of the parameters: attribute, initial value, or what gives it for a group
Slots = tuple[tuple[str, Any], ...]


class Optimizer(OfSteps):
    """Base of the optimizers that keep their parameters in groups: ``optimizer(gradients)`` updates the parameters.

    `param_groups` is a list of dicts: ``"params"``, ``"lr"`` (a Parameter, which `lr_scheduler` assigns to), and the
    other options. `parameters` are those of all groups; the gradients of group ``i`` begin at `group_start_id` [i].

    Args:
        params: Parameters, or groups: dicts of ``params`` and of options that differ from the defaults.
        defaults: the options, ``lr`` among them.

    Raises:
        TypeError: an argument is not that.
        ValueError: there are no parameters, or one is listed twice.

    Example:
        >>> import weft
        >>> from weft import ops
        >>> class Descent(Optimizer):
        ...     def __init__(self, params, lr):
        ...         super().__init__(params, {"lr": lr})
        ...     def construct(self, gradients):
        ...         for number, group in enumerate(self.param_groups):
        ...             first = self.group_start_id[number]
        ...             for place, param in enumerate(group["params"]):
        ...                 ops.assign(param, param - group["lr"] * gradients[first + place])
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> Descent([p], 0.5)((weft.Tensor([1.0]),))
        >>> print(p.value())
        [0.5]
    """

    #: the state of each parameter
    slots: Slots = ()
    #: the attribute of the number of steps, where there is one
    counter: ClassVar[str | None] = None
    #: attributes that are told to `update` with the options
    of_class: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        if isinstance(params, (Parameter, Tensor, dict, str)) or not isinstance(params, Iterable):
            raise TypeError(
                f"For 'Optimizer', the argument params must be Iterable type, but got {type(params).__name__}."
            )
        listed = list(params)
        if not listed:
            raise ValueError("For 'Optimizer', the argument params must not be empty.")
        if not isinstance(defaults, dict):
            raise TypeError(f"defaults must be a dict, not {type(defaults).__name__}")
        self.defaults = dict(defaults)
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.group_start_id: list[int] = [0]
        self.lrs: list[Parameter] = []
        self.parameters = ParameterTuple(())
        for group in listed if isinstance(listed[0], dict) else [{"params": listed}]:
            self._add_group(group)
        self._add_state()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters.

        Args:
            param_group: ``params``, and options that differ from the defaults.

        Raises:
            TypeError: it is no dict, or holds something else than Parameters.
            KeyError: there is no ``params``.
            ValueError: a parameter is in a group already, or an option has no possible value.
        """
        self._add_group(param_group)
        self._add_state()

    def _add_group(self, param_group: Any) -> None:
        if not isinstance(param_group, dict):
            raise TypeError("Param group must be a dict.")
        group = dict(param_group)
        params = group["params"]
        params = [params] if isinstance(params, Parameter) else list(params)
        for each in params:
            if not isinstance(each, Parameter):
                raise TypeError(
                    f"optimizer can only optimize Parameters, but one of the params is {type(each).__name__}"
                )
        known = [*self.parameters, *params]
        if len({id(each) for each in known}) != len(known):
            raise ValueError("some parameters appear in more than one parameter group.")
        if len({each.name for each in known}) != len(known):
            raise ValueError("two parameters have the same name; their states would be mixed up in a checkpoint")
        group["params"] = params
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self._check_options(group)
        group["lr"] = rate_of(group["lr"], f"learning_rate_group_{len(self.param_groups)}")
        # plain attributes: the rates are no state of a checkpoint
        self.__dict__["lrs"] = [*self.lrs, group["lr"]]
        self.param_groups.append(group)
        self.group_start_id.append(len(known))
        self.parameters = ParameterTuple(known)

    def _add_state(self) -> None:
        """Make the state of the parameters that have none yet."""
        for attribute, initial in self.slots:
            known = getattr(self, attribute, ())
            made = [self._state_of(each, attribute, initial) for each in self.parameters[len(known) :]]
            setattr(self, attribute, ParameterTuple([*known, *made]))
        if self.counter is not None and not hasattr(self, self.counter):
            setattr(self, self.counter, Parameter(Tensor([0], dtypes.int32), name=self.counter, requires_grad=False))

    def _check_options(self, group: dict[str, Any]) -> None:
        """Refuse options without a possible value."""

    def _state_of(self, param: Parameter, attribute: str, initial: Any) -> Parameter:
        if callable(initial):
            of_it = [group for group in self.param_groups if any(each is param for each in group["params"])]
            initial = initial(of_it[0])
        wide = np.float32 if param.dtype.np_dtype.itemsize < 4 else param.dtype.np_dtype
        value = Tensor(np.full(param.shape, initial, wide))
        return Parameter(value, name=f"{attribute}.{param.name}", requires_grad=False)

    @staticmethod
    def update(p: Any, g: Any, state: tuple[Any, ...], lr: Any, step: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        """New values of a parameter and its state, on JAX arrays.

        Args:
            p: the parameter.
            g: its gradient.
            state: its entry of each slot.
            lr: learning rate.
            step: number of the step, from 1, in the element type of the parameter.
            options: those of the group, without the learning rate.
        """
        raise NotImplementedError

    @classmethod
    def _new_primitive(cls) -> Primitive:
        """The primitive of the step of one group."""
        update = cls.update

        def implementation(*arrays: Any, layout: Any, options: Any) -> tuple[Any, ...]:
            count, slot_count, counter_count, *conditional = layout
            run: Callable[..., Sequence[Any]] = update
            if conditional:
                arrays, run = arrays[:-1], keeping(update, arrays[-1])
            rate, *rest = arrays
            step = rest[0].reshape(()) if counter_count else None
            rest = rest[counter_count:]
            params = rest[:count]
            states = [rest[count * (slot + 1) : count * (slot + 2)] for slot in range(slot_count)]
            gradients = rest[count * (slot_count + 1) :]
            named = dict(options)
            new: list[list[Any]] = [[] for _ in range(slot_count + 1)]
            for i, (p, g) in enumerate(zip(params, gradients, strict=True)):
                if g.shape != p.shape:
                    raise ValueError(f"gradient {i} has shape {tuple(g.shape)}, its parameter {tuple(p.shape)}")
                wide = jnp.float32 if p.dtype.itemsize < 4 else p.dtype
                own = tuple([state[i].astype(wide) for state in states])
                lr, now = rate.reshape(()).astype(wide), None if step is None else step.astype(wide)
                results = run(p.astype(wide), g.astype(wide), own, lr, now, named)
                for found, old, result in zip(new, (p, *[state[i] for state in states]), results, strict=True):
                    found.append(result.astype(old.dtype))
            return tuple([each for found in new for each in found])

        made = Primitive(
            f"{cls.__name__}GroupUpdate",
            implementation,
            attr_names=("layout", "options"),
            multiple=True,
            register=False,
        )
        made.conditional = lambda layout, options: (((*layout, "where it holds"), options), 1 + layout[2])
        if all(part.__module__.startswith("weft.") for part in (cls, update)):
            made.known_as = f"{cls.__module__}.{cls.__qualname__}"
        return made

    @transparent  # options of groups are read where captured code sees it: a rate that changes is no other graph
    def construct(self, gradients: Any) -> Any:
        cls = type(self)
        if cls.update is Optimizer.update:
            raise NotImplementedError(f"{cls.__name__} must define construct(self, gradients)")
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(f"{cls.__name__} takes a tuple of gradients, not {type(gradients).__name__}")
        if len(gradients) != len(self.parameters):
            raise ValueError(f"{cls.__name__} got {len(gradients)} gradients for {len(self.parameters)} parameters")
        counters = () if self.counter is None else (assign_add(getattr(self, self.counter), 1),)
        for number, group in enumerate(self.param_groups):
            part = slice(self.group_start_id[number], self.group_start_id[number + 1])
            if part.start == part.stop:
                continue
            targets = [*self.parameters[part]]
            for attribute, _ in self.slots:
                targets += getattr(self, attribute)[part]
            operands = (group["lr"], *counters, *targets, *gradients[part])
            layout = (part.stop - part.start, len(self.slots), len(counters))
            results = apply(cls._step_primitive(), operands, (layout, self._options(group)))
            for target, result in zip(targets, results, strict=True):
                target.rebind(result)
        return True

    @transparent
    def _options(self, group: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        found = []
        for name in self.defaults:
            value = group[name]
            if name == "lr":
                continue
            if isinstance(value, Tensor):
                raise TypeError(f"{type(self).__name__}: {name} must be a Python number, not a {type(value).__name__}")
            found.append((name, tuple(value) if isinstance(value, list) else value))
        return (*found, *[(name, getattr(self, name)) for name in self.of_class])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            for name in sorted(group):
                if name != "params":
                    value = group[name]
                    lines.append(f"    {name}: {value.value() if isinstance(value, Parameter) else value}")
        return "\n".join([*lines, ")"])


def rate_of(value: Any, name: str) -> Parameter:
    """A learning rate as a Parameter.

    Args:
        value: a number, or a Tensor of one.
        name: the name of the Parameter.

    Raises:
        TypeError: it is neither.
        ValueError: it is negative, or several numbers.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Tensor)):
        raise TypeError(
            f"the type of 'lr' should be one of '['float', 'int', 'Tensor']', but got type '{type(value).__name__}'."
        )
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        if value.size != 1:
            raise ValueError(f"a learning rate is one number, not a Tensor of shape {value.shape}")
        made = value.astype(dtypes.float32).reshape(())
    else:
        if value < 0:
            raise ValueError(f"Invalid learning rate: {value}")
        made = Tensor(float(value), dtypes.float32)
    return Parameter(made, name=name, requires_grad=False)
