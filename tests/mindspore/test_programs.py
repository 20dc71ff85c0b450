"""Whole programs that import mindspore print what is written at their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.processes import weft_at_once

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
TOKEN = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?|[A-Za-z_]+|[^\sA-Za-z_0-9]")


def tokens(text: str) -> Iterator[float | str]:
    """Numbers, words and signs; spacing does not count."""
    for token in TOKEN.findall(text):
        try:
            yield float(token)
        except ValueError:
            yield token


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_it_promises(program: Path) -> None:
    promised = "\n".join(line[2:] for line in program.read_text().split("# expect\n")[1].splitlines())
    done = weft_at_once("run", str(program))
    assert (done.returncode, done.stderr) == (0, "")
    expected, found = list(tokens(promised)), list(tokens(done.stdout))
    assert len(found) == len(expected), done.stdout
    for a, b in zip(expected, found, strict=True):
        assert a == (pytest.approx(b, rel=1e-4, abs=1e-4) if isinstance(a, float) else b), done.stdout
