"""Compare the answers of weft with those of MindSpore: ``make conformance``."""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.answers import HERE, answer, difference, table
from tests.conformance.inputs import names

#: calls that one process answers: what it compiled is let go with it
CALLS = 1000


class Departure(NamedTuple):
    """Calls whose answers differ on purpose."""

    pattern: re.Pattern[str]
    reason: str


class Result(NamedTuple):
    """What came of a call."""

    group: str
    call: str
    found: Any
    expected: Any
    difference: str
    #: why it differs on purpose, "" where nothing says so
    reason: str


def departures() -> list[Departure]:
    """The table of departures: a reason, and below it, indented, patterns of ``call => difference``."""
    found, reason = [], ""
    for line in (HERE / "departures.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found.append(Departure(re.compile(line.strip()), reason))
        elif line and not line.startswith("#"):
            reason = line
    return found


def ask(calls: Sequence[tuple[str, str, Any]]) -> Iterator[Result]:
    """Answer calls and compare; those without an answer of MindSpore's are left out."""
    known, declared = names(), departures()
    for group, call, expected in calls:
        if expected[0] in ("no kernel", "crashes"):
            continue
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            found = answer(call, known)
        differs = difference(found, expected)
        if found[0] == "no name":
            continue  # the table is over the names that weft has
        line = f"{call} => {differs}"
        reason = next((each.reason for each in declared if each.pattern.search(line)), "") if differs else ""
        yield Result(group, call, found, expected, differs, reason)


def child() -> None:
    """Compare the calls that come in as JSON, and write the results as JSON, a line each."""
    import weft.mindspore  # noqa: F401  (the door)

    for result in ask(json.load(sys.stdin)):
        print(json.dumps(result), flush=True)


def compare(calls: list[tuple[str, str, Any]], workers: int) -> list[Result]:
    """Results of all calls, by several processes at a time."""
    command = [sys.executable, "-m", "tests.conformance", "--child"]
    waiting = [calls[at : at + CALLS] for at in range(0, len(calls), CALLS)]
    running: list[Any] = []
    results: list[Result] = []
    while waiting or running:
        while waiting and len(running) < workers:
            with Path(os.devnull).open("w") as nothing:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=nothing, text=True
                )
            assert process.stdin is not None
            process.stdin.write(json.dumps(waiting.pop(0)))
            process.stdin.close()
            running.append(process)
        process = running.pop(0)
        results += [Result(*json.loads(line)) for line in process.stdout if line.startswith("[")]
        process.wait()
    return results


def report(results: list[Result], show: bool) -> None:
    """Print by group the share that agrees, of all calls and of those that are not declared, and what differs; at the
    end of the calls to which MindSpore answers with values and with exceptions.
    """
    if show:
        for one in results:
            if one.difference and not one.reason:
                print(f"{one.call}\n    {one.difference}\n    weft      {json.dumps(one.found)[:160]}")
                print(f"    MindSpore {json.dumps(one.expected)[:160]}")
    total: collections.Counter[str] = collections.Counter()
    agree: collections.Counter[str] = collections.Counter()
    declared: collections.Counter[str] = collections.Counter()
    for one in results:
        asked = "exceptions" if one.expected[0] == "raises" else "values"
        for group in (one.group, asked, "all"):
            total[group] += 1
            agree[group] += not one.difference
            declared[group] += bool(one.reason)
    print(f"{'group':<18}{'calls':>7}{'agree':>7}{'on purpose':>12}{'differ':>8}{'share':>9}{'of the rest':>13}")
    last = ("values", "exceptions", "all")
    for group in [*(each for each in total if each not in last), *(each for each in last if each in total)]:
        differ = total[group] - agree[group] - declared[group]
        share, rest = agree[group] / total[group], agree[group] / max(total[group] - declared[group], 1)
        counts = f"{total[group]:>7}{agree[group]:>7}{declared[group]:>12}{differ:>8}"
        print(f"{group:<18}{counts}{share:>9.1%}{rest:>13.1%}")


def main() -> None:
    """Compare the table, or the calls that match."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("match", nargs="?", default="", help="a regular expression that calls contain")
    parser.add_argument("--group", default="", help="one group only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quiet", action="store_true", help="the shares only")
    parser.add_argument("--json", type=Path, help="write the results there too")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child()
        return
    calls = [row for row in table() if given.group in ("", row[0]) and re.search(given.match, row[1])]
    results = compare(calls, given.jobs)
    report(results, not given.quiet)
    if given.json is not None:
        given.json.write_text("\n".join(map(json.dumps, results)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
