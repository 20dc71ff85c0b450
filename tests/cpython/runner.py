"""Runs files of the `test` package, each in its own process, and collects the verdicts."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class FileResult:
    """What happened to the tests of one file.

    Args:
        file: name of the module.
        verdicts: one record a test, as `tests.cpython.outcomes.Verdict` has it.
        seconds: how long it took.
    """

    file: str
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, how: str) -> int:
        """How many tests were captured in a way."""
        return sum(v["how"] == how and not v["differs"] for v in self.verdicts)

    @property
    def differing(self) -> list[dict[str, Any]]:
        """The tests with another outcome than in Python."""
        return [v for v in self.verdicts if v["differs"]]


def run_file(file: str, limit: float = 120.0, seed: str = "", only: str = "") -> FileResult:
    """Run the tests of one file.

    Args:
        file: name of the module within the `test` package.
        limit: seconds that one test may take.
        seed: inserts NOPs at random if not empty.
        only: run tests only whose names contain this.

    Returns:
        FileResult: the verdicts; a crash or a hang is one that differs.
    """
    result = FileResult(file)
    begun = time.monotonic()
    skip = 0
    while skip >= 0:
        skip = _run_from(result, skip, limit, seed, only)
    result.seconds = time.monotonic() - begun
    return result


def _run_from(result: FileResult, skip: int, limit: float, seed: str, only: str) -> int:
    """Run tests behind the first `skip`; returns how many to skip in the next process, -1 if all are done."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "JAX_PLATFORMS": "cpu",
        "PYTHONHASHSEED": "0",
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.cpython.child", result.file, str(skip), seed, only],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    )
    assert child.stdout is not None
    running: dict[str, Any] | None = None
    pending = b""
    deadline = time.monotonic() + limit + 30.0  # the imports
    try:
        while True:
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return _ended(result, running, f"no end within {limit:g} seconds")
            read = os.read(child.stdout.fileno(), 1 << 16)
            if not read:
                break
            deadline = time.monotonic() + limit
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                record = json.loads(line)
                if "start" in record:
                    running = record
                else:
                    result.verdicts.append(record)
                    running = None
        status = child.wait()
        if running is not None or status:
            return _ended(result, running, f"the process ended with status {status}")
        return -1
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def _ended(result: FileResult, running: dict[str, Any] | None, why: str) -> int:
    """Record a crash or hang; returns how many tests to skip from now on."""
    test = "<import>" if running is None else running["start"]
    result.verdicts.append(
        {"test": test, "plain": [], "captured": [], "how": "whole", "reason": "", "differs": why, "flaky": False}
    )
    return -1 if running is None else running["number"] + 1
