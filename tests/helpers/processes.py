"""Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
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
