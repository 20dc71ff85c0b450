"""Collectives: what the processes of a group exchange. A process alone keeps what it sends to all.

Each has a primitive for one process, which gives what it gets, and one for several, of `weft.ops.across`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from weft import dtypes
from weft.core import OPERATOR_CLASSES, Described, Operator, Primitive, Tensor, apply
from weft.ops import across
from weft.ops._checks import ints, positive_ints
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
    text,
)

__all__ = ["ReduceOp"]

_WORLD: Final = HCCL_WORLD_COMM_GROUP

#: what they do in one process, which keeps what it has
_ALONE: Final = {
    **{name: Primitive(name, lambda x: x) for name in (
        "AllReduce", "Reduce", "AllGather", "ReduceScatter", "CollectiveGather", "CollectiveScatter", "AlltoAll",
    )},
    **{name: Primitive(name, lambda *xs: xs, multiple=True) for name in ("Broadcast", "NeighborExchange")},
}  # fmt: skip
#: parameters that are one of the processes
_RANKS: Final = ("dest_rank", "src_rank", "root_rank")


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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ == __name__ and not cls.__name__.startswith("_"):
            OPERATOR_CLASSES[cls.__name__] = cls
            cls._alone = _ALONE.get(cls.__name__)

    def _keep(self, **fixed: Any) -> None:
        name = type(self).__name__
        for what in _RANKS:
            if what in fixed:
                known_rank(name, what, fixed[what])
        text(name, "group", fixed["group"])
        if "op" in fixed and text(name, "op", fixed["op"]) not in REDUCTIONS:
            raise ValueError(f"{name}: op must be one of {', '.join(map(repr, REDUCTIONS))}, not {fixed['op']!r}")
        self.fixed = fixed
        self.__dict__.update(fixed)

    def _group(self) -> Group:
        """The group, this process in it."""
        return members_of(self.name, self.fixed["group"])

    def _attributes(self, ranks: Sequence[int]) -> tuple[Any, ...]:
        """What the primitive is told besides the group: how it reduces, and the place of a process in the group."""
        fixed = self.fixed
        places = [position_in(self.name, what, fixed[what], ranks) for what in _RANKS if what in fixed]
        return (fixed["op"], *places) if "op" in fixed else tuple(places)

    def __call__(self, input_x: Any) -> Any:
        (parted if self._parts else tensor)(self.name, input_x)
        group = self._group()
        attributes = self._attributes(group.ranks)
        if len(group.ranks) == 1:
            return apply(self._alone, (input_x,))
        if self._equal and input_x.shape[0] % len(group.ranks):
            shape, count = tuple(input_x.shape), len(group.ranks)
            raise ValueError(f"{self.name}: a tensor of shape {shape} has not {count} equal parts of rows")
        return apply(self._across, (input_x,), (*attributes, group))


class AllReduce(_Collective, across=across.ALL_REDUCE):
    """Every process gets the reduction of all tensors."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class Reduce(_Collective, across=across.REDUCE):
    """One process gets the reduction of all tensors, the others keep theirs."""

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(dest_rank=dest_rank, op=op, group=group)

    def _attributes(self, ranks: Sequence[int]) -> tuple[Any, ...]:
        return super()._attributes(range(len(ranks)))


class AllGather(_Collective, across=across.ALL_GATHER, parts=True):
    """Every process gets the tensors of all, one after the other along the first dimension."""

    def __init__(self, group: str = _WORLD) -> None:
        self._keep(group=group)


class ReduceScatter(_Collective, across=across.REDUCE_SCATTER, parts=True, equal=True):
    """Every process gets its part of the reduction of all tensors, cut along the first dimension."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = _WORLD) -> None:
        self._keep(op=op, group=group)


class CollectiveGather(_Collective, across=across.GATHER, parts=True):
    """One process gets the tensors of all, one after the other along the first dimension, the others get zeros."""

    def __init__(self, dest_rank: int, group: str = _WORLD) -> None:
        self._keep(dest_rank=dest_rank, group=group)


class CollectiveScatter(_Collective, across=across.SCATTER, parts=True, equal=True):
    """Every process gets its part of the tensor of one, cut along the first dimension."""

    def __init__(self, src_rank: int = 0, group: str = _WORLD) -> None:
        self._keep(src_rank=src_rank, group=group)


class Broadcast(_Collective):
    """Every process gets the tensors of one: ``Broadcast(root_rank)((x, y))``.

    Args:
        root_rank: which one.

    Returns:
        tuple: the tensors.
    """

    def __init__(self, root_rank: int, group: str = _WORLD) -> None:
        self._keep(root_rank=root_rank, group=group)

    def __call__(self, input_x: Any) -> Any:
        given = tuple([tensor(self.name, x) for x in (input_x if isinstance(input_x, (tuple, list)) else (input_x,))])
        group = self._group()
        attributes = self._attributes(group.ranks)
        if len(group.ranks) == 1:
            return tuple(apply(self._alone, given)) if given else ()
        return tuple([apply(across.BROADCAST, (x,), (*attributes, group)) for x in given])


class AlltoAll(_Collective):
    """Each process sends each its part of a tensor, and puts together what it gets.

    Args:
        split_count: number of parts, that of the processes.
        split_dim: along which dimension the tensor is cut.
        concat_dim: along which dimension the parts are put together.
    """

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str = _WORLD) -> None:
        ints("AlltoAll", split_count=split_count, split_dim=split_dim, concat_dim=concat_dim)
        positive_ints("AlltoAll", split_count=split_count)
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
            return apply(self._alone, (input_x,))
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
        return [apply(_ALONE["AlltoAll"], (parts[0],))]
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
        positive_ints("AlltoAllV", block_size=block_size)
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
            return tuple(apply(self._alone, tuple(inputs))) if inputs else ()
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
        self._keep(sr_tag=sr_tag, src_rank=src_rank, shape=shape, dtype=dtype, group=group, group_back=group_back)

    def __call__(self, input_x: Any = None) -> Any:
        place = Tensor(np.zeros(tuple(self.fixed["shape"]), dtypes.of(self.fixed["dtype"]).np_dtype))
        if isinstance(input_x, Tensor):
            place = place + (input_x.sum() * 0).astype(place.dtype)
        return self._passed(place, self.fixed["src_rank"], processes().rank)
