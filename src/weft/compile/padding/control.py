"""Rules of what runs other functions: branches, loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft._jax_compat import operands_of_scan
from weft.compile.padding.arrays import Axis, Padded
from weft.compile.padding.extents import is_symbolic
from weft.compile.padding.space import Space
from weft.compile.padding.table import rule


def _arrays(values: Sequence[Padded]) -> list[Any]:
    return [jnp.asarray(value.array) for value in values]


def _values(arrays: Sequence[Any], axes: Sequence[Sequence[Axis]]) -> list[Padded]:
    return [Padded(array, of) for array, of in zip(arrays, axes, strict=True)]


def _as(space: Space, values: Sequence[Padded], axes: Sequence[Sequence[Axis]]) -> list[Any]:
    """The arrays of values with their elements where some axes have them."""
    arrays = []
    for value, of in zip(values, axes, strict=True):
        for dim, axis in enumerate(of):
            value = space.moved(value, dim, axis)
        arrays.append(value.array)
    return arrays


def _axes(values: Sequence[Padded]) -> list[tuple[Axis, ...]]:
    return [value.axes for value in values]


@rule("checkpoint", "remat", "remat2")
def checkpoint(space: Space, equation: Any, *operands: Padded) -> list[Padded]:
    """A function that is computed again where it stands in a gradient, which XLA must not notice."""
    values: Sequence[Padded] = operands
    if equation.params["differentiated"] and equation.params["prevent_cse"]:
        values = _values(lax.optimization_barrier(_arrays(operands)), _axes(operands))
    return space.interpret(equation.params["jaxpr"], values)


@rule("cond")
def cond(space: Space, equation: Any, index: Padded, *operands: Padded) -> list[Padded]:
    """All branches give their results with the valid part leading."""
    axes = [space.axes(variable.aval.shape) for variable in equation.outvars]

    def padded(branch: Any) -> Any:
        def run(*arrays: Any) -> list[Any]:
            inner = space.inner()
            return _as(inner, inner.interpret(branch, _values(arrays, _axes(operands))), axes)

        return run

    branches = [padded(branch) for branch in equation.params["branches"]]
    return _values(lax.switch(index.array, branches, *_arrays(operands)), axes)


@rule("while")
def while_loop(space: Space, equation: Any, *operands: Padded) -> list[Padded]:
    """What is carried stays where it was before the loop."""
    params = equation.params
    asked, read = params["cond_nconsts"], params["body_nconsts"]
    of_cond, of_body, carried = operands[:asked], operands[asked : asked + read], operands[asked + read :]
    axes = _axes(carried)

    def condition(arrays: Sequence[Any]) -> Any:
        return space.inner().interpret(params["cond_jaxpr"], [*of_cond, *_values(arrays, axes)])[0].array

    def body(arrays: Sequence[Any]) -> list[Any]:
        inner = space.inner()
        return _as(inner, inner.interpret(params["body_jaxpr"], [*of_body, *_values(arrays, axes)]), axes)

    return _values(lax.while_loop(condition, body, _arrays(carried)), axes)


@rule("scan")
def scan(space: Space, equation: Any, *operands: Padded) -> list[Padded]:
    """What is carried stays where it was; a number of rounds that is a size of the call is that of a loop."""
    params = equation.params
    consts, carried, stacks = operands_of_scan(equation.params, operands)
    stacks = tuple([space.compact(stack, [0]) for stack in stacks])
    axes, item_axes = _axes(carried), [stack.axes[1:] for stack in stacks]
    result_axes: list[tuple[Axis, ...]] = []

    def body(arrays: Sequence[Any], items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        inner = space.inner()
        found = inner.interpret(params["jaxpr"], [*consts, *_values(arrays, axes), *_values(items, item_axes)])
        results = found[len(carried) :]
        result_axes[:] = _axes(results)
        return _as(inner, found[: len(carried)], axes), [value.array for value in results]

    arrays, rows = _arrays(carried), _arrays(stacks)
    if is_symbolic(params["length"]):
        ends, results = _rounds(space, params["length"], params["reverse"], body, arrays, rows)
    else:
        ends, results = lax.scan(body, arrays, rows, params["length"], params["reverse"], params["unroll"])
    leading = space.axis(params["length"])
    return [*_values(ends, axes), *_values(results, [(leading, *of) for of in result_axes])]


def _rounds(space: Space, length: Any, reverse: bool, body: Any, carry: Any, stacks: Any) -> tuple[Any, Any]:
    """As `jax.lax.scan`, with a number of rounds that is a size of the call: none on elements that are not valid."""
    items = [jax.ShapeDtypeStruct(stack.shape[1:], stack.dtype) for stack in stacks]
    kinds = jax.eval_shape(body, carry, items)[1]
    room = space.room(length)
    results = [jnp.zeros((room, *kind.shape), kind.dtype) for kind in kinds]
    if not room:
        return carry, results
    count = space.size(length)

    def step(state: Any) -> Any:
        number, carry, results = state
        place = count - 1 - number if reverse else number
        items = [lax.dynamic_index_in_dim(stack, place, 0, keepdims=False) for stack in stacks]
        carry, found = body(carry, items)
        written = [
            lax.dynamic_update_index_in_dim(result, item, place, 0) for result, item in zip(results, found, strict=True)
        ]
        return number + np.int32(1), carry, written

    start = np.int32(0), carry, results
    _, carry, results = lax.while_loop(lambda state: state[0] < count, step, start)
    return carry, results
