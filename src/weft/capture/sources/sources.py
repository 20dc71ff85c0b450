"""Where outside values came from: arguments, globals, closures, attributes and settings, as they are read."""

from __future__ import annotations

import datetime
import decimal
import fractions
import functools
import operator
import types
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.capture.python.classes import (
    MISSING,
    class_attribute,
    hides_class,
    holds_state,
    is_changeable,
    is_data_descriptor,
    is_opaque_iterator,
    is_plain_lookup,
    is_stateful,
    is_trusted,
    mark_of,
)
from weft.capture.python.containers import VIEWS, is_container, items_of, length, mapping_of, members, shown_by
from weft.capture.python.namespaces import lacks, namespace_of, same_namespace
from weft.capture.python.packages import is_ours
from weft.capture.python.spelling import spelled_attribute, spelled_namespace
from weft.capture.python.values import PARTIAL, is_array, is_numpy_number, only_the_call_knows
from weft.capture.sources.known import BOUND, IDENTITY, SCALARS, is_bound
from weft.capture.sources.looked_up import LookedUp, looked_through
from weft.capture.state.journal import EMPTY_CELL, cell_value, slot_value, slots_of
from weft.core.tensor import Parameter, Tensor
from weft.errors import Refusal, Unsupported

#: immutable values that are compared, not identified
VALUES: Final = (decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta, np.dtype)
#: levels of containers beyond which Python's recursion limit may matter
_DEEP: Final = 100
#: tensor arguments that are checked to be different objects; beyond it, aliases are told apart where one is written
_DISTINCT_LIMIT: Final = 4


