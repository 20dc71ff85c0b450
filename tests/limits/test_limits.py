"""Programs that other compilers say they cannot take do compiled what they do eagerly."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.programs import Case, check_gradients, floats_of, same_outcome
from tests.limits.limits import COUNTED_WITH, Limit, Script
from tests.limits.page import LIMITS, page
from weft.explain.recorder import Recorder
from weft.jit import jit

PAGE = Path(__file__).parents[2] / "docs" / "lifted-limits.md"


def parameters() -> list[Any]:
    """All limits; those that still hold here are expected to fail, for the reason that is written beside them."""
    return [
        pytest.param(
            limit,
            id=f"{limit.peer}-{limit.name}",
            marks=[pytest.mark.xfail(reason=limit.fails, strict=True)] if limit.fails else [],
        )
        for limit in LIMITS
    ]


@pytest.mark.parametrize("limit", parameters())
def test_a_limit_is_lifted(limit: Limit) -> None:
    expected = limit.outcomes(lambda function: function)
    with Recorder() as recorder:
        found = limit.outcomes(jit)
    for number, (outcome, wanted) in enumerate(zip(found, expected, strict=True)):
        same_outcome(outcome, wanted, f"call {number}")
    report = recorder.report()
    if sys.version_info[:2] == COUNTED_WITH:
        assert (len(report.graphs), len(report.breaks)) == (limit.graphs, limit.breaks), str(report)
    if limit.calls is not None and limit.gradients:
        case = Case(limit.program, limit.calls, False, True, limit.factory, -1)
        inputs = [
            args
            for args, outcome in zip(limit.calls, expected, strict=False)
            if outcome.error is None and floats_of(outcome.value)
        ]
        check_gradients(case, inputs)


def test_scripts_yield_what_is_compared() -> None:
    for limit in LIMITS:
        if limit.calls is None:
            script = Script(limit.program, lambda function: function)
            assert script.value, f"{limit.name} yields nothing"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.limits > docs/lifted-limits.md"
