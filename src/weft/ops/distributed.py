"""Collectives that write into tensors they are given: `mindspore.mint.distributed`.

They return a handle to wait for where they are asynchronous, else None. A group of None is that of all processes.
"""

from __future__ import annotations

from typing import Any

from weft.core.transparency import transparent
from weft.ops import exchanges
from weft.ops.collectives import AllReduce, ReduceOp, rank
from weft.ops.exchanges import CommHandle, P2POp, batch_isend_irecv, exchanged, handle, one_part
from weft.parallel import communication, world
from weft.parallel.world import HCCL_WORLD_COMM_GROUP, GlobalComm, SeveralProcesses, ranks_of

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
is_initialized = communication.is_initialized


def is_available() -> bool:
    """Whether programs can communicate: one process can, with itself."""
    return True


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
        init_method: accepted.
        timeout: accepted.
        world_size: number of processes: 1, or -1 for what the environment says.
        rank: number of this process: 0, or -1 for what the environment says.
        store: accepted.
        group_name: accepted.
        pg_options: accepted.
        device_id: accepted.

    Raises:
        RuntimeError: other processes are asked for.
    """
    del init_method, timeout, store, group_name, pg_options, device_id
    if world_size not in (-1, 1) or rank not in (-1, 0):
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
    """The number of this process in a group: 0."""
    return communication.get_rank(group or _WORLD)


def get_world_size(group: str | None = None) -> int:
    """The number of processes in a group: 1."""
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


def new_group(
    ranks: Any = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: Any = None,
) -> str:
    """Make a group of processes.

    Args:
        ranks: their numbers, None for all.
        timeout: accepted.
        backend: accepted.
        pg_options: accepted.
        use_local_synchronization: accepted.
        group_desc: accepted.

    Returns:
        str: the name of the group.

    Raises:
        RuntimeError: there are no such processes.
    """
    del timeout, backend, pg_options, use_local_synchronization, group_desc
    if ranks is None:
        return GlobalComm.WORLD_COMM_GROUP
    name = "-".join(map(str, ranks)) + "_group"
    communication.create_group(name, ranks)
    return name


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the reduction of the tensors of all processes into the tensor."""
    tensor.copy_(exchanges.all_reduce(tensor, op, group or _WORLD)[0])
    return handle(async_op)


def reduce(
    tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the reduction of the tensors of all processes into the tensor of one."""
    tensor.copy_(exchanges.reduce(tensor, dst, op, group or _WORLD))
    return handle(async_op)


def broadcast(tensor: Any, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write the tensor of one process into those of all."""
    tensor.copy_(exchanges.broadcast(tensor, src, group or _WORLD))
    return handle(async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Wait for all processes."""
    del device_ids
    exchanges.barrier(group or _WORLD)
    return handle(async_op)


@transparent
def _written(who: str, outputs: Any, inputs: Any, group: str | None) -> None:
    """Write what this process sends to itself into what it gets."""
    outputs[0].copy_(exchanged(who, outputs, inputs, group))


@transparent
def all_gather(tensor_list: Any, tensor: Any, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write the tensors of all processes into those of a list."""
    _written("all_gather", tensor_list, [tensor], group)
    return handle(async_op)


@transparent
def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes, one after the other, into a tensor."""
    _written("all_gather_into_tensor", [output_tensor], [input_tensor], group)
    return handle(async_op)


@transparent
def all_gather_into_tensor_uneven(
    output: Any, input: Any, output_split_sizes: Any = None, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes, of different sizes, one after the other into a tensor."""
    one_part("all_gather_into_tensor_uneven", output_split_sizes, output)
    _written("all_gather_into_tensor_uneven", [output], [input], group)
    return handle(async_op)


@transparent
def reduce_scatter(
    output: Any, input_list: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's part of the reduction of the lists of all processes into a tensor."""
    AllReduce(op, group or _WORLD)
    _written("reduce_scatter", [output], input_list, group)
    return handle(async_op)


@transparent
def reduce_scatter_tensor(
    output: Any, input: Any, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's part of the reduction of the tensors of all processes into a tensor."""
    return reduce_scatter(output, [input], op, group, async_op)


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
    one_part("reduce_scatter_tensor_uneven", input_split_sizes, input)
    return reduce_scatter(output, [input], op, group, async_op)


@transparent
def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write a tensor from each process into those of a list, for one that was sent to each."""
    _written("all_to_all", output_tensor_list, input_tensor_list, group)
    return handle(async_op)


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
    one_part("all_to_all_single", output_split_sizes, output)
    one_part("all_to_all_single", input_split_sizes, input)
    _written("all_to_all_single", [output], [input], group)
    return handle(async_op)


@transparent
def gather(
    tensor: Any, gather_list: Any, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes into those of a list of one."""
    rank("gather", "dst", dst)
    _written("gather", gather_list, [tensor], group)
    return handle(async_op)


@transparent
def scatter(
    tensor: Any, scatter_list: Any, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this process's tensor of a list of one process into a tensor."""
    rank("scatter", "src", src)
    _written("scatter", [tensor], scatter_list, group)
    return handle(async_op)


@transparent
def _placed(who: str, objects: Any, obj: Any, group: str | None) -> None:
    """Put an object into a list that has a place for each process."""
    ranks_of(who, group or _WORLD)
    if len(objects) != 1:
        raise SeveralProcesses(f"{who}: {len(objects)} places are for as many processes")
    objects[0] = obj


@transparent
def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Put the objects of all processes into a list.

    Example:
        >>> found = [None]
        >>> all_gather_object(found, {"a": 1})
        >>> found
        [{'a': 1}]
    """
    _placed("all_gather_object", object_list, obj, group)


@transparent
def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Put the objects of all processes into a list of one."""
    rank("gather_object", "dst", dst)
    if object_gather_list is None:
        raise TypeError("gather_object: object_gather_list must be a list, on the process that gathers")
    _placed("gather_object", object_gather_list, obj, group)


@transparent
def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any], src: int = 0, group: str | None = None
) -> None:
    """Put this process's object of a list of one process into a list."""
    rank("scatter_object_list", "src", src)
    if len(scatter_object_input_list) != 1:
        raise SeveralProcesses(
            f"scatter_object_list: {len(scatter_object_input_list)} objects are for as many processes"
        )
    _placed("scatter_object_list", scatter_object_output_list, scatter_object_input_list[0], group)


@transparent
def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Give the objects of one process to all."""
    del object_list, device
    rank("broadcast_object_list", "src", src)
    ranks_of("broadcast_object_list", group or _WORLD)


def send(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to another process, which does not exist."""
    exchanges.send(tensor, dst, group, tag)


def recv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """Get a tensor from another process, which does not exist."""
    return exchanges.recv(tensor, src, group, tag)


isend = send
irecv = recv


def send_object_list(object_list: list[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Send objects to another process, which does not exist."""
    del object_list, dst, group, device
    raise SeveralProcesses("send_object_list: there is no other process to send objects to")


def recv_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Get objects from another process, which does not exist."""
    del object_list, src, group, device
    raise SeveralProcesses("recv_object_list: there is no other process to get objects from")
