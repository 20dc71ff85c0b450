"""Library code that calls the user's code back: capture steps through it instead of calling it natively."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar

_Function = TypeVar("_Function", bound=object)

#: the code of transparent functions, that of functions defined inside them included
TRANSPARENT: Final[set[types.CodeType]] = set()
#: the code of functions that stand for another one, which capture enters instead (their `__weft_inline__`)
STAND_INS: Final[set[types.CodeType]] = set()
#: the code of functions that compiled code must leave to Python
PYTHON_ONLY: Final[set[types.CodeType]] = set()
#: modules of the standard library that call the user's code back (`__deepcopy__`, a logger's `process`), make
#: containers of its objects, or speak of its lines
TRANSPARENT_MODULES: Final = frozenset({"copy", "copyreg", "logging", "warnings"})


class _CallingBack(threading.local):
    """How library code that runs in Python calls the user's functions; None for plainly."""

    run: Callable[..., Any] | None = None


CALLING_BACK: Final = _CallingBack()


def transparent(function: _Function) -> _Function:
    """Mark a library function that may call user code, so that capture enters it.

    Args:
        function: a plain Python function.

    Returns:
        The same function.
    """
    assert isinstance(function, types.FunctionType)
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        TRANSPARENT.add(code)
        pending.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return function
