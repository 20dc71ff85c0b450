"""Where tensors lie: a grid of devices, and the axes of it along which each dimension of a tensor is spread.

A place is written as four plain attributes, so that operations, graphs and caches keep it like any other: the sizes and
names of the axes of a grid, the numbers of its devices, and for each dimension of the tensor the axes along which it is
cut. XLA's partitioner follows the places of what it gets, eagerly and in compiled code; `CONSTRAINT` is the one
operation that asks for a place, and changes no value.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft._jax_compat import copied
from weft.cache.mixing import followed, primes
from weft.context import ParallelMode, get_auto_parallel_context, note
from weft.core import tensor as tensor_module
from weft.core import trace
from weft.core.dispatch import apply
from weft.core.primitive import ACROSS
from weft.core.tensor import Parameter, Tensor, data_of
from weft.ir.graph import Value
from weft.parallel import spanning
from weft.parallel.exchange import Performed, mesh_of
from weft.parallel.processes import processes


class Place(NamedTuple):
    """Where a tensor lies.

    Args:
        sizes: devices along each axis of the grid.
        names: of the axes.
        ranks: numbers of the devices of the grid, row by row; none for those of the pipeline's stage that computes.
        dims: for each dimension of the tensor the names of the axes that cut it, the outermost first.

    Example:
        >>> Place((2,), ("dp",), (0, 1), (("dp",), ())).parts
        (2, 1)
    """

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    ranks: tuple[int, ...]
    dims: tuple[tuple[str, ...], ...]

    @property
    def parts(self) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        return tuple([math.prod([self.sizes[self.names.index(name)] for name in axes]) for axes in self.dims])

    def at(self, stage: int) -> Place:
        """This place on the devices of a stage, where it is on those of any."""
        size = math.prod(self.sizes)
        return self if self.ranks else self._replace(ranks=tuple(range(stage * size, (stage + 1) * size)))

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape can be cut like this."""
        return len(shape) == len(self.dims) and not any(
            size % parts for size, parts in zip(shape, self.parts, strict=True)
        )

    def checked(self, who: str, shape: tuple[int, ...]) -> Place:
        """This place, with all dimensions of a tensor.

        Args:
            who: the function that asks, for messages.
            shape: of the tensor; dimensions that the place does not name are not cut.

        Raises:
            ValueError: it is not that of such a tensor.
        """
        if len(self.dims) > len(shape):
            raise ValueError(f"{who}: a place for {len(self.dims)} dimensions is not one of a tensor of shape {shape}")
        used = [name for axes in self.dims for name in axes]
        if len(set(used)) < len(used):
            raise ValueError(f"{who}: an axis of the grid can cut one dimension only, not several of {self.dims}")
        found = self._replace(dims=(*self.dims, *[()] * (len(shape) - len(self.dims))))
        for number, (size, parts) in enumerate(zip(shape, found.parts, strict=True)):
            if size % parts:
                raise ValueError(f"{who}: dimension {number} of a tensor of shape {shape} has not {parts} equal parts")
        return found


def devices() -> list[Any]:
    """The devices over which this program can spread tensors: of several processes one each."""
    if processes().count > 1:
        return list(mesh_of(tuple(range(processes().count))).devices.flat)
    return jax.local_devices()


def count() -> int:
    """How many `devices` there are; 1 while what is computed is made for one, see `for_one_device`."""
    return 1 if _made_for_one.depth else len(devices())


def stages() -> int:
    """The stages of a pipeline that share the devices; 1 on one device, and where no parallel mode is on.

    Raises:
        ValueError: each of them cannot have as many devices.
    """
    asked = int(get_auto_parallel_context("pipeline_stages"))
    if asked == 1 or get_auto_parallel_context("parallel_mode") == ParallelMode.STAND_ALONE:
        return 1
    there = count()
    if there == 1:
        return 1
    if there % asked:
        raise ValueError(f"pipeline_stages={asked} does not divide the {there} devices that there are")
    return asked


class _MadeForOne(threading.local):
    depth = 0


_made_for_one = _MadeForOne()


@contextlib.contextmanager
def for_one_device() -> Iterator[None]:
    """A block in which strategies and layouts spread nothing: a graph made there is one for any device."""
    _made_for_one.depth += 1
    try:
        yield
    finally:
        _made_for_one.depth -= 1


