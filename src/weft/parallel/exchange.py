"""What several processes compute together: an operation that each runs on its own arrays and that exchanges them.

It is one XLA program over the devices of a group, one of each process. All come to it with the same operation, types
and attributes, which is made sure of before each run (see `weft.parallel.attendance`).
"""

from __future__ import annotations

import functools
import queue
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from weft.core.primitive import ACROSS, Primitive
from weft.core.workers import start_quietly
from weft.parallel.groups import Group
from weft.parallel.processes import attending

#: the axis of devices that the implementations of exchanges name
AXIS: Final = "ranks"
#: the attribute with names of the last operands, that are not exchanged: all processes must come with the same
ALIKE: Final = "alike"
#: elements of such an operand that processes compare
_COMPARED: Final = 64


def over(function: Callable[..., Any], mesh: Any) -> Callable[..., Any]:
    """A function of the arrays of one process as one over a mesh, each of whose devices has arrays of its own."""
    return jax.shard_map(function, mesh=mesh, in_specs=PartitionSpec(), out_specs=PartitionSpec(), check_vma=False)


def mesh_for(count: int) -> AbstractMesh:
    """A mesh over some processes, whichever they are."""
    return AbstractMesh((count,), (AXIS,), (AxisType.Auto,))


@functools.cache
def mesh_of(group: tuple[int, ...]) -> Mesh:
    """The devices of a group, one of each process."""
    first = {device.process_index: device for device in reversed(jax.devices())}
    return Mesh(np.array([first[rank] for rank in group]), (AXIS,))


