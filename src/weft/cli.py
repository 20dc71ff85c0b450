"""The command line: `weft run`, `weft demo`, `weft --version`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any, Final

from weft import __version__
from weft.mindspore.run import CannotRun, run_module, run_script

INTERRUPTED: Final = 130
_RUN_USAGE: Final = "weft run [-h] (SCRIPT | -m MODULE) [ARGUMENT ...]"


def version() -> str:
    """The versions of weft, JAX and Python."""
    return f"weft {__version__}, jax {metadata.version('jax')}, Python {sys.version.split()[0]}"


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
    run.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in `python -m`")
    run.add_argument("program", metavar="SCRIPT", help="file to run, or module with -m")
    run.set_defaults(arguments=[])

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
    demo.add_argument("--plot", metavar="FILE", help="write the loss curves to an image, e.g. losses.png")
    demo.add_argument("--quiet", action="store_true", help="no progress bars, only the table")
    return top


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our own part of the arguments, and what belongs to the program that `weft run` runs."""
    if arguments[:1] == ["run"]:
        for index, argument in enumerate(arguments[1:], 1):
            if not argument.startswith("-"):
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
            return (run_module if options.module else run_script)(options.program, rest)
        return _demo(options)
    except CannotRun as error:
        print(f"weft: {error}", file=sys.stderr)
        return 1 if own[1:2] == ["-m"] else 2  # as Python: 2 for a file, 1 for a module
    except KeyboardInterrupt:
        print("\nweft: interrupted", file=sys.stderr)
        return INTERRUPTED


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
