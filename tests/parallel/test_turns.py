"""Which threads may exchange over a group: those of which all processes have the same order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from weft.parallel.groups import Group
from weft.parallel.turns import Turns

G, H = Group("g", (0, 1)), Group("h", (0, 1))


class Worker:
    """A thread that takes groups when it is told to."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self.said = turns, ""
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        while (group := self._jobs.get()) is not None:
            try:
                self._turns.take(group, threading.current_thread(), "AllReduce")
                self._found.put(True)
            except RuntimeError as error:
                self.said = str(error)
                self._found.put(False)

    def may(self, group: Group = G) -> bool:
        self._jobs.put(group)
        return bool(self._found.get(timeout=10))

    def end(self) -> None:
        self._jobs.put(None)
        self.thread.join()


@pytest.fixture
def workers() -> Iterator[Any]:
    turns, made = Turns(), []

    def start() -> Worker:
        made.append(Worker(turns))
        return made[-1]

    yield start
    for each in made:
        each.end()


def test_a_thread_has_its_group(workers: Any) -> None:
    one = workers()
    assert [one.may() for _ in range(3)] == [True] * 3


def test_two_threads_at_once(workers: Any) -> None:
    one, other = workers(), workers()
    assert one.may()
    assert not other.may()
    assert one.may()


def test_threads_have_groups_of_their_own(workers: Any) -> None:
    one, other = workers(), workers()
    assert [one.may(G), other.may(H), one.may(G), other.may(H)] == [True] * 4
    assert not other.may(G)


def test_one_that_was_started_later_takes_over_and_gives_back(workers: Any) -> None:
    one = workers()
    assert one.may()
    later = workers()
    assert later.may()
    assert not one.may()  # the later one runs beside it
    later.end()
    assert one.may()
    again = workers()
    assert again.may()


def test_one_that_was_there_does_not_take_over_when_the_other_has_ended(workers: Any) -> None:
    """In another process it may have come first."""
    one, other = workers(), workers()
    assert one.may()
    one.end()
    assert not other.may()
    assert workers().may()


def test_one_that_ran_beside_the_first_does_not_follow_a_later_one(workers: Any) -> None:
    first = workers()
    assert first.may()
    one, other = workers(), workers()
    assert one.may()
    one.end()
    assert not other.may()
    assert first.may()
    assert not other.may()


def test_one_that_started_the_first_takes_over_when_that_has_ended() -> None:
    """Nobody else can have started it, so this one comes later in all processes."""
    turns = Turns()
    first = Worker(turns)
    assert first.may()
    with pytest.raises(RuntimeError):
        turns.take(G, threading.current_thread(), "AllReduce")
    first.end()
    turns.take(G, threading.current_thread(), "AllReduce")


def test_one_beside_which_others_ran_may_be_anybodys(workers: Any) -> None:
    turns = Turns()
    workers()  # may have started the one that exchanges
    first = Worker(turns)
    assert first.may()
    first.end()
    with pytest.raises(RuntimeError):
        turns.take(G, threading.current_thread(), "AllReduce")


def test_whom_it_belongs_to_is_told(workers: Any) -> None:
    one, other = workers(), workers()
    assert one.may()
    assert not other.may()
    names = (
        f"AllReduce: the thread {other.thread.name!r} exchanges over group 'g', as the thread {one.thread.name!r} does"
    )
    assert other.said.startswith(names)
