"""CPython's own tests under capture: a sample of the files; `make cpython` runs all of them."""

from __future__ import annotations

import pytest

from tests.cpython.files import FILES, SAMPLE, available
from tests.cpython.runner import run_file


def test_the_sample_is_of_the_files() -> None:
    assert set(SAMPLE) <= set(FILES)
    assert len(set(FILES)) == len(FILES) >= 25


@pytest.mark.parametrize("file", SAMPLE)
def test_outcomes_are_those_of_python(file: str) -> None:
    if not available(file):
        pytest.skip(f"this Python is installed without test.{file}")
    result = run_file(file)
    assert result.verdicts
    assert [f"{v['test']}: {v['differs']}" for v in result.differing] == []


@pytest.mark.parametrize("file", ["test_scope", "test_yield_from", "test_with"])
def test_nops_change_nothing(file: str) -> None:
    if not available(file):
        pytest.skip(f"this Python is installed without test.{file}")
    plain, changed = run_file(file), run_file(file, seed="1")
    assert [f"{v['test']}: {v['differs']}" for v in changed.differing] == []
    assert [(v["test"], v["how"]) for v in changed.verdicts] == [(v["test"], v["how"]) for v in plain.verdicts]
