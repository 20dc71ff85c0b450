"""The journal: contents of mutable objects before their first write, so that writes can be undone, merged and replayed.

Captured code writes to real objects (so that `len`, slicing and library code see what Python would show them); the
journal takes everything back when a branch or the capture ends.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import inspect
import types
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from weft.autodiff import session
from weft.capture.python.containers import items_of, native_class
from weft.capture.python.namespaces import class_namespace, namespace_of
from weft.capture.state.sets import SetGrowth
from weft.core.lending import share_again
from weft.core.tensor import Tensor, data_of
from weft.errors import Refusal, Unsupported

EMPTY_CELL: Final = object()
#: the noted contents of a closure cell that held None
HELD_NONE: Final = object()
#: what functions have besides their code and attributes
OF_FUNCTIONS: Final = (
    "__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__annotations__"
)  # fmt: skip

#: classes of which the journal keeps more than the attributes of an instance
_WITH_CONTENTS: Final = (
    Tensor, types.CellType, list, dict, set, deque, bytearray, BaseException, types.FunctionType, type
)  # fmt: skip
#: what exceptions have besides their attributes; the last follows from `__cause__`
OF_EXCEPTIONS: Final = ("args", "__cause__", "__context__", "__suppress_context__")
#: what raising an exception changes in it; the last follows from the first
_OF_RAISED: Final = ("__cause__", "__context__", "__traceback__", "__suppress_context__")


class _Count:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


#: how often containers got earlier contents back, so that iterators over them may stand elsewhere than before
PUT_BACK: Final = _Count()


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


def _has_more(kind: type) -> bool:
    """Whether instances of a class keep anything that the journal knows besides their attributes."""
    return issubclass(kind, _WITH_CONTENTS) or bool(slots_of(kind))


def contents_of(obj: Any) -> Any:
    """A shallow copy of an object's mutable state, but for its attributes: its `__dict__` has a record of its own."""
    kind = type(obj)  # `isinstance` would also ask the user's `__class__`
    if issubclass(kind, Tensor):
        return ((data_of(obj), obj._node, getattr(obj, "_index", 0), obj._type), None)
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
        parts["bytes"] = bytearray(bytearray.__iter__(obj))
    elif issubclass(kind, BaseException):
        parts["exception"] = {name: getattr(obj, name) for name in OF_EXCEPTIONS}
    elif issubclass(kind, types.FunctionType):
        parts["slots"] = {name: getattr(obj, name) for name in OF_FUNCTIONS}
    if issubclass(kind, type):
        parts["class"] = dict(class_namespace(obj))
    for member in slots_of(kind):
        parts.setdefault("slots", {})[member.__name__] = slot_value(obj, member)
    return parts


def restore(obj: Any, contents: Any) -> None:
    """Give an object back the state that `contents_of` returned."""
    kind = type(obj)
    if issubclass(kind, Tensor):
        obj._data, obj._node, obj._index, obj._type = contents[0]
        share_again(obj)
        return
    if issubclass(kind, Journaled):
        obj.journal_restore(contents)
        return
    if kind is types.CellType:
        if contents is EMPTY_CELL:
            if cell_value(obj) is not EMPTY_CELL:
                del obj.cell_contents
        else:
            obj.cell_contents = contents
        return
    if _holds(obj, contents):
        pass  # iterators over it go on
    else:
        PUT_BACK.count += 1
        _put_back(obj, contents)
    if issubclass(kind, BaseException):
        for name, value in contents["exception"].items():
            BaseException.__setattr__(obj, name, value)
    if "class" in contents:
        namespace = class_namespace(obj)
        for name in set(namespace) - set(contents["class"]):
            type.__delattr__(obj, name)
        for name, value in contents["class"].items():
            if namespace.get(name, EMPTY_CELL) is not value:
                type.__setattr__(obj, name, value)
    if "slots" in contents and kind is types.FunctionType:
        for name, value in contents["slots"].items():
            setattr(obj, name, value)
    elif "slots" in contents:
        for member in slots_of(kind):
            value = contents["slots"][member.__name__]
            if value is not EMPTY_CELL:
                member.__set__(obj, value)
            elif slot_value(obj, member) is not EMPTY_CELL:
                member.__delete__(obj)


def _put_back(obj: Any, contents: dict[str, Any]) -> None:
    """Give a container other items."""
    if "list" in contents:
        list.__setitem__(obj, slice(None), contents["list"])
    elif "dict" in contents:
        _restore_dict(obj, contents["dict"])
    elif "set" in contents:  # only where the set itself is given up: see `_refuse_older`
        set.clear(obj)
        set.update(obj, contents["set"])
    elif "deque" in contents:
        restore_sequence(obj, contents["deque"])
    elif "bytes" in contents:
        bytearray.__setitem__(obj, slice(None), contents["bytes"])


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
    now, before = items_of(target), list(contents.items())
    if all(old[0] is new[0] for old, new in zip(before, now, strict=False)) and len(before) <= len(now):
        for _ in range(len(now) - len(before)):  # only got items: what iterates over it stays where it is
            kind.popitem(target)
    else:
        kind.clear(target)
        now = []
    if kind is dict:
        dict.update(target, contents)  # does not hash the keys again, which may be the user's
        return
    for number, (key, value) in enumerate(before):
        if number >= len(now) or now[number][1] is not value:
            kind.__setitem__(target, key, value)


