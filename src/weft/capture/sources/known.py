"""What a capture knows of outside values: where each came from, and the guards that reading them implies.

A source is a Python expression over a small set of bound names, and so is a guard; guards stand in the order of first
reads. A container or an instance is guarded by its class when it is loaded; what is in it is guarded when it is read.
"""

from __future__ import annotations

import abc
import contextlib
import itertools
import re
import types
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np

from weft.capture.python.classes import (
    MISSING,
    hides_class,
    is_changeable,
    is_opaque_iterator,
    is_plain_instance,
    mark_of,
    of_hidden_class,
)
from weft.capture.python.containers import CONTAINERS, VIEWS, has_unknown_state, is_container, mapping_of
from weft.capture.python.namespaces import class_namespace, namespace_of
from weft.capture.python.packages import module_of
from weft.capture.python.specials import classes_asked, special_names
from weft.capture.python.values import is_numpy_number, same_array, same_value
from weft.capture.sources.numbers import Numbers
from weft.capture.sources.open_sizes import OpenSizes, size_path
from weft.capture.state.guards import KEPT, Guard, is_long, pinned_by
from weft.capture.state.journal import HELD_NONE
from weft.core.tensor import Parameter, Tensor, data_of
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.sizes import is_open_size
from weft.ir.types import TensorType

#: classes of values that are compared
SCALARS: Final = (int, float, str, bytes, complex)
#: those of which equal ones need not be one object: of ints, that is as Python likes
_TOLD_APART: Final = (float, str, bytes, complex)
#: classes of objects that stay themselves
IDENTITY: Final = (
    type(None), bool, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type(Ellipsis)
)  # fmt: skip
#: methods in C that are bound to an object
BOUND: Final = (types.BuiltinMethodType, types.MethodWrapperType)
#: classes of objects that cannot be written, or that have a name of their own
_UNWRITTEN: Final = frozenset({
    *SCALARS, type(None), bool, type(Ellipsis), type(NotImplemented), range, slice, super,
    types.CodeType, types.FrameType, types.TracebackType, types.MethodType, types.MappingProxyType, types.ModuleType,
    *BOUND, *VIEWS,
})  # fmt: skip
#: one object, wherever the program makes it
_EMPTY: Final = ()
#: values of these classes are guarded by equality
_EQUAL: Final = (range,)
#: the contents of longer arrays are read by each call, not guarded
_ARRAY_LIMIT: Final = 4096
#: objects of a class that are checked to be different ones in pairs; more of them are guarded each by itself
_APART_LIMIT: Final = 32


def is_own(obj: Any) -> bool:
    """Whether an object belongs to the capture itself, as a tensor of the graph does, or cannot be written: then what
    it has is read by itself, whoever made it.
    """
    kind = type(obj)
    if (
        kind in _UNWRITTEN
        or Tensor in kind.__mro__
        or (issubclass(kind, (tuple, frozenset)) and not kind.__dictoffset__)
    ):
        return True
    return module_of(kind).partition(".")[0] == "weft"


def is_bound(value: Any) -> bool:
    """Whether a value is a method in C of an object, and no function of a module and no method of a class."""
    return issubclass(type(value), BOUND) and not isinstance(value.__self__, (types.ModuleType, type, type(None)))


_NAMES: Final = re.compile(r"[^\W\d]\w*")


