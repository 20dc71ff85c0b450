"""Marks that a graph carries so that it can be differentiated later: a hook, a rule of the user's own.

Eager code leaves these as entries on the tape. A graph under construction may be differentiated after it is
finished, so there they are operations: each computes the identity and says how gradients pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core.dispatch import append, record
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor
from weft.core.trace import Trace
from weft.ir.types import TensorType


class Rule:
    """How gradients pass a mark.

    Args:
        pull: ``pull(operands, results, douts) -> gradients of the leading operands``, on tensors.
        results: how many of the last operands are the results.
        label: shown in graph listings.
    """

    __slots__ = ("pull", "results", "label")

    def __init__(self, pull: Callable[[Any, Any, Any], Sequence[Any]], results: int, label: str) -> None:
        self.pull = pull
        self.results = results
        self.label = label

    def __repr__(self) -> str:
        return self.label


class _MarkPrimitive(Primitive):
    """Types are not memoised: that would keep the user's functions alive."""

    __slots__ = ()

    def infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        return inputs[len(inputs) - attrs[0].results :]  # type: ignore[return-value]


def _derivative(*operands: Any, rule: Rule) -> tuple[Any, ...]:
    *inputs, out, dout = operands
    return tuple(rule.pull(inputs, out, dout))


MARK = _MarkPrimitive(
    "Mark",
    lambda *arrays, rule: arrays[len(arrays) - rule.results :],
    attr_names=("rule",),
    multiple=True,
    derivative=_derivative,
)


def mark(trace: Trace, operands: Sequence[Tensor], rule: Rule) -> tuple[Tensor, ...]:
    """Append a mark to the graph under construction; its results are new handles."""
    inputs = tuple(operands)
    values = append(trace, MARK, inputs, (rule,))
    return record(MARK, (rule,), inputs, values, trace.graph)
