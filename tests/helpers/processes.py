"""Python in a process of its own: a new one, or a copy of one that has imported the framework and done nothing else."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import weft

_ROOT = str(Path(weft.__file__).parents[1])


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with these variables, and with this framework to import."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")])),
        **variables,
    }


def python(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments.

    Args:
        arguments: what stands behind `python`.
        cwd: the folder to run in.
        variables: environment variables.

    Returns:
        subprocess.CompletedProcess: with the output and the errors as text.
    """
    command: list[Any] = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=cwd, env=environment(**variables), check=False
    )


def weft_command(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m weft` with these arguments; see `python`."""
    return python("-m", "weft", *arguments, cwd=cwd, **variables)


#: reads orders, and does each in a copy of itself, which goes on as `python -m weft` begins
_READY = """
import json, os, sys
import weft.cli, weft.mindspore
for line in sys.stdin:
    order = json.loads(line)
    copy = os.fork()
    if copy == 0:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)
else:
    sys.exit()
for number, name in enumerate([os.devnull, order["out"], order["err"]]):
    os.dup2(os.open(name, os.O_RDWR), number)
sys.stdin = open(0, closefd=False)
os.chdir(order["folder"])
sys.argv = ["weft", *order["arguments"]]
sys.exit(weft.cli.main())
"""


@functools.cache
def _ready() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _READY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    )
    atexit.register(process.communicate)  # the end of its input ends it
    return process


def weft_at_once(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m weft` with these arguments, without waiting until the framework is imported."""
    process = _ready()
    assert process.stdin is not None
    assert process.stdout is not None
    with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
        order = {"arguments": arguments, "folder": str(cwd or Path.cwd()), "out": out.name, "err": err.name}
        print(json.dumps(order), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, out.read(), err.read())
