"""Where print, logging and warnings lead to: whether no code of the program's takes part on the way.

An output call is part of a graph, which makes it when it runs. That is exact where only the standard streams, handlers
and filters take part. Code of the program's could read what the call has written so far, write what the call reads
later, or raise what a `try` around the call handles: where there is any, the output call is a break. Each function here
answers with what is in the way, or None; guards ask again.
"""

from __future__ import annotations

import io
import logging
import sys
import types
import warnings
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from weft.capture.python.containers import members
from weft.capture.python.packages import is_standard, module_of, module_of_function

#: packages that stand between a program and its screen, and keep to themselves
_OUTPUT_PACKAGES: Final = frozenset(
    {
        "weft", "mindspore", "_pytest", "pytest", "ipykernel", "IPython", "colorama", "colorlog", "coloredlogs", "rich",
        "tqdm", "absl", "wandb", "loguru", "click", "google",
    }
)  # fmt: skip
#: modules of the standard library whose objects keep what they hold to themselves
_CLOSED: Final = frozenset({"_thread", "threading", "queue", "_queue", "multiprocessing"})
_LOGGERS: Final = frozenset({logging.Logger, logging.RootLogger})
_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, dict, deque})
#: classes of objects that hold nothing which may be the program's; those met are added
_LEAVES: Final[set[type]] = {
    type(None), bool, int, float, str, bytes, types.BuiltinFunctionType, types.MethodDescriptorType,
}  # fmt: skip
#: other classes that are none of the program's; those met are added
_STANDARD: Final[set[type]] = {*_LOGGERS, *_CONTAINERS}
#: encodings that have all characters
_UNICODE: Final = frozenset({"utf-8", "utf8", "utf-16", "utf-32", "utf-8-sig"})


def in_the_way_of_stream(stream: Any) -> str | None:
    """Code of the program's that writing to a stream would run, or why writing may raise.

    Args:
        stream: a file object, or None.

    Example:
        >>> stream = io.StringIO()
        >>> in_the_way_of_stream(stream)
        >>> stream.close()
        >>> in_the_way_of_stream(stream)
        'a closed stream'
    """
    return _foreign((stream,))


def in_the_way_of_print(name: str) -> str | None:
    """The same of a stream of `sys`, "stdout" or "stderr", as it is now."""
    return _foreign((getattr(sys, name, None),))


def in_the_way_of_logger(logger: logging.Logger) -> str | None:
    """The same of the records of a logger."""
    parts: list[Any] = [logging._logRecordFactory, sys.stderr]  # type: ignore[attr-defined]
    one: Any = logger
    reached = False
    while one is not None:
        if not _is_standard(type(one)):
            return f"a {type(one).__name__} of the program"
        if one is logger:
            parts += one.filters
        parts += one.handlers
        reached = reached or bool(one.handlers)
        one = one.parent if one.propagate else None
    if not reached:
        parts.append(logging.lastResort)
    return _foreign(parts)


def in_the_way_of_warning(category: type[Warning]) -> str | None:
    """The same of a warning: filters may also turn it into an exception.

    Args:
        category: its class.
    """
    if may_raise(category):
        return f"a filter that turns a {category.__name__} into an exception"
    parts = [warnings.showwarning, warnings.formatwarning, warnings._showwarnmsg_impl, sys.stderr]  # type: ignore[attr-defined]
    found = _foreign(parts)
    if found is None and warnings.showwarning.__module__ == "logging":
        found = in_the_way_of_logger(logging.getLogger("py.warnings"))
    return found


def may_raise(category: type[Warning]) -> bool:
    """Whether a filter makes an exception of some warning of a category, as filters are now."""
    for action, text, kind, module, line in warnings.filters:
        if issubclass(category, kind):
            if action == "error":
                return True
            if text is None and module is None and not line:
                return False
    return False


def _foreign(parts: Iterable[Any]) -> str | None:
    """What among some objects, and what they hold, is the program's or may raise."""
    pending, seen = list(parts), set()
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in _LEAVES or id(value) in seen:
            continue
        seen.add(id(value))
        if kind in _CONTAINERS:
            pending += members(value)
        elif kind is types.MethodType:
            pending += [value.__func__, value.__self__]
        elif kind is types.FunctionType:
            if not _is_standard_module(module_of_function(value)):
                return f"{value.__qualname__}() of the program"
        elif issubclass(kind, type):
            if not _is_standard(value):
                return f"the class {value.__name__} of the program"
        elif not _is_standard(kind):
            return f"a {kind.__name__} of the program"
        elif kind not in _LEAVES:
            pending += getattr(value, "__dict__", {}).values()
            if isinstance(value, io.IOBase):
                why = _may_fail(value)
                if why is not None:
                    return why
                pending += [getattr(value, "buffer", None), getattr(value, "raw", None)]
    return None


def _may_fail(stream: Any) -> str | None:
    """Why writing to a standard stream may raise."""
    if stream.closed:
        return "a closed stream"
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict" and stream.encoding.lower() not in _UNICODE:
        return f"a stream with the encoding {stream.encoding}, which has not all characters"
    return None


def _is_standard(kind: type) -> bool:
    """Whether a class, with those that it derives from, is none of the program's."""
    if kind in _STANDARD or kind in _LEAVES:
        return True
    if not all(_is_standard_module(module_of(cls)) for cls in kind.__mro__):
        return False
    package = module_of(kind).partition(".")[0]
    (_LEAVES if package in _CLOSED or package in _OUTPUT_PACKAGES else _STANDARD).add(kind)
    return True


def _is_standard_module(name: str) -> bool:
    return name == "builtins" or name.partition(".")[0] in _OUTPUT_PACKAGES or is_standard(name)
