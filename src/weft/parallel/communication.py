"""`mindspore.communication`: who takes part, who this process is, and groups.

Example:
    >>> init()
    >>> get_rank(), get_group_size()
    (0, 1)
    >>> create_group("first", [0])
    >>> get_process_group_ranks("first")
    [0]
    >>> release()
"""

from __future__ import annotations

from typing import Any

from weft.parallel import world
from weft.parallel.processes import processes
from weft.parallel.world import (
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    GlobalComm,
    SeveralProcesses,
    members_of,
    need_begun,
    rank_id,
    ranks_of,
    text,
)

__all__ = [
    "GlobalComm", "HCCL_WORLD_COMM_GROUP", "MCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "create_group",
    "destroy_group", "get_backend", "get_comm_name", "get_group_rank_from_world_rank", "get_group_size",
    "get_local_rank", "get_local_rank_size", "get_process_group_ranks", "get_rank", "get_world_rank_from_group_rank",
    "init", "is_initialized", "release",
]  # fmt: skip


def init(backend_name: str | None = None) -> None:
    """Begin to communicate.

    Args:
        backend_name: ``"hccl"``, ``"nccl"`` or ``"mccl"``; None for the one that fits the device target.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such backend, or the environment says that there are other processes.
    """
    world.begin(backend_name)


def release() -> None:
    """End what `init` began."""
    world.end()


def is_initialized() -> bool:
    """Whether `init` was called, and not `release` after it."""
    return GlobalComm.INITED


def _ranks(who: str, group: Any) -> tuple[int, ...]:
    """The ranks of a group; before `init` every group is all processes."""
    return ranks_of(who, group if GlobalComm.INITED or not text(who, "group", group) else "")


def get_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """The number of this process in a group.

    Args:
        group: name of the group.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group, or this process is not in it.
    """
    _ranks("get_rank", group)
    return members_of("get_rank", group if GlobalComm.INITED else "").ranks.index(processes().rank)


def get_local_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """The number of this process among those of its machine.

    Args:
        group: name of the group.
    """
    _ranks("get_local_rank", group)
    return processes().local_rank


def get_group_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes are in a group.

    Args:
        group: name of the group.
    """
    return len(_ranks("get_group_size", group))


def get_local_rank_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes are on this machine, at most as many as are in a group.

    Args:
        group: name of the group.
    """
    return min(len(_ranks("get_local_rank_size", group)), processes().local_count)


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number among all processes of a process in a group.

    Args:
        group: name of the group.
        group_rank_id: its number in the group.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: before `init`, or there is no such group or process.
    """
    who = "get_world_rank_from_group_rank"
    text(who, "group", group)
    position = rank_id(who, "group_rank_id", group_rank_id)
    need_begun(who)
    ranks = ranks_of(who, group)
    if not 0 <= position < len(ranks):
        raise SeveralProcesses(f"{who}: group {group!r} has no rank {position}")
    return ranks[position]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The number in a group of a process.

    Args:
        world_rank_id: its number among all processes.
        group: name of the group.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: before `init`, or there is no such group or process.
    """
    who = "get_group_rank_from_world_rank"
    text(who, "group", group)
    rank = rank_id(who, "world_rank_id", world_rank_id)
    need_begun(who)
    ranks = ranks_of(who, group)
    if rank not in ranks:
        raise SeveralProcesses(f"{who}: rank {rank} is not in group {group!r}")
    return ranks.index(rank)


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Make a group of processes.

    Args:
        group: its name.
        rank_ids: their numbers.
        options: accepted.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number is there twice, or none is.
        RuntimeError: before `init`, or there are no such processes.
    """
    del options
    text("create_group", "group", group)
    need_begun("create_group")
    world.add_group(group, rank_ids)


def destroy_group(group: str) -> None:
    """Take a group away that `create_group` made.

    Args:
        group: its name.

    Raises:
        TypeError: the name is no string.
        ValueError: it is the group of all processes.
        RuntimeError: before `init`, or there is no such group.
    """
    text("destroy_group", "group", group)
    need_begun("destroy_group")
    world.remove_group(group)


def get_process_group_ranks(group: str = HCCL_WORLD_COMM_GROUP) -> list[int]:
    """The numbers of the processes in a group.

    Args:
        group: its name.

    Raises:
        TypeError: the name is no string.
        RuntimeError: before `init`, or there is no such group.
    """
    text("get_process_group_ranks", "group", group)
    need_begun("get_process_group_ranks")
    return list(ranks_of("get_process_group_ranks", group))


def get_comm_name(group: str = HCCL_WORLD_COMM_GROUP) -> str:
    """The name by which the communication library knows a group.

    Args:
        group: its name.
    """
    text("get_comm_name", "group", group)
    need_begun("get_comm_name")
    ranks_of("get_comm_name", group)
    return group


def get_backend(group: str = HCCL_WORLD_COMM_GROUP) -> str:
    """The library that exchanges the data of a group.

    Args:
        group: its name.
    """
    text("get_backend", "group", group)
    need_begun("get_backend")
    ranks_of("get_backend", group)
    return GlobalComm.BACKEND
