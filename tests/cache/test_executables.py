"""Compiled programs in the next process: loaded, equal, and never those of another program."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.processes import python
from weft import context
from weft.cache import executables
from weft.cache.files import Files, _unpacked

PROGRAM = """
import json, sys
import jax
hits = []
jax.monitoring.register_event_listener(lambda event, **facts: hits.append(event))
import numpy as np
from weft import Parameter, Tensor, jit, nn, value_and_grad, set_context, set_seed
EXTRA
set_seed(3)
net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2))
weights = net.trainable_params()
optimizer = nn.Momentum(weights, 0.1, 0.9)
said = []

def step(x, scale):
    def loss(x):
        print("loss of", x.sum())
        return (net(x) ** 2).mean() * SCALE * scale
    value, gradients = value_and_grad(loss, None, weights)(x)
    optimizer(gradients)
    return value

run = jit(step) if MODE == "jit" else step
x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
found = [float(run(x * (i + 1), 0.5)) for i in range(3)]
counts = [sum(event.endswith(name) for event in hits) for name in ("cache_hits", "cache_misses")]
print(json.dumps([found, [w.asnumpy().tolist() for w in weights], *counts]))
"""


def result_of(folder: Path, mode: str = "jit", scale: str = "1.0", extra: str = "", **variables: str) -> list[Any]:
    source = PROGRAM.replace("MODE", repr(mode)).replace("SCALE", scale).replace("EXTRA", extra)
    variables = {"MS_COMPILER_CACHE_PATH": str(folder), "MS_COMPILER_CACHE_ENABLE": "1", **variables}
    done = python("-c", source, **variables)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return [*json.loads(lines[-1]), lines[:-1], done.stderr]


@pytest.mark.parametrize("mode", ["eager", "jit"])
def test_the_next_process_compiles_nothing(tmp_path: Path, mode: str) -> None:
    first = result_of(tmp_path, mode)
    second = result_of(tmp_path, mode)
    assert (first[:2], first[4:]) == (second[:2], second[4:])
    assert first[2] == 0
    assert first[3] > 0
    assert 0 < second[2] <= first[3]  # what JAX compiles while it traces is not needed again
    assert second[3] == 0
    changed = result_of(tmp_path, mode, scale="2.0")
    assert changed[0] == result_of(tmp_path / "new", mode, scale="2.0")[0] != first[0]


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    first = result_of(tmp_path, MS_COMPILER_CACHE_ENABLE="0")
    assert first[2:4] == [0, 0]
    assert list(tmp_path.iterdir()) == []
    off = result_of(tmp_path, extra="set_context(enable_compile_cache=False)")
    assert off[:4] == first[:4]
    moved = tmp_path / "moved"
    on = result_of(
        tmp_path / "not here",
        extra=f"set_context(enable_compile_cache=True, compile_cache_path={str(moved)!r})",
        MS_COMPILER_CACHE_ENABLE="0",
    )
    assert on[3] > 0
    assert [path.name for path in moved.iterdir()] == ["weft-cache"]
    assert not (tmp_path / "not here").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs rights")
def test_a_folder_of_others_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "weft-cache"
    folder.mkdir()
    folder.chmod(0o777)
    found = result_of(tmp_path)
    assert list(folder.iterdir()) == []
    assert found[5].count("there is no compile cache") == 1
    assert found[0] == result_of(tmp_path / "own")[0]


def test_damaged_files_are_compiled_again(tmp_path: Path) -> None:
    first = result_of(tmp_path)
    for path in (tmp_path / "weft-cache").iterdir():
        path.write_bytes(path.read_bytes()[:-7])
    second = result_of(tmp_path)
    assert second[:2] == first[:2]
    assert second[2:4] == [0, first[3]]
    assert second[5].count("were damaged") == 1
    third = result_of(tmp_path)
    assert third[2] > 0
    assert third[3] == 0


def test_reports_say_what_was_loaded(tmp_path: Path) -> None:
    source = """
