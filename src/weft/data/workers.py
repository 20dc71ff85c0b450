"""Functions applied to a stream of items in order: here, by threads, or by worker processes.

Items go to workers in chunks, which grow until one takes long enough that sending it hardly counts.
A function gets the place of its item in the stream as well, so what it draws does not depend on who runs it.

Worker processes are no forks of this one, whose threads, of XLA among others, they could wait for for ever, but of a
process that is started once and has none. They do not run the program's main file again; what a function needs of it
travels with the function.
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
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import numpy as np

from weft._jax_compat import compute_on_host_only
from weft.core import workers as standing
from weft.core.workers import at_work, enlist, is_quiet, pause, waiting
from weft.data.chunks import Columns, joined, packed, part_of, rows_of
from weft.data.randomness import Draws, drawing_from, enter, leave
from weft.lazily import deferred

cloudpickle: Any = deferred("cloudpickle")

#: what a chunk should take at least and at most, in seconds, to be read or changed; how many items, and about how many
#: bytes, it may have
_LONG_ENOUGH: Final = 4e-3
_TOO_LONG: Final = 0.05
_LARGEST_CHUNK: Final = 2048
_MOST_BYTES: Final = 1 << 20

#: stands for an item that is left out
LEFT_OUT: Final = object()

#: new items, the seconds that they took, and what was raised instead of further ones
_Done: TypeAlias = tuple[Any, float, Exception | None]
_Future: TypeAlias = "concurrent.futures.Future[_Done]"

_starting = threading.Lock()


class Job:
    """What workers do to each item.

    Args:
        function: called with an item; gives the new item. It may be one of `ByColumns`.
        entropy: numbers that tell this step of the pipeline, in this epoch, from others.
        seeds_globals: whether the global generators of `random` and NumPy begin anew for each item.
    """

    def __init__(self, function: Callable[[Any], Any], entropy: tuple[int, ...], seeds_globals: bool = False) -> None:
        self.function = function
        self.entropy = entropy
        self.seeds_globals = seeds_globals

    def together(self, first: int, chunk: Any) -> tuple[Any, Exception | None]:
        """The new items of a chunk, and what was raised instead of further ones.

        Args:
            first: place of the first item.
            chunk: the items.
        """
        function: Any = self.function
        seeds = self.seeds_globals
        if isinstance(function, ByColumns):
            whole = function.for_all(chunk)
            if whole is not None:
                return whole, None
        by_columns = isinstance(function, ByColumns) and function.is_by_columns
        one, arguments = (function.one, function.arguments(chunk)) if by_columns else (function, rows_of(chunk))
        draws = Draws(self.entropy)
        found: list[Any] = []
        failure: Exception | None = None
        with drawing_from(draws):
            try:
                for draws.place, argument in enumerate(arguments, first):
                    if standing._needed_by is not None:  # what `pause` asks first, without a call for each item
                        pause()
                    if seeds:
                        _seed_globals(draws)
                    found.append(one(argument))
            except Exception as error:
                failure = error
        if not by_columns:
            return [each for each in found if each is not LEFT_OUT], failure
        if failure is not None:
            cause, failure = failure, function.failed(arguments[len(found)], failure)
            failure.__cause__ = cause
            chunk = part_of(chunk, 0, len(found))
        return self._collected(chunk, found, failure)

    def _collected(self, chunk: Any, found: list[Any], failure: Exception | None) -> tuple[Any, Exception | None]:
        function: Any = self.function
        whole = function.collected(chunk, found) if found else []
        if whole is not None:
            return whole, failure
        rows: list[Any] = []
        try:
            for item, value in zip(rows_of(chunk), found, strict=True):
                rows.append(function.finished(item, value))
        except Exception as error:
            failure = error
        return rows, failure


class OneByOne:
    """New items of a job that one thread does: chunks of one, as soon as it is there.

    Args:
        job: what is done to each.
        chunks: the items.
        first: place of the first.
    """

    def __init__(self, job: Job, chunks: Iterable[Any], first: int) -> None:
        self._job = job
        self._source = Cut(chunks)
        self._counter = itertools.count(first)
        # it does not know this object, so that both end as soon as nobody needs them
        self._made = _made_one_by_one(job, self._source, self._counter)

    def __iter__(self) -> Iterator[list[Any]]:
        return self._made

    def __next__(self) -> list[Any]:
        return next(self._made)

    def take(self, size: int) -> tuple[Any, Exception | None]:
        """The new items of so many, for somebody who waits for all of them.

        Args:
            size: how many; there may be fewer, and are none at the end.

        Returns:
            tuple: the items, and what was raised instead of further ones.
        """
        found: Any = ()
        failure: Exception | None = None
        while not len(found) and failure is None:
            chunk = self._source.take(size)
            if not len(chunk):
                return (), self._source.failure
            first = next(self._counter)
            collections.deque(itertools.islice(self._counter, len(chunk) - 1), 0)
            found, failure = self._job.together(first, chunk)
        return found, failure


def _made_one_by_one(job: Job, source: Cut, counter: Iterator[int]) -> Iterator[list[Any]]:
    function, seeds, draws = job.function, job.seeds_globals, Draws(job.entropy)
    while len(chunk := source.next()):
        for item, draws.place in zip(rows_of(chunk), counter, strict=False):
            pause()
            if seeds:
                _seed_globals(draws)
            # entered anew for each item, since code between two items has draws of its own
            token = enter(draws)
            try:
                found = function(item)
            finally:
                leave(token)
            if found is not LEFT_OUT:
                yield [found]
    if source.failure is not None:
        raise source.failure


class ByColumns:
    """What workers do to an item, which may be done to the items of a chunk with less for each of them."""

    #: whether it is done so
    is_by_columns: bool
    #: what is called for each item
    one: Callable[[Any], Any]

    def for_all(self, chunk: Any) -> Any:
        """The new items of a chunk, where nothing is called for each; None where something is.

        Args:
            chunk: the chunk.
        """
        del chunk
        return None

    def arguments(self, chunk: Any) -> list[Any]:
        """What `one` is called with, for each item of a chunk.

        Args:
            chunk: the chunk.
        """
        raise NotImplementedError

    def failed(self, argument: Any, error: Exception) -> Exception:
        """What is raised for what `one` raised.

        Args:
            argument: what it was called with.
            error: what it raised.
        """
        raise NotImplementedError

    def collected(self, chunk: Any, found: list[Any]) -> Any:
        """The new items of a chunk; None where `finished` must make them.

        Args:
            chunk: the chunk.
            found: what `one` gave for each.
        """
        raise NotImplementedError

    def finished(self, item: Any, value: Any) -> Any:
        """The new item for one.

        Args:
            item: the item.
            value: what `one` gave for it.
        """
        raise NotImplementedError


def _seed_globals(draws: Draws) -> None:
    state = int(draws.sequence().generate_state(1)[0])
    random.seed(state)
    np.random.seed(state)


def _by_thread(job: Job, first: int, chunk: Any) -> _Done:
    with at_work():
        return _timed(job, first, chunk)


def _timed(job: Job, first: int, chunk: Any) -> _Done:
    begin = time.perf_counter()
    found, failure = job.together(first, chunk)
    return found, time.perf_counter() - begin, failure


def in_order(job: Job, chunks: Iterable[Any], first: int, workers: int, processes: bool) -> Iterator[Any]:
    """New items in the order of the old ones, in chunks.

    Args:
        job: what is done to each.
        chunks: the items.
        first: place of the first.
        workers: how many may be in work at once.
        processes: whether worker processes do it, rather than threads.
    """
    if workers <= (0 if processes else 1):
        return OneByOne(job, chunks, first)
    if not processes:
        return _by_threads(job, chunks, first, workers)
    needs("cloudpickle", "worker processes")
    try:
        text = cloudpickle.dumps(job)
    except Exception as error:
        warnings.warn(
            f"what a pipeline runs cannot be sent to worker processes, so this process runs it: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return OneByOne(job, chunks, first)
    return _by_processes(text, chunks, first, workers)


def _by_threads(job: Job, chunks: Iterable[Any], first: int, workers: int) -> Iterator[Any]:
    quiet = is_quiet()
    pool = concurrent.futures.ThreadPoolExecutor(
        workers, thread_name_prefix="weft-data", initializer=lambda: enlist(threading.current_thread(), quiet)
    )

    def submit(place: int, chunk: Any) -> _Future:
        return pool.submit(_by_thread, job, place, chunk)

    try:
        yield from _windowed(submit, Cut(chunks), first, workers)
    finally:
        with waiting():
            pool.shutdown(wait=True, cancel_futures=True)


def _by_processes(text: bytes, chunks: Iterable[Any], first: int, workers: int) -> Iterator[Any]:
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, _context(), initializer=_begin_worker, initargs=(text, dict(os.environ))
    )

    def submit(place: int, chunk: Any) -> Any:
        with _starting, _without_main():
            return pool.submit(_work, place, packed(chunk) if type(chunk) is list else chunk)

    try:
        yield from _windowed(submit, Cut(chunks), first, workers)
    except concurrent.futures.process.BrokenProcessPool as broken:
        raise RuntimeError("a worker process ended unexpectedly (killed, or out of memory)") from broken
    finally:
        with waiting():
            pool.shutdown(wait=True, cancel_futures=True)


def _context() -> Any:
    """How processes are started."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # imported once, unless the program has such a process already
    context.set_forkserver_preload([__name__])
    return context


