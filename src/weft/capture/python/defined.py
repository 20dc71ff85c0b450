"""Where the code of a callable is."""

from __future__ import annotations

import functools
import types
from typing import Any

from weft.errors import Location


def defined_at(function: Any) -> Location | None:
    """Where a callable's code is defined, None if it has none."""
    while not isinstance(function, types.FunctionType) or hasattr(function, "__weft_inline__"):
        if hasattr(function, "__weft_inline__"):
            function = function.__weft_inline__
        elif isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        else:
            function = type(function).__dict__.get("__call__")
            if not isinstance(function, types.FunctionType):
                return None
    if hasattr(function, "__weft_looked_up__"):
        return defined_at(function.__wrapped__)  # type: ignore[attr-defined]
    code = function.__code__
    return Location(code.co_filename, code.co_firstlineno, scope=code.co_qualname)
