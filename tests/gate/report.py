"""What a run of the matrix found: counts, and differences grouped by operation and symptom."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class Report:
    """The outcomes of programs, as `running.run` gives them."""

    def __init__(self, outcomes: Iterable[dict[str, Any]], crashed: Iterable[str] = ()) -> None:
        self.programs = 0
        self.calls = 0
        self.findings: list[dict[str, Any]] = []
        self.crashed = list(crashed)
        for outcome in outcomes:
            self.programs += 1
            self.calls += outcome["calls"]
            self.findings += outcome["findings"]

    @classmethod
    def read(cls, files: Iterable[Path]) -> Report:
        """What parts of a run wrote; a program that started without an end ended its process."""
        outcomes, crashed = [], []
        for file in files:
            started = ""
            for line in file.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if "starts" in entry:
                    started = entry["starts"]
                elif "program" in entry:
                    outcomes.append(entry)
                    started = ""
            if started:
                crashed.append(started)
        return cls(outcomes, crashed)

    @property
    def differing(self) -> bool:
        """Whether anything differs."""
        return bool(self.findings or self.crashed)

    def symptoms(self) -> dict[str, int]:
        """How many programs and policies show each symptom."""
        return dict(collections.Counter(finding["symptom"] for finding in self.findings).most_common())

    def groups(self) -> list[tuple[str, str, list[dict[str, Any]]]]:
        """Differences by operation and symptom, the largest groups first."""
        found: dict[tuple[str, str], list[dict[str, Any]]] = collections.defaultdict(list)
        for finding in self.findings:
            found[finding["operation"], finding["symptom"]].append(finding)
        return [(*key, group) for key, group in sorted(found.items(), key=lambda item: -len(item[1]))]

    def data(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "programs": self.programs,
            "calls": self.calls,
            "symptoms": self.symptoms(),
            "crashed": self.crashed,
            "groups": [
                {"operation": operation, "symptom": symptom, "findings": group}
                for operation, symptom, group in self.groups()
            ],
        }


def table(report: Report, examples: bool = False) -> str:
    """A report to read.

    Args:
        report: what was found.
        examples: whether a program of each group is shown.
    """
    differing = len({(f["operation"], f["operand"]) for f in report.findings})
    lines = [f"{report.programs} programs, {report.calls} compiled calls: {differing} programs differ"]
    lines += [f"{count:6}  {symptom}" for symptom, count in report.symptoms().items()]
    lines += [f"ended the process: {name}" for name in report.crashed]
    for operation, symptom, group in report.groups():
        operands = ", ".join(dict.fromkeys(finding["operand"] for finding in group))
        lines.append(f"\n{operation}: {symptom} ({len(group)}) with {operands}")
        lines.append(f"    call {group[0]['call']}, {group[0]['policy']}: {group[0]['text']}")
        if examples:
            lines += [f"    | {line}" for line in group[0]["source"].splitlines()]
    return "\n".join(lines)
