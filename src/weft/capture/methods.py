"""Which of the user's functions an attribute or item access consists of, so that a frame can wait for it."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from weft.capture import operators
from weft.capture.access import MISSING, PLAIN, class_attribute
from weft.capture.classes import is_data_descriptor
from weft.capture.journal import Journaled
from weft.capture.lazytext import LazyText
from weft.capture.namespaces import namespace_of
from weft.capture.packages import is_ours
from weft.core.run_number import RunNumber

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

#: a function and its arguments
Entered = tuple[types.FunctionType, list[Any]]


def getter(interp: Interpreter, obj: Any, name: str) -> Entered | None:
    """The call that `obj.name` is: of a property, a descriptor or `__getattr__`. None if it is no such call."""
    kind = type(obj)
    if kind in PLAIN or issubclass(kind, (Journaled, super, types.ModuleType, type, RunNumber, LazyText)):
        return None
    found = class_attribute(kind, name)
    looked_up: Any = kind.__getattribute__
    namespace = namespace_of(obj) if looked_up is object.__getattribute__ else None
    held = namespace is not None and name in namespace
    if isinstance(found, types.FunctionType) or (held and found is MISSING):
        return None
    if looked_up is not object.__getattribute__ and _is_hook(interp, looked_up, obj):
        return None
    fallback = class_attribute(kind, "__getattr__")
    asks = _is_hook(interp, fallback, obj)
    if type(found) is property:
        if not _is_entered(interp, found.fget, obj):
            return None
        interp.look_up(kind, name)
        if not asks:
            return found.fget, [obj]  # type: ignore[return-value]
        interp.look_up(kind, "__getattr__")
        return operators.get_or_ask, [found.fget, obj, fallback, name]  # type: ignore[return-value]
    if isinstance(found, functools.cached_property):
        if held or namespace is None or asks or not _is_entered(interp, found.func, obj):
            return None
        interp.look_up(kind, name)
        interp.sources.not_held(obj, name)
        return operators.compute_cached, [found.func, obj, name]  # type: ignore[return-value]
    if found is MISSING and asks and not held and looked_up is object.__getattribute__:
        interp.look_up(kind, "__getattr__")
        interp.sources.absent(obj, name)
        return fallback, [obj, name]
    if found is MISSING or asks:
        return None
    getter = class_attribute(type(found), "__get__")
    if not _is_entered(interp, getter, found) or (held and not is_data_descriptor(found)):
        return None
    interp.look_up(kind, name)
    interp.look_up(type(found), "__get__")
    return getter, [found, obj, kind]


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


def _is_hook(interp: Interpreter, function: Any, obj: Any) -> bool:
    """Whether a function that attributes are asked of is the user's: the library's are not, whatever its Cells hold."""
    return isinstance(function, types.FunctionType) and not is_ours(function) and not interp.is_native(function, obj)


def _is_entered(interp: Interpreter, function: Any, first: Any) -> bool:
    return (
        function is not MISSING and isinstance(function, types.FunctionType) and not interp.is_native(function, first)
    )
