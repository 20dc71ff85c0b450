"""The journal: contents of mutable objects before their first write, so that writes can be undone, merged and replayed.

Captured code writes to real objects (so that `len`, slicing and library code see what Python would show them); the
journal takes everything back when a branch or the capture ends.
"""

from __future__ import annotations

import types
from collections import deque
from typing import Any, Final

from weft.core.tensor import Tensor

EMPTY_CELL: Final = object()


class Journaled:
    """Base of the capture's own mutable objects (iterators, generators), which name their state."""

    __slots__ = ()

    def journal_contents(self) -> Any:
        """The state, as a value that later changes do not touch."""
        raise NotImplementedError

    def journal_restore(self, contents: Any) -> None:
        """Take on a state returned by `journal_contents`."""
        raise NotImplementedError


def contents_of(obj: Any) -> Any:
    """A shallow copy of the mutable state of an object."""
    if isinstance(obj, Tensor):
        state = (obj._data, obj._node, getattr(obj, "_index", 0), obj._type)
        return (state, dict(obj.__dict__)) if hasattr(obj, "__dict__") else (state, None)
    if isinstance(obj, Journaled):
        return obj.journal_contents()
    if isinstance(obj, types.CellType):
        try:
            return obj.cell_contents
        except ValueError:
            return EMPTY_CELL
    parts: dict[str, Any] = {}
    if isinstance(obj, list):
        parts["list"] = list(obj)
    elif isinstance(obj, dict):
        parts["dict"] = dict(obj)
    elif isinstance(obj, set):
        parts["set"] = set(obj)
    elif isinstance(obj, deque):
        parts["deque"] = list(obj)
    elif isinstance(obj, bytearray):
        parts["bytes"] = bytes(obj)
    elif isinstance(obj, BaseException):
        parts["args"] = obj.args
    namespace = getattr(obj, "__dict__", None)
    if isinstance(namespace, dict):
        parts["attributes"] = dict(namespace)
        # registries that an object keeps of itself (a Cell's parameters and sub-cells) change with its attributes
        parts["registries"] = {
            name: dict(value) for name, value in namespace.items() if name[:1] == "_" and isinstance(value, dict)
        }
    elif isinstance(namespace, types.MappingProxyType):
        parts["class"] = dict(namespace)
    for cls in type(obj).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__"):
                parts.setdefault("slots", {})[slot] = getattr(obj, slot, EMPTY_CELL)
    return parts


def restore(obj: Any, contents: Any) -> None:
    """Give an object back the state that `contents_of` returned."""
    if isinstance(obj, Tensor):
        (obj._data, obj._node, obj._index, obj._type), namespace = contents
        if namespace is not None:
            obj.__dict__.clear()
            obj.__dict__.update(namespace)
        return
    if isinstance(obj, Journaled):
        obj.journal_restore(contents)
        return
    if isinstance(obj, types.CellType):
        if contents is EMPTY_CELL:
            if hasattr(obj, "cell_contents"):
                del obj.cell_contents
        else:
            obj.cell_contents = contents
        return
    if "list" in contents:
        list.__setitem__(obj, slice(None), contents["list"])
    elif "dict" in contents:
        dict.clear(obj)
        dict.update(obj, contents["dict"])
    elif "set" in contents:
        set.clear(obj)
        set.update(obj, contents["set"])
    elif "deque" in contents:
        obj.clear()
        obj.extend(contents["deque"])
    elif "bytes" in contents:
        obj[:] = contents["bytes"]
    elif "args" in contents:
        obj.args = contents["args"]
    if "attributes" in contents:
        namespace = obj.__dict__
        namespace.clear()
        namespace.update(contents["attributes"])
        for name, registry in contents["registries"].items():
            namespace[name].clear()
            namespace[name].update(registry)
    if "class" in contents:
        for name in set(obj.__dict__) - set(contents["class"]):
            type.__delattr__(obj, name)
        for name, value in contents["class"].items():
            if obj.__dict__.get(name, EMPTY_CELL) is not value:
                type.__setattr__(obj, name, value)
    for slot, value in contents.get("slots", {}).items():
        if value is EMPTY_CELL:
            if hasattr(obj, slot):
                object.__delattr__(obj, slot)
        else:
            object.__setattr__(obj, slot, value)


class Layer:
    """The objects written since a point in time, with their contents at that point."""

    __slots__ = ("before",)

    def __init__(self) -> None:
        #: id -> (the object, its contents before the first write)
        self.before: dict[int, tuple[Any, Any]] = {}

    def after(self) -> dict[int, tuple[Any, Any]]:
        """The same objects with their contents now."""
        return {key: (obj, contents_of(obj)) for key, (obj, _) in self.before.items()}

    def undo(self) -> None:
        """Give every object its contents back."""
        for obj, contents in reversed(self.before.values()):
            restore(obj, contents)


class Journal:
    """A stack of layers: one for the capture, one more for each branch side in progress."""

    def __init__(self) -> None:
        self.layers = [Layer()]
        #: objects made during the capture, in order, kept alive so that their ids stay theirs
        self.created: dict[int, Any] = {}
        #: those of them that were made on one side of a branch; elsewhere they exist once an outcome brings them
        self.made_on_sides: set[int] = set()

    def exists(self, key: int) -> bool:
        """Whether an object is in the state that the capture has come to, by its id."""
        return key not in self.made_on_sides or any(key in layer.before for layer in self.layers)

    def touch(self, obj: Any) -> None:
        """Note the contents of an object that is about to be written."""
        before = self.layers[-1].before
        key = id(obj)
        if key not in before:
            before[key] = (obj, contents_of(obj))

    def original(self, obj: Any) -> Any:
        """The contents of an object before the capture first wrote it, None if it has not."""
        key = id(obj)
        for layer in self.layers:
            noted = layer.before.get(key)
            if noted is not None:
                return noted[1]
        return None

    def push(self) -> Layer:
        """Begin a layer."""
        layer = Layer()
        self.layers.append(layer)
        return layer

    def pop(self) -> Layer:
        """End the newest layer, leaving the objects as they are now and unnoted."""
        return self.layers.pop()
