"""The functions that programs are given under MindSpore's names where these take less, or name parameters otherwise.

``ops.ceil`` here is `weft.ops.ceil` for the element types that `weft.ops.element_types` declares.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
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
#: the parameters of functions that have other names there
_PARAMETERS: Final = {
    "ops.arcsin": "x",
    "ops.diff_ext": "input n dim",
    "ops.floor_divide": "input other",
    "ops.floor_mod": "x y",
    "ops.floordiv": "input other",
    "ops.floormod": "x y",
    "ops.i0": "input",
    "ops.isnan_ext": "tensor",
    "ops.numel": "input",
    "ops.row_stack": "tensors",
    "ops.shape_": "x",
    "ops.tensor_floordiv": "input other",
    "ops.tensor_mod": "x y",
    "ops.tensor_slice": "input begin size",
    "ops.transpose": "input dims",
    "ops.true_divide": "dividend divisor",
    "ops.truncate_mod": "x y",
}
#: where a function is that a module refines, by module and name
_BEHIND: Final[dict[tuple[str, str], tuple[str, str]]] = {}


class Edge:
    """The functions of one module, made when they are first asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        key = f"{self.name}.{name}"
        if key not in ACCEPTED and key not in _PARAMETERS:
            raise AttributeError(f"{key} is as weft has it")
        if (self.name, name) not in _BEHIND:  # in a process that unpickles the function before it asks for it by name
            importlib.import_module("weft.mindspore.finder").names_of(_MODULES[self.name])
        source, attribute = _BEHIND[self.name, name]
        function = getattr(importlib.import_module(source), attribute)
        made, names, rules = function, _PARAMETERS.get(key, "").split(), ACCEPTED.get(key, ())
        if rules:
            made = accepting(made, rules, key, __name__, names.__getitem__ if names else None)
        if names:
            made = _named(made, names)
        made.__qualname__ = key
        self.__dict__[name] = made
        return made


ops, mint, F, linalg, mnp = map(Edge, _MODULES)


def _named(function: Any, names: list[str]) -> Callable[..., Any]:
    """A function whose first parameters have other names."""
    code = function.__code__
    if code.co_argcount >= len(names):  # local variables have no other meaning for the code
        variables = (*names, *code.co_varnames[len(names) :])
        made = FunctionType(
            code.replace(co_varnames=variables), function.__globals__, function.__name__, function.__defaults__
        )
        made.__dict__.update(function.__dict__)
        made.__doc__, made.__kwdefaults__, made.__module__ = function.__doc__, function.__kwdefaults__, __name__
        return made
    own = dict(zip(names, inspect.signature(function).parameters, strict=False))

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{own.get(name, name): value for name, value in kwargs.items()})

    call.__module__ = __name__
    return call


def behind(module: str, name: str, source: str, attribute: str) -> tuple[str, str]:
    """Where a name of a module of MindSpore is: here if it is not as weft has it, else where it was.

    Args:
        module: the module of MindSpore.
        name: a name that it offers.
        source: the module of weft that has the object.
        attribute: what it is called there.
    """
    called = _CALLED.get(module, "")
    if f"{called}.{name}" not in ACCEPTED and f"{called}.{name}" not in _PARAMETERS:
        return source, attribute
    _BEHIND[called, name] = source, attribute
    return __name__, f"{called}.{name}"
