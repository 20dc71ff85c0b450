"""Stages of a pipeline: over the devices of one process, and over processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parallel.test_processes import launched
from tests.parallel.test_spread import equal_to_one_process, run
from weft.compile.schedule import Job, scheduled


@pytest.mark.parametrize(
    ("seed", "count", "steps"),
    [(0, 3, 2), pytest.param(100, 20, 100, marks=pytest.mark.slow), pytest.param(200, 60, 3, marks=pytest.mark.slow)],
)
def test_training_in_stages_equals_one_device(seed: int, count: int, steps: int) -> None:
    assert "all agree" in run("pipelined", str(seed), str(count), str(steps))


@pytest.mark.parametrize(
    ("workers", "kind"),
    [
        (2, ("jit", "2", "4", "full_batch", "1f1b")),
        pytest.param(4, ("jit", "2", "2", "data_parallel", "1f1b"), marks=pytest.mark.slow),
        pytest.param(4, ("graph", "4", "4", "full_batch", "gpipe"), marks=pytest.mark.slow),
        pytest.param(4, ("graph", "2", "4", "full_batch", "1f1b"), marks=pytest.mark.slow),
    ],
)
def test_stages_over_processes_equal_one(tmp_path: Path, workers: int, kind: tuple[str, ...]) -> None:
    equal_to_one_process(tmp_path, workers, "pipelined_processes", kind, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("workers", "rows"), [(2, "full_batch"), pytest.param(4, "data_parallel", marks=pytest.mark.slow)]
)
def test_pipelines_print_save_and_go_on(tmp_path: Path, workers: int, rows: str) -> None:
    found = {}
    for processes in (1, workers):
        folder = tmp_path / str(processes)
        folder.mkdir()
        for way in ("save", "resume"):
            status, logs, said = launched(tmp_path, processes, "pipelined_files", way, rows, str(folder))
            assert status == 0, said
            if way == "save" and processes > 1:
                printed = [{line[:10] for line in log.splitlines() if line.startswith("in stage")} for log in logs]
                each = workers // 2
                assert printed[0] == {"in stage 0"}, logs[0]
                assert printed[each] == {"in stage 1"}, logs[each]
        found[processes] = [np.load(folder / f"save_{rank}.npz") for rank in range(processes)]
        resumed = [np.load(folder / f"resume_{rank}.npz") for rank in range(processes)]
        for one, other in zip(found[processes], resumed, strict=True):
            np.testing.assert_array_equal(one["losses"][3:6], one["losses"][6:])
            np.testing.assert_array_equal(one["losses"][3:6], other["losses"])
    for name in found[1][0].files:
        for rank, one in enumerate(found[workers]):
            expected = found[1][0][name]
            if name == "result" and rows == "data_parallel":  # each process has its rows
                expected = np.split(expected, workers // 2)[rank % (workers // 2)]
            np.testing.assert_allclose(one[name], expected, rtol=1e-3, atol=1e-5, err_msg=name)


def test_what_shares_memory_with_parameters_stays_what_it_is() -> None:
    assert "all agree" in run("sharing")


def network(stages: int, batches: int) -> list[Job]:
    """Forward and backward passes of all micro batches."""
    jobs: list[Job] = []
    for micro in range(batches):
        for stage in (*range(stages), *reversed(range(stages - 1))):
            before = {len(jobs) - 1} if any(job.micro == micro for job in jobs) else set()
            jobs.append(Job(stage, micro, any((job.stage, job.micro) == (stage, micro) for job in jobs), before))
    return jobs


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
@pytest.mark.parametrize("batches", [1, 3, 8, 16])
def test_orders_of_parts(stages: int, batches: int) -> None:
    jobs = network(stages, batches)
    for scheduler in ("1f1b", "gpipe"):
        order = scheduled(jobs, stages, scheduler)
        assert sorted(order) == list(range(len(jobs)))
        place = {number: position for position, number in enumerate(order)}
        assert all(place[need] < place[number] for number, job in enumerate(jobs) for need in job.needs)
        begun = [0] * stages
        most = [0] * stages
        for number in order:
            job = jobs[number]
            last = job.stage == stages - 1
            begun[job.stage] += 0 if last else -1 if job.returns else 1
            most[job.stage] = max(most[job.stage], begun[job.stage])
        for stage in range(stages - 1):
            assert most[stage] == (min(batches, stages - stage) if scheduler == "1f1b" else batches)
