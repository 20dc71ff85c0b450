"""The gate to native code: what a call reads of what it is given, a row for each callee that does not read everything.

A callee without a row reads all that can be reached from its arguments: that is guarded, and numbers that only the call
or the running graph knows become constants or are refused. So a callee that nobody thought of costs a capture too many.
"""

from __future__ import annotations

import builtins
import enum
import functools
import math
import operator
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from weft.capture.python.classes import class_attribute
from weft.capture.python.containers import is_container, members, with_items
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import TRUSTED_PACKAGES, module_of
from weft.capture.sources.sources import Sources
from weft.capture.state.journal import EMPTY_CELL, slot_value, slots_of
from weft.core.run_number import RunNumber, settled
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported


class Reads(enum.Enum):
    """What native code reads of one of the values that it is given."""

    #: nothing: it is stored as it is, or the interpreter itself reads what is needed
    NOTHING = enum.auto()
    #: the items of a container, which are taken over as they are: it is copied
    ITEMS = enum.auto()
    #: the same, of a container of which a view is made
    SHOWN = enum.auto()
    #: the items of a container that is written, or goes on being used
    CONTENTS = enum.auto()
    #: as `dict.update` does: the items of a dictionary, of pairs the keys, and everything in what else gives pairs
    PAIRS = enum.auto()
    #: of a container, what belongs to the first argument, a key
    KEY = enum.auto()
    #: how many items a container has
    LENGTH = enum.auto()
    #: everything that can be reached from it
    ALL = enum.auto()


class Row(NamedTuple):
    """What a callee reads.

    Args:
        owner: of the object whose method it is.
        args: of the first arguments.
        rest: of the other arguments, named ones included.
        arrays: whether it may be given data that only the call knows.
    """

    owner: Reads = Reads.ALL
    args: tuple[Reads, ...] = ()
    rest: Reads = Reads.ALL
    arrays: bool = False


#: a callee of which nothing is known reads everything
DEFAULT: Final = Row()
#: the interpreter has a handler for the callee, which reads through the interpreter
_BY_HANDLER: Final = Row(rest=Reads.NOTHING)
#: the same, for one that does not look into what it is given
_UNSEEN: Final = Row(rest=Reads.NOTHING, arrays=True)
_NOTHING, _ITEMS, _SHOWN, _CONTENTS, _PAIRS, _KEY, _LENGTH, _ALL = Reads

#: functions and classes
_FUNCTIONS: Final[dict[Any, Row]] = {
    **dict.fromkeys(
        (
            isinstance, issubclass, type, getattr, hasattr, setattr, delattr, list, tuple, set, dict, zip, enumerate,
            map, iter, next, Tensor, Tensor.from_numpy, operator.is_, operator.is_not,
        ),
        _UNSEEN,
    ),
    **dict.fromkeys(
        (
            len, filter, sum, any, all, min, max, sorted, int, float, repr, str, divmod, range, format, abs, round,
            math.floor, math.ceil, math.trunc, frozenset, bool, print, super, vars, globals, locals,
            functools.reduce, pow,
            object.__setattr__, builtins.__build_class__, Tensor.item,
            *(getattr(operator, inplace + name) for inplace in ("__", "__i") for name in (
                "add__", "and__", "floordiv__", "lshift__", "matmul__", "mul__", "mod__", "or__", "pow__", "rshift__",
                "sub__", "truediv__", "xor__",
            )),
        ),
        _BY_HANDLER,
    ),
}  # fmt: skip

