"""What a function of the program's depends on besides its arguments, as far as its code tells.

A *closed* function computes its result from its arguments, constants, modules of numerical libraries and other closed
functions, and changes nothing: so it may run when a graph does, or once for many calls.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np

from weft.core.primitive import exact
from weft.dtypes import DType

#: packages whose functions compute from their arguments
_PACKAGES: Final = frozenset(
    {"numpy", "jax", "scipy", "math", "cmath", "operator", "ml_dtypes", "typing", "__future__"}
)
#: names in these packages of what does more, whatever has them
_MORE: Final = frozenset(
    {
        "random", "seed", "seterr", "errstate", "save", "savez", "savez_compressed", "savetxt", "tofile", "load",
        "loadtxt", "fromfile", "memmap", "dump", "set_printoptions", "printoptions", "setbufsize", "seterrcall",
        "config", "debug", "experimental", "block_until_ready", "vectorize",
    }
)  # fmt: skip
#: builtin functions that do no more than compute from their arguments
_BUILTINS: Final = frozenset(
    {
        "abs", "all", "any", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter", "float",
        "format", "frozenset", "getattr", "hasattr", "hex", "int", "isinstance", "issubclass", "len", "list", "map",
        "max", "min", "next", "iter", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice",
        "sorted", "str", "sum", "tuple", "type", "zip", "Ellipsis", "NotImplemented", "__debug__",
    }
)  # fmt: skip
_CONSTANTS: Final = (type(None), bool, int, float, complex, str, bytes, DType, type(Ellipsis))
_WRITES: Final = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "LOAD_BUILD_CLASS", "IMPORT_STAR"})


class _Open(Exception):
    """The function depends on something else."""


class _Identical:
    """An object as a key, by identity.

    Args:
        value: the object, which the key keeps alive.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identical) and other.value is self.value


def outside_of(
    function: Any, by_jax: bool = True, is_written: Callable[[Any, str], bool] | None = None
) -> tuple[Any, ...] | None:
    """What a function depends on, as a key that changes when it does; None if the function is not closed.

    Args:
        function: the function.
        by_jax: whether it may compute with JAX, which it must not where a graph that runs calls it.
        is_written: tells of a closure cell, or a namespace and a name in it, whether they hold something only now;
            a function that reads one is not closed.

    Example:
        >>> outside_of(lambda x: x + 1) is not None
        True
        >>> seen = []
        >>> outside_of(lambda x: seen.append(x)) is None
        True
    """
    try:
        found = _key(function, set(), is_written or _never)
    except _Open:
        return None
    return None if not by_jax and _uses_jax(found) else found


def _never(holder: Any, name: str) -> bool:
    del holder, name
    return False


def _uses_jax(key: Any) -> bool:
    if isinstance(key, tuple):
        return key[:1] == ("wrapped",) or any(map(_uses_jax, key))
    if not isinstance(key, _Identical):
        return False
    value = key.value
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(value, jax.Array) or _package(name) in ("jax", "jaxlib")


def _key(value: Any, seen: set[int], is_written: Callable[[Any, str], bool]) -> tuple[Any, ...]:
    kind = type(value)
    if kind is types.FunctionType:
        return _function(value, seen, is_written)
    if kind is functools.partial:
        parts = (value.func, *value.args, *[part for item in value.keywords.items() for part in item])
        return ("partial", len(value.args), *[_key(part, seen, is_written) for part in parts])
    if kind is tuple:
        return ("tuple", *[_key(part, seen, is_written) for part in value])
    if issubclass(kind, _CONSTANTS):
        return ("constant", kind, exact(value))
    if issubclass(kind, (np.generic, np.dtype)):
        return ("constant", kind, repr(value))
    if kind is types.ModuleType:
        if _package(value.__name__) not in _PACKAGES or not _MORE.isdisjoint(value.__name__.split(".")):
            raise _Open
        return ("module", _Identical(value))
    if isinstance(value, jax.Array):
        return ("array", _Identical(value))
    if hasattr(value, "__wrapped__") and _package(kind.__module__) in ("jax", "jaxlib"):
        return ("wrapped", _Identical(value), _key(value.__wrapped__, seen, is_written))
    if _of_library(value):
        return ("library", _Identical(value))
    raise _Open


def _of_library(value: Any) -> bool:
    """Whether a callable belongs to a numerical library, or is one of Python's."""
    name = getattr(value, "__name__", "")
    if isinstance(value, (types.BuiltinFunctionType, type)):
        if value is getattr(builtins, name, None):
            return name in _BUILTINS or (isinstance(value, type) and issubclass(value, BaseException))
        if isinstance(value, types.BuiltinFunctionType) and not isinstance(
            value.__self__, (types.ModuleType, type(None))
        ):
            return False  # a method of some object
        module = value.__module__
    elif isinstance(value, np.ufunc):
        module = "numpy"
    elif isinstance(value, (types.FunctionType, type(np.sum))) or (
        _package(type(value).__module__) == "jax" and callable(value)
    ):
        module = value.__module__
    else:
        return False
    return _package(module) in _PACKAGES and name not in _MORE and "random" not in module


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0].lstrip("_")


def _function(function: types.FunctionType, seen: set[int], is_written: Callable[[Any, str], bool]) -> tuple[Any, ...]:
    if _of_library(function):
        return ("library", _Identical(function))
    if id(function) in seen:
        return ("again",)
    seen.add(id(function))
    code = function.__code__
    names = _names(code)
    if names is None:
        raise _Open
    found: list[Any] = ["function", code]
    space, own = function.__globals__, function.__builtins__
    for name in names:
        if is_written(space, name):
            raise _Open
        if name in space:
            found.append((name, _key(space[name], seen, is_written)))
        elif name in own:
            found.append((name, _key(own[name], seen, is_written)))
        else:
            raise _Open  # it may be there when the function runs
    for cell in function.__closure__ or ():
        if is_written(cell, ""):
            raise _Open
        try:
            content = cell.cell_contents
        except ValueError:
            raise _Open from None
        found.append(_key(content, seen, is_written))
    found += [_key(default, seen, is_written) for default in function.__defaults__ or ()]
    found += [(name, _key(default, seen, is_written)) for name, default in (function.__kwdefaults__ or {}).items()]
    return tuple(found)


@functools.lru_cache(1024)
def _names(code: types.CodeType) -> tuple[str, ...] | None:
    """The global names that code reads, that inside included; None if it may change something outside."""
    found: dict[str, None] = {}
    pending, free = [code], set(code.co_freevars)
    for inner in pending:
        if not _MORE.isdisjoint(inner.co_names):
            return None
        for instruction in dis.get_instructions(inner):
            name, what = instruction.opname, instruction.argval
            if name in _WRITES or (name in ("STORE_DEREF", "DELETE_DEREF") and what in free):
                return None
            if name == "IMPORT_NAME" and _package(what) not in _PACKAGES:
                return None
            if name in ("LOAD_GLOBAL", "LOAD_NAME"):
                found[what] = None
        pending += [constant for constant in inner.co_consts if isinstance(constant, types.CodeType)]
    return tuple(found)
