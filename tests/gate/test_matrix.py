"""Everything native that captured code can call, on values that change: compiled calls do what Python does.

The whole matrix runs with ``-m slow``, with ``WEFT_GATE_MATRIX=all``, or by
``python -m tests.gate``; else a sample of it does.
"""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from tests.gate.frozen import Frozen, difference
from tests.gate.matrix import SUBJECTS, programs
from tests.gate.operands import outside, run_time
from tests.gate.programs import Operation, Program, World
from tests.gate.report import Report, table
from tests.gate.running import SHARES, chosen, run

#: programs of the whole matrix, at least
ALL: Final = 5000


def report_of(subject: str, parts: int) -> Report:
    """What running one of so many parts of the matrix finds."""
    return Report(run(program) for program in chosen([subject], count=parts))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_sample_does_what_python_does(subject: str) -> None:
    report = report_of(subject, SHARES)
    assert report.programs > 0
    assert not report.differing, table(report, examples=True)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_whole_matrix_does_what_python_does(subject: str, request: pytest.FixtureRequest) -> None:
    if os.environ.get("WEFT_GATE_MATRIX") != "all" and "slow" not in request.config.getoption("markexpr"):
        pytest.skip("the whole matrix takes an hour of one core: -m slow or WEFT_GATE_MATRIX=all")
    report = report_of(subject, 1)
    assert not report.differing, table(report, examples=True)


@pytest.mark.slow
def test_matrix_is_large(request: pytest.FixtureRequest) -> None:
    if os.environ.get("WEFT_GATE_MATRIX") != "all" and "slow" not in request.config.getoption("markexpr"):
        pytest.skip("counts what -m slow or WEFT_GATE_MATRIX=all runs")
    assert sum(len(programs(subject)) for subject in SUBJECTS) >= ALL


def outcome(result: Any, *outside_values: Any) -> Frozen:
    """A call that returned something."""
    return Frozen(result, None, "", outside_values)


SHARED: Final = [1]
PAIR: Final = (1, 2)


@pytest.mark.parametrize(
    ("got", "wanted", "symptom"),
    [
        (outcome(1), outcome(True), "type"),
        (outcome(1), outcome(2), "value"),
        (outcome(0.0), outcome(-0.0), "value"),
        (outcome(float("nan")), outcome(float("nan")), ""),
        (outcome([1.0]), outcome([1.0 + 2**-52]), "rounding"),
        (outcome((1, [2])), outcome((1, [2])), ""),
        (outcome(SHARED, SHARED), outcome([1], [1]), "identity"),
        (outcome(PAIR, PAIR), outcome((*SHARED, 2), PAIR), "identity"),
        (outcome([PAIR, PAIR]), outcome([(*SHARED, 2), PAIR]), ""),
        (outcome(0, [1]), outcome(0, [1, 2]), "effect"),
        (outcome({"a": 1, "b": 2}), outcome({"b": 2, "a": 1}), "value"),
        (outcome(iter([1, 2])), outcome(iter([1, 3])), "value"),
        (Frozen(None, ValueError("a"), "", []), outcome(None), "exception"),
        (Frozen(None, ValueError("a"), "", []), Frozen(None, ValueError("b"), "", []), "exception text"),
        (Frozen(None, ValueError("1"), "", []), Frozen(None, ValueError(1), "", []), "exception arguments"),
        (Frozen(None, None, "a", ()), outcome(None), "printed"),
    ],
)
def test_differences_are_seen(got: Frozen, wanted: Frozen, symptom: str) -> None:
    assert difference(got, wanted)[0] == symptom


@pytest.mark.parametrize("arrival", ["argument", "nested", "global", "closure", "default", "kept"])
def test_operands_change_from_call_to_call(arrival: str) -> None:
    world = World(Program(Operation("", "r = list(v)"), outside("list", arrival)))
    results = []
    for number in range(4):
        args, named = world.arguments(number)
        results.append(world.scope["f"](*args, **named)[0])
    assert results == [[], [1], [1, 2], [2, 1]]


def test_run_time_operands_come_from_the_tensor() -> None:
    world = World(Program(Operation("", "r = v"), run_time("loop int")))
    results = [world.scope["f"](*world.arguments(number)[0])[0] for number in range(4)]
    assert results == [0, 1, 3, 2]
