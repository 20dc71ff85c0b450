"""Chunks: put together, cut, shuffled and stacked they are the rows that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft.data.chunks import Columns, after, first_of, flattened, grouped, joined, packed, rows_of
from weft.data.conversion import numbers_alike, stacked, stacked_alike
from weft.data.shuffling import drawn_from, shuffled

SIZES = st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=8)


def chunks(sizes: list[tuple[int, bool]]) -> Iterator[Any]:
    """Rows that are numbered, in chunks of some sizes, as arrays or as rows."""
    begin = 0
    for size, as_arrays in sizes:
        numbers = np.arange(begin, begin + size)
        whole = Columns([np.stack([numbers, numbers], 1).astype(np.float32), numbers])
        yield whole if as_arrays else whole.rows()
        begin += size


def numbers_in(rows: Any) -> list[int]:
    found = []
    for pair, number in rows:
        assert type(number) is np.ndarray
        assert number.shape == ()
        assert pair.dtype == np.float32
        assert pair.tolist() == [number, number]
        found.append(int(number))
    return found


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 12))
def test_cut_and_put_together(sizes: list[tuple[int, bool]], size: int) -> None:
    total = sum(each for each, _ in sizes)
    groups = [rows_of(group) for group in grouped(chunks(sizes), size)]
    assert [len(group) for group in groups] == [size] * (total // size) + [total % size] * (total % size > 0)
    assert [n for group in groups for n in numbers_in(group)] == list(range(total))
    assert numbers_in(flattened(after(chunks(sizes), size))) == list(range(size, total))
    assert numbers_in(flattened(first_of(chunks(sizes), size))) == list(range(min(size, total)))
    if sizes:
        assert numbers_in(rows_of(joined(list(chunks(sizes))))) == list(range(total))


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(2, 30), st.integers(0, 5))
def test_shuffled_in_chunks_as_one_by_one(sizes: list[tuple[int, bool]], count: int, seed: int) -> None:
    wanted = numbers_in(drawn_from(flattened(chunks(sizes)), count, np.random.default_rng(seed)))
    found = numbers_in(flattened(shuffled(chunks(sizes), count, np.random.default_rng(seed))))
    assert found == wanted
    assert sorted(found) == list(range(len(found)))


def test_shuffled_rows_may_become_unlike() -> None:
    def mixed() -> Iterator[Any]:
        yield Columns([np.arange(40)])
        yield Columns([np.arange(40, 60)])
        yield Columns([np.arange(60.0, 80.0)])
        yield [(np.arange(2),)] * 3

    found = list(flattened(shuffled(mixed(), 30, np.random.default_rng(0))))
    wanted = list(drawn_from(flattened(mixed()), 30, np.random.default_rng(0)))
    assert [(row[0].dtype, row[0].tolist()) for row in found] == [(row[0].dtype, row[0].tolist()) for row in wanted]


def test_shuffled_chunks_keep_no_memory_of_others() -> None:
    source = np.arange(100)
    given_ = list(shuffled(iter([Columns([source[:50]]), Columns([source[50:]])]), 20, np.random.default_rng(0)))
    for chunk in given_:
        assert isinstance(chunk, Columns)
        chunk.arrays[0][:] = -1
    assert source.tolist() == list(range(100))


@pytest.mark.parametrize(
    "arrays",
    [
        [np.arange(3.0) + i for i in range(4)],
        [np.array(i) for i in range(4)],
        [np.array(i % 2 == 0) for i in range(4)],
        [np.arange(6).reshape(2, 3).T + i for i in range(4)],
        [np.arange(8)[::2] + i for i in range(4)],
        [np.zeros((0, 3), np.float32)] * 3,
        [np.arange(3, dtype=">i4")] * 3,
        [np.arange(3, dtype=np.float16)] * 3,
        [np.array(i, np.longdouble) for i in range(3)],
        [np.array(["a", "b"])] * 2,
        [np.zeros((40, 40))] * 2,
        [np.array(7, np.uint64) + np.uint64(2**63)] * 2,
    ],
)
def test_stacked_as_by_numpy(arrays: list[Any]) -> None:
    wanted = np.stack(arrays)
    for found in (stacked_alike(arrays), stacked(arrays, "x")):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert (found == wanted).all()
        found[...] = found  # it can be written


def test_numbers_are_put_together_only_if_alike() -> None:
    found = numbers_alike([1, 2])
    assert found is not None
    assert found.dtype == np.int64
    assert numbers_alike([1, 2.0]) is None
    assert numbers_alike([1, 2**64]) is None
    assert numbers_alike(["a"]) is None
    halves = numbers_alike([np.float16(1), np.float16(2)])
    assert halves is not None
    assert halves.dtype == np.float16


def test_rows_that_are_unlike_or_large_are_sent_as_they_are() -> None:
    small = [(np.zeros(2), np.array(1))] * 3
    assert isinstance(packed(small), Columns)
    for rows in (
        [*small, (np.zeros(3), np.array(1))],
        [*small, (np.zeros(2), np.array(1.0))],
        [*small, (np.zeros(2),)],
        [(np.zeros(2000),)] * 3,
        [1, 2, 3],
        [],
    ):
        assert packed(rows) is rows
