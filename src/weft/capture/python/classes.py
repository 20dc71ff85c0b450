"""Facts about classes and what they define, as far as what is guarded depends on them."""

from __future__ import annotations

import abc
import enum
import types
import typing
import weakref
from collections.abc import Iterator
from typing import Any, Final

from weft.capture.python.packages import (
    NATIVE_PACKAGES,
    OWN_PACKAGES,
    TRUSTED_PACKAGES,
    is_heap_type,
    is_ours,
    module_of,
)
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported

#: where a class defines nothing of a name
MISSING: Final = object()
_CLASS: Final = object.__dict__["__class__"]
_IMMUTABLE_TYPE: Final = 1 << 8
#: modules with base classes that hold no state and read none natively
_BASES: Final = frozenset({"abc", "typing", "builtins"})
_METACLASSES: Final = frozenset({type, abc.ABCMeta, type(typing.Protocol)})
#: folders of the framework with what captures and runs programs
_MACHINERY: Final = frozenset({"autodiff", "cache", "capture", "compile", "core", "explain", "ir", "jit", "passes"})
#: classes of values, of which it is guarded what they are
_COMPARED: Final = (Tensor, BaseException, enum.Enum, tuple, type)
_C_METHODS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType)


def is_opaque_iterator(value: Any) -> bool:
    """Whether a value is an iterator whose next item cannot be seen without taking it."""
    kind = type(value)  # `isinstance` would ask the object for its class
    return issubclass(kind, Iterator) and not isinstance(getattr(kind, "__next__", None), types.FunctionType)


def is_trusted(obj: Any) -> bool:
    """Whether the attributes of a module or class are taken not to change."""
    if isinstance(obj, type):
        return not is_changeable(obj)
    name: str = obj.__name__
    return name.partition(".")[0] in TRUSTED_PACKAGES


def is_changeable(kind: type) -> bool:
    """Whether a class is one of the program's own, whose attributes may be replaced at any time."""
    if not issubclass(type(kind), type):  # it passes for one by its `__class__`
        return True
    if not is_heap_type(kind) or kind.__flags__ & _IMMUTABLE_TYPE:
        return False
    return module_of(kind).partition(".")[0] not in TRUSTED_PACKAGES


def holds_state(kind: type) -> bool:
    """Whether instances of a class have attributes that may be replaced at any time, and no version that says so."""
    ours = module_of(kind).partition(".")[0] in OWN_PACKAGES
    return is_changeable(kind) or (is_stateful(kind) if ours else bool(kind.__dictoffset__))


def is_stateful(kind: type) -> bool:
    """Whether a class of the framework has instances that change and say so to nobody, as a Cell does by its version:
    what captured code asks of them is interpreted like code of the program's. Those of the machinery itself, tensors,
    and what is made once (`__weft_fixed__`) do not.
    """
    if not kind.__dictoffset__ or issubclass(kind, _COMPARED) or mark_of(kind, "__weft_versions__") is not None:
        return False
    package, _, rest = module_of(kind).partition(".")
    ours = package in OWN_PACKAGES and rest.partition(".")[0] not in _MACHINERY
    return ours and mark_of(kind, "__weft_fixed__") is None


def is_plain_instance(kind: type) -> bool:
    """Whether instances of a class are read by interpreted code only, so that each read can be guarded by itself."""
    if kind is types.SimpleNamespace:
        return True
    if type(kind) not in _METACLASSES or issubclass(kind, BaseException):
        return False
    for cls in kind.__mro__[:-1]:
        module = module_of(cls).partition(".")[0]
        if module in _BASES and is_heap_type(cls):
            continue
        if not is_heap_type(cls) or module in TRUSTED_PACKAGES or module in NATIVE_PACKAGES:
            return False
        if any(isinstance(member, _C_METHODS) for member in cls.__dict__.values()):
            return False
    return True


def is_plain_lookup(kind: type, name: str, found: Any) -> bool:
    """Whether reading an attribute that a class defines as `found` from the class runs none of the user's code."""
    meta = type(kind)
    if (
        class_attribute(meta, "__getattr__") is not MISSING
        or class_attribute(meta, "__getattribute__") is not type.__getattribute__
    ):
        return False
    hiding = class_attribute(meta, name)
    if is_data_descriptor(hiding):  # which answers first; that of `__annotations__` even makes them
        return False
    getters = [class_attribute(type(value), "__get__") for value in (found, hiding)]
    return type(found) not in (classmethod, staticmethod) and all(
        getter is MISSING or isinstance(getter, types.WrapperDescriptorType) for getter in getters
    )


def hides_class(kind: type) -> bool:
    """Whether instances of a class may say that they are of another, as proxies do, or run the program's code first."""
    if class_attribute(kind, "__class__") is not _CLASS or issubclass(kind, weakref.ProxyTypes):
        return True
    custom = class_attribute(kind, "__getattribute__")
    return isinstance(custom, types.FunctionType) and not is_ours(custom)


def of_hidden_class(kind: type) -> Unsupported:
    """The refusal of such instances."""
    return Unsupported(
        Refusal.UNSUPPORTED_SYNTAX,
        f"a {kind.__name__} may say that it is of another class",
        "pass the object that it stands for; a __getattr__ in place of __getattribute__ is entered",
    )


def is_data_descriptor(found: Any) -> bool:
    """Whether a class attribute goes before an instance's own of that name."""
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def class_attribute(kind: type, name: str) -> Any:
    """What a class and its bases define under a name, without binding; `MISSING` if nothing."""
    for cls in kind.__mro__:
        found = cls.__dict__.get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def mark_of(kind: type, name: str, default: Any = None) -> Any:
    """What a class of the framework says of its instances under a name; a metaclass of the program is not asked."""
    if type(kind) is type:
        return getattr(kind, name, default)
    found = class_attribute(kind, name)
    return default if found is MISSING else found


def bound_by_class(obj: Any, name: str) -> Any:
    """What the class of an object has under a name, bound to the object, past what the object itself has."""
    found = class_attribute(type(obj), name)
    if found is MISSING:
        raise AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj)
    return found.__get__(obj, type(obj)) if hasattr(type(found), "__get__") else found
