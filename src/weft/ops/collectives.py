"""Collectives: what the processes of a group exchange. A process alone keeps what it sends to all.

Each has a primitive for one process, which gives what it gets, and one for several, of `weft.ops.across`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.core import OPERATOR_CLASSES, Described, Operator, Primitive, Tensor, apply
from weft.ops import across
from weft.ops.across import REDUCTIONS, ReduceOp
from weft.parallel.groups import Group
from weft.parallel.processes import attending, processes
from weft.parallel.world import (
    HCCL_WORLD_COMM_GROUP,
    SeveralProcesses,
    known_rank,
    members_of,
    one_for_each,
    position_in,
    rank_id,
    text,
)

__all__ = ["ReduceOp"]

_WORLD: Final = HCCL_WORLD_COMM_GROUP


def _alone(name: str, multiple: bool = False) -> Primitive:
    """A collective in one process, which keeps what it has."""

    def kept(*xs: Any) -> Any:
        return xs if multiple else xs[0]

    return Primitive(name, kept, multiple=multiple)


_ALL_REDUCE: Final = _alone("AllReduce")
_REDUCE: Final = _alone("Reduce")
_ALL_GATHER: Final = _alone("AllGather")
_REDUCE_SCATTER: Final = _alone("ReduceScatter")
_GATHER: Final = _alone("CollectiveGather")
_SCATTER: Final = _alone("CollectiveScatter")
_ALL_TO_ALL: Final = _alone("AlltoAll")
_BROADCAST: Final = _alone("Broadcast", multiple=True)
_NEIGHBOURS: Final = _alone("NeighborExchange", multiple=True)


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

    _alone: ClassVar[Any] = None
    _across: ClassVar[Any] = None
    #: whether the processes get parts of a tensor, or give some; and whether the parts of each are equal
    _parts: ClassVar[bool] = False
    _equal: ClassVar[bool] = False

    def _keep(self, **fixed: Any) -> None:
        name = type(self).__name__
        text(name, "group", fixed["group"])
        if "op" in fixed and text(name, "op", fixed["op"]) not in REDUCTIONS:
            raise ValueError(f"{name}: op must be one of {', '.join(map(repr, REDUCTIONS))}, not {fixed['op']!r}")
        self.fixed = fixed
        self.__dict__.update(fixed)

    def _group(self) -> Group:
        """The group, this process in it."""
        return members_of(self.name, self.fixed["group"])

    def _attributes(self, ranks: tuple[int, ...]) -> tuple[Any, ...]:
        """What the primitive is told besides the group."""
        del ranks
        return (self.fixed["op"],) if "op" in self.fixed else ()

    def __call__(self, input_x: Any) -> Any:
        (parted if self._parts else tensor)(self.name, input_x)
        group = self._group()
        attributes = self._attributes(group.ranks)
        if len(group.ranks) == 1:
            return apply(self._alone, (input_x,))
        if self._equal:
            self._need_equal_parts(input_x, len(group.ranks))
        return apply(self._across, (input_x,), (*attributes, group))

    def _need_equal_parts(self, x: Any, count: int) -> None:
        """Refuse a tensor that has not as many equal parts as there are processes."""
        if x.shape[0] % count:
            raise ValueError(f"{self.name}: a tensor of shape {tuple(x.shape)} has not {count} equal parts of rows")


class AllReduce(_Collective, alone=_ALL_REDUCE, across=across.ALL_REDUCE):
    """Every process gets the reduction of all tensors."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class Reduce(_Collective, alone=_REDUCE, across=across.REDUCE):
    """One process gets the reduction of all tensors, the others keep theirs."""

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(dest_rank=known_rank("Reduce", "dest_rank", dest_rank), op=op, group=group)

    def _attributes(self, ranks: tuple[int, ...]) -> tuple[Any, ...]:
        return self.fixed["op"], position_in("Reduce", "dest_rank", self.fixed["dest_rank"], range(len(ranks)))


class AllGather(_Collective, alone=_ALL_GATHER, across=across.ALL_GATHER, parts=True):
    """Every process gets the tensors of all, one after the other along the first dimension."""

    def __init__(self, group: str = _WORLD) -> None:
        self._keep(group=group)