#: methods by the class that has them and name
_METHODS: Final[dict[tuple[type, str], Row]] = {
    (list, "append"): Row(_NOTHING, (_NOTHING,)),
    (list, "extend"): Row(_NOTHING, (_ITEMS,)),
    (list, "insert"): Row(_LENGTH, (_ALL, _NOTHING)),
    (list, "__setitem__"): Row(_LENGTH, (_ALL, _NOTHING)),
    (list, "__len__"): Row(_LENGTH),
    (deque, "append"): Row(_NOTHING, (_NOTHING,)),
    (deque, "appendleft"): Row(_NOTHING, (_NOTHING,)),
    (deque, "extend"): Row(_NOTHING, (_ITEMS,)),
    (deque, "extendleft"): Row(_NOTHING, (_ITEMS,)),
    (deque, "insert"): Row(_CONTENTS, (_ALL, _NOTHING)),
    (deque, "__len__"): Row(_LENGTH),
    (dict, "get"): Row(_KEY, (_ALL, _NOTHING)),
    (dict, "__getitem__"): Row(_KEY),
    (dict, "__contains__"): Row(_KEY),
    (dict, "__setitem__"): Row(_NOTHING, (_ALL, _NOTHING)),
    (dict, "setdefault"): Row(_CONTENTS, (_ALL, _NOTHING)),
    (dict, "update"): Row(_CONTENTS, (_PAIRS,), _NOTHING),
    (dict, "__len__"): Row(_LENGTH),
    (dict, "copy"): Row(_ITEMS),
    (dict, "__or__"): Row(_ITEMS, (_ITEMS,)),
    (dict, "pop"): Row(_CONTENTS, (_ALL, _NOTHING)),
    (dict, "popitem"): Row(_CONTENTS),
    (dict, "clear"): Row(_CONTENTS),
    **{(kind, name): Row(_SHOWN) for kind in (dict, OrderedDict) for name in ("keys", "values", "items")},
    **{
        (OrderedDict, name): Row(_CONTENTS, (_ALL, _NOTHING) if name in ("setdefault", "pop") else ())
        for name in ("setdefault", "pop", "popitem", "clear", "move_to_end")
    },
    (OrderedDict, "copy"): Row(_ITEMS),
    (OrderedDict, "update"): Row(_CONTENTS, (_PAIRS,), _NOTHING),
    **{(defaultdict, name): Row(_ITEMS) for name in ("copy", "__copy__")},
    (list, "__init__"): Row(_CONTENTS, (_ITEMS,)),
    (deque, "__init__"): Row(_CONTENTS, (_ITEMS,)),
    (dict, "__init__"): Row(_CONTENTS, (_PAIRS,), _NOTHING),
    (object, "__init__"): Row(_NOTHING, rest=_NOTHING),
    (set, "__len__"): Row(_LENGTH),
    (frozenset, "__len__"): Row(_LENGTH),
    (tuple, "__len__"): Row(_LENGTH),
    **{
        (kind, name): Row(reads)
        for kind in (list, deque, tuple)
        for reads, names in (
            (_ITEMS, ("copy", "__copy__", "__getitem__", "__mul__", "__rmul__")),
            (_CONTENTS, ("clear", "pop", "popleft", "reverse", "rotate", "__iter__", "__delitem__")),
        )
        for name in names
        if hasattr(kind, name)
    },
    **{
        (kind, "__add__"): Row(_ITEMS, (_ITEMS,))
        for kind in (list, deque, tuple)
    },
    (list, "pop"): Row(_LENGTH),  # what it returns is read by `Calls`
    (list, "reverse"): Row(_LENGTH),
    (list, "clear"): Row(_NOTHING),
}  # fmt: skip
for _class, _name in _METHODS:
    if _name not in _class.__dict__:
        raise TypeError(f"{_class.__name__} has no method {_name} of its own")


def row_of(callee: Any) -> Row:
    """What a function or class reads of its arguments.

    Args:
        callee: one whose hash is its identity.
    """
    return _FUNCTIONS.get(callee, DEFAULT)


def definer_of(callee: Any, owner: Any) -> type:
    """The class that has a native method, which is bound to an object."""
    found: type | None = getattr(callee, "__objclass__", None)
    if found is not None:
        return found
    kind = type(owner)
    classes: tuple[type, ...] = kind.__mro__
    for cls in (*owner.__mro__, *classes) if issubclass(kind, type) else classes:
        if type(cls.__dict__.get(callee.__name__, definer_of)) is not types.FunctionType:
            return cls
    return kind


def row_of_method(definer: type, name: str, owner: Any) -> Row:
    """What a native method reads of its object and of its arguments.

    Args:
        definer: the class that has it.
        name: its name.
        owner: the object.
    """
    if name == "__new__" and isinstance(owner, type):
        return row_of_class(owner)
    if name == "__init__" and issubclass(definer, BaseException):
        return row_of_class(definer)
    return _METHODS.get((definer, name), DEFAULT)


