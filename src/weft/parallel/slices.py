"""Arrays that are spread over devices and processes: which part a process holds, and arrays made of parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import numpy as np

from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import refuse_while_captured
from weft.parallel import spanning


class Box(NamedTuple):
    """A part of an array: where it begins, and its size, in each dimension.

    Args:
        start: its first element.
        size: its shape.
    """

    start: tuple[int, ...]
    size: tuple[int, ...]

    def within(self, begin: tuple[int, ...] = ()) -> tuple[slice, ...]:
        """The part as an index of the array, or of a part of it that begins elsewhere.

        Args:
            begin: where that part begins; () for the array.

        Example:
            >>> Box((2, 0), (2, 3)).within()
            (slice(2, 4, None), slice(0, 3, None))
        """
        at = begin or (0,) * len(self.start)
        return tuple(
            [slice(low - zero, low - zero + size) for low, size, zero in zip(self.start, self.size, at, strict=True)]
        )

    def common(self, other: Box) -> Box | None:
        """What is part of both; None for nothing.

        Args:
            other: another part of the array.

        Example:
            >>> Box((0,), (4,)).common(Box((2,), (4,)))
            Box(start=(2,), size=(2,))
        """
        start = tuple([max(pair) for pair in zip(self.start, other.start, strict=True)])
        ends = [min(a + m, b + n) for a, m, b, n in zip(self.start, self.size, other.start, other.size, strict=True)]
        size = tuple([end - low for low, end in zip(start, ends, strict=True)])
        return Box(start, size) if all(n > 0 for n in size) else None


def box_of(index: Any, shape: tuple[int, ...]) -> Box:
    """An index of slices as a part of an array of a shape.

    Example:
        >>> box_of((slice(2, None), slice(None)), (4, 3))
        Box(start=(2, 0), size=(2, 3))
    """
    bounds = [part.indices(size) for part, size in zip(index, shape, strict=True)]
    return Box(tuple([low for low, _, _ in bounds]), tuple([high - low for low, high, _ in bounds]))


def is_spread(data: Any) -> bool:
    """Whether something is an array on several devices."""
    return isinstance(data, jax.Array) and not isinstance(data, jax.core.Tracer) and len(data.sharding.device_set) > 1


def parts(array: Any) -> list[tuple[Box, Any]]:
    """What this process has to keep of an array, so that all processes together keep each element once."""
    found = []
    for shard in array.addressable_shards:
        if shard.replica_id == 0:
            found.append((box_of(shard.index, array.shape), shard.data))
    return found


def held(array: Any) -> tuple[Box, np.ndarray[Any, Any]]:
    """The part of an array that this process holds, as one.

    Raises:
        ValueError: it holds pieces that make no part.
    """
    pieces = {box_of(shard.index, array.shape): shard.data for shard in array.addressable_shards}
    start = tuple([min(firsts) for firsts in zip(*[box.start for box in pieces], strict=True)])
    ends = [max(lasts) for lasts in zip(*[map(sum, zip(*box, strict=True)) for box in pieces], strict=True)]
    whole = Box(start, tuple([end - low for low, end in zip(start, ends, strict=True)]))
    if sum(math.prod(box.size) for box in pieces) != math.prod(whole.size):
        raise ValueError(f"the {len(pieces)} pieces that this process holds are no one slice of the array")
    found = np.empty(whole.size, array.dtype)
    for box, data in pieces.items():
        found[box.within(start)] = data
    return whole, found


def whole(array: Any) -> np.ndarray[Any, Any]:
    """All elements of an array. Where other processes hold some, all that hold any must ask for it."""
    return np.asarray(spanning.whole(array))


def assembled(sharding: Any, shape: tuple[int, ...], dtype: Any, read: Callable[[Box], np.ndarray[Any, Any]]) -> Any:
    """An array spread in some way, of the parts that this process needs for it.

    Args:
        sharding: how it is spread.
        shape: its shape.
        dtype: its element type.
        read: gives the elements of a part, in memory that nobody writes afterwards.
    """
    if not sharding.addressable_devices:
        return spanning.nothing_of(shape, dtype, sharding)
    return jax.make_array_from_callback(shape, sharding, lambda index: read(box_of(index, shape)))


def placed_as(tensor: Tensor, value: Tensor) -> Tensor:
    """A value where the elements of a tensor are, if these are spread over devices.

    Args:
        tensor: says where.
        value: a tensor of the same shape.

    Raises:
        Unsupported: a capture is running: a graph would have the elements of its first call.
    """
    target = data_of(tensor)
    if not is_spread(target):
        return value
    refuse_while_captured(
        "a tensor that is spread over devices gets elements from elsewhere", "load outside the compiled function"
    )
    data = data_of(value)
    if not isinstance(data, jax.Array) or data.sharding == target.sharding:
        return value
    if target.is_fully_addressable and data.is_fully_addressable:
        return wrap(jax.device_put(data, target.sharding))
    elements = whole(data)
    return wrap(assembled(target.sharding, data.shape, elements.dtype, lambda box: np.array(elements[box.within()])))


def grid(boxes: Iterable[Box], shape: tuple[int, ...]) -> bool:
    """Whether parts are the cells of a regular grid over an array, each of them once.

    Example:
        >>> grid([Box((0,), (2,)), Box((2,), (2,))], (4,)), grid([Box((0,), (2,))], (4,))
        (True, False)
    """
    cells = list(boxes)
    if not cells:
        return False
    size = cells[0].size
    if len(size) != len(shape):
        return False
    if 0 in shape:
        return cells == [Box((0,) * len(shape), tuple(shape))]
    if any(n < 1 or whole % n for n, whole in zip(size, shape, strict=True)):
        return False
    regular = all(
        box.size == size
        and len(box.start) == len(shape)
        and all(0 <= low < n and low % step == 0 for low, n, step in zip(box.start, shape, size, strict=True))
        for box in cells
    )
    number = math.prod(whole // n for n, whole in zip(size, shape, strict=True))
    return regular and len({box.start for box in cells}) == len(cells) == number
