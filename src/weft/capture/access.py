"""Reading and writing objects as Python does, entering the user's own special methods like any user code."""

from __future__ import annotations

import functools
import operator
import types
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft.capture.frame import Frame
from weft.capture.iterators import (
    BufferedIterator,
    SequenceIterator,
    SymbolicRange,
    SymbolicRangeIterator,
)
from weft.capture.journal import Journaled
from weft.capture.lazytext import LazyText
from weft.core.number import as_number
from weft.core.tensor import Parameter, Tensor
from weft.errors import Refusal, Unsupported
from weft.ops.select import where

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

_PLAIN: Final = frozenset(
    {
        int,
        float,
        bool,
        str,
        complex,
        bytes,
        tuple,
        list,
        dict,
        set,
        frozenset,
        type(None),
        range,
        slice,
        Tensor,
        Parameter,
    }
)
#: operator functions in the order of CPython's BINARY_OP argument, with their special methods
_BINARY: Final = tuple(
    (getattr(operator, function), f"__{name}__", f"__r{name}__")
    for function, name in (
        ("add", "add"), ("and_", "and"), ("floordiv", "floordiv"), ("lshift", "lshift"), ("matmul", "matmul"),
        ("mul", "mul"), ("mod", "mod"), ("or_", "or"), ("pow", "pow"), ("rshift", "rshift"), ("sub", "sub"),
        ("truediv", "truediv"), ("xor", "xor"),
    )
)  # fmt: skip
_INPLACE: Final = tuple((getattr(operator, "i" + method.strip("_")), "__i" + method[2:]) for _, method, _ in _BINARY)
_COMPARE: Final = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
_UNARY: Final = {
    "UNARY_NEGATIVE": (operator.neg, "__neg__"),
    "UNARY_POSITIVE": (operator.pos, "__pos__"),
    "UNARY_INVERT": (operator.invert, "__invert__"),
}
MISSING: Final = object()


def class_attribute(kind: type, name: str) -> Any:
    """What a class defines under a name, without binding; `MISSING` if nothing."""
    for cls in kind.__mro__:
        found = cls.__dict__.get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def logical_not(condition: Tensor) -> Tensor:
    """The negation of a symbolic truth."""
    return as_number(condition == False, bool)  # noqa: E712 - an elementwise comparison


def leaf_kind(value: Any) -> Any:
    """What two values must have in common for the graph to choose between them; None for what it cannot hold."""
    if isinstance(value, Tensor):
        return value.type.weak or value.type
    return value.__class__ if value.__class__ in (bool, int, float) else None


def is_number(value: Any) -> bool:
    """Whether a value is a Python number, known or only to the running graph."""
    if isinstance(value, Tensor):
        return value.is_symbolic and value.type.weak is not None
    return value.__class__ in (bool, int, float)


