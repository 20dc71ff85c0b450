"""`jit`: a function that runs as a compiled graph, its entries, and the cached call."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, Final

from weft.capture.capture import MISS, Entry, capture
from weft.core import trace as trace_module
from weft.core.transparency import transparent
from weft.errors import Unsupported, WeftError
from weft.nn import cell as cell_module
from weft.nn.cell import Cell

_SLOT: Final = "__weft_compiled__"
_MODES: Final = ("PSJit", "PIJit")
_CAPTURE_MODES: Final = ("ast", "bytecode", "trace")


#: one capture at a time: it reads and writes the program's own objects
_capture_lock = threading.RLock()


class Compiled:
    """A callable with the entries captured for it.

    Args:
        function: what to run: a function, a bound method or a Cell.
        guarded: whether outside values are guarded (else they are constants of each capture).
        name: name of the graphs.
        prefix: arguments that precede those of each call (the instance of a method).
    """

    __slots__ = ("function", "guarded", "name", "prefix", "entries", "latest", "__weakref__")

    def __init__(self, function: Callable[..., Any], guarded: bool, name: str, prefix: tuple[Any, ...] = ()) -> None:
        self.function = function
        self.guarded = guarded
        self.name = name
        self.prefix = prefix
        #: (number of positional arguments, names of keyword arguments) -> entries, most recently used first
        self.entries: dict[tuple[Any, ...], list[Entry]] = {}
        #: number of positional arguments -> code of the most recently used entry
        self.latest: dict[int, Callable[..., Any]] = {}

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the entry that fits, capturing one if there is none."""
        if self.prefix:
            args = (*self.prefix, *args)
        entries = self.entries.get((len(args), *kwargs) if kwargs else (len(args),))
        if entries is not None:
            values = (*args, *kwargs.values()) if kwargs else args
            for position, entry in enumerate(entries):
                result = entry.run(*values)
                if result is not MISS:
                    if position:
                        entries.insert(0, entries.pop(position))
                    if not kwargs:
                        self.latest[len(args)] = entry.run
                    return result
        return self.capture_and_call(args, kwargs)

    def capture_and_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Capture the call as a new entry and run it."""
        key = (len(args), *kwargs)
        with _capture_lock:
            for entry in self.entries.get(key, ()):  # another thread may have captured it meanwhile
                result = entry.run(*args, *kwargs.values())
                if result is not MISS:
                    return result
            try:
                entry = capture(self.function, args, kwargs, self.guarded, self.name)
            except Unsupported:
                raise
            except Exception as error:
                return self._reproduce(error, args, kwargs)
            self.entries.setdefault(key, []).insert(0, entry)
        if not kwargs:
            self.latest[len(args)] = entry.run
        result = entry.run(*args, *kwargs.values())
        if result is MISS:
            raise WeftError(
                f"the new graph of {self.name!r} does not accept the arguments it was captured with; "
                "an argument or global changes while it is read"
            )
        return result

    def _reproduce(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function raised while it was captured: run it in Python, which raises the same from the user's line."""
        with eagerly():
            self.function(*args, **kwargs)
        raise WeftError(
            f"capturing {self.name!r} raised {type(error).__name__}: {error}, but running it in Python did not"
        ) from error


class _Eagerly(threading.local):
    depth = 0


_eager = _Eagerly()
#: whether some thread captures or runs eagerly on purpose: the cached call then takes the careful path
_careful = 0
_careful_lock = threading.Lock()


def _count(change: int) -> None:
    global _careful
    with _careful_lock:
        _careful += change


trace_module.on_activity(lambda active: _count(1 if active else -1))


class eagerly:
    """Within this block compiled functions of this thread run in Python."""

    def __enter__(self) -> None:
        _eager.depth += 1
        _count(1)

    def __exit__(self, *_: object) -> None:
        _eager.depth -= 1
        _count(-1)


