"""Where the objects are that an entry holds, as data, so that those that stand in their places elsewhere are found.

A place is one of these, as a list: a plain value; the state of random numbers; an expression of a guard, over what was
found before and the arguments; an attribute of a module; the globals of a module; the attributes of a class; a path of
attributes, items and keys from an object found before.
"""

from __future__ import annotations

import builtins
import functools
import re
import sys
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.capture.keeping.described import DESCRIPTORS
from weft.capture.keeping.plain import OTHER, packed, unpacked
from weft.capture.python.classes import is_changeable, mark_of
from weft.capture.python.namespaces import class_namespace, namespace_of
from weft.capture.python.packages import module_of
from weft.capture.state.guards import KEPT, Guard
from weft.core.tensor import Tensor
from weft.ops.random import random_state

#: how a guard says what an expression loads: an object, or the referent of a weak reference
_IS: Final = re.compile(r"(?P<expression>.+) is (?P<name>[a-z]+\d+)")
_REFERS: Final = re.compile(r"(?P<name>[a-z]+\d+)\(\) is (?P<expression>.+) is not None")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
#: steps of the longest path that is looked for, and how many objects are looked at
_STEPS: Final = 8
_LOOKED_AT: Final = 50_000

#: what objects in C are made of
_PARTS: Final[dict[type, tuple[str, ...]]] = {
    functools.partial: ("func", "args", "keywords"), types.MethodType: ("__func__", "__self__"),
    property: ("fget", "fset", "fdel"), staticmethod: ("__func__",), classmethod: ("__func__",),
    functools.cached_property: ("func",),
}  # fmt: skip

#: what classes define, of which a part may be needed by itself
_DEFINED: Final = (types.FunctionType, *DESCRIPTORS)

Place = list[Any]


class Unlocated(Exception):
    """Nobody knows where an object is; the message says which."""


class Locator:
    """Says where the objects of an entry are.

    Args:
        names: the names that the code of the entry uses, with their objects.
        arguments: the parameters of the entry with the values of the captured call.
        guards: its guards.
        function: the compiled callable.
    """

    def __init__(
        self, names: Mapping[str, Any], arguments: Mapping[str, Any], guards: Sequence[Guard], function: Any
    ) -> None:
        self.names = names
        self.arguments = arguments
        self.function = function
        #: the places found so far, in the order in which they must be looked up
        self.places: dict[str, Place] = {}
        #: the guards up to this number may be asked where something is: those before it hold then
        self.checked = len(guards)
        self._said: dict[str, list[tuple[int, str, bool]]] = {}
        for number, guard in enumerate(guards):
            for pattern in (_REFERS, _IS):
                found = pattern.fullmatch(guard.condition)
                if found is not None and found["name"] in names:
                    said = self._said.setdefault(found["name"], [])
                    said.append((number, found["expression"], pattern is _REFERS))
                    break
        self._open: set[str] = set()
        self._paths: dict[int, Place] | None = None
        self._attributes: dict[int, Place] | None = None

    def names_in(self, text: str) -> Iterator[str]:
        """The names of objects that a text uses, in order."""
        for name in dict.fromkeys(_NAME.findall(text)):
            if name in self.names:
                yield name

    def locate(self, name: str) -> None:
        """Find where an object is; the objects on the way to it come before it in `places`.

        Raises:
            Unlocated: there is no way.
        """
        if name in self.places:
            return
        if name in self._open:
            raise Unlocated(name)
        self._open.add(name)
        try:
            self.places[name] = self._place(name, self.names[name])
        finally:
            self._open.discard(name)

    def _place(self, name: str, obj: Any) -> Place:
        if obj is self.function:
            return ["function"]
        for number, expression, refers in self._said.get(name, ()):
            if number <= self.checked and self._is_at(expression, obj() if refers else obj):
                return ["referent" if refers else "at", expression]
        plain = packed(obj, owned=name.startswith(KEPT))
        if plain is not OTHER:
            return ["value", plain]
        known = _known(obj) or self._of_framework().get(id(obj))
        if known is not None:
            return known
        if isinstance(obj, types.MappingProxyType):
            for other, owner in self.names.items():
                if isinstance(owner, type) and class_namespace(owner) == obj and other not in self._open:
                    self.locate(other)
                    return ["attributes", other]
        if type(obj) is dict:
            for other, function in self.names.items():
                if isinstance(function, types.FunctionType) and function.__globals__ is obj and other not in self._open:
                    self.locate(other)
                    return ["globals of", other]
        return self._path(name, obj)

    def _is_at(self, expression: str, obj: Any) -> bool:
        """Whether an expression loads an object, with the objects that it uses located."""
        try:
            for name in self.names_in(expression):
                self.locate(name)
        except Unlocated:
            return False
        try:
            return eval(expression, {**self.names, **self.arguments}) is obj
        except Exception:  # the call has changed it meanwhile
            return False

    def _of_framework(self) -> dict[int, Place]:
        """The attributes of the framework's modules, by the id of the object."""
        if self._attributes is None:
            self._attributes = {
                id(value): ["of", name, attribute]
                for name, module in tuple(sys.modules.items())
                if name.startswith("weft.")
                for attribute, value in tuple(vars(module).items())
                if not attribute.startswith("__")
            }
        return self._attributes

    def _path(self, name: str, obj: Any) -> Place:
        """A path of attributes, items and keys from what is located."""
        if self._paths is None or id(obj) not in self._paths:
            self._paths = self._reached()
        found = self._paths.get(id(obj))
        if found is None:
            raise Unlocated(f"where a {type(obj).__name__} that it uses can be found is not known")
        return found

    def _reached(self) -> dict[int, Place]:
        """The shortest path to each object that is reached from the located ones and from the arguments."""
        paths: dict[int, Place] = {}
        looked_at = 0
        waiting: deque[tuple[Any, Place]] = deque()
        roots = {**self.arguments, **{name: self.names[name] for name in self.places}}
        for root, obj in roots.items():
            waiting.append((obj, ["path", root]))
        while waiting and looked_at < _LOOKED_AT:
            obj, path = waiting.popleft()
            if id(obj) in paths:
                continue
            looked_at += 1
            paths[id(obj)] = path
            if len(path) < _STEPS:
                waiting.extend((part, [*path, step]) for step, part in _parts(obj))
        return paths


