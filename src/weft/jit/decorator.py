"""`jit`, the decorator, and its older name `ms_function`."""

from __future__ import annotations

import inspect
import logging
import types
from collections.abc import Callable
from typing import Any

from weft.capture.capture import prepare
from weft.core.transparency import PYTHON_ONLY, keeps
from weft.errors import Location, Refusal, Unsupported
from weft.jit.apply import apply
from weft.jit.function import dispatched, is_compiled
from weft.jit.options import Options, options_of

_log = logging.getLogger("weft.jit")


@keeps
def jit(
    fn: Callable[..., Any] | None = None,
    mode: Any = None,
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
        fn: function or method to compile (static, class, bound or partial methods and other callables too), or a Cell
            or class of Cells, whose `construct` is compiled; None makes a decorator. A coroutine function
            stays as it is: it runs in Python between its suspensions.
        mode: ``"PSJit"`` takes outside values as constants of the first call. ``"PIJit"`` guards them, and counts as
            absent in graph mode. Programs that give the signature second and the mode last are understood as well.
        input_signature: what the arguments must agree with: one Tensor, `TensorSpec` or sequence of them, with one for
            each argument, or a dict for some arguments by name. None as a dimension agrees with any size.
        hash_args: an object or a sequence of objects; when the hash of one changes, the function is captured again.
        jit_config: a `JitConfig` or a dict; its ``jit_syntax_level="STRICT"`` is `fullgraph`.
        compile_once: functions made again and again from the same code share their graphs, as long as their closures
            and defaults hold the same values. The first one is kept for good.
        capture_mode: ``"ast"`` is ``mode="PSJit"``, ``"bytecode"`` is ``mode="PIJit"``, ``"trace"`` guards too.
        jit_level: ``""``, ``"O0"``, ``"O1"``, ``"O2"`` or ``"O3"``; nothing to do, XLA optimises the same way at each.
        dynamic: 1 if shapes may change; nothing to do: sizes that change are left open either way (docs/sizes.md).
        fullgraph: make it an error when a part of the function cannot be in the graph.
        backend: ``""``, ``"ms_backend"`` or ``"GE"``; nothing to do, XLA is the one back end.
        options: ``disable_format_transform``, ``exec_order``, ``ge_options``, ``infer_boost``; nothing to do, likewise.

    Returns:
        The compiled function, which looks like the function given (name, signature, documentation), or a decorator.

    Raises:
        ValueError: an option has none of its values; the message lists them.
        TypeError: `fn` cannot be called, or an option is unknown or of the wrong type.

    Example:
        >>> @jit
        ... def square_sum(x):
        ...     return (x * x).sum()
        >>> print(square_sum(Tensor([1.0, 2.0])))
        5.0
    """
    if isinstance(jit_config, str) or not (mode is None or isinstance(mode, str)):
        # the order of an earlier generation: fn, input_signature, hash_args, jit_config, mode
        mode, input_signature, hash_args, jit_config = jit_config, mode, input_signature, hash_args
    if isinstance(fn, str):
        fn, mode = None, fn
    if fn is None:
        fn = options.pop("function", None)
    checked = options_of(
        mode,
        capture_mode,
        input_signature,
        hash_args,
        jit_config,
        compile_once,
        jit_level,
        dynamic,
        fullgraph,
        backend,
        options,
    )

    def decorate(function: Any) -> Any:
        return apply("jit", lambda part: _compile(part, checked), function)

    return decorate if fn is None else decorate(fn)


@keeps
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


@keeps
def _compile(function: Any, options: Options) -> Any:
    """Decorate a function; one that is decorated already is only done again for other options."""
    if is_compiled(function):
        if options in (Options(), function.__weft_dispatcher__.options):
            return function
        function = function.__weft_inline__
    if function.__class__ is types.FunctionType and function.__code__ in PYTHON_ONLY:
        return function
    prepare()  # now, and not in the first call
    kind = _suspends(function)
    if kind is None:
        return dispatched(function, options)
    why = f"{function.__qualname__} is a {kind}, which runs in Python between its suspensions"
    if options.fullgraph:
        code = function.__code__
        location = Location(code.co_filename, code.co_firstlineno, scope=function.__qualname__)
        do = "decorate the functions that it calls, or leave fullgraph out"
        raise Unsupported(Refusal.UNSUPPORTED_SYNTAX, why, do, location)
    _log.info("%s; decorate the functions that it calls", why)
    return function


def _suspends(function: Any) -> str | None:
    """What kind of suspending function this is, if it is one."""
    if inspect.iscoroutinefunction(function):
        return "coroutine function"
    if inspect.isasyncgenfunction(function):
        return "asynchronous generator function"
    return None
