"""Functions of Python whose effect leaves the program: print, streams, warnings, logging.

Each becomes a host call of the graph (`weft.ops.host`), made in the order of the program with run-time values.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from weft.capture.meaning.builtins import text_of
from weft.capture.meaning.outputs import (
    in_the_way_of_logger,
    in_the_way_of_print,
    in_the_way_of_stream,
    in_the_way_of_warning,
)  # fmt: skip
from weft.capture.meaning.table import handles, refused
from weft.capture.python.classes import class_attribute
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.users import users_code
from weft.capture.sources.sources import VALUES
from weft.capture.state.frame import Frame
from weft.capture.state.journal import Journaled, cell_value, slot_value, slots_of
from weft.capture.state.lazytext import LazyText
from weft.core.frames import PASSED_OVER
from weft.core.run_number import RunNumber
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ops.host import Same, Shown, Text, host_call

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

#: Python's own, whatever function the program puts in its place later
_PRINT: Final = print
_PRINT_OPTIONS: Final = frozenset({"sep", "end", "file", "flush"})
_LOGGING: Final = os.path.normcase(logging.info.__code__.co_filename)
_ENTRY: Final = "<weft entry "
#: objects of these classes show the same text in every call
_CONSTANT: Final = (
    str, bytes, int, float, complex, type(None), type, types.FunctionType, types.BuiltinFunctionType,
    types.ModuleType, types.MethodType, type(Ellipsis), type(NotImplemented), range,
)  # fmt: skip
_CONTAINERS: Final = (list, tuple, set, frozenset, dict)
#: objects looked at to see whether the text of one may depend on what the capture wrote
_REACH_LIMIT: Final = 10_000


# -- arguments -----------------------------------------------------------------------------------------------------


#: what becomes of an argument: it is passed itself where that can be; its value at this moment; or only its text
_Passing = Literal["itself", "value", "text"]


def call_host(
    machine: Machine, function: Callable[..., Any], *args: Any, passing: _Passing = "value", **kwargs: Any
) -> None:
    """Append a host call to the graph, with arguments of the captured program."""
    host_call(
        function,
        *[_argument(machine, value, passing) for value in args],
        **{name: _argument(machine, value, passing) for name, value in kwargs.items()},
    )


@handles(host_call)
def _host_call(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    function, *rest = args
    if id(function) in machine.created and _is_written(machine, _parts_of_function(function)):
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            "the function that the host is to call is made inside the compiled function, from its values",
            "define it outside and pass the values as arguments",
        )
    passed = [_argument(machine, value, "itself") for value in rest]
    host_call(function, *passed, **{name: _argument(machine, value, "itself") for name, value in kwargs.items()})


def _parts_of_function(function: Any) -> Any:
    if not isinstance(function, types.FunctionType):
        return function
    return (function.__defaults__, function.__kwdefaults__, function.__closure__)


def _argument(machine: Machine, value: Any, passing: _Passing, around: tuple[int, ...] = ()) -> Any:
    """An argument of a host call.

    Args:
        machine: the interpreter.
        value: the argument.
        passing: what becomes of it.
        around: the containers that it stands in, by id.
    """
    if issubclass(type(value), RunNumber):
        return value.operand()
    if isinstance(value, (Tensor, Text, Shown, *_CONSTANT)):
        return value
    kind = type(value)
    if passing != "itself" and _text_runs_code(machine, value):
        if passing == "text":
            return Shown(machine.calls.call(repr, [value], {}))
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"the text of a {kind.__name__} is made by code of the program, when the message is given",
            "pass the text of it: str(...), repr(...) or an f-string",
        )
    machine.sources.inside(value)
    container = kind in _CONTAINERS or (isinstance(value, tuple) and hasattr(value, "_fields"))
    mutable = not isinstance(value, (tuple, frozenset))
    if id(value) in machine.sources.anew and not container and not isinstance(value, (slice, *VALUES)):
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"a {kind.__name__} that every call brings anew is passed to the host",
            "pass the values in it: numbers, texts and tensors",
        )
    whole = not container or (passing == "itself" and mutable)
    if whole and not isinstance(value, Journaled) and not _is_written(machine, value):
        if not container:
            return value
        machine.sources.identity(value)
        return Same(value)
    if container:
        if id(value) in around:
            raise Unsupported(
                Refusal.UNKNOWN_CALL, f"a {kind.__name__} that contains itself is passed to the host", "pass its parts"
            )
        around = (*around, id(value))
        if isinstance(value, dict):
            return {
                _argument(machine, key, passing, around): _argument(machine, item, passing, around)
                for key, item in value.items()
            }
        items = [_argument(machine, item, passing, around) for item in value]
        if isinstance(value, (set, frozenset)) and any(isinstance(item, Shown) for item in items):
            raise Unsupported(
                Refusal.UNKNOWN_CALL, f"code of the program makes the texts in a {kind.__name__}", "print a sorted list"
            )
        return kind(*items) if hasattr(value, "_fields") else kind(items)
    own = machine.objects.user_method(value, "__repr__") if passing == "text" else None
    if own is not None:
        return Shown(machine.calls.call(own, [value], {}))
    raise Unsupported(
        Refusal.UNKNOWN_CALL,
        f"an object of class {kind.__name__} that the compiled function makes or changes is passed to the host, which "
        "would see it as it was before the call",
        "pass the values in it: numbers, texts and tensors",
    )


def _text_runs_code(machine: Machine, value: Any) -> bool:
    """Whether code of the program's makes the text of a value, or of something that it holds."""
    if any(machine.objects.user_method(value, name) is not None for name in ("__str__", "__repr__", "__format__")):
        return True
    if type(value) in _CONTAINERS or class_attribute(type(value), "__repr__") is object.__repr__:
        return False  # the items of a container are asked one by one
    return users_code((value,)) is not None