def is_here(place: Place) -> bool:
    """Whether the grid of a place is one of devices that there are. A program for many devices runs on one as it is.

    Raises:
        ValueError: there are several devices, but not these.
    """
    there = count()
    if there == 1:
        return False
    if not set(place.ranks) <= set(range(there)):
        raise ValueError(f"a grid of the devices {list(place.ranks)} needs others than the {there} that there are")
    return True


@functools.cache
def _mesh(sizes: tuple[int, ...], ranks: tuple[int, ...]) -> Mesh:
    there = devices()
    names = tuple([f"d{i}" for i in range(len(sizes))])
    return Mesh(np.array([there[rank] for rank in ranks], object).reshape(sizes), names)


#: the place for which a sharding was made, so that axes have the names that the program gave them
_place_of: dict[NamedSharding, Place] = {}


@functools.lru_cache(maxsize=4096)
def sharding(place: Place) -> NamedSharding:
    """A place as JAX knows it.

    The axes are cut into axes of prime sizes: so all tensors lie on the same mesh, and XLA's answers, in which axes are
    cut and put together, are places on it, too.
    """
    cut = [primes(size) for size in place.sizes]
    flat = tuple([size for sizes in cut for size in sizes])
    first = dict(zip(place.names, itertools.accumulate([0, *map(len, cut)]), strict=False))
    parts = {name: [f"d{first[name] + i}" for i in range(len(cut[n]))] for n, name in enumerate(place.names)}
    spec = [tuple([part for name in axes for part in parts[name]]) or None for axes in place.dims]
    made = NamedSharding(_mesh(flat, place.at(0).ranks), PartitionSpec(*spec))
    _place_of.setdefault(made, place)
    return made


def place_of(tensor: Tensor) -> Place | None:
    """Where a tensor lies; None if on one device, or if only the running graph knows.

    Example:
        >>> place_of(Tensor([1.0])) is None
        True
    """
    found = getattr(data_of(tensor), "sharding", None)
    if not isinstance(found, NamedSharding):
        return None
    own = getattr(tensor, "place", None)
    if own is not None and found.is_equivalent_to(sharding(own), tensor.ndim):
        known: Place = own
        return known
    mesh: Any = found.mesh
    there = {device: number for number, device in enumerate(devices())}
    ranks = tuple([there[device] for device in mesh.devices.flat])
    spec = [() if axes is None else axes if isinstance(axes, tuple) else (axes,) for axes in found.spec]
    dims = (*spec, *[()] * (tensor.ndim - len(spec)))
    place = Place(tuple(mesh.devices.shape), tuple(mesh.axis_names), ranks, dims)
    return _place_of.get(sharding(place), place)


def _constrain(value: Any, sizes: Any, names: Any, ranks: Any, dims: Any) -> Any:
    return jax.lax.with_sharding_constraint(value, followed(sharding(Place(sizes, names, ranks, dims))))


def _derivative(value: Any, out: Any, dout: Any, **place: Any) -> Any:
    """The gradient lies where the value does."""
    del value, out
    return constrained(dout, Place(**place))