def cell_value(cell: types.CellType) -> Any:
    """The contents of a closure cell, `EMPTY_CELL` if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY_CELL


def _at(holder: Any, contents: Any, key: Any, named: bool = False) -> Any:
    """What noted contents have at a place (an attribute in a class or a slot if `named`), `EMPTY_CELL` if nothing."""
    if type(holder) is types.CellType:
        return None if contents is HELD_NONE else contents
    for part in ("class", "slots") if named else ("list", "dict"):
        if isinstance(contents, dict) and part in contents:
            with contextlib.suppress(LookupError):
                return contents[part][key]
    return EMPTY_CELL


def _described(obj: Any, owner: Any) -> str:
    kind = type(obj if owner is None else owner)
    return "a variable" if kind is types.CellType else f"a {kind.__name__}"


#: methods of lists that leave the items that they do not replace where they are
_IN_PLACE: Final = ("__setitem__", "append", "extend")


class Layer:
    """The objects written since a point in time, with their contents at that point."""

    __slots__ = ("before", "begun", "gradients", "side")

    def __init__(self, side: bool = False, begun: int = -1) -> None:
        #: whether what is written since holds on one side of a branch only
        self.side = side
        #: the step that began it
        self.begun = begun
        #: how many gradients were in progress
        self.gradients = session.depth()
        #: id -> (the object, its contents before the first write)
        self.before: dict[int, tuple[Any, Any]] = {}

    def after(self) -> dict[int, tuple[Any, Any]]:
        """The same objects with their contents now."""
        return {key: (obj, contents_of(obj)) for key, (obj, _) in self.before.items()}


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
        #: id of a namespace that the capture knows -> the object whose `__dict__` it is
        self.namespaces: dict[int, Any] = {}
        #: id of a dictionary that an object keeps about itself -> that object and the name of the attribute
        self.registries: dict[int, tuple[Any, str]] = {}
        #: id of a written list -> where each of its items stood before the capture wrote it, None for a new one; None
        #: for a list that was written in another way than by `touch_list`, or on one side of a branch
        self.places: dict[int, list[int | None] | None] = {}
        #: id of a dictionary, list or cell -> the numbers that `exchange` put into it, by key
        self.exchanged: dict[int, dict[Any, Any]] = {}
        #: how the sets that were made came to their members
        self.sets = SetGrowth()
        #: what each side of a branch left behind: id -> (the object, its contents)
        self.ends: list[dict[int, tuple[Any, Any]]] = []
        #: ids of written lists that were cleared on the way
        self.cleared: set[int] = set()
        #: ids of written lists whose old items may stand at other places now
        self.moved: set[int] = set()
        #: id of an exception of the program -> where it left frames, the innermost first
        self.ways: dict[int, list[tuple[Any, int]]] = {}
        #: id of an exception that was raised -> itself, and what Python notes in it, as it was before
        self._before_raise: dict[int, tuple[BaseException, tuple[Any, ...]]] = {}
        #: returns the step that is running
        self.clock: Any = lambda: -1
        #: whether other threads may reach what existed before the capture, so that it must not be written
        self.shared = False
        #: how often something was about to be written
        self.touches = 0
        #: whether anything that existed before the capture was written
        self.wrote_outside = False
        #: whether one of them was more than a tensor, of which only the value is written
        self.wrote_objects = False
        #: whether a class was written
        self.wrote_class = False
        #: id of a written object -> the step that wrote it first
        self.first_written: dict[int, int] = {}
        #: told of the class of each object that is made
        self.on_birth: Callable[[type], None] = lambda kind: None
        #: told of an object that one side of a branch is about to write: what the other side leaves is read, too
        self.on_side_write: Callable[[Any], None] = lambda obj: None

    def born(self, obj: Any) -> None:
        """Note that an object was made during the capture."""
        self.created[id(obj)] = obj
        self.on_birth(type(obj))
        self.births[id(obj)] = self.clock()

    def about_to_raise(self, error: BaseException) -> None:
        """Note what Python changes in an exception that is raised."""
        if id(error) not in self.created:
            written = self.original(error)  # by the program, before it raises it
            first = {} if written is None else written["exception"]
            noted = tuple([first.get(name, getattr(error, name)) for name in _OF_RAISED])
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

    def owner(self, key: int) -> Any:
        """The object that a record belongs to, by the record's id: that of a namespace or registry; None for others."""
        found = self.namespaces.get(key)
        return self.registries.get(key, (None,))[0] if found is None else found

    def belongs(self, key: int, keys: Collection[int]) -> bool:
        """Whether a record, or the object that it belongs to, is among these."""
        return key in keys or ((owner := self.owner(key)) is not None and id(owner) in keys)

    def exists(self, key: int) -> bool:
        """Whether an object is in the state that the capture has come to, by its id."""
        owner = self.owner(key)
        return (key if owner is None else id(owner)) not in self.made_on_sides or any(
            key in layer.before for layer in self.layers
        )

    def touch(self, obj: Any, in_place: bool = False) -> None:
        """Note the contents of an object that is about to be written, those of its attributes included.

        Args:
            obj: the object.
            in_place: whether the items of a list stay where they are.
        """
        if not in_place and issubclass(type(obj), list):
            self.moved.add(id(obj))
        namespace = self.namespace(obj)
        kind = type(obj)
        if namespace is None:
            self.touch_itself(obj)
            return
        self.touch_itself(namespace)
        if not issubclass(kind, types.ModuleType):  # whose functions use it as their globals
            # registries that an object keeps of itself (a Cell's parameters and sub-cells) change with its attributes
            for name, value in tuple(namespace.items()):
                if type(name) is str and name[:1] == "_" and isinstance(value, dict):
                    if id(value) not in self.namespaces:
                        self.registries.setdefault(id(value), (obj, name))
                    self.touch_itself(value)
            if _has_more(kind):
                self.touch_itself(obj)

    def touch_list(self, items: list[Any], method: str, *args: Any) -> None:
        """Note the contents of a list that one of its own methods is about to write, and where its items go.

        Args:
            items: the list.
            method: the name of the method.
            args: its arguments, None for what is stored.
        """
        places = self.places.get(id(items), list(range(list.__len__(items))))
        self.touch(items, in_place=method in _IN_PLACE)
        if places is not None and len(self.layers) == 1:
            if method == "clear":
                self.cleared.add(id(items))
            with contextlib.suppress(IndexError, TypeError, ValueError):  # which the method itself will raise
                getattr(places, method)(*args)
            self.places[id(items)] = places

    def can_exchange(self, holder: Any) -> bool:
        """Whether a key names the same place in all that is noted of a container, and no other thread reads it."""
        return not self.shared and id(holder) not in self.moved

    def exchange(self, holder: Any, key: Any, number: Any) -> None:
        """Put a number of the call in the place of its value, in what is noted too: paths that do not write leave it.

        Args:
            holder: a dictionary, a list or a closure cell, see `can_exchange`.
            key: the key or index in it.
            number: the number, which is the same in the call that is captured.
        """
        base, name, is_cell = self.layers[0].before, id(holder), type(holder) is types.CellType
        self.wrote_outside = self.wrote_objects = True
        if name not in base:  # where the value itself is put back in the end, with all that paths have written since
            first = next((layer.before[name][1] for layer in self.layers if name in layer.before), contents_of(holder))
            base[name] = (holder, first if is_cell else {part: copy.copy(held) for part, held in first.items()})
        self.exchanged.setdefault(name, {})[key] = number
        first = _at(holder, base[name][1], key)
        # in what ended sides left, the place is as it was: a side that writes it has its number put there before that
        for notes in [*[layer.before for layer in self.layers[1:]], *self.ends]:
            noted = notes.get(name)
            if noted is None or _at(holder, noted[1], key) is not first:  # what was written before the side stays
                continue
            if is_cell:
                notes[name] = (holder, number)
            else:
                noted[1]["list" if isinstance(holder, list) else "dict"][key] = number
        if is_cell:
            holder.cell_contents = number
        else:
            native_class(type(holder)).__setitem__(holder, key, number)

    def namespace(self, obj: Any) -> dict[str, Any] | None:
        """The dictionary of an object's attributes, None if it has none; noted as that object's."""
        namespace = namespace_of(obj)
        if namespace is not None:
            self.namespaces.setdefault(id(namespace), obj)
        return namespace

    def touch_itself(self, obj: Any) -> None:
        """Note what is written in an object past its attributes: a tensor's value, a container's items."""
        if obj is builtins.__dict__:
            refusal = Unsupported(
                Refusal.IMPURE_CALL,
                "the builtins are changed, which capture and the code that goes on after a break use themselves",
                "change them outside the compiled function",
            )
            refusal.whole = True
            raise refusal
        before = self.layers[-1].before
        key = id(obj)
        self.touches += 1
        if issubclass(type(obj), list):
            self.places[key] = None
        elif issubclass(type(obj), set):
            self._refuse_older(obj)
        elif issubclass(type(obj), type):
            self.wrote_class = True
        if key not in before:
            if self.shared and not self._is_own(obj):
                raise Unsupported(
                    Refusal.IMPURE_CALL,
                    f"{_described(obj, self.owner(key))} from outside is written while other threads run, which would "
                    "see values that only the graph has",
                    "",
                )
            if self.on_a_side():
                self.on_side_write(obj)
            if not (self.wrote_objects or self.belongs(key, self.created)):
                self.wrote_outside, self.wrote_objects = True, not issubclass(type(obj), Tensor)
            before[key] = (obj, contents_of(obj))
            self.first_written.setdefault(key, self.clock())

    def _refuse_older(self, obj: Any) -> None:
        """Refuse to write a set that could not be put back: one from outside, or from before a side of a branch."""
        own = id(obj) in self.created
        if not own or self.births[id(obj)] < self.layers[-1].begun:
            where = "made before a branch on a tensor is changed in it" if own else "from outside is changed"
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"a set {where}, and the order of its members depends on its past, which cannot be put back",
                "use a dictionary, or change the set outside the compiled function",
            )

    def _is_own(self, obj: Any) -> bool:
        """Whether no other thread can reach an object, or it is a tensor, of which only the value is written."""
        kind = type(obj)
        return issubclass(kind, (Tensor, Journaled, types.FrameType)) or self.belongs(id(obj), self.created)

    def original(self, obj: Any) -> Any:
        """The contents of an object before the capture first wrote it, None if it has not.

        Its attributes are the part "attributes", wherever they were written.
        """
        if not self.wrote_outside and id(obj) not in self.created:
            return None
        noted = self.noted(obj)
        namespace = namespace_of(obj)
        if namespace is None:
            return noted
        attributes = self.noted(namespace)
        if attributes is None:
            return {**noted, "attributes": namespace} if isinstance(noted, dict) else noted
        parts = noted if noted is not None else contents_of(obj) if _has_more(type(obj)) else {}
        return {**(parts if isinstance(parts, dict) else {}), "attributes": attributes["dict"]}

    def original_at(self, holder: Any, key: Any, named: bool = False) -> Any:
        """What a place held before the capture first wrote there, `EMPTY_CELL` if nothing or nothing was written.

        Args:
            holder: a dictionary, a list, a closure cell, a class or an object with slots.
            key: the key, index or name in it.
            named: whether the place is an attribute of a class or a slot, where a holder may have items too.
        """
        noted = self.noted(holder) if self.wrote_outside else None
        return EMPTY_CELL if noted is None else _at(holder, noted, key, named)

    def first_values(self, items: dict[Any, Any]) -> Iterable[Any]:
        """What a dictionary held before the capture first wrote it, nothing if it has not."""
        noted = self.noted(items)
        return () if noted is None else noted["dict"].values()

    def noted(self, obj: Any) -> Any:
        """What was noted of an object before the capture first wrote it, without its attributes; None if nothing."""
        key = id(obj)
        for layer in self.layers:
            noted = layer.before.get(key)
            if noted is not None:
                return HELD_NONE if noted[1] is None else noted[1]
        return None

    def data_before(self, tensor: Tensor) -> Any:
        """What a tensor held before the capture first wrote it."""
        noted = self.noted(tensor)
        return data_of(tensor) if noted is None else noted[0][0]

    def on_a_side(self) -> bool:
        """Whether what is written now holds on one side of a branch only."""
        return any(layer.side for layer in self.layers)

    def is_of_this_side(self, obj: Any) -> bool:
        """Whether the capture made an object, and no other side of a branch in progress can see it."""
        begun = max((layer.begun for layer in self.layers if layer.side), default=-2)
        return id(obj) in self.created and self.births[id(obj)] > begun

    def is_of_now(self, obj: Any) -> bool:
        """Whether the capture made an object, and nothing that it may still take back began since."""
        return id(obj) in self.created and self.births[id(obj)] > max(layer.begun for layer in self.layers)

    def push(self, side: bool = True) -> Layer:
        """Begin a layer; what is written holds on one side of a branch only, unless `side` is False."""
        layer = Layer(side, self.clock())
        self.layers.append(layer)
        return layer

    def take_back(self, layer: Layer) -> None:
        """End a layer and those above it: every object gets its contents back, gradients begun since are given up."""
        session.unwind(layer.gradients)  # before, since that gives the handles of weights back
        position = self.layers.index(layer)
        for ended in reversed(self.layers[position:]):
            for obj, contents in reversed(tuple(ended.before.values())):
                restore(obj, contents)
        del self.layers[position:]

    def keep(self, layer: Layer) -> None:
        """End the newest layer; objects stay as they are now, and the layer below notes what they were."""
        del self.layers[-1]
        for key, noted in layer.before.items():
            self.layers[-1].before.setdefault(key, noted)
