"""Random programs, eagerly and captured; see `random_programs`."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from random_programs import random_program

from tests.helpers.programs import Case, check_case
from tests.helpers.sources import function_of
from tests.helpers.values import f32, i64, tensors
from weft.capture.capture import Program
from weft.capture.state.events import FIRST
from weft.explain import Recorder

INPUTS = [
    (f32(0.5, 1.5), f32(-0.3, 0.2), i64(2)),
    (f32(-0.9, 0.1), f32(0.4, 0.8), i64(0)),
    (f32(0.05, -0.02), f32(-1.0, -2.0), i64(3)),
]


SLOW = [pytest.mark.slow]


@pytest.mark.parametrize(
    ("gradients", "count"),
    [(False, 16), (True, 4), pytest.param(False, 200, marks=SLOW), pytest.param(True, 50, marks=SLOW)],
)
def test_programs_do_what_python_does(gradients: bool, count: int) -> None:
    broken: set[str] = set()
    seen: set[str] = set()

    @settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def run(seed: int) -> None:
        source = random_program(Random(seed), depth=2)
        note(source)
        seen.add(source)
        with Recorder() as recorder:
            check_case(Case(function_of(source), INPUTS, False, gradients, False, -1))
        if recorder.report().breaks:
            broken.add(source)

    run()
    assert len(broken) <= 0.1 * len(seen)


@pytest.mark.parametrize(("seed", "limit"), [(145, 1000), (291, 10_000), (648, 1000)])
def test_deep_programs_give_graphs_of_bounded_size(seed: int, limit: int) -> None:
    """Nested loops with several exits, whose paths have to meet early: else each iteration doubles what follows."""
    function = function_of(random_program(Random(seed), depth=3))
    entry = Program("f", True, fullgraph=True).capture_call(function, tensors(INPUTS[0]), {}, FIRST)
    assert sum(1 for _ in entry.segment.graph.walk()) < limit