class ReduceScatter(_Collective, alone=_REDUCE_SCATTER, across=across.REDUCE_SCATTER, parts=True, equal=True):
    """Every process gets its part of the reduction of all tensors, cut along the first dimension."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class CollectiveGather(_Collective, alone=_GATHER, across=across.GATHER, parts=True):
    """One process gets the tensors of all, one after the other along the first dimension, the others get zeros."""

    def __init__(self, dest_rank: int, group: str = _WORLD) -> None:
        self._keep(dest_rank=known_rank("CollectiveGather", "dest_rank", dest_rank), group=group)

    def _attributes(self, ranks: tuple[int, ...]) -> tuple[Any, ...]:
        return (position_in("CollectiveGather", "dest_rank", self.fixed["dest_rank"], ranks),)


class CollectiveScatter(_Collective, alone=_SCATTER, across=across.SCATTER, parts=True, equal=True):
    """Every process gets its part of the tensor of one, cut along the first dimension."""

    def __init__(self, src_rank: int = 0, group: str = _WORLD) -> None:
        self._keep(src_rank=known_rank("CollectiveScatter", "src_rank", src_rank), group=group)

    def _attributes(self, ranks: tuple[int, ...]) -> tuple[Any, ...]:
        return (position_in("CollectiveScatter", "src_rank", self.fixed["src_rank"], ranks),)


class Broadcast(_Collective):
    """Every process gets the tensors of one: ``Broadcast(root_rank)((x, y))``.

    Args:
        root_rank: which one.

    Returns:
        tuple: the tensors.
    """

    def __init__(self, root_rank: int, group: str = _WORLD) -> None:
        self._keep(root_rank=known_rank("Broadcast", "root_rank", root_rank), group=group)

    def __call__(self, input_x: Any) -> Any:
        given = tuple([tensor(self.name, x) for x in (input_x if isinstance(input_x, (tuple, list)) else (input_x,))])
        group = self._group()
        root = position_in("Broadcast", "root_rank", self.fixed["root_rank"], group.ranks)
        if len(group.ranks) == 1:
            return tuple(apply(_BROADCAST, given)) if given else ()
        return tuple([apply(across.BROADCAST, (x,), (root, group)) for x in given])


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
        if split_count > processes().count:
            raise SeveralProcesses(f"AlltoAll: split_count={split_count} needs as many processes")
        self._keep(split_count=split_count, split_dim=split_dim, concat_dim=concat_dim, group=group)

    def __call__(self, input_x: Any) -> Any:
        dims = tensor(self.name, input_x).ndim
        for what in ("split_dim", "concat_dim"):
            if not -dims <= self.fixed[what] < dims:
                raise ValueError(f"AlltoAll: {what}={self.fixed[what]} is no dimension of shape {input_x.shape}")
        group, count = self._group(), self.fixed["split_count"]
        one_for_each("AlltoAll", "parts (split_count)", count, group.ranks)
        if count == 1:
            return apply(_ALL_TO_ALL, (input_x,))
        split, concat = self.fixed["split_dim"] % dims, self.fixed["concat_dim"] % dims
        if input_x.shape[split] % count:
            raise ValueError(f"AlltoAll: dimension {split} of shape {input_x.shape} has not {count} equal parts")
        return apply(across.ALL_TO_ALL, (input_x,), (split, concat, group))


def swapped(who: str, parts: Sequence[Tensor], wanted: Sequence[tuple[int, ...]] | None, group: Group) -> list[Tensor]:
    """A tensor from each process, for one that this one sends to each; of any shapes.

    Args:
        who: the function that asks, for messages.
        parts: what is sent, all of one element type.
        wanted: shapes that are expected of each process; None for what comes.
        group: the processes.

    Raises:
        ValueError: a tensor of another shape comes.
    """
    sent: list[Any] = [list(part.shape) for part in parts]
    every, ranks = [sent], group.ranks
    if len(ranks) > 1:
        every = attending(who).meet(group, f"{who}: shapes", sent)
    here = ranks.index(processes().rank)
    coming = [tuple(row[here]) for row in every]
    if wanted is not None and list(wanted) != coming:
        raise ValueError(f"{who}: tensors of shapes {coming} come from the ranks {list(ranks)}, not {list(wanted)}")
    if len(ranks) == 1:
        return [apply(_ALL_TO_ALL, (parts[0],))]
    width = max(1, *[math.prod(shape) for row in every for shape in row])
    rows = joined([_padded(part.reshape(-1), width) for part in parts])
    found = apply(across.ALL_TO_ALL, (rows,), (0, 0, group))
    return [found[i * width : i * width + math.prod(shape)].reshape(shape) for i, shape in enumerate(coming)]


def _padded(x: Tensor, width: int) -> Tensor:
    left = width - x.shape[0]
    return joined([x, Tensor(np.zeros(left, x.dtype.np_dtype))]) if left else x


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Tensors one after the other along the first dimension."""
    return parts[0] if len(parts) == 1 else apply(Primitive.table["Concat"], tuple(parts), (0,))


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
        size, group = math.prod(tensor(self.name, input_x).shape), self._group()
        counts: list[list[int]] = []
        for what, given in (("send_numel_list", send_numel_list), ("recv_numel_list", recv_numel_list)):
            found = given.tolist() if isinstance(given, Tensor) else list(given)
            one_for_each("AlltoAllV", f"entries of {what}", len(found), group.ranks)
            counts.append([count * self.fixed["block_size"] for count in found])
        sent, wanted = counts
        if sum(sent) != size or (len(group.ranks) == 1 and wanted != sent):
            raise ValueError(
                f"AlltoAllV: {sent} elements to send and {wanted} to get do not fit the {size} of the tensor"
            )
        flat, starts = input_x.reshape(-1), np.cumsum([0, *sent]).tolist()
        parts = [flat[start:end] for start, end in itertools.pairwise(starts)]
        return joined(swapped("AlltoAllV", parts, [(count,) for count in wanted], group))


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
                known_rank("NeighborExchange", what, one)
            if len(set(ids)) != len(ids):
                raise ValueError(f"NeighborExchange: {what} must be different ranks, not {list(ids)}")
        self._keep(
            send_rank_ids=send_rank_ids, recv_rank_ids=recv_rank_ids, recv_shapes=recv_shapes, send_shapes=send_shapes,
            recv_type=recv_type, group=group,
        )  # fmt: skip

    def __call__(self, inputs: Any) -> Any:
        to, come, group = self.fixed["send_rank_ids"], self.fixed["recv_rank_ids"], self._group()
        if len(inputs) != len(to):
            raise ValueError(f"NeighborExchange: {len(inputs)} tensors for {len(to)} ranks")
        ranks = group.ranks
        places = [position_in("NeighborExchange", "send_rank_ids", r, ranks) for r in to]
        given = {place: tensor(self.name, x) for place, x in zip(places, inputs, strict=True)}
        wanted = [position_in("NeighborExchange", "recv_rank_ids", r, ranks) for r in come]
        if len(ranks) == 1:
            return tuple(apply(_NEIGHBOURS, tuple(inputs))) if inputs else ()
        kind = dtypes.of(self.fixed["recv_type"])
        nothing = Tensor(np.zeros(0, kind.np_dtype))
        parts = [given.get(i, nothing) for i in range(len(ranks))]
        shapes = dict(zip(wanted, map(tuple, self.fixed["recv_shapes"]), strict=True))
        found = swapped("NeighborExchange", parts, [shapes.get(i, (0,)) for i in range(len(ranks))], group)
        return tuple([found[i] for i in wanted])


