"""What rules work with: the sizes of a call, masks, and arrays whose elements are moved to where others have theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from weft.compile.padding.arrays import Axis, Extent, Padded, is_static, length_of, merged, size_of
from weft.compile.padding.extents import Size, bounds, evaluated, is_symbolic
from weft.compile.padding.table import Refused

#: positions are counted with 32 bits
_LONGEST: Final = 2**31 - 1
_WIDE: Final = np.int64
_INTEGERS: Final[Any] = jnp.iinfo
_REALS: Final[Any] = jnp.finfo


class Space:
    """The sizes of a call in arrays that have room for the largest.

    Args:
        atoms: the value of each atom, scalar arrays.
        bucket: the largest value of each.
        interpret: runs a jaxpr with its constants on operands.
    """

    def __init__(
        self,
        atoms: Mapping[str, Any],
        bucket: Mapping[str, int],
        interpret: Callable[[Space, Any, Sequence[Padded]], list[Padded]],
    ) -> None:
        self._atoms = {name: lax.convert_element_type(value, _WIDE) for name, value in atoms.items()}
        self._bucket = bucket
        self._interpret = interpret
        self._sizes: dict[Size, Any] = {}
        self._masks: dict[Axis, Any] = {}

    def inner(self) -> Space:
        """The space for a function that JAX traces by itself, from which no array comes back but its results."""
        space = Space({}, self._bucket, self._interpret)
        space._atoms, space._sizes, space._masks = self._atoms, dict(self._sizes), dict(self._masks)
        return space

    def interpret(self, jaxpr: Any, operands: Sequence[Padded]) -> list[Padded]:
        """The results of a jaxpr that is part of the program."""
        return self._interpret(self, jaxpr, operands)

    def size(self, size: Size, dtype: Any = np.int32) -> Any:
        """What a size is in this call: an int, or a scalar array of some dtype."""
        if not is_symbolic(size):
            return int(size)
        found = self._sizes.get((size, dtype))
        if found is None:
            found = self._sizes[size, dtype] = lax.convert_element_type(evaluated(size, self._atoms), dtype)
        return found

    def bounds(self, size: Size) -> tuple[int, int]:
        """The least and the largest that a size may be."""
        return bounds(size, self._bucket)

    def room(self, size: Size) -> int:
        """The length of an array that holds the size in each call."""
        room = max(self.bounds(size)[1], 0)
        if room > _LONGEST:
            raise Refused("a size", f"{size} may be {room}")
        return room

    def axis(self, size: Size) -> Axis:
        """The axis of a size whose valid part is one leading block."""
        return merged([Extent(self.room(size), size)])

    def axes(self, shape: Iterable[Size]) -> list[Axis]:
        """The axes of a shape, valid parts leading."""
        return [self.axis(size) for size in shape]

    def valid(self, axis: Axis) -> Any:
        """Which positions along an axis are valid."""
        mask = self._masks.get(axis)
        if mask is None:
            shape = [factor.padded for factor in axis]
            mask = jnp.ones(shape, bool)
            for number, factor in enumerate(axis):
                if is_symbolic(factor.size):
                    mask &= lax.broadcasted_iota(np.int32, shape, number) < self.size(factor.size)
            mask = self._masks[axis] = lax.reshape(mask, (prod(shape),))
        return mask

    def mask(self, shape: Sequence[int], axes: Sequence[Axis], dims: Iterable[int]) -> Any:
        """Which elements of an array are valid along some axes; None if all are."""
        mask = None
        for dim in dims:
            if not is_static(axes[dim]):
                along = lax.broadcast_in_dim(self.valid(axes[dim]), shape, (dim,))
                mask = along if mask is None else mask & along
        return mask

    def filled(self, value: Padded, dims: Iterable[int], fill: Any) -> Any:
        """The array of a value with something else where it is not valid along some axes."""
        mask = self.mask(value.array.shape, value.axes, dims)
        return value.array if mask is None else where(mask, value.array, fill)

    def taken(self, value: Padded, dim: int, positions: Any, axis: Axis) -> Padded:
        """A value of elements at some positions along an axis, which are moved into the array if they lie outside."""
        array = value.array
        if array.shape[dim] == 0:
            shape = list(array.shape)
            shape[dim] = len(positions)
            array = jnp.zeros(shape, array.dtype)
        else:
            array = jnp.take(array, positions, axis=dim, mode="clip")
        return Padded(array, replaced(value.axes, dim, axis), value.uniform - {dim})

    def moved(self, value: Padded, dim: int, axis: Axis) -> Padded:
        """A value with its valid elements along an axis where another axis of the same size has them."""
        old = value.axes[dim]
        if old == axis:
            return value
        if size_of(old) != size_of(axis):
            raise Refused("an axis", f"{size_of(old)} is not known to be {size_of(axis)}")
        axes = replaced(value.axes, dim, axis)
        if dim in value.uniform and length_of(old):
            array = lax.slice_in_dim(value.array, 0, 1, axis=dim)
            shape = replaced(array.shape, dim, length_of(axis))
            return Padded(jnp.broadcast_to(array, shape), axes, value.uniform)
        if len(old) <= 1 and len(axis) <= 1:
            return Padded(resized(value.array, dim, length_of(axis)), axes, value.uniform)
        return self.taken(value, dim, self._position(old, self._number(axis)), axis)

    def _number(self, axis: Axis) -> Any:
        """For each position along an axis the number of the element there."""
        shape = [factor.padded for factor in axis]
        number: Any = jnp.zeros(shape, np.int32)
        for dim, factor in enumerate(axis):
            number = number * self.size(factor.size) + lax.broadcasted_iota(np.int32, shape, dim)
        return lax.reshape(number, (prod(shape),))

    def _position(self, axis: Axis, number: Any) -> Any:
        """Where along an axis an element with some number is."""
        position: Any = jnp.zeros_like(number)
        stride = 1
        for factor in reversed(axis):
            size = jnp.maximum(self.size(factor.size), 1)
            position = position + (number % size) * stride
            number = number // size
            stride *= factor.padded
        return position

    def compact(self, value: Padded, dims: Iterable[int]) -> Padded:
        """A value whose valid part along some axes is a leading block."""
        for dim in dims:
            if len(value.axes[dim]) > 1:
                value = self.moved(value, dim, self.axis(size_of(value.axes[dim])))
        return value

    def aligned(self, values: Sequence[Padded], but: Sequence[int] = ()) -> list[Padded]:
        """Values with their elements at the same positions, except along some axes.

        They are of one shape, but for scalars and axes of one element, which stay as they are.
        """
        result = list(values)
        for dim in range(max([len(value.axes) for value in values], default=0)):
            # an axis without factors has one element
            longer = [i for i, value in enumerate(result) if value.axes and value.axes[dim]]
            if dim not in but and len({result[i].axes[dim] for i in longer}) > 1:
                first = min(longer, key=lambda i: dim in result[i].uniform)
                for i in longer:
                    result[i] = self.moved(result[i], dim, result[first].axes[dim])
        return result


def where(mask: Any, array: Any, fill: Any) -> Any:
    """An array with something else, an array of its shape or one element, where a mask of its shape is false."""
    if np.ndim(fill) == 0:
        fill = lax.full_like(array, fill) if not isinstance(fill, jax.Array) else jnp.broadcast_to(fill, array.shape)
    return lax.select(mask, array, fill)


def resized(array: Any, dim: int, length: int) -> Any:
    """An array cut or filled up at the end of an axis."""
    have = array.shape[dim]
    if length == have:
        return array
    if length < have:
        return lax.slice_in_dim(array, 0, length, axis=dim)
    widths = [(0, length - have if i == dim else 0, 0) for i in range(array.ndim)]
    return lax.pad(array, np.zeros((), array.dtype), widths)


def replaced(items: Sequence[Any], position: int, item: Any) -> tuple[Any, ...]:
    """A sequence with another item at a position."""
    return (*items[:position], item, *items[position + 1 :])


def lowest(dtype: Any) -> Any:
    """What no element of a real dtype is below."""
    return _extreme(dtype, -1)


def highest(dtype: Any) -> Any:
    """What no element of a real dtype is above."""
    return _extreme(dtype, 1)


def _extreme(dtype: Any, sign: int) -> Any:
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.bool_(sign > 0)
    if jnp.issubdtype(dtype, jnp.integer):
        info = _INTEGERS(dtype)
    else:
        infinite = np.array(sign * np.inf).astype(dtype)
        if np.isinf(infinite):
            return infinite[()]
        info = _REALS(dtype)
    return np.array(info.max if sign > 0 else info.min, dtype)[()]