class Jit:
    """A function decorated with `jit`.

    Args:
        function: the function.
        guarded: see `Compiled`.
    """

    def __init__(self, function: Callable[..., Any], guarded: bool) -> None:
        functools.update_wrapper(self, function)
        self.__weft_inline__ = function
        self.compiled = Compiled(function, guarded, getattr(function, "__name__", "function"))
        self.latest = self.compiled.latest

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and not _careful:
            run = self.latest.get(len(args))
            if run is not None:
                result = run(*args)
                if result is not MISS:
                    return result
        return _call(self.compiled, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        namespace = getattr(instance, "__dict__", None)
        if not isinstance(namespace, dict):
            return types.MethodType(self, instance)
        methods = namespace.get(_SLOT)
        if methods is None:
            methods = namespace[_SLOT] = {}
        found = methods.get(self)
        if found is None:
            found = methods[self] = BoundJit(self, instance)
        return found

    def __repr__(self) -> str:
        return f"<jit {self.compiled.name}>"


class BoundJit:
    """A decorated method of one instance; the instance owns it, and with it the entries."""

    def __init__(self, jitted: Jit, instance: Any) -> None:
        functools.update_wrapper(self, jitted.compiled.function)
        function = jitted.compiled.function
        self.__self__ = instance
        self.__func__ = jitted
        self.__weft_inline__ = types.MethodType(function, instance)
        self.compiled = Compiled(function, jitted.compiled.guarded, jitted.compiled.name, (instance,))
        self.latest = self.compiled.latest

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and not _careful:
            run = self.latest.get(len(args) + 1)
            if run is not None:
                result = run(self.__self__, *args)
                if result is not MISS:
                    return result
        return _call(self.compiled, args, kwargs)

    def __repr__(self) -> str:
        return f"<jit method {self.compiled.name} of {self.__self__!r}>"


def _call(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _eager.depth or trace_module.current() is not None:
        return compiled.function(*compiled.prefix, *args, **kwargs)
    return compiled.call(args, kwargs)


def jit(
    fn: Callable[..., Any] | None = None,
    mode: str | None = None,
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
    compile_once: bool = False,
    *,
    capture_mode: str | None = None,
    jit_level: str = "",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Run a function as a compiled graph.

    The first call with new argument types captures the function's Python, tensor-dependent control flow included,
    as one graph; later calls run it. Values that the function reads from outside (globals, closures, attributes)
    are guarded: an edit is seen at the next call.

    Args:
        fn: function or method to compile, or a Cell, whose `construct` is compiled; None makes a decorator.
        mode: ``"PSJit"`` takes outside values as constants of the first call; ``"PIJit"`` guards them.
        input_signature: kept for programs that state argument types; capture finds them by itself.
        hash_args: kept, likewise.
        jit_config: kept, likewise.
        compile_once: kept, likewise.
        capture_mode: ``"ast"`` is ``mode="PSJit"``, ``"bytecode"`` is ``mode="PIJit"``, ``"trace"`` guards too.
        jit_level: optimisation level, kept.
        dynamic: whether shapes may be dynamic, kept.
        fullgraph: refuse to split the function (it is never split so far).
        backend: kept; computations run on the configured device.
        options: further back-end options, kept.

    Returns:
        The compiled function, or a decorator.

    Raises:
        ValueError: an unknown mode.
        TypeError: `fn` cannot be called.

    Example:
        >>> @jit
        ... def square_sum(x):
        ...     return (x * x).sum()
        >>> print(square_sum(Tensor([1.0, 2.0])))
        5.0
    """
    if isinstance(fn, str):
        fn, mode = None, fn
    if mode is not None and mode not in _MODES:
        raise ValueError(f"jit(mode={mode!r}): the modes are {', '.join(map(repr, _MODES))}")
    if capture_mode is not None and capture_mode not in _CAPTURE_MODES:
        raise ValueError(f"jit(capture_mode={capture_mode!r}): the modes are {', '.join(map(repr, _CAPTURE_MODES))}")
    guarded = mode != "PSJit" and capture_mode != "ast"
    if fn is None:
        return lambda function: _decorate(function, guarded)
    return _decorate(fn, guarded)


def ms_function(fn: Callable[..., Any] | None = None, input_signature: Any = None, **kwargs: Any) -> Any:
    """Run a function as a compiled graph, outside values being constants of the first call.

    Args:
        fn: see `jit`.
        input_signature: see `jit`.
        kwargs: see `jit`.

    Returns:
        The compiled function, or a decorator.

    Example:
        >>> @ms_function
        ... def double(x):
        ...     return x + x
        >>> print(double(Tensor([1.0])))
        [2.]
    """
    kwargs.setdefault("mode", "PSJit")
    return jit(fn, input_signature=input_signature, **kwargs)


def _decorate(fn: Any, guarded: bool) -> Any:
    if isinstance(fn, type) and issubclass(fn, Cell):
        fn.construct = Jit(fn.construct, guarded)  # type: ignore[method-assign]
        return fn
    if isinstance(fn, Cell):
        fn.__dict__["construct"] = Jit(fn.construct, guarded)
        return fn
    if isinstance(fn, (Jit, BoundJit)):
        return fn
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(Jit(fn.__func__, guarded))
    if not callable(fn):
        raise TypeError(f"jit compiles functions, methods and Cells, not {type(fn).__name__}")
    return Jit(fn, guarded)


def _graph_call(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Cell.__call__` in graph mode: the whole Cell is one graph."""
    compiled = cell.__dict__.get(_SLOT + "cell")
    if compiled is None:
        compiled = cell.__dict__[_SLOT + "cell"] = Compiled(_call_cell, True, type(cell).__name__, (cell,))
    if _eager.depth:
        return cell.construct(*args, **kwargs)
    return compiled.call(args, kwargs)


@transparent
def _call_cell(cell: Cell, *args: Any, **kwargs: Any) -> Any:
    return cell(*args, **kwargs)


cell_module.graph_call = _graph_call
