"""What library code does with the user's functions that it is given: declared here, and nowhere else.

Capture knows four kinds of library functions. One that calls the user back is *transparent*: capture enters it, and so
the user's function, instruction by instruction. One that *keeps* what it is given does not call it while it runs. One
that is given no code of the user's runs natively. Any other is given code of the user's and nobody said what it does
with it: its call is a break, which runs in Python. So a forgotten declaration costs a break, never a wrong answer.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar

_Function = TypeVar("_Function", bound=object)

#: the code of transparent functions, that of functions defined inside them included
TRANSPARENT: Final[set[types.CodeType]] = set()
#: the code of transparent functions that a call cannot leave and take up again: a gradient or a mapping is in progress
UNBROKEN: Final[set[types.CodeType]] = set()
#: the code of functions that do not call what they are given, though it may hold functions of the user's
KEEPING: Final[set[types.CodeType]] = set()
#: the code of functions that stand for another one, which capture enters instead (their `__weft_inline__`)
STAND_INS: Final[set[types.CodeType]] = set()
#: the code of functions that compiled code must leave to Python
PYTHON_ONLY: Final[set[types.CodeType]] = set()
#: the code of transparent functions that do what is C code in Python, so that no frame of theirs is seen
FRAMELESS: Final[set[types.CodeType]] = set()
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
    TRANSPARENT.update(_codes(function))
    return function


def unbroken(function: _Function) -> _Function:
    """Mark a library function that capture enters, and that a call cannot leave for Python and take up again.

    Args:
        function: a plain Python function.

    Returns:
        The same function.
    """
    UNBROKEN.update(_codes(function))
    return transparent(function)


def frameless(function: _Function) -> _Function:
    """Mark a function that capture enters in place of C code of Python's: it calls the user's methods without a frame.

    Args:
        function: a plain Python function.

    Returns:
        The same function.
    """
    FRAMELESS.update(_codes(function))
    return transparent(function)


def keeps(function: _Function) -> _Function:
    """Mark a library function, or a class, that does not call the functions of the user's that it is given.

    It stores them, or it looks at other parts of what holds them.

    Args:
        function: a plain Python function, or a class: making an instance keeps its arguments.

    Returns:
        The same function or class.
    """
    if isinstance(function, type):
        for part in (vars(function).get("__init__"), vars(function).get("__new__")):
            if isinstance(part, types.FunctionType):
                KEEPING.update(_codes(part))
    else:
        KEEPING.update(_codes(function))
    return function


def python_only(function: _Function) -> _Function:
    """Mark a library function that compiled code must leave to Python, whatever it is given.

    Args:
        function: a plain Python function.

    Returns:
        The same function.
    """
    PYTHON_ONLY.update(_codes(function))
    return function


def _codes(function: object) -> list[types.CodeType]:
    """The code of a function and of the functions defined inside."""
    assert isinstance(function, types.FunctionType)
    found = [function.__code__]
    for code in found:
        found.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return found
