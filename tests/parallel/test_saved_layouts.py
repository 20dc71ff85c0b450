"""Checkpoints of spread networks: from every layout to every other, by several processes, and killed while saving."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.parallel.test_processes import PROGRAMS, launched
from weft.train import load_checkpoint


def test_every_layout_loads_into_every_other(tmp_path: Path) -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    command = [sys.executable, str(PROGRAMS / "saved_layouts.py"), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, "all agree" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(("saving", "loading"), [(2, 4), pytest.param(4, 2, marks=pytest.mark.slow)])
def test_several_processes_write_their_parts(tmp_path: Path, saving: int, loading: int) -> None:
    for workers, arguments in (
        (saving, ("save", str(tmp_path))),
        (1, ("load", str(tmp_path), str(saving))),
        (loading, ("load", str(tmp_path), str(saving))),
    ):
        status, _, said = launched(tmp_path, workers, "saving", *arguments)
        assert (status, "all agree" in said) == (0, True), said
    # a process that is killed while all save leaves the checkpoint before
    status, _, said = launched(tmp_path, 2, "saving", "killed", str(tmp_path))
    assert status, said
    assert "rank 1 was ended by SIGKILL" in said
    status, _, said = launched(tmp_path, 1, "saving", "load", str(tmp_path), str(saving))
    assert (status, "all agree" in said) == (0, True), said


@pytest.mark.parametrize("form", ["folder", "ckpt", "safetensors"])
@pytest.mark.parametrize(
    "times", [1, pytest.param(50, marks=pytest.mark.slow)], ids=lambda times: f"killed {times} times"
)
def test_killed_while_saving(tmp_path: Path, form: str, times: int) -> None:
    place = tmp_path / (f"net.{form}" if form != "folder" else "net")
    chosen = random.Random(len(form))
    interrupted = 0
    for _ in range(times):
        command = [sys.executable, str(PROGRAMS / "saves_on.py"), form, str(place)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            began = time.monotonic()
            process.stdout.readline()
            time.sleep(chosen.random() * 3 * (time.monotonic() - began))
            process.kill()
            last = [2, *map(int, process.stdout.read().split())][-1]
        found = {name: value.asnumpy() for name, value in load_checkpoint(str(place)).items()}
        number = int(found.pop("number"))
        assert number in (last, last + 1)
        assert {name: value.shape for name, value in found.items()} == {f"p{i}": (64, 1024 * (i + 1)) for i in range(4)}
        assert all(np.array_equal(value, np.full_like(value, number)) for value in found.values())
        interrupted += len(list((place if form == "folder" else tmp_path).iterdir())) > (2 if form == "folder" else 1)
    assert times == 1 or interrupted  # some saves had begun
