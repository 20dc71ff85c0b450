"""`jit_class`: classes of the program whose methods compiled code enters."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from weft import context
from weft.nn.cell import Cell

_Class = TypeVar("_Class", bound=type)


def jit_class(cls: _Class) -> _Class:
    """Mark a class whose instances compiled code makes, reads and calls.

    Compiled code enters the methods of every class of the program, so the mark changes no answer. In graph mode a call
    of an instance without ``__call__`` is the error that MindSpore gives.

    Args:
        cls: the class; no Cell.

    Returns:
        The same class.

    Raises:
        TypeError: `cls` is no class, or a Cell.

    Example:
        >>> @jit_class
        ... class Scale:
        ...     def __init__(self, by):
        ...         self.by = by
        ...
        ...     def __call__(self, x):
        ...         return x * self.by
        >>> Scale(2)(3)
        6
    """
    if not isinstance(cls, type):
        raise TypeError(f"Decorator jit_class can only be used for classes, not for {cls!r}.")
    if issubclass(cls, Cell):
        raise TypeError(
            f"Decorator jit_class is used for user-defined classes and cannot be used for nn.Cell: {cls.__name__}<>."
        )
    if not any("__call__" in base.__dict__ for base in cls.__mro__):
        cls.__call__ = _not_callable  # type: ignore[method-assign]
    return cls


def _not_callable(self: Any, /, *args: Any, **kwargs: Any) -> NoReturn:
    del args, kwargs
    name = type(self).__name__
    if context.MODE == context.GRAPH_MODE:
        raise ValueError(f"MsClassObject: '{name}' has no __call__ function, please check the code.")
    raise TypeError(f"'{name}' object is not callable")
