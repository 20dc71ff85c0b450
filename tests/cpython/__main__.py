"""``python -m tests.cpython``: run CPython's own tests under capture and report where the outcomes differ."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import platform
from pathlib import Path

from tests.cpython.files import FILES, SAMPLE, available
from tests.cpython.page import page
from tests.cpython.runner import FileResult, run_file


def main() -> int:
    """Run the files that the command line names; the exit status says whether an outcome differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.cpython", description=__doc__)
    parser.add_argument("--files", nargs="*", default=FILES, help="modules of the `test` package")
    parser.add_argument("--sample", action="store_true", help="the files of the short run")
    parser.add_argument("--only", default="", help="tests whose names contain this")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one test")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--nops", default="", metavar="SEED", help="insert NOPs into the functions at random")
    parser.add_argument("--json", type=Path, help="write all verdicts to this file")
    parser.add_argument("--page", nargs="+", type=Path, metavar="JSON", help="print the page made from such files")
    options = parser.parse_args()
    if options.page:
        print(page([json.loads(file.read_text()) for file in options.page]), end="")
        return 0
    names = [
        name if name.startswith("test_") else f"test_{name}" for name in (SAMPLE if options.sample else options.files)
    ]
    results: list[FileResult] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        present = [name for name in names if available(name)]
        for result in pool.map(lambda name: run_file(name, options.limit, options.nops, options.only), present):
            results.append(result)
            counts = ", ".join(f"{result.count(how)} {how}" for how in ("whole", "broken", "refused"))
            print(f"{result.file}: {counts}, {len(result.differing)} differ ({result.seconds:.0f} s)", flush=True)
            for verdict in result.differing:
                print(f"  {verdict['test']}: {verdict['differs'][:600]}", flush=True)
    reasons = collections.Counter(v["reason"] for r in results for v in r.verdicts if v["reason"])
    print("\nreasons:")
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")
    if options.json:
        version = ".".join(platform.python_version_tuple()[:2])
        files = {r.file: {"seconds": r.seconds, "verdicts": r.verdicts} for r in results}
        options.json.write_text(json.dumps({"version": version, "files": files}, indent=1))
    return 1 if any(r.differing for r in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
