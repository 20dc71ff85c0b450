"""What is imported when it is first used, to import weft sooner: the only place where that is done.

Two kinds of modules wait: single ones that few programs need (`deferred`), and those of a package, which its
`__getattr__` (PEP 562) imports when a name of theirs is read (`lazily`). Type checkers see ordinary imports, under
``if TYPE_CHECKING``.

Code that is captured must find each name in its place: capture calls `bring` before it looks for a name of a module.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
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


def lazily(
    package: str, names: Mapping[str, str], find: Callable[[Any, str], Any] = getattr
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package some of whose names are imported when they are first read.

    Args:
        package: dotted name of the package.
        names: dotted name of a module -> the names taken from it, separated by spaces. The package itself stands for
            modules in it.
        find: ``find(module, name)`` takes a name from its module.

    Returns:
        tuple: the two functions.
    """
    own = _WAITING[package] = {name: module for module, listed in names.items() for name in listed.split()}
    made: dict[str, Any] = {}

    def __getattr__(name: str) -> Any:
        where = own.get(name)
        if where is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if where == package:
            found: Any = importlib.import_module(f"{package}.{name}")
        else:
            found = find(importlib.import_module(where), name)
        found = made.setdefault(name, found)  # the first of two threads
        setattr(sys.modules[package], name, found)
        return found

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *own})

    return __getattr__, __dir__


def by_module(table: str) -> dict[str, str]:
    """Names by the modules that have them, as `lazily` takes them.

    Args:
        table: a row for each module, its dotted name and those in it; a row goes on in lines that are indented.

    Example:
        >>> by_module("weft.nn.loss: L1Loss MSELoss")
        {'weft.nn.loss': 'L1Loss MSELoss'}
    """
    rows = [row.partition(": ") for row in table.strip().replace("\n    ", " ").split("\n")]
    return {module: names for module, _, names in rows}


class Names(Mapping[str, Any]):
    """The names of a module as a dict has them, with those that it waits for.

    Args:
        module: the module.

    Example:
        >>> import weft
        >>> Names(weft.ops)["add"].__name__
        'add'
    """

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self._module))

    def __len__(self) -> int:
        return len(dir(self._module))


def bring(module: types.ModuleType, name: str) -> None:
    """Import what a package waits for under a name, so that it is in its place as any other.

    Args:
        module: any module; one that waits for nothing, or not for this name, stays as it is.
        name: the name of an attribute.
    """
    package = vars(module).get("__name__")  # which may be anything in a module of the program's
    if type(package) is str and name in _WAITING.get(package, ()):
        getattr(module, name)


def bring_all() -> None:
    """Import all that packages wait for; for who walks through all that there is."""
    brought: set[str] = set()
    while waiting := [package for package in _WAITING if package not in brought]:  # what is imported may wait for more
        brought.update(waiting)
        for package in waiting:
            for name in _WAITING[package]:
                getattr(sys.modules[package], name)