def _is_written(machine: Machine, value: Any) -> bool:
    """Whether an object, or one that it reaches, was made or written during the capture."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        obj = pending.pop()
        if id(obj) in seen or isinstance(obj, _CONSTANT):
            continue
        if isinstance(obj, Tensor) and obj.is_symbolic:
            return True
        if id(obj) in machine.created or machine.journal.original(obj) is not None or len(seen) > _REACH_LIMIT:
            return True
        seen.add(id(obj))
        if isinstance(obj, (Tensor, np.ndarray)):
            continue
        if isinstance(obj, types.CellType):
            pending.append(cell_value(obj))
        elif isinstance(obj, dict):
            pending += obj.values()
        elif isinstance(obj, (list, tuple, set, frozenset)):
            pending += obj
        pending += (namespace_of(obj) or {}).values()
        pending += [slot_value(obj, member) for member in slots_of(type(obj))]
    return False


# -- print and streams ---------------------------------------------------------------------------------------------


@handles(_PRINT)
def _print(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    if not kwargs.keys() <= _PRINT_OPTIONS:
        _PRINT(**kwargs)  # raises Python's own message
    for name in ("sep", "end"):
        if not isinstance(kwargs.get(name), (str, Text, types.NoneType)):
            _PRINT(**{name: kwargs[name]})  # raises before anything is printed
    _check_streams(machine)
    file = kwargs.get("file")
    if file is not None and args:
        machine.attributes.get_attr(file, "write")
    check, given = (in_the_way_of_print, "stdout") if file is None else (in_the_way_of_stream, file)
    if (machine.sources.guarded or file is not None) and check(given) is not None:
        if file is None:
            file = machine.attributes.get_attr(sys, "stdout")
        write = machine.objects.user_method(file, "write")
        if write is not None:
            _print_to_user(machine, file, write, args, kwargs)
            return
    _check_way(machine, check, given)
    shown = [_shown(machine, value) for value in args]
    call_host(machine, _PRINT, *shown, passing="text", **kwargs)


def _shown(machine: Machine, value: Any) -> Any:
    """An argument of print: texts of the user's objects are made by the user's code, now."""
    if isinstance(value, (Tensor, Text, *_CONSTANT)):
        return value
    if type(value) in _CONTAINERS:
        return value
    return text_of(machine, value)


def _print_to_user(machine: Machine, file: Any, write: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Print into an object with a `write` of the user's, as `print` does: piece by piece."""
    sep, end = kwargs.get("sep"), kwargs.get("end")
    for number, value in enumerate(args):
        if number:
            machine.calls.call(write, [file, " " if sep is None else sep], {})
        text = text_of(machine, value)
        machine.calls.call(write, [file, text], {})
    machine.calls.call(write, [file, "\n" if end is None else end], {})
    if kwargs.get("flush"):
        flush = machine.objects.user_method(file, "flush")
        if flush is None:
            file.flush()
        else:
            machine.calls.call(flush, [file], {})


