"""The first step of a process: LeNet eagerly and compiled, cold and with what an earlier process left in the cache."""

from __future__ import annotations

import tempfile
import time
from typing import Any

from bench.lenet import batch, jax_step, weft_step
from bench.measure import Result, printed, row, seconds, wait

#: by name: whether weft runs it, and whether the step is compiled
SIDES = {"weft": (True, False), "weft under jit": (True, True), "jax": (False, False), "jax under jit": (False, True)}


def first_step(side: str) -> None:
    """Print the seconds that the first step of this process takes, imports, weights and data not counted."""
    if side == "loop":
        _first_loop()
        return
    ours, compiled = SIDES[side]
    x, y = batch()
    if ours:
        import weft

        step = weft.jit(weft_step()) if compiled else weft_step()
        arguments = weft.Tensor(x), weft.Tensor(y)
    else:
        import jax.numpy as jnp

        step, arguments = jax_step(compiled), (jnp.asarray(x), jnp.asarray(y))
    start = time.perf_counter()
    wait(step(*arguments))
    print(time.perf_counter() - start)


def _first_loop() -> None:
    """Print the seconds of the first call of the seeds' example of a cached function."""
    import weft

    @weft.jit
    def func(input_x: Any, input_y: Any) -> Any:
        output = input_x
        for _ in range(200):
            output = input_x + input_x * input_y + output
        return output

    x, y = weft.Tensor([1], weft.float32), weft.Tensor([2], weft.float32)
    start = time.perf_counter()
    wait(func(x, y))
    print(time.perf_counter() - start)


def _first_step(side: str, folder: str | None = None) -> float:
    """Seconds of a first step in a new process."""
    cache = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": folder} if folder else {}
    command = f"import os; os.environ.update({cache!r})\nfrom bench.starting import first_step; first_step({side!r})"
    # the package turns the cache off when it is imported, so it is imported before the variables are set
    command = f"import bench\n{command}"
    return float(printed(command))


def _compare(ours: str, theirs: str, warm: bool, repeat: int) -> Result:
    count = min(repeat, 3)
    with tempfile.TemporaryDirectory() as folder:
        if warm:
            _first_step(ours, folder)
        mine = min(_first_step(ours, folder if warm else None) for _ in range(count))
    reference = min(_first_step(theirs) for _ in range(count))
    return Result(mine / reference, seconds(mine), seconds(reference))


@row("LeNet eager, first step, nothing cached", 0.15)
def eager_cold(repeat: int) -> Result:
    return _compare("weft", "jax", False, repeat)


@row("LeNet eager, first step of the next process", 0.02)
def eager_warm(repeat: int) -> Result:
    return _compare("weft", "jax", True, repeat)


@row("LeNet step under jit, first call, nothing cached", 1.0)
def compiled_cold(repeat: int) -> Result:
    return _compare("weft under jit", "jax under jit", False, repeat)


@row("LeNet step under jit, first call of the next process", 0.5)
def compiled_warm(repeat: int) -> Result:
    return _compare("weft under jit", "jax under jit", True, repeat)


def _over_cold(side: str, repeat: int) -> tuple[float, float]:
    """Seconds of a first call that an earlier process has left everything for, and of one that finds nothing."""
    count = min(repeat, 5)
    with tempfile.TemporaryDirectory() as folder:
        cold = _first_step(side, folder)
        warm = min(_first_step(side, folder) for _ in range(count))
    return warm, cold


for _name, _side in (("LeNet step under jit", "weft under jit"), ("a loop of 200 iterations under jit", "loop")):

    @row(f"{_name}, next process, over the first", 1 / 15)
    def _entries(repeat: int, side: str = _side) -> Result:
        warm, cold = _over_cold(side, repeat)
        return Result(warm / cold, seconds(warm), seconds(cold))

    @row(f"{_name}, next process, of 50 ms", 1.0)
    def _at_all(repeat: int, side: str = _side) -> Result:
        warm, _ = _over_cold(side, repeat)
        return Result(warm / 0.05, seconds(warm), seconds(0.05))
