"""Every program of `programs/`, eagerly and captured."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.helpers.programs import Case, check_case

PROGRAMS = {
    f"{path.stem}::{name}": program
    for path in sorted((Path(__file__).parent / "programs").glob("*.py"))
    if path.stem != "__init__"
    for name, program in importlib.import_module(f"programs.{path.stem}").CASES.items()
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_program(program: Case) -> None:
    check_case(program)


def test_the_corpus_is_large() -> None:
    assert len(PROGRAMS) >= 180
