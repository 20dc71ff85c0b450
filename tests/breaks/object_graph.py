"""The shape of everything reachable from some objects, to compare two worlds: values, identity, aliases."""

from __future__ import annotations

import types
from collections import deque
from typing import Any, Final

import numpy as np

from weft import nn
from weft.core.tensor import Parameter, Tensor

_ATOMS: Final = (type(None), bool, int, str, bytes, complex, type(Ellipsis), range)
#: a generator that a compiled function left behind is one of Python's; its frame is not the user's
_ITERATOR: Final = "__next__"
#: items taken from an iterator that is left over
_DRAINED: Final = 6


class ObjectGraph:
    """Everything reachable from an object, in a form in which equal shapes are equal.

    Args:
        root: where to begin.
        module: name of the module whose classes and functions are looked into.
        tensors: whether it matters which tensors are the same object.
    """

    def __init__(self, root: Any, module: str, tensors: bool = True) -> None:
        self.module = module
        self.tensors = tensors
        self.numbers: dict[int, int] = {}
        self.alive: list[Any] = []
        self.arrays: list[Any] = []
        self.iterators: list[Any] = []
        self.form = self._form(root)

    def _form(self, obj: Any) -> Any:
        if isinstance(obj, _ATOMS):
            return type(obj).__name__, obj
        if isinstance(obj, float):
            self.arrays.append(obj)
            return "float"
        if type(obj) is tuple:  # equal tuples of constants may be one object or two
            return "tuple", [self._form(item) for item in obj]
        if type(obj) is Tensor and not self.tensors:
            return "Tensor", *self._parts(obj)
        if id(obj) in self.numbers:
            return "again", self.numbers[id(obj)]
        self.numbers[id(obj)] = len(self.numbers)
        self.alive.append(obj)
        return type(obj).__name__, *self._parts(obj)

    def _parts(self, obj: Any) -> tuple[Any, ...]:
        if isinstance(obj, Tensor):
            self.arrays.append(np.array(obj))
            more = (obj.name, obj.requires_grad) if isinstance(obj, Parameter) else ()
            return obj.shape, str(obj.dtype), *more
        if isinstance(obj, np.ndarray):
            self.arrays.append(obj)
            return (obj.shape,)
        if isinstance(obj, (set, frozenset)):
            return tuple(self._form(item) for item in sorted(obj, key=repr))
        if hasattr(obj, _ITERATOR):
            self.iterators.append(obj)
            return (getattr(obj, "__name__", ""), *self._state(obj))
        if isinstance(obj, types.FunctionType):
            if obj.__module__ != self.module:
                return (obj.__qualname__,)
            closure = [self._form(cell) for cell in obj.__closure__ or ()]
            return obj.__qualname__, closure, self._form(obj.__defaults__), self._form(obj.__dict__)
        if isinstance(obj, types.CellType):
            try:
                return (self._form(obj.cell_contents),)
            except ValueError:
                return ("empty",)
        if isinstance(obj, types.MethodType):
            return self._form(obj.__func__), self._form(obj.__self__)
        if isinstance(obj, types.BuiltinMethodType):
            return obj.__name__, self._form(None if isinstance(obj.__self__, types.ModuleType) else obj.__self__)
        if isinstance(obj, type):
            if obj.__module__ != self.module:
                return (obj.__qualname__,)
            return obj.__qualname__, *(
                (key, self._form(value)) for key, value in vars(obj).items() if not key.startswith("__")
            )
        if isinstance(obj, types.ModuleType):
            return (obj.__name__,)
        if isinstance(obj, BaseException):
            chained = self._form(obj.__cause__), self._form(obj.__context__)
            return self._form(list(obj.args)), *chained, self._form(vars(obj))
        return self._contents(obj)

    def _contents(self, obj: Any) -> tuple[Any, ...]:
        parts: list[Any] = []
        if isinstance(obj, (list, tuple, deque)):
            parts.append([self._form(item) for item in obj])
            if isinstance(obj, deque):
                parts.append(obj.maxlen)
        elif isinstance(obj, dict):
            parts.append([(self._form(key), self._form(value)) for key, value in obj.items()])
        if hasattr(obj, "__dict__"):
            namespace = vars(obj)
            if isinstance(obj, nn.Cell):
                namespace = {key: value for key, value in namespace.items() if not key.startswith("_")}
                parts.append([self._form(parameter) for parameter in obj.get_parameters()])
            parts.append([(key, self._form(value)) for key, value in namespace.items()])
        for cls in type(obj).__mro__:
            slots = cls.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                parts.append((name, self._form(getattr(obj, name))) if hasattr(obj, name) else (name, "absent"))
        return tuple(parts)

    def _state(self, iterator: Any) -> tuple[Any, ...]:
        """What is known of an iterator without advancing it."""
        if isinstance(iterator, (types.GeneratorType, zip, map, filter, enumerate, reversed)):
            return ()
        try:
            return (self._form(list(iterator.__reduce__())),)
        except TypeError:
            return ()

    def drained(self) -> list[Any]:
        """What the iterators that were met give out, or raise, when they are advanced."""
        found: list[Any] = []
        for iterator in self.iterators:
            items = []
            try:
                for _ in range(_DRAINED):
                    items.append(next(iterator))
            except Exception as error:
                items.append((type(error).__name__, str(error)))
            found.append(items)
        return found


def difference(found: ObjectGraph, expected: ObjectGraph) -> str:
    """Where two graphs differ first, "" if they are equal."""
    where = _difference(found.form, expected.form, "")
    if where:
        return where
    for number, (one, other) in enumerate(zip(found.arrays, expected.arrays, strict=True)):
        if not np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True):
            return f"array {number}: {one}, not {other}"
    return ""


def _difference(found: Any, expected: Any, where: str) -> str:
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)) and len(found) == len(expected):
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            deeper = _difference(one, other, f"{where}.{number}")
            if deeper:
                return deeper
        return ""
    return "" if type(found) is type(expected) and found == expected else f"{where}: {found!r}, not {expected!r}"
