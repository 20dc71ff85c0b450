"""A step over two processes of one device each, beside the same step written by hand in JAX over the same processes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

import weft
from bench.measure import Result, row, seconds, wait
from bench.spread import LENGTH, ROWS, WORDS, Model, by_hand
from weft import nn
from weft.context import set_auto_parallel_context
from weft.parallel import communication as comm

#: calls of each side between two times
_CALLS: Final = 4


def main(repeat: int) -> None:
    """Measure in this process, which is one of several, and print it.

    Args:
        repeat: how often.
    """
    comm.init()
    rank, count = comm.get_rank(), comm.get_group_size()
    set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="data_parallel")
    model = Model(count, 1)
    ours = weft.jit(nn.TrainOneStepCell(model, nn.Adam(model.trainable_params(), 1e-3)))
    theirs, _, rows = by_hand(count, 1)
    random = np.random.default_rng(0)
    values = [random.integers(0, WORDS, (ROWS, LENGTH)).astype(np.int32) for _ in range(2)]
    tensors = [weft.Tensor(np.split(value, count)[rank]) for value in values]
    arrays = [jax.device_put(value, rows) for value in values]
    sides: list[Callable[[], Any]] = [lambda: ours(*tensors), lambda: theirs(*arrays)]
    times: list[list[float]] = [[], []]
    for turn in range(repeat + 1):
        for side, call in enumerate(sides):
            begun = time.perf_counter()
            for _ in range(_CALLS):
                wait(call())
            if turn:
                times[side].append((time.perf_counter() - begun) / _CALLS)
    ratio = statistics.median([a / b for a, b in zip(*times, strict=True)])
    print(json.dumps([ratio, *[seconds(min(side)) for side in times]]), flush=True)


@row("2 processes: transformer of 12 blocks, data parallel", 1.05)
def transformer_data(repeat: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "weft", "launch", "--workers", "2", "--log-dir", folder]
        script = Path(folder) / "step.py"
        script.write_text(f"from bench import processes\nprocesses.main({repeat})\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        subprocess.run([*command, str(script)], check=True, capture_output=True, env=environment)
        log = (Path(folder) / "worker_0.log").read_text()
    return Result(*json.loads(next(line for line in log.splitlines() if line.startswith("[") and "Gloo" not in line)))
