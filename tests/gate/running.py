"""Running programs of the matrix one after the other, with a limit of time and of memory."""

from __future__ import annotations

import dataclasses
import gc
import json
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

import jax

from tests.gate.matrix import programs
from tests.gate.programs import CALLS, GUARDED, Finding, Program, TooSlow, check

# what capture got wrong is put right in Python, with this warning
warnings.filterwarnings("error", message="capture raised|the new graph", category=RuntimeWarning)

#: seconds for a program, all policies together
LIMIT: Final = 60
#: parts in which the matrix is made, each a sample of it
SHARES: Final = 60
#: programs after which compiled code is thrown away
_KEPT: Final = 400
_count = 0


def _too_slow(*_: Any) -> None:
    raise TooSlow


def run(program: Program, policies: Sequence[str] = GUARDED) -> dict[str, Any]:
    """The outcome of a program as data: its name, its calls, and where they differ."""
    global _count
    _count += 1
    if _count % _KEPT == 0:
        jax.clear_caches()
        gc.collect()
    previous = signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)  # again and again: capture may take the exception for the program's
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check(program, policies)
    except TooSlow:
        found = [_slow(program)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    return {
        "program": program.name,
        "calls": CALLS * len(policies),
        "compared": found is not None,
        "findings": [dataclasses.asdict(finding) for finding in found or ()],
    }


def _slow(program: Program) -> Finding:
    text = f"no end within {LIMIT} seconds"
    return Finding(program.operation.name, program.operand.name, "", 0, "hang", text, "", program.source)


def chosen(
    subjects: Sequence[str], only: str = "", number: int = 0, count: int = 1, every_pair: bool = False
) -> Iterator[Program]:
    """The programs of some subjects in an order in which each beginning is a sample; every `count`-th share of them."""
    for which in range(number, SHARES, count):
        for subject in subjects:
            yield from programs(subject, SHARES, which, every_pair, only)


def part(
    subjects: Sequence[str],
    only: str,
    number: int,
    count: int,
    policies: Sequence[str],
    file: str,
    seconds: float,
    every_pair: bool,
) -> None:
    """Run a part of the matrix, and write each outcome to a file as it comes."""
    end = time.monotonic() + seconds
    with open(file, "w", encoding="utf8") as out:
        for program in chosen(subjects, only, number, count, every_pair):
            if time.monotonic() > end:
                break
            for entry in {"starts": program.name}, None:
                out.write(json.dumps(entry or run(program, policies)) + "\n")
                out.flush()
