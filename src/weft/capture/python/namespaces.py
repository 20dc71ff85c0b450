"""The dictionaries that hold attributes, past whatever the program's own classes do when they are asked for one."""

from __future__ import annotations

import importlib.util
import types
from typing import Any, Final

from weft.capture.python.packages import is_ours
from weft.core.transparency import transparent

#: attributes of classes that are read and written in C
NATIVE_MEMBERS: Final = (types.GetSetDescriptorType, types.MemberDescriptorType)
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
        member: Any = cls.__dict__.get("__dict__")
        if type(member) in NATIVE_MEMBERS:
            if cls.__name__ == "partial" and _lacks_namespace(cls, obj):
                return None  # to ask for it would make it, and a `partial` of one that has it is another object
            found = member.__get__(obj)
            return found if isinstance(found, dict) else None
    return None


def _lacks_namespace(kind: Any, obj: Any) -> bool:
    """Whether an object is a `functools.partial`, of whichever import of that module, without attributes."""
    reduce = kind.__dict__.get("__reduce__")  # gives what it is made of, the last its attributes
    in_c = type(reduce) is types.MethodDescriptorType
    return kind.__module__ == "functools" and in_c and reduce(obj)[2][3] is None


def class_namespace(kind: type) -> types.MappingProxyType[str, Any]:
    """The attributes of a class, past its metaclass."""
    found: types.MappingProxyType[str, Any] = _CLASS_DICT.__get__(kind)
    return found


def same_namespace(kind: type, items: dict[str, Any]) -> bool:
    """Whether a class holds exactly these attributes."""
    namespace = class_namespace(kind)
    return len(namespace) == len(items) and all(namespace.get(key, ...) is item for key, item in items.items())


def below_hooks(kind: type, name: str) -> Any:
    """The special method of a class that reads or writes attributes, past those of the program, which call it.

    Args:
        kind: the class.
        name: `__getattribute__`, `__setattr__` or `__delattr__`.
    """
    for cls in kind.__mro__:
        found = cls.__dict__.get(name)
        if found is not None and not is_hook(found):
            return found
    return getattr(object, name)


def is_hook(found: Any) -> bool:
    """Whether a special method is Python code that is not the framework's own."""
    return isinstance(found, types.FunctionType) and not is_ours(found)


def has_hooks(kind: type) -> bool:
    """Whether reading an attribute of an instance, or looking for one, may run code of the program's class."""
    look_up = type.__getattribute__  # in C, and past the metaclass
    found = look_up(kind, "__getattribute__")
    if found is not object.__getattribute__ and is_hook(found):
        return True
    try:
        return is_hook(look_up(kind, "__getattr__"))
    except AttributeError:
        return False


def attribute_past_hooks(obj: Any, name: str) -> Any:
    """An attribute as Python finds it where no class has `__getattribute__` or `__getattr__`.

    Raises:
        AttributeError: there is none.
    """
    return below_hooks(type(obj), "__getattribute__")(obj, name)


def lacks(obj: Any, name: str) -> bool:
    """Whether an object and its class hold no such attribute, whatever their `__getattr__` says."""
    try:
        attribute_past_hooks(obj, name)
    except AttributeError:
        return True
    return False


def absolute_name(name: str, level: int, namespace: dict[str, Any]) -> str:
    """The name that a module has in `sys.modules`.

    Args:
        name: as the import spells it.
        level: how many dots precede it.
        namespace: the globals of the importing code.
    """
    if not level:
        return name
    package = namespace.get("__package__")
    if package is None:
        package = namespace["__name__"] if "__path__" in namespace else namespace["__name__"].rpartition(".")[0]
    return importlib.util.resolve_name("." * level + name, package)


def imported_from(module: Any, name: str) -> Any:
    """What ``from module import name`` gives, with Python's own error where there is nothing.

    Args:
        module: what was imported.
        name: the name.
    """
    names: dict[str, Any] = {"__builtins__": {"__import__": lambda *_: module}}
    exec(compile(f"from _ import {name} as found", "<import>", "exec"), names)
    return names["found"]


@transparent
def set_state(obj: Any, state: Any) -> None:
    """Give an object the state that `__reduce_ex__` described, as `copy` does."""
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
        return
    namespace, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    obj.__dict__.update(namespace or {})
    for name, item in (slots or {}).items():
        setattr(obj, name, item)
