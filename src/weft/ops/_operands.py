"""An operand that is no tensor is a `TypeError`, wherever in a function its first attribute is read.

It is an `AttributeError` as well (`weft.errors.NoTensor`), as MindSpore raises where nothing checks operands first.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from weft.core.tensor import Tensor
from weft.core.tracebacks import hide_operation
from weft.core.transparency import FRAMELESS, KEEPING, PYTHON_ONLY, STAND_INS, TRANSPARENT, UNBROKEN
from weft.errors import NoTensor

#: classes of what is given in place of tensors
_STRANGERS = (str, type(None), bool, int, float, complex, list, tuple, dict)
_KNOWN = (TRANSPARENT, UNBROKEN, KEEPING, STAND_INS, PYTHON_ONLY, FRAMELESS)


def refusing(function: Any, module: str) -> Any:
    """A function that refuses operands which lack what tensors have, with a `TypeError`.

    Args:
        function: a plain function over operations.
        module: the module that offers it.

    Example:
        >>> def rows(input):
        ...     return input.shape[0]
        >>> refusing(rows, __name__)("abc")
        Traceback (most recent call last):
            ...
        weft.errors.NoTensor: rows() takes tensors, not str ('abc')
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            try:
                return function(*args, **kwargs)
            except AttributeError as error:
                if type(error.obj) not in _STRANGERS or error.name is None or not hasattr(Tensor, error.name):
                    raise
                what = f"{type(error.obj).__name__} ({error.obj!r:.60})"
                raise NoTensor(f"{function.__name__}() takes tensors, not {what}") from None
        except Exception as error:
            hide_operation(error)
            raise

    checked.__module__ = module
    return checked


def refuse_strangers(names: dict[str, Any], module: str, *besides: str) -> None:
    """Have the plain functions among the names of a module refuse operands that are no tensors.

    Functions of one operation refuse them in any case; those that captures know by their code are left as they are.

    Args:
        names: the names of the module.
        module: what it is called.
        besides: names of functions that take anything.
    """
    for name, value in _plain(names):
        if name not in besides:
            names[name] = refusing(value, module)


def _plain(names: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in [*names.items()]:
        if not isinstance(value, FunctionType) or name.startswith("_") or vars(value):
            continue
        if not any(value.__code__ in known for known in _KNOWN):
            yield name, value
