"""How cells are declared that differ in a few words only.

`declared` makes a constructor of its signature, `Applied` makes cells of operations, and in a family (`Described`) a
docstring says what is a member's own.
"""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from weft.core import Described, Operator, Tensor
from weft.core.declare import constructor_template
from weft.nn.cell import Cell
from weft.ops._checks import bools, ints, positive_ints
from weft.parallel.modes import is_in_auto_parallel_mode
from weft.parallel.strategies import spread

__all__ = [
    "Applied", "Build", "Check", "Described", "Shown", "constructor", "declared", "flag", "integer", "keep", "like",
    "number", "positive_int", "real", "signed", "with_operators",
]  # fmt: skip

_P = ParamSpec("_P")
_Class = TypeVar("_Class", bound=type[Cell])
#: given the name of a class, of a parameter and its value: the value to keep, or an error
Check = Callable[[str, str, Any], Any]
#: makes an instance of a class from what its constructor was given, by name
Build = Callable[[Any, Any, dict[str, Any]], None]

# -- constructors ----------------------------------------------------------------------------------------------


class _Constructor:
    """Stands in the body of a class for its constructor, which is made as soon as the class is known."""

    def __init__(self, stub: Any, build: Build) -> None:
        self.stub, self.build = stub, build

    def __set_name__(self, owner: Any, name: str) -> None:
        stub, build = self.stub, self.build
        code = stub.__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        body = "_build(self, _owner, dict(zip(_names, {values})))"
        scope = {"_build": build, "_owner": owner, "_names": names, "__name__": owner.__module__}
        made = _function(names, code.co_kwonlyargcount, body, scope, stub.__defaults__)
        made.__kwdefaults__, made.__annotations__ = stub.__kwdefaults__, stub.__annotations__
        made.__qualname__, made.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
        owner.__init__, owner._declared = made, stub.__annotations__


def _function(names: tuple[str, ...], keyword: int, body: str, scope: dict[str, Any], defaults: Any) -> Any:
    """A constructor with such parameters, the last of which may be given by name only."""
    template = constructor_template(len(names) - keyword, keyword, body)
    return FunctionType(template.replace(co_varnames=("self", *names)), scope, "__init__", defaults)


def signed(annotations: dict[str, Any], defaults: dict[str, Any], keyword: int = 0) -> Any:
    """An empty constructor of a signature, for the decorators below.

    Args:
        annotations: of the parameters, in their order, and of ``return``.
        defaults: of parameters that need not be given.
        keyword: how many of the parameters may be given by name only, the last ones.
    """
    names = tuple([each for each in annotations if each != "return"])
    positional = names[: len(names) - keyword]
    made = _function(names, keyword, "pass", {}, tuple([defaults[each] for each in positional if each in defaults]))
    made.__kwdefaults__ = {each: defaults[each] for each in names[len(positional) :] if each in defaults} or None
    made.__annotations__ = annotations
    return made


def like(base: Callable[_P, None], without: Sequence[str] = (), **defaults: Any) -> Callable[_P, None]:
    """An empty constructor with parameters of another one, for the decorators below.

    Args:
        base: the other constructor.
        without: parameters that are left out.
        defaults: other values of parameters that are not given.

    Example:
        >>> class Power(Cell):
        ...     def __init__(self, exponent: float = 1, factor: float = 1) -> None:
        ...         super().__init__()
        ...         self.exponent, self.factor = exponent, factor
        >>> class Square(Power):
        ...     __init__ = declared()(like(Power.__init__, without=("factor",), exponent=2))
        >>> Square().exponent
        2
    """
    code, given = base.__code__, base.__defaults__ or ()
    every = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    last = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    known = {**dict(zip(last, given, strict=True)), **(base.__kwdefaults__ or {}), **defaults}
    annotations = {each: base.__annotations__[each] for each in (*every, "return") if each not in without}
    keyword = len([each for each in every[code.co_argcount - 1 :] if each not in without])
    made: Callable[_P, None] = signed(annotations, known, keyword)
    return made


