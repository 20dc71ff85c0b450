"""`Operator`: the base of all operator classes, those of the library and those of programs.

A program derives a class from `Operator` (MindSpore's ``Primitive``) or from one of the classes below. Its constructor,
decorated with `prim_attr_register`, keeps the arguments as attributes; its method ``construct`` or ``vm_impl`` computes
the result. A capture steps through these methods like through any function of the program's.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

from weft.context import note
from weft.core.tensor import Tensor
from weft.core.transparency import transparent
from weft.cuts import check_strategies

#: operator classes of the library by name (``Add``, ``ReduceSum``...), what `weft.ops.operations` exports
OPERATOR_CLASSES: Final[dict[str, type]] = {}
#: derivative rules that programs registered for their operator classes: ``getter(operator)`` gives the rule
GETTERS: Final[dict[type, Callable[[Any], Callable[..., Any]]]] = {}


class Operator:
    """Base of the operator classes: what is computed, with the attributes that are fixed at construction.

    Args:
        name: of the operator; one of the library's without further arguments can be called.

    Example:
        >>> from weft import ops
        >>> print(ops.Add()(Tensor([1.0]), Tensor([2.0])))
        [3.]
        >>> class Scale(Operator):
        ...     @prim_attr_register
        ...     def __init__(self, factor):
        ...         self.init_prim_io_names(inputs=["x"], outputs=["y"])
        ...
        ...     def construct(self, x):
        ...         return x * self.factor
        >>> scale = Scale(3)
        >>> print(scale.name, scale.attrs["factor"], scale(Tensor([1.0, 2.0])))
        Scale 3 [3. 6.]
    """

    #: its attributes stay as they were made
    __weft_fixed__ = True

    #: the functional form and its fixed arguments, of the library's operators
    function: Callable[..., Any]
    fixed: dict[str, Any]
    #: what the constructor calls those that have another name there
    called: Mapping[str, str] = {}
    #: the name that was given, "" for that of the class
    _name = ""
    _instance_name = ""
    #: how inputs and results are spread over devices, None where nothing is said
    _strategy: tuple[Any, Any] | None = None

    @transparent
    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of an operator is a string, not {type(name).__name__}")
        self._name = name
        self.__dict__.setdefault("remarks", {})

    @property
    @transparent
    def name(self) -> str:
        """Name of the operator."""
        return self._name or type(self).__name__

    @property
    @transparent
    def instance_name(self) -> str:
        """The name of this one, see `set_prim_instance_name`."""
        return self._instance_name or self.name

    @property
    @transparent
    def attrs(self) -> dict[str, Any]:
        """The attributes: arguments of the constructor, and what `add_prim_attr` added."""
        return {**self._arguments(), **self.__dict__.get("remarks", {})}

    @transparent
    def _arguments(self) -> dict[str, Any]:
        """The arguments of the constructor, under the names that it gives them."""
        return {self.called.get(name, name): value for name, value in self.__dict__.get("fixed", {}).items()}

    @transparent
    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Add an attribute; it has no effect on what an operator of the library computes.

        Args:
            name: of the attribute, which a program's operator also has as an attribute of its own.
            value: any value.

        Returns:
            The operator.
        """
        self.__dict__.setdefault("remarks", {})[name] = value
        if "fixed" not in self.__dict__:
            self.__dict__[name] = value
        return self

    @transparent
    def del_prim_attr(self, name: str) -> Self:
        """Take an attribute away that was added; others stay.

        Args:
            name: of the attribute.

        Returns:
            The operator.
        """
        if name in self.__dict__.get("remarks", {}):
            del self.__dict__["remarks"][name]
            if "fixed" not in self.__dict__:
                self.__dict__.pop(name, None)
        return self

    @transparent
    def add_attr(self, name: str, value: Any) -> None:
        """Add an attribute, see `add_prim_attr`."""
        self.add_prim_attr(name, value)

    @transparent
    def del_attr(self, name: str) -> None:
        """Take an attribute away, see `del_prim_attr`."""
        self.del_prim_attr(name)

    @transparent
    def get_attr_dict(self) -> dict[str, Any]:
        """The attributes, see `attrs`."""
        return self.attrs

    @transparent
    def set_user_data(self, key: str, value: Any) -> None:
        """Keep something of the program's with the operator.

        Args:
            key: under which it is kept.
            value: any value.
        """
        self.__dict__.setdefault("user_data", {})[key] = value

    @transparent
    def get_user_data(self, key: str) -> Any:
        """What `set_user_data` kept, or None."""
        return self.__dict__.get("user_data", {}).get(key)

    @transparent
    def set_instance_name(self, instance_name: str) -> None:
        """Name this one operator, see `set_prim_instance_name`."""
        self.set_prim_instance_name(instance_name)

    @transparent
    def set_const_input_indexes(self, indexes: Sequence[int]) -> None:
        """Accepted for compatibility: which inputs are constants follows from the program."""

    @transparent
    def set_const_prim(self, is_const: bool) -> None:
        """Accepted for compatibility: what is constant follows from the program."""

    @transparent
    def set_inplace_prim(self, is_inplace: bool) -> None:
        """Accepted for compatibility: what an operator writes follows from its implementation."""

    @transparent
    def set_signatures(self, signatures: Any) -> None:
        """Accepted for compatibility: the types of inputs are those of the operations that compute the result."""

    @transparent
    def check_elim(self, *args: Any) -> tuple[bool, Any]:
        """Whether the result is known before the call, and the result; programs override it."""
        return False, None

    @transparent
    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Name the inputs and outputs.

        Args:
            inputs: names of the inputs.
            outputs: names of the outputs.
        """
        self._said("input_names", list(inputs))
        self._said("output_names", list(outputs))

    @transparent
    def set_prim_instance_name(self, instance_name: str) -> Self:
        """Name this one operator.

        Args:
            instance_name: the name.

        Returns:
            The operator.
        """
        self._instance_name = instance_name
        return self

    @transparent
    def set_device(self, device_target: str) -> Self:
        """Accepted for compatibility: placement is the compiler's."""
        return self._said("primitive_target", device_target)

    @transparent
    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Self:
        """Say how the inputs and results are spread over devices, in the parallel modes for it.

        Args:
            in_strategy: for each input, into how many parts each dimension is cut, or its `Layout`.
            out_strategy: the same for each result.

        Returns:
            The operator.

        Raises:
            TypeError: a strategy is no tuple, or not of ints or a `Layout` for each tensor.
            ValueError: a dimension is cut into less than one part.
        """
        for what, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            check_strategies(f"{self.name}.shard", what, value)
        self._strategy = None if in_strategy is None and out_strategy is None else (in_strategy, out_strategy)
        note("strategies", (f"strategies were given {next(_strategies)} times",), when_spread=True)
        self.add_prim_attr("in_strategy", in_strategy)
        when_spread = self.__dict__.pop("_when_spread", None)
        if when_spread is not None:
            when_spread(self)
        return self.add_prim_attr("out_strategy", out_strategy)

    @transparent
    def recompute(self, mode: bool = True) -> Self:
        """Record a recomputation wish."""
        return self.add_prim_attr("recompute", mode)

    @transparent
    def set_stage(self, stage: int) -> Self:
        """Record a pipeline stage."""
        return self._said("stage", stage)

    @transparent
    def _said(self, name: str, value: Any) -> Self:
        """Keep what programs say of the operator, where they read it."""
        self.__dict__[name] = value
        return self.add_prim_attr(name, value)

    @transparent
    def place(self, role: str, rank_id: int) -> Self:
        """Record where a distributed program runs the operator."""
        return self.add_prim_attr("place", (role, rank_id))

    @transparent
    def check_inputs(self, args: tuple[Any, ...]) -> Any:
        """Run the checks that a program's class has; returns a result that they know already, or None."""
        del args

    @transparent
    def __call__(self, *args: Any) -> Any:
        known = self.check_inputs(args)
        if known is not None:
            return known
        if self._strategy is not None:
            return spread_call(self, self._computed, args, {})
        return self._computed(*args)

    @transparent
    def _computed(self, *args: Any) -> Any:
        implementation = _implementation(self)
        if _getter_of(self) is None:
            return implementation(*args)
        return differentiated(self._bprop, implementation, args)

    @transparent
    def _bprop(self, *args: Any) -> Any:
        """The derivative rule that the program has for the operator."""
        getter: Any = _getter_of(self)
        return getter(self)(*args)

    @transparent
    def __repr__(self) -> str:
        shown = self._arguments() if "fixed" in self.__dict__ else self.attrs
        fields = ", ".join(f"{k}={v!r}" for k, v in shown.items())
        return f"{self.name}({fields})"


