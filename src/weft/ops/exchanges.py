"""Collectives as functions that return what they get: `mindspore.communication.comm_func`.

Those that may be asynchronous return a pair of the tensor and a handle to wait for it, None if they are not. What is
asynchronous is done when the function returns, except messages between two processes.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft import lazily
from weft.core import Tensor, described, shows
from weft.core.workers import start_quietly
from weft.ops.collectives import (
    AllGather,
    AllReduce,
    Barrier,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Receive,
    Reduce,
    ReduceOp,
    ReduceScatter,
    Send,
    joined,
    swapped,
    tensor,
)
from weft.parallel.attendance import ProcessFault
from weft.parallel.processes import attending, processes
from weft.parallel.world import HCCL_WORLD_COMM_GROUP, known_rank, members_of, one_for_each, position_in

if TYPE_CHECKING:
    from concurrent import futures
else:
    futures = lazily.deferred("concurrent.futures")

__all__ = [
    "CommHandle", "P2POp", "ReduceOp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape",
    "all_to_all_with_output_shape", "barrier", "batch_isend_irecv", "broadcast", "gather_into_tensor", "irecv", "isend",
    "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor", "send",
]  # fmt: skip

_WORLD = HCCL_WORLD_COMM_GROUP
_DESCRIBED = described(
    tensor="of this process.",
    op="how, see `ReduceOp`.",
    group="the processes.",
    async_op="whether to return a handle.",
    tag="number of the message.",
)


class CommHandle:
    """What an asynchronous exchange gives to wait for.

    Args:
        job: what is done meanwhile; None if all is done.
        line: messages of one line arrive in the order in which they were sent.
        finish: called with what the job gives when it is waited for.
    """

    def __init__(
        self,
        job: Callable[[], Any] | None = None,
        line: tuple[int, int] = (0, 0),
        finish: Callable[[Any], None] | None = None,
    ) -> None:
        self._finish = finish
        self._future: futures.Future[Any] | None = None
        if job is not None:
            attendance = processes().attendance
            self._future = _submitted(line, job if attendance is None else attendance.meanwhile(job))

    def wait(self) -> None:
        """Wait until the exchange is done.

        Raises:
            RuntimeError: a process of the exchange failed.
        """
        if self._future is None:
            return
        try:
            found, finish = self._future.result(), self._finish
        except ProcessFault:
            attending("a message").raise_fault()
            raise
        self._finish = None
        if finish is not None:
            finish(found)

    def is_completed(self) -> bool:
        """Whether it is done."""
        return self._future is None or self._future.done()


#: what is to be done by the thread for messages from one process to another, by both
_LINES: Final[dict[tuple[int, int], queue.SimpleQueue[tuple[futures.Future[Any], Callable[[], Any]]]]] = {}
_GUARD: Final = threading.Lock()


def _submitted(line: tuple[int, int], job: Callable[[], Any]) -> futures.Future[Any]:
    """What comes of a job that the thread of a line does after those before it."""
    with _GUARD:
        jobs = _LINES.get(line)
        if jobs is None:
            jobs = _LINES[line] = queue.SimpleQueue()
            # a pool of Python's would take nothing more from threads that outlive the main one
            start_quietly(functools.partial(_work, jobs), f"weft-messages-{line[0]}-{line[1]}")
    future: futures.Future[Any] = futures.Future()
    jobs.put((future, job))
    return future


def _work(jobs: queue.SimpleQueue[tuple[futures.Future[Any], Callable[[], Any]]]) -> None:
    while True:
        future, job = jobs.get()
        try:
            future.set_result(job())
        except BaseException as error:
            future.set_exception(error)


def _after_others(source: int, target: int) -> None:
    """Wait until the messages under way on a line have arrived."""
    if (source, target) in _LINES:
        _submitted((source, target), lambda: None).result()


@atexit.register
def _arrive() -> None:
    """The program has ended: messages under way still arrive."""
    attendance = processes().attendance
    if attendance is not None and attendance.is_of_this_process():
        for line in list(_LINES):
            _after_others(*line)


def handle(async_op: Any) -> CommHandle | None:
    """The handle of an exchange that is done."""
    if not isinstance(async_op, bool):
        raise TypeError(f"async_op must be a bool, not {type(async_op).__name__}")
    return CommHandle() if async_op else None


@_DESCRIBED
@shows("all_reduce(Tensor([1.0, 2.0]))[0]", "[1. 2.]")
def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """The reduction of the tensors of all processes.

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


