"""Collectives: what processes exchange. A program is one process, which keeps what it sends to all.

The operators check their arguments as with many processes. What only another process could do is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from weft.core.describing import Described
from weft.core.dispatch import apply
from weft.core.operators import OPERATOR_CLASSES, Operator
from weft.core.primitive import Primitive, Sample
from weft.core.tensor import Tensor
from weft.ops._samples import A
from weft.parallel.world import HCCL_WORLD_COMM_GROUP, SeveralProcesses, rank_id, ranks_of, text

__all__ = ["ReduceOp"]


class ReduceOp:
    """How values of processes become one.

    Example:
        >>> ReduceOp.SUM
        'sum'
    """

    SUM: Final = "sum"
    MAX: Final = "max"
    MIN: Final = "min"
    PROD: Final = "prod"
    AVG: Final = "avg"


_REDUCTIONS: Final = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD, ReduceOp.AVG)


def _primitive(name: str, *attributes: Any) -> Primitive:
    """A collective of one tensor, which one process keeps as it is."""

    def kept(x: Any, **given: Any) -> Any:
        del given
        return x

    names, values = [pair[0] for pair in attributes], dict(attributes)
    return Primitive(name, kept, attr_names=(*names, "group"), samples=[Sample((A,), {**values, "group": _WORLD})])


_WORLD: Final = HCCL_WORLD_COMM_GROUP
ALL_REDUCE: Final = _primitive("AllReduce", ("op", ReduceOp.SUM))
REDUCE: Final = _primitive("Reduce", ("dest_rank", 0), ("op", ReduceOp.SUM))
ALL_GATHER: Final = _primitive("AllGather")
REDUCE_SCATTER: Final = _primitive("ReduceScatter", ("op", ReduceOp.SUM))
GATHER: Final = _primitive("CollectiveGather", ("dest_rank", 0))
SCATTER: Final = _primitive("CollectiveScatter", ("src_rank", 0))
ALL_TO_ALL: Final = _primitive("AlltoAll", ("split_count", 1), ("split_dim", 0), ("concat_dim", 0))


def _kept_all(*xs: Any, **given: Any) -> tuple[Any, ...]:
    del given
    return xs


BROADCAST: Final = Primitive(
    "Broadcast",
    _kept_all,
    attr_names=("root_rank", "group"),
    multiple=True,
    samples=[Sample((A, np.array([2.0, 3.0], np.float32)), {"root_rank": 0, "group": _WORLD})],
)
EXCHANGE: Final = Primitive(
    "NeighborExchange",
    _kept_all,
    attr_names=("group",),
    multiple=True,
    samples=[Sample((A, np.array([2.0, 3.0], np.float32)), {"group": _WORLD})],
)


def rank(who: str, what: str, value: Any) -> int:
    """A process that takes part: number 0."""
    if rank_id(who, what, value) != 0:
        raise SeveralProcesses(f"{who}: {what}={value} is another process")
    return 0


def tensor(who: str, value: Any) -> Tensor:
    """What is exchanged."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{who} exchanges tensors, not {type(value).__name__}")
    return value


def parted(who: str, value: Any) -> Tensor:
    """What is put together, or cut, along its first dimension."""
    if not tensor(who, value).ndim:
        raise ValueError(f"{who} takes a tensor with at least one dimension")
    return value


class _Collective(Described, Operator):
    """Base of the collectives: arguments of the constructor are checked there, the group in each call.

    Args:
        op: how, see `ReduceOp`.
        group: the processes.
        dest_rank: which one.
        src_rank: which one.
    """

    _primitive: ClassVar[Any] = None
    #: whether the processes get parts of a tensor, or give some
    _parts: ClassVar[bool] = False

    def _keep(self, **fixed: Any) -> None:
        name = type(self).__name__
        text(name, "group", fixed["group"])
        if "op" in fixed and text(name, "op", fixed["op"]) not in _REDUCTIONS:
            raise ValueError(f"{name}: op must be one of {', '.join(map(repr, _REDUCTIONS))}, not {fixed['op']!r}")
        self.fixed = fixed
        self.__dict__.update(fixed)

    def _here(self) -> None:
        """Refuse a group that the program did not make."""
        ranks_of(self.name, self.fixed["group"])

    def _apply(self, primitive: Primitive, *inputs: Any) -> Any:
        self._here()
        return apply(primitive, inputs, tuple([self.fixed[name] for name in primitive.attr_names]))

    def __call__(self, input_x: Any) -> Any:
        check = parted if self._parts else tensor
        return self._apply(self._primitive, check(self.name, input_x))


