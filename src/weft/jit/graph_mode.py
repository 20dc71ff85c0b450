"""Graph mode: a call of a Cell runs the whole Cell as one graph."""

from __future__ import annotations

import functools
import threading
from typing import Any

from weft.capture.leaving.entry import MISS
from weft.capture.leaving.tracebacks import hide_runtime
from weft.capture.python.defined import defined_at
from weft.core import trace
from weft.core.frames import passed_over
from weft.core.transparency import transparent
from weft.jit.compiled import Compiled, is_eager
from weft.jit.instances import Instances
from weft.jit.signature import Signature
from weft.nn import cell as cell_module
from weft.nn.cell import Cell
from weft.parallel import rows


@passed_over
def _graph_call(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Cell.__call__` in graph mode."""
    if is_eager():
        return NotImplemented
    if _left.cell is cell:
        _left.cell = None
        return NotImplemented
    stated = cell.__dict__.get("_inputs")
    if stated:
        Signature(stated, "set_inputs").check(cell.construct, args, kwargs)
    try:
        if not kwargs:
            result = _run_latest(cell, *args)
            if result is not MISS:
                return result
        return compiled_cell(cell).call((cell, *args), kwargs)
    except BaseException as error:
        hide_runtime(error)
        raise


@passed_over
def _call_of_rows(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`Cell.__call__` in graph mode, where processes may bring rows of a batch."""
    if is_eager() or _left.cell is cell:
        return _graph_call(cell, args, kwargs)
    return rows.call(functools.partial(_graph_call, cell), args, kwargs)


def compiled_cell(cell: Cell) -> Compiled:
    """The entries of a Cell as a whole."""
    with _lock:
        return _cells.of(cell)


@transparent
@passed_over
def _call_cell(self: Cell, *args: Any, **kwargs: Any) -> Any:
    if trace.current() is None:  # the whole call is left to Python, where the cells inside are graphs of their own
        _left.cell = self
    return self(*args, **kwargs)


class _Left(threading.local):
    """The Cell of which Python itself makes the next call."""

    cell: Cell | None = None


_left = _Left()


def _make(cell: Cell) -> Compiled:
    compiled = Compiled(_call_cell, True, type(cell).__name__)
    compiled.history.defined = defined_at(cell.construct)
    return compiled


_cells = Instances(_make)
_run_latest = _cells.fast_call()
_lock = threading.RLock()
cell_module.graph_call = _call_of_rows if rows.MANY else _graph_call
