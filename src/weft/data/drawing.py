"""Whether a function of the program may draw from the generators that are global: those of `random` and NumPy.

In worker processes these begin anew for each element, so that what is drawn does not depend on who runs it. That takes
longer than many a function, so it is left out for functions that are seen to reach no generator: they are read, with
all that they can reach, and whatever is not known to be harmless counts as drawing.
"""

from __future__ import annotations

import builtins
import dis
import functools
import math
import types
from typing import Any, Final

import numpy as np

_NUMBERS: Final = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)
_MODULES: Final = (np, math)
_BUILTINS: Final = frozenset({
    abs, all, any, bool, bytes, complex, dict, divmod, enumerate, filter, float, frozenset, int, isinstance, len, list,
    map, max, min, pow, range, reversed, round, set, slice, sorted, str, sum, tuple, zip,
})  # fmt: skip
#: methods that are not called by what a function does
_OF_MAKING: Final = frozenset({"__init__", "__new__"})
#: how many values of a container are looked at
_MOST_VALUES: Final = 64


def may_draw(value: Any) -> bool:
    """Whether a function or object may draw from a global generator, called with arrays and numbers.

    Args:
        value: the function or object.

    Example:
        >>> may_draw(lambda x: x * 2 + 1), may_draw(lambda x: x + np.random.rand())
        (False, True)
    """
    return not _Reading().is_harmless(value)


class _Reading:
    """What was read, each object once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._alive: list[Any] = []

    def is_harmless(self, value: Any) -> bool:
        """Whether neither the value nor what it reaches draws."""
        if isinstance(value, _NUMBERS) or (type(value) is np.ndarray and not value.dtype.hasobject):
            return True
        if id(value) in self._seen:
            return True
        self._seen.add(id(value))
        self._alive.append(value)
        if type(value) in (list, tuple, set, frozenset):
            return len(value) <= _MOST_VALUES and all(map(self.is_harmless, value))
        if type(value) is dict:
            return len(value) <= _MOST_VALUES and all(map(self.is_harmless, (*value, *value.values())))
        if type(value) is types.FunctionType:
            return self._function(value)
        if type(value) is types.MethodType:
            return self.is_harmless(value.__func__) and self.is_harmless(value.__self__)
        if type(value) is functools.partial:
            return all(map(self.is_harmless, (value.func, value.args, value.keywords)))
        if isinstance(value, types.ModuleType):
            return value in _MODULES
        if isinstance(value, (type, types.BuiltinFunctionType)):
            return _is_known(value)
        return isinstance(value, np.ufunc) or _is_of_numpy(value) or self._object(value)

    def _function(self, function: types.FunctionType) -> bool:
        reached = (function.__defaults__, function.__kwdefaults__, function.__dict__)
        cells = function.__closure__ or ()
        try:
            closed = [cell.cell_contents for cell in cells]
        except ValueError:  # not filled yet
            return False
        if function.__module__.startswith("numpy."):
            return _is_of_numpy(function)
        return all(map(self.is_harmless, (*reached, *closed))) and self._code(function.__code__, function.__globals__)

    def _code(self, code: types.CodeType, names: dict[str, Any]) -> bool:
        if any("random" in name or name.startswith("__") for name in code.co_names):
            return False
        for instruction in dis.get_instructions(code):
            if instruction.opname.startswith("IMPORT"):
                return False
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                name = instruction.argval
                if name not in names and not hasattr(builtins, name):
                    return False
                if not self.is_harmless(names.get(name, getattr(builtins, name, None))):
                    return False
        return all(self._code(each, names) for each in code.co_consts if isinstance(each, types.CodeType))

    def _object(self, value: Any) -> bool:
        """An object of a class written in Python: all of its methods, and what it holds."""
        kind = type(value)
        if type(kind) is not type or not hasattr(value, "__dict__"):
            return False
        for each in kind.__mro__[:-1]:
            if each.__module__.startswith("weft.data."):
                continue  # operations of the library draw from generators of their own
            for name, found in vars(each).items():
                if name in _OF_MAKING or name in ("__dict__", "__weakref__", "__annotations__"):
                    continue
                if isinstance(found, (staticmethod, classmethod)):
                    found = found.__func__
                parts = (found.fget, found.fset, found.fdel) if isinstance(found, property) else (found,)
                if not all(map(self.is_harmless, parts)):
                    return False
        return all(map(self.is_harmless, vars(value).values()))


def _is_known(value: Any) -> bool:
    try:
        return value in _BUILTINS or (isinstance(value, type) and issubclass(value, (np.generic, Exception)))
    except TypeError:
        return False


def _is_of_numpy(value: Any) -> bool:
    """A function of NumPy that is none of its generators'."""
    module = getattr(value, "__module__", None)
    return type(module) is str and module.split(".")[0] == "numpy" and "random" not in module and callable(value)
