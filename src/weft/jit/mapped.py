"""`vmap` of what is compiled: the mapping is compiled like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from weft import context, vectorize
from weft.capture.leaving.tracebacks import hide_runtime
from weft.core import trace as trace_module
from weft.core.frames import passed_over
from weft.jit.compiled import Compiled, is_eager
from weft.jit.function import dispatched, dispatcher_of
from weft.jit.instances import Instances
from weft.nn.cell import Cell
from weft.vectorize import call_mapped


def _mapping_of(function: Any) -> Callable[..., Any] | None:
    """The compiled call of a mapping of what is compiled where it is called now, else None."""
    if isinstance(function, Cell):
        return _call_of_cell if _is_compiled(function) else None
    dispatcher = dispatcher_of(function)
    if dispatcher is None or dispatcher.is_absent():
        return None
    if dispatcher.mapped is None:
        dispatcher.mapped = dispatched(call_mapped, replace(dispatcher.options, compile_once=False, signature=None))
    return dispatcher.mapped


def _is_compiled(cell: Cell) -> bool:
    """Whether a call of a Cell runs compiled now, or its `construct` does."""
    dispatcher = dispatcher_of(cell.construct)
    if dispatcher is not None and not dispatcher.is_absent():
        return True
    return context.MODE == context.GRAPH_MODE and not is_eager() and trace_module.current() is None


@passed_over
def _call_of_cell(in_axes: Any, out_axes: Any, cell: Cell, *args: Any) -> Any:
    """Call a mapping of a Cell, which owns the entries."""
    try:
        return _cells.of(cell).call((in_axes, out_axes, cell, *args), {})
    except BaseException as error:
        hide_runtime(error)
        raise


def _make(cell: Cell) -> Compiled:
    dispatcher = dispatcher_of(cell.construct)
    fullgraph = dispatcher is not None and dispatcher.options.fullgraph
    return Compiled(call_mapped, True, type(cell).__name__, fullgraph=fullgraph)


_cells = Instances(_make)
vectorize.install(_mapping_of)
