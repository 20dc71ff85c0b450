"""Rows of a tensor that is written while they are taken: an iteration has the rows of its beginning, as in Python."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.programs import check
from weft import Tensor

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2) / 4


def plain(x: Any) -> Any:
    total = x[0] * 0
    for row in x:
        total = total + row * row
        x += 1
    return total, x


def numbered(x: Any) -> Any:
    x, found = x * 1, []
    for i, row in enumerate(x):
        found.append(row.sum() * row)
        if i + 1 < 3:
            x[i + 1] = x[i + 1] + 100
    return found, x


def zipped(x: Any) -> Any:
    total = x[0] * 0
    for i, row, again in zip(range(3), x, x, strict=True):
        total = total + row * again * i
        x[2] = 7.0
    return total, x


def one_by_one(x: Any) -> Any:
    x = x * 2
    rows = iter(x)
    first = next(rows)
    x[1] = 50.0
    second = next(rows)
    x = x * 3
    return first * second, next(rows), next(rows, None)


def mapped(x: Any) -> Any:
    x, found = x * 1, []

    def squared(row: Any) -> Any:
        return row * row

    for row in map(squared, x):
        found.append(row)
        x[2] = 5.0
    return found, x


def filtered(x: Any) -> Any:
    found = []
    for row in filter(lambda row: row.shape == (2,), x):
        found.append(row * 2)
        x *= 2
    return found


def backwards(x: Any) -> Any:
    """`reversed` asks for each row when it comes to it."""
    x, total = x * 1, 0
    for row in reversed(x):
        total = total + row * row
        x[0] = x[0] + 100
    return total


def generated(x: Any) -> Any:
    x = x * 1
    squares = (row * row for row in x)
    first = next(squares)
    x[1] = 33.0
    return [first, *squares], x


def _rows(x: Any) -> Iterator[Any]:
    for row in x:
        yield row * 2
        x += 1


def by_a_generator(x: Any) -> Any:
    x = x * 1
    return [row + x for row in _rows(x)]


def unpacked(x: Any) -> Any:
    a, b, c = x
    first, *rest = x
    x += 1
    return a * b, c, first, rest, [row * 2 for row in x]


def listed(x: Any) -> Any:
    rows, pair = list(x), tuple(x)
    x *= 3
    return rows, pair, x


def summed(x: Any) -> Any:
    def writing(row: Any) -> Any:
        x[2] = x[2] * 2
        return row * row

    return sum(writing(row) for row in x), functools.reduce(lambda a, b: a * 2 + writing(b), x)


def nested(x: Any) -> Any:
    total = 0
    for row in x:
        for element in row:
            total = total + element * row.sum()
            row += 1
            x += 1
    return total, x


def by_itertools(x: Any) -> Any:
    total = 0
    for a, b in itertools.pairwise(x):
        total = total + a * b
        x[2] = 9.0
    for row in itertools.chain(x, x):
        total = total + row
        x += 1
    return total


def contained(x: Any) -> Any:
    found = 0
    for row in x:
        found = found * 2 + (9.0 in row) + 4 * (9.0 in x)
        x[2] = 9.0
    return found


def left_early(x: Any) -> Any:
    total = x[0].sum() * 0
    for row in x:
        total = total + (row * row).sum()
        x[2] = x[1] * 2
        if total > 1:
            break
    return total, x


def in_a_loop_of_the_graph(x: Any) -> Any:
    total, count = x[0] * 0, 0
    while x.sum() < 30:
        for row in x:
            total = total + row * row
            x += 1
        count += 1
    return total, x, count


def across_a_loop_of_the_graph(x: Any) -> Any:
    rows = iter(x)
    first = next(rows)
    while x.sum() < 30:
        x[1] = x[1] + 3
    return first, next(rows) * 2, next(rows), x


def under_a_condition(x: Any) -> Any:
    rows = enumerate(x)
    first = next(rows)[1]
    if x.sum() > 4:
        x[1] = x[1] * 5
        second = next(rows)[1] * first
    else:
        second = next(rows)[1] * 2
        x *= 3
    return second, next(rows)[1], x


def over_one_of_two(x: Any) -> Any:
    y = x * 2
    z = x if x.sum() > 4 else y
    total = 0
    for row in z:
        total = total + row * row
        x += 1
        y[1] = 4.0
    return total, x, y


def constant(x: Any) -> Any:
    known, total = Tensor([1.0, 2.0, 3.0]), 0
    for number in known:
        total = total + number * x
        known += 1
    return total, known


PROGRAMS = (
    plain, numbered, zipped, one_by_one, mapped, filtered, backwards, generated, by_a_generator, unpacked, listed,
    summed, nested, by_itertools, contained, left_early, in_a_loop_of_the_graph, across_a_loop_of_the_graph,
    under_a_condition, over_one_of_two, constant,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_python(program: Callable[..., Any]) -> None:
    check(program, ROWS, ROWS + 1, entries=-1)


def _in_python(x: Any) -> list[Any]:
    found = []
    for row in x:
        found.append(float(row.asnumpy()[0]))  # a break
        x[2] = 8.0
    return [*found, x.asnumpy().tolist()]


def _iterator_in_python(x: Any) -> list[Any]:
    rows = iter(x)
    x[1] = x[1] + 7
    found = [float(next(rows).asnumpy()[0])]
    x[2] = 8.0
    return [*found, *[row.asnumpy().tolist() for row in rows]]


@pytest.mark.parametrize("program", (_in_python, _iterator_in_python))
@pytest.mark.parametrize("options", ({}, {"mode": "PIJit"}))
def test_past_a_break(program: Callable[..., Any], options: Any) -> None:
    compiled = weft.jit(program, **options)
    for _ in range(3):
        assert compiled(Tensor(ROWS)) == program(Tensor(ROWS))


class Counting(Tensor):
    """A tensor with an iteration of its own."""

    def __iter__(self) -> Iterator[Any]:
        return iter([1, 2, 3])


def _items(x: Any) -> Any:
    return [item * 2 for item in x], list(x)


def test_an_iteration_of_the_programs_own() -> None:
    assert weft.jit(_items)(Counting([1.0, 3.0])) == _items(Counting([1.0, 3.0]))