class Known(abc.ABC):
    """The sources and guards of one capture.

    Args:
        guarded: whether reads imply guards; without, outside values are constants of the capture.
        varying: paths of numbers that are not constants of this capture, see `weft.capture.sources.numbers`.
        paths: parameters of the entry with their names in the user's terms.
    """

    def __init__(self, guarded: bool, varying: Collection[str] = (), paths: Mapping[str, str] | None = None) -> None:
        self.guarded = guarded
        #: whether what is read later is a constant
        self.constant = not guarded
        self.varying: Collection[str] = varying
        #: expression -> what it loads, in the user's terms
        self.paths = dict(paths or {})
        #: returns the contents of an object before the capture first wrote it, None if it did not
        self.before: Callable[[Any], Any] = lambda obj: None
        #: where the items of written lists stood before, see `Journal.places`
        self.places: Mapping[int, list[int | None] | None] = {}
        #: ids of written lists of which no item is left that stood in them before, see `Journal.cleared`
        self.cleared: Collection[int] = ()
        #: objects that the capture made, by id
        self.created: Mapping[int, Any] = {}
        #: whether an object, or the one whose attributes it holds, is among some, by its id; see `Journal.belongs`
        self.belongs: Callable[[int, Collection[int]], bool] = lambda key, keys: key in keys
        #: whether the capture has written an object from outside that is no tensor
        self.wrote_objects: Callable[[], bool] = lambda: True
        #: attributes that were read as they are, by id of the known object and name: their guards are there
        self._attributes_read: dict[tuple[int, str], Any] = {}
        #: functions that were entered, with what was read of them, by id
        self._functions_read: dict[int, tuple[Any, ...]] = {}
        #: Cells whose version is guarded, by id
        self._versions_read: dict[int, tuple[Any, int]] = {}
        #: those of which it was read, too, what containers and objects among their attributes hold
        self._looked_into: set[int] = set()
        #: whether the code that runs is the library's, which makes containers for itself
        self.in_library: Callable[[], bool] = lambda: False
        #: whether an object that nobody said where it came from was made during the capture
        self.is_new: Callable[[Any], bool] = lambda obj: False
        #: whether a graph reads a tensor from outside, which library code may have found by itself
        self.is_outside: Callable[[Tensor], bool] = lambda tensor: False
        #: objects whose contents are only known when the entry runs, by id
        self.opaque: dict[int, Any] = {}
        #: numbers of NumPy that are others in each call, by the expressions that load them
        self._numpy_numbers: dict[str, Any] = {}
        #: the inputs of the graph that carry arrays of the call, by id of the array, see `weft.capture.meaning.arrays`
        self.arrays: dict[int, Value] = {}
        #: parameters of the entry that bring instances of plain classes
        self._instances: set[str] = set()
        self._tensors: list[str] = []
        self._tracebacks: list[tuple[BaseException, types.TracebackType | None]] = []
        #: names that guard expressions use
        self.scope: dict[str, Any] = {}
        #: guards by condition, in the order of first reads
        self.guards: dict[str, Guard] = {}
        #: what may not be guarded by its value or identity, see `Owner.restless`
        self.restless: Collection[str] = ()
        self.open_sizes = OpenSizes()
        #: the first tensor that was read on an array, by id of the array
        self._arrays: dict[int, Tensor] = {}
        #: tells the trace of a tensor some of whose sizes are open
        self.leave_open: Callable[[Tensor, TensorType], None] = lambda tensor, kind: None
        self.numbers = Numbers(self.add)
        self.numbers.spell = self.name
        #: id -> (object, expression that loads it)
        self.known: dict[int, tuple[Any, str]] = {}
        #: ids of known objects of which nobody said where they came from
        self.found: set[int] = set()
        #: ids of known objects in whose place a later call may bring another of the same class
        self.by_class: set[int] = set()
        #: ids of known containers of which not everything is guarded
        self.pending: set[int] = set()
        #: of containers among them that were copied, by id: the numbers that are still open, by key, after their values
        self.taken_numbers: dict[int, dict[Any, tuple[Any, Any]]] = {}
        #: ids of known objects that the program makes anew for each call
        self.anew: set[int] = set()
        #: expressions that load what a weak reference is compared with
        self._referents: set[str] = set()
        #: values that are guarded by equality, by id, with the expressions that load them
        self._scalars: dict[int, tuple[Any, list[str]]] = {}
        #: known objects that native code compares or hashes by identity, by id
        self.apart: dict[int, Any] = {}
        #: what the capture depends on that is another in each process, and has no guard
        self.of_process: set[str] = set()
        #: ids of classes whose special methods are guarded
        self._met: set[int] = set()
        self._names: dict[int, str] = {}
        #: id of a class -> the name of its attributes
        self._attributes: dict[int, str] = {}

    def name(self, obj: Any, prefix: str) -> str:
        """The name in `scope` of an object that expressions refer to."""
        found = self._names.get(id(obj))
        if found is None:
            found = self._names[id(obj)] = f"{prefix}{len(self._names)}"
            self.scope[found] = obj
        return found

    def root(self, obj: Any, expression: str) -> None:
        """Declare an object that the call itself provides, such as an argument."""
        if isinstance(obj, (*SCALARS, *IDENTITY)) or obj is _EMPTY:
            self._scalars.setdefault(id(obj), (obj, []))[1].append(expression)
            return
        if id(obj) in self.known:
            self._same(expression, obj, self.path(expression))
        else:
            self.known[id(obj)] = (obj, expression)
            self.meet(type(obj))
            if is_container(obj):
                self.pending.add(id(obj))

    def origin(self, obj: Any) -> tuple[Any, str] | None:
        """An outside object with the expression that loads it; None for what the capture made.

        What native code or a descriptor answered, and the capture did not make, was there before: it stays itself, as
        what led to it is guarded, and what is read from it is guarded like anything else.
        """
        found = self.known.get(id(obj))
        if found is not None or not self.guarded or self.belongs(id(obj), self.created) or is_own(obj):
            return found
        if not (type(obj) in CONTAINERS and self.in_library()) and not self.is_new(obj):
            self.found.add(id(obj))
            self._know(obj, self.name(obj, "object"), f"a {type(obj).__name__}")
            if is_container(obj):
                self.pending.add(id(obj))
            found = self.known[id(obj)]
            self.kind(obj, found[1])
        return found

    def is_known(self, obj: Any) -> bool:
        """Whether an object came from outside."""
        return id(obj) in self.known

    def place(self, value: Any) -> str | None:
        """The expression that loads a value or an object, None if it came from nowhere."""
        if id(value) in self.known:
            return self.known[id(value)][1]
        return self._scalars[id(value)][1][0] if id(value) in self._scalars else None

    @contextlib.contextmanager
    def constants(self) -> Iterator[None]:
        """Within this block numbers are read as constants, since something else than interpreted code holds them."""
        varying = self.varying
        self.varying = frozenset()
        try:
            yield
        finally:
            self.varying = varying

    def _is_original(self, obj: Any, part: str, key: Any, value: Any) -> bool:
        """Whether a value that was read is the one from before the capture, not one that the capture wrote."""
        before = self.before(obj)
        if before is None:
            return True
        if isinstance(obj, types.CellType):
            return before is value or (before is HELD_NONE and value is None)
        if not isinstance(before, dict):
            return True
        if part == "attributes":
            part = next((own for own in ("slots", "exception") if key in before.get(own, ())), part)
        items: Any = before.get(part)
        if part in ("attributes", "class") and items is not None and key not in items:
            own = namespace_of(obj) if part == "attributes" else class_namespace(obj)
            return key not in (own or ())  # it is what the class has, or one of its bases
        try:
            return items[key] is value
        except (KeyError, IndexError, TypeError):
            return part not in before

    def identity(self, obj: Any) -> None:
        """Something depends on which object this is, or may read from it what is not guarded by itself."""
        if id(obj) in self.by_class or (id(obj) in self.anew and self.known[id(obj)][1] not in self.scope):
            self._guard_identity(obj)
            if self.guarded:
                self.by_class.discard(id(obj))

    def _guard_identity(self, obj: Any) -> None:
        expression = self.known[id(obj)][1]
        if expression not in self.scope:
            self._guard(f"{expression} is {self.name(obj, 'object')}", "identity", self.path(expression), obj)

    def itself(self, value: Any) -> None:
        """Something depends on which object a value is that is guarded by equality."""
        if type(value) in _TOLD_APART:
            for place in self._places(value):
                self._guard(f"{place} is {self.name(value, 'constant')}", "identity", self.path(place), value, place)

    def distinct(self, a: Any, b: Any) -> None:
        """Two objects were told apart by identity."""
        if a is b or type(a) is not type(b):
            return
        for first, second in itertools.product(self._places(a), self._places(b)):
            if not (self._is_fixed(first) and self._is_fixed(second)):
                path = f"{self.path(first)} is {self.path(second)}"
                self._relate(f"{first} is not {second}", path)

    def _is_fixed(self, expression: str) -> bool:
        """Whether an expression loads one and the same object at each call, by its name or by a guard."""
        return expression in self.scope or expression in self._referents

    def _places(self, value: Any) -> list[str]:
        """The expressions that load an object, or a value that one place may hold as well as another."""
        if id(value) in self.known:
            return [self.known[id(value)][1]]
        if type(value) not in _TOLD_APART:
            return []
        return self._scalars[id(value)][1] if id(value) in self._scalars else [self.name(value, "constant")]

    def told_apart(self, obj: Any) -> None:
        """Native code compares or hashes an object that is equal to itself only: it is none of the others so far."""
        if id(obj) not in self.known or id(obj) in self.apart:
            return
        others = [other for other in self.apart.values() if type(other) is type(obj)]
        self.apart[id(obj)] = obj
        if len(others) < _APART_LIMIT:
            for other in others:
                self.distinct(obj, other)
        else:
            self._guard_identity(obj)

    def written(self, obj: Any) -> None:
        """The capture writes an outside object: it must be none of the others that the capture knows."""
        if id(obj) in self.known:
            for other, _ in tuple(self.known.values()):
                if type(other) is type(obj):
                    self.distinct(obj, other)

    def path(self, expression: str) -> str:
        """What an expression loads, in the user's terms."""
        return self.paths.get(expression, expression)

    def _expression(self, obj: Any) -> str:
        known = self.known.get(id(obj))
        return known[1] if known is not None else self.name(obj, "object")

    def _guard(self, condition: str, kind: str, path: str, expected: Any = None, expression: str = "") -> None:
        if condition not in self.guards and (
            self.guarded or (kind == "relation" and self._asks_of_the_call(condition))
        ):
            self.add(Guard(condition, kind, path, expected, expression))

    def _relate(self, condition: str, path: str) -> None:
        """Guard whether two places hold one object; where one is an argument's, under every policy."""
        if condition not in self.guards and (self.guarded or self._asks_of_the_call(condition)):
            self.add(Guard(condition, "identity", path))

    def _asks_of_the_call(self, condition: str) -> bool:
        """Whether a condition is about the arguments: how they stand to each other is guarded under every policy."""
        return not self.paths.keys().isdisjoint(_NAMES.findall(condition))

    def add(self, guard: Guard) -> None:
        """Add a guard, unless it would need a graph of its own for each call."""
        if guard.condition in self.guards:
            return
        if self.restless and pinned_by(guard) in self.restless:
            raise Unsupported(
                Refusal.RESTLESS,
                f"{guard.path} was another one in each of the last calls, and a graph has it as a constant here",
                "use it outside the compiled function, or only in arithmetic",
            )
        self.guards[guard.condition] = guard

    def _guard_class(self, expression: str, kind: type, path: str) -> None:
        spelled = kind.__name__ if kind in (*CONTAINERS[:-2], *SCALARS) else self.name(kind, "class")
        shown = f"{expression}.__class__"
        if hides_class(kind):
            shown = f"{self.name(type, 'class')}({expression})"
        self._guard(f"{shown} is {spelled}", "type", path, kind, shown)

    def _load(self, expression: str, value: Any, path: str) -> Any:
        """Guard a value that interpreted code reads; returns what stands for it, which may be a number of the call."""
        if path in self.varying and type(value) in (int, float):
            return self.numbers.base(expression, value, path)
        if path in self.varying and is_numpy_number(value):
            return self._number_of_numpy(expression, value, path)
        return self._read(expression, value, path)

    def _number_of_numpy(self, expression: str, value: Any, path: str) -> Any:
        """A number of NumPy that is another one in each call: what stands for it is an object of its own, so that it is
        not taken for another number that happens to be the same object now.
        """
        found = self._numpy_numbers.get(expression)
        if found is None:
            found = self._numpy_numbers[expression] = value.copy()
            self._know(found, expression, path)
            self._guard_class(expression, type(value), path)
            self.opaque[id(found)] = found
        return found

    def pin(self, value: Any) -> None:
        """A number of NumPy that was to stay open becomes a constant."""
        expression = self.known[id(value)][1]
        self.opaque.pop(id(value), None)
        before, self.guarded = self.guarded, True  # numbers of the call are guarded under every policy
        try:
            self._read_scalar(expression, value, self.path(expression))
        finally:
            self.guarded = before

    def _read(self, expression: str, value: Any, path: str) -> Any:
        """Record the guard of a value and, if parts of it may be read later, its source; returns the value."""
        kind = type(value)
        if kind in SCALARS:
            self._read_scalar(expression, value, path)
        elif kind is np.ndarray and path in self.varying and id(value) not in self.known:
            self._know(value, expression, path)
            self._guard_class(expression, kind, path)
            self.opaque[id(value)] = value
        elif hides_class(kind):
            self._guard_class(expression, kind, path)
            raise of_hidden_class(kind)
        elif id(value) in self.anew:
            self._same(expression, value, path)
        elif self.guarded and (is_opaque_iterator(value) or mark_of(kind, "__weft_parts__", MISSING) is not MISSING):
            self._made_anew(expression, value)
        elif isinstance(value, types.FunctionType) and value.__closure__ and self._belongs_to_argument(expression):
            self._read_object(expression, value, path)
        elif isinstance(value, (*IDENTITY, *BOUND)):
            constant = self._constant(value)
            what = "value" if value is None or kind is bool else "identity"
            self._guard(f"{expression} is {constant}", what, path, value, expression)
            if isinstance(value, types.FunctionType | types.ModuleType | type):
                self._know(value, constant if self.guarded else expression, path)
            elif isinstance(value, BOUND):
                self._builtin(expression, value)
        elif kind in _EQUAL or isinstance(value, np.generic) or value is _EMPTY:
            self._read_scalar(expression, value, path)
        elif isinstance(value, Tensor) or is_container(value) or is_plain_instance(kind):
            self._read_replaceable(expression, value, path)
        else:
            if is_opaque_iterator(value):
                self.opaque[id(value)] = value
            self._read_object(expression, value, path)
            if kind in VIEWS and self.guarded:
                self._read(self._shown_by(self.known[id(value)][1]), mapping_of(value), path)
        return value

    def _shown_by(self, view: str) -> str:
        """The expression for the dictionary that a view shows."""
        return f"{self.name(mapping_of, 'object')}({view})"

    def _same(self, expression: str, value: Any, path: str) -> None:
        """Guard that a place holds an object that another place holds too."""
        known = self.known[id(value)][1]
        if known != expression:
            self._relate(f"{expression} is {known}", f"{path} is {self.path(known)}")

    def _read_scalar(self, expression: str, value: Any, path: str) -> None:
        self._scalars.setdefault(id(value), (value, []))[1].append(expression)
        self.paths.setdefault(expression, path)
        kind = type(value)
        spelled = kind.__name__ if kind in SCALARS else self.name(kind, "class")
        same = f"{expression} == {self._constant(value)}"
        if kind in _EQUAL:
            self._guard_same(expression, value, path)
            return
        if isinstance(value, np.generic):
            same = f"{expression}.tobytes() == {value.tobytes()!r}"
        elif kind is complex or (kind is float and (value == 0 or value != value)):
            same = f"repr({expression}) == {repr(value)!r}"  # 0.0 == -0.0, and nan is equal to nothing
        self._guard(f"{expression}.__class__ is {spelled} and {same}", "value", path, value, expression)

    def _guard_same(self, expression: str, value: Any, path: str) -> None:
        """Guard that a place holds a value that cannot be told from this one, or this object."""
        same = f"{self.name(same_value, 'object')}({expression}, {self.name(value, 'constant')})"
        self._guard(same, "value", path, value, expression)

    def _read_replaceable(self, expression: str, value: Any, path: str) -> None:
        """A tensor, a container or an instance: another of the same kind may stand in its place next time."""
        known = self.known.get(id(value))
        if known is not None:
            self._same(expression, value, path)
            return
        if isinstance(value, Parameter) and expression not in self.paths:
            self._read_object(expression, value, path)
            return
        self._know(value, expression, path)
        if expression.isidentifier() and is_plain_instance(type(value)):
            self._instances.add(expression)
        if isinstance(value, Tensor):
            self._read_tensor(expression, value, path)
        else:
            self._guard_class(expression, type(value), path)
            if is_container(value):
                self.pending.add(id(value))
        if self.guarded:
            self.by_class.add(id(value))

    def _read_tensor(self, expression: str, value: Tensor, path: str) -> None:
        """Guard the type of a tensor, with sizes left open that are others in each call."""
        kind = value.type
        named = "Tensor" if type(value) is Tensor else self.name(type(value), "class")
        if not value.is_symbolic:
            if self._arrays.setdefault(id(data_of(value)), value) is value:  # else it has what another handle on it has
                kind = self.open_sizes.type_of(expression, value, path) if type(value) is Tensor else kind
            if kind.is_open:
                check = f"{self.name(kind, 'type')}.admits({expression}._type or {expression}.type)"
                self.add(Guard(f"{expression}.__class__ is {named} and {check}", "type", path, kind, expression))
                for axis, (size, now) in enumerate(zip(kind.shape, data_of(value).shape, strict=True)):
                    if is_open_size(size):
                        self.numbers.open_size(f"{expression}.shape[{axis}]", size, now, size_path(path, axis))
                self.leave_open(value, kind)
                return
        check = f"({expression}._type or {expression}.type) is {self.name(kind, 'type')}"
        # under every policy: each call reads the tensor that is there, and the graph is for tensors of this type
        self.add(Guard(f"{expression}.__class__ is {named} and {check}", "type", path, kind, expression))

    def _read_object(self, expression: str, value: Any, path: str) -> None:
        """An object of which nobody knows what may be read from it: it stays itself."""
        exports = type(value) is memoryview  # kept alive it would keep what it shows from being resized
        if exports or (self._belongs_to_argument(expression) and type(value).__weakrefoffset__):
            same = f"{self.name(weakref.ref(value), 'reference')}() is {expression} is not None"
            self._guard(same, "identity", path)
            self._referents.add(expression)
            name = expression
        else:
            name = self.name(value, "object")
            self._guard(f"{expression} is {name}", "identity", path, value, expression)
            self.kind(value, name)
        self._know(value, name if self.guarded else expression, path)
        if (isinstance(value, np.ndarray) and value.size > _ARRAY_LIMIT) or has_unknown_state(value):
            self.opaque[id(value)] = value
        elif isinstance(value, np.ndarray):
            same = f"{self.name(same_array, 'object')}({name}, {self.name(value.copy(), KEPT)})"
            self._guard(same, "contents", path, value, name)

    def kind(self, obj: Any, expression: str) -> None:
        """An object that stays itself may be given another class of the program's."""
        if mark_of(type(obj), "__weft_versions__") is not None or is_changeable(type(obj)):
            self._guard_class(expression, type(obj), self.path(expression))

    def _belongs_to_argument(self, expression: str) -> bool:
        """Whether what an expression loads is part of an instance that a call brings.

        An entry must not keep what may lead back to that instance (a stored function that holds one of its methods), or
        the instance would live as long as the entry. Cells own their entries, so they are left out.
        """
        if not self._instances:
            return False
        root = re.split(r"[.\[]", expression, maxsplit=1)[0]
        return root != expression and root in self._instances

    def meet(self, kind: type) -> None:
        """The capture comes to an instance of a class, or to the class: its special methods are guarded, whoever asks
        for them, and its bases.
        """
        if id(kind) in self._met or not self.guarded:
            return
        for cls in classes_asked(kind):
            if id(cls) not in self._met and id(cls) not in self.created:
                self._guard_specials(cls)
            self._met.add(id(cls))
        self._met.add(id(kind))
        if is_changeable(kind) and id(kind) not in self.created:
            asked = f"{self.name(kind, 'class')}.__mro__ is {self.name(kind.__mro__, 'constant')}"
            self._guard(asked, "identity", f"bases of {kind.__name__}")

    def attributes(self, cls: type) -> str:
        """The name of the attributes of a class, as they are at each call."""
        found = self._attributes.get(id(cls))
        if found is None:
            found = self._attributes[id(cls)] = self.name(class_namespace(cls), "attributes")
            self.name(cls, "class")  # which has to live as long
        return found

    def _guard_specials(self, cls: type) -> None:
        before = self.before(cls)
        namespace = class_namespace(cls) if before is None else before["class"]
        own, names = self.attributes(cls), special_names(namespace)
        for name in names:
            value = namespace[name]
            self._guard(f"{own}[{name!r}] is {self._object(value)}", "identity", f"{cls.__name__}.{name}")
        others = f"{self.name(special_names, 'function')}({own}) == {names!r}"
        self._guard(f"len({own}) == {len(namespace)} or {others}", "absent", f"special methods of {cls.__name__}")

    def _know(self, value: Any, expression: str, path: str) -> None:
        self.meet(type(value))
        if isinstance(value, type):
            self.meet(value)
        self.known.setdefault(id(value), (value, expression))
        for prefix in ("global ", "closure variable "):
            if path.startswith(prefix):
                path = path.removeprefix(prefix).strip("'")
        self.paths.setdefault(expression, path)

    def _builtin(self, expression: str, value: Any) -> None:
        """A method of a built-in class: what it is bound to is read when it is called."""
        if is_bound(value):
            self._read(f"{expression}.__self__", value.__self__, f"{self.path(expression)}.__self__")
            if self.guarded:
                self._know(value, expression, self.path(expression))

    def _constant(self, value: Any) -> str:
        spelled = type(value) in (bool, int, str, bytes) and not is_long(value)
        return repr(value) if spelled else self._object(value)

    def _object(self, value: Any) -> str:
        """An expression for an object itself."""
        if value is None or value is True or value is False or value is ...:
            return "..." if value is ... else repr(value)
        return self.name(value, "constant")

    @abc.abstractmethod
    def _made_anew(self, expression: str, value: Any) -> bool:
        """Guard a value of a kind that programs make anew for each call by what it is made of, not by identity."""