class AllReduce(_Collective, primitive=ALL_REDUCE):
    """Every process gets the reduction of all tensors."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class Reduce(_Collective, primitive=REDUCE):
    """One process gets the reduction of all tensors."""

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(dest_rank=rank("Reduce", "dest_rank", dest_rank), op=op, group=group)


class AllGather(_Collective, primitive=ALL_GATHER, parts=True):
    """Every process gets the tensors of all, one after the other along the first dimension."""

    def __init__(self, group: str = _WORLD) -> None:
        self._keep(group=group)


class ReduceScatter(_Collective, primitive=REDUCE_SCATTER, parts=True):
    """Every process gets its part of the reduction of all tensors, cut along the first dimension."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class CollectiveGather(_Collective, primitive=GATHER, parts=True):
    """One process gets the tensors of all, one after the other along the first dimension."""

    def __init__(self, dest_rank: int, group: str = _WORLD) -> None:
        self._keep(dest_rank=rank("CollectiveGather", "dest_rank", dest_rank), group=group)


class CollectiveScatter(_Collective, primitive=SCATTER, parts=True):
    """Every process gets its part of the tensor of one, cut along the first dimension."""

    def __init__(self, src_rank: int = 0, group: str = _WORLD) -> None:
        self._keep(src_rank=rank("CollectiveScatter", "src_rank", src_rank), group=group)


class Broadcast(_Collective):
    """Every process gets the tensors of one: ``Broadcast(root_rank)((x, y))``.

    Args:
        root_rank: which one.

    Returns:
        tuple: the tensors.
    """

    def __init__(self, root_rank: int, group: str = _WORLD) -> None:
        self._keep(root_rank=rank("Broadcast", "root_rank", root_rank), group=group)

    def __call__(self, input_x: Any) -> Any:
        given = input_x if isinstance(input_x, (tuple, list)) else (input_x,)
        return tuple(self._apply(BROADCAST, *[tensor(self.name, x) for x in given])) if given else ()


class AlltoAll(_Collective):
    """Each process sends each its part of a tensor, and puts together what it gets.

    Args:
        split_count: number of parts, that of the processes.
        split_dim: along which dimension the tensor is cut.
        concat_dim: along which dimension the parts are put together.
    """

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str = _WORLD) -> None:
        for what, value in (("split_count", split_count), ("split_dim", split_dim), ("concat_dim", concat_dim)):
            rank_id("AlltoAll", what, value)
        if split_count < 1:
            raise ValueError(f"AlltoAll: split_count must be positive, not {split_count}")
        if split_count != 1:
            raise SeveralProcesses(f"AlltoAll: split_count={split_count} needs as many processes")
        self._keep(split_count=split_count, split_dim=split_dim, concat_dim=concat_dim, group=group)

    def __call__(self, input_x: Any) -> Any:
        dims = tensor(self.name, input_x).ndim
        for what in ("split_dim", "concat_dim"):
            if not -dims <= self.fixed[what] < dims:
                raise ValueError(f"AlltoAll: {what}={self.fixed[what]} is no dimension of shape {input_x.shape}")
        return self._apply(ALL_TO_ALL, input_x)


class AlltoAllV(_Collective):
    """Each process sends each so many elements of a tensor: ``AlltoAllV()(x, send_numel_list, recv_numel_list)``.

    Args:
        block_size: elements that are counted as one.

    Returns:
        Tensor: what was received, in one dimension.
    """

    def __init__(self, group: str = _WORLD, block_size: int = 1) -> None:
        if rank_id("AlltoAllV", "block_size", block_size) < 1:
            raise ValueError(f"AlltoAllV: block_size must be positive, not {block_size}")
        self._keep(group=group, block_size=block_size)

    def __call__(self, input_x: Any, send_numel_list: Any, recv_numel_list: Any) -> Any:  # type: ignore[override]
        size = math.prod(tensor(self.name, input_x).shape)
        for what, counts in (("send_numel_list", send_numel_list), ("recv_numel_list", recv_numel_list)):
            found = counts.tolist() if isinstance(counts, Tensor) else list(counts)
            if len(found) != 1:
                raise SeveralProcesses(f"AlltoAllV: {what} has {len(found)} entries, one for each process")
            if found[0] * self.fixed["block_size"] != size:
                raise ValueError(f"AlltoAllV: {what}={found} does not fit the {size} elements of the tensor")
        return apply(ALL_GATHER, (input_x.reshape(-1),), (self.fixed["group"],))


