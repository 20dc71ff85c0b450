"""Where the elements of an array lie: the grid of devices, and which part of the array each of them holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import numpy as np

from weft.parallel.layout import Layout
from weft.parallel.processes import processes

#: the first and the last index but one of each dimension
Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the elements of an array lie.

    Args:
        shape: shape of the array.
        axes: the axes of the grid of devices: name -> size; None where there is no grid with names.
        spread: for each dimension the names of the axes along which it is spread.
        grid: the devices as the grid has them, by name.
        held: what each device holds.
        names: what the devices are called, as in ``devices 0 and 1``.
    """

    shape: tuple[int, ...]
    axes: dict[str, int] | None
    spread: tuple[tuple[str, ...], ...]
    grid: np.ndarray
    held: dict[str, Bounds]
    names: str = "device"

    @property
    def each(self) -> tuple[int, ...]:
        """The shape of what the first device holds, which is that of all where the sizes can be divided."""
        first = next(iter(self.held.values()))
        return tuple([end - begin for begin, end in first])

    @property
    def is_whole(self) -> bool:
        """Whether each device holds all of it."""
        return self.each == self.shape

    @property
    def parts(self) -> dict[Bounds, list[str]]:
        """The devices that hold each part."""
        found: dict[Bounds, list[str]] = {}
        for device, bounds in self.held.items():
            found.setdefault(bounds, []).append(device)
        return found

    @property
    def layout(self) -> str:
        """How it is spread, in short.

        Example:
            >>> placed(Layout((2, 4), ("dp", "mp"))("dp", "None"), (8, 8)).layout
            '(dp, None)'
        """
        if self.is_whole:
            return "whole"
        if self.axes is None:
            counts = [str(-(-size // part) if part else 1) for size, part in zip(self.shape, self.each, strict=True)]
            return f"{' x '.join(counts)} parts"
        return f"({', '.join(['+'.join(names) or 'None' for names in self.spread])})"


def placed(places: Any, shape: Sequence[int]) -> Placement:
    """Where the elements of an array of a shape lie.

    Args:
        places: a sharding of JAX's, or a `Layout` that was called with the axes of the dimensions.
        shape: shape of the array.

    Raises:
        ValueError: the layout does not say where the dimensions lie, or does not fit the shape.
    """
    return _by_layout(places, tuple(shape)) if isinstance(places, Layout) else _by_sharding(places, tuple(shape))


def _by_sharding(sharding: Any, shape: tuple[int, ...]) -> Placement:
    name = _namer(sharding.device_set)
    held = {
        name(device): tuple([part.indices(size)[:2] for part, size in zip(index, shape, strict=True)])
        for device, index in sharding.devices_indices_map(shape).items()
    }
    if isinstance(sharding, jax.sharding.NamedSharding):
        spec = [*sharding.spec, *[None] * (len(shape) - len(sharding.spec))]
        spread = tuple([_axes(entry) for entry in spec])
        grid = np.vectorize(name, otypes=[object])(sharding.mesh.devices)
        return Placement(shape, dict(sharding.mesh.shape), spread, grid, held)
    return Placement(shape, None, ((),) * len(shape), np.array(list(held), object), held)


def _axes(entry: Any) -> tuple[str, ...]:
    """The axes that a dimension is spread along, as JAX spells them."""
    if isinstance(entry, str):
        return (entry,)
    return tuple(entry) if isinstance(entry, tuple) else ()


def _namer(devices: Any) -> Callable[[Any], str]:
    """What devices are called: the number, or, where several processes take part, the rank and the number in it."""
    if processes().count == 1:
        return lambda device: str(device.id)
    own: dict[Any, list[Any]] = {}
    for device in sorted(devices, key=lambda device: device.id):
        own.setdefault(device.process_index, []).append(device)

    def name(device: Any) -> str:
        beside = own[device.process_index]
        return f"r{device.process_index}" + (f".{beside.index(device)}" if len(beside) > 1 else "")

    return name


def _by_layout(layout: Layout, shape: tuple[int, ...]) -> Placement:
    facts = layout.to_dict()
    sizes, names, ranks = facts["device_matrix"], facts["alias_name"], facts["rank_list"]
    where = facts["tensor_map"]
    if len(where) != len(shape):
        raise ValueError(f"a layout of {len(where)} dimensions does not fit the shape {shape}")
    along = [[len(sizes) - 1 - axis for axis in (a if isinstance(a, tuple) else (a,)) if axis >= 0] for a in where]
    for size, axes in zip(shape, along, strict=True):
        if size % math.prod([sizes[axis] for axis in axes]):
            raise ValueError(f"a dimension of size {size} cannot be divided among {[names[axis] for axis in axes]}")
    grid = np.array([str(rank) for rank in ranks], object).reshape(sizes)
    held = {
        str(grid[place]): tuple([_part(size, axes, sizes, place) for size, axes in zip(shape, along, strict=True)])
        for place in np.ndindex(*sizes)
    }
    spread = tuple([tuple([names[axis] for axis in axes]) for axes in along])
    return Placement(shape, dict(zip(names, sizes, strict=True)), spread, grid, held, "rank")


def _part(size: int, axes: Sequence[int], sizes: Sequence[int], place: Sequence[int]) -> tuple[int, int]:
    """The part of a dimension at a place of the grid."""
    number, count = 0, 1
    for axis in axes:
        number, count = number * sizes[axis] + place[axis], count * sizes[axis]
    return size // count * number, size // count * (number + 1)


def along_axes(groups: Sequence[Sequence[int]], shape: dict[str, int]) -> tuple[str, ...] | None:
    """The axes of a grid along which groups of devices lie; None where they lie along none.

    Args:
        groups: the groups, by the number of each device in the grid.
        shape: name and size of each axis.

    Example:
        >>> along_axes([[0, 1], [2, 3]], {"dp": 2, "mp": 2})
        ('mp',)
    """
    sizes = tuple(shape.values())
    wanted = {frozenset(group) for group in groups}
    if {number for group in wanted for number in group} != set(range(math.prod(sizes))):
        return None
    first = next(group for group in wanted if 0 in group)
    places = np.array(np.unravel_index(sorted(first), sizes))
    axes = [axis for axis in range(len(sizes)) if len(set(places[axis].tolist())) > 1]
    grid = np.arange(math.prod(sizes)).reshape(sizes)
    others = [axis for axis in range(len(sizes)) if axis not in axes]
    rows = grid.transpose([*others, *axes]).reshape(-1, math.prod([sizes[axis] for axis in axes]))
    if {frozenset(row) for row in rows.tolist()} != wanted:
        return None
    return tuple([list(shape)[axis] for axis in axes])


def each_dimension(placement: Placement) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The dimensions of which not every device holds all, and the parts of each, in order."""
    for dimension in range(len(placement.shape)):
        parts = sorted({bounds[dimension] for bounds in placement.held.values()})
        if len(parts) > 1:
            yield dimension, parts


__all__: Final = ["Bounds", "Placement", "along_axes", "each_dimension", "placed"]