class Performed(Primitive):
    """A primitive that is more, outside of graphs, than a function that JAX compiles: a subclass says what."""

    __slots__ = ()

    def performer(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        """What computes it with some attributes, from the arrays of this process."""
        raise NotImplementedError

    def executable(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        key = self.key(attrs)
        found = self.executables.get(key)
        if found is None:
            found = self.executables[self._checked_key(attrs)] = self.performer(attrs)
        return found


class Exchange(Performed):
    """An operation of all processes of a group.

    Its implementation names the axis `AXIS` of `jax.lax`'s collectives, and its last attribute is the `Group` of those
    that take part. All come with operands of the same types.
    """

    __slots__ = ()

    def __init__(self, name: str, implementation: Callable[..., Any], **traits: Any) -> None:
        super().__init__(name, implementation, effect=ACROSS, **traits)

    def performer(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        return Together(self, attrs)

    def way(self, ranks: tuple[int, ...]) -> str:
        """From whom to whom it brings something, for messages, if that is not from all to all."""
        del ranks
        return ""

    def _ask_jax(self, attrs: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        mesh = mesh_for(len(attrs[-1].ranks))
        shaped = Primitive(
            self.name, over(self.bound(attrs), mesh), multiple=self.multiple, register=False
        )  # its attributes are bound already
        return shaped._ask_jax((), inputs)


#: what this process has of an array that may span processes; the array itself where none can
_whole: Callable[[Any, tuple[int, ...]], Any] = lambda array, group: array  # noqa: E731


def read_by(whole: Callable[[Any, tuple[int, ...]], Any]) -> None:
    """Set what reads arrays that span processes.

    Args:
        whole: gives all elements of an array to this process, which comes to it with the others of a group.
    """
    global _whole
    _whole = whole


class Together:
    """An exchange with its attributes, as a function of the arrays of this process.

    Args:
        primitive: the exchange.
        attrs: its attributes.
    """

    def __init__(self, primitive: Exchange, attrs: tuple[Any, ...]) -> None:
        self.primitive, self.attrs = primitive, attrs
        self.group: Group = attrs[-1]
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arrays: Any) -> Any:
        name = self.primitive.name.removesuffix("Across")
        attending(name)  # refuses it in a process that takes no part
        alike = dict(self._attributes()).get(ALIKE, ())
        compared, arrays = arrays[len(arrays) - len(alike) :], arrays[: len(arrays) - len(alike)]
        arrays = tuple([_whole(array, self.group.ranks) for array in arrays])
        samples = _samples(alike, compared)
        said = self._said(name, arrays) + _said_of(samples)
        mesh = mesh_of(self.group.ranks)
        if self._compiled is None:
            attrs = [() if name == ALIKE else value for name, value in self._attributes()]
            self._compiled = jax.jit(over(self.primitive.bound(tuple(attrs)), mesh))
        job = functools.partial(_run, self._compiled, arrays, NamedSharding(mesh, PartitionSpec()))
        return computed(name, self.group, said, job, told=functools.partial(_told, samples))

    def _said(self, name: str, arrays: Sequence[Any]) -> str:
        """With what it comes, but for operands that are not exchanged."""
        types = ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays)
        attributes = [f" {what}={value}" for what, value in self._attributes()[:-1] if what != ALIKE]
        said = f"{name}({types})" + "".join(attributes)
        return said + self.primitive.way(self.group.ranks)

    def _attributes(self) -> list[tuple[str, Any]]:
        return list(zip(self.primitive.attr_names, self.attrs, strict=True))

    def clear_cache(self) -> None:
        """Drop what was compiled."""
        self._compiled = None

    def _cache_size(self) -> int:
        return int(self._compiled is not None)


@jax.jit
def _sampled(arrays: Sequence[Any]) -> list[Any]:
    """Elements of arrays, evenly chosen."""
    return [array.reshape(-1)[:: -(-max(array.size, 1) // _COMPARED)] for array in arrays]


def _samples(names: Sequence[str], arrays: Sequence[Any]) -> list[tuple[str, Any]]:
    """Elements of operands that must be the same in all processes; not of those that span processes themselves."""
    chosen = [(name, array) for name, array in zip(names, arrays, strict=True) if array.is_fully_addressable]
    found = _sampled([array for _, array in chosen]) if chosen else []
    values = [np.asarray(sample) for sample in found]
    signless = [value + value.dtype.type(0) if value.dtype.kind in "fc" else value for value in values]  # 0 is -0
    return [(name, value) for (name, _), value in zip(chosen, signless, strict=True)]


def _said_of(samples: Sequence[tuple[str, Any]]) -> str:
    """What a process says of them."""
    if not samples:
        return ""
    digest = 0
    for _, sample in samples:
        digest = zlib.crc32(sample.tobytes(), digest)
    return f" for Parameters whose values ({digest:08x}) must be the same in all processes"


def _told(samples: Sequence[tuple[str, Any]]) -> list[str]:
    """The same in full."""
    return [f"the Parameter {name!r}: {sample.tolist()}" for name, sample in samples]


def _run(function: Callable[..., Any], arrays: Sequence[Any], sharding: Any) -> Any:
    everywhere = [jax.make_array_from_single_device_arrays(x.shape, sharding, [x]) for x in arrays]
    return jax.tree.map(lambda result: jax.block_until_ready(result.addressable_data(0)), function(*everywhere))


def computed(
    name: str, group: Group, said: str, job: Callable[[], Any], told: Callable[[], list[str]] | None = None
) -> Any:
    """What comes of a program that the processes of a group run at once, after all have come to it.

    Args:
        name: what it is, for messages.
        group: the processes.
        said: with what this one comes.
        job: runs it.
        told: gives in full what ``said`` is short for, see `weft.parallel.attendance.Attendance.meet`.

    Raises:
        ProcessFault: a process is gone, or came with something else.
    """
    attendance = attending(name)
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def begin() -> None:
        _worker(frozenset(group.ranks)).put((job, results))

    value, error = attendance.compute(group, said, results, begin, told)
    if error is not None:
        attendance.declare(f"{name} failed on rank {attendance.rank}: {error}", "symptom")
        attendance.raise_fault()
    return value


@functools.cache
def _worker(ranks: frozenset[int]) -> queue.SimpleQueue[Any]:
    """A thread for what may wait for other processes, so that the thread that asks for it can be told of a fault.

    Some processes exchange one thing at a time, whatever groups they do it for, and each in the same order; others do
    not wait for them. Only the thread that hears the coordinator asks for it.
    """
    del ranks
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def work() -> None:
        while True:
            job, results = jobs.get()
            try:
                results.put(((job(), None),))
            except BaseException as error:
                results.put(((None, error),))

    start_quietly(work, "weft-exchange")
    return jobs
