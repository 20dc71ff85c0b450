"""Marks: entries of a tape, and operations of a graph, at which a rule of the user's says how gradients pass.

A mark computes the identity. In eager code it is an entry on the tape. A graph under construction may be differentiated
after it is finished, so there it is an operation as well. Its rule is called by the backward pass, whenever there is
one.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.following import settle
from weft.core import trace as trace_module
from weft.core.dispatch import IDENTITY, append, edges_of, note_edges, pass_on, record, stays_in_region
from weft.core.primitive import Primitive
from weft.core.tape import TapeNode
from weft.core.tensor import Tensor, data_of, present, tracked, wrap
from weft.core.transparency import keeps, transparent
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Node
from weft.ir.types import TensorType


class Handed:
    """Stands in the rules of a finished graph for an object of the program, which each run of the graph is given.

    Args:
        place: its number among what a run is given.
        label: shown in graph listings.
    """

    __slots__ = ("place", "label")

    def __init__(self, place: int, label: str) -> None:
        self.place = place
        self.label = label


class Run:
    """What the rules of a graph have in common in one run of it.

    Args:
        handed: the objects of the program for which `Handed` stands.
    """

    __slots__ = ("handed", "memo")

    def __init__(self, handed: Sequence[Any] = ()) -> None:
        self.handed = handed
        #: what was renewed for this run, by id
        self.memo: dict[int, Any] = {}

    def given(self, obj: Any) -> Any:
        """An object of a rule, as this run is given it."""
        return self.handed[obj.place] if obj.__class__ is Handed else obj


class Rule:
    """How gradients pass a mark.

    A rule does not hold tensors of the program: it is part of graphs, which outlive them. Nor do the rules of a graph
    that is captured hold other objects, in the place of which the next call may bring others: `Handed` stands there.
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

    def objects(self) -> tuple[Any, ...]:
        """The objects of the program that the rule holds."""
        raise NotImplementedError

    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        """The rule on other objects.

        Args:
            change: gives what takes the place of an object of the program.
            memo: what was changed along with other rules of the graph, by id.
        """
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
    if stays_in_region(trace):
        values = [append(trace, IDENTITY, (t,), ())[0] for t in inputs[len(inputs) - results :]]
        return enter(rule, inputs, values, trace.graph)
    refuse_unwatched(trace, rule)
    return enter(rule, inputs, append(trace, MARK, inputs, (rule, results)), trace.graph)


def enter(rule: Rule, inputs: Sequence[Any], marked: Sequence[Any], level: Any) -> tuple[Tensor, ...]:
    """Marked tensors, with the tape entry of the mark if a gradient follows an operand.

    Args:
        rule: how gradients pass.
        inputs: the operands of the mark.
        marked: the arrays or IR values that it gives.
        level: the graph under construction, None in eager code.
    """
    settle(inputs, level)
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


def renewed(node: Node, operands: Sequence[Any], level: Any, run: Run) -> tuple[Rule, int]:
    """The attributes of a mark of a graph for another run of it.

    Args:
        node: the mark.
        operands: its operands in that run.
        level: the graph under construction that the run is part of, None in eager code.
        run: what the rules have in common in that run.
    """
    rule, results = node.attrs
    if run.handed:
        rule = rule.on(run.given, run.memo)
    settle(operands, level)
    return rule.renewed(edges_of(operands, level), run.memo), results


def refuse_unwatched(trace: trace_module.Trace, rule: Rule) -> None:
    """Refuse a rule of the user's that only holds for the call, where backward passes after the call will need it."""
    if not trace.watched:
        return
    trace.holds_objects(rule.objects())
    made = any(trace.is_made(part) and not is_free(part) for code in rule.user_code() for part in parts_of(code))
    if made and not trace.followed:
        trace.unrepeatable = True
    elif made:
        raise made_by_the_call(rule.label)


def made_by_the_call(what: str) -> Unsupported:
    """The refusal of a rule that only holds for the call."""
    return Unsupported(
        Refusal.IMPURE_CALL,
        f"{what} is made by this call and runs in a backward pass after it",
        "define it outside the compiled function",
    )


def is_free(part: Any) -> bool:
    """Whether an object is a function that depends on nothing but its globals."""
    if not isinstance(part, types.FunctionType):
        return False
    return not part.__closure__ and not part.__defaults__ and not part.__kwdefaults__


def parts_of(function: Any) -> list[Any]:
    """A callable and what it is made of; nothing of the program's is asked."""
    if type(function) not in _BOUND:
        return [function]
    parts = (function, getattr(function, "__func__", None), function.__self__)
    return [part for part in parts if part is not None]


_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def name_of(obj: Any) -> str:
    """A name for an object in graph listings and messages; nothing of the program's is asked."""
    kind = type(obj)
    return str(obj.__qualname__ if kind in _BOUND or kind is types.FunctionType else kind.__name__)