class Cut:
    """Items in chunks of the size that is asked for.

    Args:
        chunks: the items in chunks as they come.
    """

    def __init__(self, chunks: Iterable[Any]) -> None:
        self._made = chunks if isinstance(chunks, OneByOne) else None
        self._chunks = iter(chunks)
        self._left: Any = ()
        self._at = 0
        #: what was raised instead of further items
        self.failure: Exception | None = None

    def take(self, size: int) -> Any:
        """The next so many items, perhaps fewer; none at their end.

        Args:
            size: how many.
        """
        if self._made is not None:
            if self.failure is not None:
                return ()
            found, self.failure = self._made.take(size)
            return found
        held: list[Any] = []
        missing = size
        while missing:
            left, at = self._left, self._at
            if at >= len(left):
                left, at = self.next(), 0
                if not len(left):
                    break
                if type(left) is list and len(left) == 1:
                    held += left
                    missing -= 1
                    continue
                self._left = left
            self._at = min(len(left), at + missing)
            missing -= self._at - at
            if type(left) is Columns:
                # as they are, rather than put together
                part = left.part(at, self._at)
                return joined([held, part]) if held else part
            held += left if self._at - at == len(left) else left[at : self._at]
        return held

    def next(self) -> Any:
        """The next chunk as it comes; none at the end."""
        if self.failure is None:
            try:
                return next(self._chunks, ())
            except Exception as error:
                # what came before stays in order: the failure is raised when its turn comes
                self.failure, self._chunks = error, iter(())
        return ()


