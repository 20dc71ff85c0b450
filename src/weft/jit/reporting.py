"""Which entries belong to a callable, for whoever reports on it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from weft import context
from weft.capture.state import events
from weft.jit.compiled import Compiled
from weft.jit.decorator import jit
from weft.jit.function import compiled_of, dispatcher_of
from weft.jit.graph_mode import compiled_cell
from weft.nn.cell import Cell


def histories_of(fn: Any) -> list[events.History]:
    """What happened to a compiled callable: to all its entries, or to those of the instance of a bound method.

    Args:
        fn: what `jit` returned, a decorated method, or a Cell: one that ran in graph mode or whose `construct` is
            decorated.
    """
    if isinstance(fn, Cell):
        in_graph_mode = compiled_cell(fn).history
        return [in_graph_mode] if in_graph_mode.captured else histories_of(fn.construct)
    if isinstance(fn, types.MethodType):
        found = compiled_of(fn)
        return [] if found is None else [found.history]
    dispatcher = dispatcher_of(fn)
    return [] if dispatcher is None else dispatcher.histories()


def compile_callable(fn: Any) -> tuple[Compiled, Callable[..., Any]]:
    """What a callable runs when compiled, and the call that runs it; it is compiled if it is not yet.

    Args:
        fn: a function, a method, a Cell, or what `jit` returned.

    Returns:
        tuple: the entries, and a function of the same arguments.

    Raises:
        TypeError: `fn` cannot be called, or is a class.
    """
    if isinstance(fn, staticmethod):
        fn = fn.__func__
    if isinstance(fn, Cell):
        compiled = None if context.MODE == context.GRAPH_MODE else compiled_of(fn.construct)
        return (compiled_cell(fn), functools.partial(_run_cell, fn)) if compiled is None else (compiled, fn)
    if isinstance(fn, type):
        what = f"the class {fn.__name__}; make an instance"
        raise TypeError(f"only functions, methods and Cells can be compiled, not {what}")
    if not callable(fn):
        raise TypeError(f"only functions, methods and Cells can be compiled, not {type(fn).__name__}")
    run = fn if compiled_of(fn) is not None else jit(fn)
    compiled = compiled_of(run)
    if compiled is None:
        raise TypeError(f"{fn!r} runs in Python only")
    return compiled, run


def _run_cell(cell: Cell, *args: Any, **kwargs: Any) -> Any:
    return compiled_cell(cell).call((cell, *args), kwargs)
