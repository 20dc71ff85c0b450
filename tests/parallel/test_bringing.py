"""Calls into compiled code in several processes, each of which brings its rows of a batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parallel.test_processes import launched


@pytest.mark.parametrize(
    ("workers", "way"),
    [
        (2, "jit"),
        (2, "taped"),
        pytest.param(4, "graph", marks=pytest.mark.slow),
        pytest.param(2, "wrapped", marks=pytest.mark.slow),
        pytest.param(4, "eager", marks=pytest.mark.slow),
        pytest.param(4, "taped", marks=pytest.mark.slow),
    ],
)
def test_each_process_gets_the_results_for_its_rows(tmp_path: Path, workers: int, way: str) -> None:
    for count, name in ((1, "alone"), (workers, "many")):
        status, _, said = launched(tmp_path, count, "bringing", way, str(tmp_path / name))
        assert status == 0, said
    expected = np.load(tmp_path / "alone_0.npz")
    for rank in range(workers):
        found = np.load(tmp_path / f"many_{rank}.npz")
        for name in expected.files:
            value = expected[name]
            if name.startswith("out"):
                value = np.split(value, workers)[rank]
            np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def test_weights_for_which_no_seed_was_set_are_the_same_in_all_processes(tmp_path: Path) -> None:
    program = tmp_path / "unseeded.py"
    program.write_text(
        "import sys, numpy as np, weft\n"
        "from weft import nn\n"
        "from weft.parallel import communication as comm\n"
        "comm.init()\n"
        "net, more = nn.Dense(3, 2), nn.Dense(3, 2)\n"
        "assert (net.weight.asnumpy() != more.weight.asnumpy()).all()\n"
        "drawn = weft.ops.randn(3)\n"
        "np.savez(f'{sys.argv[1]}_{comm.get_rank()}.npz', weight=net.weight.asnumpy(), drawn=drawn.asnumpy())\n"
    )
    weights = []
    for run in ("first", "second"):
        status, _, said = launched(tmp_path, 2, str(program.with_suffix("")), str(tmp_path / run))
        assert status == 0, said
        found = [np.load(tmp_path / f"{run}_{rank}.npz") for rank in range(2)]
        for name in ("weight", "drawn"):
            np.testing.assert_array_equal(found[0][name], found[1][name])
        weights.append(found[0]["weight"])
    assert (weights[0] != weights[1]).any()
