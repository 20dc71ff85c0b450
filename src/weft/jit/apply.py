"""What a decorator of functions does with everything else that can be decorated: methods, Cells, classes, partials."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from weft.nn.cell import Cell


def apply(decorator: str, decorate: Callable[[Any], Any], target: Any) -> Any:
    """Decorate whatever is callable in a target.

    Args:
        decorator: its name, for messages.
        decorate: decorates a function, or a callable without Python code.
        target: a function; a static, class, bound or partial method; a Cell or a class of Cells, whose `construct` is
            decorated; or another callable.

    Returns:
        A thing of the same kind; a Cell or class itself.

    Raises:
        TypeError: the target is none of these.
    """

    def again(part: Any) -> Any:
        return apply(decorator, decorate, part)

    if isinstance(target, type):
        if not issubclass(target, Cell):
            raise TypeError(
                f"{decorator} takes functions, methods and Cells, not the class {target.__name__}; "
                f"write @{decorator} above the methods that it is meant for"
            )
        target.construct = again(inspect.getattr_static(target, "construct"))  # type: ignore[method-assign]
        return target
    if isinstance(target, Cell):
        target.__dict__["construct"] = again(target.construct)
        return target
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(again(target.__func__))
    if isinstance(target, functools.partialmethod):
        return functools.partialmethod(again(target.func), *target.args, **target.keywords)
    if isinstance(target, types.MethodType):
        return types.MethodType(again(target.__func__), target.__self__)
    if isinstance(target, (property, functools.cached_property)):
        kind = type(target).__name__
        raise TypeError(
            f"{decorator} takes functions, methods and Cells, not a {kind}; write @{kind} above @{decorator}"
        )
    if not callable(target):
        raise TypeError(f"{decorator} takes functions, methods and Cells, not {type(target).__name__}")
    if not isinstance(target, types.FunctionType):
        method = inspect.getattr_static(type(target), "__call__", None)
        if isinstance(method, types.FunctionType) and not isinstance(target, functools.partial):
            # bound like a method, so that a copy of what holds it is bound to the copy of the object
            return types.MethodType(again(method), target)
    return decorate(target)
