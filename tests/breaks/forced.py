"""Breaks forced at calls of the corpus: every program must do what it does without them.

All call sites, one at a time (minutes; a word limits it to programs whose name has it)::

    PYTHONPATH=src:tests/capture python tests/breaks/forced.py [word]
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import programs

from tests.helpers.programs import Case, check_case
from weft.capture.meaning import calls

#: file, line and name of a function, and the number of the instruction
Site = tuple[str, int, str, int]


def corpus() -> Iterator[tuple[str, Case]]:
    """The programs of the corpus that the automatic policy captures, by name."""
    for module in pkgutil.iter_modules(programs.__path__):
        cases = getattr(importlib.import_module(f"programs.{module.name}"), "CASES", {})
        for name, case in cases.items():
            if "auto" in case.policies:
                yield f"{module.name}::{name}", case


def site_of(frame: Any, pc: int) -> Site:
    """Where a call is."""
    code = frame.decoded.code
    return code.co_filename, code.co_firstlineno, code.co_name, pc


def check_forced(case: Case, forced: Callable[[Any, int], bool]) -> None:
    """Compare a program with eager execution while some calls break.

    Args:
        case: the program.
        forced: says of the frame and the instruction of a call whether it breaks.
    """
    calls.forced_break = forced
    try:
        check_case(Case(case.function, case.inputs[:2], False, False, case.factory, -1, ["auto"]))
    finally:
        calls.forced_break = None


def sites_of(case: Case) -> list[Site]:
    """The call sites of a program."""
    found: dict[Site, None] = {}

    def note(frame: Any, pc: int) -> bool:
        found[site_of(frame, pc)] = None
        return False

    check_forced(case, note)
    return list(found)


def check_sites(case: Case, sample: random.Random | None = None, count: int = 1) -> list[str]:
    """Break a program at one call site after the other; returns what differed.

    Args:
        case: the program.
        sample: chooses the sites; None for all of them.
        count: how many are chosen.
    """
    sites = sites_of(case)
    if sample is not None:
        sites = sample.sample(sites, min(count, len(sites)))
    differing = []
    for site in sites:
        try:
            check_forced(case, lambda frame, pc, site=site: site_of(frame, pc) == site)
        except Exception as error:  # whatever goes wrong is a difference
            differing.append(f"{site[2]} (line {site[1]}), instruction {site[3]}: {type(error).__name__}: {error}")
    return differing


if __name__ == "__main__":
    warnings.simplefilter("error")
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    number = 0
    for program_name, program in corpus():
        if word in program_name:
            for line in check_sites(program):
                number += 1
                print(program_name, line.replace("\n", " | "), flush=True)
    print(number, "differences")
    sys.exit(number > 0)
