"""``python -m tests.random_programs``: compare random programs compiled and eager, and report where they differ."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from tests.random_programs.child import main as run_here
from tests.random_programs.findings import cause, page
from tests.random_programs.program import program

#: programs that one process runs, so that its memory stays small
_CHUNK: Final = 40


def main() -> int:
    """Check the programs that the command line names; the exit status says whether one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--seeds", default="0:150", metavar="FIRST:LAST", help="which programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--shrink", type=float, default=30.0, metavar="SECONDS", help="for each failure; 0: not at all")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one program")
    parser.add_argument("--json", type=Path, help="write all records to this file")
    parser.add_argument("--page", type=Path, help="write the findings to this file")
    parser.add_argument("--show", type=int, metavar="SEED", help="print a program")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.show is not None:
        print(program(options.show), end="")
        return 0
    first, last = map(int, options.seeds.split(":"))
    if options.child:
        run_here(first, last, options.shrink)
        return 0
    records: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        chunks = [(start, min(start + _CHUNK, last)) for start in range(first, last, _CHUNK)]
        for part in pool.map(lambda chunk: _chunk(*chunk, options.shrink, options.limit), chunks):
            records += part
            new = [finding for record in part for finding in record["findings"]]
            found += new
            print(f"{records[-1]['seed'] + 1 - first} programs, {len(found)} findings", flush=True)
            for finding in new:
                print(f"  {finding['seed']} {finding['policy']}: {cause(finding)}", flush=True)
            if options.json:
                options.json.write_text(json.dumps(records, indent=1))
            if options.page:
                options.page.write_text(page(found, len(records)))
    print("\n" + page(found, len(records)))
    counts = collections.Counter(feature for record in records for feature in record["features"])
    print("programs by what they exercise: " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    print(f"{sum(record['graphs'] > 0 for record in records)} of {len(records)} programs have a graph")
    return 1 if found else 0


def _chunk(first: int, last: int, shrink: float, limit: float) -> list[dict[str, Any]]:
    """Check some programs in processes of their own; one that does not end or breaks down is a finding."""
    records: dict[int, dict[str, Any]] = {}
    while first < last:
        command = [sys.executable, "-m", "tests.random_programs", "--child", "--seeds", f"{first}:{last}"]
        process = subprocess.Popen([*command, "--shrink", str(shrink)], stdout=subprocess.PIPE, text=True)
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        seed, why = first, "breaks down"
        heard = time.monotonic()
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                if time.monotonic() - heard > limit + shrink:
                    why = "does not end"
                    process.kill()
                    break
                continue
            if not line:
                break
            heard = time.monotonic()
            record = json.loads(line)
            seed = record["seed"]
            if "findings" in record:
                records[seed] = record
        if process.wait() == 0:
            break
        if seed not in records:
            records[seed] = {
                "seed": seed, "seconds": limit, "graphs": 0, "breaks": 0, "features": [],
                "findings": [
                    {
                        "seed": seed, "policy": "auto", "kind": "internal error", "where": "drive",
                        "text": f"the process {why}", "program": program(seed), "shrunken": False,
                    }
                ],
            }  # fmt: skip
        first = seed + 1
    return [records[seed] for seed in sorted(records)]


def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


if __name__ == "__main__":
    raise SystemExit(main())
