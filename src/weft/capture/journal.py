"""The journal: contents of mutable objects before their first write, so that writes can be undone, merged and replayed.

Captured code writes to real objects (so that `len`, slicing and library code see what Python would show them); the
journal takes everything back when a branch or the capture ends.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.capture.containers import items_of, native_class
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported

EMPTY_CELL: Final = object()
#: what functions have besides their code and attributes
OF_FUNCTIONS: Final = (
    "__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__annotations__"
)  # fmt: skip

#: what raising an exception changes in it; the last follows from the first
_OF_RAISED: Final = ("__cause__", "__context__", "__traceback__", "__suppress_context__")


class Journaled:
    """Base of the capture's own mutable objects (iterators, generators), which name their state."""

    __slots__ = ()

    #: the class that `type` sees, of those that user code can hold
    stands_for: Any

    def journal_contents(self) -> Any:
        """The state, as a value that later changes do not touch."""
        raise NotImplementedError

    def journal_restore(self, contents: Any) -> None:
        """Take on a state returned by `journal_contents`."""
        raise NotImplementedError


def slots_of(kind: type) -> list[types.MemberDescriptorType]:
    """The slots that a class statement gave the instances of a class, as their descriptors; not those hidden since."""
    members = [
        member
        for cls in kind.__mro__
        if "__slots__" in cls.__dict__
        for member in cls.__dict__.values()
        if isinstance(member, types.MemberDescriptorType)
    ]
    return [member for member in members if inspect.getattr_static(kind, member.__name__, None) is member]


def slot_value(obj: Any, member: types.MemberDescriptorType) -> Any:
    """What an object has in a slot, `EMPTY_CELL` if nothing."""
    try:
        return member.__get__(obj, type(obj))
    except AttributeError:
        return EMPTY_CELL


def contents_of(obj: Any) -> Any:
    """A shallow copy of the mutable state of an object."""
    kind = type(obj)  # `isinstance` would also ask the user's `__class__`
    if issubclass(kind, Tensor):
        state = (obj._data, obj._node, getattr(obj, "_index", 0), obj._type)
        return (state, dict(obj.__dict__)) if hasattr(obj, "__dict__") else (state, None)
    if issubclass(kind, Journaled):
        return obj.journal_contents()
    if issubclass(kind, types.CellType):
        return cell_value(obj)
    parts: dict[str, Any] = {}
    if issubclass(kind, list):
        parts["list"] = list.copy(obj)
    elif issubclass(kind, dict):
        # a copy does not hash the keys again, which may be the user's; a subclass may iterate differently
        plain = kind.__iter__ is dict.__iter__
        parts["dict"] = dict.copy(obj) if plain else dict(items_of(obj))
    elif issubclass(kind, set):
        parts["set"] = set().union(obj)
    elif issubclass(kind, deque):
        parts["deque"] = list(deque.__iter__(obj))
    elif issubclass(kind, bytearray):
        parts["bytes"] = bytes(bytearray.__iter__(obj))
    elif issubclass(kind, BaseException):
        parts["args"] = obj.args
        parts["chain"] = (obj.__cause__, obj.__context__, obj.__suppress_context__)
    elif issubclass(kind, types.FunctionType):
        parts["slots"] = {name: getattr(obj, name) for name in OF_FUNCTIONS}
    namespace = getattr(obj, "__dict__", None)
    if isinstance(namespace, dict):
        parts["attributes"] = dict(namespace)
        # registries that an object keeps of itself (a Cell's parameters and sub-cells) change with its attributes
        parts["registries"] = {
            name: dict(value)
            for name, value in namespace.items()
            if isinstance(name, str) and name[:1] == "_" and isinstance(value, dict) and name != "__builtins__"
        }
    elif isinstance(namespace, types.MappingProxyType):
        parts["class"] = dict(namespace)
    for member in slots_of(kind):
        parts.setdefault("slots", {})[member.__name__] = slot_value(obj, member)
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
            if cell_value(obj) is not EMPTY_CELL:
                del obj.cell_contents
        else:
            obj.cell_contents = contents
        return
    if _holds(obj, contents):
        pass  # iterators over it go on
    elif "list" in contents:
        list.__setitem__(obj, slice(None), contents["list"])
    elif "dict" in contents:
        _restore_dict(obj, contents["dict"])
    elif "set" in contents:
        set.clear(obj)
        set.update(obj, contents["set"])
    elif "deque" in contents:
        restore_sequence(obj, contents["deque"])
    elif "bytes" in contents:
        bytearray.__setitem__(obj, slice(None), contents["bytes"])
    if isinstance(obj, BaseException):
        obj.args = contents["args"]
        obj.__cause__, obj.__context__, obj.__suppress_context__ = contents["chain"]
    if "attributes" in contents:
        namespace = obj.__dict__
        _restore_dict(namespace, contents["attributes"])
        for name, registry in contents["registries"].items():
            _restore_dict(namespace[name], registry)
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


def restore_sequence(target: Any, items: Sequence[Any]) -> None:
    """Give a deque or a bytearray other items; its iterators go on where items were only replaced."""
    native = native_class(type(target))
    if native.__len__(target) == len(items):
        for index, item in enumerate(items):
            native.__setitem__(target, index, item)
    else:
        native.clear(target)
        native.extend(target, items)


