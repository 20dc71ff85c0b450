"""Iterators: epochs, seeds, workers, what is raised, going on at a step, and random pipelines against plain Python."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds
from weft.data import randomness


def numbers(count: int = 6) -> Any:
    return ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)


def read(dataset: Any) -> list[Any]:
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


class TestEpochs:
    def test_an_iterator_has_so_many_epochs(self) -> None:
        iterator = numbers(3).create_dict_iterator(num_epochs=2, output_numpy=True)
        assert [[int(row["x"]) for row in iterator] for _ in range(2)] == [[0, 1, 2]] * 2
        with pytest.raises(RuntimeError, match="num_epochs=2"):
            next(iterator)

    def test_each_is_shuffled_by_itself(self) -> None:
        ds.config.set_seed(1)
        iterator = numbers(20).shuffle(20).create_tuple_iterator(output_numpy=True)
        orders = [[int(row[0]) for row in iterator] for _ in range(3)]
        assert all(sorted(order) == list(range(20)) for order in orders)
        assert orders[0] != orders[1] != orders[2]
        again = numbers(20).shuffle(20).create_tuple_iterator(output_numpy=True)
        assert [[int(row[0]) for row in again] for _ in range(3)] == orders

    def test_repeated_rows_too(self) -> None:
        ds.config.set_seed(1)
        order = read(ds.NumpySlicesDataset(np.arange(20)).repeat(2))
        assert order[:20] != order[20:]
        assert sorted(order) == sorted([*range(20), *range(20)])

    def test_columns(self) -> None:
        data = ds.NumpySlicesDataset({"p": [1], "q": [2]})
        assert next(data.create_tuple_iterator(columns=["q"], output_numpy=True)) == [2]
        with pytest.raises(RuntimeError, match="'zz' doesn't exist"):
            next(data.create_tuple_iterator(columns=["zz"]))

    def test_the_seed_of_the_program(self) -> None:
        weft.set_seed(7)
        assert ds.config.get_seed() == 7
        order = read(ds.NumpySlicesDataset(np.arange(20)))
        weft.set_seed(7)
        assert read(ds.NumpySlicesDataset(np.arange(20))) == order
        weft.set_seed(8)
        assert read(ds.NumpySlicesDataset(np.arange(20))) != order

    def test_a_loop_that_is_left_ends_its_threads(self) -> None:
        for _ in range(3):
            for _ in numbers(1000).map(lambda x: x, ["x"], num_parallel_workers=2):
                break
        gc.collect()
        end = time.monotonic() + 10
        while any(t.name.startswith("weft-data") for t in threading.enumerate()) and time.monotonic() < end:
            time.sleep(0.05)
        assert not [t.name for t in threading.enumerate() if t.name.startswith("weft-data")]


def jitter(x: Any) -> Any:
    """An operation of the library would draw so."""
    return x + randomness.generator().random()


class TestWorkers:
    @pytest.mark.parametrize("debug", [False, True])
    def test_any_number_gives_the_same_rows(self, debug: bool) -> None:
        ds.config.set_seed(5)
        expected = read(numbers(50).shuffle(10).map(jitter, ["x"], num_parallel_workers=1))
        ds.config.set_debug_mode(debug)
        for workers in (1, 2, 4):
            assert read(numbers(50).shuffle(10).map(jitter, ["x"], num_parallel_workers=workers)) == expected
        ds.config.set_seed(6)
        assert read(numbers(50).shuffle(10).map(jitter, ["x"])) != expected

    def test_processes_give_the_same_rows(self) -> None:
        ds.config.set_seed(5)
        expected = read(numbers(50).map(jitter, ["x"]))
        many = numbers(50).map(jitter, ["x"], num_parallel_workers=2, python_multiprocessing=True)
        assert read(many) == expected

    def test_functions_of_numpy_draw_alike_in_processes(self) -> None:
        ds.config.set_seed(5)
        orders = [
            read(
                numbers(20).map(
                    lambda x: x + np.random.rand(), ["x"], num_parallel_workers=workers, python_multiprocessing=True
                )
            )
            for workers in (2, 3)
        ]
        assert orders[0] == orders[1]
        assert len({value % 1 for value in orders[0]}) == 20

    def test_what_cannot_be_sent_runs_here(self) -> None:
        lock = threading.Lock()

        def locked(x: Any) -> Any:
            with lock:
                return x + 1

        data = numbers(4).map(locked, ["x"], num_parallel_workers=2, python_multiprocessing=True)
        with pytest.warns(RuntimeWarning, match="cannot be sent"):
            assert read(data) == [1, 2, 3, 4]

    @pytest.mark.parametrize("workers", [1, 2])
    @pytest.mark.parametrize("processes", [False, True])
    def test_what_is_raised_has_its_traceback(self, workers: int, processes: bool) -> None:
        def wrong_at_five(x: Any) -> Any:
            if x == 5:
                raise ZeroDivisionError("five")
            return x

        data = numbers(9).map(wrong_at_five, ["x"], num_parallel_workers=workers, python_multiprocessing=processes)
        with pytest.raises(
            RuntimeError, match=r"map operation: \[.*wrong_at_five\] failed. ZeroDivisionError: five"
        ) as info:
            read(data)
        causes = []
        cause: Any = info.value.__cause__
        while cause is not None:
            causes.append(cause)
            cause = cause.__cause__
        if processes and workers > 1:
            assert "wrong_at_five" in str(causes[0])
        else:
            assert isinstance(causes[0], ZeroDivisionError)
            assert causes[0].__traceback__.tb_next.tb_frame.f_code.co_name == "wrong_at_five"

    @pytest.mark.parametrize(
        "broken",
        [
            lambda: ds.GeneratorDataset(Broken(), ["x"], shuffle=False),
            lambda: ds.GeneratorDataset(lambda: (1 // (2 - i) for i in range(3)), ["x"]),
            lambda: numbers().filter(lambda x: 1 // (int(x) - 3) > -5),
            lambda: numbers().batch(2, per_batch_map=lambda x, info: (1 // 0,)),
        ],
    )
    def test_the_operation_is_named(self, broken: Callable[[], Any]) -> None:
        with pytest.raises(RuntimeError, match=r"(GeneratorDataset|operation): .*ZeroDivisionError") as info:
            read(broken())
        assert isinstance(info.value.__cause__, ZeroDivisionError)

    def test_elements_that_fail_can_be_left_out(self) -> None:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
        assert read(numbers().map(lambda x: 6 // int(x), ["x"])) == [6, 3, 2, 1, 1]


class Broken:
    """A source whose third row fails."""

    def __getitem__(self, place: int) -> int:
        return 1 // (2 - place)

    def __len__(self) -> int:
        return 4


class TestGoingOn:
    @pytest.mark.parametrize("step", [0, 1, 7, 11])
    def test_at_a_state(self, step: int) -> None:
        ds.config.set_seed(3)

        def pipeline() -> Any:
            data = ds.NumpySlicesDataset(np.arange(40)).map(jitter, ["column_0"], num_parallel_workers=2)
            return data.shuffle(7).batch(4).map(jitter, ["column_0"])

        whole = pipeline().create_tuple_iterator(output_numpy=True)
        rows = [[row[0].tolist() for row in whole] for _ in range(2)]
        started = pipeline().create_tuple_iterator(output_numpy=True)
        taken = [next(started) for _ in range(step % 10)] if step < 10 else list(started) + [next(started)]
        state = started.get_state()
        ds.config.set_seed(99)
        again = pipeline().create_tuple_iterator(output_numpy=True)
        again.set_state(state)
        rest = [row[0].tolist() for row in again]
        assert [row[0].tolist() for row in taken] + rest == (rows[0] if step < 10 else rows[0] + rows[1])

    def test_rows_before_are_not_computed(self) -> None:
        seen = []
        data = numbers(100).map(lambda x: seen.append(int(x)) or x, ["x"]).batch(10)
        data.set_init_step(8)
        assert [row[0].tolist()[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [80, 90]
        assert min(seen) == 80


OPERATIONS = st.one_of(
    st.tuples(st.just("batch"), st.integers(1, 4), st.booleans()),
    st.tuples(st.just("repeat"), st.integers(1, 3)),
    st.tuples(st.just("take"), st.integers(1, 9)),
    st.tuples(st.just("skip"), st.integers(0, 5)),
    st.tuples(st.just("map"), st.integers(1, 2)),
    st.tuples(st.just("filter")),
    st.tuples(st.just("concat")),
)


def changed(rows: list[Any], operation: tuple[Any, ...]) -> list[Any]:
    """What an operation makes of rows that are nested lists."""
    kind, *more = operation
    if kind == "batch":
        size, drops = more
        groups = [rows[i : i + size] for i in range(0, len(rows), size)]
        return [group for group in groups if len(group) == size or not drops]
    if kind == "repeat":
        return rows * more[0]
    if kind == "take":
        return rows[: more[0]]
    if kind == "skip":
        return rows[more[0] :]
    if kind == "map":
        return [(np.array(row) * 2 + 1).tolist() for row in rows]
    if kind == "filter":
        return [row for row in rows if np.array(row).sum() % 3]
    return rows + rows[:2]


def applied(data: Any, operation: tuple[Any, ...]) -> Any:
    """The same of a dataset."""
    kind, *more = operation
    if kind == "map":
        return data.map(lambda x: x * 2 + 1, ["x"], num_parallel_workers=more[0])
    if kind == "filter":
        return data.filter(lambda x: bool(x.sum() % 3))
    if kind == "concat":
        return data.concat(data.take(2))
    return getattr(data, kind)(*more)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.lists(OPERATIONS, max_size=4), st.integers(0, 20))
def test_random_pipelines(count: int, operations: list[tuple[Any, ...]], begin: int) -> None:
    data, rows = numbers(count), list(range(count))
    batched = False
    for operation in operations:
        # batches of several sizes cannot be batched again
        if operation[0] == "batch":
            if batched:
                continue
            batched = True
        data, rows = applied(data, operation), changed(rows, operation)
    assert read(data) == rows
    assert data.get_dataset_size() == len(rows)
    iterator = data.create_tuple_iterator(output_numpy=True)
    iterator.set_state({"seed": 0, "epoch": 0, "row": begin})
    assert [row[0].tolist() for row in iterator] == rows[begin:]


def run(program: str, tmp_path: Path, *more: str) -> subprocess.Popen[str]:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    return subprocess.Popen(
        [sys.executable, *more, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


UNGUARDED = """
    import signal
    import numpy as np
    import weft.mindspore
    import mindspore.dataset as ds

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    print("main", flush=True)
    offset = 100

    def shift(x):
        return x + offset

    data = ds.NumpySlicesDataset(np.arange(1000), ["x"], shuffle=False)
    data = data.map(shift, ["x"], num_parallel_workers=2, python_multiprocessing=True).repeat(REPEATS)
    for number, row in enumerate(data.create_dict_iterator(num_epochs=1, output_numpy=True)):
        if number == 0:
            print("first", int(row["x"]), flush=True)
    print("last", int(row["x"]))
"""


def test_workers_do_not_run_the_program_again(tmp_path: Path) -> None:
    process = run(UNGUARDED.replace("REPEATS", "1"), tmp_path)
    out, err = process.communicate(timeout=120)
    assert (out.split("\n")[:3], process.returncode) == (["main", "first 100", "last 1099"], 0), err


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_program_leaves_no_process(tmp_path: Path, kind: signal.Signals) -> None:
    process = run(UNGUARDED.replace("REPEATS", "1000000"), tmp_path)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["main\n", "first 100\n"]
    group = os.getpgid(process.pid)
    process.send_signal(kind)
    process.communicate(timeout=60)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("processes of the program are still there")
