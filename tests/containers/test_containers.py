"""Programs on containers, attributes and builtins do compiled what they do in Python.

All of them run with ``-m slow`` or by ``python -m tests.containers``; else a sample does.
"""

from __future__ import annotations

import pytest

from tests.containers import builtins
from tests.containers.running import SAMPLE, report
from tests.containers.subjects import SUBJECTS
from tests.gate.report import Report, table


def assert_equal(found: Report, at_least: int) -> None:
    """Assert that programs were compared, and none differs."""
    assert not found.differing, table(found, examples=True)
    assert found.programs >= at_least


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_sample_does_what_python_does(subject: str) -> None:
    assert_equal(report(SUBJECTS[subject](SAMPLE[subject], 0)), 4)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_all_do_what_python_does(subject: str) -> None:
    assert_equal(report(SUBJECTS[subject](1, 0)), 100)


def test_every_builtin_is_called_or_left_out() -> None:
    assert builtins.expected() == {*builtins.CALLS, *builtins.LEFT_OUT} & builtins.expected()
    assert not builtins.CALLS.keys() & builtins.LEFT_OUT.keys()
