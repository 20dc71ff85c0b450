"""When two values are the same to a program: what `==` takes for equal may differ in kind, in sign, or be no number."""

from __future__ import annotations

import datetime
import decimal
import math
import operator
from typing import Any, Final

import jax
import numpy as np

from weft.errors import Refusal, Unsupported

#: classes whose values are the same if they are equal
_BY_EQUALITY: Final = (int, bool, str, bytes, type(None))
#: what a `functools.partial` is made of
PARTIAL: Final = ("func", "args", "keywords")
#: data that other libraries compute with: its contents are not read while capturing, so nothing of it is guarded
ARRAYS: Final = (np.ndarray, np.generic, jax.Array)


def same_value(a: Any, b: Any) -> bool:
    """Whether two values of the same built-in class cannot be told apart.

    Args:
        a: a value; of another class than the other's it is another value.
        b: a value of a class of Python's own, or an object that is only the same as itself.
    """
    kind = type(b)
    if a is b:
        return True
    if type(a) is not kind:
        return False
    if kind in _BY_EQUALITY:
        return bool(a == b)
    if kind is float:
        return _bits(a) == _bits(b)
    if kind is complex:
        return _bits(a.real) == _bits(b.real) and _bits(a.imag) == _bits(b.imag)
    if kind is tuple:
        return same_values(a, b)
    if kind is frozenset:
        return same_values(list(a), list(b))  # the order shows wherever it is iterated
    if kind is range:
        return (a.start, a.stop, a.step) == (b.start, b.stop, b.step)
    if kind is decimal.Decimal:
        return bool(a.as_tuple() == b.as_tuple())
    if kind in (datetime.datetime, datetime.time):
        zones = a.tzinfo is b.tzinfo or (
            a.tzinfo is not None and type(a.tzinfo) is type(b.tzinfo) and a.tzinfo == b.tzinfo
        )
        return bool(zones and a.fold == b.fold and a.replace(tzinfo=None) == b.replace(tzinfo=None))
    return bool(a == b)


def same_array(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays hold the same bits, so that nan is nan and 0.0 is not -0.0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.names:  # between the fields there may be anything
        return all(same_array(a[name], b[name]) for name in a.dtype.names)
    return a.tobytes() == b.tobytes()


def same_values(a: Any, b: Any) -> bool:
    """Whether two sequences hold the same values in the same order."""
    return len(a) == len(b) and (all(map(operator.is_, a, b)) or all(map(same_value, a, b)))


def _bits(number: float) -> tuple[float, float]:
    """What tells a float from others: nan from numbers, and 0.0 from -0.0."""
    sign = math.copysign(1.0, number)
    return (sign, -1.0) if number != number else (sign, abs(number))


def is_array(value: Any) -> bool:
    """Whether a value is an array, or a record in one: contents that change without it becoming another object."""
    return isinstance(value, ARRAYS) and (not isinstance(value, np.generic) or isinstance(value, np.void))


def is_numpy_number(value: Any) -> bool:
    """Whether a value is a real number of NumPy, which a graph can have as an input."""
    return isinstance(value, (np.integer, np.floating)) and value.dtype.kind in "iuf" and value.dtype.isnative


def only_the_call_knows(value: Any) -> Unsupported:
    """The refusal to read data while capturing of which nothing is guarded."""
    kind = type(value)
    return Unsupported(
        Refusal.UNKNOWN_CALL,
        f"a {kind.__module__}.{kind.__qualname__} is only known when the function is called",
        "convert it to a Tensor before, and compute with tensor operations" if isinstance(value, ARRAYS) else "",
    )
