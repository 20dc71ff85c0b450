"""Loops of a graph, and their derivative.

The gradient of a `While` runs the iterations backwards; a graph cannot store a number of states that it does not know,
so states are rebuilt from checkpoints that halve the distance each time (the recursion of Griewank's treeverse with two
children, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation", 1992,
section 2): memory for `_LEVELS` states, about n/2 log2 n extra iterations for n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax

from weft import dtypes
from weft.autodiff.perhaps import GATE, Gradient, Perhaps, gradient_at
from weft.compile.dependence import always_carried, ever_carried
from weft.compile.differentiate import joint_graph
from weft.compile.regions import active, as_kind, operands_of, owned, plain, takes_gradient, type_of, with_entry
from weft.compile.replay import replay
from weft.core.control import WHILE
from weft.core.dispatch import apply, edges_of
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType
from weft.ops.logic import logical_or
from weft.ops.math import add, floor_div, sub
from weft.ops.select import where
from weft.ops.shape import FULL
from weft.passes.rewrite import copy_graph, silenced

#: checkpoints of a `While` gradient: enough for 2**40 iterations
_LEVELS: Final = 41


def apply_while(trace: Trace, carry: Sequence[Tensor], invariants: Sequence[Tensor], body: Graph) -> list[Tensor]:
    """Append a `While`; where a gradient follows an operand, the results carry a tape entry.

    Args:
        trace: the active trace.
        carry: initial values; the first is the condition.
        invariants: further operands of the body.
        body: from (*carry, *invariants) to the new carry; copied if it belongs to another graph.
    """
    count = len(carry)
    operands = [*carry, *invariants]
    edges = edges_of(operands, trace.graph)
    if edges is None:
        return _append_while(trace, carry, invariants, owned(body, trace.graph))
    before = [edge is not None for edge in edges]
    ever = ever_carried(body, count, before)
    followed = [*[place in ever for place in range(count)], *before[count:]]
    trace.partly_followed |= ever != always_carried(body, count, before)
    counted = copy_graph(body, trace.graph)
    _count_trips(counted, count)
    trips = apply(FULL, (), ((), 0, dtypes.int64))
    results = _append_while(trace, [*carry, trips], invariants, counted)
    outputs = [data_of(t) for t in results[:count]]
    trips_done = results[count]

    def pull(douts: list[Any], needs: list[bool], record: bool) -> list[Gradient]:
        current = active()
        given = operands if record else [wrap(current.use(t)) for t in operands]
        return _while_gradient(current, given, followed, count, body, trips_done, douts)

    return with_entry(trace, edges, outputs, pull)


def _append_while(trace: Trace, carry: Sequence[Tensor], invariants: Sequence[Tensor], body: Graph) -> list[Tensor]:
    values = [trace.use(t) for t in (*carry, *invariants)]
    types = tuple([v.type for v in values[: len(carry)]])
    return [wrap(v) for v in trace.append(WHILE, tuple(values), (len(carry),), types, (body,))]


def _count_trips(body: Graph, count: int) -> None:
    """Carry a trip count after the other carried values."""
    kind = TensorType.of(dtypes.int64, ())
    trips = Value(kind, body, None, count, "trips")
    body.params.insert(count, trips)
    for index, param in enumerate(body.params):
        param.index = index
    one = body.add_node(FULL, (), ((), 1, dtypes.int64), (kind,)).outputs[0]
    body.outputs.insert(count, body.add_node(add.primitive, (trips, one), (), (kind,)).outputs[0])


def _read_item(buffer: Any, position: Any) -> Any:
    return jax.lax.dynamic_index_in_dim(buffer, position, 0, keepdims=False)


def _write_item(buffer: Any, position: Any, item: Any) -> Any:
    return jax.lax.dynamic_update_index_in_dim(buffer, item.astype(buffer.dtype), position, 0)


_READ: Final = Primitive("StackRead", _read_item)
_WRITE: Final = Primitive("StackWrite", _write_item)


class _Flow:
    """Where gradients go in an iteration of a loop that runs backwards.

    Args:
        body: an iteration, without IO.
        followed: for each carried value and each invariant, whether a gradient follows it.
        douts: the gradients that arrive at the carried values after the loop.
    """

    def __init__(self, body: Graph, followed: Sequence[bool], douts: Sequence[Gradient]) -> None:
        count = len(douts)
        outputs = [i for i in range(count) if body.outputs[i].type is not TOKEN]
        #: carried values at which a gradient may arrive in some iteration
        plain = [i for i in range(1, count) if takes_gradient(body.params[i])]
        self.flowing = {i for i in plain if followed[i] and douts[i] is not None}
        while True:
            pattern = tuple([None if i in self.flowing else False for i in outputs])
            places = joint_graph(body, followed, pattern).gradients
            more = {i for i in plain if places[i] is not None}
            if more <= self.flowing:
                break
            self.flowing |= more
        #: those at which one arrives in each iteration
        self.always = {i for i in self.flowing if isinstance(douts[i], Tensor)}
        while True:
            pattern = tuple([True if i in self.always else None if i in self.flowing else False for i in outputs])
            back = joint_graph(body, followed, pattern)
            fewer = {i for i in self.always if (back.gradients[i] or (0, 0))[1] is True}
            if fewer == self.always:
                break
            self.always = fewer
        self.outputs = [i for i in outputs if i in self.flowing]
        #: the invariants that have a gradient
        self.fixed = [
            i for i in range(count, len(followed)) if back.gradients[i] is not None and takes_gradient(body.params[i])
        ]
        #: from the state, the invariants and the gradients after an iteration to those before it
        self.back = back.alone(count)

    def gradient(self, i: int, results: Sequence[Tensor]) -> Gradient:
        """The gradient of a carried value or an invariant.

        Args:
            i: its number.
            results: what the graph gives.
        """
        return gradient_at(self.back.gradients[i], results)


def _while_gradient(
    trace: Trace,
    operands: Sequence[Tensor],
    followed: Sequence[bool],
    count: int,
    body: Graph,
    trips: Tensor,
    douts: Sequence[Gradient],
) -> list[Gradient]:
    """The gradients of a `While`'s operands, as a `While` over its iterations in reverse.

    It carries: how many iterations are left, the stack of checkpoints (position of the top, iteration numbers, states),
    the gradient of the state and the gradients of the invariants summed so far, each with its condition if it has one.
    """
    kinds = [type_of(t) for t in operands]
    body = silenced(body)
    flow = _Flow(body, followed, douts)
    state = [i for i in range(1, count) if kinds[i] is not TOKEN]  # the condition is true at every state we rebuild
    true = wrap(trace.use(apply(FULL, (), ((), True, dtypes.bool_))))

    def zeros(shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return apply(FULL, (), (shape, 0, dtype))

    def no_gradient(i: int) -> list[Tensor]:
        return [zeros(kinds[i].shape, kinds[i].dtype), apply(FULL, (), ((), False, dtypes.bool_))]

    initial: list[Tensor] = [trips, zeros((), dtypes.int64), zeros((_LEVELS,), dtypes.int64)]
    for i in state:
        buffer = zeros((_LEVELS, *kinds[i].shape), kinds[i].dtype)
        initial.append(apply(_WRITE, (buffer, zeros((), dtypes.int64), operands[i])))
    first_gradient = len(initial)
    for i in flow.outputs:
        dout: Any = douts[i]
        if dout.__class__ is Perhaps:
            initial += [dout.value, dout.present]
        elif i in flow.always:
            initial.append(dout)
        else:
            initial += no_gradient(i) if dout is None else [dout, apply(FULL, (), ((), True, dtypes.bool_))]
    for i in flow.fixed:
        initial += no_gradient(i)
    invariants = list(operands[count:])

    def full_state(items: Sequence[Tensor]) -> list[Tensor]:
        """All carried values of the original loop, from those on the stack."""
        full: list[Tensor] = [true] * count
        for i, item in zip(state, items, strict=True):
            full[i] = as_kind(item, kinds[i])
        return full

    def reverse(carried: list[Tensor], fixed_operands: list[Tensor]) -> list[Tensor]:
        left, top, numbers, *rest = carried
        stacks, gradients = rest[: len(state)], rest[len(state) :]
        target = sub(left, 1)
        here = apply(_READ, (numbers, top))
        items = [apply(_READ, (stack, top)) for stack in stacks]

        def advance(moving: list[Tensor], unchanged: list[Tensor]) -> list[Tensor]:
            number, mark, height, marks, *both = moving
            columns, values = both[: len(state)], both[len(state) :]
            goal, *constants = unchanged
            after = replay(active(), body, [*full_state(values), *constants])
            values = [plain(after[i]) for i in state]
            number = add(number, 1)
            arrived = number == mark
            height_next = add(height, 1)
            marks = apply(_WRITE, (marks, height_next, number))
            columns = [apply(_WRITE, (c, height_next, v)) for c, v in zip(columns, values, strict=True)]
            height = where(arrived, height_next, height)
            mark = where(arrived, middle(number, goal), mark)
            return [number, mark, height, marks, *columns, *values]

        moved = loop(
            lambda moving, unchanged: moving[0] < unchanged[0],
            advance,
            [here, middle(here, target), top, numbers, *stacks, *items],
            [target, *fixed_operands],
        )
        _, _, top, numbers, *both = moved
        stacks, items = both[: len(state)], both[len(state) :]
        totals = gradients[len(gradients) - 2 * len(flow.fixed) :]
        seeds = gradients[: len(gradients) - len(totals)]
        found = replay(active(), flow.back.graph, [*full_state(items), *fixed_operands, *seeds])
        new: list[Tensor] = []
        for i in flow.outputs:
            gradient: Any = flow.gradient(i, found)
            if gradient is None:
                new += no_gradient(i)
            elif i in flow.always:
                new.append(gradient)
            else:
                value, present = _with_condition(gradient)
                new += [value, present]
        for number, i in enumerate(flow.fixed):
            total, some = totals[2 * number : 2 * number + 2]
            value, present = _with_condition(flow.gradient(i, found))
            new += [add(total, apply(GATE, (present, value))), logical_or(some, present)]
        used = apply(_READ, (numbers, top)) == target
        top = where(used, sub(top, 1), top)
        return [target, top, numbers, *stacks, *new]

    final = iter(loop(lambda carried, _: carried[0] > 0, reverse, initial, invariants)[first_gradient:])
    result: list[Gradient] = [None] * len(operands)
    for i in flow.outputs:
        value = next(final)
        result[i] = value if i in flow.always else Perhaps(value, next(final))
    for i in flow.fixed:
        result[i] = Perhaps(next(final), next(final))
    return result


def _with_condition(gradient: Any) -> tuple[Tensor, Tensor]:
    if gradient.__class__ is Perhaps:
        return gradient.value, gradient.present
    return gradient, apply(FULL, (), ((), True, dtypes.bool_))


def middle(number: Tensor, goal: Tensor) -> Tensor:
    """Half-way from an iteration to the goal, rounded up."""
    return add(number, floor_div(add(sub(goal, number), 1), 2))


def loop(
    test: Callable[[list[Tensor], list[Tensor]], Tensor],
    step: Callable[[list[Tensor], list[Tensor]], list[Tensor]],
    initial: Sequence[Tensor],
    invariants: Sequence[Tensor],
) -> list[Tensor]:
    """A `While` in the active trace, written with functions on tensors.

    Args:
        test: whether to go on, from the carried values and the invariants.
        step: the new carried values.
        initial: the carried values at the start.
        invariants: what `step` reads and does not change.

    Returns:
        list: the carried values at the end.
    """
    trace = active()
    initial = [wrap(trace.use(t)) if data_of(t).__class__ is not Value else t for t in initial]
    with trace.region("body") as region:
        kinds = [TensorType.of(dtypes.bool_, ()), *[type_of(t) for t in initial]]
        params = [region.add_param(kind) for kind in kinds]
        fixed = [region.add_param(type_of(t)) for t in invariants]
        new = step([wrap(p) for p in params[1:]], [wrap(p) for p in fixed])
        go_on = test(new, [wrap(p) for p in fixed])
        region.outputs = [trace.use(t) for t in (go_on, *new)]
    lifted = [trace.tensor_of(v) for v in operands_of(trace, (region,), len(params) + len(fixed))]
    first = test(list(initial), list(invariants))
    return apply_while(trace, [first, *initial], [*invariants, *lifted], region)[1:]
