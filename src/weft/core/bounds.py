"""Indices in tensors are in bounds: eager code looks before it uses them. Before a graph runs a guard looks at those
that it is given, so that nobody has to wait for its end; those that it computes it checks itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import jax
import numpy as np

from weft import context, dtypes
from weft.core import trace as trace_module
from weft.core.tensor import LiteralTensor, Tensor, data_of, whole_array
from weft.ir.graph import Value
from weft.ir.types import TensorType

#: operations whose results have elements of their first operand only
_REARRANGING: Final = frozenset({
    "BroadcastTo", "Detach", "ExpandDims", "Flip", "GetItem", "Identity", "PipelineStage", "Repeat", "RepeatElements",
    "Reshape", "Roll", "ShardingConstraint", "Slice", "Squeeze", "StopGradient", "Tile", "Transpose",
})  # fmt: skip
#: a guard looks at tensors of so many elements; what is larger takes longer than the graph needs for it
_LOOKED_AT: Final = 1 << 18


def check_bounds(
    index: Any, size: int | Sequence[int], what: str, *, least: int | None = None, ignored: int | None = None
) -> None:
    """Refuse indices out of bounds, now or where the graph under construction runs.

    Args:
        index: integer tensor, or what becomes one; with several sizes, its last axis holds a coordinate for each.
        size: the number of positions; indices are less.
        what: the message, with ``{}`` in place of the index that is out of bounds.
        least: the least index; None for ``-size``, which counts from the end.
        ignored: an index that is allowed everywhere; None for none.

    Raises:
        IndexError: an index is out of bounds.

    Example:
        >>> check_bounds(Tensor([0, 2]), 3, "there is no row {}")
        >>> check_bounds(Tensor([0, 3]), 3, "there is no row {}")
        Traceback (most recent call last):
        IndexError: there is no row 3
    """
    if not context.chosen("check_bounds"):
        return
    if isinstance(index, (int, list, tuple, np.ndarray)):
        index = Tensor(index)
    if not isinstance(index, Tensor) or index.dtype.category != 1:
        return  # what it is for refuses it
    if not isinstance(size, int):
        for position, each in enumerate(size):
            check_bounds(index[..., position], each, what, least=least, ignored=ignored)
        return
    low = -size if least is None else least
    trace = trace_module.current()
    data = data_of(index)
    if trace is None:
        if data.__class__ is not Value:
            _look(data, low, size, what, ignored)
    elif data.__class__ is Value or (type(index) is not LiteralTensor and id(index) not in trace.created):
        # within a branch the condition may be about the index; processes that run one graph have other indices, and
        # would choose other graphs
        may_look = trace.graph is trace.root and type(size) is int and jax.process_count() == 1
        given = _given(index, trace) if may_look else None
        if given is not None and trace.looks_before(given, low, size, ignored):
            return
        condition = _condition(index, low, size, ignored)
        if condition is not None:
            trace.check(condition, what.format("?"))
    else:
        _look(data, low, size, what, ignored)


def check(condition: Tensor, message: str) -> None:
    """Raise an `IndexError` unless a condition holds, now or where the graph under construction runs."""
    trace = trace_module.current()
    if trace is not None and condition.is_symbolic:
        trace.check(condition, message)
    elif not condition:
        raise IndexError(message)


def in_bounds(index: Tensor, low: int, size: int, ignored: int | None) -> bool:
    """Whether it is found out quickly that all indices are in bounds.

    Args:
        index: integer tensor.
        low: the least index.
        size: indices are less.
        ignored: an index that is allowed everywhere; None for none.
    """
    data = data_of(index)
    return data.size <= _LOOKED_AT and _out_of_bounds(np.asarray(data), low, size, ignored) is None


def _given(index: Tensor, trace: trace_module.Trace) -> Tensor | None:
    """The tensor from outside of which the elements of an index are, as they were when the graph began; None where it
    is computed.
    """
    value = data_of(index)
    if value.__class__ is not Value:
        return index
    while value.node is not None:
        operation, source = value.node.op.name, value.node.inputs[0] if value.node.inputs else None
        if source is None or not (operation in _REARRANGING or (operation == "Cast" and _holds_all(value, source))):
            return None
        value = source
    return next((tensor for tensor, param in trace.externals.values() if param is value), None)


def _holds_all(value: Value, source: Value) -> bool:
    """Whether all numbers of one type are numbers of another: a conversion leaves them as they are."""
    before, after = source.type, value.type
    return (
        isinstance(before, TensorType)
        and isinstance(after, TensorType)
        and np.can_cast(before.dtype.np_dtype, after.dtype.np_dtype, "safe")
    )


def _look(data: Any, low: int, size: int, what: str, ignored: int | None) -> None:
    """Refuse indices whose values are known."""
    wrong = _out_of_bounds(np.asarray(whole_array(data)), low, size, ignored)
    if wrong is not None:
        raise IndexError(what.format(wrong))


def _out_of_bounds(values: np.ndarray[Any, Any], low: int, size: int, ignored: int | None) -> int | None:
    """The first index that is out of bounds, None if there is none."""
    if not values.size or (low <= values.min() and values.max() < size):
        return None
    wrong = values[(values < low) | (values >= size)]
    if ignored is not None:
        wrong = wrong[wrong != ignored]
    return int(wrong.flat[0]) if wrong.size else None


def _condition(index: Tensor, low: int, size: int, ignored: int | None) -> Tensor | None:
    """Whether all indices are in bounds; None where those of the dtype are."""
    info = np.iinfo(index.dtype.np_dtype)
    within = []
    if low > info.min:
        within.append(index >= low)
    if size <= info.max:
        within.append(index < size)
    if not within:
        return None
    fits = within[0] if len(within) == 1 else within[0] & within[1]
    if ignored is not None and info.min <= ignored <= info.max:
        fits = fits | (index == ignored)
    # a sum, as losses and gradients are: over several devices they are one exchange
    return fits.logical_not().astype(dtypes.float32).sum() == 0
