"""Memory while a compiled function meets ever new shapes."""

from __future__ import annotations

import subprocess
import sys

import jax
import numpy as np
import pytest

import weft
from weft import Tensor
from weft._jax_compat import compiled_programs
from weft.compile import compilations
from weft.core import primitive as primitive_module
from weft.core.primitive import Primitive

PROGRAM = """
import gc, logging, sys
import numpy as np
import weft
from weft import Tensor

logging.disable(logging.CRITICAL)
first, last = int(sys.argv[1]), int(sys.argv[2])
function = weft.jit(lambda x: (x * 2 + 1).sum())
weft.set_context(jit_cache_limit=int(sys.argv[3]))


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


for size in range(last, 0, -1):  # the largest first: for larger arrays XLA itself keeps more
    assert function(Tensor(np.ones(size, np.float32))).item() == 3 * size
    if last - size == first:
        before = resident()
print(resident() / before)
"""


def growth(first: int, last: int, limit: int) -> float:
    """By which factor resident memory grows from one number of shapes to another."""
    command = [sys.executable, "-c", PROGRAM, str(first), str(last), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=True)
    return float(done.stdout)


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@needs_proc
@pytest.mark.slow
def test_two_thousand_shapes() -> None:
    assert growth(200, 2000, 128) < 1.05


@needs_proc
def test_a_hundred_shapes_above_the_limit() -> None:
    assert growth(50, 150, 4) < 1.15


def test_a_tensor_of_a_new_shape_compiles_nothing() -> None:
    Tensor(np.ones(3, np.float32))
    heard: list[compilations.Compilation] = []
    compilations.listeners.append(heard.append)
    try:
        for size in range(1000, 1010):
            Tensor(np.ones(size, np.float32))
            weft.Parameter(np.ones((2, size)))
    finally:
        compilations.listeners.remove(heard.append)
    assert heard == []


def test_operations_run_alone_keep_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ever new shapes and attributes, forwards and backwards: what is compiled for old ones is dropped."""
    monkeypatch.setattr(primitive_module, "PROGRAMS", 12)
    monkeypatch.setattr(primitive_module, "_COUNTED", 1)
    reshape, add = Primitive.table["Reshape"], Primitive.table["Add"]
    gradient = weft.grad(lambda x: (x.reshape((1, -1)) + 1).sum())
    for size in range(1, 30):
        np.testing.assert_array_equal(gradient(Tensor(np.ones(size, np.float32))).asnumpy(), np.ones(size, np.float32))
        assert len(reshape.executables) <= 13
        assert sum(compiled_programs(run) for run in [*add.executables.values(), *add.pullbacks.values()]) <= 13
    three = Tensor(np.ones(3, np.float32))
    np.testing.assert_array_equal((three + three).asnumpy(), np.full(3, 2, np.float32))  # compiled again


def test_operations_of_jax_stay_compiled() -> None:
    """A program may use JAX beside us, operation by operation: what we forget of tracing is not what it needs."""
    x = jax.numpy.ones(3)
    made: list[compilations.Compilation] = []
    compilations.listeners.append(made.append)
    counts = []
    try:
        for _ in range(4):
            made.clear()
            for exponent in range(2, 9):
                for mantissa in range(1, 23):
                    jax.lax.reduce_precision(x, exponent, mantissa)
            counts.append(len(made))
    finally:
        compilations.listeners.remove(made.append)
    assert counts == [154, 0, 0, 0]
