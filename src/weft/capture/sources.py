"""Where outside values came from: how to load each again, and the guard that its first read implies.

A source is a Python expression over a small set of bound names. Guards are such expressions too, collected in the order
of first reads, and compiled into one function by `weft.capture.guards`.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from weft.core.tensor import Parameter, Tensor

_SCALARS = (int, float, str, bytes, complex)
_IDENTITY = (type(None), bool, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type(Ellipsis))
#: containers longer than this are guarded by identity and length only
_SHALLOW_LIMIT = 4096


#: tensor arguments that are checked to be different objects; beyond it, aliases are not told apart
_DISTINCT_LIMIT = 4


class Sources:
    """The sources and guards of one capture.

    Args:
        guarded: whether reads imply guards; without, outside values are constants of the capture.
    """

    def __init__(self, guarded: bool) -> None:
        self.guarded = guarded
        #: returns the contents of an object before the capture first wrote it, None if it did not
        self.before: Any = lambda obj: None
        self._tensors: list[str] = []
        self._distinct = 0
        #: names that guard expressions use
        self.scope: dict[str, Any] = {}
        #: guard expressions in the order of first reads, with what each one guards
        self.guards: dict[str, str] = {}
        #: id -> (object, expression that loads it)
        self.known: dict[int, tuple[Any, str]] = {}
        self._names: dict[int, str] = {}

    def name(self, obj: Any, prefix: str) -> str:
        """The name in `scope` of an object that expressions refer to."""
        found = self._names.get(id(obj))
        if found is None:
            found = self._names[id(obj)] = f"{prefix}{len(self._names)}"
            self.scope[found] = obj
        return found

    def root(self, obj: Any, expression: str) -> None:
        """Declare an object that the call itself provides, such as an argument."""
        if not isinstance(obj, (*_SCALARS, *_IDENTITY)):
            self.known.setdefault(id(obj), (obj, expression))

    def argument(self, expression: str, value: Any) -> None:
        """An argument of the call: guarded under every policy, tensors by type, numbers by value."""
        before, self.guarded = self.guarded, True
        if isinstance(value, Tensor):
            if id(value) in self.known:
                self._guard(f"{expression} is {self.known[id(value)][1]}", "arguments that are the same tensor")
            elif self._distinct < _DISTINCT_LIMIT:
                self._distinct += 1
                for other in self._tensors:
                    self._guard(f"{expression} is not {other}", "arguments that are different tensors")
            self._tensors.append(expression)
            self.root(value, expression)
            kind = self.name(type(value), "class") if type(value) is not Tensor else "Tensor"
            check = f"({expression}._type or {expression}.type) is {self.name(value.type, 'type')}"
            self._guard(f"{expression}.__class__ is {kind} and {check}", f"argument {expression}")
        elif isinstance(value, (list, tuple, dict)) and id(value) not in self.known:
            self.root(value, expression)
            self._guard(f"{expression}.__class__ is {self.name(type(value), 'class')}", f"argument {expression}")
            if isinstance(value, dict):
                self._guard(f"list({expression}) == {self.name(list(value), 'constant')}", f"keys of {expression}")
            else:
                self._guard(f"len({expression}) == {len(value)}", f"length of {expression}")
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                spelled = repr(key) if isinstance(key, (int, str)) else self.name(key, "key")
                self.argument(f"{expression}[{spelled}]", item)
        else:
            self._read(expression, value, f"argument {expression}")
        self.guarded = before

    def mutable(self, expression: str, value: Any) -> None:
        """An argument marked mutable: only its type, and the keys or length of a container, are guarded."""
        kind = self.name(type(value), "class")
        self.guards.setdefault(f"{expression}.__class__ is {kind}", f"argument {expression}")
        if isinstance(value, dict):
            self.guards.setdefault(
                f"list({expression}) == {self.name(list(value), 'constant')}", f"keys of {expression}"
            )
        elif isinstance(value, (list, tuple)):
            self.guards.setdefault(f"len({expression}) == {len(value)}", f"length of {expression}")

    def is_known(self, obj: Any) -> bool:
        """Whether an object came from outside."""
        return id(obj) in self.known

    # -- reads -------------------------------------------------------------------------------------------------------

    def _is_original(self, obj: Any, part: str, key: Any, value: Any) -> bool:
        """Whether a value that was read is the one from before the capture, not one that the capture wrote."""
        before = self.before(obj)
        if before is None:
            return True
        if isinstance(obj, types.CellType):
            return before is value
        if not isinstance(before, dict):
            return True
        items: Any = before.get(part)
        try:
            return items[key] is value
        except (KeyError, IndexError, TypeError):
            return part not in before

    def global_(self, namespace: dict[str, Any], name: str, value: Any) -> Any:
        """A global was read."""
        if not self._is_original(namespace, "dict", name, value):
            return value
        self._read(f"{self.name(namespace, 'globals')}[{name!r}]", value, f"global {name!r}")
        return value

    def cell(self, cell: types.CellType, value: Any) -> Any:
        """A closure variable was read; only cells that existed before the capture have a source."""
        if self.is_known(cell) and self._is_original(cell, "", None, value):
            self._read(f"{self.known[id(cell)][1]}.cell_contents", value, "a closure variable")
        return value

    def attribute(self, obj: Any, name: str, value: Any) -> Any:
        """An attribute was read."""
        known = self.known.get(id(obj))
        if not self._is_original(obj, "attributes", name, value):
            return value
        if known is None:
            if isinstance(obj, types.ModuleType) and not _trusted(obj):
                expression = f"{self.name(obj, 'module')}.{name}"
                self._read(expression, value, f"{obj.__name__}.{name}")
            return value
        if isinstance(obj, types.ModuleType) and _trusted(obj):
            return value
        expression = f"{known[1]}.{name}"
        if isinstance(value, types.MethodType):
            function = self.name(value.__func__, "object")
            self._guard(f"{expression}.__func__ is {function}", f"method {name!r}")
            if value.__self__ is not obj and not isinstance(obj, type):
                self._read(f"{expression}.__self__", value.__self__, f"instance of method {name!r}")
            return value
        if isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)):
            if value.__self__ is not obj:  # made anew by each look-up if it is bound to an object
                self._guard(f"{expression} == {self._constant(value)}", f"attribute {name!r}")
                self._builtin(expression, value)
            return value
        self._read(expression, value, f"attribute {name!r}")
        return value

    def absent(self, obj: Any, name: str, condition: str) -> None:
        """An attribute was looked for and not found; the condition says so of the object in its braces."""
        known = self.known.get(id(obj))
        before = self.before(obj)
        if known is not None and (not isinstance(before, dict) or name not in before.get("attributes", ())):
            self._guard(condition.format(known[1]), f"attribute {name!r}")

    def part(self, whole: Any, name: str, value: Any) -> Any:
        """A part of a callable that is being called: the instance of a method, the arguments of a `partial`."""
        known = self.known.get(id(whole))
        if known is not None:
            self._read(f"{known[1]}.{name}", value, f"{name} of a callable")
        return value

    def item(self, obj: Any, key: Any, value: Any) -> Any:
        """An item of a container was read."""
        known = self.known.get(id(obj))
        if known is not None and isinstance(key, (int, str)) and isinstance(obj, (list, tuple, dict)):
            if not self._is_original(obj, "dict" if isinstance(obj, dict) else "list", key, value):
                return value
            self._read(f"{known[1]}[{key!r}]", value, f"item {key!r}")
        return value

    def function(self, function: types.FunctionType) -> None:
        """A function that existed before was entered: its code and its closure are read."""
        if not self.guarded:
            return
        known = self.known.get(id(function))
        expression = known[1] if known is not None else self.name(function, "object")
        self._guard(
            f"{expression}.__code__ is {self.name(function.__code__, 'object')}", f"code of {function.__name__}"
        )
        if function.__defaults__:
            self._read(f"{expression}.__defaults__", function.__defaults__, f"defaults of {function.__name__}")
        if function.__kwdefaults__:
            self._read(f"{expression}.__kwdefaults__", function.__kwdefaults__, f"defaults of {function.__name__}")
        for index, cell in enumerate(function.__closure__ or ()):
            self.root(cell, f"{expression}.__closure__[{index}]")

    def version(self, cell: Any) -> None:
        """Library code read from a Cell: its version stands for all its attributes."""
        if self.guarded:
            self._guard(f"{self._expression(cell)}._version == {cell._version}", f"settings of {type(cell).__name__}")

    # -- guards ------------------------------------------------------------------------------------------------------

    def _expression(self, obj: Any) -> str:
        known = self.known.get(id(obj))
        return known[1] if known is not None else self.name(obj, "object")

    def _guard(self, condition: str, what: str) -> None:
        if self.guarded:
            self.guards.setdefault(condition, what)

    def _read(self, expression: str, value: Any, what: str) -> None:
        """Record the guard of a value and, if parts of it may be read later, its source."""
        if isinstance(value, _IDENTITY):
            self._guard(f"{expression} is {self._constant(value)}", what)
            if isinstance(value, types.FunctionType | types.ModuleType | type):
                self.known.setdefault(id(value), (value, expression))
            elif isinstance(value, types.BuiltinFunctionType):
                self._builtin(expression, value)
            return
        kind = type(value)
        if kind in _SCALARS:
            constant = self._constant(value)
            if kind is complex or (kind is float and (value == 0 or value != value)):
                # 0.0 == -0.0, and nan is equal to nothing
                same = f"{expression}.__class__ is {kind.__name__} and repr({expression}) == {repr(value)!r}"
                self._guard(same, what)
                return
            self._guard(f"{expression}.__class__ is {kind.__name__} and {expression} == {constant}", what)
            return
        known = self.known.get(id(value))
        first = known is None
        if first:
            self.known[id(value)] = (value, expression)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            name = self.name(value.type, "type")
            self._guard(f"{expression}.__class__ is {self.name(kind, 'class')} and {expression}.type is {name}", what)
        elif kind in (list, tuple, dict, set, frozenset) and len(value) <= _SHALLOW_LIMIT:
            if known is not None:
                if known[1] != expression:
                    self._guard(f"{expression} is {known[1]}", what)
            else:
                self._contents(expression, value, what)
        elif isinstance(value, np.ndarray) and value.size <= _SHALLOW_LIMIT:
            same = f"{self.name(np.array_equal, 'object')}({expression}, {self.name(value.copy(), 'constant')})"
            self._guard(f"{expression} is {self.name(value, 'object')} and {same}", what)
        else:
            self._guard(f"{expression} is {self.name(value, 'object')}", what)
            if isinstance(value, (list, dict)):
                self._guard(f"len({expression}) == {len(value)}", what)

    def _builtin(self, expression: str, value: Any) -> None:
        """A method of a built-in class: what it is bound to is read when it is called."""
        owner = value.__self__
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            self._read(f"{expression}.__self__", owner, "the object of a method")

    def _contents(self, expression: str, value: Any, what: str) -> None:
        """Guard a container by its keys and, one level deep, its items."""
        kind = type(value)
        self._guard(f"{expression}.__class__ is {kind.__name__}", what)
        if kind in (set, frozenset):
            self._guard(f"{expression} == {self.name(kind(value), 'constant')}", what)
            return
        if kind is dict:
            self._guard(f"list({expression}) == {self.name(list(value), 'constant')}", what)
            items: Any = value.items()
        else:
            self._guard(f"len({expression}) == {len(value)}", what)
            items = enumerate(value)
        for key, item in items:
            spelled = repr(key) if isinstance(key, (int, str)) else self.name(key, "key")
            self._read(f"{expression}[{spelled}]", item, f"{what}[{key!r:.40}]")

    def _constant(self, value: Any) -> str:
        if value is None or isinstance(value, (bool, int, str, bytes)):
            return repr(value)
        return self.name(value, "constant")


def _trusted(module: types.ModuleType) -> bool:
    """Whether a module's attributes are taken not to change: the framework's own."""
    return module.__name__.partition(".")[0] in ("weft", "mindspore", "jax", "numpy")
