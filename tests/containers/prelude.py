"""What the programs find among their globals besides the names of the gate's matrix."""

from __future__ import annotations

import collections
import dataclasses
import types
from typing import Any

import scipy.special
import scipy.stats

import weft
from weft import Parameter, dtypes, nn

__all__ = [
    "Bag",
    "Box",
    "Counted",
    "Fixed",
    "Parameter",
    "Record",
    "Slots",
    "Table",
    "Triple",
    "dtypes",
    "nn",
    "scipy",
    "types",
    "weft",
]


class Slots:
    """An object with slots only."""

    __slots__ = ("a", "b", "c")

    def __init__(self, a: Any = None, b: Any = None, c: Any = None) -> None:
        self.a = a
        self.b = b
        self.c = c


class Bag(list[Any]):
    """A list of the user's class, with an attribute and a method."""

    label = "bag"

    def first(self) -> Any:
        """The first item."""
        return self[0]


class Table(dict[Any, Any]):
    """A dict of the user's class, which answers what is missing."""

    def __missing__(self, key: Any) -> Any:
        return "missing", key


class Counted(list[Any]):
    """A list that counts what is appended by its own method."""

    appended = 0

    def append(self, item: Any) -> None:
        """Append, and count."""
        self.appended += 1
        super().append(item)


class Box:
    """An object with attributes, items and operators of the user's."""

    def __init__(self, a: Any = None, b: Any = None, c: Any = None) -> None:
        self.a, self.b, self.c = a, b, c

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, "abc"[key] if isinstance(key, int) else key)

    def __setitem__(self, key: Any, value: Any) -> None:
        setattr(self, "abc"[key] if isinstance(key, int) else key, value)

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Any:
        return iter((self.a, self.b, self.c))

    def __contains__(self, item: Any) -> bool:
        return item is self.a

    def __add__(self, other: Any) -> Any:
        return Box(self.a, self.b, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self.a is other.a

    def __hash__(self) -> int:
        return 7

    def total(self, *more: Any) -> Any:
        """Items and arguments."""
        return [*self, *more]


@dataclasses.dataclass
class Record:
    """A dataclass."""

    a: Any
    b: Any = None
    c: Any = dataclasses.field(default=None, compare=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    """A dataclass that cannot be written."""

    a: Any
    b: Any = None
    c: Any = None


Triple = collections.namedtuple("Triple", "a b c")
