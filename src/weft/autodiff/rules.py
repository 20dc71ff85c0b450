"""Derivative rules applied to entries of a tape: by operations on tensors, or compiled.

Un-broadcasting and dtypes are handled here, so rules return gradients as the mathematics gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from weft.autodiff.perhaps import (
    Gradient,
    Pattern,
    Perhaps,
    Place,
    arrived,
    gradient_at,
    joined,
    operands_for,
    pattern_of,
    settled,
    under,
)
from weft.autodiff.structure import Key
from weft.cache.programs import compiled
from weft.core import trace as trace_module
from weft.core.dispatch import CAST, apply
from weft.core.primitive import Primitive
from weft.core.recording import PrimitiveNode
from weft.core.tape import Hooks, TapeNode
from weft.core.tensor import Tensor, data_of, tracked, wrap
from weft.core.trace import detached
from weft.ir.types import TensorType
from weft.ops.shape import sum_to, zeros_of


def pull(node: TapeNode, douts: list[Tensor | None], needs: Sequence[bool], record: bool) -> Sequence[Gradient]:
    """The gradients of a node's inputs, by operations on tensors."""
    if isinstance(node, PrimitiveNode):
        inputs, outputs = operands_of(node, record)
        return apply_rule(node.primitive, node.attrs, inputs, outputs, douts, needs)
    assert node.pullback is not None
    return node.pullback(douts, list(needs), record)


def operands_of(node: PrimitiveNode, record: bool) -> tuple[Sequence[Tensor | None], tuple[Tensor, ...]]:
    """What a primitive was computed from, and its results, as its rule gets them."""
    if record:
        # a hook sees what the program computed with a result, not what the rule computes with it
        maker = _past_hooks(node) if node.hooks.__class__ is Hooks else node
        return node.inputs, tuple([tracked(data, maker, index) for index, data in enumerate(node.results)])
    # nothing follows this gradient, so it leaves no entries
    return [t if t is None or t._node is None else detached(t) for t in node.inputs], tuple(map(wrap, node.results))


def _past_hooks(node: TapeNode) -> TapeNode:
    """What stands for an entry where gradients that arrive do not pass its hooks, see `Hooks`."""
    hooks: Any = node.hooks
    if hooks.past is None:
        edges = [(node, index) for index in range(node.output_count)]
        hooks.past = TapeNode(edges, node.output_count, None, node.level)
        hooks.past.sequence = node.sequence + 0.5
    found: TapeNode = hooks.past
    return found


