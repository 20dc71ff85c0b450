"""Class statements inside captured code: their bodies are interpreted, then Python makes the classes."""

from __future__ import annotations

import builtins
import enum
import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from weft.capture.meaning.table import handles
from weft.capture.python.classes import class_attribute
from weft.capture.python.packages import TRUSTED_PACKAGES, is_standard, module_of_function
from weft.capture.python.users import users_code
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

_OF_METACLASSES: Final = ("__new__", "__init__", "__prepare__")
#: what Python calls when it makes a class
_HOOKS: Final = ("__init_subclass__", *_OF_METACLASSES)
#: what it calls for the members of an enumeration
_OF_MEMBERS: Final = ("__init__", "__new__", "_generate_next_value_", "__set_name__")
#: what a class holds without comparing it
_METHODS: Final = (types.FunctionType, staticmethod, classmethod, property, type)


@handles(builtins.__build_class__)
def _build_class(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) < 2 or type(args[0]) is not types.FunctionType or type(args[1]) is not str:
        return builtins.__build_class__(*args, **kwargs)  # Python's own error
    body, name, *given = args
    refuse_hooks((*given, kwargs.get("metaclass")), dict.fromkeys(body.__code__.co_names))
    bases = types.resolve_bases(given)
    metaclass, namespace, keywords = types.prepare_class(name, bases, kwargs)
    machine.calls.run_body(body, machine.made(namespace))
    if list(bases) != given:
        namespace["__orig_bases__"] = tuple(given)
    refuse_hooks(bases, namespace)
    return machine.made(metaclass(name, tuple(bases), namespace, **keywords))


def refuse_hooks(bases: Iterable[Any], namespace: Mapping[str, Any]) -> None:
    """Refuse to make a class where Python calls code of the program's for that.

    Args:
        bases: classes that it is derived from, metaclasses among them.
        namespace: what the class is to hold, None for what is not known yet.

    Raises:
        Unsupported: a base, a metaclass or what the class holds has such code.
    """
    enumerated = False
    for base in filter(None, bases):
        if isinstance(base, type):
            enumerated = enumerated or issubclass(base, enum.EnumType) or issubclass(type(base), enum.EnumType)
            hooks = [name for kind in (base, type(base)) for name in _HOOKS if _is_programs(kind, name)]
            if issubclass(type(base), enum.EnumType):
                hooks += [name for name in _OF_MEMBERS if _is_code(class_attribute(base, name))]
        else:
            hooks = [] if _is_library(getattr(base, "__mro_entries__", None)) else ["__mro_entries__"]
        if hooks:
            raise _unread(f"{hooks[0]} of {getattr(base, '__name__', base)} takes part in making a class")
    for name, value in namespace.items():
        if enumerated and name in _OF_MEMBERS and (value is None or _is_code(value)):
            raise _unread(f"{name} takes part in making an enumeration")
        if _is_programs(type(value), "__set_name__"):
            raise _unread(f"__set_name__ of {name!r} takes part in making a class")
        if enumerated and not isinstance(value, _METHODS) and users_code([value]) is not None:
            raise _unread(f"{name!r}, which may be compared, is a member of an enumeration")


def _is_programs(kind: type, name: str) -> bool:
    """Whether a hook is the program's: a metaclass's own, or that of a class for those derived from it."""
    return not (name in _OF_METACLASSES and not issubclass(kind, type)) and _is_code(class_attribute(kind, name))


def _is_code(function: Any) -> bool:
    """Whether something is a function of the program's, or a method."""
    return isinstance(getattr(function, "__func__", function), types.FunctionType) and not _is_library(function)


def _unread(what: str) -> Unsupported:
    return Unsupported(
        Refusal.UNKNOWN_CALL,
        f"{what}, which Python calls past the capture",
        "make the class outside the compiled function",
    )


def _is_library(function: Any) -> bool:
    """Whether something is a function of a library, or a method of one."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return False
    module = module_of_function(function)
    return is_standard(module) or module.partition(".")[0] in TRUSTED_PACKAGES
