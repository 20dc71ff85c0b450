"""Functions applied to a stream of items in order: here, by threads, or by worker processes.

Items go to workers in chunks, which grow until one takes about a millisecond, so that small items cost little.
A function gets the place of its item in the stream as well, so what it draws does not depend on who runs it.

Worker processes are started anew: this process has threads, of XLA among others, so a fork of it could stand still
for ever. They do not run the program's main file again; what a function needs of it travels with the function.
"""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from weft._jax_compat import compute_on_host_only
from weft.core.workers import at_work, enlist, is_quiet, pause, waiting
from weft.data.randomness import Draws, drawing_from
from weft.lazily import deferred

cloudpickle: Any = deferred("cloudpickle")

#: what a chunk should take, in seconds, and how many items it may have
_LONG_ENOUGH: Final = 1e-3
_LARGEST_CHUNK: Final = 256
#: rows larger than this, in bytes, are sent as they are
_LARGEST_PACKED: Final = 4096

#: stands for an item that is left out
LEFT_OUT: Final = object()

_starting = threading.Lock()


class Job:
    """What workers do to each item.

    Args:
        function: called with an item; gives the new item.
        entropy: numbers that tell this step of the pipeline, in this epoch, from others.
        seeds_globals: whether the global generators of `random` and NumPy begin anew for each item.
    """

    def __init__(self, function: Callable[[Any], Any], entropy: tuple[int, ...], seeds_globals: bool = False) -> None:
        self.function = function
        self.entropy = entropy
        self.seeds_globals = seeds_globals

    def run(self, first: int, items: Iterable[Any]) -> Iterator[Any]:
        """The new items.

        Args:
            first: place of the first item.
            items: the items.
        """
        draws = Draws(self.entropy)
        for place, item in enumerate(items, first):
            pause()
            draws.at(place)
            if self.seeds_globals:
                state = draws.generator().bit_generator.seed_seq.generate_state(1)
                random.seed(int(state[0]))
                np.random.seed(int(state[0]))
            # entered anew for each item, since code between two items has draws of its own
            with drawing_from(draws):
                found = self.function(item)
            if found is not LEFT_OUT:
                yield found


def _by_thread(job: Job, first: int, items: list[Any]) -> tuple[list[Any], float]:
    with at_work():
        return _timed(job, first, items)


def _timed(job: Job, first: int, items: list[Any]) -> tuple[list[Any], float]:
    begin = time.perf_counter()
    found = list(job.run(first, items))
    return found, time.perf_counter() - begin


def in_order(job: Job, items: Iterable[Any], first: int, workers: int, processes: bool) -> Iterator[Any]:
    """New items in the order of the old ones.

    Args:
        job: what is done to each.
        items: the items.
        first: place of the first.
        workers: how many may be in work at once.
        processes: whether worker processes do it, rather than threads.
    """
    if workers <= (0 if processes else 1):
        return job.run(first, items)
    if not processes:
        return _by_threads(job, items, first, workers)
    needs("cloudpickle", "worker processes")
    try:
        text = cloudpickle.dumps(job)
    except Exception as error:
        warnings.warn(
            f"what a pipeline runs cannot be sent to worker processes, so this process runs it: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return job.run(first, items)
    return _by_processes(text, items, first, workers)


def _by_threads(job: Job, items: Iterable[Any], first: int, workers: int) -> Iterator[Any]:
    quiet = is_quiet()
    pool = concurrent.futures.ThreadPoolExecutor(
        workers, thread_name_prefix="weft-data", initializer=lambda: enlist(threading.current_thread(), quiet)
    )
    try:
        yield from _windowed(lambda *chunk: pool.submit(_by_thread, job, *chunk), items, first, workers)
    finally:
        with waiting():
            pool.shutdown(wait=True, cancel_futures=True)


def _by_processes(text: bytes, items: Iterable[Any], first: int, workers: int) -> Iterator[Any]:
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_begin_worker, initargs=(text,)
    )

    def submit(place: int, chunk: list[Any]) -> concurrent.futures.Future[tuple[list[Any], float]]:
        with _starting, _without_main():
            return pool.submit(_work, place, _Packed.of(chunk))

    try:
        yield from _windowed(submit, items, first, workers)
    except concurrent.futures.process.BrokenProcessPool as broken:
        raise RuntimeError("a worker process ended unexpectedly (killed, or out of memory)") from broken
    finally:
        with waiting():
            pool.shutdown(wait=True, cancel_futures=True)


