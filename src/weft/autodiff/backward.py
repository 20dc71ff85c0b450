"""The driver of the derivative rules: walk a tape backwards, once for eager and symbolic tensors alike.

Un-broadcasting, dtype and accumulation are handled here, so rules return gradients as the mathematics gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from weft.autodiff.structure import VARIANTS, Key, describe, habit_of
from weft.core import trace as trace_module
from weft.core.dispatch import CAST, PrimitiveNode, apply
from weft.core.primitive import Primitive
from weft.core.tape import RELEASED, SYMBOL, TapeNode
from weft.core.tensor import Tensor, tracked, wrap
from weft.ir.graph import Value
from weft.ir.types import TensorType
from weft.ops.math import add
from weft.ops.shape import sum_to, zeros_of


def backward(
    outputs: Sequence[Tensor],
    douts: Sequence[Tensor | None],
    targets: Sequence[TapeNode],
    record: bool,
    release: bool = False,
) -> list[Tensor | None]:
    """Gradients of outputs with respect to nodes of the tape; the walk stops at them.

    Args:
        outputs: tensors computed on the tape.
        douts: the gradient with respect to each output; None for zero.
        targets: leaf nodes, or leaves of an inner gradient that link to an outer one.
        record: leave tape entries for the computation, so that it can be differentiated again.
        release: cut the tape to pieces afterwards; a tensor that outlives the gradient then keeps nothing alive.

    Returns:
        list: one gradient for each target, None where no path leads to it.
    """
    if not targets:
        return []
    pending: dict[TapeNode, list[Tensor | None]] = {}
    for output, dout in zip(outputs, douts, strict=True):
        node = output._node
        if dout is not None and node is not None and node is not SYMBOL:
            _accumulate(pending, node, output._index, dout)  # type: ignore[arg-type]
    wanted = set(targets)
    seen = _reachable(pending, wanted)
    relevant = set(wanted)
    order: list[TapeNode] = []
    for node in seen:
        if node not in wanted:
            for edge in node.edges:
                if edge is not None and edge[0] in relevant:
                    relevant.add(node)
                    order.append(node)
                    break
    # on a tape that another computation builds on, or under a trace, gradients are computed by operations
    compiled = not record and trace_module.current() is None
    if compiled and len(order) > 1 and _pull_all(order, relevant, pending, targets):
        order = []
    for node in reversed(order):
        node_douts = pending.pop(node, None)
        if node_douts is None:
            continue
        if node.hooks:
            run_hooks(node, node_douts)
        edges = node.edges
        needs = tuple([edge is not None and edge[0] in relevant for edge in edges])
        if compiled and node.__class__ is PrimitiveNode and node.level is None:
            gradients: Sequence[Tensor | None] = _pull_compiled(node, node_douts, needs)
        else:
            gradients = pull(node, node_douts, needs, record)
        for edge, need, gradient in zip(edges, needs, gradients, strict=True):
            if need and gradient is not None:
                assert edge is not None
                producer, index = edge
                slots = pending.get(producer)
                if slots is None:
                    slots = pending[producer] = [None] * producer.output_count
                before = slots[index]
                slots[index] = gradient if before is None else add(before, gradient)
    results: list[Tensor | None] = []
    for target in targets:
        slots = pending.get(target)
        results.append(None if slots is None else slots[0])
    for target in wanted:
        if target.hooks and target in pending:
            run_hooks(target, pending[target])
            results = [pending[t][0] if t is target else r for t, r in zip(targets, results, strict=True)]
    if release:
        for node in seen:
            node.edges = ()
            node.pullback = None
            node.level = RELEASED
            if node.__class__ is PrimitiveNode:
                node.inputs = node.results = ()
    return results


def run_hooks(node: TapeNode, douts: list[Tensor | None]) -> None:
    """Let the tensor hooks of a node's outputs replace their gradients."""
    for index, hook in tuple(node.hooks or ()):
        if douts[index] is not None:
            replaced = hook(douts[index])
            if replaced is not None:
                douts[index] = replaced


def _accumulate(pending: dict[TapeNode, list[Tensor | None]], node: TapeNode, index: int, dout: Tensor) -> None:
    slots = pending.get(node)
    if slots is None:
        slots = pending[node] = [None] * node.output_count
    before = slots[index]
    slots[index] = dout if before is None else add(before, dout)


def _sequence(node: TapeNode) -> int:
    return node.sequence


