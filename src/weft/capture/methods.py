"""Which of the user's functions an attribute or item access consists of, so that a frame can wait for it."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from weft.capture.access import MISSING, class_attribute
from weft.capture.journal import Journaled

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

#: a function and its arguments
Entered = tuple[types.FunctionType, list[Any]]


def getter(interp: Interpreter, obj: Any, name: str) -> Entered | None:
    """The call that `obj.name` is: that of a property. None if it is more, or less, than a call."""
    found = _property(obj, name)
    if found is None or not _is_entered(interp, found.fget, obj):
        return None
    kind = type(obj)
    if any(_is_entered(interp, class_attribute(kind, hook), obj) for hook in ("__getattribute__", "__getattr__")):
        return None
    interp.look_up(kind, name)
    return found.fget, [obj]  # type: ignore[return-value]


def setter(interp: Interpreter, obj: Any, name: str, value: Any) -> Entered | None:
    """The call that ``obj.name = value`` is: of `__setattr__`, or of a property."""
    custom = class_attribute(type(obj), "__setattr__")
    if isinstance(custom, types.FunctionType):
        if not _is_entered(interp, custom, None):  # that of a Cell is the library's
            return None
        interp.look_up(type(obj), "__setattr__")
        return custom, [obj, name, value]
    found = _property(obj, name)
    if found is None or not _is_entered(interp, found.fset, obj):
        return None
    interp.look_up(type(obj), "__setattr__")
    interp.look_up(type(obj), name)
    return found.fset, [obj, value]  # type: ignore[return-value]


def deleter(interp: Interpreter, obj: Any, name: str) -> Entered | None:
    """The call that ``del obj.name`` is."""
    custom = interp.user_method(obj, "__delattr__")
    if custom is not None:
        return custom, [obj, name]
    found = _property(obj, name)
    if found is None or not _is_entered(interp, found.fdel, obj):
        return None
    interp.look_up(type(obj), name)
    return found.fdel, [obj]  # type: ignore[return-value]


def of_item(interp: Interpreter, method: str, obj: Any, *args: Any) -> Entered | None:
    """The call that ``obj[key]``, ``obj[key] = value`` or ``del obj[key]`` is."""
    interp.refuse_opaque(obj, *args)
    own = interp.user_method(obj, method)
    return None if own is None else (own, [obj, *args])


def _property(obj: Any, name: str) -> property | None:
    if isinstance(obj, (Journaled, super, types.ModuleType)):
        return None
    found = class_attribute(type(obj), name)
    return found if type(found) is property else None


def _is_entered(interp: Interpreter, function: Any, first: Any) -> bool:
    return (
        function is not MISSING and isinstance(function, types.FunctionType) and not interp.is_native(function, first)
    )
