"""`jit_disable`: functions, and parts of a program, that run in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.core.frames import passed_over
from weft.core.transparency import PYTHON_ONLY, keeps
from weft.jit.apply import apply
from weft.jit.compiled import eagerly
from weft.jit.function import stand_in


class _Disabled(eagerly):
    """What `jit_disable()` returns: a context manager that also decorates."""

    def __call__(self, fn: Any) -> Any:
        return apply("jit_disable", _in_python, fn)


@keeps
def jit_disable(fn: Any = None) -> Any:
    """Run a function in Python, with everything that it calls, also when compiled code calls it.

    Args:
        fn: a function, method, Cell or class of Cells. None makes a decorator that is a context manager as well: within
            its block the compiled functions that this thread calls run in Python.

    Returns:
        The function, or the decorator.

    Raises:
        TypeError: `fn` cannot be called.

    Example:
        >>> from weft import Tensor, jit
        >>> @jit
        ... def double(x):
        ...     seen.append(type(x).__name__)
        ...     return x * 2
        >>> seen = []
        >>> with jit_disable():
        ...     print(double(Tensor([1.0])))
        [2.]
    """
    return _Disabled() if fn is None else _Disabled()(fn)


@keeps
@passed_over
def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    def python_function(*args: Any, **kwargs: Any) -> Any:
        with eagerly():
            return function(*args, **kwargs)

    return stand_in(python_function, function)


#: the code that all disabled functions share
_CODE: Final = _in_python(len).__code__
PYTHON_ONLY.add(_CODE)
