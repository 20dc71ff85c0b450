"""Lowering: a graph as a Python function on JAX arrays.

The function takes one argument for each parameter of the graph and returns a tuple with one entry for each output.
A token may be anything that JAX carries: an operation with IO takes one and gives one, which orders it after what made
the one and before what takes the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import jax
import numpy as np

from weft._jax_compat import to_device
from weft.cache.mixing import for_devices
from weft.compile.overlapping import apart, overlapping
from weft.compile.places import Places
from weft.compile.straight import Straight
from weft.core.control import CALL, IF, REPEAT, WHILE, effect_of
from weft.core.dispatch import meets_others
from weft.core.primitive import ACROSS, IO, exact
from weft.core.trace import CONSTANT
from weft.errors import GraphError
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TOKEN

#: operations of which XLA computes two at once where both have a constant operand: ``(x + a) - b`` as ``x + (a - b)``,
#: which rounds, overflows and vanishes elsewhere than the two do one by one; so these constants are hidden from it
_ARITHMETIC: Final = frozenset({"Add", "Sub", "Mul", "RealDiv"})
#: times that an operation stands in a graph from which on it is traced once for all of them
_OFTEN: Final = 16
Lowered = Callable[..., tuple[Any, ...]]
#: evaluates one node: (operands) -> results as a tuple
_Run = Callable[..., Sequence[Any]]
#: node, run, whether it returns a tuple, slots of the operands, slots of the results, slots that are dead afterwards
_Step = tuple[Node, _Run, bool, tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def lower(graph: Graph) -> Lowered:
    """Turn a graph into a function on arrays.

    Args:
        graph: a valid graph.

    Returns:
        A function with one positional argument for each parameter of the graph, returning a tuple of the outputs.

    Raises:
        GraphError: the graph holds an operation that has no implementation.

    Example:
        >>> from weft.ir.graph import Graph
        >>> lower(Graph("nothing"))()
        ()
    """
    places = Places(graph)
    evaluate = _lower(graph, {}, places)

    def evaluate_marked(*arrays: Any) -> tuple[Any, ...]:
        with jax.named_scope(places.mark):
            return evaluate(*arrays)

    evaluate_marked.__name__ = evaluate_marked.__qualname__ = function_name(graph)
    return evaluate_marked


def _lower(graph: Graph, callees: dict[int, Lowered], places: Places) -> Lowered:
    slots: dict[Value, int] = {value: i for i, value in enumerate(graph.params)}
    last_use: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        for value in node.inputs:
            if value is not None:
                last_use[slots[value]] = position
        for value in node.outputs:
            slots[value] = len(slots)
            last_use[slots[value]] = position  # a result that nobody reads dies at once
    outputs = tuple([slots[value] for value in graph.outputs])
    for slot in outputs:
        last_use.pop(slot, None)
    dead: dict[int, list[int]] = {}
    for slot, position in last_use.items():
        dead.setdefault(position, []).append(slot)
    absent = len(slots)  # a slot that always holds None, for optional operands that are left out

    constants: list[tuple[int, Any]] = []
    opaque: dict[int, int] = {}  # slot of a constant -> slot of what hides its value from XLA
    reals: set[int] = set()
    steps: list[_Step] = []
    traced = _Traced(graph)
    risky = overlapping(graph)
    for position, node in enumerate(graph.nodes):
        results = tuple([slots[value] for value in node.outputs])
        if node.op is CONSTANT:
            constants.append((results[0], node.attrs[0]))
            if node.attrs[0].array.dtype.kind not in "iub":
                reals.add(results[0])
            continue
        operands = tuple([absent if value is None else slots[value] for value in node.inputs])
        if node.op.name in _ARITHMETIC:
            operands = tuple([opaque.setdefault(i, absent + 1 + len(opaque)) if i in reals else i for i in operands])
        if node in risky:
            run, many = apart(node, _resolve(node, callees, places)[0]), False
        else:
            run, many = traced.find(node) or _resolve(node, callees, places)
        steps.append((node, run, many, operands, results, tuple(dead.get(position, ()))))
    return _function(graph, steps, outputs, embedded(constants), opaque, absent + 1 + len(opaque), places)


def _function(
    graph: Graph,
    steps: list[_Step],
    outputs: tuple[int, ...],
    constants: list[tuple[int, Any]],
    opaque: dict[int, int],
    size: int,
    places: Places,
) -> Lowered:
    count = len(graph.params)
    padding = [None] * (size - count)
    drop_weakness = _drop_weakness
    hide: Callable[[Any], Any] = jax.lax.optimization_barrier
    scope, name = jax.named_scope, places.name

    def evaluate(*arrays: Any) -> tuple[Any, ...]:
        if len(arrays) != count:
            raise TypeError(f"graph takes {count} arrays, not {len(arrays)}")
        values: list[Any] = [*arrays, *padding]
        for slot, array in constants:
            values[slot] = array
        for slot, hidden in opaque.items():
            values[hidden] = hide(values[slot])
        for node, run, many, operands, results, dead in steps:
            with scope(name(node)):
                found = run(*[values[i] for i in operands])
            if many:
                for slot, value in zip(results, found, strict=True):
                    values[slot] = drop_weakness(value)
            else:
                values[results[0]] = drop_weakness(found)
            for slot in dead:
                values[slot] = None
        return tuple([values[i] for i in outputs])

    evaluate.__name__ = evaluate.__qualname__ = function_name(graph)
    return evaluate


def function_name(graph: Any) -> str:
    """The name of the function that a graph becomes."""
    return "".join(c if c.isalnum() else "_" for c in graph.name) or "graph"


def _drop_weakness(value: Any) -> Any:
    """A result without JAX's weak type, which would make later promotion depend on how it was computed."""
    if getattr(value, "weak_type", False):
        return jax.lax.convert_element_type(value, value.dtype)
    return value


