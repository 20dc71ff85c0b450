"""What objects are, as text that is the same in all processes: what has it stands for the other.

An entry holds objects of the program by identity. In another process others stand in their places; whether these are
the same to the entry, their descriptions tell. What the entry guards by itself is left out (what instances of the
program's classes hold); what it takes for given since an object stays itself must be in the description. What has no
description is not kept.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import json
import re
import types
import weakref
from collections import OrderedDict
from typing import Any, Final

import numpy as np

from weft.capture.python.classes import is_changeable, is_plain_instance, mark_of
from weft.capture.python.namespaces import class_namespace, namespace_of
from weft.capture.python.packages import OWN_PACKAGES, module_of
from weft.capture.state.journal import EMPTY_CELL, slot_value, slots_of
from weft.core.primitive import Primitive
from weft.core.tensor import Parameter, Tensor
from weft.dtypes import DType
from weft.ir.types import TensorType

#: classes whose values their texts tell apart
_TEXTS: Final = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), DType, TensorType,
    np.dtype, decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta, range,
)  # fmt: skip
_BASES: Final = (bool, int, float, complex, str, bytes)
_IN_C: Final = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
#: descriptors of Python's own that hold functions
DESCRIPTORS: Final = (property, staticmethod, classmethod, functools.cached_property)
#: levels of nesting beyond which nothing is described
_DEEP: Final = 60


class Undescribed(Exception):
    """An object has no description; the message says which."""


class Descriptions:
    """Descriptions of the objects of one entry, in an order that is the same in all processes.

    An object that is met again is described by its number, so that descriptions tell whether two places hold one.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        #: ids of the objects that were described, and whether with all that they hold
        self._done: set[tuple[int, bool]] = set()

    def of(self, obj: Any, whole: bool = False) -> str:
        """The description of an object, as a digest.

        Args:
            obj: the object.
            whole: also what it holds, which the entry does not guard.

        Raises:
            Undescribed: it, or something in it, has none.
        """
        text = json.dumps(self._described(obj, whole, 0))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _described(self, obj: Any, whole: bool, depth: int) -> Any:
        kind = type(obj)
        if depth > _DEEP:
            raise Undescribed(f"it uses a {kind.__name__} nested more than {_DEEP} deep")
        if kind in _TEXTS or isinstance(obj, np.dtype):
            return [kind.__name__, repr(obj)]
        if isinstance(obj, np.generic) and not isinstance(obj, np.void):
            return [kind.__name__, str(obj.dtype), obj.tobytes().hex()]
        number = self._number(obj)
        if (id(obj), whole) in self._done:
            return number
        self._done.add((id(obj), whole))
        return [number, f"{module_of(kind)}.{kind.__qualname__}", *self._parts(obj, kind, whole, depth + 1)]

    def _number(self, obj: Any) -> int:
        """The number of an object, the next one where it is met for the first time."""
        if id(obj) not in self._numbers:
            self._numbers[id(obj)] = len(self._numbers)
            self._kept.append(obj)
        return self._numbers[id(obj)]

    def _parts(self, obj: Any, kind: type, whole: bool, depth: int) -> list[Any]:
        if isinstance(obj, types.CodeType):
            return [code_digest(obj)]
        if isinstance(obj, types.ModuleType):
            return [obj.__name__]
        if isinstance(obj, types.FunctionType):
            return self._function(obj, depth)
        if isinstance(obj, type):
            return self._class(obj, depth)
        if isinstance(obj, _IN_C):
            owner = getattr(obj, "__self__", None) or getattr(obj, "__objclass__", None)
            of = None if owner is None or isinstance(owner, types.ModuleType) else self._described(owner, whole, depth)
            return [getattr(obj, "__module__", None), getattr(obj, "__qualname__", obj.__name__), of]
        if isinstance(obj, types.MethodType):
            return [self._described(part, whole, depth) for part in (obj.__func__, obj.__self__)]
        if kind is functools.partial:
            return [self._described(part, True, depth) for part in (obj.func, obj.args, obj.keywords)]
        if kind is slice:
            return [self._described(part, whole, depth) for part in (obj.start, obj.stop, obj.step)]
        if isinstance(obj, tuple) and kind.__dictoffset__ == 0:
            of = [] if kind is tuple else [self._described(kind, False, depth)]
            return [*of, *[self._described(item, whole, depth) for item in tuple.__iter__(obj)]]
        if kind in DESCRIPTORS:
            return [_defined(obj)]
        if kind is re.Pattern:
            return [repr(obj.pattern), obj.flags]
        if kind is weakref.ReferenceType:
            return [self._described(obj(), whole, depth)]
        if kind is types.MappingProxyType:
            return []  # the attributes of a class, which was described
        if isinstance(obj, Primitive):
            if obj.known_as is None:
                raise Undescribed(f"code of the program takes part in {obj.name}")
            return [obj.known_as]  # which rules hold is a setting
        if isinstance(obj, Tensor):
            settings = [obj.name, obj.requires_grad] if isinstance(obj, Parameter) else []
            return [repr(obj.type), *settings]
        if isinstance(obj, enum.Enum):
            return [self._described(kind, False, depth), obj.name]
        if kind is frozenset and all(type(item) in _TEXTS for item in obj):
            return sorted([type(item).__name__, repr(item)] for item in obj)
        if kind is set and not whole:
            return []
        if kind in (dict, list, OrderedDict):
            return self._container(obj, depth) if whole else []
        return self._instance(obj, kind, whole, depth)

    def _container(self, obj: Any, depth: int) -> list[Any]:
        if isinstance(obj, list):
            return [self._described(item, True, depth) for item in obj]
        return [[self._described(part, True, depth) for part in item] for item in obj.items()]

    def _function(self, function: types.FunctionType, depth: int) -> list[Any]:
        """Code, defaults and which globals it has; what it closes over is guarded where the function is entered."""
        defaults = [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
        return [
            function.__module__, function.__qualname__, code_digest(function.__code__),
            [_shallow(value) for value in defaults], len(function.__closure__ or ()),
            self._number(function.__globals__),
        ]  # fmt: skip

    def _class(self, cls: type, depth: int) -> list[Any]:
        """Its name; of one of the program's, all that it defines too."""
        if not is_changeable(cls):
            return [module_of(cls), cls.__qualname__]
        bases = [self._described(base, False, depth) for base in cls.__mro__[1:]]
        held = sorted((str(name), _defined(value)) for name, value in class_namespace(cls).items())
        return [module_of(cls), cls.__qualname__, self._described(type(cls), False, depth), bases, held]

    def _instance(self, obj: Any, kind: type, whole: bool, depth: int) -> list[Any]:
        of = self._described(kind, False, depth)
        base = next((base for base in _BASES if issubclass(kind, base)), None)
        if base is not None:
            return [of, repr(base(obj)) if base is not str else str.__str__(obj)]
        is_cell = mark_of(kind, "__weft_versions__") is not None
        ours = module_of(kind).partition(".")[0] in OWN_PACKAGES
        if not is_described_whole(kind, whole):
            return [of]  # what is read of it is guarded
        if isinstance(obj, np.ndarray) and kind is np.ndarray and not obj.dtype.hasobject:
            data = np.ascontiguousarray(obj)
            return [str(obj.dtype), list(obj.shape), hashlib.sha256(data.tobytes()).hexdigest()]
        held = held_by(obj)
        if held == {} and kind.__mro__[1:] == (object,) and "__slots__" not in kind.__dict__:
            return [of]  # a mark that holds nothing
        if not (is_cell or ours or is_plain_instance(kind)) or held is None:
            raise Undescribed(_nothing_known(kind))
        if issubclass(kind, (dict, list, tuple, set, frozenset)):
            raise Undescribed(_nothing_known(kind))
        return [of, [[str(name), self._described(value, True, depth)] for name, value in held.items()]]


def held_by(obj: Any) -> dict[Any, Any] | None:
    """What an instance holds by name, in its namespace and in slots, but for what it only remembers; None if it has
    neither.
    """
    kind = type(obj)
    namespace, slots = namespace_of(obj), slots_of(kind)
    if namespace is None and not any("__slots__" in cls.__dict__ for cls in kind.__mro__[:-1]):
        return None
    remembered = mark_of(kind, "__weft_remembers__", ())
    found = {name: value for name, value in (namespace or {}).items() if name not in remembered}
    for member in slots:
        value = slot_value(obj, member)
        if value is not EMPTY_CELL and member.__name__ not in remembered:
            found[member.__name__] = value
    return found


#: classes of what is described by what it is equal to, or by name, whatever else it holds
_BY_VALUE: Final = (*_BASES, Tensor, Primitive, enum.Enum)


def is_described_whole(kind: type, whole: bool) -> bool:
    """Whether an instance is described with all that it holds, see `held_by`.

    Args:
        kind: its class, none of Python's own.
        whole: whether that is asked for; else guards read what instances of the program's classes and Cells hold.
    """
    if issubclass(kind, _BY_VALUE):
        return False
    return whole or not (mark_of(kind, "__weft_versions__") is not None or is_plain_instance(kind))


def _nothing_known(kind: type) -> str:
    return (
        f"it uses a {module_of(kind)}.{kind.__qualname__}, and nothing says what a {kind.__name__} holds, so another "
        "process could not compare its own with it; make it in the compiled function, or pass what is used of it"
    )


def _shallow(value: Any) -> Any:
    """A default or constant of a class: plain values are described, of others only the class; reads are guarded."""
    kind = type(value)
    if kind is tuple:
        return [_shallow(item) for item in value]
    if kind in _TEXTS:
        return [kind.__name__, repr(value)]
    return getattr(value, "__qualname__", kind.__qualname__)


def _defined(value: Any) -> Any:
    """What a class defines under a name."""
    if isinstance(value, (staticmethod, classmethod)):
        return [type(value).__name__, _defined(value.__func__)]
    if isinstance(value, property):
        return [type(value).__name__, *map(_defined, (value.fget, value.fset, value.fdel))]
    if isinstance(value, functools.cached_property):
        return [type(value).__name__, _defined(value.func)]
    if isinstance(value, types.FunctionType):
        return [value.__qualname__, code_digest(value.__code__)]
    if isinstance(value, enum.Enum):
        return [value.name, _shallow(value.value)]
    return _shallow(value)


#: id of a code object -> it and its digest
_digests: dict[int, tuple[types.CodeType, str]] = {}
_MOST: Final = 4096


def code_digest(code: types.CodeType) -> str:
    """A digest of everything that code is, the same in all processes.

    Example:
        >>> code_digest((lambda: 1).__code__) == code_digest((lambda: 2).__code__)
        False
    """
    found = _digests.get(id(code))
    if found is None:
        if len(_digests) >= _MOST:
            _digests.clear()
        text = repr(_code(code)).encode("utf-8", "surrogatepass")
        found = _digests[id(code)] = code, hashlib.sha256(text).hexdigest()
    return found[1]


def _code(code: types.CodeType) -> tuple[Any, ...]:
    return (
        code.co_code, tuple(map(_code_constant, code.co_consts)), code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
        code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno, code.co_linetable,
        code.co_exceptiontable, code.co_stacksize,
    )  # fmt: skip


def _code_constant(value: Any) -> Any:
    kind = type(value)
    if kind is types.CodeType:
        return _code(value)
    if kind is tuple:
        return ("tuple", *map(_code_constant, value))
    if kind is frozenset:  # in an order that differs from process to process
        return ("frozenset", *sorted(repr(_code_constant(item)) for item in value))
    return (kind.__name__, repr(value))