class Access:
    """The part of the interpreter that reads and writes objects."""

    def user_method(self: Interpreter, obj: Any, name: str) -> types.FunctionType | None:
        """The special method of an object if it is Python code that must be entered."""
        kind = type(obj)
        if kind in _PLAIN:
            return None
        found = class_attribute(kind, name)
        return found if isinstance(found, types.FunctionType) and not self.is_native(found, obj) else None

    # -- operators ---------------------------------------------------------------------------------------------------

    def binary(self: Interpreter, number: int, left: Any, right: Any) -> Any:
        """`left <op> right`, or the in-place form for numbers from 13."""
        inplace = number >= len(_BINARY)
        function, method, reflected = _BINARY[number % len(_BINARY)]
        if type(left) in _PLAIN and type(right) in _PLAIN:
            numbers = method == "__truediv__" and is_number(left) and is_number(right)
            if numbers and (isinstance(left, Tensor) or isinstance(right, Tensor)):
                left, right = as_number(left, float), as_number(right, float)
            if inplace:
                if not isinstance(left, (int, float, str, tuple, Tensor)) or isinstance(left, Parameter):
                    self.touch_if_mutable(left)
                result = _INPLACE[number % len(_BINARY)][0](left, right)
                return result if result is left else self.made_if_container(result)
            return self.made_if_container(function(left, right))
        if isinstance(left, (str, LazyText)) and isinstance(right, (str, LazyText)) and method == "__add__":
            return LazyText.join((left, right))
        if inplace:
            inplace_function, inplace_name = _INPLACE[number % len(_BINARY)]
            own = self.user_method(left, inplace_name)
            if own is not None:
                result = self.call(own, [left, right], {})
                if result is not NotImplemented:
                    return result
            elif class_attribute(type(left), inplace_name) is not MISSING:
                self.touch_if_mutable(left)
                return inplace_function(left, right)
        own, other = self.user_method(left, method), self.user_method(right, reflected)
        if own is None and other is None:
            return function(left, right)
        right_first = type(right) is not type(left) and issubclass(type(right), type(left)) and other is not None
        order = [(own, left, right, method), (other, right, left, reflected)]
        for user, first, second, name in reversed(order) if right_first else order:
            if name == reflected and type(first) is type(second):
                continue
            native = getattr(type(first), name, None)
            if user is None and native is None:
                continue
            result = self.call(user, [first, second], {}) if user else native(first, second)
            if result is not NotImplemented:
                return result
        symbol = method.strip("_")
        raise TypeError(
            f"unsupported operand type(s) for {symbol}: '{type(left).__name__}' and '{type(right).__name__}'"
        )

    def unary(self: Interpreter, name: str, value: Any) -> Any:
        """`-value`, `+value` or `~value`."""
        function: Any
        function, method = _UNARY[name]
        own = self.user_method(value, method)
        return function(value) if own is None else self.call(own, [value], {})

    def compare(self: Interpreter, symbol: str, left: Any, right: Any) -> Any:
        """`left <symbol> right`."""
        function, method, reflected = _COMPARE[symbol]
        if type(left) in _PLAIN and type(right) in _PLAIN:
            return function(left, right)
        own, other = self.user_method(left, method), self.user_method(right, reflected)
        if own is not None:
            result = self.call(own, [left, right], {})
            if result is not NotImplemented:
                return result
        if other is not None:
            result = self.call(other, [right, left], {})
            if result is not NotImplemented:
                return result
        if symbol == "!=" and own is None:
            equal = self.user_method(left, "__eq__")
            if equal is not None:
                result = self.call(equal, [left, right], {})
                if result is not NotImplemented:
                    truth = self.truth(result)
                    return (not truth) if truth.__class__ is bool else logical_not(truth)
        if own is None and other is None:
            return function(left, right)
        if symbol in ("==", "!="):
            return (left is right) == (symbol == "==")
        raise TypeError(
            f"'{symbol}' not supported between instances of '{type(left).__name__}' and '{type(right).__name__}'"
        )

    def contains(self: Interpreter, container: Any, item: Any) -> Any:
        """`item in container`."""
        own = self.user_method(container, "__contains__")
        if own is not None:
            return self.truth(self.call(own, [container, item], {}))
        if type(container) in (list, tuple) and any(
            isinstance(v, Tensor) and self.is_runtime(v) for v in (item, *container)
        ):
            found: Any = False
            for other in container:
                equal = item is other or self.truth(self.compare("==", other, item))
                if equal is True:
                    return True
                if equal is not False:
                    found = equal if found is False else as_number(found | equal, bool)
            return found
        if type(container) in _PLAIN or class_attribute(type(container), "__contains__") is not MISSING:
            return operator.contains(container, item)
        return any(item is other or self.truth(self.compare("==", other, item)) for other in self.get_iter(container))

    def truth(self: Interpreter, value: Any) -> Any:
        """The truth of a value: a bool, or a symbolic bool for a tensor that only the running graph knows."""
        if isinstance(value, Tensor):
            if not value.is_symbolic and id(value) in self.trace.created:
                return bool(value)
            if value.size != 1:
                raise ValueError(
                    f"the truth value of a tensor with {value.size} elements is ambiguous; use .any() or .all()"
                )
            return as_number(value, bool)
        own = self.user_method(value, "__bool__")
        if own is not None:
            result = self.call(own, [value], {})
            if isinstance(result, Tensor):
                return self.truth(result)
            if not isinstance(result, bool):
                raise TypeError(f"__bool__ should return bool, returned {type(result).__name__}")
            return result
        own = self.user_method(value, "__len__")
        if own is not None and class_attribute(type(value), "__bool__") is MISSING:
            return bool(self.call(own, [value], {}))
        return bool(value)

    # -- items -------------------------------------------------------------------------------------------------------

    def get_item(self: Interpreter, obj: Any, key: Any) -> Any:
        """`obj[key]`."""
        own = self.user_method(obj, "__getitem__")
        if own is not None:
            return self.call(own, [obj, key], {})
        if isinstance(key, Tensor) and isinstance(obj, (list, tuple)) and self.is_runtime(key):
            return self.pick(obj, key)
        if isinstance(obj, defaultdict) and key not in obj:
            self.journal.touch(obj)
            return self.made(obj[key])
        if isinstance(obj, type):
            found = class_attribute(type(obj), "__getitem__")
            if found is MISSING:
                item = class_attribute(obj, "__class_getitem__")
                if isinstance(item, classmethod) and isinstance(item.__func__, types.FunctionType):
                    return self.call(item.__func__, [obj, key], {})
        value = obj[key]
        if key.__class__ is slice:
            return self.made_if_container(value)
        return self.sources.item(obj, key, value)

    def pick(self: Interpreter, items: Any, index: Tensor) -> Any:
        """The item of a sequence at a position that only the running graph knows: all items must be alike."""
        position = as_number(index, int)
        kinds = {leaf_kind(item) for item in items}
        if len(kinds) != 1 or None in kinds:
            raise Unsupported(
                Refusal.TENSOR_VALUE,
                f"which item of this {type(items).__name__} is meant depends on a tensor, and the items are not alike",
                "index a stacked tensor, or choose with if/elif on the index",
            )
        chosen = items[-1]
        for number in range(len(items) - 2, -1, -1):
            here = (position == number) | (position == number - len(items))
            chosen = where(here, items[number], chosen)
        (kind,) = kinds
        return as_number(chosen, kind) if isinstance(kind, type) else chosen

    def set_item(self: Interpreter, obj: Any, key: Any, value: Any) -> None:
        """`obj[key] = value`."""
        own = self.user_method(obj, "__setitem__")
        if own is not None:
            self.call(own, [obj, key, value], {})
            return
        if not isinstance(obj, Tensor):  # a tensor notes its own writes
            self._read_old_item(obj, key, value)
            self.touch_if_mutable(obj)
            if isinstance(obj, np.ndarray):
                raise Unsupported(
                    Refusal.UNKNOWN_CALL,
                    "a NumPy array is written inside a graph",
                    "use a Tensor for values of the graph",
                )
        obj[key] = value

    def _read_old_item(self: Interpreter, obj: Any, key: Any, value: Any) -> None:
        if isinstance(obj, (list, dict)) and isinstance(key, (int, str)) and self.sources.is_known(obj):
            try:
                old = (list if isinstance(obj, list) else dict).__getitem__(obj, key)  # type: ignore[index]
            except (KeyError, IndexError):
                return
            if self.depends_on_old(old, value):
                self.sources.item(obj, key, old)

    def delete_item(self: Interpreter, obj: Any, key: Any) -> None:
        """`del obj[key]`."""
        own = self.user_method(obj, "__delitem__")
        if own is not None:
            self.call(own, [obj, key], {})
            return
        self.touch_if_mutable(obj)
        del obj[key]

    def touch_if_mutable(self: Interpreter, obj: Any) -> None:
        """Note an object in the journal before native code writes to it."""
        if not isinstance(obj, (int, float, str, bytes, tuple, frozenset, Tensor)):
            self.journal.touch(obj)

    # -- attributes --------------------------------------------------------------------------------------------------

    def get_attr(self: Interpreter, obj: Any, name: str) -> Any:
        """`obj.name`."""
        kind = type(obj)
        if kind in _PLAIN:
            return getattr(obj, name)
        if kind is types.ModuleType:
            return self.sources.attribute(obj, name, getattr(obj, name))
        if kind is super:
            return self._super_attr(obj, name)
        custom = class_attribute(kind, "__getattribute__")
        if isinstance(custom, types.FunctionType) and not self.is_native(custom, obj):
            return self.call(custom, [obj, name], {})
        found = class_attribute(kind, name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            if not self.is_native(found.fget, obj):
                return self.call(found.fget, [obj], {})
        elif isinstance(found, functools.cached_property):
            cached = obj.__dict__.get(name, MISSING)
            if cached is MISSING:
                self.sources.absent(obj, name, f"{name!r} not in {{}}.__dict__")
                cached = self.call(found.func, [obj], {})
                self.journal.touch(obj)
                obj.__dict__[name] = cached
                return cached
            return self.sources.attribute(obj, name, cached)
        elif found is not MISSING and not isinstance(found, (types.FunctionType, property)):
            getter = class_attribute(type(found), "__get__")
            if isinstance(getter, types.FunctionType) and not self.is_native(getter, found):
                return self.call(getter, [found, obj, kind], {})
        fallback = class_attribute(kind, "__getattr__")
        if isinstance(fallback, types.FunctionType) and not self.is_native(fallback, obj):
            try:
                value = object.__getattribute__(obj, name)
            except AttributeError:
                self.sources.absent(obj, name, self._lacks(name))
                return self.call(fallback, [obj, name], {})
        else:
            try:
                value = getattr(obj, name)
            except AttributeError:
                self.sources.absent(obj, name, f"not hasattr({{}}, {name!r})")
                raise
        if name == "__dict__" and id(obj) in self.created:
            return self.made(value)
        return self.sources.attribute(obj, name, value)

    def _super_attr(self: Interpreter, obj: Any, name: str) -> Any:
        owner = obj.__self__
        mro = (owner if isinstance(owner, type) and issubclass(owner, obj.__thisclass__) else type(owner)).__mro__
        for cls in mro[mro.index(obj.__thisclass__) + 1 :]:
            found = cls.__dict__.get(name, MISSING)
            if isinstance(found, property) and found.fget is not None:
                return self.call(found.fget, [owner], {})
            if found is not MISSING:
                break
        return getattr(obj, name)

    def set_attr(self: Interpreter, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value`."""
        kind = type(obj)
        custom = class_attribute(kind, "__setattr__")
        if isinstance(custom, types.FunctionType) and not self.is_native(custom, obj):
            self.call(custom, [obj, name, value], {})
            return
        self.set_attr_plainly(obj, name, value)

    def set_attr_plainly(self: Interpreter, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value` where the class has no `__setattr__` of its own to enter."""
        found = class_attribute(type(obj), name)
        if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
            if not self.is_native(found.fset, obj):
                self.call(found.fset, [obj, value], {})
                return
        elif found is not MISSING:
            setter = class_attribute(type(found), "__set__")
            if isinstance(setter, types.FunctionType) and not self.is_native(setter, found):
                self.call(setter, [found, obj, value], {})
                return
        namespace = getattr(obj, "__dict__", {})
        slot = isinstance(found, types.MemberDescriptorType)
        old = getattr(obj, name, MISSING) if slot else namespace.get(name, found)
        if self.depends_on_old(old, value):
            if old is MISSING:
                self.sources.absent(obj, name, self._lacks(name))
            else:
                self.sources.attribute(obj, name, old)
        self.journal.touch(obj)
        setattr(obj, name, value)

    def delete_attr(self: Interpreter, obj: Any, name: str) -> None:
        """`del obj.name`."""
        namespace = getattr(obj, "__dict__", {})
        if name in namespace:
            self.sources.attribute(obj, name, namespace[name])
        self.journal.touch(obj)
        delattr(obj, name)

    def _lacks(self: Interpreter, name: str) -> str:
        return f"{self.sources.name(lacks, 'object')}({{}}, {name!r})"

    def depends_on_old(self: Interpreter, old: Any, value: Any) -> bool:
        """Whether a place's contents after a write depend on those before: a write of the same object would not be
        seen among the changes, and one on the side of a branch leaves the old contents on the other side.
        """
        return old is value or len(self.journal.layers) > 1

    # -- names -------------------------------------------------------------------------------------------------------

    def read_global(self: Interpreter, frame: Frame, name: str) -> Any:
        """A global or builtin name."""
        value = frame.globals.get(name, MISSING)
        if value is MISSING:
            value = frame.builtins.get(name, MISSING)
            if value is MISSING:
                raise NameError(f"name '{name}' is not defined")
            return value
        if frame.transparent:
            return value
        return self.sources.global_(frame.globals, name, value)

    def read_cell(self: Interpreter, cell: types.CellType, value: Any) -> Any:
        """The contents of a closure cell."""
        return self.sources.cell(cell, value)

    # -- iteration ---------------------------------------------------------------------------------------------------

    def get_iter(self: Interpreter, obj: Any) -> Any:
        """`iter(obj)`, as an iterator that the journal can take back."""
        journal = self.journal
        if isinstance(obj, Journaled) and hasattr(obj, "__next__"):
            return obj
        if isinstance(obj, SymbolicRange):
            return SymbolicRangeIterator(journal, obj)
        kind = type(obj)
        if kind in (list, tuple, range, str):
            return SequenceIterator(journal, obj)
        if isinstance(obj, Tensor):
            if not obj.shape:
                raise TypeError("iteration over a 0-d tensor")
            return SequenceIterator(journal, obj, obj.shape[0])
        own = self.user_method(obj, "__iter__")
        views: tuple[type, ...] = (dict, set, frozenset, type({}.keys()), type({}.values()), type({}.items()))
        if own is None and isinstance(obj, views):
            items: Any = obj
            return SequenceIterator(journal, list(items))
        if own is not None:
            made = self.call(own, [obj], {})
            if isinstance(made, Journaled):
                return made
            if self.user_method(made, "__next__") is not None:
                return _UserIterator(self, made)
            return self.get_iter(made)
        if self.user_method(obj, "__next__") is not None:
            return _UserIterator(self, obj)
        if self.user_method(obj, "__getitem__") is not None and class_attribute(kind, "__iter__") is MISSING:
            return _IndexIterator(self, obj)
        made = iter(obj)
        if isinstance(obj, list):
            return SequenceIterator(journal, obj)
        return BufferedIterator(journal, made)

    def iterate(self: Interpreter, obj: Any) -> Any:
        """Something native code can iterate in place of `obj`."""
        if type(obj) in (list, tuple, range, str, dict, set, frozenset) or isinstance(obj, Journaled):
            return obj
        return self.get_iter(obj)

    def advance(self: Interpreter, iterator: SymbolicRangeIterator) -> Any:
        """The next item of a symbolic range."""
        return iterator.advance()

    def format(self: Interpreter, value: Any, spec: Any) -> Any:
        """`format(value, spec)`; a symbolic tensor gives text that is completed when the graph runs."""
        if isinstance(value, Tensor) and self.is_runtime(value):
            return LazyText.of(value, spec)
        if isinstance(value, LazyText):
            return value
        own = self.user_method(value, "__format__")
        if own is not None:
            return self.call(own, [value, spec], {})
        if not spec:
            own = self.user_method(value, "__str__")
            if own is not None:
                return self.call(own, [value], {})
        return format(value, spec)


def lacks(obj: Any, name: str) -> bool:
    """Whether an object and its class hold no such attribute, whatever `__getattr__` says."""
    try:
        object.__getattribute__(obj, name)
    except AttributeError:
        return True
    return False


class _UserIterator(Journaled):
    """An object with a Python `__next__`, entered by the interpreter."""

    __slots__ = ("interp", "obj")

    def __init__(self, interp: Any, obj: Any) -> None:
        self.interp, self.obj = interp, obj

    def __iter__(self) -> _UserIterator:
        return self

    def __next__(self) -> Any:
        return self.interp.call(class_attribute(type(self.obj), "__next__"), [self.obj], {})

    def journal_contents(self) -> Any:
        return None

    def journal_restore(self, contents: Any) -> None:
        """The object itself is journaled when it is written."""


class _IndexIterator(Journaled):
    """An object with only a Python `__getitem__`, iterated by index."""

    __slots__ = ("interp", "obj", "position")

    def __init__(self, interp: Any, obj: Any) -> None:
        self.interp, self.obj, self.position = interp, obj, 0

    def __iter__(self) -> _IndexIterator:
        return self

    def __next__(self) -> Any:
        self.interp.journal.touch(self)
        self.position += 1
        try:
            return self.interp.get_item(self.obj, self.position - 1)
        except IndexError:
            raise StopIteration from None

    def journal_contents(self) -> Any:
        return self.position

    def journal_restore(self, contents: Any) -> None:
        self.position = contents


def unpack(interp: Interpreter, value: Any, count: int) -> list[Any]:
    """Exactly `count` items of an iterable."""
    if type(value) in (tuple, list):
        items = list(value)
    else:
        iterable = isinstance(value, (Tensor, Journaled)) or hasattr(value, "__iter__") or hasattr(value, "__getitem__")
        if not iterable:
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")
        items = []
        for item in interp.get_iter(value):
            items.append(item)
            if len(items) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    return [interp.sources.item(value, i, item) for i, item in enumerate(items)] if type(value) is list else items


def unpack_starred(interp: Interpreter, value: Any, before: int, after: int) -> list[Any]:
    """`before` items, a list of the middle ones, `after` items."""
    items = list(interp.get_iter(value))
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    return [*items[:before], interp.made(items[before:end]), *items[end:]]
