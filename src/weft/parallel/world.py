"""Who takes part in a program: its processes, and the groups of them that the program names."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from weft.context import get_context, note
from weft.parallel.groups import Group
from weft.parallel.processes import count_by, processes

HCCL_WORLD_COMM_GROUP: Final = "hccl_world_group"
NCCL_WORLD_COMM_GROUP: Final = "nccl_world_group"
MCCL_WORLD_COMM_GROUP: Final = "mccl_world_group"
#: names of the group of all processes
WORLD_GROUPS: Final = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
#: names of the libraries that exchange data, each with that of its group of all processes
BACKENDS: Final = {"hccl": HCCL_WORLD_COMM_GROUP, "nccl": NCCL_WORLD_COMM_GROUP, "mccl": MCCL_WORLD_COMM_GROUP}
#: the library that MindSpore chooses for a device target
_BACKEND_OF: Final = {"Ascend": "hccl", "GPU": "nccl"}


class SeveralProcesses(RuntimeError):
    """A program asked for more processes than it has."""

    def __init__(self, what: str) -> None:
        count = processes().count
        has = "one process, rank 0 of 1" if count == 1 else f"{count} processes"
        super().__init__(f"{what}; this program runs in {has}: `weft launch --workers N SCRIPT` starts N")


class GlobalComm:
    """What is known of the communication of all processes.

    Example:
        >>> GlobalComm.WORLD_COMM_GROUP in WORLD_GROUPS
        True
    """

    #: the library that exchanges data
    BACKEND: ClassVar[str] = "hccl"
    #: name of the group of all processes
    WORLD_COMM_GROUP: ClassVar[str] = HCCL_WORLD_COMM_GROUP
    #: whether `init` was called
    INITED: ClassVar[bool] = False
    #: accepted: whether environment variables are checked
    CHECK_ENVS: ClassVar[bool] = True


#: the groups that the program made, with the ranks in them
_groups: dict[str, tuple[int, ...]] = {}


def begin(backend: str | None) -> None:
    """Begin to communicate.

    Args:
        backend: name of the library, None for that of the device target.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such library.
        SeveralProcesses: the environment says that there are other processes, but not where they meet.
    """
    if backend is None:
        backend = _BACKEND_OF.get(get_context("device_target"), "mccl")
    if not isinstance(backend, str):
        raise TypeError(f"init: backend_name must be a str, not {type(backend).__name__}")
    if backend not in BACKENDS:
        raise RuntimeError(f"init: backend_name must be one of 'hccl', 'nccl', 'mccl', not {backend!r}")
    name, count = count_by(os.environ)
    if count > 1 and processes().count == 1:
        raise SeveralProcesses(
            f"the environment variable {name} says that {count} processes take part, but not where they meet"
        )
    GlobalComm.BACKEND = backend
    GlobalComm.WORLD_COMM_GROUP = BACKENDS[backend]
    GlobalComm.INITED = True
    _note()


def end() -> None:
    """Communicate no more; the program's groups are gone."""
    _groups.clear()
    GlobalComm.INITED = False
    _note()


def _note() -> None:
    """Compiled code is for those who take part now."""
    groups = [f"group {name} of {list(ranks)}" for name, ranks in _groups.items()]
    note("communication", (f"group {GlobalComm.WORLD_COMM_GROUP}", *groups) if GlobalComm.INITED else ())


def need_begun(who: str) -> None:
    """Refuse a call before `begin`.

    Raises:
        RuntimeError: communication has not begun.
    """
    if not GlobalComm.INITED:
        raise RuntimeError(f"{who}: communication has not begun; call mindspore.communication.init() first")


def text(who: str, what: str, value: Any) -> str:
    """An argument that is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{who}: {what} must be a str, not {type(value).__name__}")
    return value


def rank_id(who: str, what: str, value: Any) -> int:
    """An argument that is the number of a process."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{who}: {what} must be an int, not {type(value).__name__}")
    return value


