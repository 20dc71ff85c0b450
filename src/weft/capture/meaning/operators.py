"""Operators that are calls of the user's special methods, so that a frame can wait for them as for any call.

Python asks one operand after the other; the functions that do so here are entered by the interpreter like the user's.
They stand on no stack that the program sees.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from weft.capture.meaning.impostors import unsupported_operands
from weft.capture.meaning.objects import BINARY, COMPARE, INPLACE, PLAIN, SEQUENCES, UNARY
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText
from weft.core.run_number import RunNumber
from weft.core.transparency import frameless

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: a function and its arguments
Entered = tuple[types.FunctionType, list[Any]]
_NUMBERS: Final = (int, float, complex)
#: operands of which no special method is the user's
_LIBRARY: Final = (RunNumber, LazyText, Journaled)


@frameless
def operate(
    operation: Any, left: Any, right: Any, method: Any, first: Any, second: Any, then: Any, identity: bool | None
) -> Any:
    """An operation that special methods decide.

    Args:
        operation: the native function, which words the error.
        left: the left operand.
        right: the right operand.
        method: the special method that is asked first.
        first: the operand that it belongs to.
        second: the other operand.
        then: the method of the other operand that is asked next, None if there is none.
        identity: for a comparison by default, what it says of one object; None for what is an error then.
    """
    result = method(first, second)
    if result is NotImplemented and then is not None:
        result = then(second, first)
    if result is NotImplemented:
        if identity is None:
            unsupported_operands(operation, left, right)
        return (left is right) is identity
    return result


@frameless
def operate_in_place(method: Any, left: Any, right: Any, otherwise: Callable[[Any, Any], Any]) -> Any:
    """An augmented assignment that the left operand decides, or the operation without assignment."""
    result = method(left, right)
    if result is NotImplemented:
        return otherwise(left, right)
    return result


@frameless
def is_in(method: Any, container: Any, item: Any, inverted: bool) -> Any:
    """`item in container`, or `not in`, that the container decides."""
    found = bool(method(container, item))
    return not found if inverted else found


@frameless
def get_or_ask(getter: Any, obj: Any, otherwise: Any, name: str) -> Any:
    """An attribute that a property has, or that `__getattr__` gives where the property has none."""
    try:
        return getter(obj)
    except AttributeError:
        pass
    return otherwise(obj, name)


@frameless
def compute_cached(function: Any, obj: Any, name: str) -> Any:
    """An attribute that a `functools.cached_property` computes."""
    value = obj.__dict__[name] = function(obj)
    return value


def binary(machine: Machine, number: int, left: Any, right: Any) -> Entered | None:
    """The call that a binary operator is, None if it is not one of the user's methods that is asked first.

    Args:
        machine: the interpreter.
        number: the argument of the instruction.
        left: the left operand.
        right: the right operand.
    """
    if not _may_be_users(left, right):
        return None
    function, method, reflected = BINARY[number % len(BINARY)]
    if number >= len(BINARY):
        shown, name = INPLACE[number % len(BINARY)]
        own = machine.objects.user_method(left, name)
        if own is not None:
            machine.arrays.refuse_opaque(left, right)
            return operate_in_place, [own, left, right, function]  # type: ignore[return-value]
        if class_attribute(type(left), name) is not MISSING:
            return None
        function = shown
    if method in ("__add__", "__mul__") and (isinstance(left, SEQUENCES) or isinstance(right, SEQUENCES)):
        return None  # which are asked in two ways
    asked = machine.objects.asked_in_turn(method, reflected, left, right)
    return _entered(machine, function, left, right, asked, None)


def comparison(machine: Machine, symbol: str, left: Any, right: Any) -> Entered | None:
    """The call that a comparison is, None if it is not one of the user's methods that is asked first."""
    if symbol == "!=" or not _may_be_users(left, right):  # by default `!=` asks `__eq__`
        return None
    function, method, reflected = COMPARE[symbol]
    sides = [(left, right, method), (right, left, reflected)]
    if type(left) is not type(right) and issubclass(type(right), type(left)):
        sides.reverse()
    asked: list[tuple[Any, Any, Any]] = []
    for first, second, name in sides:
        user = machine.objects.user_method(first, name)
        found = user or class_attribute(type(first), name)
        if user is None and not isinstance(found, types.WrapperDescriptorType):
            return None
        if user is not None or class_attribute(object, name) is not found:  # an object as such has no answer
            asked.append((found, first, second))
    return _entered(machine, function, left, right, asked, True if symbol == "==" else None)


def membership(machine: Machine, container: Any, item: Any, inverted: bool) -> Entered | None:
    """The call that ``item in container`` is, None if the container's class has no such method of the user's."""
    own = machine.objects.user_method(container, "__contains__")
    if own is None:
        return None
    machine.arrays.refuse_opaque(container, item)
    return is_in, [own, container, item, inverted]  # type: ignore[return-value]


def unary(machine: Machine, name: str, value: Any) -> Entered | None:
    """The call that `-value`, `+value` or `~value` is, None if the method is not the user's."""
    if issubclass(type(value), _LIBRARY):
        return None
    own = machine.objects.user_method(value, UNARY[name][1])
    if own is None:
        return None
    machine.arrays.refuse_opaque(value)
    return own, [value]


def _may_be_users(left: Any, right: Any) -> bool:
    """Whether one of two operands may have special methods of the user's."""
    kinds = type(left), type(right)
    plain = kinds[0] in PLAIN and kinds[1] in PLAIN
    return not plain and not any(issubclass(kind, _LIBRARY) for kind in kinds)


def _entered(
    machine: Machine, function: Any, left: Any, right: Any, asked: list[tuple[Any, Any, Any]], identity: bool | None
) -> Entered | None:
    asked = [one for one in asked if isinstance(one[0], types.FunctionType) or not _is_number_beside_other(*one[1:])]
    if (
        not asked
        or not isinstance(asked[0][0], types.FunctionType)
        or machine.calls.is_native(asked[0][0], asked[0][1])
    ):
        return None
    machine.arrays.refuse_opaque(left, right)
    method, first, second = asked[0]
    then = asked[1][0] if len(asked) > 1 else None
    return operate, [function, left, right, method, first, second, then, identity]  # type: ignore[return-value]


def _is_number_beside_other(first: Any, second: Any) -> bool:
    """Whether Python's own number is asked about what is none, to which it has no answer."""
    return isinstance(first, _NUMBERS) and not isinstance(second, _NUMBERS)
