"""`weft launch`: start a program as several processes, watch them, and end all when one fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from weft import _jax_compat
from weft.parallel.processes import COORDINATOR

#: seconds that processes have to end by themselves after one failed, and after they were asked to
_GRACE, _ASKED = 8.0, 3.0
#: lines of its log that are shown of a process that failed
_SHOWN: Final = 20
#: what the library that exchanges data prints when it begins
_NOISE: Final = "[Gloo] Rank "
#: environment variable: how many times the program was started before
RESTARTS: Final = "WEFT_RESTARTS"
INTERRUPTED: Final = 130


@dataclass(slots=True)
class Plan:
    """What is started.

    Args:
        command: the program with its arguments.
        workers: number of processes, on all machines together.
        local_workers: number of processes on this machine.
        first: rank of the first one here.
        address: host and port of the coordinator; "" for a free port of this machine.
        log_dir: folder of the logs.
        restarts: how many times the program is started again after it failed.
        show: ranks whose output is shown, besides being logged.
    """

    command: Sequence[str]
    workers: int
    local_workers: int
    first: int = 0
    address: str = ""
    log_dir: Path = Path("logs")
    restarts: int = 0
    show: frozenset[int] = field(default_factory=lambda: frozenset({0}))


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def launch(plan: Plan) -> int:
    """Run a plan.

    Args:
        plan: what is started.

    Returns:
        int: 0 if all processes ended with 0, else the status of the first that did not; 128 and the number of a signal
        for one that a signal ended.
    """
    status = 0
    for attempt in range(plan.restarts + 1):
        status = _Run(plan, attempt).wait()
        if status in (0, INTERRUPTED) or attempt == plan.restarts:
            break
        print(f"weft launch: starting again, {plan.restarts - attempt} times more at most", file=sys.stderr)
    return status


class _Run:
    """One start of all processes of this machine."""

    def __init__(self, plan: Plan, attempt: int) -> None:
        self.plan = plan
        hosts = plan.first == 0
        address = plan.address or f"127.0.0.1:{free_port()}"
        # one member more than processes: this one, by which they are told of what happens to others
        self.coordinator: Any = _jax_compat.coordinator(address, plan.workers + 1) if hosts else None
        self.store: Any = None
        plan.log_dir.mkdir(parents=True, exist_ok=True)
        self.logs = {rank: plan.log_dir / f"worker_{rank}.log" for rank in self.ranks}
        self.workers = {rank: self._start(rank, address, attempt) for rank in self.ranks}
        self.shown = [self.logs[rank].open(errors="replace") for rank in self.ranks if rank in plan.show]
        if hosts:
            threading.Thread(target=self._connect, args=(address,), daemon=True).start()

    @property
    def ranks(self) -> range:
        return range(self.plan.first, self.plan.first + self.plan.local_workers)

    def _connect(self, address: str) -> None:
        self.store = _jax_compat.member(address, self.plan.workers, 300)

    def _start(self, rank: int, address: str, attempt: int) -> subprocess.Popen[bytes]:
        host, _, port = address.rpartition(":")
        plan, place = self.plan, str(rank - self.plan.first)
        told = {
            COORDINATOR: address, RESTARTS: str(attempt), "RANK_ID": str(rank), "RANK": str(rank),
            "RANK_SIZE": str(plan.workers), "WORLD_SIZE": str(plan.workers), "MS_WORKER_NUM": str(plan.workers),
            "MS_NODE_ID": str(rank), "MS_ROLE": "MS_WORKER", "MS_SCHED_HOST": host, "MS_SCHED_PORT": port,
            "DEVICE_ID": place, "LOCAL_RANK": place, "LOCAL_WORLD_SIZE": str(plan.local_workers),
            "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "2"),
        }  # fmt: skip
        with self.logs[rank].open("wb") as log:  # written to by the process itself, whatever happens to this one
            return subprocess.Popen(
                plan.command, env={**os.environ, **told}, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    def _show(self) -> None:
        """Show what was added to the logs that are shown."""
        for shown in self.shown:
            for line in shown:
                if not line.startswith(_NOISE):
                    sys.stdout.write(line)
        sys.stdout.flush()

    def wait(self) -> int:
        """Wait for all processes; end all when one fails."""
        previous = signal.signal(signal.SIGTERM, lambda *_: _interrupt())
        try:
            return self._watch()
        except KeyboardInterrupt:
            print("weft launch: interrupted, ending all processes", file=sys.stderr)
            self._end(signal.SIGINT)
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._end(signal.SIGTERM)
            if self.store is not None:  # before the coordinator, or the loss of that would end this process
                self.store.shutdown()
            self._show()
            for shown in self.shown:
                shown.close()

    def _watch(self) -> int:
        failed: tuple[int, int] | None = None
        until = float("inf")
        while True:
            running = [rank for rank, worker in self.workers.items() if worker.poll() is None]
            ended = [(rank, worker.returncode) for rank, worker in self.workers.items() if worker.returncode]
            if ended and failed is None:
                failed = ended[0]
                until = time.monotonic() + _GRACE
                self._tell(*failed)
            self._show()
            if not running or time.monotonic() > until:
                break
            time.sleep(0.05)
        if failed is None:
            return 0
        self._report(*failed)
        return failed[1] if failed[1] > 0 else 128 - failed[1]

    def _tell(self, rank: int, status: int) -> None:
        """Tell the others how a process ended, if it did not say so itself."""
        if self.store is None:
            return
        try:
            self.store.key_value_set("weft/fault", f"rank {rank} {_ending(status)}")
        except Exception:
            return  # it was said

    def _report(self, rank: int, status: int) -> None:
        log = self.logs[rank]
        print(f"weft launch: rank {rank} {_ending(status)}; the end of {log}:", file=sys.stderr)
        lines = [line for line in log.read_text(errors="replace").splitlines() if not line.startswith(_NOISE)]
        for line in lines[-_SHOWN:]:
            print(f"  {line}", file=sys.stderr)

    def _end(self, asked: signal.Signals) -> None:
        """End all processes that run, first by asking."""
        for how, patience in ((asked, _ASKED), (signal.SIGKILL, _ASKED)):
            for worker in self.workers.values():
                if worker.poll() is None:
                    try:
                        os.killpg(worker.pid, how)
                    except ProcessLookupError:
                        continue
            until = time.monotonic() + patience
            while any(worker.poll() is None for worker in self.workers.values()) and time.monotonic() < until:
                time.sleep(0.02)


def _ending(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _interrupt() -> None:
    raise KeyboardInterrupt
