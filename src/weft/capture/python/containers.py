"""Python's containers, past the methods that a class of the program's own derives from them."""

from __future__ import annotations

import datetime
import decimal
import functools
import gc
import operator
import re
import struct
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import jax
import numpy as np

from weft.capture.python.packages import TRUSTED_PACKAGES, is_heap_type, module_of
from weft.errors import Refusal, Unsupported

#: the classes of containers
CONTAINERS: Final = (list, tuple, dict, set, frozenset, deque, bytearray)
#: classes whose own methods are known, most derived first
_NATIVE: Final = (OrderedDict, *CONTAINERS)
#: the classes of what `keys`, `values` and `items` of dictionaries give
VIEWS: Final[tuple[type, ...]] = tuple(
    type(view(kind())) for kind in (dict, OrderedDict) for view in (kind.keys, kind.values, kind.items)
)
#: how programs spell the special methods; what iterates takes the container itself
_SYNTAX: Final = {
    "__len__": "len({})",
    "__iter__": "{}",
    "__contains__": "{1} in {0}",
    "__getitem__": "{}[{}]",
    "__setitem__": "{}[{}] = {}",
    "__eq__": "{} == {}",
}


def is_container(obj: Any) -> bool:
    """Whether an object is a container of Python's own, or of a class derived from one."""
    return issubclass(type(obj), CONTAINERS)


def mapping_of(view: Any) -> Any:
    """The dictionary that a view shows."""
    return gc.get_referents(view)[0]


def shown_by(obj: Any) -> Any:
    """The dictionary that a view shows, anything else itself."""
    return mapping_of(obj) if type(obj) in VIEWS else obj


def native_class(kind: type) -> Any:
    """The class of Python's own that a class of containers is, or is derived from."""
    for base in _NATIVE:
        if issubclass(kind, base):
            return base
    raise TypeError(f"{kind.__name__} is no container")


def room_of(items: deque[Any]) -> int | None:
    """How many items a deque can hold, whatever its class has in the place of `maxlen`; None for any number.

    Example:
        >>> room_of(deque([1], maxlen=3))
        3
    """
    found: int | None = deque.maxlen.__get__(items)
    return found


def factory_of(items: defaultdict[Any, Any]) -> Any:
    """What a defaultdict calls for a missing key, whatever its class has in the place of `default_factory`.

    Example:
        >>> factory_of(defaultdict(list))
        <class 'list'>
    """
    return defaultdict.__dict__["default_factory"].__get__(items)


def length(container: Any) -> int:
    """How many items a container has."""
    count: int = native_class(type(container)).__len__(container)
    return count


def members(container: Any) -> Iterator[Any]:
    """What a container holds: the values of a dictionary, the items of any other, in order."""
    if issubclass(type(container), dict):
        return iter(dict.values(container))
    items: Iterator[Any] = native_class(type(container)).__iter__(container)
    return items


def items_of(dictionary: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """The items of a dictionary in the order that it keeps itself; no key is looked up.

    Raises:
        Unsupported: an `OrderedDict` does not know its items any more.
    """
    plain = list(dict.items(dictionary))
    if not issubclass(type(dictionary), OrderedDict):
        return plain
    places = {id(item[0]): item for item in plain}
    try:
        keys = list(OrderedDict.__iter__(dictionary))
    except KeyError:
        keys = []
    if len(keys) != len(plain) or any(id(key) not in places for key in keys):
        raise Unsupported(
            Refusal.UNSUPPORTED_SYNTAX,
            "an OrderedDict does not have the items that its order has",
            "change it by its own methods, and keep the hashes of its keys",
        )
    return [places[id(key)] for key in keys]


def values_of(dictionary: dict[Any, Any]) -> list[Any]:
    """The values of a dictionary in the order that it keeps itself; no key is looked up.

    Raises:
        KeyError: an `OrderedDict` does not know its items any more.
    """
    if not issubclass(type(dictionary), OrderedDict):
        return list(dict.values(dictionary))
    values = {id(key): value for key, value in dict.items(dictionary)}
    return [values[id(key)] for key in OrderedDict.__iter__(dictionary)]


def with_items(container: Any, items: Mapping[Any, Any]) -> Any:
    """A container of Python's own with the contents of another one, but for some of the items.

    Args:
        container: a list, tuple, deque or dictionary, or an instance of a class derived from one.
        items: by index, or by keys of the dictionary, which are hashed by Python itself.

    Example:
        >>> with_items((1, 2, 3), {1: "two"})
        (1, 'two', 3)
    """
    kind = type(container)
    if issubclass(kind, dict):
        made: Any = OrderedDict() if issubclass(kind, OrderedDict) else {}
        if issubclass(kind, defaultdict):
            made = defaultdict(container.default_factory)
        for key, item in items_of(container):
            made[key] = items.get(key, item)
        return made
    listed = [items.get(index, item) for index, item in enumerate(members(container))]
    return deque(listed, room_of(container)) if issubclass(kind, deque) else native_class(kind)(listed)


def spelled(kind: type, method: str, name: Callable[[Any, str], str], container: str, *args: str) -> str:
    """How generated code calls a method of a container.

    Args:
        kind: the class of the container.
        method: the method, which Python's own class has.
        name: gives an object a name in the scope of the code.
        container: the expression for the container.
        args: the expressions for the arguments.
    """
    native = native_class(kind)
    if kind is not native:
        return f"{name(native, 'class')}.{method}({', '.join((container, *args))})"
    if method in _SYNTAX:
        return _SYNTAX[method].format(container, *args)
    return f"{container}.{method}({', '.join(args)})"


def has_unknown_state(obj: Any) -> bool:
    """Whether an object keeps something in C of which nobody here knows how it may change."""
    return any(_keeps_unknown_state(cls) for cls in type(obj).__mro__[:-1])


#: answers of `_keeps_unknown_state`, as long as the classes live
_unknown_states: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def _keeps_unknown_state(cls: type) -> bool:
    known = _unknown_states.get(cls)
    if known is None:
        known = _unknown_states[cls] = _found_unknown_state(cls)
    return known


def _found_unknown_state(cls: type) -> bool:
    if issubclass(cls, _KNOWN_STATE) or module_of(cls).partition(".")[0] in TRUSTED_PACKAGES - {"numpy"}:
        return False
    return not is_heap_type(cls) or any(isinstance(member, _IN_C) for member in cls.__dict__.values())


_IN_C: Final = (types.WrapperDescriptorType, types.MethodDescriptorType)
#: classes in C whose instances never change, or are guarded otherwise
_KNOWN_STATE: Final = (
    *CONTAINERS, str, bytes, int, float, complex, range, slice, type, types.GenericAlias, types.UnionType, np.ndarray,
    np.generic, np.dtype, np.ufunc, jax.Array, BaseException, types.SimpleNamespace, types.CodeType, types.FunctionType,
    types.MethodType, types.ModuleType, types.CellType, type(Ellipsis), type(NotImplemented), type(None),
    property, staticmethod, classmethod, functools.partial, operator.itemgetter, operator.attrgetter,
    operator.methodcaller, re.Pattern, re.Match, struct.Struct, decimal.Decimal, datetime.date, datetime.time,
    datetime.timedelta, datetime.tzinfo, weakref.ref,
)  # fmt: skip
