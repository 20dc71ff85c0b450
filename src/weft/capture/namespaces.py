"""The dictionaries that hold attributes, past whatever the program's own classes do when they are asked for one."""

from __future__ import annotations

import types
from typing import Any, Final

_CLASS_DICT: Final[Any] = type.__dict__["__dict__"]


def namespace_of(obj: Any) -> dict[str, Any] | None:
    """The dictionary that holds an object's attributes, None for a class and for what has no such dictionary.

    Args:
        obj: the object; none of its own code runs.
    """
    kind = type(obj)
    if not kind.__dictoffset__ or issubclass(kind, type):
        return None
    for cls in kind.__mro__:
        member = cls.__dict__.get("__dict__")
        if type(member) is types.GetSetDescriptorType or type(member) is types.MemberDescriptorType:
            found = member.__get__(obj)
            return found if isinstance(found, dict) else None
    return None


def class_namespace(kind: type) -> types.MappingProxyType[str, Any]:
    """The attributes of a class, past its metaclass."""
    found: types.MappingProxyType[str, Any] = _CLASS_DICT.__get__(kind)
    return found
