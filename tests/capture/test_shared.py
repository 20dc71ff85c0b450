"""What other threads see of a capture: nothing. They write to the objects that a captured function reads and writes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor
from weft.core.threads import others_run
from weft.jit import jit
from weft.testing import assert_no_breaks

WRITERS = 8
#: items at the end of a sequence that a thread looks at
LOOKED_AT = 30


class Holder:
    """An object that threads share."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.last: Any = None


class Shared:
    """Containers of several kinds, the threads that write to them, and what these saw."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.pairs: dict[Any, Any] = {"last": None, "calls": 0}
        self.queue: deque[Any] = deque()
        self.members: set[Any] = set()
        self.holder = Holder()
        self.written = [0] * WRITERS
        self.symbolic: list[Any] = []
        self.failures: list[BaseException] = []
        self.stopped = threading.Event()

    def look(self, value: Any) -> None:
        if isinstance(value, Tensor) and value.is_symbolic:
            self.symbolic.append(value)

    def write(self, number: int) -> None:
        try:
            while not self.stopped.wait(0.002):
                entry = number, self.written[number]
                for sequence in (self.items, self.queue, self.holder.log):
                    sequence.append(entry)
                self.pairs[entry] = entry
                self.members.add(entry)
                self.written[number] += 1
                for sequence in (self.items, self.queue, self.holder.log):
                    for value in [sequence[-place] for place in range(1, min(LOOKED_AT, len(sequence)))]:
                        self.look(value)
                for value in (self.pairs["last"], self.pairs["calls"], self.holder.last, *vars(self.holder).values()):
                    self.look(value)
        except BaseException as error:
            self.failures.append(error)

    def program(self, factor: int) -> Callable[[Tensor], Any]:
        """A function of its own for each capture."""

        def function(x: Tensor) -> Any:
            y = x * factor
            self.items.append(y)
            self.queue.append(y)
            self.holder.log.append(y)
            self.pairs["calls"] = self.pairs["calls"] + 1
            self.pairs["last"] = y
            self.holder.__dict__["last"] = y
            count = len(self.items) + len(self.holder.log)
            return y + 0 * count + 1

        return function


def captured_beside_writers(seconds: float) -> None:
    """Capture new functions for some time while threads write; nothing is seen, lost or repeated."""
    shared = Shared()
    threads = [threading.Thread(target=shared.write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    calls, end = 0, time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            function, size = jit(shared.program(calls)), calls % 5 + 1
            for _ in range(2):
                result = function(Tensor(np.ones(size, np.float32)))
                assert result.asnumpy().tolist() == [calls // 2 * 2 + 1.0] * size
                calls += 1
    finally:
        shared.stopped.set()
        for thread in threads:
            thread.join()
    assert shared.failures == []
    assert shared.symbolic == []
    assert calls >= 4
    assert shared.pairs["calls"] == calls
    for sequence in (shared.items, shared.queue, shared.holder.log):
        assert sum(isinstance(value, Tensor) for value in sequence) == calls
        for number, count in enumerate(shared.written):
            found = [value[1] for value in sequence if isinstance(value, tuple) and value[0] == number]
            assert found == list(range(count))
    assert len(shared.members) == len(shared.pairs) - 2 == sum(shared.written) > 0


def test_a_capture_beside_threads_that_write() -> None:
    captured_beside_writers(5)


@pytest.mark.slow
def test_captures_beside_threads_that_write_for_a_minute() -> None:
    captured_beside_writers(60)


def test_a_call_whose_reads_another_thread_changes_is_captured_for_itself() -> None:
    counts = [0]
    stopped = threading.Event()

    def count() -> None:
        while not stopped.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:

        @jit
        def function(x: Any) -> Any:
            before = counts[0]
            return x + 1, before, counts[0]

        for number in range(3):
            first = counts[0]
            result, before, after = function(Tensor(np.ones(2, np.float32) * number))
            assert result.asnumpy().tolist() == [number + 1.0] * 2
            assert first <= before <= after <= counts[0]
    finally:
        stopped.set()
        thread.join()


def test_alone_writes_stay_in_the_graph() -> None:
    assert not others_run()
    log: list[Any] = []

    @jit
    def function(x: Any) -> Any:
        log.append(x * 2)
        return x

    with assert_no_breaks():
        function(Tensor(np.ones(2, np.float32)))
    assert len(log) == 1


def test_a_thread_that_waits_for_work_in_a_pool_is_none_that_runs() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        time.sleep(0.05)
        assert not others_run()
        begun, done = threading.Event(), threading.Event()
        pool.submit(lambda: (begun.set(), done.wait(30)))
        assert begun.wait(30)
        assert others_run()
        done.set()
