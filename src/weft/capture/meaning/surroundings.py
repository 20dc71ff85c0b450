"""Settings of libraries that native code reads besides its arguments: of NumPy, of `decimal`."""

from __future__ import annotations

import contextlib
import decimal
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from weft.capture.sources.sources import Sources
from weft.errors import Refusal, Unsupported

#: how many items of a list or tuple are asked for their class
_LOOKED_AT: Final = 8


def read_surroundings(sources: Sources, function: Any, given: Iterable[Any]) -> bool:
    """Guard the settings on which a native call depends.

    Args:
        sources: has the guards.
        function: the native code.
        given: its arguments, and the object whose method it is.

    Returns:
        Whether the call may raise flags of `decimal`.
    """
    readers = set(_of_function(function))
    for value in given:
        kind = type(value)
        for item in value[:_LOOKED_AT] if kind is tuple or kind is list else (value,):
            readers.update(_of_class(type(item)))
    for reader in readers:
        sources.setting(reader, [], {}, reader())
    return decimal_settings in readers


@contextlib.contextmanager
def without_new_flags() -> Iterator[None]:
    """Refuse calculations with decimal numbers that raise a flag for the first time, which the program may ask for."""
    flags = decimal.getcontext().flags
    before = dict(flags)
    try:
        yield
    finally:
        if dict(flags) != before:
            flags.update(before)
            raise Unsupported(
                Refusal.IMPURE_CALL,
                "a calculation with decimal numbers raises a flag of their context for the first time",
                "calculate outside the compiled function",
            )


def _of_function(function: Any) -> Iterable[Callable[[], Any]]:
    module = getattr(function, "__module__", None)
    if isinstance(function, np.ufunc) or (isinstance(module, str) and module.partition(".")[0] == "numpy"):
        return _OF_NUMPY
    return (decimal_settings,) if module == "decimal" else ()


def _of_class(kind: type) -> Iterable[Callable[[], Any]]:
    if issubclass(kind, _ARRAYS):
        return _OF_NUMPY
    return (decimal_settings,) if issubclass(kind, (decimal.Decimal, decimal.Context)) else ()


def decimal_settings() -> tuple[Any, ...]:
    """How `decimal` calculates in this thread: precision, rounding, limits, which signals are raised, and which
    were met.

    Example:
        >>> decimal_settings()[:2]
        (28, 'ROUND_HALF_EVEN')
    """
    now = decimal.getcontext()
    settings = now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp
    return *settings, *now.traps.values(), *now.flags.values()


_ARRAYS: Final = (np.ndarray, np.generic)
#: which errors of floating-point numbers are raised; how arrays are shown
_OF_NUMPY: Final = (np.geterr, np.get_printoptions)
