"""Callables that have a handler of their own: builtins and functions of libraries."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

Handler = Callable[[Any, list[Any], dict[str, Any]], Any]
_TABLE: Final[dict[Any, Handler]] = {}
_HASHABLE: Final = (type, types.BuiltinFunctionType, types.FunctionType, types.WrapperDescriptorType)


def handler_for(callee: Any) -> Handler | None:
    """The handler of a builtin or a library function, None if it has none."""
    return _TABLE.get(callee) if is_identified(callee) else None


def is_identified(callee: Any) -> bool:
    """Whether tables of callables can be asked for one: its hash is its identity, and no code of the user's."""
    return isinstance(callee, _HASHABLE) and not isinstance(type(callee).__hash__, types.FunctionType)


def handles(*callees: Any) -> Callable[[Handler], Handler]:
    """Declare a function to be the handler of some callables."""

    def register(handler: Handler) -> Handler:
        for callee in callees:
            if callee in _TABLE:
                raise ValueError(f"two handlers for {callee!r}")
            _TABLE[callee] = _shaped(callee, handler) if callee in _SHAPES else handler
        return handler

    return register


def refused(name: str, do: str) -> Handler:
    """A handler that refuses the call, and says what to do instead."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise Unsupported(Refusal.IMPURE_CALL, f"{name}() cannot be part of a graph", do)

    return handler


_OPERATORS: Final = (
    "add", "and_", "floordiv", "lshift", "matmul", "mul", "mod", "or_", "pow", "rshift", "sub", "truediv", "xor",
)  # fmt: skip
#: functions that are operators of two operands, then those that are in-place ones, in the order of CPython's BINARY_OP
TWO_OPERANDS: Final = [
    getattr(operator, name) for name in (*_OPERATORS, *["i" + name.strip("_") for name in _OPERATORS])
]
#: builtin -> (least, most positional arguments, names of keyword arguments) that its handler understands
_SHAPES: Final[dict[Any, tuple[int, int, frozenset[str]]]] = {
    **dict.fromkeys(
        (bool, abs, hash, len, repr, dir, reversed, tuple, list, set, frozenset, sys.exc_info, globals, locals, vars),
        (0, 1, frozenset()),
    ),
    **dict.fromkeys((divmod, hasattr, delattr, isinstance, issubclass), (2, 2, frozenset())),
    **dict.fromkeys(TWO_OPERANDS, (2, 2, frozenset())),
    bytes: (0, 3, frozenset({"encoding", "errors"})),
    round: (1, 2, frozenset({"ndigits"})),
    format: (1, 2, frozenset()),
    iter: (1, 2, frozenset()),
    next: (1, 2, frozenset()),
    range: (1, 3, frozenset()),
    zip: (0, sys.maxsize, frozenset({"strict"})),
    map: (2, sys.maxsize, frozenset()),
    filter: (2, 2, frozenset()),
    itertools.starmap: (2, 2, frozenset()),
    functools.reduce: (2, 3, frozenset()),
    sorted: (1, 1, frozenset({"key", "reverse"})),
    sum: (1, 2, frozenset({"start"})),
    any: (1, 1, frozenset()),
    all: (1, 1, frozenset()),
    min: (1, sys.maxsize, frozenset({"key", "default"})),
    max: (1, sys.maxsize, frozenset({"key", "default"})),
    getattr: (2, 3, frozenset()),
    setattr: (3, 3, frozenset()),
    id: (1, 1, frozenset()),
}
#: those whose arguments cannot be absent although their shape allows it
_NEVER_EMPTY: Final = (abs, hash, len, repr, reversed)


def _shaped(callee: Any, handler: Handler) -> Handler:
    """A handler that leaves arguments which do not fit to the builtin itself, for the error that they deserve."""
    least, most, names = _SHAPES[callee]
    if callee in _NEVER_EMPTY:
        least = 1

    def checked(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if least <= len(args) <= most and kwargs.keys() <= names:
            return handler(machine, args, kwargs)
        return machine.native.call((), callee, *args, **kwargs)

    return checked
