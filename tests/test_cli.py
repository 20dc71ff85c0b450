"""The command line, run as a user runs it: in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import weft
from tests.helpers.processes import environment, python, weft_at_once, weft_command

SCRIPTS = {
    "facts": "import sys\nprint(sys.argv, __name__, __file__, sys.path[0], __package__, __spec__, __doc__)\n",
    "main-module": "import sys\nx = 5\nprint(sys.modules['__main__'].x, sys.modules['__main__'].__file__)\n",
    "sibling": "import sibling\nprint(sibling.VALUE)\n",
    "exit-number": "import sys\nsys.exit(7)\n",
    "exit-text": "import sys\nsys.exit('goodbye')\n",
    "exit-none": "raise SystemExit\n",
    "error": "def f(x):\n    return 1 / x\n\nf(0)\n",
    "chained": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e\n",
    "syntax": "x = 1\ny = = 2\n",
    "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hello')\n1 / 0\n",
    "class-in-main": "import pickle\nclass A: pass\nprint(A.__module__, type(pickle.loads(pickle.dumps(A()))))\n",
    "source": "import inspect\ndef f():\n    return 41\nprint(inspect.getsource(f))\n",
    "future": "def f(x: int): pass\nprint(f.__annotations__)\n",
    "excepthook": "import sys\nsys.excepthook = lambda kind, e, tb: print(kind, tb.tb_lineno)\n1 / 0\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_run_is_python(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[name])
    (tmp_path / "sibling.py").write_text("VALUE = 3\n")
    arguments = (str(script), "-x", "--", "run", "--help", "-m")
    ours, theirs = weft_at_once("run", *arguments), python(*arguments)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("name", ["error", "atexit"])
def test_a_process_of_its_own_is_no_different(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[name])
    whole, copy = weft_command("run", str(script)), weft_at_once("run", str(script))
    assert (whole.returncode, whole.stdout, whole.stderr) == (copy.returncode, copy.stdout, copy.stderr)


def test_run_module_and_folder(tmp_path: Path) -> None:
    package = tmp_path / "program"
    package.mkdir()
    (package / "__main__.py").write_text("import sys\nprint(sys.argv[1:], __name__, sys.path[0])\n")
    (package / "__init__.py").write_text("")
    for arguments in ((str(package), "a", "-b"), ("-m", "program", "a", "-b")):
        ours, theirs = weft_at_once("run", *arguments, cwd=tmp_path), python(*arguments, cwd=tmp_path)
        assert (ours.returncode, ours.stdout, ours.stderr) == (0, theirs.stdout, theirs.stderr)


def test_run_error_in_module_shows_no_runner_frames(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text("def f():\n    raise ValueError('oops')\n\nf()\n")
    done = weft_at_once("run", "-m", "failing", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: oops"
    assert done.stderr.count("File ") == 2
    assert "runpy" not in done.stderr
    assert "weft" not in done.stderr.replace(str(tmp_path), "")


def test_run_answers_mindspore(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import mindspore as ms\nprint(ms.Tensor([1.0, 2.0]) + 1)\n")
    done = weft_command("run", str(script))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2. 3.]\n", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    (
        ((), "COMMAND"),
        (("jump",), "invalid choice"),
        (("run",), "SCRIPT"),
        (("run", "--fast", "x.py"), "--fast"),
        (("run", "no-such-file.py"), "can't open file 'no-such-file.py': No such file or directory"),
        (("demo", "--epochs", "0"), "--epochs"),
        (("demo", "--epochs", "many"), "--epochs"),
        (("demo", "--seed", "-1"), "--seed"),
        (("demo", "--lr", "nan"), "--lr"),
        (("demo", "--lr", "inf"), "--lr"),
        (("demo", "--epoch", "3"), "--epoch"),
        (("demo", "--batch-size", "5000"), "1438 training images"),
        (("demo", "--plot", "/no/such/folder/x.png"), "cannot write"),
        (("demo", "--plot", "x.xyz"), "xyz"),
        (("launch", "--restarts", "-1", __file__), "argument --restarts: -1 is not at least 0"),
        (("launch", "--workers", "0", __file__), "argument --workers: 0 is not at least 1"),
        (("launch", "--worker_num", "two", __file__), "argument --worker_num: 'two' is not an integer"),
        (("launch", "--master-port", "99999", __file__), "99999 is not at least 1 and at most 65535"),
        (("launch", "--timeout", "-3", __file__), "argument --timeout: -3 is not positive"),
        (("launch", "--workers", "2", "--show", "0,7", __file__), "--show 0,7: the ranks are 0 to 1"),
        (("launch", "--workers", "2", "--show", "", __file__), "--show : not ranks"),
        (("launch", "--node-rank", "1", __file__), "ranks 1 to 1 are not among 1 processes"),
        (("launch", "--master-addr", "no such host", __file__), "the host 'no such host' does not resolve: "),
        (("launch", "--log-dir", f"{__file__}/logs", __file__), f"cannot be written to {__file__}/logs (--log-dir): "),
        (("launch", "--workers", "2", "no-such-file.py"), "can't open file 'no-such-file.py': No such file"),
    ),
)
def test_wrong_usage_is_status_2_and_names_what_is_wrong(arguments: tuple[str, ...], says: str) -> None:
    done = weft_at_once(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["WEFT_IDLE_SECONDS", "WEFT_EXCHANGE_SECONDS"])
def test_seconds_that_are_none_are_wrong_usage(name: str) -> None:
    done = weft_command("launch", __file__, **{name: "abc"})
    assert done.returncode == 2
    assert done.stderr == (
        f"weft launch: the environment variable {name} must be a number of seconds above 0, not 'abc'\n"
    )


def test_help_and_version() -> None:
    done = weft_command("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(f"weft {weft.__version__}, jax ")
    for arguments in (("--help",), ("run", "--help"), ("demo", "--help")):
        done = weft_at_once(*arguments)
        assert done.returncode == 0
        assert done.stdout.startswith("usage: weft")


def test_demo_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise ModuleNotFoundError('hidden')\n")
    done = weft_command("demo", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert done.returncode == 1
    assert "pip install 'weft[demo]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_interrupt_is_a_message_and_130() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "weft", "demo", "--epochs", "1000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    while not process.stderr.readline().rstrip().endswith(" weft.demo.training"):
        assert process.poll() is None
    time.sleep(2)  # until it trains
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("kind", ["spawn", "forkserver"])
def test_processes_that_a_program_spawns_have_mindspore_too(kind: str, tmp_path: Path) -> None:
    script = tmp_path / "spawning.py"
    script.write_text(
        "import multiprocessing\nimport mindspore\n"
        "def doubled(x):\n    return float((mindspore.Tensor(float(x)) * 2).asnumpy())\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{kind}').Pool(1) as pool:\n        print(pool.map(doubled, [1, 2]))\n"
    )
    done = weft_command("run", str(script))
    assert done.stdout == "[2.0, 4.0]\n", done.stderr


@pytest.mark.slow
def test_demo_times_processes(tmp_path: Path) -> None:
    image = tmp_path / "losses.png"
    done = weft_command("demo", "--epochs", "1", "--quiet", "--starts", "--plot", str(image), COLUMNS="120")
    assert done.returncode == 0, done.stderr
    _, times = done.stdout.split("A process of its own")
    rows = [line for line in times.splitlines() if line.count(" ms ") == 4]
    assert len(rows) == 3
    assert "Loss curves and times written" in done.stdout
    assert image.read_bytes().startswith(b"\x89PNG")


def test_demo_trains_the_same_in_every_mode(tmp_path: Path) -> None:
    image = tmp_path / "losses.png"
    done = weft_command("demo", "--epochs", "8", "--quiet", "--plot", str(image))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "%" in line]
    assert len(rows) == 3
    accuracies = [float(word.rstrip("%")) for row in rows for word in row if word.endswith("%")]
    assert min(accuracies) >= 97
    assert "Last losses agree to 0.0001" in done.stdout
    assert image.read_bytes().startswith(b"\x89PNG")


def test_mode_and_device_win_over_what_the_program_sets(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, mindspore as ms\n"
        "ms.set_context(mode=ms.GRAPH_MODE, device_target='GPU', device_id=6, max_call_depth=77)\n"
        "print(*map(ms.get_context, ('mode', 'device_target', 'max_call_depth')), sys.argv[1:])\n"
    )
    done = weft_command("run", "--mode", "pynative", "--device", "CPU", str(script), "--mode", "x")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 CPU 77 ['--mode', 'x']\n", "")
    done = weft_command("run", "--mode", "graph", "--device", "CPU", "-m", "script", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "0 CPU 77 []\n")
    for wrong in (("--mode", "fast"), ("--device", "abacus")):
        done = weft_at_once("run", *wrong, str(script))
        assert done.returncode == 2
        assert wrong[1] in done.stderr