class NeighborExchange(_Collective):
    """Each process sends tensors to its neighbours and gets theirs.

    Args:
        send_rank_ids: to whom each tensor is sent.
        recv_rank_ids: from whom each tensor comes.
        recv_shapes: shapes of the tensors that come.
        send_shapes: shapes of the tensors that are sent.
        recv_type: element type of the tensors that come.

    Returns:
        tuple: the tensors that came.
    """

    def __init__(
        self,
        send_rank_ids: Sequence[int],
        recv_rank_ids: Sequence[int],
        recv_shapes: Any,
        send_shapes: Any,
        recv_type: Any,
        group: str = _WORLD,
    ) -> None:
        for what, ids in (("send_rank_ids", send_rank_ids), ("recv_rank_ids", recv_rank_ids)):
            if not isinstance(ids, (list, tuple)):
                raise TypeError(f"NeighborExchange: {what} must be a list, not {type(ids).__name__}")
            for one in ids:
                rank("NeighborExchange", what, one)
        if len(send_rank_ids) != len(recv_rank_ids):
            raise ValueError("NeighborExchange: one process gets as many tensors as it sends")
        self._keep(
            send_rank_ids=send_rank_ids, recv_rank_ids=recv_rank_ids, recv_shapes=recv_shapes, send_shapes=send_shapes,
            recv_type=recv_type, group=group,
        )  # fmt: skip

    def __call__(self, inputs: Any) -> Any:
        if len(inputs) != len(self.fixed["send_rank_ids"]):
            raise ValueError(f"NeighborExchange: {len(inputs)} tensors for {len(self.fixed['send_rank_ids'])} ranks")
        return tuple(self._apply(EXCHANGE, *[tensor(self.name, x) for x in inputs])) if inputs else ()


class Barrier(_Collective):
    """Wait for all processes of a group."""

    def __init__(self, group: str = _WORLD) -> None:
        self._keep(group=group)

    def __call__(self) -> None:  # type: ignore[override]
        self._here()


class Send(_Collective):
    """Send a tensor to another process, which does not exist.

    Args:
        sr_tag: number of the message.
        dest_rank: to whom.
        group_back: those of the gradient.
    """

    def __init__(self, sr_tag: int, dest_rank: int, group: str = _WORLD, group_back: str = _WORLD) -> None:
        rank_id("Send", "dest_rank", dest_rank)
        self._keep(sr_tag=sr_tag, dest_rank=dest_rank, group=group, group_back=group_back)

    def __call__(self, input_x: Any) -> Any:
        del input_x
        raise SeveralProcesses("Send: there is no other process to send a tensor to")


class Receive(_Collective):
    """Get a tensor from another process, which does not exist.

    Args:
        sr_tag: number of the message.
        src_rank: from whom.
        shape: of the tensor.
        dtype: of the tensor.
        group_back: those of the gradient.
    """

    def __init__(
        self, sr_tag: int, src_rank: int, shape: Any, dtype: Any, group: str = _WORLD, group_back: str = _WORLD
    ) -> None:
        rank_id("Receive", "src_rank", src_rank)
        self._keep(sr_tag=sr_tag, src_rank=src_rank, shape=shape, dtype=dtype, group=group, group_back=group_back)

    def __call__(self, input_x: Any = None) -> Any:
        del input_x
        raise SeveralProcesses("Receive: there is no other process to get a tensor from")


_CLASSES: Final[tuple[Callable[..., Any], ...]] = (
    AllReduce, Reduce, AllGather, ReduceScatter, CollectiveGather, CollectiveScatter, Broadcast, AlltoAll, AlltoAllV,
    NeighborExchange, Barrier, Send, Receive,
)  # fmt: skip
for _class in _CLASSES:
    OPERATOR_CLASSES[_class.__name__] = _class  # type: ignore[assignment]
