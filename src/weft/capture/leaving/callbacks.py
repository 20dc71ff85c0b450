"""User functions that library code calls while a step runs it in Python: each is captured as a piece of its own."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from weft.capture.leaving.shapes import shape_of, values_of
from weft.capture.leaving.suspension import continuation_at, drive
from weft.capture.meaning.calls import bind
from weft.capture.state.frame import Frame, slots_for
from weft.core.frames import passed_over
from weft.core.transparency import CALLING_BACK, PYTHON_ONLY, STAND_INS, UNBROKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.capture.leaving.entries import Owner

_SUSPENDING: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@contextmanager
def captured_callbacks(owner: Owner) -> Iterator[None]:
    """Within this block library code that calls user functions back runs them as captured pieces.

    Args:
        owner: the compiled callable that they are captured for.
    """
    before, CALLING_BACK.run = CALLING_BACK.run, functools.partial(_call, owner)
    try:
        yield
    finally:
        CALLING_BACK.run = before


@passed_over
def _call(owner: Owner, callee: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a user's function or Cell as a piece that is captured for an owner."""
    function: Any = callee
    given = list(args)
    if not isinstance(function, (types.FunctionType, types.MethodType)):
        function = getattr(callee, "__call__", None)  # noqa: B004 - the bound method itself
    if isinstance(function, types.MethodType):
        function, given = function.__func__, [function.__self__, *given]
    if not isinstance(function, types.FunctionType):
        return callee(*args, **kwargs)
    code = function.__code__
    if code in STAND_INS or code in PYTHON_ONLY or code in UNBROKEN or code.co_flags & _SUSPENDING:
        return callee(*args, **kwargs)
    frame = Frame(function, slots_for(function, bind(function, given, kwargs)), None)
    shape = shape_of(frame, 0)
    return drive(continuation_at(owner, (shape,)).entries.call(tuple(values_of(frame, shape))))