class _Constraint(Performed):
    """Outside of graphs arrays are moved, from whichever devices they are on."""

    __slots__ = ()

    def performer(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        return _Move(sharding(Place(*attrs)))


def moved(array: Any, where: NamedSharding, name: str = "") -> Any:
    """An array in another place. It shares no memory with the first one, which a program may be given to write to.

    Args:
        array: the array.
        where: its place.
        name: of the Parameter whose value it is, for messages.
    """
    if processes().count > 1:
        return spanning.moved(array, where, name)
    if isinstance(array, jax.Array) and array.sharding != where and array.sharding.device_set & where.device_set:
        array = copied(array)  # JAX lets both have what a device has of both
    return jax.device_put(array, where)


class _Move:
    """Puts an array somewhere; nothing is compiled for it."""

    def __init__(self, where: NamedSharding) -> None:
        self.where = where

    def __call__(self, array: Any) -> tuple[Any, ...] | Any:
        if isinstance(array, jax.core.Tracer):  # part of a program that is being compiled
            return jax.lax.with_sharding_constraint(array, followed(self.where))
        return moved(array, self.where)

    def clear_cache(self) -> None:
        """Nothing is kept."""

    def _cache_size(self) -> int:
        return 0


#: the same elements, which lie in another place
CONSTRAINT: Final = _Constraint("ShardingConstraint", _constrain, attr_names=Place._fields, derivative=_derivative)


class _Joined(Performed):
    """The parts that processes have of a tensor, as one that spans them."""

    __slots__ = ()

    def performer(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        return _Join(Place(*attrs))


class _Join(_Move):
    """Takes the part of this process for what its device has of the whole."""

    def __init__(self, place: Place) -> None:
        super().__init__(sharding(place) if stages() == 1 else spanning.for_any(sharding(place)))
        self.place = place

    def __call__(self, array: Any) -> Any:
        if spanning.spans(array) or spanning.is_in_part(array):
            return array
        parts = self.place.parts
        what = f"rows of a batch {array.dtype}{list(array.shape)} {self.place.dims}"
        if all(count == 1 for count in parts):  # all load the same
            what += f"={spanning.contents_of(array)}"
        spanning.agree(what)
        shape = tuple([size * count for size, count in zip(array.shape, parts, strict=True)])
        return jax.make_array_from_process_local_data(self.where, np.asarray(array), shape)


def _enlarged(value: Any, **place: Any) -> Any:
    return jax.numpy.tile(value, Place(**place).parts)


JOINED: Final = _Joined(
    "JoinedParts", _enlarged, attr_names=Place._fields, effect=ACROSS, no_gradient="the parts of a batch are data"
)


def constrained(tensor: Tensor, place: Place) -> Tensor:
    """The same tensor in a place: moved there, or in a graph a wish that the compiler follows.

    Args:
        tensor: the tensor.
        place: where, for all of its dimensions.
    """
    found: Tensor = apply(CONSTRAINT, (tensor,), tuple(place))
    return found


def _in_place(written: Tensor, source: Tensor) -> Tensor:
    """What is written to a tensor, in the place that a Parameter has. One of another shape lies where it comes from."""
    place = written.place if Parameter in type(written).__mro__ else None
    if place is None or not place.fits(source.shape) or not (place.ranks or trace.any_active()):
        return source
    data = data_of(source)
    node = data.node if data.__class__ is Value else None
    lies_there = node is not None and node.op is CONSTRAINT and node.attrs == tuple(place)
    return source if lies_there else constrained(source, place)


def adopt(parameter: Parameter, place: Place) -> None:
    """Give a Parameter a place if it has none; its value moves there.

    Nothing that it computes changes, so that a capture in progress goes on.

    Args:
        parameter: the Parameter.
        place: where its values lie from now on.
    """
    if parameter.place is not None:
        return
    _lay(parameter, place)


def _lay(parameter: Parameter, place: Place) -> None:
    tensor_module.place_by(_in_place)
    parameter.__dict__["place"] = place.at(parameter.stage or 0)
    _adopted.append(parameter)
    if not trace.any_active():
        _move_adopted(False)


def settle(parameter: Parameter, stage: int) -> None:
    """Let a Parameter belong to a stage of a pipeline, unless it belongs to one.

    Args:
        parameter: the Parameter.
        stage: on whose devices its values lie from now on, if it has a place there or gets one.
    """
    if parameter.stage is None:
        parameter.__dict__["stage"] = stage
        if parameter.place is not None and not parameter.place.ranks:
            _lay(parameter, parameter.place)


#: those that have a new place, and values elsewhere as long as a capture may put values back
_adopted: list[Parameter] = []


def _move_adopted(captures: bool) -> None:
    """Move the values of parameters to their new places, unless a capture goes on."""
    while _adopted and not captures:
        parameter = _adopted.pop()
        array = getattr(parameter, "_data", None)
        if isinstance(array, jax.Array):
            parameter._data = moved(array, sharding(parameter.place), parameter.name)


trace.on_activity(_move_adopted)


#: how often a Parameter got a place: compiled code is for the places that Parameters have
_placed = 0


def keep_in(parameter: Parameter, place: Place | None) -> None:
    """Put a Parameter somewhere, where all later values of it lie, too.

    Args:
        parameter: the Parameter.
        place: where, for all of its dimensions; None lets its values lie where they come from.
    """
    global _placed
    if parameter.place == place:
        return
    tensor_module.place_by(_in_place)
    parameter.place = place if place is None or parameter.stage is None else place.at(parameter.stage)
    _placed += 1
    note("placement", (f"parameters were placed {_placed} times",))
    if parameter.place is not None and parameter.place.ranks:  # or else it moves when its stage is known
        parameter.rebind(tensor_module.view(parameter))
