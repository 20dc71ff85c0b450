"""The functions that programs are given under MindSpore's names where these take some element types only.

``ops.ceil`` here is `weft.ops.ceil` as `weft.ops.element_types` declares it.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from weft.ops._accepting import accepting
from weft.ops.element_types import ACCEPTED

#: how the table of element types calls modules of MindSpore
_MODULES: Final = {
    "ops": "mindspore.ops",
    "mint": "mindspore.mint",
    "F": "mindspore.mint.nn.functional",
    "linalg": "mindspore.mint.linalg",
    "mnp": "mindspore.numpy",
}
_CALLED: Final = {module: name for name, module in _MODULES.items()} | {"mindspore.ops.functional": "ops"}
#: where a function is that a module refines, by module and name
_BEHIND: Final[dict[tuple[str, str], tuple[str, str]]] = {}


class Edge:
    """The functions of one module, made when they are first asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        key = f"{self.name}.{name}"
        if key not in ACCEPTED:
            raise AttributeError(f"{key} is no function of some element types only")
        if (self.name, name) not in _BEHIND:  # in a process that unpickles the function before it asks for it by name
            importlib.import_module("weft.mindspore.finder").names_of(_MODULES[self.name])
        source, attribute = _BEHIND[self.name, name]
        function = getattr(importlib.import_module(source), attribute)
        made = accepting(function, ACCEPTED[key], key, __name__)
        made.__qualname__ = key
        self.__dict__[name] = made
        return made


ops, mint, F, linalg, mnp = map(Edge, _MODULES)


def behind(module: str, name: str, source: str, attribute: str) -> tuple[str, str]:
    """Where a name of a module of MindSpore is: here if it takes some element types only, else where it was.

    Args:
        module: the module of MindSpore.
        name: a name that it offers.
        source: the module of weft that has the object.
        attribute: what it is called there.
    """
    called = _CALLED.get(module, "")
    if f"{called}.{name}" not in ACCEPTED:
        return source, attribute
    _BEHIND[called, name] = source, attribute
    return __name__, f"{called}.{name}"
