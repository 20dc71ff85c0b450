"""Pipelines whose rows pass in chunks: the same rows, in their order, as soon as they are there."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds
from weft.data import workers


class Source:
    """Rows of a class of the program."""

    def __init__(self, count: int) -> None:
        self.x = np.arange(count * 3, dtype=np.float32).reshape(count, 3)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, place: int) -> Any:
        return self.x[place], place, np.float32(place)


WORKERS = [(1, False), (2, False), (2, True)]


def rows(data: Any, **options: Any) -> list[Any]:
    found = data.create_tuple_iterator(num_epochs=1, output_numpy=True, **options)
    return [[(part.dtype.name, part.tolist()) for part in row] for row in found]


def source(size: int, count: int, processes: bool) -> Any:
    return ds.GeneratorDataset(
        Source(size), ["x", "n", "f"], shuffle=True, num_parallel_workers=count, python_multiprocessing=processes
    )


FUNCTIONS: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "of one column": (lambda x: x * 2, ["x"], None),
    "of the second": (lambda n: n + 1, ["n"], None),
    "numbers": (lambda x: float(x[0]), ["x"], None),
    "of two": (lambda x, f: (x * f, f), ["x", "f"], None),
    "two of one": (lambda x: (x, x[0]), ["x"], ["x", "z"]),
    "a new name": (lambda x: x + 1, ["x"], ["z"]),
    "in the place of another": (lambda x: x + 1, ["x"], ["n"]),
    "of different shapes": (lambda n: np.arange(int(n) % 3), ["n"], None),
    "of different types": (lambda n: n if int(n) % 2 else n.astype(np.float32), ["n"], None),
    "texts": (lambda n: "a" * (int(n) % 3 + 1), ["n"], None),
    "large": (lambda x: np.tile(x, 500), ["x"], None),
    "large numbers": (lambda n: 2**63 + int(n), ["n"], None),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_workers_give_the_same_rows(name: str) -> None:
    function, inputs, outputs = FUNCTIONS[name]
    ds.config.set_seed(3)
    found = []
    for count, processes in WORKERS:
        data = source(45, count, processes)
        data = data.map(function, inputs, outputs, num_parallel_workers=count, python_multiprocessing=processes)
        found.append(rows(data.skip(2).repeat(2).take(70)))
    assert len(found[0]) == 70
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("begin", [0, 1, 7])
def test_shuffled_batches_go_on_at_a_step(begin: int) -> None:
    ds.config.set_seed(5)
    found = []
    for count, processes in WORKERS:
        data = source(300, count, processes).map(
            lambda x: x - 1, ["x"], num_parallel_workers=count, python_multiprocessing=processes
        )
        data = data.shuffle(50).batch(16, drop_remainder=True)
        data.set_init_step(begin)
        found.append(rows(data))
    assert len(found[0]) == 300 // 16 - begin
    assert found[0] == found[1] == found[2]


def test_arrays_in_memory_as_a_class_of_the_program() -> None:
    ds.config.set_seed(5)
    size = 700
    arrays = Source(size).x, np.arange(size), np.arange(size, dtype=np.float32)
    names = ["x", "n", "f"]
    for shape in (lambda d: d, lambda d: d.shuffle(64).batch(10), lambda d: d.project(["f", "x"]).repeat(2).batch(9)):
        in_memory = shape(ds.NumpySlicesDataset(arrays, names, shuffle=True))
        assert rows(in_memory) == rows(shape(source(size, 1, False)))
        train, test = ds.NumpySlicesDataset(arrays, names, shuffle=False).split([600, 100])
        numbers = [int(row[1]) for part in (train, test) for row in part.create_tuple_iterator(num_epochs=1)]
        assert sorted(numbers) == list(range(size)) != numbers


def test_what_changes_a_row_changes_no_array() -> None:
    array = np.arange(6.0)
    for data in (ds.NumpySlicesDataset(array, shuffle=False), ds.NumpySlicesDataset(array, shuffle=False).batch(3)):
        for (row,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            row[...] = -1
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("count", "processes"), WORKERS)
@pytest.mark.parametrize("wrong", ["function", "source", "nothing", "columns"])
def test_rows_before_one_that_fails_come_first(wrong: str, count: int, processes: bool) -> None:
    class Broken(Source):
        def __getitem__(self, place: int) -> Any:
            if wrong == "source" and place == 77:
                raise KeyError("seventy-seven")
            return super().__getitem__(place)

    def change(n: Any) -> Any:
        if n == 77 and wrong != "source":
            if wrong == "function":
                raise KeyError("seventy-seven")
            return None if wrong == "nothing" else (n, n)
        return n

    data = ds.GeneratorDataset(
        Broken(100), ["x", "n", "f"], shuffle=False, num_parallel_workers=count, python_multiprocessing=processes
    )
    data = data.map(change, ["n"], num_parallel_workers=count, python_multiprocessing=processes)
    found = []

    def read() -> None:
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            found.append(int(row[1]))

    with pytest.raises(RuntimeError, match=r"failed|returned"):
        read()
    assert found == list(range(77))


@pytest.mark.parametrize("kind", ["generator", "by number", "function"])
def test_a_source_may_wait_for_what_the_program_does_with_rows(kind: str) -> None:
    given: queue.Queue[int] = queue.Queue()

    class Waiting:
        def __len__(self) -> int:
            return 400

        def __getitem__(self, place: int) -> int:
            return given.get(timeout=30)

    def waiting() -> Iterator[int]:
        for _ in range(400):
            yield given.get(timeout=30)

    if kind == "function":
        data = ds.NumpySlicesDataset(np.zeros(400), ["x"], shuffle=False).map(lambda x: given.get(timeout=30), ["x"])
    else:
        data = ds.GeneratorDataset(waiting if kind == "generator" else Waiting(), ["x"], shuffle=False)
    data = data.map(lambda x: x + 1, ["x"])
    for number in range(150):
        given.put(number)
    for place, (x,) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        assert x == place + 1
        given.put(place + 150)


def test_worker_processes_have_the_environment_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(n: Any) -> Any:
        return len(os.environ.get("WEFT_TEST_VARIABLE", ""))

    for value in ("", "abc"):
        monkeypatch.setenv("WEFT_TEST_VARIABLE", value)
        data = ds.NumpySlicesDataset(np.arange(3), ["n"], shuffle=False)
        data = data.map(asked, ["n"], num_parallel_workers=2, python_multiprocessing=True)
        assert rows(data) == [[("int64", len(value))]] * 3


@pytest.mark.parametrize("slow", ["source", "function"])
def test_chunks_are_small_where_rows_take_long(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(workers.time, "perf_counter", lambda: now[0])
    sizes: list[int] = []

    class Done:
        def __init__(self, chunk: Any) -> None:
            self.chunk = chunk

        def result(self) -> Any:
            taken = 0.01 * len(self.chunk) if slow == "function" and self.chunk[0] > 5000 else 0.0
            return self.chunk, taken, None

    def numbers() -> Iterator[Any]:
        for number in range(12000):
            if slow == "source" and number > 5000:
                now[0] += 0.01
            yield [number]

    def submit(first: int, chunk: Any) -> Any:
        sizes.append(len(chunk))
        return Done(chunk)

    found = [number for chunk in workers._windowed(submit, workers.Cut(numbers()), 0, 1) for number in chunk]
    assert found == list(range(12000))
    assert max(sizes) > 500
    assert sizes[-2] <= 5
