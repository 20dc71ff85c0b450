"""The command line: `weft run`, `weft launch`, `weft explain`, `weft cache`, `weft demo`, `weft --version`."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from weft import __version__
from weft._jax_compat import simulate_devices
from weft.cache import executables
from weft.cache.files import Files
from weft.cache.folder import Unusable, opened
from weft.context import GRAPH_MODE, PYNATIVE_MODE, pin
from weft.explain.recorder import Recorder
from weft.explain.report import Report
from weft.mindspore.run import CannotRun, run_module, run_script
from weft.parallel import coordinator, wire
from weft.parallel import launch as launching

INTERRUPTED: Final = 130
_RUN_USAGE: Final = "weft run [-h] [--mode MODE] [--device TARGET] [--devices N] (SCRIPT | -m MODULE) [ARGUMENT ...]"
_EXPLAIN_USAGE: Final = (
    "weft explain [-h] [--html FILE] [--json FILE] [--mode MODE] [--device TARGET] [--devices N] (SCRIPT | -m MODULE) "
    "[ARGUMENT ...]"
)
_LAUNCH_USAGE: Final = "weft launch --workers N [options] (SCRIPT | -m MODULE) [ARGUMENT ...]"
_MODES: Final = {"graph": GRAPH_MODE, "pynative": PYNATIVE_MODE}
#: commands that run a program, with those of their options that take a value
_SETTINGS: Final = ("--mode", "--device", "--devices")


def _positive(kind: type) -> Any:
    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not value > 0 or value == float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not positive and finite")
        return value

    return parse


def _whole(least: int, most: int | None = None) -> Any:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(
                f"{text} is not at least {least}" + (f" and at most {most}" if most else "")
            )
        return value

    return parse


_COUNT, _NUMBER, _PORT = _whole(1), _whole(0), _whole(1, 65535)
#: options of `weft launch`, those of MindSpore's `msrun` among them: what is kept, and how it is read
_LAUNCH: Final[dict[str, tuple[str, Any]]] = {
    "--workers": ("workers", _COUNT), "--worker_num": ("workers", _COUNT), "--local-workers": ("local_workers", _COUNT),
    "--local_worker_num": ("local_workers", _COUNT), "--node-rank": ("node_rank", _NUMBER),
    "--node_rank": ("node_rank", _NUMBER), "--master-addr": ("master_addr", str), "--master_addr": ("master_addr", str),
    "--master-port": ("master_port", _PORT), "--master_port": ("master_port", _PORT), "--log-dir": ("log_dir", str),
    "--log_dir": ("log_dir", str), "--restarts": ("restarts", _NUMBER), "--show": ("show", str),
    "--timeout": ("timeout", _positive(float)), "--cluster_time_out": ("cluster_time_out", str),
    "--join": ("join", str), "--bind_core": ("bind_core", str),
    "--worker_log_name": ("worker_log_name", str), "--tail_worker_log": ("show", str),
}  # fmt: skip
_RUNNERS: Final = {
    "run": _SETTINGS, "explain": ("--html", "--json", *_SETTINGS), "launch": (*_LAUNCH, *_SETTINGS)
}  # fmt: skip


_LAUNCH_HELP: Final = {
    "--workers": "number of processes, on all machines together",
    "--local-workers": "number of processes on this machine (all)",
    "--node-rank": "number of this machine (0)",
    "--master-addr": "the first machine (this one)",
    "--master-port": "a port of it (a free one)",
    "--log-dir": "folder of the logs, one for each process (logs)",
    "--restarts": "how many times the program is started again after it failed (0)",
    "--show": "ranks whose output is shown, as 0,3 or all (0)",
    "--timeout": "seconds that a process may do nothing while others wait for it (10)",
}


def version() -> str:
    """The versions of weft, JAX and Python."""
    return f"weft {__version__}, jax {metadata.version('jax')}, Python {sys.version.split()[0]}"


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 0 to 2**32 - 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="weft",
        description="One deep-learning program, run eagerly and as a compiled graph.",
        epilog="`weft COMMAND --help` describes a command.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=version())
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run",
        usage=_RUN_USAGE,
        help="run a Python script that imports mindspore, unchanged",
        description="Run a Python script as `python SCRIPT` does, with `import mindspore` answered by weft.",
        allow_abbrev=False,
    )
    _add_program(run)

    launch = commands.add_parser(
        "launch",
        usage=_LAUNCH_USAGE,
        help="run a Python script as several processes that work together",
        description="Run a Python script as `weft run` does, as several processes, and end all when one fails. Options "
        "of msrun are accepted; those that weft has no use for are ignored.",
        allow_abbrev=False,
    )
    for name, (kept, kind) in _LAUNCH.items():
        launch.add_argument(name, dest=kept, type=kind, help=_LAUNCH_HELP.get(name, argparse.SUPPRESS))
    _add_program(launch)

    explain = commands.add_parser(
        "explain",
        usage=_EXPLAIN_USAGE,
        help="run a Python script and report how its functions were compiled",
        description="Run a Python script as `weft run` does, then print a report on every compiled function: its "
        "graphs, where it left them and why, what was compiled again and why.",
        allow_abbrev=False,
    )
    explain.add_argument("--html", metavar="FILE", help="write the report as a page, with the source")
    explain.add_argument("--json", metavar="FILE", help="write the report as JSON")
    _add_program(explain)

    cache = commands.add_parser(
        "cache",
        help="show, verify or clear what was compiled and is kept on disk",
        description="Show where compiled programs are kept, how many and how large; verify looks for damaged files.",
        allow_abbrev=False,
    )
    cache.add_argument("action", nargs="?", choices=("show", "verify", "clear"), default="show", help="(%(default)s)")

    demo = commands.add_parser(
        "demo",
        help="train a small network three ways and compare",
        description="Train a convolutional network on scikit-learn's digits eagerly, with a compiled network, and "
        "with a compiled training step, and compare accuracy, loss and speed.",
        allow_abbrev=False,
    )
    demo.add_argument(
        "--epochs", type=_positive(int), default=12, metavar="N", help="passes over the data (%(default)s)"
    )
    demo.add_argument("--batch-size", type=_positive(int), default=32, metavar="N", help="images a step (%(default)s)")
    demo.add_argument("--lr", type=_positive(float), default=0.05, metavar="X", help="learning rate (%(default)s)")
    demo.add_argument("--seed", type=_seed, default=0, metavar="N", help="of weights and batches (%(default)s)")
    demo.add_argument(
        "--starts", action="store_true", help="also time first steps in new processes, compile cache off and filled"
    )
    demo.add_argument("--plot", metavar="FILE", help="write the loss curves to an image, e.g. losses.png")
    demo.add_argument("--quiet", action="store_true", help="no progress bars, only the table")
    return top


def _add_program(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--mode", choices=tuple(_MODES), help="the mode, in place of the one that the program sets (%(choices)s)"
    )
    command.add_argument("--device", metavar="TARGET", help="the device target, in place of the program's; e.g. CPU")
    command.add_argument(
        "--devices", type=_positive(int), metavar="N", help="let the processor stand for so many devices"
    )
    command.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in `python -m`")
    command.add_argument("program", metavar="SCRIPT", help="file to run, or module with -m")


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our own part of the arguments, and what belongs to the program that a command runs."""
    valued = _RUNNERS.get(arguments[0]) if arguments else None
    if valued is not None:
        for index, argument in enumerate(arguments[1:], 1):
            if not argument.startswith("-") and arguments[index - 1] not in valued:
                return arguments[: index + 1], arguments[index + 1 :]
    return arguments, []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the words after ``weft``; None takes them from ``sys.argv``.

    Returns:
        int: exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted.
    """
    own, rest = _split(list(sys.argv[1:] if arguments is None else arguments))
    options = parser().parse_args(own)
    try:
        if options.command == "run":
            return _run(options, rest)
        if options.command == "launch":
            return _launch(options, rest)
        if options.command == "explain":
            return _explain(options, rest)
        if options.command == "cache":
            return _cache(options.action)
        return _demo(options)
    except CannotRun as error:
        print(f"weft: {error}", file=sys.stderr)
        return 1 if options.module else 2  # as Python: 2 for a file, 1 for a module
    except KeyboardInterrupt:
        print("\nweft: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(options: argparse.Namespace, rest: list[str]) -> int:
    if options.devices is not None:
        simulate_devices(options.devices)
    chosen = {"mode": _MODES.get(options.mode), "device_target": options.device}
    try:
        pin(**{name: value for name, value in chosen.items() if value is not None})
    except ValueError as error:
        print(f"weft: --device {options.device}: {error}", file=sys.stderr)
        return 2
    return (run_module if options.module else run_script)(options.program, rest)


def _launch(options: argparse.Namespace, rest: list[str]) -> int:
    """Start the processes of this machine, and wait for them."""
    workers = options.workers or 1
    here = options.local_workers or workers
    first = (options.node_rank or 0) * here
    if first + here > workers:
        print(f"weft launch: ranks {first} to {first + here - 1} are not among {workers} processes", file=sys.stderr)
        return 2
    if here < workers and not (options.master_addr and options.master_port):
        print("weft launch: several machines need --master-addr and --master-port", file=sys.stderr)
        return 2
    address = ""
    if options.master_port:
        address = f"{options.master_addr or '127.0.0.1'}:{options.master_port}"
    shown = "0" if options.show is None else options.show
    try:
        show = frozenset(range(workers)) if shown in ("all", "-1") else frozenset(map(int, shown.split(",")))
    except ValueError:
        print(f"weft launch: --show {shown}: not ranks, as 0,3 or all", file=sys.stderr)
        return 2
    if not show <= set(range(workers)):
        print(f"weft launch: --show {shown}: the ranks are 0 to {workers - 1}", file=sys.stderr)
        return 2
    if options.timeout:
        os.environ[coordinator.IDLE] = str(options.timeout)
    try:
        coordinator.allowed()
        wire.resolve(options.master_addr or "127.0.0.1")
    except (RuntimeError, OSError) as error:
        print(f"weft launch: {error}", file=sys.stderr)
        if not first or not isinstance(error, OSError):
            return 2  # elsewhere the name may be known later than this machine is there
    if not options.module and not os.path.exists(options.program):
        raise CannotRun(f"can't open file {options.program!r}: {os.strerror(errno.ENOENT)}")
    settings = [f"--{name}={value}" for name in ("mode", "device") if (value := getattr(options, name))]
    command = [sys.executable, "-m", "weft", "run", *settings, *(["-m"] if options.module else []), options.program]
    log_dir = Path(options.log_dir or "logs")
    return launching.launch(
        launching.Plan([*command, *rest], workers, here, first, address, log_dir, options.restarts or 0, show)
    )


def _explain(options: argparse.Namespace, rest: list[str]) -> int:
    """Run a program, and report also if it ends with an exception or an exit status of its own."""
    recorder = Recorder()
    exit_: SystemExit | None = None
    status = 0
    with recorder:
        try:
            status = _run(options, rest)
        except SystemExit as error:
            exit_ = error
    try:
        _write(recorder.report(), options)
    except OSError as error:
        print(f"weft: cannot write {error.filename!r}: {error.strerror}", file=sys.stderr)
        return 2
    if exit_ is not None:
        raise exit_
    return status


def _write(report: Report, options: argparse.Namespace) -> None:
    report.print()
    if options.html is not None:
        report.to_html(options.html)
    if options.json is not None:
        Path(options.json).write_text(report.to_json() + "\n", encoding="utf-8")


def _cache(action: str) -> int:
    """Show, verify or clear the compile cache."""
    place = executables.folder()
    if not executables.is_on():
        print("the compile cache is off")
    if not place.is_dir():
        print(f"{place}: nothing is kept")
        return 0
    files = Files(place, executables.LIMIT)
    if action == "clear":
        print(f"{place}: {files.clear()} files removed")
        left = len(files.files())
        if left:
            print(f"{left} files cannot be removed", file=sys.stderr)
        return 1 if left else 0
    try:
        opened(place)
    except Unusable as error:
        print(f"the compile cache is not used: {error}")
    found = files.files()
    size, most = (sum(file.size for file in found) / 2**20, executables.LIMIT / 2**20)
    print(f"{place}: {len(found)} files, {size:.1f} MB of at most {most:.0f} MB")
    damaged = files.damaged() if action == "verify" else []
    for path in damaged:
        print(f"damaged: {path.name}", file=sys.stderr)
    return 1 if damaged else 0


def _demo(options: argparse.Namespace) -> int:
    absent = []
    for package in ("sklearn", "rich", *(["matplotlib"] if options.plot else [])):
        try:
            importlib.import_module(package)
        except ModuleNotFoundError:
            absent.append(package)
    if absent:
        print(f"weft: the demo needs {', '.join(absent)}; install with: pip install 'weft[demo]'", file=sys.stderr)
        return 1
    demo = importlib.import_module("weft.demo.main")
    return int(demo.main(options))
