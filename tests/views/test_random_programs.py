"""Random programs of views, writes and reads: tensors share elements where NumPy's arrays do."""

from __future__ import annotations

import pytest

from tests.views.running import check
from tests.views.writer import Writer


@pytest.mark.parametrize("seed", range(40))
def test_straight_line(seed: int) -> None:
    check(Writer(seed).program(10), fullgraph=True)


@pytest.mark.parametrize("seed", range(15))
def test_with_breaks(seed: int) -> None:
    check(Writer(1000 + seed, breaks=True).program(10))


@pytest.mark.parametrize("seed", range(25))
def test_branches_and_loops(seed: int) -> None:
    check(Writer(2000 + seed, control=1).program(7))


@pytest.mark.parametrize("seed", range(10))
def test_nested_control_with_breaks(seed: int) -> None:
    check(Writer(3000 + seed, control=2, breaks=True).program(6))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400))
def test_many_more(seed: int) -> None:
    check(Writer(10_000 + seed, control=seed % 3, breaks=seed % 2 == 1).program(4 + seed % 9))
