"""Types of operations that an earlier process found: the same answers without asking JAX, and only of our own code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.processes import python
from tests.ops.table import TABLE, attrs_of, samples_of
from weft import dtypes
from weft.cache import inferred
from weft.cache.inferred import Inferred
from weft.core.primitive import Primitive
from weft.ir.types import TensorType


class Memory(dict):  # type: ignore[type-arg]
    """A store that is lost."""

    def put(self, key: str, value: bytes) -> None:
        self[key] = value


def written(store: Any, **values: Any) -> Inferred:
    found = Inferred(store)
    for key, value in values.items():
        found.note(key, value)
    found.write(at_once=True)
    return found


def test_what_two_processes_write_is_kept() -> None:
    store = Memory()
    one, other = Inferred(store), Inferred(store)
    assert one.find("a") is None
    one.note("a", [1])
    other.note("b", [2])
    one.write(at_once=True)
    other.write(at_once=True)
    third = Inferred(store)
    assert (third.find("a"), third.find("b"), third.find("c")) == ([1], [2], None)


def test_it_is_written_now_and_then() -> None:
    store = Memory()
    kept = Inferred(store)
    kept.note("a", [1])
    kept.write()
    assert not store
    kept.write(at_once=True)
    assert len(store) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"null"])
def test_content_that_is_none(content: bytes) -> None:
    store = Memory()
    written(store, a=[1])
    (key,) = store
    store[key] = content
    assert Inferred(store).find("a") is None
    written(store, b=[2])
    assert Inferred(store).find("b") == [2]


def test_the_file_begins_anew_where_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inferred, "LIMIT", 3)
    store = Memory()
    written(store, a=[1], b=[2])
    written(store, c=[3], d=[4])
    assert [Inferred(store).find(key) for key in "abcd"] == [None, None, [3], [4]]


def test_other_sources_have_another_file(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    written(store, a=[1])
    monkeypatch.setattr(inferred, "VERSION", "another")
    assert Inferred(store).find("a") is None


def types_of(array: Any) -> Any:
    return None if array is None else TensorType.of(dtypes.of_np(np.asarray(array).dtype), np.shape(array))


def test_every_operation_is_given_the_types_that_jax_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sample, asked twice: what is read back is what was found."""
    store = Memory()
    asked = [
        (primitive, attrs_of(primitive, sample), tuple(map(types_of, sample.inputs)))
        for name, primitive in TABLE.items()
        for sample in samples_of(name)
    ]
    first, second = Inferred(store), Inferred(store)
    monkeypatch.setattr(inferred, "_current", first)
    expected = [primitive._infer(attrs, types) for primitive, attrs, types in asked]
    first.write(at_once=True)
    monkeypatch.setattr(inferred, "_current", second)
    again: list[str] = []
    ask = Primitive._ask_jax
    monkeypatch.setattr(Primitive, "_ask_jax", lambda self, *args: (again.append(self.name), ask(self, *args))[1])
    assert [primitive._infer(attrs, types) for primitive, attrs, types in asked] == expected
    assert len(again) < len(asked) / 10, sorted(set(again))


def test_an_operation_of_the_program_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    monkeypatch.setattr(inferred, "_current", Inferred(store))
    for factor in (1, 2):
        made = Primitive("Widened", lambda x, factor=factor: x.repeat(factor), register=False)
        shape = made._infer((), (TensorType.of(dtypes.float32, (3,)),))[0].shape
        assert shape == (3 * factor,)
    assert made.known_as is None


PROGRAM = """
import json
from weft.core.primitive import Primitive
asked = []
ask = Primitive._ask_jax
Primitive._ask_jax = lambda self, *args: (asked.append(self.name), ask(self, *args))[1]
import numpy as np
from weft import Tensor, jit, nn, set_seed, value_and_grad
set_seed(1)
net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(32, 3))
optimizer = nn.Adam(net.trainable_params(), 0.1)
loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
gradient = value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

@jit
def step(x, y):
    loss, gradients = gradient(x, y)
    optimizer(gradients)
    return loss

x, y = np.random.default_rng(0).normal(size=(4, 1, 8, 8)).astype(np.float32), np.arange(4, dtype=np.int32) % 3
print(json.dumps([[float(step(Tensor(x), Tensor(y))) for _ in range(3)], len(asked)]))
"""


def test_the_next_process_asks_nothing(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        done = python("-c", PROGRAM, MS_COMPILER_CACHE_PATH=str(tmp_path), MS_COMPILER_CACHE_ENABLE="1")
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    (losses, asked), (losses_again, asked_again) = found
    assert losses == losses_again
    assert asked > 10
    assert asked_again == 0