def hashed_of(values: Iterable[Any]) -> list[Any]:
    """What a dictionary hashes and compares of what it is made of: keys, of dictionaries and of pairs in lists."""
    found: list[Any] = []
    for value in values:
        if issubclass(type(value), dict):
            found += dict.keys(value)
        elif type(value) is list:
            found += [pair[0] if type(pair) in (tuple, list) and len(pair) == 2 else pair for pair in value]
        else:
            found.append(value)
    return found


def _settle_attributes(value: Any, seen: set[int]) -> None:
    """Put constants in place of the run-time numbers in the attributes of objects that native code can reach."""
    kind = type(value)
    if issubclass(kind, _WITHOUT) or id(value) in seen:
        return
    seen.add(id(value))
    held = list(members(value)) if is_container(value) and not issubclass(kind, bytearray) else []
    if issubclass(kind, dict):
        held += dict.keys(value)
    elif issubclass(kind, BaseException):
        held += value.args
    if module_of(kind).partition(".")[0] not in TRUSTED_PACKAGES:
        namespace = namespace_of(value) or {}
        for name, item in tuple(namespace.items()):
            held.append(settled(item))
            if held[-1] is not item:
                namespace[name] = held[-1]
        for member in slots_of(kind):
            item = slot_value(value, member)
            if item is not EMPTY_CELL:
                held.append(settled(item))
                if held[-1] is not item:
                    member.__set__(value, held[-1])
    for item in held:
        if issubclass(type(item), RunNumber):  # in a place that cannot be written
            item.constant()
            raise Unsupported(Refusal.TENSOR_VALUE, f"a {kind.__name__} that native code is given holds a number")
        _settle_attributes(item, seen)


#: what has no attributes of the program's
_WITHOUT: Final = (Tensor, int, float, str, bytes, complex, type(None), type, types.FunctionType, types.ModuleType)
#: exceptions that take their arguments apart
_PARSING: Final = (OSError, UnicodeError, BaseExceptionGroup)


def row_of_class(cls: type) -> Row:
    """What the construction of an instance reads, where no code of the user's takes part in it."""
    if issubclass(cls, BaseException) and not issubclass(cls, _PARSING):
        return Row(_NOTHING, rest=_NOTHING)  # it keeps them
    if issubclass(cls, (list, tuple, deque)):
        return Row(rest=_ITEMS)
    if issubclass(cls, defaultdict):
        return Row(args=(_NOTHING, _PAIRS), rest=_NOTHING)
    if issubclass(cls, (dict, types.SimpleNamespace)):
        return Row(args=(_PAIRS,), rest=_NOTHING)
    return DEFAULT


#: operators that copy containers
COPYING: Final = ("__add__", "__mul__", "__or__")
#: containers whose methods make copies of the class, and classes that are copied by their own methods: in others
#: anything may take part
_COPIED: Final = (list, tuple, dict, OrderedDict, defaultdict, deque)
#: classes of which instances of a derived class are copied as if they were of this class
_BASES: Final = (list, tuple, dict)
#: what a class derived from a container may define without taking part in copies of its items
_OF_NO_COPY: Final = frozenset(
    {
        "__new__", "__init__", "__doc__", "__getattribute__", "__repr__", "__hash__", "__class_getitem__",
        "__reversed__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__getnewargs__", "index", "count",
        "sort",
    }
)  # fmt: skip


_OF_ITEMS: Final = frozenset({Reads.ITEMS, Reads.SHOWN, Reads.CONTENTS})


