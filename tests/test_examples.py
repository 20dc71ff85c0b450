"""The programs in ``examples/`` run, and say what their introduction promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def gpt(*arguments: str) -> str:
    command = [sys.executable, EXAMPLES / "gpt.py", "--layers", "1", "--steps", "3", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_ways_to_train_a_gpt_agree() -> None:
    results: list[dict[str, Any]] = [json.loads(gpt("--way", way)) for way in ("eager", "jit", "shared")]
    for result in results:
        np.testing.assert_allclose(result["losses"], results[0]["losses"], rtol=1e-4)
    assert results[0]["losses"][-1] < results[0]["losses"][0]


@pytest.mark.slow
def test_gpt_as_a_whole(tmp_path: Path) -> None:
    text = gpt("--plot", str(tmp_path / "gpt.png"))
    assert "The losses agree." in text
    assert (tmp_path / "gpt.png").stat().st_size > 10_000
