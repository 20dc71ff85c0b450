"""Where the objects are that an entry holds, as data, so that those that stand in their places elsewhere are found.

A place is one of these, as a list: a plain value; the state of random numbers; an expression of a guard, over what was
found before and the arguments; an attribute of a module; the globals of a module; the attributes of a class; a path of
attributes, items and keys from an object found before.

A path leads only through what the entry takes for given as a whole: then what stands at its end is told apart by the
description of what it leads through. What guards read one by one is found by their expressions.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import re
import sys
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.capture.keeping.described import DESCRIPTORS, held_by, is_described_whole
from weft.capture.keeping.plain import OTHER, packed, unpacked
from weft.capture.python.classes import is_changeable
from weft.capture.python.namespaces import class_namespace
from weft.capture.python.packages import OWN_PACKAGES, module_of
from weft.capture.state.guards import KEPT, Guard
from weft.core.tensor import Tensor
from weft.ops.random import random_state

#: how a guard says what an expression loads: an object, or the referent of a weak reference
_IS: Final = re.compile(r"(?P<expression>.+) is (?P<name>[a-z]+\d+)")
_REFERS: Final = re.compile(r"(?P<name>[a-z]+\d+)\(\) is (?P<expression>.+) is not None")
#: a guard of the version of a Cell, which stands for all that the Cell holds
VERSION: Final = re.compile(r"(?P<expression>.+)\._version == \d+")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
#: steps of the longest path that is looked for, and how many objects are looked at
_STEPS: Final = 32
_LOOKED_AT: Final = 50_000

#: what objects in C are made of
_PARTS: Final[dict[type, tuple[str, ...]]] = {
    functools.partial: ("func", "args", "keywords"), types.MethodType: ("__func__", "__self__"),
    property: ("fget", "fset", "fdel"), staticmethod: ("__func__",), classmethod: ("__func__",),
    functools.cached_property: ("func",),
}  # fmt: skip

#: the attribute of a function that stands for another one
_STANDS_FOR: Final = "__weft_inline__"
#: what classes define, of which a part may be needed by itself
_DEFINED: Final = (types.FunctionType, *DESCRIPTORS)

#: what holds nothing
_VALUES: Final = frozenset({type(None), bool, int, float, complex, str, bytes, types.ModuleType})

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

    Raises:
        Unlocated: a guard speaks of what is not there.
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
        #: what expressions of guards may use, with what guards before them compute
        self._within = {**names, **arguments}
        #: ids of the Cells whose version some guard compares: they are the same with all that they hold
        self._versioned: set[int] = set()
        for guard in guards:
            whole = VERSION.fullmatch(guard.condition)
            if whole is not None:
                self._versioned.add(id(self.loaded(whole["expression"])))
            elif ":=" in guard.condition:
                self.loaded(guard.condition)
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

    def loaded(self, expression: str) -> Any:
        """What an expression of a guard loads.

        Raises:
            Unlocated: nothing; the call has changed it meanwhile.
        """
        try:
            return eval(expression, self._within)
        except Exception as error:
            raise Unlocated(f"{expression} is no longer there ({type(error).__name__})") from None

    def _is_at(self, expression: str, obj: Any) -> bool:
        """Whether an expression loads an object, with the objects that it uses located."""
        try:
            for name in self.names_in(expression):
                self.locate(name)
            return self.loaded(expression) is obj
        except Unlocated:
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
        """The shortest path to each object that is reached from the located ones and from Cells among the arguments."""
        paths: dict[int, Place] = {}
        known: set[tuple[int, bool]] = set()
        waiting: deque[tuple[Any, bool, Place]] = deque()
        given = {name: value for name, value in self.arguments.items() if id(value) in self._versioned}
        for root, obj in {**given, **{name: self.names[name] for name in self.places}}.items():
            waiting.append((obj, False, ["path", root]))
        while waiting and len(known) < _LOOKED_AT:
            obj, whole, path = waiting.popleft()
            whole = whole or id(obj) in self._versioned
            if (id(obj), whole) in known or (id(obj), True) in known:
                continue
            known.add((id(obj), whole))
            paths.setdefault(id(obj), path)
            if len(path) < _STEPS:
                waiting.extend((part, inner, [*path, step]) for step, part, inner in _parts(obj, whole))
        return paths


def _parts(obj: Any, whole: bool) -> Iterator[tuple[Any, Any, bool]]:
    """What an object holds, as far as it is the same if the object is.

    Args:
        obj: the object.
        whole: whether the entry takes it for given with all that it holds.

    Yields:
        tuple: the step that leads to a part, the part, and whether that is given as a whole.
    """
    kind = type(obj)
    if isinstance(obj, type):
        if is_changeable(obj):
            yield from ((["base", place], base, False) for place, base in enumerate(obj.__mro__[1:], 1))
            functions = ((name, value) for name, value in class_namespace(obj).items() if type(value) in _DEFINED)
            yield from ((["defined", name], value, False) for name, value in functions)
        return
    if kind is types.FunctionType:
        if _STANDS_FOR in obj.__dict__:
            yield ["attribute", _STANDS_FOR], obj.__dict__[_STANDS_FOR], False
    elif kind in _PARTS:
        inner = whole or kind is functools.partial
        yield from ((["part", name], getattr(obj, name), inner) for name in _PARTS[kind])
    elif kind is weakref.ReferenceType:
        yield ["referent", None], obj(), whole
    elif isinstance(obj, tuple) or (kind is list and whole):
        items = tuple.__iter__(obj) if isinstance(obj, tuple) else obj
        yield from ((["item", place], item, whole) for place, item in enumerate(items))
    elif kind in (dict, OrderedDict) and whole:
        yield from ((["key", key], item, True) for key, item in obj.items() if type(key) in (str, int))
    elif kind not in _VALUES:
        yield ["class", None], kind, False
        if is_described_whole(kind, whole):
            held = (held_by(obj) or {}).items()
            yield from ((["attribute", name], item, True) for name, item in held if type(name) is str)


def _known(obj: Any) -> Place | None:
    """The place of an object that has a name of its own in a module."""
    if isinstance(obj, Tensor):
        return ["random state"] if obj is random_state() else None
    if isinstance(obj, types.ModuleType):
        return ["module", obj.__name__] if sys.modules.get(obj.__name__) is obj else None
    if obj is vars(builtins):
        return ["globals", "builtins"]
    if obj is sys.modules:
        return ["of", "sys", "modules"]
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
        return found(["of", module, *name.split(".")], {}, None)
    except (LookupError, AttributeError, TypeError, ImportError):
        return None


def _module(name: str) -> Any:
    """A module that the program has imported, or one of the framework's, which are imported when they are needed."""
    return importlib.import_module(name) if name.partition(".")[0] in OWN_PACKAGES else sys.modules[name]


