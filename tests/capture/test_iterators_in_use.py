"""Loops that go on after a break: their iterators are in use, so that nobody asks them for an iterator again."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft
from weft import Tensor


class Restarting:
    """A data set that is its own iterator: each `iter` begins it anew."""

    def __init__(self, count: int) -> None:
        self.count, self.epochs, self.position = count, 0, 0

    def __iter__(self) -> Iterator[Any]:
        self.epochs += 1
        self.position = 0
        return self

    def __next__(self) -> Tensor:
        self.position += 1
        if self.position > self.count:
            raise StopIteration
        return Tensor([1.0]) * self.position


class Fresh(Restarting):
    """A data set with an iterator for each loop."""

    def __iter__(self) -> Iterator[Any]:
        self.epochs += 1
        return Restarting(self.count)


LOG: list[Any] = []


def note(x: Tensor) -> None:
    """A break: the value is asked for."""
    LOG.append(float(x.asnumpy()[0]))


def _is_large(x: Tensor) -> bool:
    return bool(x[0] > 1)


def _plain(data: Any, x: Any) -> Any:
    for item in data:
        x = x + item
        note(x)
    return x


def _enumerated(data: Any, x: Any) -> Any:
    for number, item in enumerate(data):
        x = x + item * number
        note(x)
    return x


def _zipped(data: Any, x: Any) -> Any:
    for number, item in zip(data, range(3), strict=False):
        x = x + number * item
        note(x)
    return x


def _twice(data: Any, x: Any) -> Any:
    for a, b in zip(data, data, strict=False):
        x = x + a * b
        note(x)
    return x


def _mapped(data: Any, x: Any) -> Any:
    for item in map(operator.neg, data):
        x = x + item
        note(x)
    return x


def _filtered(data: Any, x: Any) -> Any:
    for item in filter(_is_large, data):
        x = x + item
        note(x)
    return x


def _delegated(data: Any, x: Any) -> Any:
    def items() -> Iterator[Any]:
        yield from data

    for item in items():
        x = x + item
        note(x)
    return x


def _two_loops(data: Any, x: Any) -> Any:
    iterator = iter(data)
    for item in iterator:
        x = x + item
        note(x)
    for item in iterator:
        x = x + item * 100
    return x


def _chained(data: Any, x: Any) -> Any:
    for item in itertools.chain(data, [x]):
        x = x + item
        note(x)
    return x


def _generated(data: Any, x: Any) -> Any:
    for item in (t * 3 for t in data):
        x = x + item
        note(x)
    return x


def _sliced(data: Any, x: Any) -> Any:
    for item in itertools.islice(data, 1, None):
        x = x + item
        note(x)
    return x


def _by_hand(data: Any, x: Any) -> Any:
    iterator = iter(data)
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            break
        x = x + item
        note(x)
    return x


def _unpacked(data: Any, x: Any) -> Any:
    first, *rest = data
    note(first)
    return x + sum(rest)


def _nested(data: Any, x: Any) -> Any:
    for number, (item, count) in enumerate(zip(data, itertools.count(), strict=False)):
        x = x + item * count + number
        note(x)
    return x


def _left_early(data: Any, x: Any) -> Any:
    for item in data:
        x = x + item
        if x.sum() > 5:
            break
    else:
        LOG.append("else")
    return x


def _left_in_a_loop(data: Any, x: Any) -> Any:
    for _ in range(2):
        for item in data:
            x = x + item
            if x.sum() > 5:
                LOG.append(1)
                break
    return x


PROGRAMS = (
    _plain, _enumerated, _zipped, _twice, _mapped, _filtered, _delegated, _two_loops, _chained, _generated, _sliced,
    _by_hand, _unpacked, _nested, _left_early, _left_in_a_loop,
)  # fmt: skip


def outcomes(program: Callable[..., Any], data_class: Callable[[int], Any]) -> list[Any]:
    found = []
    for count in (1, 2, 5, 3):
        LOG.clear()
        data = data_class(count)
        result = program(data, Tensor([1.0])).asnumpy().tolist()
        found.append((result, data.epochs, data.position, list(LOG)))
    return found


@pytest.mark.parametrize("data_class", [Restarting, Fresh])
@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_over_data(program: Callable[..., Any], data_class: Callable[[int], Any]) -> None:
    assert outcomes(weft.jit(program), data_class) == outcomes(program, data_class)


def test_the_rest_of_an_unpacked_iterator() -> None:
    """Python makes a list of the iterator, which asks it for its iterator again."""
    asked = []

    class Counting:
        def __init__(self) -> None:
            self.left = 3

        def __iter__(self) -> Iterator[int]:
            asked.append(self.left)
            return self

        def __next__(self) -> int:
            if not self.left:
                raise StopIteration
            self.left -= 1
            return self.left

    def unpacks(items: Any, x: Any) -> Any:
        first, *rest, last = items
        return x + first, rest, last

    for function in (unpacks, weft.jit(unpacks)):
        asked.clear()
        result, rest, last = function(Counting(), Tensor([1.0]))
        assert (result.asnumpy().tolist(), rest, last, asked) == ([3.0], [1], 0, [3, 2])


@pytest.mark.parametrize("items", [(), (1,), (1, 2)])
def test_too_few_items_to_unpack(items: Any) -> None:
    def unpacks(items: Any) -> Any:
        a, b, *c, d = items
        return a, b, c, d

    messages = []
    for function in (unpacks, weft.jit(unpacks)):
        with pytest.raises(ValueError, match="not enough values") as raised:
            function(iter(items))
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
