"""Python numbers of which a capture does not know the value: those of the call, and those of the running graph.

Such a number never passes for its value. Captured code computes with it through the interpreter; whatever else asks it
anything (its hash, its sign, a digit) gets the value under a guard where it can be had, and is refused where it cannot.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.core.tensor import Tensor
from weft.dtypes import DType

#: the classes of Python numbers that a graph can hold
KINDS: Final = (bool, int, float)


class RunNumber:
    """A Python number of which a capture does not know the value, or of which it should not.

    In type tests it passes for a number of its kind. Everything else that numbers can do is asked of `constant()`.

    Args:
        kind: `bool`, `int` or `float`.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind

    def operand(self, dtype: DType | None = None) -> Tensor:
        """The number as a 0-dimensional tensor of the graph under construction, which promotes like a number.

        Args:
            dtype: the element type that it is going to be cast to, None if that is not known; a value that a number
                of this type cannot have is refused as eager code refuses it.
        """
        raise NotImplementedError

    def constant(self) -> Any:
        """The number's value; from then on the graph is for this value only.

        Raises:
            Unsupported: only the running graph knows it.
        """
        raise NotImplementedError

    @property
    def is_size(self) -> bool:
        """Whether it is the size of an axis, computed from those that the graph leaves open."""
        return False

    def attribute(self) -> Any:
        """What stands for the number in an attribute of an operation: a size that the graph leaves open, or a constant.

        Raises:
            Unsupported: only the running graph knows it.
        """
        return self.constant()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what numbers have of these is below
            raise AttributeError(f"'{self.kind.__name__}' object has no attribute '{name}'", name=name)
        return getattr(self.constant(), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.constant().__reduce_ex__(protocol)  # what is copied or pickled is the value

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.constant(), *args, **kwargs)


def _value(number: Any) -> Any:
    return number.constant() if issubclass(type(number), RunNumber) else number


def _asked(name: str, function: Callable[..., Any] | None) -> Callable[..., Any]:
    """A special method that answers for the value; beside a tensor the tensor answers."""

    def method(self: RunNumber, *others: Any) -> Any:
        if any(isinstance(other, Tensor) for other in others):
            return NotImplemented
        if function is not None:
            return function(self.constant(), *map(_value, others))
        return getattr(self.constant(), name)(*map(_value, others))

    method.__name__ = name
    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: RunNumber, other: Any) -> Any:
        return NotImplemented if isinstance(other, Tensor) else function(_value(other), self.constant())

    return method


#: functions that ask a special method, where they do more than call it
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "__bool__": bool, "__hash__": hash, "__int__": int, "__float__": float, "__complex__": complex, "__str__": str,
    "__repr__": repr, "__format__": format, "__round__": round, "__abs__": abs, "__divmod__": divmod, "__pow__": pow,
    "__trunc__": math.trunc, "__floor__": math.floor, "__ceil__": math.ceil, "__index__": operator.index,
}  # fmt: skip
#: what all objects have, and what is above
_OF_OBJECTS: Final = frozenset(dir(object)) - {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__", "__format__",
}  # fmt: skip
for _name in sorted({*dir(int), *dir(float), "__complex__"} - _OF_OBJECTS):
    if not (_name.startswith("__") and callable(getattr(int, _name, getattr(float, _name, None)))):
        continue
    if _name.startswith("__r") and hasattr(operator, f"__{_name[3:]}"):
        setattr(RunNumber, _name, _reflected(getattr(operator, f"__{_name[3:]}")))
    elif _name == "__rdivmod__":
        setattr(RunNumber, _name, _reflected(divmod))
    elif _name not in ("__getformat__", "__setformat__", "__getnewargs__"):
        setattr(RunNumber, _name, _asked(_name, _FUNCTIONS.get(_name) or getattr(operator, _name, None)))


def whole(value: Any) -> Any:
    """`operator.index`, by which a size that the graph leaves open stays so."""
    return value if is_size(value) else operator.index(value)


def is_size(value: Any) -> bool:
    """Whether a number is a size that the graph leaves open, or computed from such sizes."""
    return issubclass(type(value), RunNumber) and bool(value.is_size)


def shown(value: Any) -> str:
    """A number or shape in a message, for which a size that the graph leaves open stays so."""
    if type(value) is tuple and any(map(is_size, value)):
        return f"({', '.join(map(shown, value))})"
    return value.label if is_size(value) else str(value)


#: containers whose items can be replaced
_INDEXED: Final = (list, dict, deque)
#: classes of values that are no run-time numbers and hold none, by id: a class may define how it is hashed
_PLAIN: Final = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), DType)))


def _is_plain(items: tuple[Any, ...]) -> bool:
    """Whether there is no run-time number in a tuple, nor anything that could hold one: most attributes are such."""
    for item in items:
        kind = type(item)
        if id(kind) not in _PLAIN and not (kind is tuple and _is_plain(item)):
            return False
    return True


def attributes(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Attributes of an operation with what stands in them for run-time numbers, see `RunNumber.attribute`."""
    if _is_plain(values):
        return values
    found = []
    for value in values:
        kind = type(value)
        if issubclass(kind, RunNumber):
            value = value.attribute()
        elif kind is tuple:
            value = attributes(value)
        elif kind is slice:
            value = slice(*attributes((value.start, value.stop, value.step)))
        else:
            value = settled(value)
        found.append(value)
    return tuple(found)


def settled(value: Any, seen: set[int] | None = None) -> Any:
    """A value with constants in place of the run-time numbers in it, through tuples, slices and containers.

    Args:
        value: the value; lists, dictionaries and deques stay the same objects.
        seen: ids of containers that are being settled.

    Raises:
        Unsupported: only the running graph knows one of the numbers.
    """
    kind = type(value)  # `isinstance` would also ask the user's `__class__`
    if kind is tuple and _is_plain(value):
        return value
    if issubclass(kind, RunNumber):
        return value.constant()
    if kind is slice:
        parts = (value.start, value.stop, value.step)
        constants = settled(parts, seen)
        return value if constants is parts else slice(*constants)
    if not issubclass(kind, (tuple, *_INDEXED)):
        return value
    seen = set() if seen is None else seen
    if id(value) in seen:
        return value
    seen.add(id(value))
    if issubclass(kind, tuple):
        items = [settled(part, seen) for part in tuple.__iter__(value)]
        if all(new is old for new, old in zip(items, tuple.__iter__(value), strict=True)):
            return value
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    native: Any = next(base for base in _INDEXED if issubclass(kind, base))
    for key, item in list(dict.items(value) if native is dict else enumerate(native.__iter__(value))):
        constant = settled(item, seen)
        if constant is not item:
            native.__setitem__(value, key, constant)
    return value
