"""Collectives that write into tensors they are given: `mindspore.mint.distributed`.

They return a handle to wait for where they are asynchronous, else None. A group of None is that of all processes.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import Tensor, described, transparent
from weft.ops import exchanges
from weft.ops.collectives import ReduceOp, joined, swapped
from weft.ops.exchanges import CommHandle, P2POp, exchanged, exchanged_rows, handle, messages_under_way, row_counts
from weft.parallel import communication, world
from weft.parallel.processes import processes
from weft.parallel.world import (
    HCCL_WORLD_COMM_GROUP,
    GlobalComm,
    SeveralProcesses,
    known_rank,
    members_of,
    one_for_each,
    position_in,
    unused_name,
)

__all__ = [
    "P2POp", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object", "all_reduce",
    "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "irecv", "is_available",
    "is_initialized", "isend", "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "reduce_scatter_tensor_uneven", "scatter", "scatter_object_list", "send",
    "send_object_list",
]  # fmt: skip

_WORLD = HCCL_WORLD_COMM_GROUP
#: what has no meaning here
_UNUSED = "init_method timeout backend store group_name pg_options device_id use_local_synchronization group_desc"
_ACCEPTED = described(**dict.fromkeys(_UNUSED.split(), "accepted."))
is_initialized = communication.is_initialized


def is_available() -> bool:
    """Whether programs can communicate: one process can, with itself."""
    return True


@_ACCEPTED
def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Begin to communicate.

    Args:
        backend: see `mindspore.communication.init`.
        world_size: number of processes, as the launcher says, or -1.
        rank: number of this process, as the launcher says, or -1.

    Raises:
        RuntimeError: other processes are asked for.
    """
    del init_method, timeout, store, group_name, pg_options, device_id
    here = processes()
    if world_size not in (-1, here.count) or rank not in (-1, here.rank):
        raise SeveralProcesses(f"init_process_group: rank {rank} of {world_size} processes")
    world.begin(backend)


def destroy_process_group(group: str | None = None) -> None:
    """End the communication of a group, or all of it.

    Args:
        group: name of the group, None for all.
    """
    if group is None or group in world.WORLD_GROUPS:
        world.end()
    else:
        communication.destroy_group(group)


def get_rank(group: str | None = None) -> int:
    """The number of this process in a group."""
    return communication.get_rank(group or _WORLD)


def get_world_size(group: str | None = None) -> int:
    """The number of processes in a group."""
    return communication.get_group_size(group or _WORLD)


def get_backend(group: str | None = None) -> str:
    """The library that exchanges the data of a group."""
    return communication.get_backend(group or _WORLD)


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The numbers of the processes in a group."""
    return communication.get_process_group_ranks(group or _WORLD)


def get_global_rank(group: str | None, group_rank: int) -> int:
    """The number among all processes of one in a group."""
    return communication.get_world_rank_from_group_rank(group or _WORLD, group_rank)


def get_group_rank(group: str | None, global_rank: int) -> int:
    """The number in a group of a process."""
    return communication.get_group_rank_from_world_rank(global_rank, group or _WORLD)


@_ACCEPTED
def new_group(
    ranks: Any = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: Any = None,
) -> str:
    """Make a group of processes, which has nothing to do with others of the same processes.

    Args:
        ranks: their numbers, None for all.

    Returns:
        str: the name of the group.

    Raises:
        RuntimeError: there are no such processes.
    """
    del timeout, backend, pg_options, use_local_synchronization, group_desc
    if ranks is None:
        return GlobalComm.WORLD_COMM_GROUP
    name = unused_name("-".join(map(str, ranks)) + "_group")
    communication.create_group(name, ranks)
    return name


@transparent
def _written(outputs: Any, found: Any, async_op: bool) -> CommHandle | None:
    """Write what came into the tensors for it; the handle to wait for that."""
    for out, value in zip(outputs, found, strict=True):
        out.copy_(value)
    return handle(async_op)


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the reduction of the tensors of all processes into the tensor."""
    return _written([tensor], [exchanges.all_reduce(tensor, op, group or _WORLD)[0]], async_op)


