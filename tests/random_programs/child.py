"""Check some random programs and print a line of JSON for each, in a process that may be ended if one does not end."""

from __future__ import annotations

import json
import time
from typing import Any

from tests.random_programs.compare import Difference, check
from tests.random_programs.features import features
from tests.random_programs.program import program
from tests.random_programs.shrink import shrink


def finding(seed: int, difference: Difference, text: str, shrunken: bool) -> dict[str, Any]:
    """A record of one failure."""
    return {
        "seed": seed, "policy": difference.policy, "kind": difference.kind, "where": difference.where,
        "text": difference.text, "program": text, "shrunken": shrunken,
    }  # fmt: skip


def checked(seed: int, seconds: float) -> dict[str, Any]:
    """Everything about one program.

    Args:
        seed: which one.
        seconds: how long to make failing ones smaller.
    """
    source, began = program(seed), time.monotonic()
    found = check(source, traced=True)
    record: dict[str, Any] = {
        "seed": seed, "seconds": round(time.monotonic() - began, 2),
        "graphs": found.runs["auto"].graphs, "breaks": found.runs["auto"].breaks,
        "features": sorted(features(source, found.eager.lines)),
        "findings": [finding(seed, difference, source, False) for difference in found.differences],
    }  # fmt: skip
    if found.differences and seconds:
        # the policies mostly fail alike, so that one of them is enough to make the program smaller
        print(json.dumps(record), flush=True)
        small, difference = shrink(source, found.differences[0], seconds)
        others = [one for one in found.differences[1:] if one.kind != difference.kind]
        record["findings"] = [finding(seed, difference, small, True)]
        record["findings"] += [finding(seed, one, source, False) for one in others]
    return record


def main(first: int, last: int, seconds: float) -> None:
    """Check the programs of a range of seeds; a line with a seed alone says that it begins."""
    for seed in range(first, last):
        print(json.dumps({"seed": seed}), flush=True)
        print(json.dumps(checked(seed, seconds)), flush=True)