def is_stream_write(owner: Any, name: str) -> bool:
    """Whether a method writes to a stream."""
    return isinstance(owner, io.IOBase) and name in ("write", "writelines", "flush")


def write_stream(machine: Machine, method: Any, args: list[Any]) -> int | None:
    """Write to a stream; returns how much was written."""
    _check_streams(machine)
    _check_way(machine, in_the_way_of_stream, method.__self__)
    name = method.__name__
    call_host(machine, method, *args)
    if name != "write" or machine.frame.instrs[machine.frame.pc].name == "POP_TOP":
        return None
    if isinstance(args[0], LazyText):
        raise Unsupported(
            Refusal.TENSOR_VALUE, "how much is written is only known when the graph runs", "do not use the result"
        )
    return len(args[0])


def _check_streams(machine: Machine) -> None:
    if machine.journal.original(sys) is not None:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "the compiled function writes to the module sys before it prints",
            "redirect the output around the call of the compiled function",
        )


def _check_way(machine: Machine, check: Callable[[Any], str | None], given: Any) -> None:
    """Refuse an output call in which code of the program's takes part; else guard that none does."""
    if not machine.sources.guarded:
        return  # the call is made as things are when the graph runs
    found = check(given)
    if found is not None:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            f"the output goes through {found}, which may see or change what a graph has not written yet",
            "write it outside the compiled function, or leave the standard streams, handlers and filters in place",
        )
    machine.sources.condition(check, given, None)


# -- where a call is -----------------------------------------------------------------------------------------------


class _Place:
    """The line that a message is attributed to.

    Args:
        file: the source file.
        line: the line.
        function: name of the function.
        namespace: the globals of the function.
    """

    __slots__ = ("file", "line", "function", "namespace")

    def __init__(self, file: str, line: int, function: str, namespace: dict[str, Any]) -> None:
        self.file = file
        self.line = line
        self.function = function
        self.namespace = namespace


def _place(machine: Machine, level: int, skipped: Callable[[str], bool]) -> _Place | int:
    """The place of a message.

    Args:
        machine: the interpreter.
        level: 1 for the caller of the function that gives the message, 2 for that one's caller...
        skipped: whether frames of a file do not count.

    Returns:
        The place, or how many callers of the compiled function lie between it and the place.
    """
    frame: Frame | None = machine.frame
    while frame is not None:
        if not skipped(frame.decoded.code.co_filename):
            level -= 1
            if level <= 0:
                code = frame.decoded.code
                return _Place(code.co_filename, frame.decoded.location(frame.pc - 1).line, code.co_name, frame.globals)
        frame = frame.caller
    return max(level, 1)


def _found(place: _Place | int, skipped: Callable[[str], bool]) -> _Place:
    """A place among the callers of the compiled function, while it runs."""
    if isinstance(place, _Place):
        return place
    frame = sys._getframe()
    left, inside = place, True
    while frame.f_back is not None and left:
        frame = frame.f_back
        file = frame.f_code.co_filename
        inside = inside and not file.startswith(_ENTRY)
        if not inside and not file.endswith(PASSED_OVER) and not skipped(file):
            left -= 1
    return _Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, frame.f_globals)


# -- warnings ------------------------------------------------------------------------------------------------------


class _Prefixes:
    """Whether a file's name begins with one of some texts, or it is of the import system."""

    __slots__ = ("prefixes",)

    def __init__(self, prefixes: Sequence[str]) -> None:
        self.prefixes = tuple(prefixes)

    def __call__(self, file: str) -> bool:
        return file.startswith(self.prefixes) or ("importlib" in file and "_bootstrap" in file)


