"""Rules of what reads or writes at positions that are numbers of the program.

Positions along an axis with a size of the call are compared with that size here: XLA knows the length in memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from weft.compile.padding.arrays import Axis, Padded, is_static, length_of, size_of
from weft.compile.padding.extents import Size, is_symbolic
from weft.compile.padding.space import Space, replaced, resized, where
from weft.compile.padding.table import Refused, rule

_CLIP: Final = lax.GatherScatterMode.CLIP
_FILL: Final = lax.GatherScatterMode.FILL_OR_DROP
_MODES: Final = (_CLIP, _FILL, lax.GatherScatterMode.PROMISE_IN_BOUNDS)
_WIDE: Final = np.int64


def _wide(indices: Any) -> Any:
    """Indices as 64-bit numbers, in which all lengths have room."""
    if indices.dtype == np.uint64:
        indices = jnp.minimum(indices, np.uint64(np.iinfo(_WIDE).max))
    return lax.convert_element_type(indices, _WIDE)


def _clamped(space: Space, start: Any, size: Size, window: Size) -> Any:
    """Where a window begins that must lie inside an axis."""
    return jnp.clip(_wide(jnp.asarray(start)), 0, space.size(size - window, _WIDE))


def _start(space: Space, operand: Padded, dim: int, start: Padded, window: Size) -> Any:
    return lax.convert_element_type(_clamped(space, start.array, size_of(operand.axes[dim]), window), np.int32)


@rule("dynamic_slice")
def dynamic_slice(space: Space, equation: Any, operand: Padded, *starts: Padded) -> Padded:
    """A window, moved into the valid part."""
    windows = equation.params["slice_sizes"]
    whole = [window == size_of(axis) for window, axis in zip(windows, operand.axes, strict=True)]
    operand = space.compact(operand, [dim for dim, all_ in enumerate(whole) if not all_])
    array, begins, lengths, axes = operand.array, [], [], list(operand.axes)
    for dim, (window, all_) in enumerate(zip(windows, whole, strict=True)):
        begins.append(np.int32(0) if all_ else _start(space, operand, dim, starts[dim], window))
        if not all_:
            axes[dim] = space.axis(window)
            if is_symbolic(window):
                array = resized(array, dim, array.shape[dim] + length_of(axes[dim]))
        lengths.append(length_of(axes[dim]))
    return Padded(lax.dynamic_slice(array, begins, lengths), axes)


@rule("dynamic_update_slice")
def dynamic_update_slice(space: Space, equation: Any, operand: Padded, update: Padded, *starts: Padded) -> Padded:
    """A window, moved into the valid part, in which the elements are others."""
    dims = range(len(operand.axes))
    begins: list[Any] = []
    for dim in dims:
        if size_of(operand.axes[dim]) == size_of(update.axes[dim]):
            begins.append(None)
        else:
            begins.append(_start(space, operand, dim, starts[dim], size_of(update.axes[dim])))
    return _placed(space, operand, update, begins, lambda old, new: new, None)


def _placed(
    space: Space,
    operand: Padded,
    update: Padded,
    begins: Sequence[Any],
    combine: Callable[[Any, Any], Any],
    inside: Any,
) -> Padded:
    """A value with a window in which elements are combined with others.

    Args:
        begins: where the window begins along each axis, from 0 to the length in memory; None where it is all of it.
        combine: what stands in the window, of the elements before and the others.
        inside: whether there is a window at all; None if there is.
    """
    parts = [dim for dim, begin in enumerate(begins) if begin is not None]
    operand, update = space.compact(operand, parts), space.compact(update, parts)
    operand, update = space.aligned([operand, update], but=parts)
    new, mask = update.array, None
    for dim in parts:
        length, axis = operand.array.shape[dim], update.axes[dim]
        room = jnp.zeros(replaced(new.shape, dim, length + new.shape[dim]), new.dtype)
        new = resized(lax.dynamic_update_slice_in_dim(room, new, begins[dim], dim), dim, length)
        place = jnp.arange(length, dtype=np.int32)
        along = (place >= begins[dim]) & (place < begins[dim] + space.size(size_of(axis)))
        along = lax.broadcast_in_dim(along, operand.array.shape, (dim,))
        mask = along if mask is None else mask & along
    if inside is not None:
        inside = jnp.broadcast_to(inside, operand.array.shape)
        mask = inside if mask is None else mask & inside
    found = combine(operand.array, new)
    return Padded(found if mask is None else where(mask, found, operand.array), operand.axes)


def _last(space: Space, operand: Padded, dims: Sequence[int], windows: Sequence[Size]) -> Any:
    """The last position at which a window is inside, for each component of an index."""
    last = [space.size(size_of(operand.axes[dim]) - window, _WIDE) for dim, window in zip(dims, windows, strict=True)]
    return jnp.stack([jnp.asarray(position, _WIDE) for position in last]) if last else jnp.zeros(0, _WIDE)


@rule("gather")
def gather(space: Space, equation: Any, operand: Padded, indices: Padded) -> Padded:
    """Windows at indices; rows of indices outside the valid part give rows outside the valid part."""
    numbers, mode = equation.params["dimension_numbers"], equation.params["mode"]
    if not is_static(indices.axes[-1]) or mode not in _MODES:
        raise Refused("gather", f"indices of {indices.axes[-1]} components, {mode}")
    dims, windows = numbers.start_index_map, list(equation.params["slice_sizes"])
    operand, indices = _same_batches(
        space, operand, indices, numbers.operand_batching_dims, numbers.start_indices_batching_dims
    )
    outside = {*numbers.operand_batching_dims, *numbers.collapsed_slice_dims}
    offsets = [dim for dim in range(len(operand.axes)) if dim not in outside]
    lengths: list[Any] = list(windows)
    axes: dict[int, Axis] = {}
    beyond = []
    for dim, window in enumerate(windows):
        if dim in numbers.operand_batching_dims:
            continue
        if dim not in dims and window == size_of(operand.axes[dim]):
            axes[dim], lengths[dim] = operand.axes[dim], length_of(operand.axes[dim])
            continue
        operand = space.compact(operand, [dim])
        axes[dim] = space.axis(window)
        lengths[dim] = length_of(axes[dim])
        if is_symbolic(window):
            beyond.append(dim)
    array = operand.array
    for dim in beyond:  # the room for a window must not end within the array, or XLA would move it
        array = resized(array, dim, array.shape[dim] + lengths[dim])
    index, last = _wide(indices.array), _last(space, operand, dims, [windows[dim] for dim in dims])
    if mode == _FILL:
        index = jnp.where(index <= last, index, np.array([array.shape[dim] for dim in dims], _WIDE))
    else:  # what is promised to be inside is where it is valid
        index = jnp.clip(index, 0, last)
    fill = equation.params["fill_value"]
    result = lax.gather(array, index, numbers, lengths, mode=_FILL if mode == _FILL else _CLIP, fill_value=fill)
    batches = iter(indices.axes[:-1])
    window_axes = iter([axes[dim] for dim in offsets])
    rank = len(offsets) + len(indices.axes) - 1
    return Padded(result, [next(window_axes if dim in numbers.offset_dims else batches) for dim in range(rank)])


def _same_batches(
    space: Space, operand: Padded, indices: Padded, mine: Sequence[int], others: Sequence[int]
) -> tuple[Padded, Padded]:
    """Operand and indices with the elements of their common axes at the same positions."""
    for dim, other in zip(mine, others, strict=True):
        if dim in operand.uniform:
            operand = space.moved(operand, dim, indices.axes[other])
        indices = space.moved(indices, other, operand.axes[dim])
    return operand, indices


#: what is combined in each element, and what does it at many positions
_SCATTERS: Final[dict[str, tuple[Callable[[Any, Any], Any], Callable[..., Any]]]] = {
    "scatter": (lambda old, new: new, lax.scatter),
    "scatter-add": (lax.add, lax.scatter_add),
    "scatter-sub": (lax.sub, lax.scatter_sub),
    "scatter-mul": (lax.mul, lax.scatter_mul),
    "scatter-min": (lax.min, lax.scatter_min),
    "scatter-max": (lax.max, lax.scatter_max),
}


@rule("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
def scatter(space: Space, equation: Any, operand: Padded, indices: Padded, updates: Padded) -> Padded:
    """Windows at indices are written; what is not valid in indices or windows is written outside, so nowhere."""
    name, numbers, mode = equation.primitive.name, equation.params["dimension_numbers"], equation.params["mode"]
    combine, many = _SCATTERS[name]
    if not is_static(indices.axes[-1]) or mode not in _MODES:
        raise Refused(name, f"indices of {indices.axes[-1]} components, {mode}")
    if name == "scatter" and equation.params.get("update_jaxpr") is not None:
        raise Refused(name, "of a function")
    dims = numbers.scatter_dims_to_operand_dims
    operand, indices = _same_batches(
        space, operand, indices, numbers.operand_batching_dims, numbers.scatter_indices_batching_dims
    )
    rows = [at for at in range(len(updates.axes)) if at not in numbers.update_window_dims]
    for axis, at in zip(indices.axes[:-1], rows, strict=True):
        updates = space.moved(updates, at, axis)
    outside = {*numbers.operand_batching_dims, *numbers.inserted_window_dims}
    window_at = dict(
        zip([d for d in range(len(operand.axes)) if d not in outside], numbers.update_window_dims, strict=True)
    )
    whole = []
    for dim in range(len(operand.axes)):
        at = window_at.get(dim, -1)
        if at >= 0 and dim not in dims and size_of(updates.axes[at]) == size_of(operand.axes[dim]):
            whole.append(dim)
            if dim in operand.uniform:
                operand = space.moved(operand, dim, updates.axes[at])
            updates = space.moved(updates, at, operand.axes[dim])
        elif dim not in numbers.operand_batching_dims:
            operand = space.compact(operand, [dim])
            updates = updates if at < 0 else space.compact(updates, [at])
    windows = [size_of(updates.axes[window_at[dim]]) if dim in window_at else 1 for dim in dims]
    index = _wide(indices.array)
    last = _last(space, operand, dims, windows)
    if mode == _CLIP:
        index = jnp.clip(index, 0, last)
    inside = jnp.all((index >= 0) & (index <= last), axis=-1)
    if not rows:
        missing = list(numbers.inserted_window_dims)
        axes = [() if dim in missing else updates.axes[window_at[dim]] for dim in range(len(operand.axes))]
        window = Padded(lax.expand_dims(updates.array, missing), axes)
        index = lax.convert_element_type(jnp.clip(index, 0, last), np.int32)
        begins = [
            None if dim in whole else index[dims.index(dim)] if dim in dims else np.int32(0)
            for dim in range(len(operand.axes))
        ]
        return _placed(space, operand, window, begins, combine, inside)
    spread = [dim for dim, at in window_at.items() if dim not in whole and not is_static(updates.axes[at])]
    numbers, index = _spread(space, operand, index, inside, updates, numbers, {dim: window_at[dim] for dim in spread})
    return Padded(many(operand.array, index, updates.array, numbers, mode=_FILL), operand.axes)


def _spread(
    space: Space, operand: Padded, index: Any, inside: Any, updates: Padded, numbers: Any, spread: dict[int, int]
) -> tuple[Any, Any]:
    """Dimension numbers and indices of a scatter in which some windows are a row of indices for each position.

    Args:
        inside: for which indices the windows are inside.
        spread: those axes of the operand, each with the axis of the updates.

    Returns:
        The dimension numbers, and the indices, outside for what is not valid.
    """
    window_dims = [at for at in numbers.update_window_dims if at not in spread.values()]
    old_rows = [at for at in range(len(updates.axes)) if at not in numbers.update_window_dims]
    rows = [at for at in range(len(updates.axes)) if at not in window_dims]
    shape = [updates.array.shape[at] for at in rows]
    places = [rows.index(at) for at in old_rows]
    dims = list(numbers.scatter_dims_to_operand_dims)
    columns = [lax.broadcast_in_dim(index[..., i], shape, places) for i in range(len(dims))]
    valid = lax.broadcast_in_dim(inside, shape, places)
    for dim, at in spread.items():
        position = lax.broadcasted_iota(_WIDE, shape, rows.index(at))
        if dim in dims:
            columns[dims.index(dim)] += position
        else:
            dims.append(dim)
            columns.append(position)
    mask = space.mask(shape, [updates.axes[at] for at in rows], range(len(rows)))
    valid = valid if mask is None else valid & mask
    if not dims:
        raise Refused("scatter", "without positions")
    columns = [where(valid, column, _WIDE(operand.array.shape[dim])) for column, dim in zip(columns, dims, strict=True)]
    return lax.ScatterDimensionNumbers(
        update_window_dims=tuple(window_dims),
        inserted_window_dims=tuple(sorted((*numbers.inserted_window_dims, *spread))),
        scatter_dims_to_operand_dims=tuple(dims),
        operand_batching_dims=numbers.operand_batching_dims,
        scatter_indices_batching_dims=tuple([places[dim] for dim in numbers.scatter_indices_batching_dims]),
    ), jnp.stack(columns, axis=-1)