def constructor(build: Build) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Make constructors of signatures.

    Args:
        build: given the instance, the class and the arguments by name, does what the constructor does.

    Returns:
        A decorator of an empty ``__init__``.
    """

    def decorate(stub: Callable[_P, None]) -> Callable[_P, None]:
        made: Any = _Constructor(stub, build)
        return made

    return decorate


def declared(**checks: Check) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Make a constructor of its signature: what the base's constructor takes goes to it, the rest becomes attributes.

    Args:
        checks: for a parameter that is checked or converted: what gives the value to keep.

    Returns:
        A decorator of an empty ``__init__``. Where the class defines `_made`, the constructor calls that at the end.

    Example:
        >>> class Scaled(Cell):
        ...     @declared(factor=real)
        ...     def __init__(self, factor: float = 2) -> None: ...
        ...     def construct(self, x):
        ...         return x * self.factor
        >>> Scaled().factor
        2.0
    """

    def build(self: Any, owner: Any, given: dict[str, Any]) -> None:
        base: Any = super(owner, self).__init__
        code = base.__code__
        taken = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        base(**{name: given.pop(name) for name in taken if name in given})
        keep(self, owner, given, checks)

    return constructor(build)


def keep(self: Any, owner: Any, given: dict[str, Any], checks: dict[str, Check]) -> None:
    """Make attributes of arguments, checked or converted; then what the class that declares them does with them."""
    name = type(self).__name__
    for what, value in given.items():
        setattr(self, what, checks[what](name, what, value) if what in checks else value)
    if "_made" in owner.__dict__:
        owner._made(self)


def real(cell: str, what: str, value: Any) -> float:
    """A number as a float."""
    return float(value)


def number(cell: str, what: str, value: Any) -> float:
    """An int or a float, as a float.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, (int, float)):
        raise TypeError(f"{cell}: {what} must be a number, not {type(value).__name__}")
    return float(value)


def _checked(check: Callable[..., None]) -> Check:
    """The check of a parameter that functions make of their arguments; the value stays as it is."""

    def checked(cell: str, what: str, value: Any) -> Any:
        check(cell, **{what: value})
        return value

    return checked


flag: Callable[[str, str, Any], bool] = _checked(bools)
integer: Callable[[str, str, Any], int] = _checked(ints)
positive_int: Callable[[str, str, Any], int] = _checked(positive_ints)

# -- operators of layers ---------------------------------------------------------------------------------------


class _Operator:
    """An operator of a layer, made of its settings when it is first asked for; the layer's attributes come first."""

    #: its attributes stay as they were made
    __weft_fixed__ = True

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name = name
        self._make = make
        self._made: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def __get__(self, cell: Any, kind: type) -> Any:
        if cell is None:
            return self
        found = self._made.get(cell)
        if found is None:
            found = self._make(cell)
            if isinstance(found, Operator):
                found.__dict__["_when_spread"] = functools.partial(_compute_with, weakref.ref(cell), self._name)
            found = self._made.setdefault(cell, found)
        return found


def _compute_with(layer: weakref.ref[Any], name: str, operator: Any) -> None:
    """Let a layer compute with its operators from now on, since one of them is spread over devices."""
    cell = layer()
    if cell is None:
        return
    instead = f"spread the layer itself, {type(cell).__name__}(...).shard(in_strategy), or the operators of a Cell of"
    if through := _in_place_of_construct(cell, "_by_operators", f"{name}.shard", f"{instead} your own"):
        setattr(cell, name, operator)  # so that copies of the layer have it
        cell.construct = types.MethodType(through, cell)


def _compute_with_own(cell: Any, name: str) -> None:
    """Let a layer compute with an operator that a program has set."""
    if through := _in_place_of_construct(cell, "_with_own", name, "write a construct of your own that does"):
        cell.construct = types.MethodType(through, cell)


def _in_place_of_construct(cell: Any, method: str, said: str, instead: str) -> Any:
    """The method of a layer that computes with its operators; where the layer has none, a warning says so."""
    kind = type(cell)
    if not kind.construct.__module__.startswith("weft."):
        return None  # the program's own `construct` calls them
    through = getattr(kind, method, None)
    if through is None:
        name = kind.__name__
        says_nothing = f"{name}.{said} says nothing: {name} does not compute with this operator"
        warnings.warn(f"{says_nothing}; {instead}", stacklevel=4)
    return through


