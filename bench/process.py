"""What the process pays: import time, memory over many steps, executables of deleted functions."""

from __future__ import annotations

import compileall
import ctypes
import gc
import os
import subprocess
import sys
import time
import weakref
from typing import Any

import jax
import numpy as np

import weft
from bench.lenet import CompiledLeNet, LeNet, batch, weft_step
from bench.measure import Result, printed, row, seconds, wait

MODES = ("eager", "construct under jit", "step under jit")


@row("import weft", 1.15)
def import_time(repeat: int) -> Result:
    # as an installed package, whose bytecode is on disk
    compileall.compile_dir(os.path.dirname(weft.__file__), quiet=1)
    times: dict[str, list[float]] = {"weft": [], "jax": []}
    for _ in range(min(repeat, 9)):
        for module, found in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
            found.append(time.perf_counter() - start)
    ours, theirs = min(times["weft"]), min(times["jax"])
    return Result(ours / theirs, seconds(ours), seconds(theirs))


def resident() -> int:
    """Bytes that this process holds in memory, those that malloc keeps for later given back first."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def steps_in_memory(mode: str) -> None:
    """Print the resident bytes after 50 and after 1,050 training steps."""
    step = weft_step(CompiledLeNet if mode == "construct under jit" else LeNet)
    if mode == "step under jit":
        step = weft.jit(step)
    x, y = (weft.Tensor(array) for array in batch())
    for count in (50, 1000):
        for _ in range(count):
            loss = step(x, y)
        wait(loss)
        print(resident())


def _memory(mode: str) -> Result:
    command = f"from bench.process import steps_in_memory; steps_in_memory({mode!r})"
    # one malloc arena: otherwise each thread of the compiler's pool starts one of its own, at any time
    before, after = map(int, printed(command, MALLOC_ARENA_MAX="1").split())
    return Result(after / before, f"{after >> 20} MiB", f"{before >> 20} MiB")


for _mode in MODES:
    row(f"memory after 1,000 more steps, {_mode}", 1.02)(lambda repeat, mode=_mode: _memory(mode))


def live_executables() -> int:
    """How many compiled programs the device client holds."""
    gc.collect()
    return len(jax.devices()[0].client.live_executables())


def _use_and_drop() -> tuple[int, weakref.ref[Any]]:
    """Compile a function and its gradient and let go of them; executables seen meanwhile, and a weak reference."""
    x = weft.Tensor(np.ones(7, np.float32))

    def compute(x: Any) -> Any:
        return x * 3 + x

    function = weft.jit(compute)
    wait(function(x))
    wait(weft.grad(lambda x: function(x).sum())(x))
    return live_executables(), weakref.ref(compute)


@row("executables left by a deleted jitted function", 0.0)
def freeing(repeat: int) -> Result:
    # in a process of its own: in this one, programs of earlier rows are let go of at any time
    left, made = map(int, printed("from bench.process import left_and_made; left_and_made()").split())
    return Result(float(left), f"{left} left", f"{made} made")


def left_and_made() -> None:
    """Print how many executables a deleted function leaves, and how many it had."""
    _use_and_drop()  # leaves the executables of single operations, which stay
    before = live_executables()
    during, function = _use_and_drop()
    print(live_executables() - before + (function() is not None), during - before)
