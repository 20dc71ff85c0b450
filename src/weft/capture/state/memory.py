"""Memory that native code may write: the arrays and buffers behind what it is given."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import NATIVE_PACKAGES, module_of

#: what C code of ctypes reads and writes in place; the class has no public name
_C_DATA: Final[Any] = ctypes.Structure.__base__
#: what shows the memory of another object
_VIEWS: Final = (np.ndarray, np.void, np.flatiter, memoryview, _C_DATA)
#: what has memory of its own, besides arrays
_BUFFERS: Final = (bytearray, array.array, mmap.mmap, _C_DATA)


def is_view(value: Any) -> bool:
    """Whether an object shows memory that another one owns, so that a copy would not be the same."""
    return not isinstance(value, np.ndarray) and isinstance(value, _VIEWS) and _shown_by(value) is not None


def owner_of_memory(value: Any) -> Any:
    """The object whose memory a value is or shows: an array, a buffer, a structure of ctypes. None if there is none."""
    owner = None
    while value is not None:
        if isinstance(value, (np.ndarray, *_BUFFERS)):
            owner = value
        value = _shown_by(value) if isinstance(value, _VIEWS) else None
    return owner


def _shown_by(view: Any) -> Any:
    if isinstance(view, memoryview):
        return view.obj
    return view._b_base_ if isinstance(view, _C_DATA) else view.base


def owners_in(given: Iterable[Any]) -> list[Any]:
    """What owns the memory that native code reaches through its arguments, items of tuples, lists and dictionaries
    among them, and attributes of the objects of libraries.
    """
    found: dict[int, Any] = {}
    for value in given:
        for item in _items(value):
            owner = owner_of_memory(item)
            if owner is not None:
                found[id(owner)] = owner
    return list(found.values())


def _items(value: Any) -> Iterable[Any]:
    kind = type(value)
    if kind is tuple or kind is list:
        return value
    if kind is dict:
        return value.values()
    namespace = namespace_of(value) if module_of(kind).partition(".")[0] in NATIVE_PACKAGES else None
    return (value, *namespace.values()) if namespace else (value,)


class Snapshot:
    """The contents of a piece of memory at one point."""

    __slots__ = ("before", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.before = self._bytes().copy()

    @property
    def writable(self) -> bool:
        """Whether anyone may write the memory."""
        return bool(self._bytes().flags.writeable)

    def _bytes(self) -> Any:
        return self.owner if isinstance(self.owner, np.ndarray) else np.frombuffer(self.owner, np.uint8)

    def is_changed(self) -> bool:
        """Whether the memory holds something else, or more or less, than it did, or cannot be written any more."""
        now = self._bytes()
        return not now.flags.writeable or now.shape != self.before.shape or now.tobytes() != self.before.tobytes()

    def restore(self) -> None:
        """Put back what the memory held."""
        if isinstance(self.owner, np.ndarray) and not self.owner.flags.writeable:
            self.owner.setflags(write=True)
        if isinstance(self.owner, np.ndarray) and self.owner.shape != self.before.shape:
            self.owner.resize(self.before.shape, refcheck=False)
        self._bytes()[...] = self.before