@handles(warnings.warn)
def _warn(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    message, category, level, source, prefixes = _warn_arguments(*args, **kwargs)
    if isinstance(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    elif not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    _check_way(machine, in_the_way_of_warning, category)
    skipped = _Prefixes(prefixes)
    place = _place(machine, max(2, level) if prefixes else level, skipped)
    made_from: Any = None
    if isinstance(message, Warning) and id(message) in machine.created and _is_plain(type(message)):
        made_from, message = message.args, None
    call_host(machine, partial(_give_warning, category, place, skipped), message, made_from, source)


def _warn_arguments(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, *, skip_file_prefixes: Any = ()
) -> tuple[Any, Any, int, Any, Any]:
    return message, category, stacklevel, source, skip_file_prefixes


def _is_plain(kind: type) -> bool:
    """Whether an exception of a class is, and shows, what its arguments say."""
    own = ("__init__", "__new__", "__str__", "__repr__")
    return not any(isinstance(class_attribute(kind, name), types.FunctionType) for name in own)


def _give_warning(
    category: Any, place: _Place | int, skipped: Callable[[str], bool], message: Any, made_from: Any, source: Any
) -> None:
    if made_from is not None:
        message = category(*made_from)
    found = _found(place, skipped)
    registry = found.namespace.setdefault("__warningregistry__", {})
    module = found.namespace.get("__name__") or "<string>"
    warnings.warn_explicit(message, category, found.file, found.line, module, registry, None, source)


@handles(warnings.warn_explicit)
def _warn_explicit(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    category = args[1] if len(args) > 1 else kwargs.get("category")
    _check_way(machine, in_the_way_of_warning, category if isinstance(category, type) else Warning)
    call_host(machine, warnings.warn_explicit, *args, **kwargs)


for _filter in (warnings.filterwarnings, warnings.simplefilter, warnings.resetwarnings, warnings.catch_warnings):
    handles(_filter)(refused(f"warnings.{_filter.__name__}", "change filters outside the compiled function"))


# -- logging -------------------------------------------------------------------------------------------------------


def _is_logging(file: str) -> bool:
    return os.path.normcase(file) == _LOGGING


@handles(logging.Logger.isEnabledFor)
def _is_enabled_for(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> bool:
    logger, level = args
    if not machine.sources.guarded and _is_logging(machine.frame.decoded.code.co_filename):
        return True  # the record asks when the graph runs
    enabled: bool = logging.Logger.isEnabledFor(logger, level)
    machine.sources.answer(logger, "isEnabledFor", level, enabled)
    return enabled


@handles(logging.Logger._log)
def _log(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    logger, level, message, values, exc_info, extra, stack_info, stacklevel = _log_arguments(*args, **kwargs)
    if stack_info:
        raise Unsupported(
            Refusal.IMPURE_CALL, "stack_info asks for the stack, which a graph does not have", "leave it out"
        )
    if isinstance(exc_info, BaseException):
        exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
    elif exc_info and not isinstance(exc_info, tuple):
        exc_info = machine.calls.call(sys.exc_info, [], {})
    if exc_info and any(part is not None and (id(part) in machine.created) for part in (exc_info[1], exc_info[2])):
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "the record of an exception needs its traceback, which a graph does not have",
            "log the exception's text",
        )
    _check_way(machine, in_the_way_of_logger, logger)
    place = _place(machine, stacklevel, _is_logging)
    call_host(machine, partial(_give_record, logger, level, place), message, tuple(values), exc_info, extra)


def _log_arguments(
    logger: Any, level: Any, msg: Any, args: Any, exc_info: Any = None, extra: Any = None, stack_info: bool = False,
    stacklevel: int = 1,
) -> tuple[Any, ...]:  # fmt: skip
    return logger, level, msg, args, exc_info, extra, stack_info, stacklevel


def _give_record(
    logger: logging.Logger, level: int, place: _Place | int, message: Any, values: Any, exc_info: Any, extra: Any
) -> None:
    if not logger.isEnabledFor(level):
        return
    found = _found(place, _is_logging)
    record = logger.makeRecord(
        logger.name, level, found.file, found.line, message, values, exc_info, found.function, extra, None
    )
    logger.handle(record)


@handles(logging.getLogger)
def _get_logger(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> logging.Logger:
    return logging.getLogger(*args, **kwargs)


@handles(logging.basicConfig)
def _basic_config(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    if kwargs:
        refused("logging.basicConfig", _CONFIGURE)(machine, args, kwargs)
    call_host(machine, logging.basicConfig)  # as the first `logging.info` does


_CONFIGURE: Final = "configure logging outside the compiled function"
for _function in (
    logging.disable, logging.captureWarnings, logging.Logger.setLevel, logging.Logger.addHandler,
    logging.Logger.removeHandler, logging.Filterer.addFilter, logging.Filterer.removeFilter,
):  # fmt: skip
    handles(_function)(refused(f"logging.{_function.__qualname__}", _CONFIGURE))