def _reachable(roots: Iterable[TapeNode], targets: set[TapeNode]) -> list[TapeNode]:
    """The nodes from the roots down to the targets, oldest first; what is older than every target is left out."""
    oldest = min([target.sequence for target in targets])
    seen = set()
    stack = [root for root in roots if root.sequence >= oldest]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in targets:
                for edge in node.edges:
                    if edge is not None and edge[0].sequence >= oldest:
                        stack.append(edge[0])
    return sorted(seen, key=_sequence)


def pull(node: TapeNode, douts: list[Tensor | None], needs: Sequence[bool], record: bool) -> Sequence[Tensor | None]:
    """The gradients of a node's inputs, by operations on tensors."""
    if isinstance(node, PrimitiveNode):
        inputs: Sequence[Tensor | None] = node.inputs
        if record:
            outputs = tuple([tracked(data, node, index) for index, data in enumerate(node.results)])
        else:  # nothing follows this gradient, so it leaves no entries
            inputs = [t if t is None or t._data.__class__ is not Value else wrap(t._data) for t in inputs]
            outputs = tuple([wrap(data) for data in node.results])
        return apply_rule(node.primitive, node.attrs, inputs, outputs, douts, needs)
    assert node.pullback is not None
    return node.pullback(douts, list(needs), record)


def _pull_compiled(node: Any, douts: list[Tensor | None], needs: tuple[bool, ...]) -> list[Tensor | None]:
    """The gradients of a primitive's inputs, by its compiled rule on device arrays."""
    primitive: Primitive = node.primitive
    if len(douts) == 1:
        present: Any = True
        arrays = [douts[0]._data]  # type: ignore[union-attr]
    else:
        present = tuple([d is not None for d in douts])
        arrays = [d._data for d in douts if d is not None]
    key = (primitive.key(node.attrs), needs, present)
    run = primitive.pullbacks.get(key)
    if run is None:
        run = primitive.pullbacks[key] = _compile_pullback(primitive, node.attrs, needs, present, len(node.inputs))
    gradients = iter(run(*[None if t is None else t._data for t in node.inputs], *node.results, *arrays))
    # the compiled rule leaves out what is not needed; None stands for a gradient that is zero
    return [wrap(g) if need and (g := next(gradients)) is not None else None for need in needs]


def _pull_all(
    order: list[TapeNode],
    relevant: set[TapeNode],
    pending: dict[TapeNode, list[Tensor | None]],
    targets: Sequence[TapeNode],
) -> bool:
    """Run the whole pass in one call if tapes of this structure are common; whether it was done."""
    habit = habit_of(order)
    if habit is None:
        return False
    key, arrays = describe(order, relevant, pending.items(), targets)
    run = habit.compiled.get(key)
    if run is None:
        if len(habit.compiled) >= VARIANTS:
            return False
        run = habit.compiled[key] = _compile_pass(key)
    for target, gradient in zip(targets, run(*arrays), strict=True):
        if gradient is not None:
            pending[target] = [wrap(gradient)]
    return True


def _compile_pass(key: Key) -> Callable[..., Any]:
    _, steps, seeds, targets, _ = key

    def compute(*arrays: Any) -> Any:
        pending: dict[int, dict[int, Tensor]] = {}

        def give(number: int, index: int, gradient: Tensor) -> None:
            slots = pending.setdefault(number, {})
            slots[index] = add(slots[index], gradient) if index in slots else gradient

        with trace_module.suspended():
            for number, index, slot in seeds:
                give(number, index, wrap(arrays[slot]))
            for number in range(len(steps) - 1, -1, -1):
                slots = pending.pop(number, None)
                if slots is None:
                    continue
                primitive, attrs, inputs, results, edges = steps[number]
                gradients = apply_rule(
                    primitive,
                    attrs,
                    [None if i < 0 else wrap(arrays[i]) for i in inputs],
                    [wrap(arrays[i]) for i in results],
                    [slots.get(index) for index in range(len(results))],
                    [edge is not None for edge in edges],
                )
                for edge, gradient in zip(edges, gradients, strict=True):
                    if edge is not None and gradient is not None:
                        give(*edge, gradient)
            return [pending[target][0]._data if target in pending else None for target in targets]

    return jax.jit(compute)