def found(place: Place, names: Mapping[str, Any], function: Any) -> Any:
    """The object at a place.

    Args:
        place: what `Locator` said.
        names: the objects found before, the parameters of the entry with their values, and what guards have computed.
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
        obj = eval(rest[0], dict(names))
        return weakref.ref(obj) if how == "referent" else obj
    if how == "random state":
        return random_state()
    if how == "module":
        return _module(rest[0])
    if how == "globals":
        return vars(_module(rest[0]))
    if how == "globals of":
        return names[rest[0]].__globals__
    if how == "attributes":
        return class_namespace(names[rest[0]])
    if how == "of":
        obj = _module(rest[0])
        for name in rest[1:]:
            if name in _PARTS.get(type(obj), ()):
                obj = getattr(obj, name)
                continue
            held = class_namespace(obj) if isinstance(obj, type) else vars(obj)
            obj = held[name]
        return obj.__func__ if isinstance(obj, (staticmethod, classmethod)) else obj
    if how != "path":
        raise LookupError(how)
    obj = names[rest[0]]
    for kind, key in rest[1:]:
        if kind == "class":
            obj = type(obj)
        elif kind == "referent":
            obj = obj()
        elif kind == "base":
            obj = obj.__mro__[key]
        elif kind == "defined":
            obj = class_namespace(obj)[key]
        elif kind == "part":
            if key not in _PARTS.get(type(obj), ()):
                raise LookupError(key)
            obj = getattr(obj, key)
        elif kind == "attribute":
            obj = held_by(obj)[key]  # type: ignore[index]
        else:
            obj = tuple.__getitem__(obj, key) if isinstance(obj, tuple) else obj[key]
    return obj