def _parts(obj: Any) -> Iterator[tuple[Any, Any]]:
    """What an object holds, each with the step that leads there."""
    kind = type(obj)
    if kind in (list, tuple):
        yield from ((["item", place], item) for place, item in enumerate(obj))
    elif kind in _PARTS:
        yield from ((["part", name], getattr(obj, name)) for name in _PARTS[kind])
    elif kind in (dict, OrderedDict):
        yield from ((["key", key], item) for key, item in obj.items() if type(key) is str)
    elif isinstance(obj, type):
        if is_changeable(obj):
            yield from ((["base", place], base) for place, base in enumerate(obj.__mro__[1:], 1))
            functions = ((name, value) for name, value in class_namespace(obj).items() if type(value) in _DEFINED)
            yield from ((["defined", name], value) for name, value in functions)
    elif mark_of(kind, "__weft_versions__") is not None or module_of(kind).partition(".")[0] == "weft":
        if issubclass(kind, tuple):
            yield from ((["item", place], item) for place, item in enumerate(tuple.__iter__(obj)))
        if not issubclass(kind, Tensor):
            held = namespace_of(obj) or {}
            yield ["class", None], kind
            yield from ((["attribute", name], item) for name, item in tuple(held.items()) if type(name) is str)


def _known(obj: Any) -> Place | None:
    """The place of an object that has a name of its own in a module."""
    if isinstance(obj, Tensor):
        return ["random state"] if obj is random_state() else None
    if isinstance(obj, types.ModuleType):
        return ["module", obj.__name__] if sys.modules.get(obj.__name__) is obj else None
    if obj is vars(builtins):
        return ["globals", "builtins"]
    if type(obj) is dict:
        module = obj.get("__name__")
        known = sys.modules.get(module) if type(module) is str else None
        return ["globals", module] if known is not None and vars(known) is obj else None
    module = module_of(obj) if isinstance(obj, type) else getattr(obj, "__module__", None)
    name = getattr(obj, "__qualname__", None)
    if type(module) is not str or type(name) is not str:
        return None
    place, held = ["of", module, *name.split(".")], _named(module, name)
    if held is obj:
        return place
    parts = _PARTS.get(type(held), ())  # the function of a property
    return next(([*place, part] for part in parts if getattr(held, part) is obj), None)


def _named(module: str, name: str) -> Any:
    try:
        return found(["of", module, *name.split(".")], {}, {}, None)
    except (LookupError, AttributeError, TypeError):
        return None


def found(place: Place, names: Mapping[str, Any], arguments: Mapping[str, Any], function: Any) -> Any:
    """The object at a place.

    Args:
        place: what `Locator` said.
        names: the objects found before.
        arguments: the parameters of the entry with the values of the call.
        function: the compiled callable.

    Raises:
        Exception: there is nothing; whatever reading it raises.
    """
    how, *rest = place
    if how == "function":
        return function
    if how == "value":
        return unpacked(rest[0])
    if how in ("at", "referent"):
        obj = eval(rest[0], {**names, **arguments})
        return weakref.ref(obj) if how == "referent" else obj
    if how == "random state":
        return random_state()
    if how == "module":
        return sys.modules[rest[0]]
    if how == "globals":
        return vars(sys.modules[rest[0]])
    if how == "globals of":
        return names[rest[0]].__globals__
    if how == "attributes":
        return class_namespace(names[rest[0]])
    if how == "of":
        obj = sys.modules[rest[0]]
        for name in rest[1:]:
            if name in _PARTS.get(type(obj), ()):
                obj = getattr(obj, name)
                continue
            held = class_namespace(obj) if isinstance(obj, type) else vars(obj)
            obj = held[name]
        return obj.__func__ if isinstance(obj, (staticmethod, classmethod)) else obj
    if how != "path":
        raise LookupError(how)
    obj = names[rest[0]] if rest[0] in names else arguments[rest[0]]
    for kind, key in rest[1:]:
        if kind == "class":
            obj = type(obj)
        elif kind == "base":
            obj = obj.__mro__[key]
        elif kind == "defined":
            obj = class_namespace(obj)[key]
        elif kind == "part":
            if key not in _PARTS.get(type(obj), ()):
                raise LookupError(key)
            obj = getattr(obj, key)
        elif kind == "attribute":
            obj = namespace_of(obj)[key]  # type: ignore[index]
        else:
            obj = tuple.__getitem__(obj, key) if isinstance(obj, tuple) else obj[key]
    return obj