class Barrier(_Collective):
    """Wait for all processes of a group."""

    def __init__(self, group: str = _WORLD) -> None:
        self._keep(group=group)

    def __call__(self) -> None:  # type: ignore[override]
        group = self._group()
        if len(group.ranks) > 1:
            apply(across.BARRIER, (Tensor(np.zeros((), np.int32)),), (group,))


class _Message(_Collective):
    """A tensor of one process for another."""

    def _passed(self, x: Tensor, source: Any, target: Any) -> Tensor:
        """The tensor for the process that gets it, and for the one that sends it."""
        group = self._group()
        for what, peer in (("src_rank", source), ("dest_rank", target)):
            position_in(self.name, what, peer, group.ranks)
        if source == target:
            raise ValueError(f"{self.name}: rank {source} cannot send a tensor to itself")
        line = Group(group.name, (source, target), "messages")
        return apply(across.TRANSFER, (x,), (str(self.fixed["sr_tag"]), line))


class Send(_Message):
    """Send a tensor to another process.

    Args:
        sr_tag: number of the message.
        dest_rank: to whom.
        group_back: those of the gradient.

    Returns:
        Tensor: the tensor, after it was received.
    """

    def __init__(self, sr_tag: int, dest_rank: int, group: str = _WORLD, group_back: str = _WORLD) -> None:
        known_rank("Send", "dest_rank", dest_rank)
        self._keep(sr_tag=sr_tag, dest_rank=dest_rank, group=group, group_back=group_back)

    def __call__(self, input_x: Any) -> Any:
        return self._passed(tensor("Send", input_x), processes().rank, self.fixed["dest_rank"])


class Receive(_Message):
    """Get a tensor from another process.

    Args:
        sr_tag: number of the message.
        src_rank: from whom.
        shape: of the tensor.
        dtype: of the tensor.
        group_back: those of the gradient.

    Returns:
        Tensor: the tensor; its gradient goes back where the operator was called with a tensor that gradients follow.
    """

    def __init__(
        self, sr_tag: int, src_rank: int, shape: Any, dtype: Any, group: str = _WORLD, group_back: str = _WORLD
    ) -> None:
        known_rank("Receive", "src_rank", src_rank)
        self._keep(sr_tag=sr_tag, src_rank=src_rank, shape=shape, dtype=dtype, group=group, group_back=group_back)

    def __call__(self, input_x: Any = None) -> Any:
        place = Tensor(np.zeros(tuple(self.fixed["shape"]), dtypes.of(self.fixed["dtype"]).np_dtype))
        if isinstance(input_x, Tensor):
            place = place + (input_x.sum() * 0).astype(place.dtype)
        return self._passed(place, self.fixed["src_rank"], processes().rank)


_CLASSES: Final[tuple[Callable[..., Any], ...]] = (
    AllReduce, Reduce, AllGather, ReduceScatter, CollectiveGather, CollectiveScatter, Broadcast, AlltoAll, AlltoAllV,
    NeighborExchange, Barrier, Send, Receive,
)  # fmt: skip
for _class in _CLASSES:
    OPERATOR_CLASSES[_class.__name__] = _class  # type: ignore[assignment]
