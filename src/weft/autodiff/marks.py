"""Marks: entries of a tape, and operations of a graph, at which a rule of the user's says how gradients pass.

A mark computes the identity. In eager code it is an entry on the tape. A graph under construction may be differentiated
after it is finished, so there it is an operation as well. Its rule is called by the backward pass, whenever there is
one.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from weft.core import trace as trace_module
from weft.core.dispatch import append, edges_of, note_edges, pass_on, record
from weft.core.primitive import Primitive
from weft.core.tape import UNSURE, TapeNode
from weft.core.tensor import Tensor, data_of, present, tracked, wrap
from weft.core.transparency import keeps, transparent
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Node
from weft.ir.types import TensorType


class Rule:
    """How gradients pass a mark.

    A rule does not hold tensors of the program: it is part of graphs, which outlive them.
    """

    __slots__ = ()
    #: shown in graph listings
    label = ""
    #: hooks of a tensor, where the rule is nothing but these
    hooks: Any = None

    def pull(self, operands: Any, results: Any, douts: Any) -> Sequence[Any]:
        """The gradients of the leading operands; calls the user's code.

        Args:
            operands: what was marked, and what the rule needs besides.
            results: what the mark returned.
            douts: one gradient for each result.
        """
        raise NotImplementedError

    def user_code(self) -> tuple[Any, ...]:
        """The functions of the user's that the rule calls."""
        raise NotImplementedError

    def renewed(self, edges: Sequence[Any] | None, memo: dict[int, Any]) -> Rule:
        """The rule for another run of the graph; what a pass notes in it is not shared between runs.

        Args:
            edges: for each operand what computed it, where a gradient follows it in that run; None if it follows none.
            memo: what was renewed for this run, by id.
        """
        del edges, memo
        return self

    def __repr__(self) -> str:
        return self.label


class _MarkPrimitive(Primitive):
    """Types are not memoised: that would keep the user's functions alive."""

    __slots__ = ()

    def infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        return inputs[len(inputs) - attrs[1] :]  # type: ignore[return-value]


@keeps
def own_gradient(gradient: Any) -> Any:
    """What code of the program gets as a gradient: a handle of its own, since it may write to it."""
    return present(gradient) if isinstance(gradient, Tensor) else gradient


@keeps
def own_gradients(douts: Any) -> Any:
    """Gradients that code of the program gets, see `own_gradient`."""
    return tuple([own_gradient(dout) for dout in douts]) if isinstance(douts, tuple) else own_gradient(douts)


@transparent
def _derivative(*operands: Any, rule: Rule, results: int) -> tuple[Any, ...]:
    return tuple(rule.pull(operands[:-2], operands[-2], own_gradients(operands[-1])))


MARK = _MarkPrimitive(
    "Mark",
    lambda *arrays, rule, results: arrays[len(arrays) - results :],
    attr_names=("rule", "results"),
    multiple=True,
    derivative=_derivative,
)
MARK.asks = True


@keeps
def mark(operands: Sequence[Tensor], results: int, rule: Rule) -> tuple[Tensor, ...]:
    """Mark tensors; the marked ones are new handles.

    Args:
        operands: tensors whose gradients the rule gives, and others that it needs.
        results: how many of the last operands are marked.
        rule: how gradients pass.
    """
    inputs = tuple(operands)
    trace = trace_module.current()
    if trace is None:
        return enter(rule, inputs, [data_of(t) for t in inputs[len(inputs) - results :]], None)
    refuse_unwatched(trace, rule.user_code(), rule.label)
    return enter(rule, inputs, append(trace, MARK, inputs, (rule, results)), trace.graph)


def enter(rule: Rule, inputs: Sequence[Any], marked: Sequence[Any], level: Any) -> tuple[Tensor, ...]:
    """Marked tensors, with the tape entry of the mark if a gradient follows an operand.

    Args:
        rule: how gradients pass.
        inputs: the operands of the mark.
        marked: the arrays or IR values that it gives.
        level: the graph under construction, None in eager code.
    """
    if level is None and UNSURE.count:
        for operand in inputs:
            UNSURE.settle(operand)
    if rule.hooks is None:
        made: tuple[Tensor, ...] = record(MARK, (rule, len(marked)), tuple(inputs), marked, level)
        return made
    edges = edges_of(inputs, level)
    if edges is None:
        return (wrap(marked[0]),)
    node = TapeNode(edges, 1, pass_on, level)
    node.hooks = rule.hooks
    if level is not None:
        note_edges(node, marked)
    return (tracked(marked[0], node, 0),)


def renewed(node: Node, operands: Sequence[Any], level: Any, memo: dict[int, Any]) -> tuple[Rule, int]:
    """The attributes of a mark of a graph for another run of it.

    Args:
        node: the mark.
        operands: its operands in that run.
        level: the graph under construction that the run is part of, None in eager code.
        memo: what was renewed for this run, by id.
    """
    rule, results = node.attrs
    return rule.renewed(edges_of(operands, level), memo), results


def refuse_unwatched(trace: trace_module.Trace, functions: Sequence[Callable[..., Any]], label: str) -> None:
    """Refuse a rule of the user's that only holds for the call, where backward passes after the call will need it."""
    if not trace.watched:
        return
    made = any(trace.is_made(part) and not _is_free(part) for function in functions for part in parts_of(function))
    if made and not trace.followed:
        trace.unrepeatable = True
    elif made:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            f"{label} is made by this call and runs in a backward pass after it",
            "define it outside the compiled function",
        )


def _is_free(part: Any) -> bool:
    """Whether an object is a function that depends on nothing but its globals."""
    if not isinstance(part, types.FunctionType):
        return False
    return not part.__closure__ and not part.__defaults__ and not part.__kwdefaults__


def parts_of(function: Any) -> list[Any]:
    """A callable and what it is made of."""
    parts = (function, getattr(function, "__func__", None), getattr(function, "__self__", None))
    return [part for part in parts if part is not None]