def call_of_rule(
    node: PrimitiveNode, douts: Sequence[Tensor | None], record: bool
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The call of a primitive's rule, for whoever makes it: function, arguments, keyword arguments."""
    primitive = node.primitive
    inputs, outputs = operands_of(node, record)
    filled = [zeros_of(o) if d is None else d for o, d in zip(outputs, douts, strict=True)]
    out: Any = outputs if primitive.multiple else outputs[0]
    dout: Any = tuple(filled) if primitive.multiple else filled[0]
    assert primitive.derivative is not None
    attrs = dict(zip(primitive.attr_names, node.attrs, strict=True))
    return primitive.derivative, (*inputs, out, dout), attrs


def pull_compiled(node: Any, douts: list[Tensor | None], needs: tuple[bool, ...]) -> list[Tensor | None]:
    """The gradients of a primitive's inputs, by its compiled rule on device arrays."""
    primitive: Primitive = node.primitive
    if len(douts) == 1:
        present: Any = True
        arrays = [data_of(douts[0])]  # type: ignore[arg-type]
    else:
        present = tuple([d is not None for d in douts])
        arrays = [data_of(d) for d in douts if d is not None]
    key = (primitive.key(node.attrs), needs, present)
    run = primitive.pullbacks.get(key)
    if run is None:
        run = primitive.pullbacks[key] = _compile_pullback(primitive, node.attrs, needs, present, len(node.operands))
    gradients = iter(run(*node.arrays(), *node.results, *arrays))
    # the compiled rule leaves out what is not needed; None stands for a gradient that is zero
    return [wrap(g) if need and (g := next(gradients)) is not None else None for need in needs]


def whole_pass(key: Key) -> tuple[Callable[..., Any], Callable[[], str | None]]:
    """A backward pass as a function of arrays, to be compiled, and the text of what it computes.

    Args:
        key: the pass, see `weft.autodiff.structure`.
    """
    _, steps, seeds, targets, _ = key

    def compute(*arrays: Any) -> Any:
        pending: dict[int, dict[int, Gradient]] = {}

        def give(number: int, index: int, gradient: Gradient) -> None:
            slots = pending.setdefault(number, {})
            slots[index] = joined(slots.get(index), gradient)

        with trace_module.suspended():
            for number, index, slot, given in seeds:
                give(number, index, wrap(arrays[slot] if given else jnp.ones_like(arrays[slot])))
            for number in range(len(steps) - 1, -1, -1):
                slots = pending.pop(number, None)
                if slots is None:
                    continue
                rule, attrs, inputs, results, edges = steps[number]
                if rule.__class__ is GraphRule:
                    gradients = rule.gradients([arrays[i] for i in results], slots)
                else:
                    douts, present = arrived([slots.get(index) for index in range(len(results))])
                    found = apply_rule(
                        rule,
                        attrs,
                        [None if i < 0 else wrap(arrays[i]) for i in inputs],
                        [wrap(arrays[i]) for i in results],
                        douts,
                        [edge is not None for edge in edges],
                    )
                    gradients = under(found, present)
                for edge, gradient in zip(edges, gradients, strict=True):
                    if edge is not None and gradient is not None:
                        give(*edge, gradient)
            ends = [settled(pending[target][0]) if target in pending else None for target in targets]
            return [None if gradient is None else data_of(gradient) for gradient in ends]

    def text() -> str | None:
        known = [(_rule_text(rule, attrs), *rest) for rule, attrs, *rest in steps]
        return None if any(step[0] is None for step in known) else f"backward {known} {seeds} {targets}"

    return compute, text


class GraphRule:
    """The gradient of a compiled graph, on arrays.

    Args:
        backward: for the places at which gradients arrive: the function from what the forward graph saved and from them
            to the gradients of the inputs, and where these are.
        outputs: how many outputs the forward graph has; what it saved follows them.
    """

    __slots__ = ("backward", "outputs")

    #: no code of the program's takes part
    asks = False

    def __init__(self, backward: Callable[[Pattern], tuple[Callable[..., Any], Sequence[Place]]], outputs: int) -> None:
        self.backward = backward
        self.outputs = outputs

    def gradients(self, results: Sequence[Any], douts: dict[int, Gradient]) -> list[Gradient]:
        """The gradients of the inputs.

        Args:
            results: arrays: the outputs, and what was saved.
            douts: the gradients that arrived, by the number of the output.
        """
        arriving = [douts.get(i) for i in range(self.outputs)]
        run, places = self.backward(pattern_of(arriving))
        found = [wrap(data) for data in run(*results[self.outputs :], *[data_of(t) for t in operands_for(arriving)])]
        return [gradient_at(place, found) for place in places]


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
        return [None if g is None else data_of(settled(g)) for g, need in zip(gradients, needs, strict=True) if need]  # type: ignore[arg-type]

    def text() -> str | None:
        known = _rule_text(primitive, attrs)
        return known and f"pullback {known} {needs} {present} {input_count}"

    return compiled(compute, text)


def _rule_text(rule: Primitive | GraphRule, attrs: tuple[Any, ...]) -> str | None:
    """What the rule of a primitive computes, see `Primitive.text`: only where no rule was ever replaced, since a rule
    may use others; None for the gradient of a graph.
    """
    return rule.text(attrs) if isinstance(rule, Primitive) and not Primitive.rules_epoch else None


def apply_rule(
    primitive: Primitive,
    attrs: tuple[Any, ...],
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    douts: list[Tensor | None],
    needs: Sequence[bool],
) -> list[Gradient]:
    """Run the derivative rule of a primitive on tensors and fit its results to the inputs.

    Returns:
        list: for each input the gradient in the input's shape and dtype; None where not needed or zero.
    """
    filled = [zeros_of(o) if d is None else d for o, d in zip(outputs, douts, strict=True)]
    rule = primitive.derivative
    if rule is None:
        return fitted(_generic_gradients(primitive, attrs, inputs, filled, needs), inputs, needs)
    out: Any = tuple(outputs) if primitive.multiple else outputs[0]
    dout: Any = tuple(filled) if primitive.multiple else filled[0]
    return fitted(rule(*inputs, out, dout, **dict(zip(primitive.attr_names, attrs, strict=True))), inputs, needs)


def fitted(raw: Any, inputs: Sequence[Tensor | None], needs: Sequence[bool]) -> list[Gradient]:
    """What a rule returned, as a gradient for each input in the input's shape and dtype; None where not needed."""
    if not isinstance(raw, (tuple, list)):
        raw = (raw,)
    if len(raw) < len(inputs):  # a rule may leave out trailing inputs that have no gradient
        raw = (*raw, *[None] * (len(inputs) - len(raw)))
    return [
        fit(gradient, x) if need and gradient is not None and x is not None else None
        for gradient, x, need in zip(raw, inputs, needs, strict=True)
    ]


def fit(gradient: Any, like: Tensor) -> Any:
    """A gradient in the shape and dtype of what it is the gradient of."""
    if gradient.__class__ is Perhaps:
        return Perhaps(fit(gradient.value, like), gradient.present)
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
        primitive.generic.known_as = primitive.known_as and f"Grad{primitive.known_as}"
    return primitive.generic


def _cotangent(dout: Any, output: Any) -> Any:
    if jnp.issubdtype(output.dtype, jnp.inexact):
        return dout.astype(output.dtype)
    return jnp.zeros(output.shape, jax.dtypes.float0)
