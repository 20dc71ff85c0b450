"""Which mutable objects of one state stand for which of another: what a branch's sides, or an iteration and the next,
leave in the same places.

An object has an identity: who else holds it sees what is done to it. Two objects may become one only if every place
that holds the one has the other in the other state. So each object has one partner, and no place that is the same in
both states leads to one of them.
"""

from __future__ import annotations

import gc
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from weft.capture.branching.leaves import MergeError, describe, is_leaf
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import is_heap_type, module_of
from weft.capture.state.frame import Frame, Lazy, MaybeUnbound
from weft.capture.state.journal import Journaled, contents_of
from weft.core.tensor import Tensor

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: the built-in classes of which the journal keeps everything that their instances are, besides what `same_layout` asks
_KEPT: Final = (object, list, dict, set, deque, bytearray, OrderedDict, defaultdict, types.SimpleNamespace)
#: what leads to nothing that a capture made
_ATOMS: Final = (type, types.ModuleType, types.CodeType, str, bytes, int, float, complex, type(None), range)
#: how many objects are looked through before it is taken that they lead everywhere
_LIMIT: Final = 20_000


class Pairs:
    """The objects of one state with their partners in the other."""

    def __init__(self) -> None:
        #: id of an object of the first state -> its partner
        self.partners: dict[int, Any] = {}
        self._owners: dict[int, int] = {}
        #: what both states have in the same place, and what only one of them has
        self._alone: list[Any] = []
        self._alive: list[Any] = []

    def add(self, a: Any, b: Any, name: str) -> None:
        """Note that two different objects are in the same place.

        Raises:
            MergeError: one of them is in another place without the other.
        """
        known = self.partners.get(id(a), b)
        if known is not b or self._owners.get(id(b), id(a)) != id(a):
            raise MergeError(f"{name} is {describe(a)} that other names have on one path only")
        self.partners[id(a)] = b
        self._owners[id(b)] = id(a)
        self._alive += (a, b)

    def alone(self, value: Any) -> None:
        """Note a value that has no partner but itself."""
        if not is_leaf(value):
            self._alone.append(value)

    def check(self, machine: Machine, frame: Frame, followed: Mapping[int, Any], made: Collection[int] = ()) -> None:
        """Make sure that nothing else leads to the objects that have partners.

        Args:
            machine: the interpreter, in the state that was before both.
            frame: the frame whose variables were paired; those of its callers are not.
            followed: the objects whose contents were paired, by id; or what they contain, if only one state has them.
            made: ids of the objects that did not exist before.

        Raises:
            MergeError: something does.
        """
        paired = {*self.partners, *self._owners}
        roots = list(self._alone)
        if not paired.issubset(made):
            roots += elsewhere(machine, frame, followed)
        if paired and leads_to(machine, roots, paired, followed):
            raise MergeError("what one path replaces by another object is held elsewhere, too")


def same_layout(a: Any, b: Any) -> bool:
    """Whether the journal could make one of two objects of the same class what the other is."""
    kind = type(a)
    if issubclass(kind, (Tensor, BaseException, Journaled)):
        return False
    if any(module_of(cls).startswith("weft.") for cls in kind.__mro__):
        return False
    if next(cls for cls in kind.__mro__ if not is_heap_type(cls)) not in _KEPT:
        return False
    if issubclass(kind, deque):
        return bool(a.maxlen == b.maxlen)
    return not issubclass(kind, defaultdict) or a.default_factory is b.default_factory


def elsewhere(machine: Machine, frame: Frame, followed: Mapping[int, Any]) -> Iterable[Any]:
    """What holds objects besides a frame: its callers, operations in progress, and what the capture wrote."""
    yield frame.exception
    yield from machine.given
    caller = frame.caller
    while caller is not None:
        yield from caller.slots
        yield from caller.stack
        yield caller.exception
        caller = caller.caller
    journal = machine.journal
    for layer in journal.layers:
        for key, (obj, _) in layer.before.items():
            if key not in followed and not journal.belongs(key, machine.created):
                yield obj


def leads_to(machine: Machine, roots: Iterable[Any], targets: Collection[int], followed: Mapping[int, Any]) -> bool:
    """Whether values lead to any of these objects, other than through objects that are followed otherwise."""
    waiting, seen = list(roots), set[int]()
    journal = machine.journal
    while waiting:
        obj = waiting.pop()
        key, kind = id(obj), type(obj)
        if key in targets:
            return True
        if key in seen or issubclass(kind, _ATOMS):
            continue
        seen.add(key)
        if len(seen) > _LIMIT:
            return True
        namespace = namespace_of(obj)
        if namespace is not None and id(namespace) in targets:
            return True
        if not _may_lead(journal, machine.created, obj, kind, namespace):
            continue
        if namespace is not None:
            waiting += parts_of(followed[id(namespace)]) if id(namespace) in followed else namespace.values()
        waiting += parts_of(followed[key]) if key in followed else _held_by(obj, kind)
    return False


def _may_lead(journal: Any, created: Mapping[int, Any], obj: Any, kind: type, namespace: Any) -> bool:
    """Whether an object may hold what the capture made: it made or wrote it, or nobody notes who makes its kind."""
    if issubclass(kind, (Journaled, types.FunctionType, types.CellType, MaybeUnbound)) or id(obj) in created:
        return True
    if any(id(obj) in layer.before or id(namespace) in layer.before for layer in journal.layers):
        return True
    if module_of(kind).startswith("weft.") or kind is Lazy:
        return False
    return not is_heap_type(kind) and not issubclass(kind, (list, dict, set, deque, bytearray))


def _held_by(obj: Any, kind: type) -> list[Any]:
    """What an object holds, past its attributes."""
    if issubclass(kind, types.FunctionType):
        return [*(obj.__closure__ or ()), obj.__defaults__, *(obj.__kwdefaults__ or {}).values()]
    if issubclass(kind, Frame):
        return [*obj.slots, *obj.stack, obj.exception]
    if issubclass(kind, Journaled):
        names = (name for cls in kind.__mro__ for name in cls.__dict__.get("__slots__", ()) if name != "touch")
        held = [getattr(obj, name, None) for name in names]
        return [*held, obj.journal_contents()]
    if issubclass(kind, Tensor):
        return []
    if kind is types.CellType:
        return [contents_of(obj)]
    if is_heap_type(kind) or issubclass(kind, (list, dict, set, deque)):
        return parts_of(contents_of(obj))
    return gc.get_referents(obj)


def parts_of(contents: Any) -> list[Any]:
    """What the journal notes of an object."""
    if type(contents) is not dict:
        return [contents]
    return [item for part in contents.values() for item in _items(part)]


def _items(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return [*part.keys(), *part.values()]
    return part if isinstance(part, (list, tuple, set)) else [part]