def _holds(obj: Any, contents: dict[str, Any]) -> bool:
    """Whether a container holds what it held, in the same order."""
    if "dict" in contents:
        before, now = list(contents["dict"].items()), items_of(obj)
        pairs = zip(before, now, strict=False)
        return len(before) == len(now) and all(old[0] is new[0] and old[1] is new[1] for old, new in pairs)
    for part, kind in (("list", list), ("deque", deque), ("set", set)):
        if part in contents:
            before = contents[part]
            ids = set if part == "set" else list
            return len(before) == kind.__len__(obj) and ids(map(id, before)) == ids(map(id, kind.__iter__(obj)))
    return False


def _restore_dict(target: dict[Any, Any], contents: dict[Any, Any]) -> None:
    kind = native_class(type(target))
    kind.clear(target)
    if kind is dict:
        dict.update(target, contents)
        return
    for key, value in contents.items():
        kind.__setitem__(target, key, value)


def cell_value(cell: types.CellType) -> Any:
    """The contents of a closure cell, `EMPTY_CELL` if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY_CELL


class Layer:
    """The objects written since a point in time, with their contents at that point."""

    __slots__ = ("before", "side")

    def __init__(self, side: bool = False) -> None:
        #: whether what is written since holds on one side of a branch only
        self.side = side
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
        #: id -> the step that made the object
        self.births: dict[int, int] = {}
        #: id of a namespace that the program holds -> the object whose `__dict__` it is
        self.namespaces: dict[int, Any] = {}
        #: id of an exception of the program -> where it left frames, the innermost first
        self.ways: dict[int, list[tuple[Any, int]]] = {}
        #: id of an exception that was raised -> itself, and what Python notes in it, as it was before
        self._before_raise: dict[int, tuple[BaseException, tuple[Any, ...]]] = {}
        #: returns the step that is running
        self.clock: Any = lambda: -1
        #: told of an object that one side of a branch is about to write: what the other side leaves is read, too
        self.on_side_write: Callable[[Any], None] = lambda obj: None

    def born(self, obj: Any) -> None:
        """Note that an object was made during the capture."""
        self.created[id(obj)] = obj
        self.births[id(obj)] = self.clock()

    def about_to_raise(self, error: BaseException) -> None:
        """Note what Python changes in an exception that is raised."""
        if id(error) not in self.created:
            written = self.original(error)  # by the program, before it raises it
            cause, context, suppress = (
                (error.__cause__, error.__context__, error.__suppress_context__)
                if written is None
                else written["chain"]
            )
            noted = (cause, context, error.__traceback__, suppress)
            self._before_raise.setdefault(id(error), (error, noted))

    def restore_exceptions(self) -> None:
        """Give exceptions from outside back what Python noted in them before the capture."""
        for error, noted in self._before_raise.values():
            for name, value in zip(_OF_RAISED, noted, strict=True):
                setattr(error, name, value)

    def left(self, error: BaseException, frame: Any, pc: int) -> None:
        """Note that an exception leaves a frame, or a `try` in it, at an instruction."""
        way = self.ways.setdefault(id(error), [])
        instr = frame.instrs[pc]
        raised_again = instr.name == "RERAISE" or (instr.name == "RAISE_VARARGS" and instr.arg == 0)
        if not raised_again and not any(place == pc and known is frame for known, place in way):
            way.append((frame, pc))

    def came_the_way_of(self, part: BaseException, whole: BaseException) -> None:
        """Note that a part was split off an exception group, whose traceback it has."""
        if part is not whole and id(part) not in self.created:
            self.born(part)
        self.ways.setdefault(id(part), list(self.ways.get(id(whole), ())))

    def exists(self, key: int) -> bool:
        """Whether an object is in the state that the capture has come to, by its id."""
        return key not in self.made_on_sides or any(key in layer.before for layer in self.layers)

    def touch(self, obj: Any) -> None:
        """Note the contents of an object that is about to be written."""
        if obj is builtins or obj is builtins.__dict__:
            refusal = Unsupported(
                Refusal.IMPURE_CALL,
                "the builtins are changed, which capture and the code that goes on after a break use themselves",
                "change them outside the compiled function",
            )
            refusal.whole = True
            raise refusal
        if isinstance(obj, types.ModuleType):
            obj = obj.__dict__  # which the module's functions read and write as their globals
        before = self.layers[-1].before
        key = id(obj)
        if key not in before:
            if self.on_a_side():
                self.on_side_write(obj)
            before[key] = (obj, contents_of(obj))

    def original(self, obj: Any) -> Any:
        """The contents of an object before the capture first wrote it, None if it has not."""
        if isinstance(obj, types.ModuleType):
            contents = self.original(obj.__dict__)
            return None if contents is None else {"attributes": contents["dict"]}
        key = id(obj)
        for layer in self.layers:
            noted = layer.before.get(key)
            if noted is not None:
                return noted[1]
        return None

    def on_a_side(self) -> bool:
        """Whether what is written now holds on one side of a branch only."""
        return any(layer.side for layer in self.layers)

    def push(self, side: bool = True) -> Layer:
        """Begin a layer; what is written holds on one side of a branch only, unless `side` is False."""
        layer = Layer(side)
        self.layers.append(layer)
        return layer

    def pop(self) -> Layer:
        """End the newest layer, leaving the objects as they are now and unnoted."""
        return self.layers.pop()
