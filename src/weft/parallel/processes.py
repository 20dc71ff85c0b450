"""The processes of a program: one by itself, or as many as a launcher started, each with a rank.

A launcher says by environment variables how many there are. They are connected when weft is imported, before anything
is computed, since the devices of all of them are those of one program from then on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft import _jax_compat
from weft.context import set_processes
from weft.parallel.attendance import Attendance

#: the address of the coordinator that `weft launch` runs
COORDINATOR: Final = "WEFT_COORDINATOR"
#: environment variables of launchers: how many processes there are, and which one this is
_COUNTS: Final = ("RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")
_RANKS: Final = ("RANK_ID", "RANK", "MS_NODE_ID", "OMPI_COMM_WORLD_RANK")
_LOCAL_RANKS: Final = ("DEVICE_ID", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
_LOCAL_COUNTS: Final = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
#: where the first process, or the coordinator of a launcher, can be reached
_ADDRESSES: Final = (("MASTER_ADDR", "MASTER_PORT"), ("MS_SCHED_HOST", "MS_SCHED_PORT"))
#: seconds until all processes must be there
_PATIENCE: Final = 300
#: where the seed of all is
_SEED: Final = "weft/seed"


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a program.

    Args:
        rank: number of this one.
        count: how many there are.
        local_rank: number of this one among those of this machine.
        local_count: how many there are on this machine.
        attendance: by which they know of each other; None for one process.
        seed: a number that the first drew for all: random numbers for which no seed was set are the same in each, as
            weights that all have must be; None for one process.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    local_count: int = 1
    attendance: Attendance | None = None
    seed: int | None = None


_processes = Processes()
#: what coordinates the processes, in that which does so
_coordinator: Any = None


def processes() -> Processes:
    """The processes of this program."""
    return _processes


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
    global _processes, _coordinator
    _, count = count_by(os.environ)
    address = address_by(os.environ)
    if count <= 1 or address is None or _processes.attendance is not None:
        return
    rank = _number(os.environ, _RANKS, -1)
    if not 0 <= rank < count:
        raise RuntimeError(
            f"a launcher says that {count} processes meet at {address}, but not which one this is: one of "
            f"{', '.join(_RANKS)} must be set to 0 to {count - 1}"
        )
    if COORDINATOR not in os.environ and rank == 0:
        _coordinator = _jax_compat.coordinator(address, count)
    try:
        store = _jax_compat.member(address, rank, _PATIENCE)
    except Exception as error:
        raise RuntimeError(f"rank {rank} of {count} could not reach the others at {address}: {error}") from None
    _jax_compat.compute_among(store, address, rank, count)
    attendance = Attendance(store, rank, count, keeps_others=_coordinator is not None)
    if rank == 0:
        store.key_value_set(_SEED, str(int.from_bytes(os.urandom(4), "little")))
    _processes = Processes(
        rank=rank,
        count=count,
        local_rank=_number(os.environ, _LOCAL_RANKS, rank),
        local_count=_number(os.environ, _LOCAL_COUNTS, count),
        attendance=attendance,
        seed=int(store.blocking_key_value_get(_SEED, _PATIENCE * 1000)),
    )
    set_processes(rank=rank, count=count)
    attendance.begin(address)
