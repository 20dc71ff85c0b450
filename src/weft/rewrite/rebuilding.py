"""The cells of a rewritten network: new where they lead to something rewritten, the original ones elsewhere."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import types
from collections import OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weft.core.home import Home
from weft.nn.cell import Cell
from weft.rewrite.sources import mangled

#: containers in which a cell keeps its own state, and which no other cell shares
_OWN = Cell.__weft_counted__ - {"_compiled"}
#: classes whose instances, also those of subclasses, are followed to the cells in them
_CONTAINERS: tuple[type, ...] = (OrderedDict, defaultdict, dict, list, tuple, deque, set, frozenset)
#: those of which the attributes are what they contain, as those of dataclasses are
_RECORDS = (types.SimpleNamespace, UserList, UserDict)
_FIXED = (tuple, frozenset)
_FOLLOWED = (Cell, types.MethodType, *_CONTAINERS, *_RECORDS)


class Rebuilding:
    """Makes the cells of a rewritten network.

    Args:
        network: the original network.
        classes: the new classes of the cells that were rewritten, by the identity of the cell.
        added: the attributes that were added to these cells, likewise.
        read: identities of the cells whose `construct` in the class computes what the cell does.
    """

    def __init__(
        self, network: Cell, classes: Mapping[int, type], added: Mapping[int, Mapping[str, Any]], read: Iterable[int]
    ) -> None:
        self.network = network
        self.classes = classes
        self.added = added
        self.read = set(read)
        inserted = [value for values in added.values() for value in values.values()]
        #: all that leads to something rewritten
        self.leading = _leading_to(classes, [network, *inserted])
        self.made: dict[int, Any] = {}

    def whole(self) -> Cell:
        """The rewritten network."""
        made: Cell = self._value(self.network)
        return made

    def inserted(self) -> list[tuple[Cell, Iterable[str]]]:
        """The new cells, with the names of the attributes that were added to each."""
        return [(self.made[key], names) for key, names in self.added.items() if key in self.made]

    def _value(self, value: Any) -> Any:
        """What an object becomes."""
        if id(value) not in self.leading:
            return value
        if id(value) not in self.made:
            made: Any
            if isinstance(value, Cell):
                made = self._cell(value)
            elif isinstance(value, types.MethodType):
                made = self._method(value)
            else:
                made = self._container(value)
            self.made.setdefault(id(value), made)  # there already, where a tuple is in a list in itself
        return self.made[id(value)]

    def _cell(self, cell: Cell) -> Cell:
        cls = self.classes.get(id(cell), type(cell))
        made: Any = _bare(cls)
        self.made[id(cell)] = made
        state = made.__dict__
        for name, value in cell.__dict__.items():
            new = Home(made) if name == "_compiled" else self._value(value)
            state[name] = copy.copy(value) if name in _OWN and new is value else new
        for slot, value in _slots_of(cell):
            slot.__set__(made, self._value(value))
        if id(cell) in self.read:
            state.pop("construct", None)  # a compiled one, which computes what the original does
        if cls is not type(cell):
            state["cls_name"] = cls.__name__
        made._refresh_extras()
        prefixed, state["_auto_prefix"] = state["_auto_prefix"], False  # `name_parameters` names them
        for name, value in self.added.get(id(cell), {}).items():
            setattr(made, name, self._value(value))
        state["_auto_prefix"] = prefixed
        return made

    def _method(self, bound: types.MethodType) -> Any:
        """A bound method of what its cell becomes; as rewritten, where it is one of the class."""
        cell, function = bound.__self__, bound.__func__
        made = self._value(cell)
        for name in [mangled(function.__name__, cls) for cls in type(cell).__mro__]:
            if inspect.getattr_static(type(cell), name, None) is function:
                return getattr(made, name)
        return types.MethodType(function, made)

    def _container(self, value: Any) -> Any:
        """A container of the same class with what its items become, made without code of that class."""
        kind: Any = _container_of(type(value))
        if kind in _FIXED:
            items = [self._value(each) for each in kind.__iter__(value)]
            if id(value) in self.made:
                return self.made[id(value)]
            made: Any = kind.__new__(type(value), items)
        else:
            made = _bare(type(value))
        self.made[id(value)] = made
        if isinstance(value, dict):
            if isinstance(value, defaultdict):
                made.default_factory = value.default_factory
            for key, each in kind.items(value):
                kind.__setitem__(made, self._value(key), self._value(each))
        elif isinstance(value, set):
            kind.update(made, [self._value(each) for each in kind.__iter__(value)])
        elif isinstance(value, (list, deque)):
            if isinstance(value, deque):
                deque.__init__(made, (), value.maxlen)
            for each in kind.__iter__(value):
                kind.append(made, self._value(each))
        for name, each in getattr(value, "__dict__", {}).items():
            made.__dict__[name] = self._value(each)
        for slot, each in _slots_of(value):
            slot.__set__(made, self._value(each))
        return made


def _leading_to(rewritten: Iterable[int], starts: Iterable[Any]) -> dict[int, Any]:
    """What leads from some objects to rewritten ones, and these, by identity."""
    met: dict[int, Any] = {}
    holders: dict[int, list[int]] = {}
    waiting = [*starts]
    while waiting:
        value = waiting.pop()
        if id(value) in met:
            continue
        met[id(value)] = value
        for part in _parts(value):
            if isinstance(part, _FOLLOWED) or dataclasses.is_dataclass(type(part)):
                holders.setdefault(id(part), []).append(id(value))
                waiting.append(part)
    found: dict[int, Any] = {}
    keys = [key for key in rewritten if key in met]
    while keys:
        key = keys.pop()
        if key not in found:
            found[key] = met[key]
            keys += holders.get(key, ())
    return found


def _parts(value: Any) -> Iterator[Any]:
    """The attributes of a cell, the items and attributes of a container, or the cell of a method."""
    if isinstance(value, types.MethodType):
        if isinstance(value.__self__, Cell):
            yield value.__self__
        return
    kind: Any = _container_of(type(value))
    if isinstance(value, dict):
        for pair in kind.items(value):
            yield from pair
    elif kind in _CONTAINERS:
        yield from kind.__iter__(value)
    yield from (each for name, each in getattr(value, "__dict__", {}).items() if name != "_compiled")
    yield from (each for _, each in _slots_of(value))


def _container_of(cls: type) -> type:
    """The kind of container that instances of a class are; `object` for none."""
    kinds = (*_CONTAINERS, types.SimpleNamespace)
    return next((each for each in kinds if issubclass(cls, each)), object)


def _bare(cls: type) -> Any:
    """An instance without anything in it: neither ``__new__`` nor ``__init__`` of the program runs."""
    kind: Any = _container_of(cls)
    return kind.__new__(cls)


def _slots_of(value: Any) -> Iterator[tuple[types.MemberDescriptorType, Any]]:
    """Attributes of an object that are not in its dict, as its classes have slots for them."""
    for cls in type(value).__mro__:
        if "__slots__" in cls.__dict__:
            for slot in cls.__dict__.values():
                if isinstance(slot, types.MemberDescriptorType):
                    with contextlib.suppress(AttributeError):  # it is not set
                        yield slot, slot.__get__(value)