class Sources(LookedUp):
    """The sources and guards of one capture, see `Known` for its arguments."""

    def argument(self, expression: str, value: Any) -> Any:
        """An argument of the call, guarded under every policy; returns what stands for it in the capture."""
        before, self.guarded = self.guarded, True
        try:
            if hides_class(type(value)):
                return self._read(expression, value, self.path(expression))
            if isinstance(value, Tensor) and id(value) not in self.known:
                if len(self._tensors) < _DISTINCT_LIMIT:
                    for other in self._tensors:
                        self._guard(f"{expression} is not {other}", "identity", f"{self.path(expression)} is another")
                self._tensors.append(expression)
            if self._made_anew(expression, value):
                return value
            found = self._load(expression, value, self.path(expression))
            if self.constant:  # nothing is guarded later
                self._whole(value)
            return found
        finally:
            self.guarded = before

    def _made_anew(self, expression: str, value: Any) -> bool:
        """Guard an argument of a kind that programs make anew for each call by what it is made of, not by identity."""
        kind = type(value)
        path = self.path(expression)
        parts: tuple[str, ...] = ()
        if id(value) in self.anew:
            self._same(expression, value, path)
            return True
        if id(value) in self.known:
            return False
        made_of = mark_of(kind, "__weft_parts__", ())
        if is_array(value) or is_opaque_iterator(value) or made_of is None:
            self.opaque[id(value)] = value
        elif made_of:
            parts = made_of
        elif kind is types.FunctionType:
            code, namespace = self.name(value.__code__, "object"), self.name(value.__globals__, "globals")
            self._guard(f"{expression}.__code__ is {code}", "identity", f"code of {path}")
            self._guard(f"{expression}.__globals__ is {namespace}", "identity", f"globals of {path}")
        elif kind is types.MethodType:
            parts = ("__func__", "__self__")
        elif isinstance(value, BOUND):
            if not is_bound(value):
                return False
            self._guard(f"{expression}.__name__ == {self._constant(value.__name__)}", "value", path)
            parts = ("__self__",)
        elif isinstance(value, BaseException):
            parts = ("args",)
            self._tracebacks.append((value, value.__traceback__))
            if value.__traceback__ is not None:
                self._know(value.__traceback__, f"{expression}.__traceback__", path)
        elif kind is super:
            parts = ("__thisclass__", "__self__")
        elif kind is slice:
            parts = ("start", "stop", "step")
        elif kind is functools.partial:
            parts = PARTIAL
        elif isinstance(value, VALUES):
            self._guard_same(expression, value, path)
        elif kind in VIEWS:
            self._know(value, expression, path)
            self._guard_class(expression, kind, path)
            self.argument(self._shown_by(expression), mapping_of(value))
            return True
        elif kind is not types.CellType:
            return False
        self.anew.add(id(value))
        self._know(value, expression, path)
        self._guard_class(expression, kind, path)
        with self.constants():  # native code reads them as they are
            for part in parts:
                self.paths.setdefault(f"{expression}.{part}", f"{path}.{part}")
                self.argument(f"{expression}.{part}", getattr(value, part))
                if made_of:  # the library's functions read it past the interpreter
                    self._items_below(getattr(value, part))
        if isinstance(value, BaseExceptionGroup):  # native code takes it apart
            count = len(value.exceptions)
            self._guard(
                f"len({expression}.exceptions) == {count}", "length", path, count, f"len({expression}.exceptions)"
            )
            for number, member in enumerate(value.exceptions):
                self.argument(f"{expression}.exceptions[{number}]", member)
        return True

    def restore_tracebacks(self) -> None:
        """Take the frames of the capture out of the exceptions that came from outside."""
        for error, traceback in self._tracebacks:
            error.__traceback__ = traceback

    def _whole(self, value: Any) -> None:
        """Guard all that an argument holds: containers by their contents, instances by identity."""
        for item in (value, *self._items_below(value)):
            if not (isinstance(item, Tensor) or is_container(item)):
                self.identity(item)

    def _items_below(self, value: Any) -> list[Any]:
        """Guard the contents of a container, and of those in it; returns what they hold."""
        found: list[Any] = []
        if is_container(value) and id(value) in self.pending:
            self.contents(value)
            for item in members(value):
                found += (item, *self._items_below(item))
        return found

    def mutable(self, expression: str, value: Any) -> None:
        """An argument marked mutable: only its type, and the keys or length of a container, are guarded."""
        before, self.guarded = self.guarded, True
        path = self.path(expression)
        self._guard_class(expression, type(value), path)
        if isinstance(value, dict):
            self._guard_keys(value, expression, [key for key, _ in items_of(value)], path)
        elif isinstance(value, (list, tuple)):
            self._guard_length(value, expression, length(value))
        self.guarded = before

    def global_(self, namespace: dict[str, Any], name: str, value: Any) -> Any:
        """A global was read."""
        if not self._is_original(namespace, "dict", name, value):
            return value
        return self._load(f"{self.name(namespace, 'globals')}[{name!r}]", value, f"global {name!r}")

    def globals_written(self, namespace: dict[str, Any]) -> None:
        """Globals are written, which are those of a function that the call has come to."""
        if id(namespace) not in self.known:
            self._know(namespace, self.name(namespace, "globals"), "globals")

    def builtin(self, namespace: dict[str, Any], builtins: dict[str, Any], name: str, value: Any) -> None:
        """A builtin was read, since no global has its name."""
        self.is_defined(namespace, name, False)
        self._guard(
            f"{self.name(builtins, 'builtins')}[{name!r}] is {self._object(value)}", "identity", f"builtin {name!r}"
        )

    def cell(self, cell: types.CellType, value: Any, name: str = "") -> Any:
        """A closure variable was read; only cells that existed before the capture have a source."""
        if self.is_known(cell) and self._is_original(cell, "", None, value):
            path = f"closure variable {name!r}" if name else "a closure variable"
            expression = f"{self.known[id(cell)][1]}.cell_contents"
            if id(cell) in self.anew and isinstance(value, types.FunctionType) and self._made_anew(expression, value):
                return value
            if id(cell) in self.anew:  # the call brings it, so what it holds is an argument
                self.paths.setdefault(expression, path)
                return self.argument(expression, value)
            return self._load(expression, value, path)
        return value

    def is_bound(self, cell: types.CellType, bound: bool, name: str) -> None:
        """Whether a closure variable has a value was asked."""
        if self.is_known(cell) and self.before(cell) is None:
            found = f"{self.name(cell_value, 'object')}({self.known[id(cell)][1]})"
            condition = f"{found} {'is not' if bound else 'is'} {self.name(EMPTY_CELL, 'object')}"
            self._guard(condition, "absent", f"closure variable {name!r}", bound)

    def is_defined(self, namespace: dict[str, Any], name: str, defined: bool, what: str = "globals") -> None:
        """Whether a name is in a namespace was asked."""
        before = self.before(namespace)
        if before is None or (name in before["dict"]) is defined:
            condition = f"{name!r} {'in' if defined else 'not in'} {self.name(namespace, what)}"
            self._guard(condition, "absent", f"global {name!r}", defined)

    def attribute(self, obj: Any, name: str, value: Any) -> Any:
        """An attribute was read."""
        if self._attributes_read.get((id(obj), name), MISSING) is value and not self.wrote_objects():
            return value
        obj = _answering(obj, name)
        known, namespace = self._source_of(obj), namespace_of(obj)
        if known is None and (id(obj) in self.created or not isinstance(obj, (types.ModuleType, type))):
            return self._of_class(obj, name, value, name in (namespace or ()))
        if known is not None and namespace is not None and id(namespace) in self.known:
            self.tie(obj, namespace)
        changed = self.wrote_objects() and self._is_looked_up_otherwise(obj, name)
        if changed and name not in (namespace or ()):
            self._of_changed_class(looked_through(obj), name)
            if not isinstance(obj, type):  # else one of the classes
                self.not_held(obj, name)
            return value
        if not self._is_original(obj, "class" if isinstance(obj, type) else "attributes", name, value):
            return value
        if isinstance(obj, (types.ModuleType, type)) and is_trusted(obj):
            return value
        if known is not None:
            owner = known[1]
        else:
            owner = self.name(obj, "module" if isinstance(obj, types.ModuleType) else "class")
            self.paths.setdefault(owner, obj.__name__)
        expression = spelled_attribute(type(obj), owner, name, self.name)
        if changed or self._hides(obj, name):  # what its class has, or had before the call, must not answer for it
            expression = f"{self.namespace(obj, owner)}[{name!r}]"
        path = f"{self.path(owner)}.{name}"
        if isinstance(value, types.MethodType):
            self._method(obj, owner, name, value, path)
            return value
        if isinstance(value, BOUND):
            if value.__self__ is not obj:  # made anew by each look-up if it is bound to an object
                kind = self.name(type(value), "class")  # what another class makes of `==` is not asked
                same = f"{expression}.__class__ is {kind} and {expression} == {self._constant(value)}"
                self._guard(same, "identity", path)
                self._builtin(expression, value)
            elif not isinstance(obj, type):  # a class of the program's may hide the built-in one's
                self.holder(type(obj).__mro__, name)
            return value
        if name == "__dict__":
            if isinstance(value, types.MappingProxyType):  # made anew by each look-up
                items = dict(value)
                self._read(f"dict({expression})", items, path)
                self.contents(items)
                return value
            return self._read(self.namespace(obj, owner), value, path)
        if isinstance(value, types.TracebackType):  # another one in each call; looking into it is refused
            self._guard(f"{expression} is not None", "identity", path)
            self._know(value, expression, path)
            return value
        read = self._load(expression, value, path)
        if read is value and known is not None and not self.varying and not issubclass(type(obj), Tensor):
            self._attributes_read[id(obj), name] = value
        return read

    def _source_of(self, obj: Any) -> tuple[Any, str] | None:
        """An object with the expression that loads it; a Parameter or Cell that native code found stays itself."""
        if id(obj) not in self.known and id(obj) not in self.created:
            kind = type(obj)  # `isinstance` would also ask the user's `__class__`
            if Parameter in kind.__mro__ or mark_of(kind, "__weft_versions__") is not None:
                self.root(obj, self.name(obj, "object"))
        return self.known.get(id(obj)) if issubclass(type(obj), type) else self.origin(obj)  # a class has a name

    def _hides(self, obj: Any, name: str) -> bool:
        """Whether an attribute that an object holds hides one of its class that code of the program would give."""
        if isinstance(obj, (types.ModuleType, type)) or name not in (namespace_of(obj) or ()):
            return False
        getter = class_attribute(type(class_attribute(type(obj), name)), "__get__")
        return isinstance(getter, types.FunctionType)

    def _of_class(self, obj: Any, name: str, value: Any, held: bool) -> Any:
        """An attribute of an object that the call makes, which holds it or has it from its class."""
        if held:
            self.look_up(type(obj), name)
            return value
        cls = self.holder((obj if isinstance(obj, type) else type(obj)).__mro__, name)
        if cls is None:
            return value
        found = cls.__dict__[name]
        if found is value and is_plain_lookup(cls, name, found) and getattr(cls, name, MISSING) is found:
            return self.attribute(cls, name, value)
        self.class_attribute(cls, name, found)
        return value

    def tie(self, obj: Any, namespace: Any) -> None:
        """Attributes of an object are read or written: what else the capture knows their dictionary by must be it."""
        by_itself, known = self.known.get(id(namespace)), self.known.get(id(obj))
        if by_itself is None or known is None or isinstance(obj, types.ModuleType):
            return
        path = f"{self.path(by_itself[1])} is {self.path(known[1])}.__dict__"
        same = f"{self.name(namespace_of, 'object')}({known[1]}) is {by_itself[1]}"
        if by_itself[1] != self.namespace(obj, known[1]):
            self._guard(same, "identity", path)

    def _method(self, obj: Any, owner: str, name: str, value: types.MethodType, path: str) -> None:
        """A method was looked up on an object: the class has it, and the object does not hide it."""
        kind = type(obj)
        expression = spelled_attribute(kind, owner, name, self.name)
        held = name in (namespace_of(obj) or ())
        own = value.__self__ is obj and not isinstance(obj, (type, types.ModuleType)) and not held
        if own and class_attribute(kind, name) is value.__func__ and is_changeable(kind):
            self.class_attribute(kind, name, value.__func__)
            self.not_held(obj, name)
            return
        if held and id(value) in self.known:
            self._same(expression, value, path)
        self._guard(f"{expression}.__func__ is {self.name(value.__func__, 'object')}", "identity", path)
        if held or (value.__self__ is not obj and not isinstance(obj, type)):
            self._read(f"{expression}.__self__", value.__self__, f"{path}.__self__")

    def namespace(self, obj: Any, expression: str) -> str:
        """The expression for the dictionary of an object's attributes."""
        return spelled_namespace(type(obj), expression, self.name)

    def absent(self, obj: Any, name: str) -> None:
        """An attribute was looked for and not found, neither in the object nor in its class."""
        if not self.is_known(obj) and not isinstance(obj, type):
            self.look_up(type(obj), name)
        if self.wrote_objects() and self._is_looked_up_otherwise(obj, name):
            self.holder(looked_through(obj), name)
            self.not_held(obj, name)
            return
        self._absent(obj, name, lambda owner: f"{self.name(lacks, 'object')}({owner}, {name!r})")

    def not_held(self, obj: Any, name: str) -> None:
        """What is found in an object's class is not hidden by an attribute of the object."""
        if namespace_of(obj) is not None:
            self._absent(obj, name, lambda owner: f"{name!r} not in {self.namespace(obj, owner)}")

    def _absent(self, obj: Any, name: str, condition: Callable[[str], str]) -> None:
        obj = _answering(obj, name)
        known = self._source_of(obj)
        before = self.before(obj)
        if known is None and not isinstance(obj, types.ModuleType):
            return
        if isinstance(before, dict):  # the capture may have deleted it
            slots: dict[str, Any] = before.get("slots", {})
            if slots[name] is not EMPTY_CELL if name in slots else name in before.get("attributes", ()):
                return
        owner = self.name(obj, "module") if known is None else known[1]
        self._guard(condition(owner), "absent", f"{self.path(owner)}.{name}")

    def class_namespace(self, kind: type, name: str, held: dict[str, Any]) -> None:
        """The whole namespace of a class was read."""
        before = self.before(kind)
        held = held if before is None else before["class"]
        same, kept = self.name(same_namespace, "object"), self.name(held, "constant")
        known = self._expression(kind)
        self._guard(f"{same}({known}, {kept})", "contents", f"{self.path(known)}.{name}")

    def part(self, whole: Any, name: str, value: Any) -> Any:
        """A part of a callable that is being called: the instance of a method, the arguments of a `partial`."""
        known = self.known.get(id(whole))
        if known is not None:
            path = "self" if name == "__self__" else f"{self.path(known[1])}.{name}"
            if known[1] in self.scope and isinstance(whole, (types.MethodType, functools.partial)):
                self._part_of_constant(value, path)
            else:
                self._read(f"{known[1]}.{name}", value, path)
            if name in ("args", "keywords"):
                self.contents(value)
        return value

    def _part_of_constant(self, value: Any, path: str) -> None:
        """What an object that stays itself and cannot be changed holds stays itself, too."""
        if isinstance(value, BOUND):
            value = value.__self__
        if not isinstance(value, (*SCALARS, *IDENTITY)) and id(value) not in self.known:
            self._know(value, self.name(value, "object"), path)
            if is_container(value):
                self.pending.add(id(value))

    def function(self, function: types.FunctionType) -> None:
        """A function that existed before was entered: its code and its closure are read."""
        if not self.guarded:
            return
        seen = self._functions_read.get(id(function))
        parts = (function, function.__code__, function.__defaults__, function.__kwdefaults__)
        if seen is not None and all(map(operator.is_, seen, parts)) and not self.wrote_objects():
            return
        self._functions_read[id(function)] = parts
        known = self.known.get(id(function))
        expression = known[1] if known is not None else self.name(function, "object")
        name = function.__name__
        code = self.name(function.__code__, "object")
        self._guard(f"{expression}.__code__ is {code}", "identity", f"code of {name}")
        for part in ("__defaults__", "__kwdefaults__"):
            defaults = getattr(function, part)
            self._read(f"{expression}.{part}", defaults, f"defaults of {name}")
            if defaults:
                self.contents(defaults)
        for index, cell in enumerate(function.__closure__ or ()):
            if id(cell) not in self.created:  # a class made in the capture closes over its variables
                self.root(cell, f"{expression}.__closure__[{index}]")

    def inside(self, value: Any, seen: set[int] | None = None, depth: int = 0) -> None:
        """Native code is given a value and may read everything that is in it.

        Raises:
            Unsupported: only the call knows it, or it is nested so deeply that the recursion limit may matter.
        """
        seen = set() if seen is None else seen
        if id(value) in self.opaque:
            if not is_numpy_number(value):
                raise only_the_call_knows(value)
            self.pin(value)
        if isinstance(value, BOUND):
            value = value.__self__
        if id(value) in seen or isinstance(value, (*SCALARS, *IDENTITY, Tensor)):
            if isinstance(value, types.FunctionType) and id(value) not in seen:
                seen.add(id(value))
                self._described(value)
            return
        seen.add(id(value))
        if depth > _DEEP:
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"containers nested more than {_DEEP} deep are looked into: whether that exceeds Python's recursion "
                "limit is only known in Python",
                "use flatter data",
            )
        value = shown_by(value)
        if isinstance(value, functools.partial):
            for name in PARTIAL:
                self.inside(self.part(value, name, getattr(value, name)), seen, depth + 1)
        if is_container(value):
            self.contents(value)
            if not isinstance(value, bytearray):
                for item in list(members(value)):
                    self.inside(item, seen, depth + 1)
        elif type(value) is slice:
            for part in (value.start, value.stop, value.step):
                self.inside(part, seen, depth + 1)
        elif id(value) in self.anew and isinstance(value, BaseException):
            for part in self._of_exception(value):
                self.inside(part, seen, depth + 1)
        elif isinstance(value, BaseException) and id(value) in self.known:
            self.identity(value)
            with self.constants():
                for part in self._of_exception(value):
                    self.inside(part, seen, depth + 1)
                for item in self.held(value):
                    self.inside(item, seen, depth + 1)
        elif mark_of(type(value), "__weft_versions__") is not None and not is_changeable(type(value)):
            for cell in value.__weft_versions__() if "_version" in vars(value) else ():  # not while it is copied
                self.library_cell(cell)
        elif isinstance(value, BaseException) or id(value) in self.by_class or holds_state(type(value)):
            self.identity(value)
            for item in self.held(value):
                self.inside(item, seen, depth + 1)

    def library_cell(self, cell: Any) -> None:
        """Library code may read everything of one of the library's Cells: the version stands for its attributes, not
        for what containers and objects among them hold."""
        if id(cell) in self._looked_into and self.is_read(cell):
            return
        self._looked_into.add(id(cell))
        self.version(cell)
        counted = mark_of(type(cell), "__weft_counted__")
        for name, value in tuple(vars(cell).items()):
            if name not in counted and _may_change(value):
                with self.constants():
                    self.inside(self.attribute(cell, name, value))

    def _described(self, function: types.FunctionType) -> None:
        """Native code reads what describes a function: whether it has annotations and attributes, and which."""
        if id(function) in self.created or not self.guarded or is_ours(function):
            return
        expression = self.origin(function)[1]  # type: ignore[index]
        for part in ("__annotations__", "__dict__"):
            held = getattr(function, part)
            if held:
                path = f"{self.path(expression)}.{part}"
                self._read(f"{expression}.{part}", held, path)
                self.contents(held)
            else:
                self._guard(f"not {expression}.{part}", "absent", f"{self.path(expression)}.{part}")

    def _of_exception(self, error: BaseException) -> list[Any]:
        """What native code shows of an exception."""
        return [self.attribute(error, name, getattr(error, name)) for name in _shown_of(error)]

    def shown(self, parameter: Parameter) -> None:
        """The text of a parameter was made, which shows its attributes."""
        with self.constants():
            for name, value in parameter.__dict__.items():
                self.attribute(parameter, name, value)

    def held(self, obj: Any) -> list[Any]:
        """Native code reads all that an instance holds: items, values of attributes, and which attributes it has."""
        if is_container(obj):
            self.contents(obj)
        if id(obj) in self.known:
            expression, before, namespace = self.known[id(obj)][1], self.before(obj), namespace_of(obj)
            if namespace is not None:
                names = before.get("attributes", namespace) if isinstance(before, dict) else namespace
                path = f"attributes of {self.path(expression)}"
                self._guard_keys(namespace, self.namespace(obj, expression), list(names), path)
            for member in slots_of(type(obj)):
                if slot_value(obj, member) is EMPTY_CELL:
                    self.absent(obj, member.__name__)
        with self.constants():
            return self._held(obj)

    def _held(self, obj: Any) -> list[Any]:
        """Everything that an instance holds, read."""
        namespace = namespace_of(obj) or {}
        slots = [(member.__name__, slot_value(obj, member)) for member in slots_of(type(obj))]
        filled = [(name, item) for name, item in slots if item is not EMPTY_CELL]
        if id(obj) not in self.known:  # made by the capture
            shown = [getattr(obj, name) for name in _shown_of(obj)] if isinstance(obj, BaseException) else ()
            return [*namespace.values(), *(item for _, item in filled), *shown]
        held = [self.attribute(obj, name, item) for name, item in filled]
        owner = self.known[id(obj)][1]
        for name, item in tuple(namespace.items()):
            if type(name) is str and not is_data_descriptor(class_attribute(type(obj), name)):
                held.append(self.attribute(obj, name, item))
            elif self._is_original(namespace, "dict", name, item):
                place = f"{self.namespace(obj, owner)}[{self._constant(name)}]"
                held.append(self._load(place, item, f"{self.path(owner)}.__dict__[{name!r}]"))
        return held


def _may_change(value: Any) -> bool:
    """Whether a value may change while an attribute holds it, and nothing counts that."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))
    return is_container(value) or isinstance(value, np.ndarray) or is_stateful(type(value))


def _shown_of(error: BaseException) -> tuple[str, ...]:
    """The attributes of an exception that native code shows."""
    return ("args", "errno", "strerror", "filename", "filename2") if isinstance(error, OSError) else ("args",)


def _answering(obj: Any, name: str) -> Any:
    """The object that has an attribute: a method answers for its function."""
    if type(obj) is types.MethodType and (name == "__doc__" or class_attribute(types.MethodType, name) is MISSING):
        return obj.__func__
    return obj
