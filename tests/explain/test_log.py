"""Log lines of the logger `weft.jit`."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest

import weft
from tests.explain import explained as programs
from tests.explain.explained import a_break
from tests.helpers.processes import python
from weft import Tensor
from weft.capture.state.events import History

X, Y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((5, 3), np.float32))


@pytest.fixture(autouse=True)
def _silent_again() -> Iterator[None]:
    yield
    weft.set_context(jit_log="")


def levels(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """First word and level of each line."""
    return [
        (record.getMessage().split()[0], record.levelname) for record in caplog.records if record.name == "weft.jit"
    ]


def run_all() -> None:
    double = weft.jit(programs.polynomial)
    double(X)
    double(Y)
    double(X)
    history = History("leaves")
    history.ran_break(a_break())
    history.ran_break(a_break())


@pytest.mark.parametrize(
    ("setting", "loud"),
    [
        ("", set()),
        ("breaks", {"break"}),
        ("recompiles,breaks", {"break", "recompiled"}),
        (" graphs ", {"compiled"}),
        ("compilations", {"XLA"}),
        ("all", {"compiled", "XLA", "recompiled", "break"}),
    ],
)
def test_events_are_lines(setting: str, loud: set[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "weft.jit")
    weft.set_context(jit_log=setting)
    run_all()
    quiet = {"compiled": "DEBUG", "XLA": "DEBUG", "recompiled": "INFO", "break": "INFO"}
    happened = ["compiled", "XLA", "recompiled", "XLA", "break"]  # the first sizes are compiled already
    assert levels(caplog) == [(word, "WARNING" if word in loud else quiet[word]) for word in happened]


def test_lines_name_the_function_the_place_and_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    weft.set_context(jit_log="all")
    compiled = weft.jit(programs.polynomial)
    compiled(X)
    compiled(Y)
    first, run, again, _ = caplog.messages
    made = compiled.report().compilations[0].compilation
    assert run.startswith("XLA compiled polynomial (graph 1): run, ")
    assert made.seconds > 0
    assert "polynomial (graph 1)" in first
    assert "operations" in first
    assert compiled.report().recompiles[0].event.reason in again
    caplog.clear()
    site = a_break()
    History("leaves").ran_break(site)
    (line,) = caplog.messages
    for part in ("leaves", "[unknown-call]", str(site.location), "np.sin(y.asnumpy())", site.why, "use ops.sin"):
        assert part in line
    assert "\n" not in line


def test_the_level_of_the_logger_counts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "weft.jit")
    run_all()
    assert [word for word, _ in levels(caplog)] == ["recompiled", "break"]


@pytest.mark.parametrize("value", ["everything", "breaks,graph"])
def test_wrong_settings_name_the_right_ones(value: str) -> None:
    with pytest.raises(ValueError, match="graphs, compilations, breaks, recompiles, collectives, all"):
        weft.set_context(jit_log=value)


PROGRAM = "import weft\nf = weft.jit(lambda x: x + 1)\nf(weft.Tensor([1.0]))\nf(weft.Tensor([1.0, 2.0]))\n"


def test_the_environment_turns_lines_on() -> None:
    assert python("-c", PROGRAM, WEFT_LOG="").stderr == ""
    lines = python("-c", PROGRAM, WEFT_LOG="recompiles").stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("recompiled <lambda> (graph 2): ")
    shown = python("-c", PROGRAM, WEFT_LOG="all").stderr.splitlines()
    assert [line.split()[0] for line in shown] == ["compiled", "XLA", "recompiled", "XLA"]


def test_a_wrong_environment_is_a_warning() -> None:
    done = python("-c", PROGRAM, WEFT_LOG="everything")
    assert "WEFT_LOG='everything'" in done.stderr
    assert "graphs, compilations, breaks, recompiles, collectives, all" in done.stderr
