"""The benchmarks follow the code that they measure; what they measure is no matter of tests."""

from __future__ import annotations

from bench import __main__ as benchmarks
from bench.measure import ROWS


def test_benchmarks_find_what_they_measure() -> None:
    assert {row.measure.__module__ for row in ROWS} <= set(benchmarks.ORDER)
    assert len(ROWS) > 15
