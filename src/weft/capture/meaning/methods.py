"""Which of the user's functions an attribute or item access consists of, so that a frame can wait for it."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from weft.capture.meaning import operators
from weft.capture.meaning.objects import PLAIN
from weft.capture.meaning.operators import Entered
from weft.capture.python.classes import MISSING, class_attribute, is_data_descriptor
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import is_ours
from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText
from weft.core.run_number import RunNumber

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


def getter(machine: Machine, obj: Any, name: str) -> Entered | None:
    """The call that `obj.name` is: of a property, a descriptor or `__getattr__`. None if it is no such call."""
    kind = type(obj)
    if kind in PLAIN or issubclass(kind, (Journaled, super, types.ModuleType, type, RunNumber, LazyText)):
        return None
    found = class_attribute(kind, name)
    if isinstance(found, types.FunctionType):
        return None
    looked_up: Any = kind.__getattribute__
    namespace = namespace_of(obj) if looked_up is object.__getattribute__ else None
    held = namespace is not None and name in namespace
    if held and found is MISSING:
        return None
    if looked_up is not object.__getattribute__ and _is_hook(machine, looked_up, obj):
        return None
    fallback = class_attribute(kind, "__getattr__")
    asks = _is_hook(machine, fallback, obj)
    if type(found) is property:
        if not _is_entered(machine, found.fget, obj):
            return None
        machine.objects.look_up(kind, name)
        if not asks:
            return found.fget, [obj]  # type: ignore[return-value]
        machine.objects.look_up(kind, "__getattr__")
        return operators.get_or_ask, [found.fget, obj, fallback, name]  # type: ignore[return-value]
    if isinstance(found, functools.cached_property):
        if held or namespace is None or asks or not _is_entered(machine, found.func, obj):
            return None
        machine.objects.look_up(kind, name)
        machine.sources.not_held(obj, name)
        return operators.compute_cached, [found.func, obj, name]  # type: ignore[return-value]
    if found is MISSING and asks and not held and looked_up is object.__getattribute__:
        machine.objects.look_up(kind, "__getattr__")
        machine.sources.absent(obj, name)
        return fallback, [obj, name]
    if found is MISSING or asks:
        return None
    getter = descriptor_getter(machine, obj, name, found)
    return None if getter is None else (getter, [found, obj, kind])


def descriptor_getter(machine: Machine, obj: Any, name: str, found: Any) -> types.FunctionType | None:
    """The user's `__get__` that answers for an attribute which the class of an object has; None if there is none."""
    machine.sources.meet(type(found))
    getter = class_attribute(type(found), "__get__")
    if not _is_entered(machine, getter, found):
        return None
    if not is_data_descriptor(found):
        if name in (namespace_of(obj) or ()):
            return None
        if issubclass(type(obj), type):  # that of its metaclass comes last
            if class_attribute(obj, name) is not MISSING:
                return None
            machine.objects.look_up(obj, name)
        machine.sources.not_held(obj, name)
    machine.objects.look_up(type(obj), name)
    machine.objects.look_up(type(found), "__get__")
    made: types.FunctionType = getter
    return made


def setter(machine: Machine, obj: Any, name: str, value: Any) -> Entered | None:
    """The call that ``obj.name = value`` is: of `__setattr__`, or of a property."""
    custom = class_attribute(type(obj), "__setattr__")
    if isinstance(custom, types.FunctionType):
        if not _is_entered(machine, custom, None):  # that of a Cell is the library's
            return None
        machine.objects.look_up(type(obj), "__setattr__")
        return custom, [obj, name, value]
    found = _property(obj, name)
    if found is None or not _is_entered(machine, found.fset, obj):
        return None
    machine.objects.look_up(type(obj), "__setattr__")
    machine.objects.look_up(type(obj), name)
    return found.fset, [obj, value]  # type: ignore[return-value]


def deleter(machine: Machine, obj: Any, name: str) -> Entered | None:
    """The call that ``del obj.name`` is."""
    custom = machine.objects.user_method(obj, "__delattr__")
    if custom is not None:
        return custom, [obj, name]
    found = _property(obj, name)
    if found is None or not _is_entered(machine, found.fdel, obj):
        return None
    machine.objects.look_up(type(obj), name)
    return found.fdel, [obj]  # type: ignore[return-value]


def of_item(machine: Machine, method: str, obj: Any, *args: Any) -> Entered | None:
    """The call that ``obj[key]``, ``obj[key] = value`` or ``del obj[key]`` is."""
    machine.arrays.refuse_opaque(obj, *args)
    own = machine.objects.user_method(obj, method)
    return None if own is None else (own, [obj, *args])


def _property(obj: Any, name: str) -> property | None:
    if isinstance(obj, (Journaled, super, types.ModuleType)):
        return None
    found = class_attribute(type(obj), name)
    return found if type(found) is property else None


def _is_hook(machine: Machine, function: Any, obj: Any) -> bool:
    """Whether a function that attributes are asked of is the user's: the library's are not, whatever its Cells hold."""
    return (
        isinstance(function, types.FunctionType)
        and not is_ours(function)
        and not machine.calls.is_native(function, obj)
    )


def _is_entered(machine: Machine, function: Any, first: Any) -> bool:
    return (
        function is not MISSING
        and isinstance(function, types.FunctionType)
        and not machine.calls.is_native(function, first)
    )
