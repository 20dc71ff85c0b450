"""What a call leaves behind, in a form that can be compared: values, exact types, aliases, effects, exceptions."""

from __future__ import annotations

import functools
import math
import re
import struct
import types
from collections import deque
from typing import Any, Final

import numpy as np

from weft.core.tensor import Parameter, Tensor
from weft.errors import WeftError
from weft.nn import Cell

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
_DRAINED: Final = 8
#: stands for a symbolic tensor that got out of its graph
LEAKED: Final = "a tensor without a value"
_DEPTH: Final = 8


class Frozen:
    """The outcome of a call.

    Args:
        result: what it returned.
        error: what it raised.
        printed: what it wrote.
        outside: arguments and variables that it could write to.
    """

    def __init__(self, result: Any, error: BaseException | None, printed: str, outside: Any) -> None:
        self.error = error
        self.numbers: dict[int, int] = {}
        self.alive: list[Any] = []
        #: arguments come first, so that a result that is an argument says so
        self.arguments = True
        self.outside = self.form(outside)
        self.arguments = False
        self.result = self.form(result)
        self.raised = self.exception(error)
        self.printed = _ADDRESS.sub("0x", printed)

    @property
    def answer(self) -> Any:
        """What the operation gave or raised, without the tensor that the program computes beside it."""
        inner = self.result[1] if len(self.result) > 1 else ()
        return self.raised or (inner[0] if isinstance(inner, tuple) and inner else self.result)

    def exception(self, error: BaseException | None) -> Any:
        """Class, text and arguments of an exception."""
        if error is None:
            return None
        try:
            text = _ADDRESS.sub("0x", str(error))
        except Exception as failed:
            text = f"text raises {failed!r}"
        return type(error).__qualname__, text, self.form(error.args)

    def form(self, obj: Any, depth: int = 0) -> Any:
        """An object as nested tuples, floats by their bits."""
        cls = type(obj)
        name = cls.__qualname__
        if obj is None or cls in (bool, int, type(Ellipsis)):
            return name, obj
        if cls in (str, bytes):
            return name, _ADDRESS.sub("0x", obj) if cls is str else obj
        if cls is float:
            return name, Bits(obj)
        if cls is complex:
            return name, Bits(obj.real), Bits(obj.imag)
        if isinstance(obj, np.generic):
            return name, str(obj.dtype), Bits(float(obj)) if obj.dtype.kind == "f" else repr(obj)
        if depth > _DEPTH:
            return name, "deep"
        if cls is tuple and not obj:
            return name, ()
        if id(obj) in self.numbers:
            return name, "again", self.numbers[id(obj)]
        # which of two equal new tuples a result holds is nobody's business
        if self.arguments or not isinstance(obj, (tuple, frozenset, range, slice)):
            self.numbers[id(obj)] = len(self.numbers)
            self.alive.append(obj)
        return name, *self.parts(obj, depth + 1)

    def parts(self, obj: Any, depth: int) -> tuple[Any, ...]:
        """What is inside an object."""
        if isinstance(obj, Tensor):
            more = (obj.name,) if isinstance(obj, Parameter) else ()
            try:
                return str(obj.dtype), obj.shape, Array(np.array(obj)), *more
            except WeftError:
                return (LEAKED,)
        if isinstance(obj, np.ndarray):
            if obj.dtype.kind == "O":
                return str(obj.dtype), obj.shape, self.form(obj.tolist(), depth)
            return str(obj.dtype), obj.shape, Array(obj)
        if isinstance(obj, (set, frozenset)):
            return tuple(self.form(item, depth) for item in sorted(obj, key=self.place))
        if isinstance(obj, (bytearray, memoryview)):
            return (bytes(obj),)
        if isinstance(obj, (range, slice, types.MappingProxyType)):
            return (_ADDRESS.sub("0x", repr(obj)),)
        if isinstance(obj, functools.partial):
            return self.form(obj.func, depth), self.form(obj.args, depth), self.form(obj.keywords, depth)
        if isinstance(obj, types.MethodType):
            return obj.__func__.__qualname__, self.form(obj.__self__, depth)
        if isinstance(obj, types.BuiltinMethodType):
            owner = None if isinstance(obj.__self__, (type, types.ModuleType)) else obj.__self__
            return obj.__qualname__, self.form(owner, depth)
        if isinstance(obj, (type, types.ModuleType, types.FunctionType, property, staticmethod, classmethod)):
            return (getattr(obj, "__qualname__", getattr(obj, "__name__", "")),)
        if isinstance(obj, BaseException):
            return (self.exception(obj),)
        if hasattr(obj, "__next__"):
            return self.drained(obj, depth)
        return self.contents(obj, depth)

    def place(self, item: Any) -> tuple[str, int]:
        """Where an item of a set comes, wherever it is in memory."""
        return _ADDRESS.sub("0x", repr(item)), self.numbers.get(id(item), -1)

    def contents(self, obj: Any, depth: int) -> tuple[Any, ...]:
        """Items and attributes."""
        parts: list[Any] = []
        if isinstance(obj, (int, float, str)):
            parts.append(type(obj).__mro__[-2].__repr__(obj))  # type: ignore[operator]
        elif isinstance(obj, (list, tuple, deque)):
            parts.append(tuple(self.form(item, depth) for item in obj))
            parts.append(getattr(obj, "maxlen", None))
        elif isinstance(obj, dict):
            parts.append(tuple((self.form(key, depth), self.form(value, depth)) for key, value in obj.items()))
        elif not hasattr(obj, "__dict__") and not hasattr(type(obj), "__slots__"):
            parts.append(_ADDRESS.sub("0x", repr(obj)))
        if hasattr(obj, "__dict__"):
            hidden = () if type(obj).__module__.startswith(("tests", "gate")) else ("_hash",)
            if isinstance(obj, Cell):  # counts what is written to it
                hidden = ("_version",)
            parts.append(tuple((k, self.form(v, depth)) for k, v in vars(obj).items() if k not in hidden))
        for cls in type(obj).__mro__:
            slots = cls.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("_hash", "__weakref__", "__dict__"):
                    parts.append((name, self.form(getattr(obj, name, "absent"), depth)))
        return tuple(parts)

    def drained(self, iterator: Any, depth: int) -> tuple[Any, ...]:
        """What an iterator gives out or raises."""
        found: list[Any] = []
        try:
            for _ in range(_DRAINED):
                found.append(self.form(next(iterator), depth))
        except StopIteration:
            found.append("end")
        except Exception as error:
            found.append(self.exception(error))
        return tuple(found)


