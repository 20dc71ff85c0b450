"""Rules of convolutions and pooling.

Along a spatial axis the elements behind the valid part become what padding consists of. Where a valid result reads them
there is padding in the program, too. So only the length of the result has to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft._jax_compat import bind_again
from weft.compile.padding.arrays import Axis, Padded, is_static, length_of
from weft.compile.padding.extents import Size, is_symbolic
from weft.compile.padding.space import Space, highest, lowest
from weft.compile.padding.table import Refused, rule


def _zero(dtype: Any) -> Any:
    return np.zeros((), dtype)[()]


def _padding(low: Size, length: int, window: int, stride: int, room: int) -> tuple[int, int]:
    """The padding with which windows over an axis in memory give so many results.

    Args:
        low: the padding before the elements.
        length: the length of the axis, with what dilation adds.
        window: the length of the window, likewise.
        stride: the distance of two windows.
        room: the number of results.
    """
    if is_symbolic(low):
        raise Refused("a window", f"padding of {low} before an axis")
    return int(low), (room - 1) * stride + window - int(low) - length


def _dilated(length: int, dilation: int) -> int:
    return (length - 1) * dilation + 1 if length else 0


@rule("conv_general_dilated")
def convolution(space: Space, equation: Any, left: Padded, right: Padded) -> Padded:
    """Batches are carried; what is summed up is zero outside the valid part, in both operands."""
    params = equation.params
    numbers = params["dimension_numbers"]
    grouped = params["batch_group_count"] != 1
    split = [left.axes[numbers.lhs_spec[0]]] if grouped else []
    if params["feature_group_count"] != 1:
        split += [left.axes[numbers.lhs_spec[1]], right.axes[numbers.rhs_spec[1]]]
    if split and not all(map(is_static, [*split, right.axes[numbers.rhs_spec[0]]])):
        raise Refused("conv_general_dilated", "in groups, of a size of the call")
    left = space.compact(left, numbers.lhs_spec[2:])
    right = space.compact(right, numbers.rhs_spec[2:])
    left_features, right_features = numbers.lhs_spec[1], numbers.rhs_spec[1]
    if params["feature_group_count"] == 1:
        right = space.moved(right, right_features, left.axes[left_features])
    arrays = [
        space.filled(left, numbers.lhs_spec[1:], _zero(left.array.dtype)),
        space.filled(right, numbers.rhs_spec[1:], _zero(right.array.dtype)),
    ]
    shape = equation.outvars[0].aval.shape
    axes: list[Axis] = space.axes(shape)
    if not grouped:
        axes[numbers.out_spec[0]] = left.axes[numbers.lhs_spec[0]]
    axes[numbers.out_spec[1]] = right.axes[numbers.rhs_spec[0]]
    padding = []
    for i, (mine, others, result) in enumerate(
        zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    ):
        low, high = params["padding"][i]
        if not is_static(left.axes[mine]) or not is_static(right.axes[others]) or is_symbolic(high):
            length = _dilated(arrays[0].shape[mine], params["lhs_dilation"][i])
            window = _dilated(arrays[1].shape[others], params["rhs_dilation"][i])
            low, high = _padding(low, length, window, params["window_strides"][i], length_of(axes[result]))
        padding.append((low, high))
    array = bind_again(equation, arrays, padding=tuple(padding))[0]
    return Padded(array, axes)


#: what a pooling takes as what stands outside
_OUTSIDE: Final[dict[str, Callable[[Any], Any]]] = {
    "reduce_window_sum": _zero,
    "reduce_window_max": lowest,
    "reduce_window_min": highest,
}
_POOL: Final[dict[str, Any]] = {
    "reduce_window_sum": lax.add,
    "reduce_window_max": lax.max,
    "reduce_window_min": lax.min,
}


@rule("reduce_window_sum", "reduce_window_max", "reduce_window_min")
def pooling(space: Space, equation: Any, operand: Padded) -> Padded:
    """What is not valid is what a pooling finds outside of an axis."""
    name, params = equation.primitive.name, equation.params
    if jnp.issubdtype(operand.array.dtype, jnp.complexfloating) and name != "reduce_window_sum":
        raise Refused(name, "of complex numbers")
    outside = _OUTSIDE[name](operand.array.dtype)
    shape = equation.outvars[0].aval.shape
    operand, axes, padding, dims = _windowed(space, operand, params, shape)
    array = lax.reduce_window(
        space.filled(operand, dims, outside),
        outside,
        _POOL[name],
        params["window_dimensions"],
        params["window_strides"],
        padding,
        params["base_dilation"],
        params["window_dilation"],
    )
    return Padded(array, axes)


def _windowed(
    space: Space, operand: Padded, params: Any, shape: Sequence[Size]
) -> tuple[Padded, list[Axis], list[tuple[int, int]], list[int]]:
    """An operand of windows, the axes of the result, the padding, and along which axes to fill up what is not valid."""
    axes, padding, dims = [], [], []
    for dim, size in enumerate(shape):
        window, stride, pads = params["window_dimensions"][dim], params["window_strides"][dim], params["padding"][dim]
        base, dilation = params["base_dilation"][dim], params["window_dilation"][dim]
        if (window, stride, tuple(pads), base) == (1, 1, (0, 0), 1):
            axes.append(operand.axes[dim])
            padding.append((0, 0))
            continue
        if is_symbolic(window) or is_symbolic(stride) or is_symbolic(base) or is_symbolic(dilation):
            raise Refused("reduce_window", "a window with a size of the call")
        if is_static(operand.axes[dim]) and not is_symbolic(pads[0]) and not is_symbolic(pads[1]):
            axes.append(space.axis(size))
            padding.append(tuple(pads))
            continue
        operand = space.compact(operand, [dim])
        axis = space.axis(size)
        length = _dilated(operand.array.shape[dim], base)
        padding.append(_padding(pads[0], length, _dilated(window, dilation), stride, length_of(axis)))
        axes.append(axis)
        dims.append(dim)
    return operand, axes, padding, dims


@rule("select_and_scatter_add", "select_and_gather_add", "reduce_window")
def batched_pooling(space: Space, equation: Any, *operands: Padded) -> Padded | list[Padded]:
    """Only axes that the windows do not see have a size of the call."""
    name, params = equation.primitive.name, equation.params
    values = space.aligned(operands, but=[d for d in range(len(operands[0].axes)) if not _unseen(params, d)])
    ranked = [value for value in values if value.axes]
    results = []
    for variable in equation.outvars:
        axes = space.axes(variable.aval.shape)
        for dim in range(len(axes)):
            if _unseen(params, dim):
                axes[dim] = ranked[0].axes[dim]
            elif not all(is_static(value.axes[dim]) for value in ranked) or not is_static(axes[dim]):
                raise Refused(name, "windows along a size of the call")
        results.append(axes)
    arrays = bind_again(equation, [value.array for value in values])
    found = [Padded(array, axes) for array, axes in zip(arrays, results, strict=True)]
    return found if equation.primitive.multiple_results else found[0]


def _unseen(params: Any, dim: int) -> bool:
    """Whether windows have one element along an axis, and each element one window."""
    trivial = params["window_dimensions"][dim] == params["window_strides"][dim] == 1
    dilated = params.get("base_dilation", {dim: 1})[dim] != 1
    return trivial and not dilated and tuple(params["padding"][dim]) == (0, 0)


@rule("fft")
def fft(space: Space, equation: Any, operand: Padded) -> Padded:
    """Each transform by itself."""
    rank = len(operand.axes) - len(equation.params["fft_lengths"])
    axes = [*operand.axes[:rank], *space.axes(equation.outvars[0].aval.shape[rank:])]
    if not all(map(is_static, (*operand.axes[rank:], *axes[rank:]))):
        raise Refused("fft", "along a size of the call")
    # XLA has transforms that look at the whole array
    return Padded(bind_again(equation, [space.filled(operand, range(rank), _zero(operand.array.dtype))])[0], axes)
