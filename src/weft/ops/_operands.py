"""An operand that is no tensor is a `TypeError`, wherever in a function its first attribute is read.

It is an `AttributeError` as well (`weft.errors.NoTensor`), as MindSpore raises where nothing checks operands first.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, Final

from weft.core import OPERATOR_CLASSES, Tensor
from weft.core.tracebacks import hide_operation
from weft.core.transparency import FRAMELESS, KEEPING, PYTHON_ONLY, STAND_INS, TRANSPARENT, UNBROKEN
from weft.errors import NoTensor

#: classes of what is given in place of tensors
_STRANGERS = (str, type(None), bool, int, float, complex, list, tuple, dict)
#: plain functions of `weft.ops` of modules that are imported with it, until they are used
PLAIN: Final[dict[str, Any]] = {}
#: functions that take anything
_TAKE_ANYTHING = ("host_call",)
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


def offered(module: Any, name: str) -> Any:
    """What `weft.ops` offers under a name of a module: a plain function as one that refuses what is no tensor."""
    found = PLAIN.get(name) or OPERATOR_CLASSES.get(name) or getattr(module, name)
    refuses = name not in _TAKE_ANYTHING and (name in PLAIN or plain({name: found}))
    return refusing(found, "weft.ops") if refuses else found


def refuse_strangers(names: dict[str, Any], module: str) -> None:
    """Have the plain functions among the names of a module refuse operands that are no tensors.

    Args:
        names: the names of the module.
        module: what it is called.
    """
    for name in plain(names):
        names[name] = refusing(names[name], module)


def plain(names: dict[str, Any]) -> list[str]:
    """The plain functions among the names of a module.

    Functions of one operation refuse what is no tensor in any case; those that captures know by their code are left
    as they are.
    """
    found = [
        name
        for name, value in names.items()
        if isinstance(value, FunctionType) and not name.startswith("_") and not vars(value)
    ]
    known = frozenset().union(*_KNOWN) if found else ()
    return [name for name in found if names[name].__code__ not in known]
