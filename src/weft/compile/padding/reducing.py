"""Rules of what sums up axes: elements outside the valid part are replaced by what makes no difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft._jax_compat import bind_again
from weft.compile.padding.arrays import Padded, is_static, size_of
from weft.compile.padding.space import Space, highest, lowest
from weft.compile.padding.table import Refused, rule


def _zero(dtype: Any) -> Any:
    return np.zeros((), dtype)[()]


def _one(dtype: Any) -> Any:
    return np.ones((), dtype)[()]


def _all_bits(dtype: Any) -> Any:
    return np.bool_(True) if dtype == np.bool_ else np.invert(np.zeros((), dtype))[()]


#: what a reduction or a running one leaves its other elements as they are with
_NEUTRAL: Final[dict[str, Callable[[Any], Any]]] = {
    "reduce_sum": _zero,
    "reduce_prod": _one,
    "reduce_max": lowest,
    "reduce_min": highest,
    "reduce_and": _all_bits,
    "reduce_or": _zero,
    "reduce_xor": _zero,
    "argmax": lowest,
    "argmin": highest,
    "cumsum": _zero,
    "cumprod": _one,
    "cummax": lowest,
    "cummin": highest,
    "cumlogsumexp": lowest,
}


def _neutral(name: str, dtype: Any) -> Any:
    if jnp.issubdtype(dtype, jnp.complexfloating) and _NEUTRAL[name] in (lowest, highest):
        raise Refused(name, "of complex numbers")
    return _NEUTRAL[name](dtype)


@rule("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor")
def reduction(space: Space, equation: Any, operand: Padded) -> Padded:
    """An axis for each that stays."""
    dims = equation.params["axes"]
    array = space.filled(operand, dims, _neutral(equation.primitive.name, operand.array.dtype))
    kept = [dim for dim in range(len(operand.axes)) if dim not in dims]
    uniform = [new for new, old in enumerate(kept) if old in operand.uniform]
    return Padded(bind_again(equation, [array])[0], [operand.axes[dim] for dim in kept], uniform)


@rule("argmax", "argmin")
def extreme_position(space: Space, equation: Any, operand: Padded) -> Padded:
    """Of equal elements the first counts, so the valid ones stand before the others."""
    dims = equation.params["axes"]
    if any(space.bounds(size_of(operand.axes[dim]))[0] < 1 for dim in dims):
        raise Refused(equation.primitive.name, "of what may be empty")
    return reduction(space, equation, space.compact(operand, dims))


@rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def running(space: Space, equation: Any, operand: Padded) -> Padded:
    """The valid elements come first, or, in reverse, after elements that make no difference."""
    dim = equation.params["axis"]
    operand = space.compact(operand, [dim])
    array = space.filled(operand, [dim], _neutral(equation.primitive.name, operand.array.dtype))
    return Padded(bind_again(equation, [array])[0], operand.axes, operand.uniform - {dim})


@rule("dot_general")
def dot(space: Space, equation: Any, left: Padded, right: Padded) -> Padded:
    """Contracted axes are zero outside the valid part, in both: zero times anything else may be a NaN."""
    (left_dims, right_dims), (left_batch, right_batch) = equation.params["dimension_numbers"]
    for mine, others in zip((*left_dims, *left_batch), (*right_dims, *right_batch), strict=True):
        if mine in left.uniform:
            left = space.moved(left, mine, right.axes[others])
        right = space.moved(right, others, left.axes[mine])
    arrays = [
        space.filled(left, left_dims, _zero(left.array.dtype)),
        space.filled(right, right_dims, _zero(right.array.dtype)),
    ]
    axes = [left.axes[dim] for dim in left_batch]
    for value, used in ((left, (*left_dims, *left_batch)), (right, (*right_dims, *right_batch))):
        axes += [axis for dim, axis in enumerate(value.axes) if dim not in used]
    return Padded(bind_again(equation, arrays)[0], axes)


@rule("sort")
def sort(space: Space, equation: Any, *operands: Padded) -> list[Padded]:
    """What is not valid is sorted behind all that is, by a first key that says so."""
    dim = equation.params["dimension"]
    values = space.aligned([space.compact(value, [dim]) for value in operands])
    axes = values[0].axes
    arrays = [value.array for value in values]
    if is_static(axes[dim]):
        return [Padded(array, axes) for array in bind_again(equation, arrays)]
    shape = arrays[0].shape
    key = lax.convert_element_type(~lax.broadcast_in_dim(space.valid(axes[dim]), shape, (dim,)), np.int32)
    keys = equation.params["num_keys"] + 1
    found = lax.sort((key, *arrays), dimension=dim, is_stable=equation.params["is_stable"], num_keys=keys)
    return [Padded(array, axes) for array in found[1:]]


@rule("top_k")
def top_k(space: Space, equation: Any, operand: Padded) -> list[Padded]:
    """What is not valid is the least there is, and stands behind what is equal."""
    dim = len(operand.axes) - 1
    count = equation.params["k"]
    if equation.params.get("axis", dim) not in (dim, -1):
        raise Refused("top_k", "not along the last axis")
    if not isinstance(count, int) or space.bounds(size_of(operand.axes[dim]))[0] < count:
        raise Refused("top_k", f"{count} of what may be fewer")
    operand = space.compact(operand, [dim])
    dtype = operand.array.dtype
    least: Any = lowest(dtype)
    if jnp.issubdtype(dtype, jnp.floating):  # in the order of XLA a NaN with a sign is less than infinity
        least = np.frombuffer(b"\xff" * dtype.itemsize, dtype)[0]
    arrays = bind_again(equation, [space.filled(operand, [dim], least)])
    axes = [*operand.axes[:dim], space.axis(count)]
    return [Padded(array, axes) for array in arrays]