def ranks_of(who: str, group: Any) -> tuple[int, ...]:
    """The ranks in a group.

    Args:
        who: the function that asks, for messages.
        group: name of the group; "" for that of all processes.

    Raises:
        TypeError: the name is no string.
        RuntimeError: there is no such group.
    """
    if text(who, "group", group) in WORLD_GROUPS or not group:
        return tuple(range(processes().count))
    if group not in _groups:
        known = ", ".join(map(repr, [GlobalComm.WORLD_COMM_GROUP, *_groups]))
        raise RuntimeError(f"{who}: there is no group {group!r}; there are {known}")
    return _groups[group]


def members_of(who: str, group: Any) -> Group:
    """A group that this process is in.

    Args:
        who: the function that asks, for messages.
        group: name of the group; "" for that of all processes.

    Raises:
        RuntimeError: there is no such group, or this process is not in it.
    """
    ranks = ranks_of(who, group)
    if processes().rank not in ranks:
        raise RuntimeError(f"{who}: rank {processes().rank} is not in group {group!r} of the ranks {list(ranks)}")
    return Group("" if group in WORLD_GROUPS else group, ranks)


def known_rank(who: str, what: str, value: Any) -> int:
    """An argument that is the number of a process that there is.

    Raises:
        TypeError: it is no int.
        SeveralProcesses: there is no such process.
    """
    return position_in(who, what, rank_id(who, what, value), range(processes().count))


def one_for_each(who: str, what: str, given: int, ranks: Sequence[int]) -> None:
    """Refuse other numbers of things than one for each process.

    Args:
        who: the function that asks, for messages.
        what: the things.
        given: how many there are.
        ranks: the processes.

    Raises:
        SeveralProcesses: it is another number.
    """
    if given != len(ranks):
        raise SeveralProcesses(f"{who}: {given} {what} are for as many processes, not for {list(ranks)}")


def position_in(who: str, what: str, rank: int, ranks: Sequence[int]) -> int:
    """The place of a rank among others.

    Args:
        who: the function that asks, for messages.
        what: the argument.
        rank: the rank.
        ranks: the others.

    Raises:
        SeveralProcesses: it is not among them.
    """
    if rank not in ranks:
        raise SeveralProcesses(f"{who}: {what}={rank} is not one of the ranks {list(ranks)}")
    return ranks.index(rank)


def add_group(group: Any, ranks: Sequence[int]) -> None:
    """Make a group.

    Args:
        group: its name.
        ranks: who is in it.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: nobody is in it, one rank is in it twice, or there is another group of that name.
        SeveralProcesses: a rank is in it that there is not.
    """
    if not isinstance(ranks, (list, tuple)):
        raise TypeError(f"create_group: rank_ids must be a list, not {type(ranks).__name__}")
    chosen = tuple([rank_id("create_group", "each of rank_ids", rank) for rank in ranks])
    if not chosen or len(set(chosen)) != len(chosen):
        raise ValueError(f"create_group: rank_ids must hold different ranks, and at least one; not {list(chosen)}")
    if not set(chosen).issubset(range(processes().count)):
        raise SeveralProcesses(f"create_group: a group of the ranks {list(chosen)} needs other processes")
    if group in WORLD_GROUPS:
        raise ValueError(f"create_group: {group!r} is the group of all processes")
    _groups[group] = chosen
    _note()


def unused_name(name: str) -> str:
    """A name that no group has, the same in all processes that make the same groups.

    Args:
        name: how it begins.
    """
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(each for each in names if each not in _groups)


def remove_group(group: str) -> None:
    """Take a group away that the program made.

    Raises:
        ValueError: it is that of all processes.
        RuntimeError: there is no such group.
    """
    if group in WORLD_GROUPS:
        raise ValueError(f"destroy_group: {group!r} is the group of all processes, which stays")
    ranks_of("destroy_group", group)
    del _groups[group]
    _note()
