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

from weft import dtypes
from weft.core import Tensor
from weft.core.declare import Look, checked_form
from weft.core.tracebacks import hide_operation
from weft.dtypes import DType


class Accepted(NamedTuple):
    """What a function takes as one of its arguments."""

    #: element types of tensors; empty where the class of the argument counts
    types: tuple[DType, ...]
    #: the place of the argument
    at: int = 0
    #: whether the operands are promoted to one type first, which then counts
    promoted: bool = False
    error: type[Exception] = TypeError
    #: a word of `_KINDS`: what is taken, whatever the element type
    kind: str = ""


@functools.cache
def _refused(types: tuple[DType, ...], kind: str) -> frozenset[Any]:
    """What is not taken: element types, as NumPy knows them, or Python's classes."""
    if kind in _KINDS:
        return _KINDS[kind]
    # what is "alike" depends on another argument
    return frozenset(each.np_dtype for each in dtypes.ALL if kind or each not in types)


#: words for several types
_FAMILIES: Final = {
    "signed": "int8 int16 int32 int64",
    "integers": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "floats": "float16 bfloat16 float32 float64",
    "complex": "complex64 complex128",
}
_ERRORS: Final[dict[str, type[Exception]]] = {"TypeError": TypeError, "ValueError": ValueError}
_NUMBERS: Final = frozenset({bool, int, float, complex})
_KINDS: Final = {
    "tensors": _NUMBERS,
    "tensors and bools": _NUMBERS - {bool},
    "sequences": _NUMBERS,
    "axes": frozenset({type(None)}),
}


def parsed(table: str) -> dict[str, tuple[Accepted, ...]]:
    """A table of what functions take, by function.

    A line has types or families of types, separated by spaces, or ``tensors``, ``sequences`` (no numbers), ``tensors
    and bools``, ``axes`` (not None) or ``alike`` (the type of the first tensor), a colon, and functions: ``ops.celu``;
    ``ops.einsum[1]`` for the argument at place 1; ``~ops.fmax`` where promoted types count. A last word ``=>
    ValueError`` says what is raised.

    Example:
        >>> (found,) = parsed("float16 float32: ops.lrn ~ops.fmax[1]")["ops.fmax"]
        >>> found.types, found.at, found.promoted
        ((mindspore.float16, mindspore.float32), 1, True)
    """
    found: dict[str, tuple[Accepted, ...]] = {}
    for line in filter(None, map(str.strip, table.splitlines())):
        words, _, rest = line.partition(":")
        names, _, error = rest.partition("=>")
        kind = words if words in _KINDS or words == "alike" else ""
        taken = () if kind else tuple(dtypes.of(n) for word in words.split() for n in _FAMILIES.get(word, word).split())
        for each in names.split():
            name, _, place = each.lstrip("~").partition("[")
            at = int(place[:-1]) if place else 0
            rule = Accepted(taken, at, each[0] == "~", _ERRORS[error.strip() or "TypeError"], kind)
            found[name] = (*found.get(name, ()), rule)
    return found


def accepting(
    function: Any,
    rules: tuple[Accepted, ...],
    name: str,
    module: str,
    named: Callable[[int], str] | None = None,
    shift: int = 0,
) -> Any:
    """A function that refuses arguments of other types.

    Args:
        function: a function of the library.
        rules: what it takes.
        name: what messages call it.
        module: the module that offers it.
        named: gives the name of an argument by its place in the rules; None for those of the function's parameters.
        shift: how many arguments come before those that the rules count.

    Example:
        >>> from weft.ops.elementwise import ceil
        >>> strict = accepting(ceil, (Accepted((dtypes.float32,)),), "ceil", __name__)
        >>> strict(Tensor([1]))
        Traceback (most recent call last):
            ...
        TypeError: ceil() takes tensors of float32 as input, not int64
    """
    named = named or functools.partial(parameter_at, function)
    looks = tuple(
        Look(rule.at + shift, _refused(rule.types, rule.kind), rule.kind in ("", "alike"), _refusal(rule, name, named))
        for rule in rules
    )
    made = checked_form(function, looks, module)
    return _wrapped(function, looks, module) if made is None else made


def _refusal(rule: Accepted, name: str, named: Callable[[int], str]) -> Callable[[Any, tuple[Any, ...]], None]:
    """What looks closer at an argument, and raises where it is not taken."""

    def refuse(given: Any, operands: tuple[Any, ...]) -> None:
        if rule.kind == "alike":
            first = next(iter(_types_in(operands)), None)
            if first is None or not isinstance(given, Tensor) or given.dtype is first:
                return
            taken, found = f"tensors of {first.np_dtype.name}", given.dtype.np_dtype.name
        elif rule.kind:
            taken, found = rule.kind, type(given).__name__
            if type(given) not in _KINDS[rule.kind]:
                return
        else:
            strange = next((each for each in _types_in((given,)) if each not in rule.types), None)
            if strange is None or (
                rule.promoted and functools.reduce(dtypes.promote, _types_in(operands)) in rule.types
            ):
                return
            *others, last = [each.np_dtype.name for each in rule.types]
            taken = f"tensors of {', '.join(others)} or {last}" if others else f"tensors of {last}"
            found = strange.np_dtype.name
        raise rule.error(f"{name}() takes {taken} as {named(rule.at)}, not {found}") from None

    return refuse


def _types_in(values: Iterable[Any]) -> Iterable[DType]:
    """The element types of tensors, those in lists and tuples included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value.dtype
        elif isinstance(value, (list, tuple)):
            yield from _types_in(value)


@functools.cache
def parameter_at(function: Any, at: int) -> str:
    """The name of the parameter at a place, or of that for any number of arguments."""
    parameters = list(inspect.signature(function).parameters.values())
    return parameters[at].name if at < len(parameters) else parameters[-1].name


def _wrapped(function: Any, looks: tuple[Look, ...], module: str) -> Any:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            for at, refused, of_elements, refuse in looks:
                try:
                    given = args[at]
                    if (given._data.aval.dtype if of_elements else given.__class__) in refused:
                        refuse(given, args)
                except AttributeError:
                    refuse(given, args)
                except IndexError:
                    name = parameter_at(function, at) if kwargs else ""
                    if name in kwargs:
                        refuse(kwargs[name], (*args, *kwargs.values()))
            return function(*args, **kwargs)
        except Exception as error:
            hide_operation(error)
            raise

    checked.__module__ = module
    return checked
