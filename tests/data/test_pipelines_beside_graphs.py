"""Compiled functions beside the threads of a pipeline: writes stay in the graph, no thread sees what it has there."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, nn, value_and_grad
from weft import data as ds
from weft.core import workers
from weft.data import vision
from weft.jit import jit
from weft.testing import assert_compiles, assert_no_breaks
from weft.train import amp


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """The training part of a small MNIST: 256 images."""
    rng = np.random.default_rng(0)
    labels = (np.arange(256) % 10).astype(np.uint8)
    images = (rng.integers(0, 100, (256, 28, 28)) + 15 * labels[:, None, None]).astype(np.uint8)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, 256, 28, 28) + images.tobytes())
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, 256) + labels.tobytes())
    return tmp_path


def pipeline(folder: Path, *operations: Callable[[Any], Any]) -> Any:
    images = ds.MnistDataset(str(folder), shuffle=False)
    images = images.map([vision.Rescale(1.0 / 255.0, 0.0), *operations, vision.HWC2CHW()], "image")
    return images.batch(8)


def training() -> Callable[[Tensor, Tensor], Tensor]:
    network = nn.SequentialCell(nn.Flatten(), nn.Dense(784, 10, weight_init="zeros"))
    loss_fn, optimizer = nn.CrossEntropyLoss(), nn.Momentum(network.trainable_params(), 0.001, 0.9)
    gradient = value_and_grad(lambda x, y: loss_fn(network(x), y), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, grads = gradient(x, y)
        optimizer(grads)
        return loss

    return step


def losses(data: Any, step: Callable[[Tensor, Tensor], Tensor], epochs: int = 2) -> list[float]:
    found = []
    rows = data.create_tuple_iterator(num_epochs=epochs)
    for _ in range(epochs):
        for image, label in rows:
            found.append(float(step(image, label.astype("int32"))))
    return found


def test_a_step_over_files_is_one_graph_compiled_once(digits: Path) -> None:
    data = pipeline(digits)
    eager = losses(data, training())
    with assert_no_breaks(), assert_compiles(max=1):
        compiled = losses(data, jit(training()))
    np.testing.assert_allclose(compiled, eager, rtol=1e-4)
    assert compiled[-1] < compiled[0]


def test_a_step_over_functions_of_the_program_has_no_breaks(digits: Path) -> None:
    scale = [2.0]
    data = pipeline(digits, lambda image: image * scale[0])
    step = training()
    with assert_no_breaks(), assert_compiles(max=1):
        found = losses(data, jit(step))
    assert found[-1] < found[0]


def scaled_training() -> Callable[[Tensor, Tensor], Tensor]:
    network = amp.auto_mixed_precision(nn.SequentialCell(nn.Flatten(), nn.Dense(784, 10, weight_init="zeros")), "O2")
    loss_fn, optimizer = nn.CrossEntropyLoss(), nn.Momentum(network.trainable_params(), 0.001, 0.9)
    scaler = amp.DynamicLossScaler(2.0**12, 2, 50)
    gradient = value_and_grad(lambda x, y: scaler.scale(loss_fn(network(x), y)), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, grads = gradient(x, y)
        finite = amp.all_finite(grads)
        if finite:
            optimizer(scaler.unscale(grads))
        scaler.adjust(finite)
        return scaler.unscale(loss)

    return step


def test_a_step_with_mixed_precision_and_a_loss_scale_is_one_graph(digits: Path) -> None:
    data = pipeline(digits)
    eager = losses(data, scaled_training())
    with assert_no_breaks(), assert_compiles(max=1):
        compiled = losses(data, jit(scaled_training()))
    np.testing.assert_allclose(compiled, eager, rtol=2e-3)
    assert compiled[-1] < compiled[0]


def test_a_step_over_an_object_of_the_program_has_no_breaks() -> None:
    class Rows:
        def __getitem__(self, place: int) -> tuple[Any, Any]:
            return np.full((1, 28, 28), place % 10 / 10, np.float32), np.int32(place % 10)

        def __len__(self) -> int:
            return 64

    data = ds.GeneratorDataset(Rows(), ["image", "label"], shuffle=False).batch(8)
    step = training()
    with assert_no_breaks():
        found = losses(data, jit(step), epochs=4)
    assert found[-1] < found[0]


def test_a_step_over_a_generator_of_the_program_has_no_breaks() -> None:
    def rows() -> Iterator[tuple[Any, Any]]:
        for place in range(64):
            yield np.full((1, 28, 28), place % 10 / 10, np.float32), np.int32(place % 10)

    step = training()
    with assert_no_breaks():
        losses(ds.GeneratorDataset(rows, ["image", "label"]).batch(8), jit(step))


def test_a_step_over_several_workers_has_no_breaks(digits: Path) -> None:
    data = ds.MnistDataset(str(digits), shuffle=False)
    data = data.map(lambda image: (image / 255).astype(np.float32), "image", num_parallel_workers=4).batch(8)
    step = training()
    with assert_no_breaks(), assert_compiles(max=1):
        found = losses(data, jit(step))
    assert found[-1] < found[0]


@pytest.mark.parametrize("threads", [1, 4])
def test_functions_of_a_pipeline_see_nothing_of_a_capture(threads: int) -> None:
    weight = Parameter(np.zeros(4, np.float32), name="weight")
    log: list[Any] = [Tensor(np.zeros(4, np.float32))]
    seen: list[Any] = []

    def look(row: Any) -> Any:
        for value in (weight, *log[-3:]):
            if value.is_symbolic:
                seen.append(value)
            value.asnumpy()
        time.sleep(0.0005)
        return row

    data = ds.NumpySlicesDataset(np.arange(120, dtype=np.float32), ["x"], shuffle=False)
    data = data.map(look, "x", num_parallel_workers=threads).batch(4)
    for number, (x,) in enumerate(data.create_tuple_iterator(num_epochs=1)):

        @jit
        def step(x: Tensor, number: int = number) -> Tensor:
            for _ in range(20):
                weight.set_data(weight + x.sum())
                log.append(weight * number)
            return weight.sum()

        step(x)
    assert seen == []
    assert weight.asnumpy().tolist() == [sum(range(120)) * 20.0] * 4
    assert len(log) == 601


def test_a_function_that_waits_for_the_program_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_FOR_WORKERS", 0.05)
    monkeypatch.setattr(workers, "_hopeless", 0.0)
    freed = threading.Event()

    def wait(row: Any) -> Any:
        if row == 1:
            freed.wait(20)
        return row

    data = ds.NumpySlicesDataset(np.arange(4, dtype=np.float32), ["x"], shuffle=False).map(wait, "x")
    rows = data.create_tuple_iterator(num_epochs=1)
    weight = Parameter(np.zeros((), np.float32), name="weight")

    @jit
    def step(x: Tensor) -> Tensor:
        weight.set_data(weight + x + 1)
        return weight * 2

    assert step(next(rows)[0]).asnumpy() == 2
    freed.set()
    assert [float(step(x)) for (x,) in rows] == [6, 12, 20]


def test_rows_that_a_captured_call_reads_itself_are_made() -> None:
    data = ds.NumpySlicesDataset(np.arange(3, dtype=np.float32), ["x"], shuffle=False).map(lambda x: x + 1, "x")
    rows = data.create_tuple_iterator(num_epochs=2)

    @jit
    def total(start: Tensor) -> Tensor:
        for (x,) in rows:
            start = start + x
        return start

    assert float(total(Tensor(0.0))) == 6
    assert float(total(Tensor(1.0))) == 7


class TestStandingStill:
    def test_nobody_is_at_work_in_the_block(self) -> None:
        stopped = threading.Event()
        steps = [0]

        def work() -> None:
            with workers.at_work():
                while not stopped.is_set():
                    workers.pause()
                    steps[0] += 1

        thread = threading.Thread(target=work)
        workers.enlist(thread)
        thread.start()
        try:
            while not steps[0]:
                time.sleep(0.001)
            assert not workers.is_harmless(thread)
            with workers.standing_still():
                before = steps[0]
                assert workers.is_harmless(thread)
                time.sleep(0.05)
                assert steps[0] == before
            while steps[0] == before:
                time.sleep(0.001)
        finally:
            stopped.set()
            thread.join()
        assert not workers.is_harmless(thread)

    def test_a_worker_that_begins_waits_for_the_end_of_the_block(self) -> None:
        begun, first, freed = threading.Event(), threading.Event(), threading.Event()

        def wait() -> None:
            with workers.at_work(), workers.waiting():
                first.set()
                freed.wait(20)

        def work() -> None:
            with workers.at_work():
                begun.set()

        waiting, thread = threading.Thread(target=wait), threading.Thread(target=work)
        waiting.start()
        first.wait(20)
        workers.enlist(thread)
        with workers.standing_still():
            thread.start()
            assert not begun.wait(0.05)
        assert begun.wait(20)
        freed.set()
        waiting.join()
        thread.join()

    def test_a_quiet_worker_is_not_waited_for(self) -> None:
        begun, freed = threading.Event(), threading.Event()

        def work() -> None:
            with workers.at_work():
                begun.set()
                freed.wait(20)

        thread = threading.Thread(target=work)
        workers.enlist(thread, quiet=True)
        thread.start()
        begun.wait(20)
        try:
            assert workers.is_harmless(thread)
            began = time.monotonic()
            with workers.standing_still():
                assert time.monotonic() - began < 2
        finally:
            freed.set()
            thread.join()

    def test_what_a_block_raises_lets_workers_go_on(self) -> None:
        begun, freed = threading.Event(), threading.Event()

        def work() -> None:
            with workers.at_work(), workers.waiting():
                begun.set()
                freed.wait(20)

        thread = threading.Thread(target=work)
        workers.enlist(thread)
        thread.start()
        begun.wait(20)
        with pytest.raises(KeyError), workers.standing_still():
            raise KeyError
        freed.set()
        thread.join(5)
        assert not thread.is_alive()
