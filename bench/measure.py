"""How a row is measured, and the list of rows."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class Result:
    """One row's outcome.

    Args:
        ratio: what the limit applies to.
        ours: weft's figure as text.
        reference: the figure it is compared with, as text.
    """

    ratio: float
    ours: str
    reference: str


@dataclass(frozen=True)
class Row:
    """One line of the table: a name, the limit of the ratio, and how to measure it."""

    name: str
    limit: float
    measure: Callable[[int], Result]


ROWS: list[Row] = []


def row(name: str, limit: float) -> Callable[[Callable[[int], Result]], Callable[[int], Result]]:
    """Add a row; the function takes the number of repetitions."""

    def decorate(measure: Callable[[int], Result]) -> Callable[[int], Result]:
        ROWS.append(Row(name, limit, measure))
        return measure

    return decorate


def seconds(value: float) -> str:
    """A duration as text."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def steady(ours: Callable[[], Any], reference: Callable[[], Any], repeat: int) -> Result:
    """Compare two calls that were compiled before: batches of about 30 ms in turn.

    Each pair of neighbouring batches gives one ratio; the median of these is robust against a machine that
    changes speed, the best batch of each side is what is shown.
    """
    pairs = alternating(ours, reference, repeat)
    best = [min(pair[side] for pair in pairs) for side in (0, 1)]
    return Result(statistics.median(a / b for a, b in pairs), seconds(best[0]), seconds(best[1]))


def alternating(ours: Callable[[], Any], reference: Callable[[], Any], repeat: int) -> list[list[float]]:
    """The times of two calls that were compiled before, from neighbouring batches of about 30 ms."""
    counts = [_calibrate(call) for call in (ours, reference)]
    pairs = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeat):
            pairs.append([_batch(call, count) for call, count in zip((ours, reference), counts, strict=True)])
    finally:
        gc.enable()
    return pairs


def cold(ours: Callable[[int], Any], reference: Callable[[int], Any], repeat: int) -> Result:
    """Compare two first calls, each given a number that makes it new; one discarded round warms up the process."""
    times: list[list[float]] = [[], []]
    for index in range(repeat + 1):
        for side, call in enumerate((ours, reference)):
            gc.collect()
            start = time.perf_counter()
            wait(call(index + 1))
            times[side].append(time.perf_counter() - start)
    best = [min(side[1:]) for side in times]
    return Result(best[0] / best[1], seconds(best[0]), seconds(best[1]))


def wait(result: Any) -> None:
    """Wait until the arrays of a result (tensors, JAX arrays, containers of them) are there."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, (tuple, list)):
        for item in result:
            wait(item)
    elif result is not None:
        jax.block_until_ready(getattr(result, "_data", result))


def printed(command: str, **variables: str) -> str:
    """What Python code prints in a process of its own.

    Args:
        command: the code.
        variables: environment variables besides those of this process.
    """
    env = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True, env=env).stdout


def _batch(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count - 1):
        call()
    wait(call())
    return (time.perf_counter() - start) / count


def _calibrate(call: Callable[[], Any]) -> int:
    for _ in range(3):
        wait(call())
    count = 1
    while (spent := _batch(call, count) * count) < 0.015:
        count = max(count * 2, int(count * 0.02 / max(spent, 1e-9)))
    return max(1, int(count * 0.03 / spent))
