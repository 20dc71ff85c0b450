"""Branches of a graph, and their derivative.

The gradient of an `If` is an `If` over the backward graphs of its sides, on what the side that ran has saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft import dtypes
from weft.autodiff.perhaps import Gradient, Perhaps, operands_for, pattern_of
from weft.compile.dependence import always_given
from weft.compile.differentiate import differentiate, joint_graph
from weft.compile.presence import filled
from weft.compile.regions import active, as_kind, owned, reached, takes_gradient, type_of, with_entry
from weft.core.control import IF, is_used_on_sides
from weft.core.dispatch import edges_of
from weft.core.tensor import Tensor, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.passes.rewrite import copy_graph

_BOOL: Final = TensorType.of(dtypes.bool_, ())


def apply_if(trace: Trace, condition: Tensor, operands: Sequence[Tensor], regions: Sequence[Graph]) -> list[Tensor]:
    """Append an `If`; where a gradient follows an operand, the results carry a tape entry.

    Args:
        trace: the active trace.
        condition: symbolic scalar truth.
        operands: one tensor for each parameter of both regions.
        regions: the two sides; copied if they belong to another graph.
    """
    then, orelse = regions
    edges = edges_of(operands, trace.graph)
    values = [trace.use(t) for t in operands]
    used = trace.use(condition)
    if edges is None or not then.outputs:
        own = (owned(then, trace.graph), owned(orelse, trace.graph))
        types = tuple([output.type for output in then.outputs])
        return [wrap(v) for v in trace.append(IF, (used, *values), (), types, own)]
    followed = tuple([edge is not None for edge in edges])
    ever = {place for side in regions for place, follow in enumerate(reached(side, followed)) if follow}
    trace.partly_followed |= ever != always_given(regions, followed)
    pullbacks = [differentiate(region, followed) for region in (then, orelse)]
    count = len(then.outputs)
    saved = [[v.type for v in p.forward.outputs[count:]] for p in pullbacks]
    sides = []
    for number, pullback in enumerate(pullbacks):
        region = copy_graph(pullback.forward, trace.graph)
        kept_here = region.outputs[count:]
        blank = [filled(region, kind, 0) for kind in saved[1 - number]]
        region.outputs[count:] = [*kept_here, *blank] if number == 0 else [*blank, *kept_here]
        sides.append(region)
    types = tuple([output.type for output in sides[0].outputs])
    results = trace.append(IF, (used, *values), (), types, (sides[0], sides[1]))
    trace.used_on_sides.update((value, is_used_on_sides((then, orelse), i)) for i, value in enumerate(results[:count]))
    outputs, kept = results[:count], [wrap(v) for v in results[count:]]
    kinds = [value.type for value in outputs if value.type is not TOKEN]

    def pull(douts: list[Any], needs: list[bool], record: bool) -> list[Gradient]:
        current = active()
        arriving = _arriving(douts, outputs)
        pattern = pattern_of(arriving)
        given = _as_kinds(arriving, kinds)
        if record:  # as a function of the operands, so that it can be differentiated again
            inputs: list[Tensor] = [*operands, *given]
            joints = [joint_graph(region, followed, pattern) for region in (then, orelse)]
            found = [(joint.graph, joint.gradients) for joint in [joint.alone(len(then.outputs)) for joint in joints]]
        else:
            inputs = [*kept, *given]
            found = []
            for number, pullback in enumerate(pullbacks):
                before = 0 if number == 0 else len(saved[0])
                back = pullback.backward.where(pattern)
                wide = _widened(back.graph, inputs, before, len(saved[number]), len(kept))
                found.append((wide, back.gradients))
        wanted = [i for i, value in enumerate(values) if followed[i] and needs[i] and takes_gradient(value)]
        wanted = [i for i in wanted if any(places[i] is not None for _, places in found)]
        always = {i for i in wanted if all(places[i] is not None and places[i][1] is True for _, places in found)}  # type: ignore[index]
        both = []
        for graph, places in found:
            chosen: list[Value] = []
            for i in wanted:
                place = places[i]
                chosen.append(filled(graph, values[i].type, 0) if place is None else graph.outputs[place[0]])
                if i not in always:
                    known = place is None or place[1] is True
                    chosen.append(
                        filled(graph, _BOOL, place is not None) if known else graph.outputs[place[1]]  # type: ignore[index]
                    )
            graph.outputs = chosen
            both.append(graph)
        given_back = iter(apply_if(current, condition, inputs, both) if wanted else [])
        gradients_of: list[Gradient] = [None] * len(operands)
        for i in wanted:
            value = next(given_back)
            gradients_of[i] = value if i in always else Perhaps(value, next(given_back))
        return gradients_of

    return with_entry(trace, edges, outputs, pull)


def _arriving(douts: Sequence[Gradient], outputs: Sequence[Value]) -> list[Gradient]:
    """The gradients of all outputs but tokens."""
    return [dout for dout, value in zip(douts, outputs, strict=True) if value.type is not TOKEN]


def _as_kinds(arriving: Sequence[Gradient], kinds: Sequence[Any]) -> list[Tensor]:
    """What a graph takes of gradients of outputs of some types."""
    settled: list[Gradient] = []
    for dout, kind in zip(arriving, kinds, strict=True):
        if dout.__class__ is Perhaps:
            settled.append(Perhaps(as_kind(dout.value, kind), dout.present))
        else:
            settled.append(None if dout is None else as_kind(dout, kind))  # type: ignore[arg-type]
    return operands_for(settled)


def _widened(graph: Graph, inputs: Sequence[Tensor], before: int, own: int, saved: int) -> Graph:
    """A backward graph whose parameters are those of both sides: the other side's saved values are not read."""
    wide = copy_graph(graph)
    mine, douts = wide.params[:own], wide.params[own:]
    wide.params = []
    for position, tensor in enumerate(inputs):
        if before <= position < before + own:
            wide.params.append(mine[position - before])
        elif position >= saved:
            wide.params.append(douts[position - saved])
        else:
            wide.params.append(Value(type_of(tensor), wide, None, position))
    for index, param in enumerate(wide.params):
        param.index = index
    return wide