import json, weft
report = weft.explain(lambda x: x * 3 + 1)(weft.Tensor([1.0]))
print(json.dumps([made.compilation.loaded for made in report.compilations]))
"""
    variables = {"MS_COMPILER_CACHE_PATH": str(tmp_path), "MS_COMPILER_CACHE_ENABLE": "1"}
    for loaded in (False, True):
        done = python("-c", source, **variables)
        assert (done.stdout, done.stderr) == (f"{json.dumps([loaded])}\n", "")


def test_the_settings_say_what_they_are() -> None:
    try:
        assert context.get_context("enable_compile_cache") is False
        assert context.get_context("compile_cache_path") == "."
        context.set_context(enable_compile_cache=False)
        assert not executables.is_on()
        context.set_context(enable_compile_cache=True, compile_cache_path="there")
        assert executables.is_on()
        assert executables.folder() == Path("there").absolute() / "weft-cache"
    finally:
        context.reset()


def test_the_command(tmp_path: Path) -> None:
    def command(*words: str) -> tuple[int, str]:
        done = python("-m", "weft", "cache", *words, MS_COMPILER_CACHE_PATH=str(tmp_path), MS_COMPILER_CACHE_ENABLE="1")
        return done.returncode, done.stdout + done.stderr

    assert command() == (0, f"{tmp_path / 'weft-cache'}: nothing is kept\n")
    compiled = result_of(tmp_path)[3]
    count = len(list((tmp_path / "weft-cache").glob("*.weft")))
    assert compiled < count <= 2 * compiled + 1  # the programs, what is known of each, the types of operations
    assert f": {count} files, " in command("show")[1]
    assert command("verify")[0] == 0
    path = next((tmp_path / "weft-cache").glob("*.weft"))
    path.write_bytes(b"x")
    status, text = command("verify")
    assert status == 1
    assert f"damaged: {path.name}" in text
    assert command("clear") == (0, f"{tmp_path / 'weft-cache'}: {count} files removed\n")
    assert command("nonsense")[0] == 2


def test_a_program_that_xla_cannot_read_is_removed_without_a_word(tmp_path: Path) -> None:
    first = result_of(tmp_path, "jit")
    folder = next(path for path in tmp_path.rglob("*") if path.suffix == ".weft").parent
    files = Files(folder, executables.LIMIT)
    for file in files.files():  # whole, and nothing that XLA wrote
        key, value = _unpacked(file.path.read_bytes()) or ("", b"")
        files.put(key, value[: len(value) // 2])
    second = result_of(tmp_path, "jit", PYTHONWARNINGS="error")
    assert second[:3] == [*first[:2], 0]
    assert second[4:] == first[4:]
    assert not any(_unpacked(file.path.read_bytes()) == (key, value[: len(value) // 2]) for file in files.files())


TRACED = """
import json
import jax
import numpy as np
traced = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **facts: event.endswith("jaxpr_trace_duration") and traced.append(facts.get("fun_name"))
)
import weft
from weft import Tensor, jit, nn, ops, set_seed, value_and_grad
set_seed(1)
net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(128, 3))
optimizer = nn.Adam(net.trainable_params(), 0.1)
loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
gradient = value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

def step(x, y):
    loss, gradients = gradient(x, y)
    optimizer(gradients)
    return loss + ops.where(loss > 1, loss, 2 * loss)

run = jit(step) if MODE == "jit" else step
x, y = np.ones((2, 1, 8, 8), np.float32), np.array([0, 2], np.int32)
found = [float(run(Tensor(x * scale), Tensor(y))) for scale in (1.0, 0.5, 0.25)]
print(json.dumps([found, len(traced)]))
"""


@pytest.mark.parametrize("mode", ["eager", "jit"])
def test_the_next_process_traces_nothing(tmp_path: Path, mode: str) -> None:
    variables = {"MS_COMPILER_CACHE_PATH": str(tmp_path), "MS_COMPILER_CACHE_ENABLE": "1"}
    results = []
    for _ in range(2):
        done = python("-c", TRACED.replace("MODE", repr(mode)), **variables)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    assert results[0][0] == results[1][0]
    assert results[0][1] > 0
    assert results[1][1] == 0


@pytest.mark.parametrize(("name", "mode"), [("inverse", "eager"), ("inverse", "jit"), ("eigh", "eager")])
def test_the_next_process_loads_the_libraries_that_a_program_calls(tmp_path: Path, name: str, mode: str) -> None:
    source = f"""
import json
import numpy as np
from weft import Tensor, jit, ops
run = jit(lambda x: ops.{name}(x)) if {mode!r} == "jit" else ops.{name}
found = run(Tensor(np.array([[2.0, 0.5], [0.5, 1.5]], np.float32)))
print(json.dumps([abs(x.asnumpy()).tolist() for x in (found if isinstance(found, tuple) else (found,))]))
"""
    variables = {"MS_COMPILER_CACHE_PATH": str(tmp_path), "MS_COMPILER_CACHE_ENABLE": "1"}
    results = []
    for _ in range(2):
        done = python("-c", source, **variables)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    assert results[0] == results[1]


def test_a_program_is_known_by_its_operands_and_settings(tmp_path: Path) -> None:
    """Element types, shapes, weak types, devices' defaults, donated operands and the precision of products."""
    source = """
import json
import jax, jax.numpy as jnp, numpy as np
import weft
from weft.cache.programs import compiled
product = compiled(lambda x, y: (x @ y, [x.dtype == y.dtype and x * 2, None]), lambda: "product")
found = []
for dtype in ("float32", "float64", "int32", "bfloat16"):
    for shape in ((2, 2), (3, 3)):
        for other in ("float32", "float64"):
            x, y = jnp.ones(shape, dtype), jnp.ones(shape, other)
            for precision in (None, "highest"):
                with jax.default_matmul_precision(precision):
                    whole, (part, nothing) = product(x, y)
                assert nothing is None
                found.append([str(whole.dtype), whole.shape, str(part.dtype), whole.sum().item()])
weak = compiled(lambda x, y: x + y, lambda: "sum")
found += [str(weak(x, y).dtype) for x in (jnp.float32(1), 1.0, np.float64(1)) for y in (jnp.int8(1), jnp.ones(2), 2)]
taken, first = compiled(lambda x, y: x + y, lambda: "sum", (0,)), jnp.ones(5)
found += [taken(first, jnp.ones(5)).tolist(), first.is_deleted()]
unknown = [compiled(lambda x, y, n=n: x * n, lambda: None) for n in (2, 3)]
found += [f(jnp.ones(1), None).item() for f in unknown]
print(json.dumps(found))
"""
    variables = {"MS_COMPILER_CACHE_PATH": str(tmp_path)}
    texts = [python("-c", source, MS_COMPILER_CACHE_ENABLE=on, **variables).stdout for on in ("0", "1", "1")]
    assert texts[0]
    assert texts[0] == texts[1] == texts[2]
