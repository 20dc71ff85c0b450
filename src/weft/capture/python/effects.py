"""Which functions in C read or change nothing but their arguments: library code that calls others is left to Python."""

from __future__ import annotations

import types
from typing import Any, Final

from weft.capture.python.classes import class_attribute
from weft.capture.python.packages import NATIVE_PACKAGES, PURE_MODULES, is_ours, module_of
from weft.core.frames import PASSED_OVER

#: C modules of which library code makes use without anybody noticing, besides those in which all is pure
_UNNOTICED: Final = frozenset(
    {"_thread", "_weakref", "weakref", "_json", "_decimal", "_datetime", "datetime", "_imp", "_ast", "collections.abc"}
)
#: what those modules have that reads or changes something besides its arguments, by name
NOTICED: Final = frozenset(
    {
        "print", "input", "open", "exec", "eval", "breakpoint", "setcontext", "fromfile", "tofile", "dump",
        "start_new_thread", "start_joinable_thread", "interrupt_main", "set_string_function", "set_numeric_ops",
    }
)  # fmt: skip
#: what is harmless in modules of which most is not
_HARMLESS: Final = frozenset(
    {
        ("sys", "_getframe"), ("sys", "_getframemodulename"), ("sys", "intern"), ("sys", "getrefcount"),
        ("sys", "exc_info"), ("sys", "getrecursionlimit"), ("sys", "getsizeof"), ("sys", "setprofile"),
        ("sys", "getprofile"), ("_contextvars", "get"), ("posix", "fspath"), ("nt", "fspath"), ("gc", "isenabled"),
        ("gc", "get_referents"),
    }
)  # fmt: skip


_IN_C: Final = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)  # fmt: skip


def is_noticed(function: Any) -> bool:
    """Whether a function or method in C reads or changes something besides its arguments, as far as is known.

    Args:
        function: what a profiler is told of: a built-in function, a bound method, or a method of a class.
    """
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        kind: Any = getattr(function, "__objclass__", None)
        module = module_of(kind) if isinstance(kind, type) else getattr(function, "__module__", None) or ""
    else:
        module = module_of(owner if isinstance(owner, type) else type(owner))
    if (module, name) in _HARMLESS:
        return False
    free = module in PURE_MODULES or module in _UNNOTICED or module.partition(".")[0] in NATIVE_PACKAGES
    return not free or name in NOTICED or "random" in module


def defines_only(function: Any, caller: types.FrameType) -> bool:
    """Whether `exec` is called by a library that writes the methods of a class so, which has no other effect."""
    return function is exec and caller.f_globals.get("__name__") == "dataclasses"


def runs_python(function: Any) -> bool:
    """Whether a callable of a library is Python code that runs natively, or calls some before anything else."""
    kind = type(function)
    if kind in _IN_C:
        return False
    if isinstance(function, type):
        made = (class_attribute(function, name) for name in ("__new__", "__init__"))
        return any(isinstance(getattr(method, "__func__", method), types.FunctionType) for method in made)
    found = function if kind is types.FunctionType else getattr(function, "__wrapped__", None)
    return isinstance(found, types.FunctionType) and not is_ours(found)


def is_importing(frame: types.FrameType) -> bool:
    """Whether a frame belongs to the import system."""
    file = frame.f_code.co_filename
    return "importlib" in file and not file.endswith(PASSED_OVER)
