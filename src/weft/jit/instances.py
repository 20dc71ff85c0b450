"""The entries of one function for each object that it is called on, such as the instance of a method."""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.capture.leaving.entry import MISS
from weft.core.frames import passed_over
from weft.core.home import Home
from weft.core.tensor import Tensor
from weft.jit.compiled import Compiled
from weft.nn.cell import Cell

#: classes whose values are guarded by what they are, not by which object they are
_VALUES: Final = (
    *(Tensor, np.ndarray, np.generic, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset),
    *(type, type(None), type(Ellipsis), types.FunctionType, types.BuiltinFunctionType, types.ModuleType),
)
_owns_entries: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def owns_entries(kind: type, function: Any) -> bool:
    """Whether each object of a class has entries of its own when a function is called with it first.

    Args:
        kind: the class.
        function: the function. Objects that it gets as arguments are guarded by what it reads of them, but the instance
            of a method brings its own parameters and settings.
    """
    if issubclass(kind, Cell):
        return True
    found = _owns_entries.get(kind)
    if found is None:
        found = _owns_entries[kind] = bool(kind.__weakrefoffset__) and not issubclass(kind, _VALUES)
    if not found:
        return False
    if hasattr(function, "__weft_looked_up__"):
        return True
    defined = inspect.getattr_static(kind, getattr(function, "__name__", ""), None)
    return getattr(defined, "__weft_inline__", defined) is function or not isinstance(function, types.FunctionType)


@passed_over
class Instances:
    """The entries of one function for each object that it is called on.

    Entries of an instance must go when it goes, and many instances must not wait in one list of entries. An entry holds
    objects that it guards, and what those hold; they may lead back to the instance (a stored `grad` of one of its own
    methods does), and Python has no table whose values may refer to their key. So a Cell owns its entries itself, where
    the garbage collector sees the circle. For any other object they are kept here, by a weak reference, so that its
    `vars` stay as the user left them and classes with `__slots__` or without `__hash__` are treated alike.

    Args:
        make: makes the entries of one object, which it is given.
    """

    __slots__ = ("make", "found", "kept", "__weakref__")

    def __init__(self, make: Callable[[Any], Compiled]) -> None:
        self.make = make
        #: id of an object -> its entries; ids are reused, so entries compare the object itself once more
        self.found: dict[int, weakref.ref[Compiled]] = {}
        #: id of an object that is no Cell -> (the object, its entries)
        self.kept: dict[int, tuple[weakref.ref[Any], Compiled]] = {}

    def of(self, obj: Any) -> Compiled:
        """The entries of one object."""
        compiled = self._of_cell(obj) if isinstance(obj, Cell) else self._of_other(obj)
        key = id(obj)
        reference = self.found.get(key)
        if reference is None or reference() is not compiled:

            def forget(dead: weakref.ref[Compiled], found: Any = self.found) -> None:
                if found.get(key) is dead:
                    del found[key]

            self.found[key] = weakref.ref(compiled, forget)
        return compiled

    def all(self) -> list[Compiled]:
        """The entries of all objects that are alive."""
        return [compiled for reference in tuple(self.found.values()) if (compiled := reference()) is not None]

    def _of_cell(self, cell: Cell) -> Compiled:
        home = cell.__dict__.get("_compiled")
        if home is None or not home.belongs_to(cell):
            home = cell.__dict__["_compiled"] = Home(cell)
        if not home.things:
            home.things = weakref.WeakKeyDictionary()  # a function that is forgotten takes its entries with it
        found: Compiled | None = home.things.get(self)
        if found is None:
            found = home.things.setdefault(self, self.make(cell))
        return found

    def _of_other(self, obj: Any) -> Compiled:
        key = id(obj)
        found = self.kept.get(key)
        if found is not None and found[0]() is obj:
            return found[1]

        def forget(dead: weakref.ref[Any], kept: Any = self.kept) -> None:
            if key in kept and kept[key][0] is dead:
                del kept[key]

        compiled = self.make(obj)
        self.kept[key] = (weakref.ref(obj, forget), compiled)
        return self.kept[key][1]

    def fast_call(self) -> Callable[..., Any]:
        """A function that runs the latest entry of the object that is its first argument, or returns `MISS`."""
        found = self.found

        def run_latest(*args: Any) -> Any:
            reference = found.get(id(args[0]))
            if reference is not None:
                compiled = reference()
                if compiled is not None:
                    run = compiled.latest.get(len(args))
                    if run is not None:
                        return run(*args)
            return MISS

        return run_latest