class Bits:
    """A float, equal to another only if all bits are; any NaN is like any other."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.bits = b"nan" if math.isnan(value) else struct.pack("<d", value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bits) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return repr(self.value)

    def near(self, other: Bits) -> bool:
        """Whether the difference is one of rounding."""
        return math.isclose(self.value, other.value, rel_tol=1e-12) and self.value != 0


class Array:
    """The elements of a tensor, equal up to rounding."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array) or self.values.shape != other.values.shape:
            return False
        if self.values.dtype.kind in "fc":
            return bool(np.allclose(self.values, other.values, rtol=1e-5, atol=1e-7, equal_nan=True))
        return self.values.tobytes() == other.values.tobytes()

    def __hash__(self) -> int:
        return hash(self.values.shape)

    def __repr__(self) -> str:
        return repr(self.values.tolist())


def difference(got: Frozen, wanted: Frozen) -> tuple[str, str]:
    """The symptom by which two outcomes differ and a description, empty if they are alike."""
    if got.raised is not None or wanted.raised is not None:
        if got.raised is None or wanted.raised is None or got.raised[0] != wanted.raised[0]:
            return "exception", f"{outcome(got)}, not {outcome(wanted)}"
        if got.raised[1] != wanted.raised[1]:
            return "exception text", f"{outcome(got)}, not {outcome(wanted)}"
        if got.raised[2] != wanted.raised[2]:
            return "exception arguments", f"{got.raised[2]}, not {wanted.raised[2]}"
    for part, one, other in (("", got.result, wanted.result), ("effect: ", got.outside, wanted.outside)):
        symptom, where = _first(one, other, "")
        if symptom:
            symptom = "leak" if LEAKED in repr(one) else symptom
            text = f"{shown(one)}, not {shown(other)} (at {where})"
            return (symptom, text) if not part else ("effect", f"{symptom} {text}")
    if got.printed != wanted.printed:
        return "printed", f"{got.printed!r}, not {wanted.printed!r}"
    return "", ""


def _first(got: Any, wanted: Any, where: str) -> tuple[str, str]:
    """The first place in which two forms differ, and how."""
    if isinstance(got, tuple) and isinstance(wanted, tuple):
        named = len(got) > 1 and len(wanted) > 1 and isinstance(got[0], str) and isinstance(wanted[0], str)
        if named and got[0] != wanted[0]:
            return "type", where
        if named and (got[1] == "again") != (wanted[1] == "again"):
            return "identity", where
        if len(got) != len(wanted):
            return "value", where
        for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
            symptom, place = _first(one, other, f"{where}.{number}")
            if symptom:
                return symptom, place
        return "", ""
    if type(got) is type(wanted) and got == wanted:
        return "", ""
    if isinstance(got, Bits) and isinstance(wanted, Bits) and got.near(wanted):
        return "rounding", where
    return "value", where


def outcome(frozen: Frozen) -> str:
    """The exception or the result of a call, to read."""
    if frozen.raised is not None:
        return f"{frozen.raised[0]}: {frozen.raised[1]}"[:300]
    return shown(frozen.result)


def shown(form: Any) -> str:
    """A form to read: names of classes only where they tell something."""
    return _shown(form)[:300]


def _shown(form: Any) -> str:
    if not isinstance(form, tuple):
        return repr(form)
    if len(form) == 2 and form[0] in ("int", "bool", "NoneType", "str", "bytes", "float"):
        return repr(form[1])
    if form and form[0] in ("tuple", "list") and len(form) == 3 and isinstance(form[1], tuple):
        inner = ", ".join(map(_shown, form[1]))
        return f"[{inner}]" if form[0] == "list" else f"({inner})"
    if form and isinstance(form[0], str):
        return f"{form[0]}<{' '.join(map(_shown, form[1:]))}>"
    return f"<{' '.join(map(_shown, form))}>"