def _compile_pullback(
    primitive: Primitive, attrs: tuple[Any, ...], needs: tuple[bool, ...], present: Any, input_count: int
) -> Callable[..., Any]:
    flags = (True,) if present is True else present
    first_dout = input_count + len(flags)

    def compute(*arrays: Any) -> Any:
        inputs = [None if a is None else wrap(a) for a in arrays[:input_count]]
        outputs = [wrap(a) for a in arrays[input_count:first_dout]]
        given = iter(arrays[first_dout:])
        douts = [wrap(next(given)) if flag else None for flag in flags]
        with trace_module.suspended():
            gradients = apply_rule(primitive, attrs, inputs, outputs, douts, needs)
        return [None if g is None else g._data for g, need in zip(gradients, needs, strict=True) if need]

    return jax.jit(compute)


def apply_rule(
    primitive: Primitive,
    attrs: tuple[Any, ...],
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    douts: list[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """Run the derivative rule of a primitive on tensors and fit its results to the inputs.

    Returns:
        list: for each input the gradient in the input's shape and dtype; None where not needed or zero.
    """
    filled = [zeros_of(o) if d is None else d for o, d in zip(outputs, douts, strict=True)]
    rule = primitive.derivative
    raw: Any
    if rule is None:
        raw = _generic_gradients(primitive, attrs, inputs, filled, needs)
    else:
        out: Any = tuple(outputs) if primitive.multiple else outputs[0]
        dout: Any = tuple(filled) if primitive.multiple else filled[0]
        raw = rule(*inputs, out, dout, **dict(zip(primitive.attr_names, attrs, strict=True)))
        if not isinstance(raw, (tuple, list)):
            raw = (raw,)
        if len(raw) < len(inputs):  # a rule may leave out trailing inputs that have no gradient
            raw = (*raw, *[None] * (len(inputs) - len(raw)))
    return [
        fit(gradient, x) if need and gradient is not None and x is not None else None
        for gradient, x, need in zip(raw, inputs, needs, strict=True)
    ]


def fit(gradient: Any, like: Tensor) -> Tensor:
    """A gradient in the shape and dtype of what it is the gradient of."""
    if not isinstance(gradient, Tensor):
        gradient = Tensor(gradient)
    wanted: TensorType = like.type
    found: TensorType = gradient.type
    if found.shape != wanted.shape:
        gradient = sum_to(gradient, wanted.shape)
    if found.dtype is not wanted.dtype:
        gradient = apply(CAST, (gradient,), (wanted.dtype,))
    return gradient


def _generic_gradients(
    primitive: Primitive,
    attrs: tuple[Any, ...],
    inputs: Sequence[Tensor | None],
    douts: Sequence[Tensor],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    positions = tuple(
        i
        for i, (x, need) in enumerate(zip(inputs, needs, strict=True))
        if need and x is not None and x.dtype.category >= 2
    )
    gradients: list[Tensor | None] = [None] * len(inputs)
    if positions:
        results = apply(generic_derivative(primitive), (*inputs, *douts), (*attrs, positions, len(inputs)))
        for position, result in zip(positions, results, strict=True):
            gradients[position] = result
    return gradients


def generic_derivative(primitive: Primitive) -> Primitive:
    """The primitive whose implementation is `jax.vjp` of another's: operands and output gradients in, input
    gradients at the attribute `positions` out.
    """
    if primitive.generic is None:
        # the derivative of a derivative has the attributes of both
        order = sum(name.startswith("positions") for name in primitive.attr_names)
        names = ("positions", "count") if order == 0 else (f"positions{order}", f"count{order}")

        def implementation(*arrays: Any, **attrs: Any) -> Any:
            positions, count = attrs.pop(names[0]), attrs.pop(names[1])
            inputs, douts = list(arrays[:count]), arrays[count:]

            def of_chosen(*chosen: Any) -> Any:
                full = list(inputs)
                for position, value in zip(positions, chosen, strict=True):
                    full[position] = value
                return primitive.implementation(*full, **attrs)

            outputs, pullback = jax.vjp(of_chosen, *[inputs[p] for p in positions])
            if primitive.multiple:
                cotangents: Any = tuple(_cotangent(d, o) for d, o in zip(douts, outputs, strict=True))
            else:
                cotangents = _cotangent(douts[0], outputs)
            return pullback(cotangents)

        primitive.generic = Primitive(
            f"Grad{primitive.name}",
            implementation,
            attr_names=(*primitive.attr_names, *names),
            multiple=True,
            register=False,
        )
    return primitive.generic


def _cotangent(dout: Any, output: Any) -> Any:
    if jnp.issubdtype(output.dtype, jnp.inexact):
        return dout.astype(output.dtype)
    return jnp.zeros(output.shape, jax.dtypes.float0)
