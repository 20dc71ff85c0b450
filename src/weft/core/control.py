"""Control flow as operations of the IR: their operands are values, their code is in regions.

=======  ===================  =======================================  ====================================
name     operands             regions                                  results
=======  ===================  =======================================  ====================================
`IF`     cond, *operands      then(*operands), orelse(*operands)       the results of the region that ran
`WHILE`  *carry, *invariants  body(*carry, *invariants) -> new carry   the final carry
`CALL`   *operands            callee(*operands)                        the results of the callee
`REPEAT` *carry, *stacks,     body(*carry, *items, *invariants)        the final carry, and what each
         *invariants          -> new carry, *kept                      iteration kept as one stack each
=======  ===================  =======================================  ====================================

`REPEAT` runs its body ``count`` times; in iteration ``i`` the item of a stack stands at ``start + i * step`` of its
first axis, by its pair in ``reads``. ``unroll`` iterations are compiled as one. Only finished graphs hold it: no
derivative is taken of it.

The condition of `IF` and the first carried value of `WHILE` ("go on") are ``bool[]`` scalars. A region sees nothing
but its parameters, so tokens are operands and results like any value, and the same callee may stand in several
`CALL` nodes. Lowering gives these operations their meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from weft import dtypes
from weft.core.primitive import ACROSS, IO, PURE, Primitive
from weft.ir.graph import Graph, Node, Value
from weft.ir.types import TensorType


def _needs_lowering(name: str) -> Any:
    def implementation(*operands: Any, **attrs: Any) -> NoReturn:
        del operands, attrs
        raise TypeError(f"{name} is control flow: it runs as part of a lowered graph, not by itself")

    return implementation


IF: Final = Primitive("If", _needs_lowering("If"), multiple=True)
WHILE: Final = Primitive("While", _needs_lowering("While"), attr_names=("carry",), multiple=True)
CALL: Final = Primitive("Call", _needs_lowering("Call"), multiple=True)
REPEAT: Final = Primitive(
    "Repeat", _needs_lowering("Repeat"), attr_names=("count", "carry", "reads", "unroll"), multiple=True
)

#: the type of conditions
CONDITION: Final = TensorType.of(dtypes.bool_, ())


def effect_of(node: Node) -> str:
    """The effect of a node, that of its regions included: `IO`, `ACROSS`, the operation's own, or `PURE`."""
    effect = node.op.effect
    if effect == IO or not node.regions:
        return effect
    effects = {inner.op.effect for region in node.regions for inner in region.walk()}
    for ordered in (IO, ACROSS):
        if ordered in effects:
            return ordered
    return next(iter(effects - {PURE}), effect)


def add_if(
    graph: Graph, condition: Value, operands: Sequence[Value], then: Graph, orelse: Graph, location: Any = None
) -> tuple[Value, ...]:
    """Append an `IF` whose regions are complete; returns its results."""
    types = tuple([value.type for value in then.outputs])
    return graph.add_node(IF, (condition, *operands), (), types, (then, orelse), location).outputs


def add_while(
    graph: Graph, carry: Sequence[Value], invariants: Sequence[Value], body: Graph, location: Any = None
) -> tuple[Value, ...]:
    """Append a `WHILE` whose body is complete; returns the final carry."""
    types = tuple([value.type for value in carry])
    return graph.add_node(WHILE, (*carry, *invariants), (len(carry),), types, (body,), location).outputs


def add_call(graph: Graph, callee: Graph, operands: Sequence[Value], location: Any = None) -> tuple[Value, ...]:
    """Append a `CALL` of a complete graph; returns its results."""
    types = tuple([value.type for value in callee.outputs])
    return graph.add_node(CALL, tuple(operands), (), types, (callee,), location).outputs


def add_repeat(
    graph: Graph,
    carry: Sequence[Value],
    stacks: Sequence[tuple[Value, int, int]],
    invariants: Sequence[Value],
    body: Graph,
    count: int,
    unroll: int = 1,
    location: Any = None,
) -> tuple[Value, ...]:
    """Append a `REPEAT` whose body is complete; returns its results.

    Args:
        graph: the graph to extend.
        carry: initial values of what the body's first parameters and outputs stand for.
        stacks: for each item of an iteration the stack, where the first item stands, and how far the next one.
        invariants: further operands of the body.
        body: from (*carry, *items, *invariants) to (*new carry, *kept).
        count: number of iterations.
        unroll: iterations that are compiled as one.
        location: user location.
    """
    results: list[Any] = [value.type for value in carry]
    for value in body.outputs[len(carry) :]:
        kind = value.type
        assert isinstance(kind, TensorType)
        results.append(TensorType.of(kind.dtype, (count, *kind.shape)))
    reads = tuple([(start, step) for _, start, step in stacks])
    operands = (*carry, *[stack for stack, _, _ in stacks], *invariants)
    attrs = (count, len(carry), reads, unroll)
    return graph.add_node(REPEAT, operands, attrs, tuple(results), (body,), location).outputs


def comes_out(value: Value) -> bool:
    """Whether a value is what a branch or loop left: a tensor made in it, or one from before it."""
    return value.node is not None and value.node.op in (IF, WHILE)


def has_other_uses(value: Value) -> bool:
    """Whether more may be computed with the tensor that a value is than what is computed with the value.

    A tensor that comes out of a branch or a loop may be one from before it, with which all was computed that was
    computed with that one; and a tensor that is made in it may be used there.
    """
    node = value.node
    if node is None or node.op is WHILE:
        return True
    return node.op is IF and is_used_on_sides(node.regions, value.index)


def is_used_on_sides(regions: Sequence[Graph], place: int) -> bool:
    """Whether more may be computed with the tensor that a result of a branch is: on a side, or before the branch."""
    return any(_is_used_in(region, region.outputs[place]) for region in regions)


def _is_used_in(region: Graph, value: Value) -> bool:
    """Whether more may be computed with the tensor that a region gives than what is computed with the result."""
    used = region.outputs.count(value) > 1 or any(value in node.inputs for node in region.nodes)
    return used or has_other_uses(value)
