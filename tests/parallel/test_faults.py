"""What goes wrong in one of several processes is a named error on all, soon, and checkpoints stay whole."""

from __future__ import annotations

import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.several import Started
from weft.train.serialization import load_checkpoint

#: seconds after a fault within which all processes are gone
SOON = 15.0
#: what goes wrong, what all other processes say of it, and the status of the launcher
FAULTS = {
    "killed": ("rank 1 was ended by SIGKILL .last seen at .*faults.py:", 137),
    "terminated": ("rank 1 was ended by SIGTERM .last seen at .*faults.py:", 143),
    "stopped": ("rank 1 gives no sign of life since 6 s; rank .* waits for it in AllReduce", 1),
    "crashes": ("rank 1 was ended by SIGSEGV .last seen at .*faults.py:", 139),
    "aborts": ("rank 1 was aborted; it was at .*faults.py:", 1),
    "raises": ("rank 1 raised ValueError: bad data .*faults.py:", 1),
    "raises_beside_threads": ("rank 1 raised ValueError: bad data .*faults.py:", 1),
    "thread": ("rank 1 does nothing since 10 s, at .*faults.py:", 1),
    "ends": ("rank 1 has ended; rank .* waits for it in AllReduce", 1),
    "ends_at_once": ("rank 1 has ended; rank .* waits for it in AllReduce", 1),
    "status": ("rank 1 ended with status 3 .last seen at .*faults.py:", 3),
    "status_at_once": ("rank 1 ended with status 4 .last seen at .*faults.py:", 4),
    "sleeps": ("rank 1 does nothing since 3 s, at .*faults.py:", 1),
    "spins": ("rank 1 does not come since 4 s, it is at .*faults.py:", 1),
    "shape": (r"AllReduce\(float32\[2, 5\]\)", 1),
    "dtype": (r"AllReduce\(int64\[2, 4\]\)", 1),
    "operation": (r"AllGather\(float32\[2, 4\]\)", 1),
    "reduction": ("op=max", 1),
    "order": ("the processes came to exchange|the processes wait for each other", 1),
    "skips": ("different operations", 1),
    "launcher": ("the coordinator at .* is gone", -9),
    "disk": ("rank 1 raised OSError: .*File too large .*faults.py:", 1),
}
SHORT = ("killed", "stopped", "raises", "ends", "sleeps", "shape", "order", "launcher")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[object]:
    started = []

    def begin(*arguments: object, **options: object) -> Started:
        started.append(Started(tmp_path, *arguments, **options))
        return started[-1]

    yield begin
    for each in started:
        each.end()


@pytest.mark.parametrize("how", [how if how in SHORT else pytest.param(how, marks=pytest.mark.slow) for how in FAULTS])
def test_a_process_that_fails_is_a_named_error_on_all(how: str, tmp_path: Path, start, monkeypatch) -> None:
    if how == "spins":
        monkeypatch.setenv("WEFT_EXCHANGE_SECONDS", "4")
    options = ("--timeout", "3") if how in ("sleeps", "order") else ()
    program = start(3, "faults", 1, how, tmp_path, options=options)
    assert program.until(lambda: "step 4" in program.log(1), 60), program.log(1)
    began = time.monotonic()
    assert program.until(lambda: not program.left(), SOON), [program.log(rank) for rank in range(3)]
    print(f"{how}: {time.monotonic() - began:.1f} s, {program.launcher.returncode}\n{program.said()}")
    words, status = FAULTS[how]
    assert program.launcher.returncode == status, program.said()
    alive = (0, 1, 2) if how in ("shape", "dtype", "operation", "reduction", "order", "skips", "launcher") else (0, 2)
    for rank in alive:
        log = program.log(rank)
        assert re.search(f"ProcessFault: .*({words})", log, re.DOTALL), (rank, log)
        assert re.search('faults.py(:|", line )', log), (rank, log)
    for rank in range(3):
        assert load_checkpoint(str(tmp_path / f"net_{rank}.ckpt"))


#: moments of a program: what a process has printed then, and a time after that
MOMENTS = {"": 3.0, "starts": 1.0, "begins": 1.0, "step": 0.03, "saves": 0.01, "done": 0.15}


@pytest.mark.parametrize(
    "seed", [seed if seed in (0, 1, 3, 4) else pytest.param(seed, marks=pytest.mark.slow) for seed in range(50)]
)
def test_a_process_killed_at_any_moment(seed: int, tmp_path: Path, start) -> None:
    choose = random.Random(seed)
    kind, moment = choose.choice(("cell", "model")), list(MOMENTS)[seed % len(MOMENTS)]
    rank, wait = choose.randrange(4), choose.random() * MOMENTS[moment]
    if moment == "saves":
        kind, rank = "cell", 0
    words = f"step {choose.randrange(1, 24)}\n" if moment == "step" else moment
    program = start(4, "resumed", kind, tmp_path, 24)
    assert program.until(lambda: words in program.log(rank), 60), program.log(rank)
    program.until(lambda: False, wait)
    program.send(rank, signal.SIGKILL)
    began = time.monotonic()
    assert program.until(lambda: not program.left(), SOON), [program.log(rank) for rank in range(4)]
    print(f"seed {seed}: rank {rank} {wait:.2f} s after {words!r}, {time.monotonic() - began:.1f} s\n{program.said()}")
    logs = [program.log(rank) for rank in range(4)]
    assert program.launcher.returncode == 137 or all("done" in log for log in logs), program.said()
    for each, log in enumerate(logs):
        if each != rank and "done" not in log:
            assert re.search(f"ProcessFault: rank {rank} was ended by SIGKILL", log), (each, log)
            assert moment == "" or "resumed.py" in log, (each, log)
    saved = sorted(tmp_path.glob("*.ckpt"), key=lambda path: path.stat().st_mtime)
    assert saved or "step 8" not in logs[0]
    for path in saved:
        assert len(load_checkpoint(str(path))) > 4


@pytest.mark.parametrize("kind", ["cell", pytest.param("model", marks=pytest.mark.slow)])
def test_what_goes_on_from_checkpoints_ends_where_an_undisturbed_run_does(kind: str, tmp_path: Path, start) -> None:
    folders = [tmp_path / "whole", tmp_path / "killed"]
    for folder in folders:
        folder.mkdir()
    whole = start(2, "resumed", kind, folders[0], 24)
    assert whole.until(lambda: whole.launcher.poll() is not None, 120)
    assert whole.launcher.returncode == 0, whole.said()
    killed = start(2, "resumed", kind, folders[1], 24, options=("--restarts", "3"))
    for rank, words in ((0, "begins after step 0\n"), (1, "step 7\n"), (0, "step 18\n")):
        assert killed.until(lambda: words in killed.log(rank), 60), (words, killed.said())
        killed.send(rank, signal.SIGKILL)
    assert killed.until(lambda: killed.launcher.poll() is not None, 120)
    assert killed.launcher.returncode == 0, killed.said()
    assert killed.said().count("starting again") == 3
    assert "begins after step 16\n" in killed.log(1)
    for rank in range(2):
        found, wanted = [np.load(folder / f"weights_{rank}.npz") for folder in (folders[1], folders[0])]
        assert list(found) == list(wanted)
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)
