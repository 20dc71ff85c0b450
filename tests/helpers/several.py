"""Programs of several processes that tests start, and do things to while they run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "parallel" / "programs"


class Started:
    """A program of `tests/parallel/programs` that `weft launch` runs.

    Args:
        folder: where the logs are put.
        workers: number of processes.
        command: the program's name and its arguments.
        options: of `weft launch`.
    """

    def __init__(self, folder: Path, workers: int, *command: object, options: tuple[str, ...] = ()) -> None:
        self.logs = [folder / "logs" / f"worker_{rank}.log" for rank in range(workers)]
        self._said = folder / "launcher.txt"
        program, *arguments = map(str, command)
        line = [sys.executable, "-m", "weft", "launch", "--workers", str(workers), "--log-dir", str(folder / "logs")]
        folder.mkdir(parents=True, exist_ok=True)
        with self._said.open("wb") as said:
            self.launcher = subprocess.Popen(
                [*line, *options, str(PROGRAMS / f"{program}.py"), *arguments], stdout=said, stderr=said,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self._pids: dict[int, int] = {}
        self._seen: set[int] = set()

    def said(self) -> str:
        """What the launcher printed."""
        return self._said.read_text()

    def log(self, rank: int) -> str:
        """What a process printed."""
        try:
            return self.logs[rank].read_text()
        except FileNotFoundError:  # it is not there yet, or is put aside
            return ""

    def until(self, happens: Callable[[], bool], seconds: float) -> bool:
        """Wait for something to happen; whether it did."""
        end = time.monotonic() + seconds
        self._find()
        while not happens():
            self._find()
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def pid(self, rank: int) -> int:
        """The process of a rank, which is looked for until it is there."""
        assert self.until(lambda: rank in self._pids, 30), self.said()
        return self._pids[rank]

    def _find(self) -> None:
        """Note the processes that run, by their ranks."""
        with contextlib.suppress(OSError):
            for child in Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children").read_text().split():
                self._seen.add(int(child))
                for value in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                    if value.startswith(b"RANK_ID="):
                        self._pids[int(value[8:])] = int(child)

    def send(self, rank: int, number: signal.Signals) -> None:
        """Send a signal to the process of a rank, if it is still there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid(rank), number)

    def left(self) -> list[int]:
        """The processes that are there, of the launcher and of those that it started."""
        self._find()
        found = []
        for place in Path("/proc").iterdir():
            if place.name.isdecimal():
                try:
                    fields = (place / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if fields[0] != "Z" and int(fields[3]) in self._seen:
                    found.append(int(place.name))
        return found + ([self.launcher.pid] if self.launcher.poll() is None else [])

    def end(self) -> None:
        """Kill what is there."""
        for pid in self.left():
            os.kill(pid, signal.SIGKILL)
        self.launcher.wait()
