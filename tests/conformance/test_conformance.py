"""Weft's answers to a part of the table of calls: what differs from MindSpore is declared in `departures.txt`.

The whole table is compared by ``make conformance``.
"""

from __future__ import annotations

import zlib

import pytest

import weft.mindspore  # noqa: F401  (the door)
from tests.conformance.__main__ import ask, departures
from tests.conformance.answers import difference, table

#: one call of so many is in the sample
SHARE = 10
#: tests into which the sample is cut, for as many workers
PARTS = 8
TABLE = table()
SAMPLE = [row for row in TABLE if zlib.crc32(row[1].encode()) % SHARE == 0]


def test_the_table_is_large_and_has_no_call_twice() -> None:
    calls = [call for _, call, _ in TABLE]
    assert len(calls) > 15_000
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize("part", range(PARTS))
def test_differences_are_declared(part: int) -> None:
    results = list(ask(SAMPLE[part::PARTS]))
    assert len(results) > len(SAMPLE) // PARTS // 2
    assert [f"{one.call} => {one.difference}" for one in results if one.difference and not one.reason] == []
    agree = sum(not one.difference for one in results)
    assert agree / len(results) > 0.94


def test_each_departure_has_a_reason() -> None:
    assert all(len(one.reason) > 20 for one in departures())


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (["int", 3], ["int", 3], ""),
        (["int", 3], ["float", 3.0], "kind: int, not float"),
        (["Tensor", "float32", [1], [1.00001]], ["Tensor", "float32", [1], [1.0]], ""),
        (["Tensor", "float32", [1], [1.01]], ["Tensor", "float32", [1], [1.0]], "values"),
        (["Tensor", "int32", [1], [1]], ["Tensor", "int64", [1], [1]], "dtype: int32, not int64"),
        (["Tensor", "float32", [1], ["nan"]], ["Tensor", "float32", [1], ["nan"]], ""),
        (["Tensor", "float32", [2], [1.0, 2.0]], ["Tensor", "float32", [2]], ""),
        (["tuple", [["int", 1]]], ["tuple", [["int", 1], ["int", 2]]], "length: 1, not 2"),
        (["raises", "IndexError"], ["raises", "LookupError"], ""),
        (["raises", "TypeError"], ["raises", "ValueError"], "raises TypeError, not ValueError"),
        (["raises", "TypeError"], ["raises", "RuntimeError"], ""),
        (["raises", "TypeError", "AttributeError"], ["raises", "AttributeError"], ""),
        (["int", 1], ["raises", "ValueError"], "answers, where ValueError is raised"),
    ],
)
def test_when_answers_agree(found: list[object], expected: list[object], words: str) -> None:
    assert difference(found, expected) == words
