"""Values that cross from the processes of one stage of a pipeline to those of another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft.parallel import placement, spanning
from weft.parallel.placement import Place
from weft.parallel.processes import processes

#: the axes of the devices of two stages
_STAGE, _DEVICES = "stage", "devices"


def _size() -> int:
    """Processes of a stage."""
    return processes().count // placement.stages()


def ranks_of(stage: int) -> tuple[int, ...]:
    """The processes of a stage."""
    size = _size()
    return tuple(range(stage * size, (stage + 1) * size))


def here() -> int:
    """The stage of this process; 0 in a program of one process."""
    return 0 if processes().count == 1 else processes().rank // _size()


def stage_of(array: Any) -> int | None:
    """The stage on whose devices an array lies; None for one that each process has."""
    if not spanning.is_in_part(array) or spanning.is_for_any(array):
        return None
    first = next(iter(array.sharding.mesh.devices.flat))
    return int(first.process_index) // _size()


def _place(shape: Sequence[int], stage: int) -> Place:
    """How a value crosses: by rows, where each device can have as many."""
    ranks = ranks_of(stage)
    whole = Place((len(ranks),), (_DEVICES,), ranks, ((),) * len(shape))
    rows = whole._replace(dims=((_DEVICES,), *whole.dims[1:]))
    return rows if rows.fits(tuple(shape)) else whole


def cross(arrays: Sequence[Any], types: Sequence[tuple[tuple[int, ...], Any]], source: int, target: int) -> list[Any]:
    """Values of one stage in another. The processes of both come to it.

    Args:
        arrays: the values; anything in the stage that gets them.
        types: shape and element type of each.
        source: the stage that has them.
        target: the one that gets them.

    Returns:
        list: the values, in the stage that gets them.
    """
    ranks = (ranks_of(source), ranks_of(target))
    devices = np.array([[placement.devices()[rank] for rank in group] for group in ranks], object)
    mesh = Mesh(devices, (_STAGE, _DEVICES))
    given, places = [], []
    for array, (shape, dtype) in zip(arrays, types, strict=True):
        place = _place(shape, source)
        spec = PartitionSpec(_STAGE, *[axes[0] if axes else None for axes in place.dims])
        if here() == source:
            own = _laid(array, place).addressable_data(0)[None]
        else:
            own = jax.numpy.zeros((1, *[n // parts for n, parts in zip(shape, place.parts, strict=True)]), dtype)
        places.append(place)
        given.append(jax.make_array_from_single_device_arrays((2, *shape), NamedSharding(mesh, spec), [own]))
    specs = tuple([array.sharding.spec for array in given])
    results = spanning.together(f"stage {source} to stage {target}", _crosser(mesh, specs), given)
    if here() != target:
        return []
    return [
        jax.make_array_from_single_device_arrays(
            shape, placement.sharding(place._replace(ranks=ranks[1])), [result.addressable_data(0)[0]]
        )
        for result, place, (shape, _) in zip(results, places, types, strict=True)
    ]


def shared(arrays: Sequence[Any], types: Sequence[tuple[tuple[int, ...], Any]], stage: int) -> list[Any]:
    """Values of one stage in all processes, which all come to it.

    Args:
        arrays: the values; anything in other stages.
        types: shape and element type of each.
        stage: the stage that has them.
    """
    return spanning.shared(arrays, types, ranks_of(stage))


def _laid(array: Any, place: Place) -> Any:
    """A value of this stage by rows."""
    if len(place.ranks) == 1:
        return array
    with spanning.among(place.ranks):
        return spanning.moved(array, placement.sharding(place))


@functools.cache
def _crosser(mesh: Mesh, specs: tuple[Any, ...]) -> Callable[..., Any]:
    def move(*arrays: Any) -> Any:
        return tuple([jax.lax.ppermute(array, _STAGE, [(0, 1)]) for array in arrays])

    return jax.jit(jax.shard_map(move, mesh=mesh, in_specs=specs, out_specs=specs, check_vma=False))
