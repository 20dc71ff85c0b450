"""`weft launch`: start a program as several processes, watch them, and end all when one fails."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from weft.parallel import descendants
from weft.parallel.attendance import JOINED
from weft.parallel.coordinator import PATIENCE, Coordinator
from weft.parallel.processes import COORDINATOR, RESTARTS, coordinator
from weft.parallel.wire import Line

#: seconds that processes have to end by themselves after something went wrong, and after they were asked to
_GRACE, _ASKED = 6.0, 3.0
#: seconds between two tries to reach a coordinator that still runs the start before
_AGAIN: Final = 0.2
#: lines of its log that are shown of a process that failed
_SHOWN: Final = 20
#: bytes at the end of a log in which it says what was wrong
_END: Final = 8192
#: what the library that exchanges data prints when it begins
_NOISE: Final = "[Gloo] Rank "
#: signals that end the launcher, and with it all processes: a closed terminal sends the second
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: seconds between two looks at whether the processes are there, and at whether they compute
_TICK, _LOOK = 0.05, 0.5
#: seconds of processor time between the latter that count as computing, since signs of life take some, too
_BUSY: Final = 0.035


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

    @property
    def ranks(self) -> range:
        """The ranks of this machine."""
        return range(self.first, self.first + self.local_workers)


def launch(plan: Plan) -> int:
    """Run a plan.

    Args:
        plan: what is started.

    Returns:
        int: 0 if all processes ended with 0, else the status of the first that did not; 128 and the number of a signal
        for one that a signal ended, and where one ends the launcher; 2 if there is no place for the logs.
    """
    others = frozenset(descendants.started(os.getpid()))
    descendants.adopt(True)
    try:
        return _starts(plan, others)
    finally:
        descendants.adopt(False)


def _starts(plan: Plan, others: frozenset[int]) -> int:
    """Run a plan, beside what this process has started before."""
    status = 0
    for attempt in range(plan.restarts + 1):
        try:
            logs = _logs(plan, attempt)
        except OSError as error:
            print(f"weft launch: the logs cannot be written to {plan.log_dir} (--log-dir): {error}", file=sys.stderr)
            return 2
        try:
            run = _Run(plan, attempt, logs, others)
        except OSError as error:
            print(f"weft launch: the coordinator at {plan.address or 'a free port'}: {error}", file=sys.stderr)
            return 1
        status = run.wait()
        if status == 0 or run.interrupted or attempt == plan.restarts:
            break
        kept = f"the logs until now are kept as {plan.log_dir}/worker_*.start{attempt}.log"
        print(f"weft launch: starting again, {plan.restarts - attempt} times more at most; {kept}", file=sys.stderr)
    return status


def _logs(plan: Plan, attempt: int) -> dict[int, Path]:
    """An empty log for each process of a start. Those of the starts before are kept under other names."""
    plan.log_dir.mkdir(parents=True, exist_ok=True)
    logs = {rank: plan.log_dir / f"worker_{rank}.log" for rank in plan.ranks}
    for rank, log in logs.items():
        if attempt == 0:  # what is there is another program's
            for old in plan.log_dir.glob(f"worker_{rank}.start*.log"):
                old.unlink()
        elif log.exists():
            log.rename(log.with_name(f"worker_{rank}.start{attempt - 1}.log"))
        log.write_bytes(b"")
    return logs


class _Run:
    """One start of all processes of this machine.

    Args:
        plan: what is started.
        attempt: how many times it was started before.
        logs: those of the processes, by rank.
        others: processes that do not belong to it.

    Raises:
        OSError: the coordinator cannot be there, or be reached.
    """

    def __init__(self, plan: Plan, attempt: int, logs: dict[int, Path], others: frozenset[int]) -> None:
        self.plan, self.attempt, self.logs, self.others = plan, attempt, logs, others
        self.coordinator: Coordinator | None = None
        self.address = plan.address
        if plan.first == 0:
            self.coordinator = coordinator(self.address or "127.0.0.1:0", plan.workers, str(attempt))
            self.address = self.coordinator.address
        #: what is wrong, and with which process, if anything is
        self.fault: tuple[str, int | None] | None = None
        #: whether a signal has ended it
        self.interrupted = False
        self.line = self._watching(self.address, attempt)
        #: when they are looked at next, and the processor time that they had taken before
        self.looks_at = 0.0
        self.spent: dict[int, float] = {}
        #: they are not waited for before the end, so that their numbers stay theirs
        self.workers: dict[int, subprocess.Popen[bytes]] = {}
        self.shown = [log.open(errors="replace") for rank, log in logs.items() if rank in plan.show]

    def _watching(self, address: str, attempt: int) -> Line:
        """A connection to the coordinator, when it is there."""
        until = time.monotonic() + PATIENCE
        while True:
            line = Line(address, until - time.monotonic())
            said: queue.SimpleQueue[Any] = queue.SimpleQueue()
            line.listen(said.put, "weft-launch")
            line.send("watch", self.plan.first, self.plan.local_workers, str(attempt))
            answer = said.get()
            if answer is not None and answer[0] == "watching":
                threading.Thread(target=self._listen, args=(said,), daemon=True).start()
                return line
            line.close()  # the other launcher has not started again yet
            time.sleep(_AGAIN)

    def _listen(self, said: queue.SimpleQueue[Any]) -> None:
        while (message := said.get()) is not None:
            if message[0] == "fault":
                self.fault = message[1], message[2]

    def _start(self, rank: int) -> subprocess.Popen[bytes]:
        host, _, port = self.address.rpartition(":")
        plan, place = self.plan, str(rank - self.plan.first)
        told = {
            COORDINATOR: self.address, RESTARTS: str(self.attempt), "RANK_ID": str(rank), "RANK": str(rank),
            "RANK_SIZE": str(plan.workers), "WORLD_SIZE": str(plan.workers), "MS_WORKER_NUM": str(plan.workers),
            "MS_NODE_ID": str(rank), "MS_ROLE": "MS_WORKER", "MS_SCHED_HOST": host, "MS_SCHED_PORT": port,
            "DEVICE_ID": place, "LOCAL_RANK": place, "LOCAL_WORLD_SIZE": str(plan.local_workers),
            "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "2"),
        }  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if name != JOINED}
        with self.logs[rank].open("ab") as log:  # written to by the process itself, whatever happens to this one
            return subprocess.Popen(
                plan.command, env={**environment, **told}, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
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
        """Start all processes and wait for them; end all when one fails."""
        ending = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
        previous = {each: signal.signal(each, _terminate) for each in ending}
        try:
            for rank in self.plan.ranks:
                self.workers[rank] = self._start(rank)
            return self._watch()
        except OSError as error:
            print(f"weft launch: rank {len(self.workers)} cannot be started: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt as error:
            asked = signal.Signals(error.args[0]) if error.args else signal.SIGINT
            print(f"weft launch: interrupted by {asked.name}, ending all processes", file=sys.stderr)
            self.interrupted = True
            self._end(signal.SIGINT if asked == signal.SIGINT else signal.SIGTERM)
            return 128 + asked
        finally:
            for each, handler in previous.items():
                signal.signal(each, handler)
            if any(_status(worker) is None for worker in self.workers.values()):
                self._end(signal.SIGTERM)
            for worker in self.workers.values():
                worker.wait()
            self.line.close()
            if self.coordinator is not None:
                self.coordinator.close()
            self._show()
            for shown in self.shown:
                shown.close()

    def _watch(self) -> int:
        ended: dict[int, int] = {}
        until = float("inf")
        while len(ended) < len(self.workers) and time.monotonic() < until:
            for rank, worker in self.workers.items():
                status = None if rank in ended else _status(worker)
                if status is not None:
                    ended[rank] = status
                    self.line.send("gone", rank, _ending(status), status != 0)
            if until == float("inf") and (self.fault is not None or any(ended.values())):
                until = time.monotonic() + _GRACE
            if time.monotonic() > self.looks_at:
                self.looks_at = time.monotonic() + _LOOK
                self._see([rank for rank in self.workers if rank not in ended])
                descendants.bury({*self.others, *[worker.pid for worker in self.workers.values()]})
            self._show()
            time.sleep(_TICK)
        fault = self.fault
        late = [rank for rank in self.workers if rank not in ended]
        failed = [rank for rank, status in ended.items() if status]  # those that launch has ended say nothing new
        if not failed and not late and fault is None:
            return 0
        self._end(signal.SIGTERM)
        for rank in late:
            why = "a process failed" if fault is None else fault[0]
            self._write(rank, f"{why}\n(rank {rank} had not ended: weft launch ended it)")
        if fault is not None:
            for rank in [rank for rank in ended if not self._says(rank, *fault)]:
                self._write(rank, fault[0])
        culprit = fault[1] if fault is not None and fault[1] in self.workers else [*failed, *late, *self.workers][0]
        self._report(culprit, fault)
        status = ended[culprit] if culprit in failed else 1
        return status if status > 0 else 128 - status

    def _see(self, running: list[int]) -> None:
        """Tell which processes compute, or what they have started: they may not come to say so themselves."""
        spent = {rank: found for rank in running if (found := descendants.spent(self.workers[rank].pid)) is not None}
        if spent:
            self.line.send("seen", [rank for rank, found in spent.items() if found > self.spent.get(rank, 0) + _BUSY])
        self.spent = spent

    def _write(self, rank: int, what: str) -> None:
        """Say in the log of a process what was wrong, since it did not come to do so."""
        with self.logs[rank].open("a") as log:
            log.write(f"weft.parallel.ProcessFault: {what}\n")

    def _says(self, rank: int, what: str, of: int | None) -> bool:
        """Whether the end of a log says what was wrong, in the process that raised it as Python does."""
        first, *_ = what.splitlines()
        error = first.partition(" raised ")[2].rpartition(" (")[0] if of == rank else ""
        with self.logs[rank].open("rb") as log:
            log.seek(max(log.seek(0, os.SEEK_END) - _END, 0))
            end = log.read().decode(errors="replace")
        return first in end or (error != "" and error.partition(": ")[0] in end)

    def _report(self, rank: int, fault: tuple[str, int | None] | None) -> None:
        log, status = self.logs[rank], _status(self.workers[rank])
        if fault is not None:
            print(f"weft launch: {fault[0]}", file=sys.stderr)
        how = "" if status is None else f" {_ending(status)}"
        print(f"weft launch: rank {rank}{how}; the end of {log}:", file=sys.stderr)
        lines = [line for line in log.read_text(errors="replace").splitlines() if not line.startswith(_NOISE)]
        for line in lines[-_SHOWN:]:
            print(f"  {line}", file=sys.stderr)

    def _end(self, asked: signal.Signals) -> None:
        """End all processes, and those that they started, first by asking."""
        for how in (asked, signal.SIGKILL):
            self._send(how)
            until = time.monotonic() + _ASKED
            while self._left() and time.monotonic() < until:
                if how is signal.SIGKILL:
                    self._send(how)  # to what was started meanwhile
                time.sleep(_TICK / 5)

    def _left(self) -> bool:
        """Whether any process is still there, or any that was started by one."""
        descendants.bury({*self.others, *[worker.pid for worker in self.workers.values()]})
        return any(_status(worker) is None for worker in self.workers.values()) or bool(self._started())

    def _started(self) -> dict[int, int]:
        """What the processes have started and is still there, also in sessions of their own, with its process group."""
        own = {worker.pid for worker in self.workers.values()}
        return {
            process: group
            for process, group in descendants.groups(descendants.started(os.getpid(), self.others)).items()
            if process not in own
        }

    def _send(self, how: signal.Signals) -> None:
        """Send a signal to all processes and what they started, and let those take it that were stopped."""
        groups = [worker.pid for worker in self.workers.values()]
        for number in (how, signal.SIGCONT):
            for group in groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, number)
            for process, group in self._started().items():
                if group not in groups:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, number)


def _status(worker: subprocess.Popen[bytes]) -> int | None:
    """The status of a process that has ended, or the negative number of the signal that ended it."""
    if worker.returncode is not None:
        return worker.returncode
    found = os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _ending(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _terminate(number: int, frame: object) -> None:
    del frame
    raise KeyboardInterrupt(number)
