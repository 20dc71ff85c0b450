"""Functions that take some element types only, where programs are given them.

Operations compute wherever there is an answer, and layers and gradients rely on that. What MindSpore's functions take
is a promise of its API, so it is checked at the edge: `accepting` makes of a function one that looks at the element
type of an operand, and only programs get that one. The look costs one test of membership.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from weft import dtypes
from weft.core.declare import checked_form
from weft.core.tensor import Tensor
from weft.core.tracebacks import hide_operation
from weft.dtypes import DType


class Accepted(NamedTuple):
    """The element types that a function takes."""

    types: tuple[DType, ...]
    #: the place of the argument
    at: int = 0
    #: whether the operands are promoted to one type first, which then counts
    promoted: bool = False
    error: type[Exception] = TypeError

    @property
    def refused(self) -> frozenset[np.dtype[Any]]:
        """The others, as NumPy knows them."""
        return frozenset(each.np_dtype for each in dtypes.ALL if each not in self.types)


#: words for several types
_FAMILIES: Final = {
    "signed": "int8 int16 int32 int64",
    "integers": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "floats": "float16 bfloat16 float32 float64",
    "complex": "complex64 complex128",
}
_ERRORS: Final[dict[str, type[Exception]]] = {"TypeError": TypeError, "ValueError": ValueError}


def parsed(table: str) -> dict[str, Accepted]:
    """A table of accepted element types, by function.

    A line has the types or families of types, separated by spaces, a colon, and functions: ``ops.celu``; ``ops.einsum[1]`` for the argument
    at place 1; ``~ops.fmax`` where promoted types count. A last word ``=> ValueError`` says what is raised.

    Example:
        >>> found = parsed("float16 float32: ops.lrn ~ops.fmax[1]")["ops.fmax"]
        >>> found.types, found.at, found.promoted
        ((mindspore.float16, mindspore.float32), 1, True)
    """
    found = {}
    for line in filter(None, map(str.strip, table.splitlines())):
        types, _, rest = line.partition(":")
        names, _, error = rest.partition("=>")
        taken = tuple(dtypes.of(name) for word in types.split() for name in _FAMILIES.get(word, word).split())
        for each in names.split():
            name, _, place = each.lstrip("~").partition("[")
            at = int(place[:-1]) if place else 0
            found[name] = Accepted(taken, at, each[0] == "~", _ERRORS[error.strip() or "TypeError"])
    return found


def accepting(function: Any, rule: Accepted, name: str, module: str, parameter: str = "") -> Any:
    """A function that refuses operands of other element types.

    Args:
        function: a function of the library.
        rule: what it takes.
        name: what messages call it.
        module: the module that offers it.
        parameter: the name of the argument, where it is not that of the function's parameter.

    Example:
        >>> from weft.ops.elementwise import ceil
        >>> strict = accepting(ceil, Accepted((dtypes.float32,)), "ceil", __name__)
        >>> strict(Tensor([1]))
        Traceback (most recent call last):
            ...
        TypeError: ceil() takes tensors of float32 as input, not int64
    """
    refuse = _refusal(function, rule, name, parameter)
    made = checked_form(function, rule.at, rule.refused, refuse, module)
    return _wrapped(function, rule, refuse, module) if made is None else made


def _refusal(function: Any, rule: Accepted, name: str, parameter: str) -> Callable[[Any, tuple[Any, ...]], None]:
    """What looks closer at an operand, and raises where its type is not taken."""

    def refuse(given: Any, operands: tuple[Any, ...]) -> None:
        strange = next((each for each in _types_in((given,)) if each not in rule.types), None)
        if strange is None or (rule.promoted and _common(operands) in rule.types):
            return
        taken = [each.np_dtype.name for each in rule.types]
        words = f"{', '.join(taken[:-1])} or {taken[-1]}" if len(taken) > 1 else taken[0]
        where = parameter or parameter_at(function, rule.at)
        raise rule.error(f"{name}() takes tensors of {words} as {where}, not {strange.np_dtype.name}") from None

    return refuse


def _types_in(values: Iterable[Any]) -> Iterable[DType]:
    """The element types of tensors, those in lists and tuples included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value.dtype
        elif isinstance(value, (list, tuple)):
            yield from _types_in(value)


def _common(operands: tuple[Any, ...]) -> DType:
    return functools.reduce(dtypes.promote, _types_in(operands))


@functools.cache
def parameter_at(function: Any, at: int) -> str:
    """The name of the parameter at a place, or of that for any number of arguments."""
    parameters = list(inspect.signature(function).parameters.values())
    return parameters[at].name if at < len(parameters) else parameters[-1].name


def _wrapped(function: Any, rule: Accepted, refuse: Callable[[Any, tuple[Any, ...]], None], module: str) -> Any:
    at, refused = rule.at, rule.refused

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            try:
                if args[at]._data.dtype in refused:
                    refuse(args[at], args)
            except AttributeError:
                refuse(args[at], args)
            except IndexError:
                if kwargs:
                    refuse(kwargs.get(parameter_at(function, at)), (*args, *kwargs.values()))
            return function(*args, **kwargs)
        except Exception as error:
            hide_operation(error)
            raise

    checked.__module__ = module
    return checked