def embedded(constants: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Constants as device arrays, equal ones sharing one."""
    made: dict[Any, Any] = {}
    result = []
    for slot, literal in constants:
        array = made.get(literal)
        if array is None:
            array = made[literal] = to_device(literal.array)
        result.append((slot, array))
    return result


def _resolve(node: Node, callees: dict[int, Lowered], places: Places) -> tuple[_Run, bool]:
    """The function of a node's operands, and whether it returns a tuple."""
    op: Any = node.op
    if op is IF:
        return _if(node, callees, places), True
    if op is WHILE:
        return _while(node, callees, places), True
    if op is CALL:
        return _callee(node.regions[0], callees, places), True
    if op is REPEAT:
        return _repeat(node, callees, places), True
    if op.effect == ACROSS:
        raise meets_others(op)
    if not hasattr(op, "implementation"):
        raise GraphError(f"operation {op.name!r} has no implementation, so it cannot run")
    return op.bound(node.attrs), op.multiple


class _Traced:
    """The operations that stand in a graph often, traced once each.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.times: Counter[Hashable] = Counter()
        self.found: dict[Hashable, tuple[_Run, bool]] = {}
        if len(graph.nodes) >= _OFTEN:
            self.times.update(map(_traced_key, graph.nodes))

    def find(self, node: Node) -> tuple[_Run, bool] | None:
        """As `_resolve`; None for what does not stand there often, or is more than a function of arrays."""
        key = _traced_key(node) if self.times else None
        if key is None or self.times[key] < _OFTEN:
            return None
        found = self.found.get(key)
        if found is None:
            op: Any = node.op
            kinds = [jax.ShapeDtypeStruct(v.type.shape, v.type.dtype.np_dtype) for v in node.inputs]  # type: ignore[union-attr]
            made = for_devices(lambda: Straight(op.bound(node.attrs), kinds, op.multiple))

            def run(*arrays: Any) -> Any:
                return made()(*arrays)

            found = self.found[key] = run, op.multiple
        return found


def _traced_key(node: Node) -> Hashable:
    """What tells a pure operation and the types of its operands; None for what is something else."""
    op: Any = node.op
    kinds = tuple([value.type if value is not None else None for value in node.inputs])
    if node.regions or op.effect == IO or op is CONSTANT or None in kinds or TOKEN in kinds:
        return None
    if getattr(op, "implementation", None) is None:
        return None
    return op, exact(node.attrs), kinds


def _if(node: Node, callees: dict[int, Lowered], places: Places) -> _Run:
    then, orelse = (_lower(region, callees, places) for region in node.regions)
    cond = jax.lax.cond
    if effect_of(node) != IO:

        def run(condition: Any, *operands: Any) -> Any:
            return cond(condition, then, orelse, *operands)

        return run

    # XLA fails on conditionals with effects that take or give a single value: there is always a second one here
    def padded(branch: Lowered) -> Lowered:
        return lambda pad, *operands: (pad, pad, *branch(*operands))

    taken, other = padded(then), padded(orelse)

    def run_padded(condition: Any, *operands: Any) -> Any:
        return cond(condition, taken, other, condition, *operands)[2:]

    return run_padded


def _while(node: Node, callees: dict[int, Lowered], places: Places) -> _Run:
    body = _lower(node.regions[0], callees, places)
    carried = node.attrs[0]
    while_loop = jax.lax.while_loop

    def run(*operands: Any) -> Any:
        invariants = operands[carried:]
        return while_loop(lambda carry: carry[0], lambda carry: body(*carry, *invariants), operands[:carried])

    return run


def _repeat(node: Node, callees: dict[int, Lowered], places: Places) -> _Run:
    body = _lower(node.regions[0], callees, places)
    count, carried, reads, unroll = node.attrs
    first = carried + len(reads)
    kept = [value.type for value in node.outputs[carried:]]
    rounds = count // unroll

    def run(*operands: Any) -> Any:
        stacks, invariants = operands[carried:first], operands[first:]

        def step(i: Any, carry: Sequence[Any], buffers: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
            items = [_item(stack, start + by * i) for stack, (start, by) in zip(stacks, reads, strict=True)]
            found = body(*carry, *items, *invariants)
            written = [_with_item(b, value, i) for b, value in zip(buffers, found[carried:], strict=True)]
            return found[:carried], written

        def several(state: Any) -> Any:
            number, carry, buffers = state
            for k in range(unroll):
                carry, buffers = step(number * np.int32(unroll) + np.int32(k), carry, buffers)
            return number + np.int32(1), tuple(carry), tuple(buffers)

        carry: Any = tuple(operands[:carried])
        buffers: Any = tuple([jax.lax.full(kind.shape, 0, kind.dtype.np_dtype) for kind in kept])  # type: ignore[union-attr]
        if rounds > 1:
            start = np.int32(0), carry, buffers
            _, carry, buffers = jax.lax.while_loop(lambda state: state[0] < np.int32(rounds), several, start)
        for i in range(rounds * unroll if rounds > 1 else 0, count):
            carry, buffers = step(np.int32(i), carry, buffers)
        return (*carry, *buffers)

    return run


def _item(stack: Any, position: Any) -> Any:
    position = jax.lax.convert_element_type(position, np.int32)
    return jax.lax.dynamic_index_in_dim(stack, position, 0, keepdims=False, allow_negative_indices=False)


def _with_item(stack: Any, value: Any, position: Any) -> Any:
    return jax.lax.dynamic_update_index_in_dim(stack, value, position, 0, allow_negative_indices=False)


def _callee(callee: Graph, callees: dict[int, Lowered], places: Places) -> Lowered:
    """A callee is traced once, however many calls of it there are.

    Not one with IO: XLA's inliner of calls leaves ordering constraints on constants, which later passes trip over.
    """
    found = callees.get(id(callee))
    if found is None:
        function = _lower(callee, callees, places)
        has_io = any(effect_of(node) == IO for node in callee.nodes)
        found = callees[id(callee)] = function if has_io else jax.jit(function)
    return found


def is_token(value: Value) -> bool:
    """Whether a value carries order only."""
    return value.type is TOKEN