def _windowed(submit: Callable[[int, Any], _Future], source: Cut, first: int, workers: int) -> Iterator[Any]:
    """The results of chunks that are submitted ahead, two for each worker."""
    pending: collections.deque[tuple[int, float, _Future]] = collections.deque()
    size = 1
    ended = False
    while True:
        while not ended and len(pending) < 2 * workers:
            begin = time.perf_counter()
            chunk = source.take(size)
            if not len(chunk):
                ended = True
                break
            pending.append((len(chunk), time.perf_counter() - begin, submit(first, chunk)))
            first += len(chunk)
        if not pending:
            break
        count, read_in, future = pending.popleft()
        with waiting():
            found, seconds, failure = future.result()
        slower = max(seconds, read_in)
        if slower > _TOO_LONG:
            size = max(1, min(size, int(count * _TOO_LONG / slower)))
        elif count == size and slower < _LONG_ENOUGH and size < _LARGEST_CHUNK and _bytes_of(found) < _MOST_BYTES:
            size *= 2
        if len(found):
            yield found
        if failure is not None:
            raise failure
    if source.failure is not None:
        raise source.failure


def _bytes_of(found: Any) -> int:
    """About how many bytes the rows of a chunk have."""
    if type(found) is Columns:
        return found.nbytes
    row = found[0] if found else ()
    return len(found) * sum(getattr(part, "nbytes", 0) for part in row) if type(row) is tuple else 0


_job: Job | Exception = RuntimeError("a worker process has no job")


def _begin_worker(text: bytes, environment: dict[str, str]) -> None:
    global _job
    os.environ.clear()  # it may be forked from a process that was started before the program changed something
    os.environ.update(environment)
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


class _InWorker(Exception):
    """Stands for the cause of what was raised in a worker process: its traceback as text."""


class _Sent:
    """What was raised in a worker process, with its traceback, which exceptions leave behind when they are sent.

    Args:
        error: what was raised.
    """

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.text = "".join(traceback.format_exception(error))

    def __reduce__(self) -> Any:
        return _received, (self.error, self.text)


def _received(error: Exception, text: str) -> Exception:
    error.__cause__ = _InWorker(f'\n"""\n{text}"""')
    return error


def _work(first: int, chunk: Any) -> tuple[Any, float, _Sent | None]:
    if isinstance(_job, Exception):
        raise RuntimeError(f"a worker process cannot load what it should run: {_job}") from _job
    found, seconds, failure = _timed(_job, first, chunk)
    sent = None if failure is None else _Sent(failure)
    return packed(found) if type(found) is list else found, seconds, sent


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