@transparent
def _implementation(operator: Operator) -> Callable[..., Any]:
    """What computes the result of a program's operator."""
    found: Any = getattr(operator, "construct", None)
    if found is None:
        found = getattr(operator, "vm_impl", None)
    if found is None and type(operator) is Operator and operator.name in OPERATOR_CLASSES:
        found = OPERATOR_CLASSES[operator.name]()
    if found is None:
        raise NotImplementedError(
            f"operator {operator.name!r} has no implementation: its class needs a method construct (or vm_impl) that "
            "computes the result from the inputs"
        )
    return found


@transparent
def _getter_of(operator: Operator) -> Any:
    """What gives the derivative rule of a program's operator, None where its operations have theirs."""
    for kind in type(operator).__mro__:
        if kind in GETTERS:
            return GETTERS[kind]
        if "get_bprop" in vars(kind):
            return vars(kind)["get_bprop"]
    return None


#: computes a function that has a derivative rule: rule, function, arguments
_differentiated: Callable[..., Any] | None = None


@transparent
def differentiated(rule: Callable[..., Any], function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Compute a function that has a derivative rule ``rule(*args, out, dout)``."""
    if _differentiated is None:
        return function(*args)
    return _differentiated(rule, function, args)


#: how often strategies were given: functions that are compiled where strategies count may have an operator of these
_strategies = itertools.count(1)


#: calls an operator that has a strategy: operator, function, arguments, arguments by name
_spread_call: Callable[..., Any] | None = None


@transparent
def spread_call(operator: Operator, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an operator whose inputs and results may be spread over devices."""
    if _spread_call is None:
        return function(*args, **kwargs)
    return _spread_call(operator, function, args, kwargs)


def spread_by(call: Callable[..., Any]) -> None:
    """Set what calls an operator that has a strategy."""
    global _spread_call
    _spread_call = call


def install(call: Callable[..., Any]) -> None:
    """Set what computes a function that has a derivative rule."""
    global _differentiated
    _differentiated = call


class PrimitiveWithInfer(Operator):
    """Base of a program's operators that say which shape and type their result has.

    Before each call ``infer_shape`` gets the shapes of the inputs (lists) and ``infer_dtype`` their element types (None
    for what is no tensor), so that they can refuse them; or ``__infer__`` gets a dictionary of ``"shape"``, ``"dtype"``
    and ``"value"`` for each. Where no input is a tensor and ``infer_value`` gives something for their values, that is
    the result.

    Args:
        name: of the operator.

    Example:
        >>> class Double(PrimitiveWithInfer):
        ...     @prim_attr_register
        ...     def __init__(self):
        ...         pass
        ...
        ...     def infer_shape(self, x):
        ...         if len(x) != 1:
        ...             raise ValueError("Double takes a vector")
        ...         return x
        ...
        ...     def infer_dtype(self, x):
        ...         return x
        ...
        ...     def construct(self, x):
        ...         return x + x
        >>> print(Double()(Tensor([1.0, 2.0])))
        [2. 4.]
    """

    @transparent
    def __infer__(self, *args: Any) -> Any:
        """What is known of the result, given what is known of the inputs."""
        shapes = []
        dtypes = []
        values = []
        for arg in args:
            shapes.append(arg["shape"])
            dtypes.append(arg["dtype"])
            values.append(arg["value"])
        found = {"shape": self.infer_shape(*shapes), "dtype": self.infer_dtype(*dtypes), "value": None}
        if None not in values:
            found["value"] = self.infer_value(*values)
        return found

    @transparent
    def infer_shape(self, *args: Any) -> Any:
        """The shape of the result, from those of the inputs; programs override it."""
        del args

    @transparent
    def infer_dtype(self, *args: Any) -> Any:
        """The element type of the result, from those of the inputs; programs override it."""
        del args

    @transparent
    def infer_value(self, *args: Any) -> Any:
        """The result where all inputs are constants, or None; programs override it."""
        del args

    @transparent
    def check_inputs(self, args: tuple[Any, ...]) -> Any:
        described = []
        for arg in args:
            described.append(_described(arg))
        found = self.__infer__(*described)
        return found.get("value") if isinstance(found, dict) else None


class PrimitiveWithCheck(Operator):
    """Base of a program's operators that check their inputs.

    Before each call ``check_shape`` gets the shapes of the inputs (lists) and ``check_dtype`` their element types (None
    for what is no tensor); or ``__check__`` gets a dictionary of ``"shape"``, ``"dtype"`` and ``"value"`` for each.

    Args:
        name: of the operator.

    Example:
        >>> class Negative(PrimitiveWithCheck):
        ...     @prim_attr_register
        ...     def __init__(self):
        ...         pass
        ...
        ...     def check_dtype(self, x):
        ...         if not x.is_floating:
        ...             raise TypeError(f"Negative takes floats, not {x}")
        ...
        ...     def construct(self, x):
        ...         return -x
        >>> Negative()(Tensor([1, 2]))
        Traceback (most recent call last):
            ...
        TypeError: Negative takes floats, not Int64
    """

    @transparent
    def __check__(self, *args: Any) -> None:
        """Refuse inputs, given what is known of them."""
        shapes = []
        dtypes = []
        for arg in args:
            shapes.append(arg["shape"])
            dtypes.append(arg["dtype"])
        self.check_shape(*shapes)
        self.check_dtype(*dtypes)

    @transparent
    def check_shape(self, *args: Any) -> None:
        """Refuse shapes of inputs; programs override it."""
        del args

    @transparent
    def check_dtype(self, *args: Any) -> None:
        """Refuse element types of inputs; programs override it."""
        del args

    @transparent
    def infer_value(self, *args: Any) -> Any:
        """The result where all inputs are constants, or None; programs override it."""
        del args

    @transparent
    def check_inputs(self, args: tuple[Any, ...]) -> Any:
        described = []
        values = []
        for arg in args:
            described.append(_described(arg))
            values.append(described[-1]["value"])
        self.__check__(*described)
        return self.infer_value(*values) if None not in values else None


@transparent
def _described(value: Any) -> dict[str, Any]:
    """What is known of an input before the call."""
    if isinstance(value, Tensor):
        return {"shape": list(value.shape), "dtype": value.dtype, "value": None}
    if isinstance(value, (tuple, list)):
        shapes = []
        dtypes = []
        values: Any = []
        for item in value:
            part = _described(item)
            shapes.append(part["shape"])
            dtypes.append(part["dtype"])
            values.append(part["value"])
        return {"shape": shapes, "dtype": dtypes, "value": None if None in values else value}
    return {"shape": [], "dtype": None, "value": value}


@transparent
def prim_attr_register(fn: Any) -> Any:
    """Decorate the constructor of an operator class, so that its arguments become attributes of the operator.

    Args:
        fn: the ``__init__`` of a class derived from `Operator`.

    Returns:
        The ``__init__``, which first gives the operator the name of its class and adds its arguments, those that are
        left out with their defaults, as attributes.

    Example:
        >>> class Shift(Operator):
        ...     @prim_attr_register
        ...     def __init__(self, by=2):
        ...         pass
        ...
        ...     def construct(self, x):
        ...         return x + self.by
        >>> Shift().attrs, Shift(5)(1)
        ({'by': 2}, 6)
    """
    code: Any = fn.__code__
    names = code.co_varnames[1 : code.co_argcount]
    given: Any = fn.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True)) | (fn.__kwdefaults__ or {})
    every = names + code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(fn)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        self._name = type(self).__name__
        self.__dict__.setdefault("remarks", {})
        for position, name in enumerate(every):
            if position < min(len(args), len(names)):
                self.add_prim_attr(name, args[position])
            elif name in kwargs or name in defaults:
                self.add_prim_attr(name, kwargs[name] if name in kwargs else defaults[name])
        fn(self, *args, **kwargs)

    return initialize
