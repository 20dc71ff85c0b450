"""Tensors that leave a graph and share elements: the entry makes those that it rebuilds views of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from weft.core import trace as trace_module
from weft.core.run_number import RunNumber
from weft.core.sharing import Alternative, Way, kin, member, others_in_group
from weft.core.tensor import Tensor
from weft.core.trace import Trace
from weft.errors import Refusal, Unsupported
from weft.ir.sizes import is_open_size


class Writing(Protocol):
    """What views ask of the writer of values."""

    lines: list[str]
    last_fork: int
    reached: Callable[[], Counter[int]]

    def expression(self, value: Any) -> str: ...
    def is_outside(self, tensor: Tensor) -> bool: ...
    def truth(self, case: Any) -> str: ...


def join(writer: Writing, tensor: Tensor, name: str) -> None:
    """Make a rebuilt tensor a view of its base, if that leaves as well or other views of it do.

    Args:
        writer: writes the entry.
        tensor: the tensor.
        name: its name in the entry.
    """
    refuse_unclear(writer, tensor)
    trace = _trace()
    known = member(tensor)
    if known is not None:
        base: Any = known.base
        others = [view for view in known.storage.living() if view is not tensor]
        if _leaves(writer, trace, base) or any(writer.reached()[id(other)] for other in others):
            writer.lines.append(_share(writer, name, base, known.way))
    for one in _alternatives(writer, trace, tensor):
        line = _share(writer, name, one.case.handle, one.way)
        writer.lines.append(f"if {writer.truth(one.case)}: {line}")


def _share(writer: Writing, name: str, base: Tensor, way: Way) -> str:
    steps = [
        f"({kind!r}, {_spelled(writer, attrs)}, ({''.join(writer.expression(operand) + ', ' for operand in operands)}))"
        for kind, attrs, operands in way
    ]
    return f"share({', '.join([name, writer.expression(base), *steps])})"


def _spelled(writer: Writing, attrs: Any) -> str:
    """Attributes of a step, with sizes as the call has them."""
    if type(attrs) is tuple:
        return f"({''.join(_spelled(writer, item) + ', ' for item in attrs)})"
    if is_open_size(attrs):
        attrs = _trace().size_of(attrs)
    return writer.expression(attrs) if issubclass(type(attrs), RunNumber) else repr(attrs)


def refuse_unclear(writer: Writing, tensor: Tensor) -> None:
    """Refuse a tensor that may share elements with another that exists outside."""
    trace = _trace()
    for other in others_in_group(trace, tensor):
        if _leaves(writer, trace, other):
            refusal = Unsupported(
                Refusal.OUTPUT,
                "a tensor is still needed that shares its elements with another one or not, depending on a condition "
                "that only the running graph knows",
                "copy the tensor on each path (x.copy())",
            )
            refusal.step = writer.last_fork
            raise refusal


def is_shared(writer: Writing, tensor: Tensor) -> bool:
    """Whether a tensor has to be itself since it may share elements with another one."""
    trace = _trace()
    return (
        member(tensor) is not None
        or _views_leave(writer, trace, tensor)
        or id(tensor) in trace.alternatives
        or bool(others_in_group(trace, tensor))
    )


def _trace() -> Trace:
    trace = trace_module.current()
    assert trace is not None
    return trace


def _alternatives(writer: Writing, trace: Trace, tensor: Tensor) -> list[Alternative]:
    """The cases in which a tensor is a view of one that leaves."""
    found = trace.alternatives.get(id(tensor), ())
    return [one for one in found if _leaves(writer, trace, one.case.handle)]


def _leaves(writer: Writing, trace: Trace, base: Tensor) -> bool:
    """Whether a tensor, or a view of it, exists outside of the graph; or one that it may be, or may be a view of."""
    reached = writer.reached()
    return any(
        writer.is_outside(one) or reached[id(one)] > 0 or _views_leave(writer, trace, one) for one in kin(trace, base)
    )


def _views_leave(writer: Writing, trace: Trace, base: Tensor) -> bool:
    """Whether a tensor exists outside of the graph that is a view of another, or may be."""
    found = trace.storages.get(id(base))
    if found is None:
        return False
    storage, reached = found[1], writer.reached()
    return any(reached[id(view)] for view in storage.living()) or any(
        reached[id(one.view)] or _views_leave(writer, trace, one.view) for one in storage.maybe
    )
