"""Small records through map, shuffle and batch, written by hand with NumPy and the standard library.

Also what other engines are measured with (`bench.data_peers`), so weft is not imported.
"""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import multiprocessing
import queue
import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

COUNT: Final = 1_000_000
BATCH: Final = 32
BUFFER: Final = 1000
#: records that go to a worker together
CHUNK: Final = 256


class Records:
    """Eight numbers and a label for each place."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((count, 8)).astype(np.float32)
        self.y = rng.integers(0, 10, count)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, place: int) -> tuple[Any, Any]:
        return self.x[place], self.y[place]


def change(x: Any) -> Any:
    """What `map` does to the numbers of a record."""
    return x * 2 + 1


_records: Any = None


def _begin(records: Any) -> None:
    global _records
    _records = records


def _made(places: range) -> list[tuple[Any, Any]]:
    rows = (_records[place] for place in places)
    return [(change(x), y) for x, y in rows]


def _made_stacked(places: range) -> list[Any]:
    return [np.stack(column) for column in zip(*_made(places), strict=True)]


def _chunks(count: int) -> Iterator[range]:
    return (range(begin, min(count, begin + CHUNK)) for begin in range(0, count, CHUNK))


def _windowed(pool: Any, function: Callable[[range], Any], count: int) -> Iterator[Any]:
    """The results of all chunks in order, two for each worker ahead."""
    pending: collections.deque[Any] = collections.deque()
    for chunk in _chunks(count):
        pending.append(pool.submit(function, chunk))
        if len(pending) >= 4:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _shuffled(rows: Iterable[Any], rng: random.Random) -> Iterator[Any]:
    rows = iter(rows)
    held = list(itertools.islice(rows, BUFFER))
    for row in rows:
        place = int(rng.random() * BUFFER)
        yield held[place]
        held[place] = row
    rng.shuffle(held)
    yield from held


def _batched(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while group := list(itertools.islice(rows, BATCH)):
        yield [np.stack(column) for column in zip(*group, strict=True)]


def ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches, made by a thread.

    Args:
        batches: the batches.
    """
    waiting: queue.Queue[Any] = queue.Queue(16)
    end = object()

    def fill() -> None:
        for batch in batches:
            waiting.put(batch)
        waiting.put(end)

    threading.Thread(target=fill, daemon=True).start()
    while (batch := waiting.get()) is not end:
        yield batch


def plain(records: Records, workers: str) -> int:
    """Read all batches of the pipeline; how many records these had.

    Args:
        records: the source.
        workers: "one" for none, else two "threads" or "processes", or "stacking" processes, which send arrays of a
            chunk's records rather than these.
    """
    count = len(records)
    _begin(records)
    pool: Any = None
    if workers == "threads":
        pool = concurrent.futures.ThreadPoolExecutor(2)
    elif workers != "one":
        # a process with XLA's threads cannot be forked
        context = multiprocessing.get_context("spawn" if "jax" in sys.modules else "fork")
        pool = concurrent.futures.ProcessPoolExecutor(2, context, initializer=_begin, initargs=(records,))
    if pool is None:
        rows: Iterator[Any] = itertools.chain.from_iterable(map(_made, _chunks(count)))
    elif workers == "stacking":
        rows = itertools.chain.from_iterable(zip(*each, strict=True) for each in _windowed(pool, _made_stacked, count))
    else:
        rows = itertools.chain.from_iterable(_windowed(pool, _made, count))
    found = sum(len(batch[0]) for batch in ahead(_batched(_shuffled(rows, random.Random(0)))))
    if pool is not None:
        pool.shutdown()
    return found
