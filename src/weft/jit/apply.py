"""What a decorator of functions does with everything else that can be decorated: methods, Cells, classes, partials."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from weft.capture.python.classes import bound_by_class
from weft.core.frames import passed_over
from weft.core.transparency import frameless
from weft.nn.cell import Cell


@frameless
@passed_over
def _construct(self: Any, *args: Any, **kwargs: Any) -> Any:
    return bound_by_class(self, "construct")(*args, **kwargs)


@frameless
@passed_over
def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self(*args, **kwargs)


def _is_method(function: Any) -> bool:
    """Whether a function in a class is an ordinary method, of which a call is one call."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return False
    return isinstance(function, types.FunctionType)


def looked_up(by: Any, method: types.FunctionType) -> types.FunctionType:
    """A function that looks a method of an object up in its class when it is called: the class may be edited.

    Args:
        by: calls the method of an object.
        method: the method as the class has it now, which gives the function its looks.
    """
    made = types.FunctionType(by.__code__, by.__globals__, method.__name__)
    functools.update_wrapper(made, method, updated=())
    made.__module__ = __name__  # as it is the framework's, which capture enters
    made.__weft_looked_up__ = True  # type: ignore[attr-defined]
    return made


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
        method = inspect.getattr_static(type(target), "construct")
        if "construct" in target.__dict__ or not _is_method(method):
            target.__dict__["construct"] = again(target.construct)
        else:
            target.__dict__["construct"] = types.MethodType(again(looked_up(_construct, method)), target)
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
            return types.MethodType(again(looked_up(_call, method) if _is_method(method) else method), target)
    return decorate(target)
