"""What goes wrong in one of several processes is a named error on all, soon, and checkpoints stay whole."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.processes import environment
from tests.helpers.several import PROGRAMS, Started
from weft import load_checkpoint
from weft.parallel.wire import free_port

#: seconds after a fault within which all processes are gone
SOON = 15.0
#: what goes wrong, what all other processes say of it, and the status of the launcher
DIFFER = (
    "must be the same in all processes.*the first difference:\n  rank 0: the Parameter '{0}': .*\n  rank 1: the Para"
)
FAULTS = {
    "killed": ("rank 1 was ended by SIGKILL .last seen at .*faults.py:", 137),
    "killed_beside_a_child": ("rank 1 was ended by SIGKILL .last seen at .*faults.py:", 137),
    "terminated": ("rank 1 was ended by SIGTERM .last seen at .*faults.py:", 143),
    "stopped": ("rank 1 gives no sign of life since 6 s; rank .* waits for .* in AllReduce", 1),
    "crashes": ("rank 1 was ended by SIGSEGV .last seen at .*faults.py:", 139),
    "aborts": ("rank 1 was aborted; it was at .*faults.py:", 134),
    "raises": ("rank 1 raised ValueError: bad data .*faults.py:", 1),
    "raises_with_a_hook": ("rank 1 raised ValueError: bad data .*faults.py:", 1),
    "raises_what_cannot_be_said": (r"rank 1 raised Unsayable: <exception str\(\) failed> .*faults.py:", 1),
    "raises_beside_threads": ("rank 1 raised ValueError: bad data .*faults.py:", 1),
    "thread": ("rank 1 does nothing since 10 s, at .*faults.py:", 1),
    "ends": ("rank 1 has ended; rank .* waits for .* in AllReduce", 1),
    "ends_at_once": ("rank 1 has ended; rank .* waits for .* in AllReduce", 1),
    "status": ("rank 1 ended with status 3 .last seen at .*faults.py:", 3),
    "status_at_once": ("rank 1 ended with status 4 .last seen at .*faults.py:", 4),
    "sleeps": ("rank 1 does nothing since 3 s, at .*faults.py:", 1),
    "spins": ("rank 1 does not come since 4 s, it is at .*faults.py:", 1),
    "shape": (r"AllReduce\(float32\[2, 5\]\)", 1),
    "caught": (r"caught by the program: .*\n  rank 1: AllReduce\(float32\[2, 5\]\)", 1),
    "dtype": (r"AllReduce\(int64\[2, 4\]\)", 1),
    "operation": (r"AllGather\(float32\[2, 4\]\)", 1),
    "reduction": ("op=max", 1),
    "rate": (DIFFER.format("weight"), 1),
    "momentum": (DIFFER.format("weight"), 1),
    "value": (DIFFER.format("bias"), 1),
    "order": ("the processes came to exchange|the processes wait for each other", 1),
    "skips": ("different operations", 1),
    "launcher": ("the coordinator at .* is gone", -9),
    "library": ("rank 1 raised LinAlgError: .*faults.py:", 1),
    "disk": ("rank 1 raised OSError: .*File too large .*faults.py:", 1),
}
SHORT = (
    "aborts", "killed", "library", "raises_what_cannot_be_said", "raises_with_a_hook", "status", "ends", "sleeps",
    "shape", "launcher", "rate",
)  # fmt: skip


@pytest.fixture
def start(tmp_path: Path) -> Iterator[object]:
    started = []

    def begin(*arguments: object, **options: object) -> Started:
        started.append(Started(tmp_path / f"run{len(started)}", *arguments, **options))
        return started[-1]

    yield begin
    for each in started:
        each.end()


@pytest.mark.parametrize("how", [how if how in SHORT else pytest.param(how, marks=pytest.mark.slow) for how in FAULTS])
def test_a_process_that_fails_is_a_named_error_on_all(how: str, tmp_path: Path, start, monkeypatch) -> None:
    if how == "spins":
        monkeypatch.setenv("WEFT_EXCHANGE_SECONDS", "4")
    options = ("--timeout", "3") if how in ("sleeps", "order") else ()
    program = start(3, "faults", 1, how, tmp_path, options=options)
    assert program.until(lambda: "step 4" in program.log(1), 60), program.log(1)
    began = time.monotonic()
    assert program.until(lambda: not program.left(), SOON), [program.log(rank) for rank in range(3)]
    print(f"{how}: {time.monotonic() - began:.1f} s, {program.launcher.returncode}\n{program.said()}")
    words, status = FAULTS[how]
    assert program.launcher.returncode == status, program.said()
    disagrees = (
        "shape",
        "caught",
        "dtype",
        "operation",
        "reduction",
        "order",
        "skips",
        "launcher",
        "rate",
        "momentum",
        "value",
    )
    alive = (0, 1, 2) if how in disagrees else (0, 2)
    for rank in alive:
        log = program.log(rank)
        assert re.search(f"ProcessFault: .*({words})", log, re.DOTALL), (rank, log)
        assert re.search('faults.py(:|", line )', log), (rank, log)
    for rank in range(3):
        assert load_checkpoint(str(tmp_path / f"net_{rank}.ckpt"))
        if how not in ("aborts", "ends", "ends_at_once", "launcher"):  # also that of the one that could not say so
            end = program.log(rank)[-2000:]
            assert re.search("ProcessFault: |ValueError: bad data|Unsayable|LinAlgError: |OSError: ", end), (rank, end)


#: moments of a program: what a process has printed then, and a time after that
MOMENTS = {"": 3.0, "starts": 1.0, "begins": 1.0, "step": 0.03, "saves": 0.01, "done": 0.15}


@pytest.mark.parametrize(
    "seed", [seed if seed in (0, 3, 4) else pytest.param(seed, marks=pytest.mark.slow) for seed in range(50)]
)
def test_a_process_killed_at_any_moment(seed: int, tmp_path: Path, start) -> None:
    choose = random.Random(seed)
    kind, moment = choose.choice(("cell", "model")), list(MOMENTS)[seed % len(MOMENTS)]
    rank, wait = choose.randrange(4), choose.random() * MOMENTS[moment]
    if moment == "saves":
        kind, rank = "cell", 0
    words = f"step {choose.randrange(1, 24)}\n" if moment == "step" else moment
    program = start(4, "resumed", kind, tmp_path, 24)
    assert program.until(lambda: words in program.log(rank), 60), program.log(rank)
    program.until(lambda: False, wait)
    program.send(rank, signal.SIGKILL)
    began = time.monotonic()
    assert program.until(lambda: not program.left(), SOON), [program.log(rank) for rank in range(4)]
    print(f"seed {seed}: rank {rank} {wait:.2f} s after {words!r}, {time.monotonic() - began:.1f} s\n{program.said()}")
    logs = [program.log(rank) for rank in range(4)]
    assert program.launcher.returncode == 137 or all("done" in log for log in logs), program.said()
    for each, log in enumerate(logs):
        if each != rank and "done" not in log:
            assert re.search(f"ProcessFault: rank {rank} was ended by SIGKILL", log), (each, log)
            assert moment == "" or "resumed.py" in log, (each, log)
    saved = sorted(tmp_path.glob("*.ckpt"), key=lambda path: path.stat().st_mtime)
    assert saved or "step 8" not in logs[0]
    for path in saved:
        assert len(load_checkpoint(str(path))) > 4


#: which process is killed, and when, in one start after another
KILLS = ((0, "begins after step 0\n"), (1, "step 7\n"), (0, "step 18\n"))


@pytest.mark.parametrize(
    ("kind", "kills"),
    [("cell", KILLS[2:]), *[pytest.param(kind, KILLS, marks=pytest.mark.slow) for kind in ("cell", "model")]],
)
def test_what_goes_on_from_checkpoints_ends_where_an_undisturbed_run_does(
    kind: str, kills: tuple[tuple[int, str], ...], tmp_path: Path, start
) -> None:
    folders = [tmp_path / "whole", tmp_path / "killed"]
    for folder in folders:
        folder.mkdir()
    whole = start(2, "resumed", kind, folders[0], 24)
    assert whole.until(lambda: whole.launcher.poll() is not None, 120)
    assert whole.launcher.returncode == 0, whole.said()
    killed = start(2, "resumed", kind, folders[1], 24, options=("--restarts", "3"))
    for rank, words in kills:
        assert killed.until(lambda: words in killed.log(rank), 60), (words, killed.said())
        killed.send(rank, signal.SIGKILL)
    assert killed.until(lambda: killed.launcher.poll() is not None, 120)
    assert killed.launcher.returncode == 0, killed.said()
    assert killed.said().count("starting again") == len(kills)
    assert "begins after step 16\n" in killed.log(1)
    for earlier, (rank, words) in enumerate(kills):
        log = killed.logs[rank].with_name(f"worker_{rank}.start{earlier}.log")
        assert words in log.read_text(), log
        assert str(log.with_name(f"worker_*.start{earlier}.log")) in killed.said()
    for rank in range(2):
        found, wanted = [np.load(folder / f"weights_{rank}.npz") for folder in (folders[1], folders[0])]
        assert list(found) == list(wanted)
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


def _of_another_launcher(tmp_path: Path, rank: int, count: int, how: str, who: int, port: int) -> subprocess.Popen[str]:
    """A process that is told by environment variables which one it is."""
    told = {"RANK_ID": str(rank), "RANK_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    runner = [] if how == "raises_with_a_hook" else ["-m", "weft", "run"]
    program = [sys.executable, *runner, str(PROGRAMS / "faults.py"), str(who), how, str(tmp_path)]
    return subprocess.Popen(
        program, env=environment(**told), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )  # fmt: skip


@pytest.mark.parametrize(
    ("who", "how", "words"),
    [
        (0, "", "done"),
        (1, "killed", "ProcessFault: rank 1 is gone: it has closed its connection .last seen at .*faults.py:"),
        (1, "raises_with_a_hook", "ProcessFault: rank 1 raised ValueError: bad data .*faults.py:"),
        pytest.param(0, "killed", "ProcessFault: the coordinator at 127.0.0.1:.* is gone", marks=pytest.mark.slow),
        pytest.param(0, "raises", "ProcessFault: rank 0 raised ValueError: bad data", marks=pytest.mark.slow),
        pytest.param(1, "ends", "ProcessFault: rank 1 has ended; rank .* waits for", marks=pytest.mark.slow),
        pytest.param(0, "ends", "ProcessFault: rank 0 has ended; rank .* waits for", marks=pytest.mark.slow),
    ],
)
def test_processes_of_another_launcher(who: int, how: str, words: str, tmp_path: Path) -> None:
    port = free_port()
    started = [_of_another_launcher(tmp_path, rank, 3, how, who, port) for rank in range(3)]
    try:
        for rank, process in enumerate(started):
            said, _ = process.communicate(timeout=60)
            assert (rank == who and how) or re.search(words, said), (rank, said)
            assert (process.returncode == 0) == (not how or (rank == who and how == "ends")), (rank, said)
    finally:
        for process in started:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 3])
def test_launchers_of_several_machines_start_again_together(victim: int, tmp_path: Path) -> None:
    port = free_port()
    machines = []
    for node in (1, 0):
        where = (
            "--local-workers",
            "2",
            "--node-rank",
            str(node),
            "--master-addr",
            "127.0.0.1",
            "--master-port",
            str(port),
        )
        options = (*where, "--restarts", "1")
        machines.append(Started(tmp_path / str(node), 4, "resumed", "cell", tmp_path, 24, options=options))
    machines.reverse()
    try:
        of_victim = machines[victim // 2]
        assert of_victim.until(lambda: "step 9\n" in of_victim.log(victim), 90), of_victim.said()
        of_victim.send(victim, signal.SIGKILL)
        for node, machine in enumerate(machines):
            assert machine.until(lambda: machine.launcher.poll() is not None, 90)
            assert machine.launcher.returncode == 0, machine.said()
            assert f"rank {victim} was ended by SIGKILL" in machine.said()
            for rank in (2 * node, 2 * node + 1):
                assert machine.log(rank).startswith("starts\nbegins after step 8\n"), machine.log(rank)
    finally:
        for machine in machines:
            machine.end()


def test_one_that_ends_itself_before_it_was_seen_anywhere_says_where(tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, "status_before_anything", tmp_path)
    assert program.until(lambda: program.launcher.poll() is not None, 60), program.said()
    assert program.launcher.returncode == 5
    line = (PROGRAMS / "faults.py").read_text().splitlines().index("    sys.exit(5)") + 1
    assert f"rank 1 ended with status 5 (last seen at {PROGRAMS / 'faults.py'}:{line})" in program.said()


def test_one_that_ends_without_noticing_that_another_has_failed_has_caught_nothing(tmp_path: Path, start) -> None:
    program = start(2, "messages", "no_message")
    assert program.until(lambda: program.launcher.poll() is not None, 60), program.said()
    assert program.launcher.returncode == 4, program.said()
    assert re.search(r"ProcessFault: rank 1 ended with status 4.*\n\(rank 0 has come to its end\)", program.log(0))
    assert "caught" not in program.log(0)


@pytest.mark.parametrize(
    ("how", "said", "log"),
    [
        (
            "nobody_waits",
            r"rank 1 has ended; rank 0 waits for rank 1 in Transfer\(float32\[2\]\) tag=0 from rank 0 to rank 1 "
            r"\(\S*messages.py:15, exchange 1\)",
            r"rank 0 has not waited for the handles of \S*messages.py:15\)",
        ),
        (
            "caught",
            "rank 1 has ended; rank 0 waits for rank 1 in Transfer",
            "caught it(.|\n)*caught by the program: rank 1",
        ),
        (
            "both",
            r"the processes wait for each other since .*\n  rank ([01]) waits for rank ([01]) in Transfer.* "
            r"from rank \2 to rank \1 .*\n  rank \2 waits for rank \1 in Transfer.* from rank \1 to rank \2 ",
            "ProcessFault: the processes wait for each other",
        ),
    ],
)
def test_messages_that_do_not_arrive(how: str, said: str, log: str, tmp_path: Path, start) -> None:
    program = start(2, "messages", how, options=("--timeout", "2"))
    assert program.until(lambda: program.launcher.poll() is not None, 60), program.said()
    assert program.launcher.returncode == 1, program.said()
    assert re.search(said, program.said()), program.said()
    assert re.search(log, program.log(0)), program.log(0)


def test_what_processes_have_started_is_ended_with_them(tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, "killed_beside_children", tmp_path)
    assert program.until(lambda: "children" in program.log(1), 60), program.log(1)
    assert program.until(lambda: program.launcher.poll() is not None, SOON), program.said()
    children = re.search("children (.*)", program.log(1))[1].split()
    assert len(children) == 3
    assert not [child for child in children if Path(f"/proc/{child}").exists()], children


def test_what_processes_have_started_does_not_outlive_a_launcher_that_is_killed(tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, "launcher_beside_children", tmp_path)
    assert program.until(lambda: program.launcher.poll() is not None, 60), program.said()
    children = re.findall(r"child (\d+)", program.log(1))
    assert len(children) == 2
    assert program.until(lambda: not [child for child in children if _runs(child)], SOON), children
    assert program.until(lambda: not program.left(), SOON), program.left()


def _runs(process: str) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_hook_of_the_program_that_ends_the_process(tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, "raises_with_a_hook", tmp_path, "at once")
    assert program.until(lambda: program.launcher.poll() is not None, 60), program.said()
    assert program.launcher.returncode == 9, program.said()
    assert re.search("ProcessFault: rank 1 raised ValueError: bad data .*faults.py:", program.log(0))


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_what_interrupts_the_launcher_ends_all(asked: signal.Signals, tmp_path: Path, start) -> None:
    program = start(3, "faults", 1, "sleeps", tmp_path)
    assert program.until(lambda: "step 4" in program.log(1), 60), program.log(1)
    program.launcher.send_signal(asked)
    assert program.until(lambda: not program.left(), 10)
    assert program.launcher.returncode == 128 + asked
    assert f"interrupted by {asked.name}" in program.said()


@pytest.mark.slow
def test_a_process_that_computes_is_waited_for_though_it_gives_no_sign_of_life(tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, "holds_the_lock", tmp_path)
    assert program.until(lambda: program.launcher.poll() is not None, 90)
    assert program.launcher.returncode == 0, program.said()
    assert float(re.search("held it for (.*)", program.log(1))[1]) > 7, program.log(1)


@pytest.mark.parametrize("how", ["child_computes", "writes"])
def test_a_process_that_does_something_without_computing_is_waited_for(how: str, tmp_path: Path, start) -> None:
    program = start(2, "faults", 1, how, tmp_path, options=("--timeout", "1.5"))
    assert program.until(lambda: program.launcher.poll() is not None, 90)
    assert program.launcher.returncode == 0, program.said()


def test_a_launch_that_goes_well_says_nothing_else(tmp_path: Path, start) -> None:
    """Nothing of the libraries stands among what the program prints."""
    program = start(2, "faults", 1, "", tmp_path)
    assert program.until(lambda: program.launcher.poll() is not None, 60)
    assert program.said() == "".join(f"step {step}\n" for step in range(8)) + "done\n"
