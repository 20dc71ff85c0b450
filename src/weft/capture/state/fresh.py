"""What native code made: the objects that nobody else can hold yet."""

from __future__ import annotations

import datetime
import decimal
import fractions
import functools
import itertools
import re
import sys
import types
from collections import deque
from collections.abc import Callable, Container, Iterable
from typing import Any, Final

import numpy as np

from weft.capture.python.classes import MISSING, is_opaque_iterator, mark_of
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import module_of
from weft.capture.state.journal import EMPTY_CELL, Journaled, slot_value, slots_of
from weft.capture.state.lazytext import LazyText
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor

#: what never changes and tells nobody which object it is may stay the same object in every call
_VALUES: Final = (
    type(None), bool, int, float, complex, str, bytes, range, slice, types.GenericAlias, types.UnionType,
    type(Ellipsis), type(NotImplemented), decimal.Decimal, fractions.Fraction, datetime.date, datetime.time,
    datetime.timedelta, datetime.tzinfo, re.Pattern, re.Match, np.generic, np.dtype,
)  # fmt: skip
#: what is noted elsewhere, or stays itself
_THEMSELVES: Final = (type, types.FunctionType, types.ModuleType, Tensor, Journaled)
#: an object that one container holds is held by the loop's variable and by the call that counts, too
_HELD_ONCE: Final = 3


def is_value(obj: Any) -> bool:
    """Whether an object is as good as another one like it."""
    kind = type(obj)
    if issubclass(kind, np.ndarray):  # one that shows another's memory is no object of its own
        return obj.base is not None
    if issubclass(kind, _VALUES):
        return not kind.__dictoffset__
    if mark_of(kind, "__weft_parts__", MISSING) is not MISSING:
        return False
    return issubclass(kind, _THEMSELVES) or module_of(kind).partition(".")[0] == "weft"


def is_of_this_call(
    obj: Any, known: Container[int], made: Container[int], was_outside: Callable[[Tensor], bool]
) -> bool:
    """Whether an object that nobody knows cannot be the same in every call: it moves on, it is a container that whoever
    gets it may change, or it leads to what the capture made or only the graph has.

    Args:
        obj: the object.
        known: ids of objects that came from outside.
        made: ids of objects that the capture made.
        was_outside: says whether a tensor was there before the capture.
    """
    if is_opaque_iterator(obj) or _is_changeable_data(obj, known):
        return True
    return leads_to_this_call(obj, known, made, was_outside)


def leads_to_this_call(
    obj: Any, known: Container[int], made: Container[int], was_outside: Callable[[Tensor], bool]
) -> bool:
    """Whether an object that nobody knows leads to what the capture made or only the graph has: it is not older.

    The arguments are those of `is_of_this_call`.
    """
    waiting, seen = list(_parts(obj)), {id(obj)}
    while waiting:
        part = waiting.pop()
        key, kind = id(part), type(part)
        if key in seen or key in known:
            continue
        seen.add(key)
        if issubclass(kind, Tensor):
            if part.is_symbolic and not was_outside(part):
                return True
        elif key in made or issubclass(kind, (RunNumber, LazyText)):
            return True
        elif not is_value(part):
            waiting += _parts(part)
    return False


def _is_changeable_data(obj: Any, known: Container[int]) -> bool:
    """Whether an object holds items that whoever gets it may change, and it shows no memory from outside."""
    while isinstance(obj, np.ndarray) and obj.base is not None:
        if id(obj) in known:
            return False
        obj = obj.base
    return id(obj) not in known and isinstance(obj, (list, dict, set, deque, bytearray, np.ndarray))


def note_parts(obj: Any, note: Callable[[Any], Any]) -> None:
    """Tell of everything in a new object that nothing else holds.

    Args:
        obj: the object.
        note: called with each part; says whether it was not known.
    """
    for part in _parts(obj):
        if sys.getrefcount(part) <= _HELD_ONCE and not is_value(part) and note(part):
            note_parts(part, note)


def _parts(obj: Any) -> Iterable[Any]:
    kind = type(obj)
    if issubclass(kind, dict):
        return dict.values(obj)
    for base in (list, tuple, set, frozenset, deque):
        if issubclass(kind, base):
            return base.__iter__(obj)
    held = map(functools.partial(slot_value, obj), slots_of(kind))  # nothing here may hold a part meanwhile
    return itertools.chain(filter(_is_held, held), dict.values(namespace_of(obj) or {}))


def _is_held(value: Any) -> bool:
    return value is not EMPTY_CELL
