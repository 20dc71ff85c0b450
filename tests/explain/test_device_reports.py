"""Reports on graphs that ran on several devices, whether they were compiled or found in the compile cache."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.processes import environment, weft_command

PROGRAM = Path(__file__).parent / "programs" / "device_reports.py"
CHECKS = re.findall(r"^def check_(\w+)\(", PROGRAM.read_text(encoding="utf-8"), re.MULTILINE)
#: what the processes see of the environment: they are compared with each other, whatever other tests left there
PLAIN = ("PATH", "PYTHONPATH", "HOME", "TMPDIR", "LANG")
#: found with an empty cache, and with what a process before kept: executables, then entries too
RUNS = ("compiled", "found", "kept")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    """What the checks come to, by run."""
    folder = tmp_path_factory.mktemp("spread")
    found: list[dict[str, str]] = []

    def outcome(run: str) -> dict[str, str]:
        while len(found) <= RUNS.index(run):
            variables = {"MS_COMPILER_CACHE_ENABLE": "1"} if len(found) == RUNS.index("kept") else {}
            done = subprocess.run(
                [sys.executable, str(PROGRAM), str(len(found)), str(folder)], capture_output=True, text=True,
                timeout=300, cwd=folder, check=False, env={
                    **{name: value for name, value in environment().items() if name in PLAIN}, **variables,
                    "MS_COMPILER_CACHE_PATH": str(folder / "cache"),
                    "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
                },
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            errors = json.loads(done.stdout.splitlines()[-1])
            found.append({check: error and f"{error}{done.stderr}" for check, error in errors.items()})
        return found[RUNS.index(run)]

    return outcome


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("check", CHECKS)
def test_report(run: str, check: str, outcomes: Callable[[str], dict[str, str]]) -> None:
    error = outcomes(run)[f"check_{check}"]
    assert not error, error


def test_the_command_reports_on_devices(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        """
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
import weft

mesh = jax.make_mesh((8,), ("dp",))
x = weft.Tensor(jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, PartitionSpec("dp"))))

@weft.jit
def total(x):
    return x.sum()

total(x)
"""
    )
    done = weft_command("explain", str(script), XLA_FLAGS="--xla_force_host_platform_device_count=8")
    assert "run on 8 devices, dp 8" in done.stdout, done.stdout + done.stderr
    assert f"ReduceSum at {script}:12" in done.stdout
