"""``python -m tests.containers``: run all programs and print how many do compiled what they do eagerly."""

from __future__ import annotations

import argparse

from tests.containers.running import report
from tests.containers.subjects import SUBJECTS, table
from tests.gate.report import table as described


def main() -> int:
    """Run what the command line names; the exit status says whether anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.containers", description=__doc__)
    parser.add_argument("--subjects", nargs="*", default=list(SUBJECTS), choices=list(SUBJECTS))
    parser.add_argument("--share", type=int, default=1, help="one program in so many")
    options = parser.parse_args()
    reports = {subject: report(SUBJECTS[subject](options.share, 0)) for subject in options.subjects}
    print(table(reports))
    differing = [each for each in reports.values() if each.differing]
    for each in differing:
        print(described(each, examples=True))
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
