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
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from weft.capture.python.containers import is_container, members
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
    #: the items of a container, which are taken over as they are
    ITEMS = enum.auto()
    #: as `dict.update` does: the items of a dictionary, and everything in pairs
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
_NOTHING, _ITEMS, _PAIRS, _KEY, _LENGTH, _ALL = Reads

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
    (deque, "insert"): Row(_ITEMS, (_ALL, _NOTHING)),
    (deque, "__len__"): Row(_LENGTH),
    (dict, "get"): Row(_KEY, (_ALL, _NOTHING)),
    (dict, "__getitem__"): Row(_KEY),
    (dict, "__contains__"): Row(_KEY),
    (dict, "__setitem__"): Row(_NOTHING, (_ALL, _NOTHING)),
    (dict, "setdefault"): Row(_ITEMS, (_ALL, _NOTHING)),
    (dict, "update"): Row(_ITEMS, (_PAIRS,), _NOTHING),
    (dict, "__len__"): Row(_LENGTH),
    (dict, "copy"): Row(_ITEMS),
    (dict, "keys"): Row(_ITEMS),
    (dict, "values"): Row(_ITEMS),
    (dict, "items"): Row(_ITEMS),
    (dict, "pop"): Row(_ITEMS, (_ALL, _NOTHING)),
    (dict, "popitem"): Row(_ITEMS),
    (dict, "clear"): Row(_ITEMS),
    **{
        (OrderedDict, name): Row(_ITEMS, (_ALL, _NOTHING) if name in ("setdefault", "pop") else ())
        for name in ("setdefault", "pop", "copy", "keys", "values", "items", "popitem", "clear", "move_to_end")
    },
    (OrderedDict, "update"): Row(_ITEMS, (_PAIRS,), _NOTHING),
    (defaultdict, "copy"): Row(_ITEMS),
    (list, "__init__"): Row(_ITEMS, (_ITEMS,)),
    (deque, "__init__"): Row(_ITEMS, (_ITEMS,)),
    (dict, "__init__"): Row(_ITEMS, (_PAIRS,), _NOTHING),
    (object, "__init__"): Row(_NOTHING, rest=_NOTHING),
    (set, "__len__"): Row(_LENGTH),
    (frozenset, "__len__"): Row(_LENGTH),
    (tuple, "__len__"): Row(_LENGTH),
    **{
        (kind, name): Row(_ITEMS)
        for kind in (list, deque, tuple)
        for name in ("copy", "__copy__", "clear", "pop", "popleft", "reverse", "rotate", "__iter__", "__getitem__",
                     "__delitem__", "__add__", "__mul__", "__rmul__")
        if hasattr(kind, name)
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
    return DEFAULT


class Gate:
    """Reads what native code reads of what it is given.

    Args:
        sources: guards what is read.
        natively: calls native code that hashes and compares, see `weft.capture.meaning.native`.
    """

    def __init__(self, sources: Sources, natively: Callable[..., Any]) -> None:
        self.sources = sources
        self.natively = natively

    def arguments(self, row: Row, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Read what a call reads of its arguments; returns the arguments for it."""
        given = [
            self.read(row.args[position] if position < len(row.args) else row.rest, value)
            for position, value in enumerate(args)
        ]
        return given, {name: self.read(row.rest, value) for name, value in kwargs.items()}

    def owner(self, row: Row, owner: Any, args: list[Any]) -> None:
        """Read what a call of a method reads of its object, after its arguments."""
        if row.owner is Reads.KEY and args:
            self.by_key(owner, args[0])
        else:
            self.read(row.owner, owner)

    def read(self, reads: Reads, value: Any) -> Any:
        """Read of a value what native code reads; returns what it is to be given."""
        if reads is Reads.NOTHING:
            return value
        if reads is Reads.LENGTH:
            self.sources.length(value)
            return value
        if reads is Reads.ITEMS or (reads is Reads.PAIRS and issubclass(type(value), dict)):
            if is_container(value):
                self.sources.contents(value)
                return value
            if issubclass(type(value), RunNumber):
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
