"""Processes that compute together."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Final

from jax._src import distributed, xla_bridge
from jaxlib import _jax

#: seconds without a sign of life after which JAX ends all processes: never, who is alive is not its affair
_JAX_HEARTBEAT: Final = 10**7


def coordinator(address: str, members: int) -> Any:
    """Begin to keep what JAX tells processes of each other; it ends when nothing refers to what this returns.

    Args:
        address: host and port that members connect to.
        members: how many of them there are. One that is gone does not end the others.
    """
    host, _, port = address.rpartition(":")
    bound = address if host in ("127.0.0.1", "localhost") else f"[::]:{port}"
    return _jax.get_distributed_runtime_service(bound, members, shutdown_timeout=1, heartbeat_timeout=_JAX_HEARTBEAT)


#: how far this process is in finding the others: it has not begun, waits until all have, has reached their coordinator,
#: waits until all use their devices, has found these
APART, REACHING, REACHED, FINDING, TOGETHER = range(5)


class _Among(distributed.State):
    """What JAX reads when it looks for the devices of other processes, which takes until these do so, too."""

    def __init__(self, address: str, rank: int, count: int) -> None:
        self.coordinator_address, self.process_id, self.num_processes = address, rank, count
        self.stage = APART
        self.member: Any = None

    def connect(self, member: Any) -> None:
        """Reach the coordinator."""
        self.stage = REACHING
        member.connect()
        self.member, self.stage = member, REACHED

    @property
    def client(self) -> Any:  # type: ignore[override]
        """The connection to the coordinator."""
        self.stage = max(self.stage, FINDING)
        return self.member

    def shutdown(self) -> None:
        """Called by JAX when the process ends, which waits for no other one."""


def compute_among(address: str, rank: int, count: int, seconds: int) -> None:
    """Let the devices of several processes be those of one program, before the first computation.

    It returns when all processes have come to it. The process is aborted when it loses the coordinator.

    Args:
        address: host and port of JAX's coordinator.
        rank: number of this process.
        count: number of processes.
        seconds: how long to wait for the others.
    """
    distributed.global_state = among = _Among(address, rank, count)
    among.connect(
        _jax.get_distributed_runtime_client(
            address, rank, init_timeout=seconds, shutdown_timeout=1, heartbeat_timeout=_JAX_HEARTBEAT,
            shutdown_on_destruction=False, use_compression=True,
        )
    )  # fmt: skip


def noted_first(key: str, value: str) -> str:
    """What the first of several processes has noted under a key, which is the value if this one is that.

    Args:
        key: the same in all processes.
        value: what this one notes.
    """
    store = distributed.global_state.client
    assert store is not None
    with contextlib.suppress(Exception):  # that there is something already
        store.key_value_set(key, value)
    found: str = store.blocking_key_value_get(key, 1000)
    return found


def number_of_all(seconds: int) -> int:
    """A number that the first process drew, the same in all that compute together.

    Args:
        seconds: how long to wait for the first.
    """
    among = distributed.global_state
    assert isinstance(among, _Among)
    if among.process_id == 0:
        among.member.key_value_set("weft/number", str(int.from_bytes(os.urandom(4), "little")))
    return int(among.member.blocking_key_value_get("weft/number", seconds * 1000))


def stage() -> int:
    """How far this process is in finding the others."""
    state = distributed.global_state
    if not isinstance(state, _Among):
        return APART
    return TOGETHER if xla_bridge._backends else state.stage
