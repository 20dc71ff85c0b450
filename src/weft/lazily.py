"""What is imported when it is first used, to import weft sooner: the only place where that is done.

Two kinds of modules wait: single ones that few programs need (`deferred`), and those of a package, which its
`__getattr__` (PEP 562) imports when a name of theirs is read (`lazily`). Type checkers see ordinary imports, under
``if TYPE_CHECKING``.

Code that is captured must find each name in its place. So when the first function is compiled, `settle` imports what
packages still wait for.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

#: packages whose names are not all there: where each name is to be found
_WAITING: Final[dict[str, dict[str, str]]] = {}


class _Deferred(types.ModuleType):
    """Stands for a module until an attribute of it is read."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)
        return found


def deferred(name: str) -> Any:
    """A module that is imported when an attribute of it is first read.

    Args:
        name: dotted name of the module.

    Returns:
        What stands for the module.

    Example:
        >>> deferred("fractions").Fraction(1, 2)
        Fraction(1, 2)
    """
    return sys.modules.get(name) or _Deferred(name)


def lazily(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package some of whose names are imported when they are first read.

    Args:
        package: dotted name of the package.
        names: dotted name of a module -> the names taken from it, separated by spaces. The package itself stands for
            modules in it.

    Returns:
        tuple: the two functions.
    """
    own = _WAITING[package] = {name: module for module, listed in names.items() for name in listed.split()}

    def __getattr__(name: str) -> Any:
        where = own.get(name)
        if where is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if where == package:
            found: Any = importlib.import_module(f"{package}.{name}")
        else:
            found = getattr(importlib.import_module(where), name)
        setattr(sys.modules[package], name, found)
        return found

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *own})

    return __getattr__, __dir__


def settle() -> None:
    """Import what packages wait for, so that each name is in its place and the packages are like any others."""
    for package, names in list(_WAITING.items()):
        module = sys.modules[package]
        for name in names:
            getattr(module, name)
        _WAITING.pop(package, None)
