"""Failures of many programs, grouped by what they have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from tests.random_programs.features import features


def cause(finding: dict[str, Any]) -> str:
    """A name for what went wrong: the kind of failure, its text without what varies, the constructs that are left.

    Args:
        finding: a record of `__main__`, shrunken or not.
    """
    kind, text = finding["kind"], finding["text"]
    if kind in ("internal error", "refused"):
        text = re.sub(r"'[^']*'|\d+|<[^>]*>", "_", text.splitlines()[0])
        why = re.search(r"why: (.*)", finding["text"])
        text = text if why is None else f"{text} {re.sub(r'[0-9]+', '_', why[1])}"
        return f"{kind}: {text[:160]}"
    shape = "other identity" if "the same as" in text else "other value"
    left = sorted(features(finding["program"])) if finding["shrunken"] else []
    return f"{kind}, {shape}: {', '.join(left) or 'not shrunken'}"


def grouped(found: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Findings by cause, the most frequent first, the shortest program of each first.

    Args:
        found: records of `__main__`.
    """
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for finding in found:
        groups[cause(finding)].append(finding)
    for group in groups.values():
        group.sort(key=lambda finding: len(finding["program"]))
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def page(found: list[dict[str, Any]], programs: int) -> str:
    """The findings as Markdown.

    Args:
        found: records of `__main__`.
        programs: how many programs ran.
    """
    lines = [f"{len(found)} findings in {programs} programs", ""]
    for name, group in grouped(found):
        first = group[0]
        seeds = ", ".join(sorted({str(finding["seed"]) for finding in group}, key=int)[:12])
        lines += [f"## {name}", "", f"{len(group)} findings; seeds {seeds}.", ""]
        lines += [f"{first['policy']}, {first['where']}: {first['text'][:600]}", "", "```python"]
        lines += [first["program"].strip(), "```", ""]
    return "\n".join(lines)
