"""What `weft launch` makes of its options, of what processes start, and of starts before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.several import PROGRAMS


def launch(tmp_path: Path, *options: str, program: str = "starting_others", **variables: str) -> tuple[int, str]:
    """The status and what was said."""
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK_SIZE", "WORLD_SIZE")}
    command = [sys.executable, "-m", "weft", "launch", "--log-dir", str(tmp_path / "logs"), *options]
    found = str(PROGRAMS / f"{program}.py")
    place = next((n for n, option in enumerate(options) if option == "--"), None)
    if place is None:
        command.append(found)
    else:
        command = [*command[: -len(options)], *options[:place], found, *options[place + 1 :]]
    done = subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--restarts", "-1"), "--restarts -1: how many times, 0 or more"),
        (("--master-port", "99999"), "--master-port 99999: ports are 1 to 65535"),
        (("--timeout", "-3"), "--timeout -3.0: seconds, more than 0"),
        (("--show", "7"), "--show 7: there is no such rank"),
        (("--workers", "0"), "not among 0 processes"),
    ],
)
def test_options_that_are_wrong(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    status, said = launch(tmp_path, "--workers", "2", *options)
    assert status == 2, said
    assert words in said
    assert "Traceback" not in said


def test_settings_that_are_wrong(tmp_path: Path) -> None:
    for variable in ("WEFT_IDLE_SECONDS", "WEFT_EXCHANGE_SECONDS"):
        status, said = launch(tmp_path, "--workers", "2", **{variable: "soon"})
        assert status == 1
        assert f"{variable}='soon' must be a number of seconds above 0" in said
        assert "Traceback" not in said


def test_a_folder_of_logs_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    status, said = launch(tmp_path, "--workers", "2")
    assert status == 1
    assert "the folder of the logs" in said


def test_what_a_process_has_started_computes_for_it(tmp_path: Path) -> None:
    status, said = launch(tmp_path, "--workers", "2", "--timeout", "1", "--", "computes")
    assert status == 0, said
    assert "all agree" in said


def test_what_a_process_has_started_sleeps(tmp_path: Path) -> None:
    status, said = launch(tmp_path, "--workers", "2", "--timeout", "1", "--", "sleeps")
    assert status != 0
    assert "rank 0 does nothing since" in said


def test_what_processes_have_started_elsewhere_ends_with_them(tmp_path: Path) -> None:
    status, said = launch(tmp_path, "--workers", "2", "--", "leaves", str(tmp_path))
    assert status != 0
    assert "rank 1 raised ValueError: bad data" in said
    started = [pid for rank in range(2) for pid in (tmp_path / f"{rank}.txt").read_text().split()]
    assert len(started) == 4
    assert not [pid for pid in started if _runs(pid)]


def _runs(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_logs_of_starts_before_are_kept(tmp_path: Path) -> None:
    status, said = launch(tmp_path, "--workers", "2", "--restarts", "1", "--", "leaves", str(tmp_path))
    assert status != 0
    log = (tmp_path / "logs" / "worker_1.log").read_text()
    before, _, after = log.partition("==== start 1 ====")
    assert "ValueError: bad data" in before
    assert "ValueError: bad data" in after
    assert said.count("starting again") == 1
