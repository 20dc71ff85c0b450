"""A program that ends while something is computed ends as it would have."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from weft import Tensor, jit, nn
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0), 6)
x = Tensor(np.ones((32, 8, 64), np.float32))
forward = jit(lambda x: net(x))
forward(x)
{end}
"""


@pytest.mark.parametrize("end", ["forward(x)", "y = forward(x)", "forward(x)\nraise SystemExit(3)"])
def test_what_is_computed_is_waited_for(end: str) -> None:
    for _ in range(3):  # without that, about half of the processes crash
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, text=True, check=False
        )
        assert done.returncode == (3 if "SystemExit" in end else 0), done.stderr
