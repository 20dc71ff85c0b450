"""``python -m tests.gate``: run the whole matrix and print where compiled calls differ from eager ones."""

from __future__ import annotations

import argparse
import json
import multiprocessing
from pathlib import Path

from tests.gate.matrix import SUBJECTS, programs
from tests.gate.programs import GUARDED, POLICIES
from tests.gate.report import Report, table
from tests.gate.running import part


def main() -> int:
    """Run what the command line names; the exit status says whether anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.gate", description=__doc__)
    parser.add_argument("--subjects", nargs="*", default=list(SUBJECTS), choices=list(SUBJECTS))
    parser.add_argument("--policies", nargs="*", default=list(GUARDED), choices=list(POLICIES))
    parser.add_argument("--only", default="", help="pairs `operation | kind of operand` that contain this")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no program after this time")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--pairs", action="store_true", help="every pair of an operation and a kind of operand")
    parser.add_argument("--list", action="store_true", help="only count the programs")
    parser.add_argument("--read", nargs="+", type=Path, help="report what was written by an earlier run")
    parser.add_argument("--examples", action="store_true", help="show a program for each group of differences")
    parser.add_argument("--out", type=Path, default=Path("build/gate"), help="where to write outcomes and report.json")
    options = parser.parse_args()
    if options.list:
        for subject in options.subjects:
            print(f"{subject:20} {len(programs(subject, every_pair=options.pairs)):6}", flush=True)
        return 0
    files = options.read or [options.out / f"part{number}.jsonl" for number in range(options.jobs)]
    if not options.read:
        options.out.mkdir(parents=True, exist_ok=True)
        rest = (options.jobs, options.policies)
        context = multiprocessing.get_context("spawn")
        what = (options.subjects, options.only)
        processes = [
            context.Process(target=part, args=(*what, n, *rest, str(file), options.seconds, options.pairs))
            for n, file in enumerate(files)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    report = Report.read(files)
    print(table(report, options.examples))
    (files[0].parent / "report.json").write_text(json.dumps(report.data(), indent=1))
    return 1 if report.differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