def _windowed(
    submit: Callable[[int, list[Any]], concurrent.futures.Future[tuple[list[Any], float]]],
    items: Iterable[Any],
    first: int,
    workers: int,
) -> Iterator[Any]:
    """The results of chunks that are submitted ahead, two for each worker."""
    source = iter(items)
    pending: collections.deque[tuple[int, concurrent.futures.Future[tuple[list[Any], float]]]] = collections.deque()
    size = 1
    ended = False
    failure: BaseException | None = None
    while True:
        while not ended and len(pending) < 2 * workers:
            chunk: list[Any] = []
            try:
                chunk.extend(itertools.islice(source, size))
            except Exception as error:
                # what came before stays in order: the failure is raised when its turn comes
                failure, ended = error, True
            if len(chunk) < size:
                ended = True
            if chunk:
                pending.append((len(chunk), submit(first, chunk)))
                first += len(chunk)
        if not pending:
            break
        count, future = pending.popleft()
        with waiting():
            found, seconds = future.result()
        if count == size and seconds < _LONG_ENOUGH and size < _LARGEST_CHUNK:
            size *= 2
        yield from _Packed.opened(found)
    if failure is not None:
        raise failure


_job: Job | Exception = RuntimeError("a worker process has no job")


def _begin_worker(text: bytes) -> None:
    global _job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program is interrupted, and ends its workers
    compute_on_host_only()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _job = cloudpickle.loads(text)
    except Exception as error:
        _job = error  # raised where somebody waits


def _end_with_parent() -> None:
    """A worker whose program was killed has nobody left to work for."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Packed:
    """Rows as one array for each column: far fewer objects to send.

    Args:
        columns: for each column the arrays of all rows in one.
    """

    def __init__(self, columns: list[np.ndarray[Any, Any]]) -> None:
        self.columns = columns

    @staticmethod
    def of(items: list[Any]) -> Any:
        """The items, packed where they are rows of like arrays.

        Args:
            items: the items.
        """
        if len(items) < 2 or not all(type(row) is tuple and len(row) == len(items[0]) for row in items):
            return items
        columns = []
        for values in zip(*items, strict=True):
            first = values[0]
            if type(first) is not np.ndarray or first.nbytes > _LARGEST_PACKED:
                return items
            shape, dtype = first.shape, first.dtype
            if not all(type(each) is np.ndarray and each.shape == shape and each.dtype == dtype for each in values):
                return items
            columns.append(np.array(values, dtype))
        return _Packed(columns)

    @staticmethod
    def opened(items: Any) -> list[Any]:
        """The items again.

        Args:
            items: what `of` gave.
        """
        if not isinstance(items, _Packed):
            return items
        # a row of one dimension less; of numbers, an array of none rather than a scalar
        return list(
            zip(*[[column[place, ...] for place in range(len(column))] for column in items.columns], strict=True)
        )


def _work(first: int, items: Any) -> tuple[Any, float]:
    if isinstance(_job, Exception):
        raise RuntimeError(f"a worker process cannot load what it should run: {_job}") from _job
    found, seconds = _timed(_job, first, _Packed.opened(items))
    return _Packed.of(found), seconds


@contextmanager
def _without_main() -> Iterator[None]:
    """Processes started in the block do not import the program's main file, which need not be guarded against it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def needs(package: str, what: str) -> None:
    """Say how to get a package that is missing.

    Args:
        package: its name.
        what: what needs it.

    Raises:
        ImportError: it is missing.
    """
    try:
        __import__(package)
    except ImportError as missing:
        raise ImportError(f'{what} need {package}: pip install "weft[data]"', name=package) from missing
