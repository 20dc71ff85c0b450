"""Whether a gradient follows tensors, as far as that is known where it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import trace as trace_module
from weft.core.dispatch import edges_of
from weft.core.tape import UNSURE
from weft.core.tensor import Tensor
from weft.core.trace import Trace


def is_followed(tensors: Sequence[Tensor]) -> bool | None:
    """Whether a gradient follows one of some tensors.

    Returns:
        None where that is only known later: when the graph under construction is differentiated, or when it runs.
    """
    trace = trace_module.current()
    if trace is None:
        settle(tensors, None)
        return edges_of(tensors, None) is not None
    return _any(_in_trace(trace, tensor) for tensor in tensors)


def is_followed_around(trace: Trace, tensor: Tensor) -> bool | None:
    """Whether a gradient that is in progress outside of an active trace follows a tensor from there."""
    if trace.outer is not None:
        return _in_trace(trace.outer, tensor)
    with trace_module.suspended():
        return is_followed([tensor])


def _in_trace(trace: Trace, tensor: Tensor) -> bool | None:
    if edges_of([tensor], trace.graph) is not None:
        return None if trace.partly_followed else True
    return trace.is_followed(tensor)


def _any(found: Any) -> bool | None:
    known = set(found)
    return True if True in known else None if None in known else False


def settle(tensors: Sequence[Tensor], level: Any) -> None:
    """Take away the history of tensors that this run did not compute from what is differentiated.

    Args:
        tensors: the tensors.
        level: the graph under construction that they belong to, None in eager code; a graph does not know.
    """
    if level is None and UNSURE.count:
        for tensor in tensors:
            UNSURE.settle(tensor)
