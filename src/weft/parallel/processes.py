"""The processes of a program: one by itself, or as many as a launcher started, each with a rank.

A launcher says by environment variables how many there are. They are connected when weft is imported, before anything
is computed, since the devices of all of them are those of one program from then on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft import _jax_compat, lazily
from weft.context import set_processes

if TYPE_CHECKING:  # one process by itself needs none of them
    from weft.parallel import attendance, wire
    from weft.parallel import coordinator as coordinators
    from weft.parallel.attendance import Attendance
    from weft.parallel.coordinator import Coordinator
else:
    attendance = lazily.deferred("weft.parallel.attendance")
    coordinators = lazily.deferred("weft.parallel.coordinator")
    wire = lazily.deferred("weft.parallel.wire")

#: the address of the coordinator that `weft launch` runs
COORDINATOR: Final = "WEFT_COORDINATOR"
#: environment variables of launchers: how many processes there are, and which one this is
_COUNTS: Final = ("RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")
_RANKS: Final = ("RANK_ID", "RANK", "MS_NODE_ID", "OMPI_COMM_WORLD_RANK")
_LOCAL_RANKS: Final = ("DEVICE_ID", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
_LOCAL_COUNTS: Final = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
#: where the first process, or the coordinator of a launcher, can be reached
_ADDRESSES: Final = (("MASTER_ADDR", "MASTER_PORT"), ("MS_SCHED_HOST", "MS_SCHED_PORT"))
#: environment variable: how many times the program was started before
RESTARTS: Final = "WEFT_RESTARTS"


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a program.

    Args:
        rank: number of this one.
        count: how many there are.
        local_rank: number of this one among those of this machine.
        local_count: how many there are on this machine.
        attendance: by which they know of each other; None for one process, and for one that a member has started.
        seed: a number that the first drew for all: random numbers for which no seed was set are the same in each, as
            weights that all have must be; None as `attendance` is.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    local_count: int = 1
    attendance: Attendance | None = None
    seed: int | None = None


_processes = Processes()


def processes() -> Processes:
    """The processes of this program."""
    return _processes


def attending(what: str) -> Attendance:
    """By which this process meets the others.

    Args:
        what: what it meets them for, for messages.

    Raises:
        RuntimeError: it takes no part.
    """
    found = _processes
    if found.attendance is None or not found.attendance.is_of_this_process():
        raise RuntimeError(f"{what}: a process that rank {found.rank} of {found.count} has started takes no part in it")
    return found.attendance


def _number(environment: Mapping[str, str], names: tuple[str, ...], default: int) -> int:
    found = [environment[name].strip() for name in names if environment.get(name, "").strip().isdecimal()]
    return int(found[0]) if found else default


def count_by(environment: Mapping[str, str]) -> tuple[str, int]:
    """How many processes a launcher says that there are, and by which variable."""
    for name in _COUNTS:
        if environment.get(name, "").strip().isdecimal():
            return name, int(environment[name])
    return "", 1


def address_by(environment: Mapping[str, str]) -> str | None:
    """Where a launcher says that the processes meet; None if it does not."""
    if environment.get(COORDINATOR):
        return environment[COORDINATOR]
    for host, port in _ADDRESSES:
        if environment.get(host) and environment.get(port):
            return f"{environment[host]}:{environment[port]}"
    return None


def join() -> None:
    """Connect this process with the others of its program, if a launcher says that there are any and where."""
    global _processes
    _, count = count_by(os.environ)
    address = address_by(os.environ)
    if count <= 1 or address is None:
        return
    rank = _number(os.environ, _RANKS, -1)
    if not 0 <= rank < count:
        raise RuntimeError(
            f"a launcher says that {count} processes meet at {address}, but not which one this is: one of "
            f"{', '.join(_RANKS)} must be set to 0 to {count - 1}"
        )
    place = _number(os.environ, _LOCAL_RANKS, rank), _number(os.environ, _LOCAL_COUNTS, count)
    set_processes(rank=rank, count=count)
    if os.environ.get(attendance.JOINED):  # a process that a member started knows whose it is, and takes no part
        _processes = Processes(rank, count, *place)
        return
    start, launched = os.environ.get(RESTARTS, "0"), COORDINATOR in os.environ
    hosted = None if launched or rank else coordinator(address, count, start)
    try:
        member = attendance.Attendance(address, rank, start, 0 if launched else coordinators.PATIENCE, hosted)
    except OSError as error:
        raise RuntimeError(f"rank {rank} of {count} could not reach the coordinator at {address}: {error}") from None
    os.environ[attendance.JOINED] = str(os.getpid())
    patience = int(coordinators.PATIENCE)
    _jax_compat.compute_among(member.begin(), rank, count, patience)
    _processes = Processes(rank, count, *place, member, _jax_compat.number_of_all(patience))


def coordinator(address: str, count: int, start: str) -> Coordinator:
    """Begin to coordinate the processes of a program.

    Args:
        address: host and port at which they reach it; port 0 for a free one.
        count: how many there are.
        start: which start of the program this is.
    """
    place = f"{wire.parted(address)[0]}:{wire.free_port()}"
    return coordinators.Coordinator(address, count, place, start, _jax_compat.coordinator(place, count))
