"""Programs of several processes: collectives, data parallel training."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAMS = Path(__file__).parent / "programs"


def launched(
    tmp_path: Path, workers: int, program: str, *arguments: str, options: tuple[str, ...] = ()
) -> tuple[int, list[str], str]:
    """Run a program as several processes; the exit status, the log of each, and what the launcher said."""
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK_SIZE", "WORLD_SIZE")}
    command = [sys.executable, "-m", "weft"]
    if workers > 1:
        command += ["launch", "--workers", str(workers), "--log-dir", str(tmp_path / "logs"), *options]
    else:
        command += ["run"]
    command += [str(PROGRAMS / f"{program}.py"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    logs = [(tmp_path / "logs" / f"worker_{rank}.log") for rank in range(workers if workers > 1 else 0)]
    return done.returncode, [log.read_text() for log in logs], done.stdout + done.stderr


def test_groups_messages_and_indices(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 3, "regrouping")
    assert status == 0, said
    assert all("all agree" in log for log in logs)


def test_groups_of_the_same_processes_and_threads(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "threads")
    assert status == 0, said
    assert all("all agree" in log for log in logs)


def test_threads_that_are_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_IDLE_SECONDS", "1.5")
    status, logs, said = launched(tmp_path, 2, "at_work")
    assert status == 0, said
    assert all("all agree" in log for log in logs), logs


def test_the_line_of_an_exchange_in_a_thread(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "threads", "shape")
    assert status == 1, said
    line = (PROGRAMS / "threads.py").read_text().splitlines().index("    gather(Tensor([1.0] * (1 + rank)))") + 1
    for rank in range(2):
        came = rf"rank {rank}: AllGather\(float32\[{rank + 1}\]\) \(\S*threads.py:{line}\)"
        assert all(re.search(came, log) for log in logs), logs


def test_groups_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_IDLE_SECONDS", "2")
    status, logs, said = launched(tmp_path, 2, "threads", "order")
    assert status == 1, said
    waits = r"rank 0 waits for rank 1 in AllReduce\(float32\[1\]\) op=sum among group 'metrics' of \[0, 1\]"
    assert all(re.search(waits, log) for log in logs), logs


@pytest.mark.parametrize(("workers", "sequences"), [(3, 30), pytest.param(4, 200, marks=pytest.mark.slow)])
def test_collectives_are_as_numpy_computes_them(tmp_path: Path, workers: int, sequences: int) -> None:
    status, logs, said = launched(tmp_path, workers, "collectives", str(sequences))
    assert status == 0, said
    assert all("all agree" in log for log in logs)


def test_graphs_with_exchanges(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "refusals")
    assert status == 0, said
    assert all("all agree" in log for log in logs)


def test_reports_show_exchanges(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "reported")
    assert status == 0, said
    assert all("all agree" in log for log in logs)


@pytest.mark.parametrize("program", ["children", "owned"])
def test_what_belongs_to_one_process_stays_there(program: str, tmp_path: Path) -> None:
    """What it has started takes no part, and Parameters of its own are neither reduced nor given to others."""
    status, logs, said = launched(tmp_path, 2, program)
    assert status == 0, said
    assert all("all agree" in log for log in logs)


@pytest.mark.parametrize(
    "kind",
    [
        "cell_graph_norm",
        "hand_jit",
        pytest.param("cell", marks=pytest.mark.slow),
        pytest.param("hand_norm", marks=pytest.mark.slow),
        pytest.param("model_adam", marks=pytest.mark.slow),
        pytest.param("model_graph_adam_norm", marks=pytest.mark.slow),
    ],
)
def test_data_parallel_steps_equal_those_on_whole_batches(tmp_path: Path, kind: str) -> None:
    status, _, said = launched(tmp_path, 1, "training", kind, str(tmp_path / "alone"))
    assert status == 0, said
    status, _, said = launched(tmp_path, 2, "training", kind, str(tmp_path / "two"))
    assert status == 0, said
    alone = np.load(tmp_path / "alone_0.npz")
    found = [np.load(tmp_path / f"two_{rank}.npz") for rank in range(2)]
    for name in alone:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)
        np.testing.assert_allclose(found[0][name], alone[name], atol=1e-5, err_msg=name)


def test_the_page_for_newcomers(tmp_path: Path) -> None:
    """The program of `docs/processes.md`, alone and as four processes: all print the same weights."""
    page = (Path(__file__).parents[2] / "docs" / "processes.md").read_text()
    script = tmp_path / "train.py"
    script.write_text(page.partition("```python\n")[2].partition("```")[0])
    commands = (["run", str(script)], ["launch", "--workers", "4", "--show", "all", str(script)])
    found: list[str] = []
    for command in commands:
        line = [sys.executable, "-m", "weft", *command]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        found += [line for line in done.stdout.splitlines() if line.startswith("rank ")]
    assert len(found) == 5
    shown = [line for line in page.splitlines() if line.startswith("rank ")]
    assert sorted(found) == sorted(shown)


def test_a_process_that_loads_alone_or_saves_elsewhere(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "loading_alone", str(tmp_path))
    assert status != 0
    for log in logs:
        assert "refused: save_distributed_checkpoint: process 1 writes to" in log
        assert "all have loaded" in log
        assert "load_param_into_net(" in log
        assert "loading_alone.py:45" in log
    assert "different operations" in said