def with_inputs_spread(*names: str) -> Callable[[Any, Any], Any]:
    """How a layer computes whose operators say only how its input and its result are spread.

    Args:
        names: of the operators.
    """

    def through(layer: Any, x: Any) -> Any:
        spread_out = [operator for name in names if (operator := getattr(layer, name))._strategy is not None]
        for operator in spread_out if is_in_auto_parallel_mode() else ():
            (x,) = spread(operator.name, (x,), (operator._strategy[0] or (None,))[:1])
        out = type(layer).construct(layer, x)
        for operator in spread_out if is_in_auto_parallel_mode() else ():
            (out,) = spread(operator.name, (out,), (operator._strategy[1] or (None,))[:1], (), "result")
        return out

    return through


def with_operators(**makers: Callable[[Any], Any]) -> Callable[[_Class], _Class]:
    """Let a layer have operators as attributes, as MindSpore's layers do: classes that derive from it call them.

    Args:
        makers: for each attribute what makes it of the layer.

    Example:
        >>> from weft import nn
        >>> class Standardized(nn.Conv2d):
        ...     def construct(self, x):
        ...         weight = self.weight - self.weight.mean((1, 2, 3), keep_dims=True)
        ...         return self.conv2d(x, weight)
        >>> Standardized(3, 2, 3)(Tensor([[[[1.0]], [[2.0]], [[3.0]]]])).shape
        (1, 2, 1, 1)
    """

    def decorate(cls: _Class) -> _Class:
        for name, make in makers.items():
            _set_operator(cls, name, make)
        return cls

    return decorate


def _set_operator(cls: Any, name: str, make: Callable[[Any], Any]) -> None:
    setattr(cls, name, _Operator(name, make))
    cls._operator_names = cls._operator_names | {name}
    cls._operator_set = _compute_with_own


# -- operations as cells ---------------------------------------------------------------------------------------


class _OfLayer(Operator):
    """The operation of a layer, with the settings that the layer has now.

    Args:
        layer: the layer.
        operation: what it applies.
        names: its settings.
    """

    def __init__(self, layer: Cell, operation: Callable[..., Tensor], names: Sequence[str]) -> None:
        super().__init__(type(layer).__name__)
        self._operation, self._settings = operation, [getattr(layer, name) for name in names]

    def construct(self, x: Tensor) -> Tensor:
        return self._operation(x, *self._settings)


class Applied(Cell):
    """Base of the cells that apply an operation to one tensor: ``class ReLU(Applied, operation=ops.relu)``.

    The operation is given the attributes that the constructor keeps, in the order of its parameters. As in MindSpore
    the layer has it as an attribute, too (``ReLU().relu``).
    """

    def __init_subclass__(cls, operation: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        if operation is not None:
            code = cls.__init__.__code__
            names = () if cls.__init__ is Cell.__init__ else code.co_varnames[1 : code.co_argcount]
            cls.construct = _applying(operation, names)  # type: ignore[method-assign]
            cls.construct.__qualname__ = f"{cls.__qualname__}.construct"
            name = operation.__name__
            if name not in names:  # a setting comes first
                _set_operator(cls, name, lambda layer: _OfLayer(layer, operation, names))
                cls._by_operators = with_inputs_spread(name)  # type: ignore[attr-defined]
                cls._with_own = calling(name)  # type: ignore[attr-defined]
        super().__init_subclass__(**kwargs)


def calling(name: str) -> Callable[[Any, Any], Any]:
    """A `construct` that calls an attribute."""

    def construct(self: Any, x: Any) -> Any:
        return getattr(self, name)(x)

    return construct


def _applying(operation: Callable[..., Any], names: Sequence[str]) -> Any:
    def construct(self: Cell, x: Tensor) -> Tensor:
        return operation(x, *[getattr(self, name) for name in names])

    return construct


class Shown(Described, Cell):
    """Base of cells whose example is one call: ``class Roll(Shown, shows=("Roll(1, 0)(Tensor([1, 2]))", "[2 1]"))``."""

    _example = """
        >>> print({})
        {}
    """
