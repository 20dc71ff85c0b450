"""Rules of what moves elements without looking at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft._jax_compat import bind_again, draws_by_position
from weft.compile.padding.arrays import Axis, Padded, is_static, length_of, merged, size_of, split
from weft.compile.padding.extents import Size, is_symbolic, times
from weft.compile.padding.space import Space, replaced, resized, where
from weft.compile.padding.table import Refused, rule


@rule("transpose")
def transpose(space: Space, equation: Any, operand: Padded) -> Padded:
    """The axes in another order."""
    order = [int(dim) for dim in equation.params["permutation"]]
    uniform = [new for new, old in enumerate(order) if old in operand.uniform]
    return Padded(lax.transpose(operand.array, order), [operand.axes[dim] for dim in order], uniform)


@rule("squeeze")
def squeeze(space: Space, equation: Any, operand: Padded) -> Padded:
    """Axes of one element are left out."""
    dims = equation.params["dimensions"]
    kept = [dim for dim in range(len(operand.axes)) if dim not in dims]
    uniform = [new for new, old in enumerate(kept) if old in operand.uniform]
    return Padded(bind_again(equation, [operand.array])[0], [operand.axes[dim] for dim in kept], uniform)


@rule("reshape")
def reshape(space: Space, equation: Any, operand: Padded) -> Padded:
    """Axes are merged and split as they lie in memory, where that gives the axes asked for; else elements move."""
    if equation.params["dimensions"] is not None:
        order = equation.params["dimensions"]
        operand = Padded(lax.transpose(operand.array, order), [operand.axes[dim] for dim in order])
    return _reshaped(space, operand, equation.params["new_sizes"])


def _reshaped(space: Space, operand: Padded, sizes: Sequence[Size]) -> Padded:
    if any(not is_symbolic(size) and size == 0 for size in sizes):
        axes = space.axes(sizes)
        return Padded(jnp.zeros([length_of(axis) for axis in axes], operand.array.dtype), axes)
    groups = _groups([size_of(axis) for axis in operand.axes], sizes)
    flat = [merged([factor for dim in old for factor in operand.axes[dim]]) for old, _ in groups]
    uniform = [all(dim in operand.uniform for dim in old) for old, _ in groups]
    value = Padded(
        lax.reshape(operand.array, [length_of(axis) for axis in flat]), flat, [i for i, u in enumerate(uniform) if u]
    )
    axes, alike = [], set[int]()
    for number, (_, new) in enumerate(groups):
        into = split(flat[number], [sizes[dim] for dim in new])
        if into is None:
            into = space.axes([sizes[dim] for dim in new])
            value = space.moved(value, number, merged([factor for axis in into for factor in axis]))
        if uniform[number]:
            alike.update(range(len(axes), len(axes) + len(new)))
        axes += into
    return Padded(lax.reshape(value.array, [length_of(axis) for axis in axes]), axes, alike)


def _groups(old: list[Size], new: Any) -> list[tuple[list[int], list[int]]]:
    """Runs of axes that a reshape takes and the runs that it makes of them, as short as can be."""
    ends = {times(new[:end]): end for end in range(len(new), -1, -1)}
    ends[times(old)] = len(new)
    groups = []
    begin = first = 0
    for last in range(1, len(old) + 1):
        end = len(new) if last == len(old) else ends.get(times(old[:last]))
        if end is not None and (end > begin or last == len(old)):
            groups.append((list(range(first, last)), list(range(begin, end))))
            first, begin = last, end
    if not old:
        groups.append(([], list(range(len(new)))))
    return groups


@rule("random_bits")
def random_bits(space: Space, equation: Any, key: Padded) -> Padded:
    """The bits at the beginning of a longer row are those of the row, which is cut into the axes."""
    if key.axes or not draws_by_position(equation):
        raise Refused("random_bits", "each depends on how many there are")
    shape = equation.params["shape"]
    axis = space.axis(times(shape))
    bits = bind_again(equation, [key.array], shape=(length_of(axis),))[0]
    return _reshaped(space, Padded(bits, [axis]), shape)


@rule("slice")
def slices(space: Space, equation: Any, operand: Padded) -> Padded:
    """Part of each axis."""
    starts, limits = equation.params["start_indices"], equation.params["limit_indices"]
    strides = equation.params["strides"] or (1,) * len(starts)
    for dim, size in enumerate(equation.outvars[0].aval.shape):
        if starts[dim] == 0 and strides[dim] == 1 and limits[dim] == size_of(operand.axes[dim]):
            continue
        operand = part(space, operand, dim, starts[dim], size, strides[dim])
    return operand


def part(space: Space, operand: Padded, dim: int, start: Size, size: Size, stride: Size = 1) -> Padded:
    """Some elements along an axis."""
    operand = space.compact(operand, [dim])
    axis, have = space.axis(size), operand.array.shape[dim]
    room = length_of(axis)
    if is_symbolic(start) or is_symbolic(stride):
        positions = space.size(start) + jnp.arange(room, dtype=np.int32) * space.size(stride)
        return space.taken(operand, dim, positions, axis)
    start = min(start, have)
    stop = min(start + max(room - 1, 0) * stride + 1, have) if room else start
    array = lax.slice_in_dim(operand.array, start, stop, stride, dim)
    return Padded(resized(array, dim, room), replaced(operand.axes, dim, axis), operand.uniform - {dim})


@rule("split")
def splits(space: Space, equation: Any, operand: Padded) -> list[Padded]:
    """Consecutive parts of an axis."""
    dim, start = equation.params["axis"], 0
    parts = []
    for size in equation.params["sizes"]:
        parts.append(part(space, operand, dim, start, size))
        start = start + size
    return parts


@rule("concatenate")
def concatenate(space: Space, equation: Any, *operands: Padded) -> Padded:
    """Along an axis with a size of the call each array is written over what is not valid of the one before."""
    dim = equation.params["dimension"]
    values = space.aligned([space.compact(value, [dim]) for value in operands], but=[dim])
    arrays = [value.array for value in values]
    sizes = [size_of(value.axes[dim]) for value in values]
    total: Size = 0
    if all(is_static(value.axes[dim]) for value in values):
        total = sum(sizes)
        array = lax.concatenate(arrays, dim)
    else:
        room = sum(array.shape[dim] for array in arrays)
        array = jnp.zeros(replaced(arrays[0].shape, dim, room), arrays[0].dtype)
        for piece, size in zip(arrays, sizes, strict=True):
            start = space.size(total)
            array = lax.dynamic_update_slice_in_dim(array, piece, start, dim)
            total = total + size
    axis = space.axis(total)
    return Padded(resized(array, dim, length_of(axis)), replaced(values[0].axes, dim, axis))


@rule("stack")
def stack(space: Space, equation: Any, *operands: Padded) -> Padded:
    """The arrays along a new axis."""
    values = space.aligned(operands)
    axes = list(values[0].axes)
    axes.insert(equation.params["axis"], space.axis(len(values)))
    return Padded(bind_again(equation, [value.array for value in values])[0], axes)


@rule("unstack")
def unstack(space: Space, equation: Any, operand: Padded) -> list[Padded]:
    """The arrays along an axis, of which there are as many in each call."""
    dim = equation.params["axis"]
    axes = (*operand.axes[:dim], *operand.axes[dim + 1 :])
    return [Padded(array, axes) for array in bind_again(equation, [operand.array])]


@rule("tile")
def tile(space: Space, equation: Any, operand: Padded) -> Padded:
    """Each axis becomes the product of the number of copies and what it was."""
    copies = [space.axis(size) for size in equation.params["reps"]]
    rank = range(len(copies))
    shape = [length_of(axis) for dim in rank for axis in (copies[dim], operand.axes[dim])]
    array = lax.broadcast_in_dim(operand.array, shape, [2 * dim + 1 for dim in rank])
    axes = [merged((*copies[dim], *operand.axes[dim])) for dim in rank]
    return Padded(lax.reshape(array, [length_of(axis) for axis in axes]), axes)


@rule("pad")
def pad(space: Space, equation: Any, operand: Padded, fill: Padded) -> Padded:
    """What is not valid becomes padding, so that more can stand behind it."""
    config = list(equation.params["padding_config"])
    shape = equation.outvars[0].aval.shape
    for dim, (low, high, inner) in enumerate(config):
        if is_static(operand.axes[dim]) and not is_symbolic(shape[dim]) and not is_symbolic(low):
            continue
        config[dim] = (0, 0, 0)
        if (low, high, inner) != (0, 0, 0):
            operand = _padded_along(space, operand, dim, (low, inner), shape[dim], fill.array)
    array = lax.pad(operand.array, fill.array, config)
    static = [dim for dim, change in enumerate(config) if change != (0, 0, 0)]
    axes = [space.axis(shape[dim]) if dim in static else axis for dim, axis in enumerate(operand.axes)]
    return Padded(array, axes)


def _padded_along(space: Space, operand: Padded, dim: int, change: tuple[Size, int], size: Size, fill: Any) -> Padded:
    """Padding before the elements along an axis, between them, and after them."""
    low, inner = change
    operand = space.compact(operand, [dim])
    old, axis = operand.axes[dim], space.axis(size)
    room = length_of(axis)
    axes = replaced(operand.axes, dim, axis)
    if not is_symbolic(low) and low >= 0 and inner == 0:
        array = space.filled(operand, [dim], fill)
        widths = [(0, 0, 0)] * array.ndim
        widths[dim] = (low, room - low - array.shape[dim], 0)
        return Padded(lax.pad(array, fill, widths), axes)
    place = jnp.arange(room, dtype=np.int32) - space.size(low)
    number, rest = place // (inner + 1), place % (inner + 1)
    moved = space.taken(operand, dim, number, axis)
    inside = (place >= 0) & (rest == 0) & (number < space.size(size_of(old)))
    mask = lax.broadcast_in_dim(inside, moved.array.shape, (dim,))
    return Padded(where(mask, moved.array, fill), axes)


@rule("rev")
def reverse(space: Space, equation: Any, operand: Padded) -> Padded:
    """The last valid element comes first."""
    for dim in equation.params["dimensions"]:
        operand = space.compact(operand, [dim])
        axis: Axis = operand.axes[dim]
        if is_static(axis):
            operand = Padded(lax.rev(operand.array, (dim,)), operand.axes, operand.uniform)
        else:
            positions = space.size(size_of(axis)) - 1 - jnp.arange(length_of(axis), dtype=np.int32)
            operand = space.taken(operand, dim, positions, axis)
    return operand
