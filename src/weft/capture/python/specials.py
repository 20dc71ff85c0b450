"""The special methods of the program's classes, which Python and code in C ask for without saying so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from weft.capture.python.classes import is_changeable
from weft.capture.python.packages import is_standard, module_of

#: special names of a class that nothing asks for to compute with its instances
_FACTS: Final = frozenset(
    {
        "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__",
        "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__",
        "__parameters__", "__orig_bases__", "__abstractmethods__", "__slotnames__", "__dataclass_params__",
        "__dataclass_fields__",
    }
)  # fmt: skip


def special_names(namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """The special methods that a class itself defines, in order.

    Args:
        namespace: the attributes of the class.

    Example:
        >>> class Box:
        ...     def __len__(self): return 1
        ...     def close(self): pass
        >>> special_names(vars(Box))
        ('__len__',)
    """
    return tuple(sorted(name for name in namespace if name[:2] == "__" and name[-2:] == "__" and name not in _FACTS))


def classes_asked(kind: type) -> list[type]:
    """The classes whose special methods Python may ask for an instance: those of the program, metaclasses included."""
    metaclass: type = type(kind)
    return [cls for cls in kind.__mro__ + metaclass.__mro__ if is_changeable(cls) and not is_standard(module_of(cls))]
