"""Whether what library code is given is, or holds, code of the user's that it could call."""

from __future__ import annotations

import enum
import functools
import threading
import types
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.capture.python.classes import mark_of
from weft.capture.python.containers import members
from weft.capture.python.packages import NATIVE_PACKAGES, module_of, module_of_function
from weft.core.run_number import RunNumber
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import KEEPING
from weft.dtypes import DType
from weft.errors import Refusal, Unsupported

#: values of these classes and of classes derived from them hold data
_DATA: Final = (
    Tensor, RunNumber, DType, type(None), bool, int, float, complex, str, bytes, bytearray, slice, range, enum.Enum,
    types.ModuleType, types.BuiltinFunctionType, types.CodeType, type(Ellipsis), type(NotImplemented),
    type(threading.Lock()), type(threading.RLock()),
)  # fmt: skip
#: the most frequent of them by id: a class may define how it is hashed
_PLAIN: Final = frozenset(map(id, (Tensor, Parameter, type(None), bool, int, float, str)))
_CONTAINERS: Final = (tuple, list, set, frozenset, deque, dict)
#: packages whose classes and functions hold no code of the user's
_LIBRARIES: Final = NATIVE_PACKAGES | {
    "weft", "mindspore", "collections", "functools", "itertools", "contextlib", "copy", "copyreg", "types", "weakref",
    "logging", "warnings", "io", "threading", "datetime", "pathlib",
}  # fmt: skip


#: modules of the standard library that look at functions and classes and do not call them
_LOOKING: Final = frozenset({"inspect", "types", "typing", "abc", "enum", "dataclasses"})


def refuse_callbacks(callee: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse library code that may call functions of the user's, which would run past the capture.

    Args:
        callee: the library's function.
        args: what it is given.
        kwargs: likewise, by name.

    Raises:
        Unsupported: it is given code of the user's, and it is not declared to keep it.
    """
    module = module_of_function(callee)
    if callee.__code__ in KEEPING or module in _LOOKING or module.startswith("weft.capture."):
        return  # the capture's own iterators and generators enter what they call
    found = users_code((*args, *kwargs.values()))
    if found is not None:
        what = getattr(found, "__qualname__", None) or f"a {type(found).__name__}"
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"{callee.__module__}.{callee.__qualname__} is given {what}, which it may call",
            "call it outside the compiled function",
        )


def is_asked(value: Any) -> bool:
    """Whether a value of the library says itself if it holds code of the user's, as a Cell does."""
    return mark_of(type(value), "__weft_user_code__") is not None


def users_code(values: Any) -> Any:
    """A function, class or object of the user's among some values and in what they hold; None if there is none."""
    pending, seen = [value for value in values if id(type(value)) not in _PLAIN], set()
    while pending:
        value = pending.pop()
        kind = type(value)  # `isinstance` would also ask the user's `__class__`
        if id(value) in seen or issubclass(kind, _DATA):
            continue
        seen.add(id(value))
        if issubclass(kind, _CONTAINERS):
            pending += [item for item in members(value) if id(type(item)) not in _PLAIN]
        elif kind is types.FunctionType:
            if not _is_library(module_of_function(value) or None) or hasattr(value, "__weft_inline__"):
                return value
            pending.extend(cell.cell_contents for cell in value.__closure__ or () if not _is_empty(cell))
        elif kind is types.MethodType:
            pending += [value.__func__, value.__self__]
        elif kind is functools.partial:
            pending += [value.func, value.args, value.keywords]
        elif issubclass(kind, type):
            if not _is_library(module_of(value)):
                return value
        elif not _is_library(module_of(kind)):
            return value
        elif module_of(kind).startswith("weft."):
            if not is_asked(value):
                pending.extend(_parts(value))
            elif value.__weft_user_code__():
                return value
    return None


def _is_library(module: Any) -> bool:
    return isinstance(module, str) and (
        module in ("", "builtins") or module.partition(".")[0].lstrip("_") in _LIBRARIES
    )


def _is_empty(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False


def _parts(value: Any) -> list[Any]:
    """The attributes of a library object."""
    found = list(getattr(value, "__dict__", {}).values())
    for cls in type(value).__mro__[:-1]:
        names = cls.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.append(getattr(value, name))
    return found