def reduce(
    tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the reduction of the tensors of all processes into the tensor of one."""
    return _written([tensor], [exchanges.reduce(tensor, dst, op, group or _WORLD)], async_op)


def broadcast(tensor: Any, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write the tensor of one process into those of all."""
    return _written([tensor], [exchanges.broadcast(tensor, src, group or _WORLD)], async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Wait for all processes."""
    del device_ids
    exchanges.barrier(group or _WORLD)
    return handle(async_op)


def batch_isend_irecv(p2p_op_list: Any) -> list[CommHandle]:
    """Send and get several messages, which are under way at once, into the tensors that are given.

    Args:
        p2p_op_list: the messages, each a `P2POp`.

    Returns:
        list: a handle for each.
    """
    return [under_way for _, under_way in messages_under_way(p2p_op_list, into=True)]


@transparent
def all_gather(tensor_list: Any, tensor: Any, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write the tensors of all processes into those of a list."""
    count = len(members_of("all_gather", group or _WORLD).ranks)
    return _written(tensor_list, exchanged("all_gather", tensor_list, [tensor] * count, group), async_op)


@transparent
def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes, one after the other, into a tensor."""
    return _written([output_tensor], [exchanges.all_gather_into_tensor(input_tensor, group or _WORLD)[0]], async_op)


@transparent
def all_gather_into_tensor_uneven(
    output: Any, input: Any, output_split_sizes: Any = None, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes, of different sizes, one after the other into a tensor."""
    who = "all_gather_into_tensor_uneven"
    count = len(members_of(who, group or _WORLD).ranks)
    shapes = [(rows, *output.shape[1:]) for rows in row_counts(who, output_split_sizes, output.shape[0], count)]
    return _written([output], [joined(exchanged(who, shapes, [input] * count, group))], async_op)


@transparent
def reduce_scatter(
    output: Any, input_list: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's part of the reduction of the lists of all processes into a tensor."""
    ranks = members_of("reduce_scatter", group or _WORLD).ranks
    one_for_each("reduce_scatter", "tensors", len(input_list), ranks)
    rows = joined([x.reshape(1, *x.shape) for x in input_list])
    return _written([output], [exchanges.reduce_scatter_tensor(rows, op, group or _WORLD)[0][0]], async_op)


@transparent
def reduce_scatter_tensor(
    output: Any, input: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's part of the reduction of the tensors of all processes into a tensor."""
    return _written([output], [exchanges.reduce_scatter_tensor(input, op, group or _WORLD)[0]], async_op)


@transparent
def reduce_scatter_tensor_uneven(
    output: Any,
    input: Any,
    input_split_sizes: Any = None,
    op: str = ReduceOp.SUM,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write this process's part, of a size of its own, of the reduction of the tensors of all into a tensor."""
    who = "reduce_scatter_tensor_uneven"
    ranks = members_of(who, group or _WORLD).ranks
    sizes = row_counts(who, input_split_sizes, input.shape[0], len(ranks))
    here = ranks.index(get_rank())
    start = sum(sizes[:here])
    whole = exchanges.all_reduce(input, op, group or _WORLD)[0]
    return _written([output], [whole[start : start + sizes[here]]], async_op)


@transparent
def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write a tensor from each process into those of a list, for one that was sent to each."""
    return _written(output_tensor_list, exchanged("all_to_all", output_tensor_list, input_tensor_list, group), async_op)


@transparent
def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write a part of a tensor of each process into a tensor, for one that was sent to each."""
    shape = tuple(output.shape)
    found = exchanged_rows("all_to_all_single", shape, input, output_split_sizes, input_split_sizes, group)
    return _written([output], [found], async_op)


@transparent
def gather(
    tensor: Any, gather_list: Any, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes into those of a list of one."""
    ranks = members_of("gather", group or _WORLD).ranks
    here = position_in("gather", "dst", dst, ranks) == ranks.index(get_rank())
    if here:
        one_for_each("gather", "tensors", len(gather_list), ranks)
    found = exchanges.gather_into_tensor(tensor.reshape(1, *tensor.shape), dst, group or _WORLD)
    return _written(gather_list, found, async_op) if here else handle(async_op)


@transparent
def scatter(
    tensor: Any, scatter_list: Any, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's tensor of a list of one process into a tensor."""
    ranks = members_of("scatter", group or _WORLD).ranks
    here = position_in("scatter", "src", src, ranks) == ranks.index(get_rank())
    if here:
        one_for_each("scatter", "tensors", len(scatter_list), ranks)
    given = scatter_list if here else [tensor] * len(ranks)
    rows = joined([x.reshape(1, *x.shape) for x in given])
    return _written([tensor], [exchanges.scatter_tensor(rows, src, group or _WORLD).reshape(tensor.shape)], async_op)


def _objects(who: str, obj: Any, group: str | None) -> list[Any]:
    """The objects of all processes."""
    members = members_of(who, group or _WORLD)
    if len(members.ranks) == 1:
        return [obj]
    found = swapped(who, [_packed(obj)] * len(members.ranks), None, members)
    return [_unpacked(each) for each in found]


def _packed(obj: Any) -> Tensor:
    """An object as bytes."""
    return Tensor(np.frombuffer(pickle.dumps(obj), np.uint8).copy())


def _unpacked(content: Tensor) -> Any:
    return pickle.loads(content.asnumpy().tobytes())


def _place(who: str, objects: list[Any], found: Sequence[Any]) -> None:
    """Put objects into a list that has a place for each."""
    one_for_each(who, "places", len(objects), range(len(found)))
    objects[:] = found


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Put the objects of all processes into a list; they must be ones that `pickle` can write.

    Example:
        >>> found = [None]
        >>> all_gather_object(found, {"a": 1})
        >>> found
        [{'a': 1}]
    """
    _place("all_gather_object", object_list, _objects("all_gather_object", obj, group))


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Put the objects of all processes into a list of one."""
    ranks = members_of("gather_object", group or _WORLD).ranks
    here = ranks[position_in("gather_object", "dst", dst, ranks)] == get_rank()
    if here and object_gather_list is None:
        raise TypeError("gather_object: object_gather_list must be a list, on the process that gathers")
    found = _objects("gather_object", obj, group)
    if here and object_gather_list is not None:
        _place("gather_object", object_gather_list, found)


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any], src: int = 0, group: str | None = None
) -> None:
    """Put this process's object of a list of one process into a list."""
    ranks = members_of("scatter_object_list", group or _WORLD).ranks
    place = position_in("scatter_object_list", "src", src, ranks)
    here = ranks.index(get_rank())
    given = scatter_object_input_list if here == place else []
    if here == place:
        one_for_each("scatter_object_list", "objects", len(given), ranks)
    scatter_object_output_list[0] = _objects("scatter_object_list", given, group)[place][here]


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Give the objects of one process to all."""
    del device
    ranks = members_of("broadcast_object_list", group or _WORLD).ranks
    place = position_in("broadcast_object_list", "src", src, ranks)
    given = list(object_list) if ranks[place] == get_rank() else None
    _place("broadcast_object_list", object_list, _objects("broadcast_object_list", given, group)[place])


def send(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to another process, and wait until it has it."""
    exchanges.send(tensor, dst, group, tag)


def recv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Write a tensor from another process into a tensor; returns that process."""
    tensor.copy_(exchanges.recv(tensor, src, group, tag))
    return src


def isend(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """As `send`, without waiting; see `CommHandle`."""
    return exchanges.isend(tensor, dst, group, tag)


def irecv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """As `recv`, without waiting; see `CommHandle`."""
    return exchanges.irecv(tensor, src, group, tag)[1]


def send_object_list(object_list: list[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Send objects to another process."""
    del device
    content = _packed(list(object_list))
    exchanges.send(Tensor(np.asarray(content.size, np.int64)), dst, group)
    exchanges.send(content, dst, group)


def recv_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Put objects from another process into a list; returns that process."""
    del device
    known_rank("recv_object_list", "src", src)
    size = int(exchanges.recv(Tensor(np.zeros((), np.int64)), src, group).item())
    content = exchanges.recv(Tensor(np.zeros(size, np.uint8)), src, group)
    _place("recv_object_list", object_list, _unpacked(content))
    return src