class Gate:
    """Reads what native code reads of what it is given.

    Args:
        sources: guards what is read.
        natively: calls native code that hashes and compares, see `weft.capture.meaning.native`.
        made: notes an object that the capture makes.
    """

    def __init__(self, sources: Sources, natively: Callable[..., Any], made: Callable[[Any], Any]) -> None:
        self.sources = sources
        self.natively = natively
        self.made = made

    def arguments(self, row: Row, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Read what a call reads of its arguments; returns the arguments for it."""
        given = [
            self.read(row.args[position] if position < len(row.args) else row.rest, value)
            for position, value in enumerate(args)
        ]
        return given, {name: self.read(row.rest, value) for name, value in kwargs.items()}

    def owner(self, row: Row, owner: Any, args: list[Any]) -> Any:
        """Read what a call of a method reads of its object, after its arguments; returns the object for it."""
        if row.owner is Reads.KEY and args:
            self.by_key(owner, args[0])
            return owner
        found = self.read(row.owner, owner)
        return found if row.owner is Reads.ITEMS else owner

    def pair(self, item: Any) -> Any:
        """A key with its value, of which a dictionary is made: the key is looked at."""
        item = self.read(Reads.ITEMS, item)
        if type(item) in (tuple, list) and len(item) == 2 and issubclass(type(item[0]), RunNumber):
            return settled(item[0]), item[1]
        return item

    def operand(self, value: Any, copied: bool) -> None:
        """An operator is given a container, which it copies (see `carried`) or looks at."""
        if is_container(value):
            self.sources.taken_over(value) if copied else self.sources.contents(value)

    def operands(self, left: Any, right: Any, *copied: bool) -> tuple[Any, Any, Any]:
        """Two operands for native code, each of which it copies or not, and what it hashes and compares of them."""
        if not any(copied):
            return left, right, (left, right)
        given = [self.carried(value, is_copied) for value, is_copied in zip((left, right), copied, strict=True)]
        return *given, hashed_of([value for value in given if not issubclass(type(value), (list, tuple, deque))])

    def carried(self, value: Any, copied: bool = True) -> Any:
        """A value for native code; a container that it copies, with what stands for the items in the capture."""
        if not (copied and is_container(value)):
            return value
        if not self._is_copied(type(value)):
            self.sources.contents(value)
            return value
        numbers = self.sources.taken_over(value)
        return self.made(with_items(value, numbers)) if numbers else value

    def _is_copied(self, kind: type) -> bool:
        """Whether copies of a container are made of its items as they are, and nothing of the program's takes part."""
        if kind in _COPIED:
            return True
        base: Any = next((base for base in _BASES if issubclass(kind, base)), None)
        if base is None or issubclass(kind, (OrderedDict, defaultdict)) or not self.sources.varying:
            return False
        for name, method in vars(base).items():
            if name not in _OF_NO_COPY and class_attribute(kind, name) is not method:
                return False
            if name not in _OF_NO_COPY and not name.startswith("__"):  # special methods are guarded anyway
                self.sources.look_up(kind, name)
        return True

    def read(self, reads: Reads, value: Any) -> Any:
        """Read of a value what native code reads; returns what it is to be given."""
        if reads is Reads.NOTHING:
            return value
        if reads is Reads.LENGTH:
            self.sources.length(value)
            return value
        if is_container(value) and (reads in _OF_ITEMS or (reads is Reads.PAIRS and issubclass(type(value), dict))):
            if reads is Reads.CONTENTS:
                self.sources.contents(value)
            elif reads is Reads.SHOWN:
                self.sources.taken_over(value)
            else:
                return self.carried(value)
            return value
        if reads is Reads.PAIRS and type(value) in (list, tuple):
            return self.made([self.pair(item) for item in self.carried(value)])
        if reads in _OF_ITEMS and issubclass(type(value), RunNumber):
            return value.constant()
        self.sources.inside(value)
        value = settled(value)
        _settle_attributes(value, set())
        return value

    def by_key(self, owner: dict[Any, Any], key: Any) -> None:
        """Read of a dictionary what belongs to a key."""
        try:
            found = self.natively((key,), dict.__contains__, owner, key)
        except TypeError:
            return
        self.sources.has(owner, key)
        if found:
            self.sources.constant_item(owner, key, dict.__getitem__(owner, key))


class Settling:
    """The items of an iterator for native code that hashes them.

    Args:
        gate: reads each item.
        items: the iterator.
    """

    __slots__ = ("gate", "items")

    def __init__(self, gate: Gate, items: Any) -> None:
        self.gate = gate
        self.items = items

    def __iter__(self) -> Settling:
        return self

    def __next__(self) -> Any:
        return self.gate.read(Reads.ALL, next(self.items))
