"""Collectives as functions that return what they get: `mindspore.communication.comm_func`.

Those that may be asynchronous return a pair of the tensor and a handle to wait for it, None if they are not.
"""

from __future__ import annotations

from typing import Any

from weft.core.describing import shows
from weft.core.tensor import Tensor
from weft.ops.collectives import (
    AllGather,
    AllReduce,
    AlltoAll,
    Barrier,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Reduce,
    ReduceOp,
    ReduceScatter,
    Send,
    tensor,
)
from weft.parallel.world import HCCL_WORLD_COMM_GROUP, SeveralProcesses, ranks_of

__all__ = [
    "CommHandle", "P2POp", "ReduceOp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape",
    "all_to_all_with_output_shape", "barrier", "batch_isend_irecv", "broadcast", "gather_into_tensor", "irecv", "isend",
    "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor", "send",
]  # fmt: skip

_WORLD = HCCL_WORLD_COMM_GROUP


class CommHandle:
    """What an asynchronous exchange gives to wait for; in one process there is nothing to wait for."""

    def wait(self) -> None:
        """Wait until the exchange is done."""

    def is_completed(self) -> bool:
        """Whether it is done."""
        return True


def handle(async_op: Any) -> CommHandle | None:
    """The handle of an exchange."""
    if not isinstance(async_op, bool):
        raise TypeError(f"async_op must be a bool, not {type(async_op).__name__}")
    return CommHandle() if async_op else None


@shows("all_reduce(Tensor([1.0, 2.0]))[0]", "[1. 2.]")
def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """The reduction of the tensors of all processes.

    Args:
        tensor: of this process.
        op: how, see `ReduceOp`.
        group: the processes.
        async_op: whether to return a handle.

    Returns:
        tuple: the tensor, and the handle or None.
    """
    return AllReduce(op, group or _WORLD)(tensor), handle(async_op)


def all_gather_into_tensor(tensor: Any, group: str = _WORLD, async_op: bool = False) -> tuple[Any, CommHandle | None]:
    """The tensors of all processes, one after the other; see `all_reduce`."""
    return AllGather(group or _WORLD)(tensor), handle(async_op)


def reduce_scatter_tensor(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """This process's part of the reduction of the tensors of all; see `all_reduce`."""
    return ReduceScatter(op, group or _WORLD)(tensor), handle(async_op)


def all_to_all_with_output_shape(
    output_shape_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """A tensor from each process, for one that was sent to each.

    Args:
        output_shape_list: shapes of what is received, or tensors of these shapes.
        input_tensor_list: what is sent.
        group: the processes.
        async_op: whether to return a handle.

    Raises:
        ValueError: a shape is not that of what is received.
        RuntimeError: there are not as many processes as tensors.
    """
    received = exchanged("all_to_all_with_output_shape", output_shape_list, input_tensor_list, group)
    return (received,), handle(async_op)


def exchanged(who: str, outputs: Any, inputs: Any, group: str | None) -> Any:
    """What this process sends to itself, checked against what it expects."""
    ranks_of(who, group or _WORLD)
    if len(outputs) != 1 or len(inputs) != 1:
        raise SeveralProcesses(f"{who}: {len(inputs)} tensors are for as many processes")
    wanted = tuple(outputs[0].shape if isinstance(outputs[0], Tensor) else outputs[0])
    if wanted != tuple(tensor(who, inputs[0]).shape):
        raise ValueError(f"{who}: a tensor of shape {tuple(inputs[0].shape)} is received as one of shape {wanted}")
    return AllReduce(ReduceOp.SUM, group or _WORLD)(inputs[0])


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> tuple[Any, CommHandle | None]:
    """A part of a tensor of each process, for one that was sent to each; see `all_to_all_with_output_shape`."""
    for sizes in (output_split_sizes, input_split_sizes):
        one_part("all_to_all_single_with_output_shape", sizes, tensor)
    received = exchanged("all_to_all_single_with_output_shape", [output_shape], [tensor], group)
    return AlltoAll(1, 0, 0, group or _WORLD)(received), handle(async_op)


def one_part(who: str, sizes: Any, x: Any) -> None:
    """Check that the sizes of parts say that there is one, the tensor."""
    if not sizes:
        return
    if len(sizes) != 1:
        raise SeveralProcesses(f"{who}: {len(sizes)} parts are for as many processes")
    if sizes[0] != tensor(who, x).shape[0]:
        raise ValueError(f"{who}: a part of {sizes[0]} is not the whole tensor of shape {tuple(x.shape)}")


def barrier(group: str = _WORLD) -> None:
    """Wait for all processes."""
    Barrier(group or _WORLD)()


def broadcast(tensor: Any, src: int = 0, group: str = _WORLD) -> Any:
    """The tensor of one process.

    Args:
        tensor: of this process.
        src: the process.
        group: the processes.
    """
    return Broadcast(src, group or _WORLD)((tensor,))[0]


def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Any:
    """The reduction of the tensors of all processes, for one of them.

    Args:
        tensor: of this process.
        dst: the process.
        op: how, see `ReduceOp`.
        group: the processes.
    """
    return Reduce(dst, op, group or _WORLD)(tensor)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _WORLD) -> Any:
    """The tensors of all processes, one after the other, for one of them."""
    return CollectiveGather(dst, group or _WORLD)(tensor)


def scatter_tensor(tensor: Any, src: int = 0, group: str = _WORLD) -> Any:
    """This process's part of the tensor of one."""
    return CollectiveScatter(src, group or _WORLD)(tensor)


def send(tensor: Any, dst: int = 0, group: str | None = _WORLD, tag: int = 0) -> None:
    """Send a tensor to another process, which does not exist.

    Raises:
        RuntimeError: always.
    """
    Send(tag, dst, group or _WORLD)(tensor)


def recv(tensor: Any, src: int = 0, group: str | None = _WORLD, tag: int = 0) -> Any:
    """Get a tensor from another process, which does not exist.

    Raises:
        RuntimeError: always.
    """
    del tensor, src, group, tag
    raise SeveralProcesses("recv: there is no other process to get a tensor from")


isend = send
irecv = recv


class P2POp:
    """A message to or from another process, for `batch_isend_irecv`.

    Args:
        op: ``"isend"`` or ``"irecv"``, or the function.
        tensor: what is sent, or like what is received.
        peer: the other process.
        group: the processes.
        tag: number of the message.
        recv_dtype: element type of what is received.
    """

    def __init__(
        self, op: Any, tensor: Any, peer: int, group: str | None = None, tag: int = 0, recv_dtype: Any = None
    ) -> None:
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
        self.recv_dtype = recv_dtype


def batch_isend_irecv(p2p_op_list: Any) -> list[CommHandle]:
    """Send and get several messages.

    Args:
        p2p_op_list: the messages.

    Raises:
        RuntimeError: there are any.
    """
    if p2p_op_list:
        raise SeveralProcesses("batch_isend_irecv: there is no other process")
    return []