@_DESCRIBED
def all_to_all_with_output_shape(
    output_shape_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> tuple[Any, CommHandle | None]:
    """A tensor from each process, for one that was sent to each.

    Args:
        output_shape_list: shapes of what is received, or tensors of these shapes.
        input_tensor_list: what is sent.

    Raises:
        ValueError: a shape is not that of what is received.
        RuntimeError: there are not as many processes as tensors.
    """
    found = exchanged("all_to_all_with_output_shape", output_shape_list, input_tensor_list, group)
    return tuple(found), handle(async_op)


def exchanged(who: str, outputs: Any, inputs: Any, group: str | None) -> list[Any]:
    """What comes from each process, for what this one sends to each, in the expected shapes.

    Args:
        who: the function that asks, for messages.
        outputs: the shapes, or tensors of these shapes.
        inputs: what is sent.
        group: the processes.
    """
    members = members_of(who, group or _WORLD)
    one_for_each(who, "tensors to send", len(inputs), members.ranks)
    one_for_each(who, "tensors to get", len(outputs), members.ranks)
    shapes = [tuple(out.shape if isinstance(out, Tensor) else out) for out in outputs]
    kinds = {tensor(who, x).dtype for x in inputs}
    if len(kinds) > 1:
        raise TypeError(f"{who}: the tensors must have one element type, not {', '.join(sorted(map(str, kinds)))}")
    return swapped(who, inputs, shapes, members)


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> tuple[Any, CommHandle | None]:
    """A part of a tensor of each process, for one that was sent to each; see `all_to_all_with_output_shape`."""
    shape = tuple(output_shape.shape if isinstance(output_shape, Tensor) else output_shape)
    found = exchanged_rows(
        "all_to_all_single_with_output_shape", shape, tensor, output_split_sizes, input_split_sizes, group
    )
    return found, handle(async_op)


def exchanged_rows(who: str, shape: tuple[int, ...], x: Any, wanted: Any, sent: Any, group: str | None) -> Any:
    """Rows from each process, one after the other, for rows that this one sends to each.

    Args:
        who: the function that asks, for messages.
        shape: of all that comes.
        x: the tensor whose rows are sent.
        wanted: rows from each process; None for equal parts.
        sent: rows for each process; None for equal parts.
        group: the processes.
    """
    count = len(members_of(who, group or _WORLD).ranks)
    wanted, sent = row_counts(who, wanted, shape[0], count), row_counts(who, sent, tensor(who, x).shape[0], count)
    starts = np.cumsum([0, *sent]).tolist()
    parts = [x[start:end] for start, end in itertools.pairwise(starts)]
    return joined(exchanged(who, [(rows, *shape[1:]) for rows in wanted], parts, group))


def row_counts(who: str, sizes: Any, rows: int, count: int) -> list[int]:
    """Rows of the parts of a tensor.

    Args:
        who: the function that asks, for messages.
        sizes: as given; empty or None for equal parts.
        rows: of all parts.
        count: number of parts.

    Raises:
        ValueError: the sizes do not fit.
    """
    if not sizes:
        if rows % count:
            raise ValueError(f"{who}: {rows} rows have not {count} equal parts")
        return [rows // count] * count
    one_for_each(who, "parts", len(sizes), range(count))
    if sum(sizes) != rows:
        raise ValueError(f"{who}: parts of {list(sizes)} rows are not {count} that make {rows}")
    return list(sizes)


def barrier(group: str = _WORLD) -> None:
    """Wait for all processes."""
    Barrier(group or _WORLD)()


@_DESCRIBED
def broadcast(tensor: Any, src: int = 0, group: str = _WORLD) -> Any:
    """The tensor of one process.

    Args:
        src: the process.
    """
    return Broadcast(src, group or _WORLD)((tensor,))[0]


@_DESCRIBED
def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Any:
    """The reduction of the tensors of all processes, for one of them.

    Args:
        dst: the process.
    """
    place = position_in("reduce", "dst", dst, members_of("reduce", group or _WORLD).ranks)
    return Reduce(place, op, group or _WORLD)(tensor)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _WORLD) -> Any:
    """The tensors of all processes, one after the other, for one of them."""
    return CollectiveGather(dst, group or _WORLD)(tensor)


def scatter_tensor(tensor: Any, src: int = 0, group: str = _WORLD) -> Any:
    """This process's part of the tensor of one."""
    return CollectiveScatter(src, group or _WORLD)(tensor)


@_DESCRIBED
def send(tensor: Any, dst: int = 0, group: str | None = _WORLD, tag: int = 0) -> None:
    """Send a tensor to another process, and wait until it has it.

    Args:
        tensor: what is sent.
        dst: the other process.
    """
    _after_others(processes().rank, known_rank("send", "dst", dst))
    Send(tag, dst, group or _WORLD)(tensor)


@_DESCRIBED
def recv(tensor: Any, src: int = 0, group: str | None = _WORLD, tag: int = 0) -> Any:
    """Get a tensor from another process.

    Args:
        tensor: of the shape and element type of what comes.
        src: the other process.
    """
    _after_others(known_rank("recv", "src", src), processes().rank)
    return Receive(tag, src, tensor.shape, tensor.dtype, group or _WORLD)()


def isend(tensor: Any, dst: int = 0, group: str | None = _WORLD, tag: int = 0) -> CommHandle:
    """As `send`, without waiting; see `CommHandle`."""
    message = Send(tag, dst, group or _WORLD)
    sent = tensor.copy()
    return CommHandle(lambda: message(sent), (processes().rank, dst))


def irecv(tensor: Any, src: int = 0, group: str | None = _WORLD, tag: int = 0) -> tuple[Any, CommHandle]:
    """As `recv`, without waiting: the tensor has what came when the handle was waited for."""
    message = Receive(tag, src, tensor.shape, tensor.dtype, group or _WORLD)
    return tensor, CommHandle(message, (src, processes().rank), tensor.copy_)


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


def messages_under_way(p2p_op_list: Any, into: bool) -> list[tuple[Any, CommHandle]]:
    """Begin to send and get several messages at once.

    Args:
        p2p_op_list: the messages, each a `P2POp`.
        into: whether what comes is written into the tensors that were given, or into new ones.

    Returns:
        list: for each the tensor that has what came when the handle was waited for, a zero where one was sent; and
        the handle.
    """
    begun: list[tuple[Any, CommHandle]] = []
    for message in p2p_op_list:
        rest = message.peer, message.group, message.tag
        if message.op == "isend" or getattr(message.op, "__name__", "") == "isend":
            begun.append((Tensor(np.zeros((), message.tensor.dtype.np_dtype)), isend(message.tensor, *rest)))
        else:
            begun.append(irecv(message.tensor if into else message.tensor.copy(), *rest))
    return begun


def batch_isend_irecv(p2p_op_list: Any) -> tuple[Any, ...]:
    """Send and get several messages, which are under way at once.

    Args:
        p2p_op_list: the messages, each a `P2POp`.

    Returns:
        tuple: for each what came, in the order of the messages; a zero for one that was sent.
    """
    begun = messages_under_way(p2p_op_list, into=False)
    for _, handle in begun:
        handle.wait()
    return tuple([found for found, _ in begun])
