"""The names of the module that a rewritten network is defined in."""

from __future__ import annotations

import ast
import types
from typing import Any

from weft.rewrite.sources import Source

#: attribute of syntax nodes that name a function which the module defines itself
DEFINED = "weft_defined"


class Names:
    """What the names of a generated module are bound to: variables of the modules that its functions come from."""

    def __init__(self) -> None:
        self._homes: dict[str, tuple[dict[str, Any], str]] = {}
        #: names of functions and classes that the module defines
        self.defined: set[str] = set()

    def bind(self, name: str, home: dict[str, Any], avoid: set[str] | frozenset[str] = frozenset()) -> str:
        """Bind a name as a dict has it.

        Args:
            name: the name.
            home: a dict that has it, such as the variables of a module.
            avoid: names that cannot be taken.

        Returns:
            str: the name, or another one where it is bound to something else already.
        """
        found, count = name, 0
        while found in self.defined or found in avoid or not self._may_be(found, home[name]):
            count += 1
            found = f"{name}_{count}"
        self._homes.setdefault(found, (home, name))
        return found

    def define(self, name: str) -> str:
        """A name for what the module defines itself: the given one, or with a number."""
        found, count = name, 0
        while found in self._homes or found in self.defined:
            count += 1
            found = f"{name}_{count}"
        self.defined.add(found)
        return found

    def bind_all(self, source: Source) -> None:
        """Bind what a function reads, and rename in it what is bound to something else already."""
        uses: dict[str, list[ast.Name]] = {}
        for node in ast.walk(source.definition):
            if isinstance(node, ast.Name) and not hasattr(node, DEFINED):
                uses.setdefault(node.id, []).append(node)
        outside = [*source.outside, source.owner.__name__] if source.owner is not None else source.outside
        for name in dict.fromkeys(outside):
            home = source.home_of(name)
            if home is not None and name in uses and name not in source.locals:
                bound = self.bind(name, home, avoid=source.taken - {name})
                for use in uses[name]:
                    use.id = bound

    def values(self) -> dict[str, Any]:
        """What each name is bound to now."""
        return {name: home[key] for name, (home, key) in self._homes.items() if key in home}

    def lines(self, used: set[str]) -> list[str]:
        """Import statements that say where each name comes from that is used."""
        homes = [(name, *self._homes[name]) for name in used if name in self._homes]
        return sorted(_origin(name, home, key) for name, home, key in homes if key in home)

    def _may_be(self, name: str, value: Any) -> bool:
        if name not in self._homes:
            return True
        home, key = self._homes[name]
        return home.get(key) is value


def _origin(name: str, home: dict[str, Any], key: str) -> str:
    value = home[key]
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
    module = home.get("__name__") or getattr(value, "__module__", None)
    if module is None or "<locals>" in getattr(value, "__qualname__", ""):
        return f"# {name}: {type(value).__name__}"
    return f"from {module} import {key}" + (f" as {name}" if name != key else "")
