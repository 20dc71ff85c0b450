"""Frames of the runtime that stand between frames of the program.

`warnings.warn(stacklevel=2)` and `logging` count frames up to the caller. Both pass over the frames of the import
system, which they know by the names of their files; code that claims to be from such a file is passed over as well.
"""

from __future__ import annotations

import types
from typing import Any, Final, TypeVar

T = TypeVar("T", bound=object)

#: ends the file names of code that is passed over: both words are looked for (`warnings.c`, `logging.findCaller`)
PASSED_OVER: Final = " (importlib _bootstrap)"


def passed_over(target: T) -> T:
    """Have `warnings` and `logging` pass over the frames of a function, or of the methods of a class.

    Args:
        target: the function or class, which is changed: the functions that it makes are passed over too.

    Returns:
        the same function or class.

    Example:
        >>> @passed_over
        ... def call(function):
        ...     return function()
        >>> call.__code__.co_filename.endswith(PASSED_OVER)
        True
    """
    if isinstance(target, type):
        for member in vars(target).values():
            method = getattr(member, "__func__", member)
            if isinstance(method, types.FunctionType):
                passed_over(method)
    else:
        function: Any = target
        function.__code__ = _renamed(function.__code__)
    return target


def _renamed(code: types.CodeType) -> types.CodeType:
    if code.co_filename.endswith(PASSED_OVER):
        return code
    constants = tuple([_renamed(part) if isinstance(part, types.CodeType) else part for part in code.co_consts])
    return code.replace(co_filename=code.co_filename + PASSED_OVER, co_consts=constants)
