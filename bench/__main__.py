"""`python -m bench [--only TEXT] [--repeat N]`: measure every row and print the table."""

from __future__ import annotations

import argparse
import sys

from bench import (
    blocks,
    breaks,
    capturing,
    compiling,
    data,
    guards,
    lenet,
    optimizers,
    pipeline,
    process,
    processes,
    single,
    spread,
    starting,
)
from bench.measure import ROWS

ORDER = [
    module.__name__
    for module in (
        single,
        guards,
        breaks,
        capturing,
        compiling,
        blocks,
        lenet,
        optimizers,
        data,
        starting,
        process,
        spread,
        pipeline,
        processes,
    )
]


def main() -> int:
    """Measure, print, and tell by the exit status whether every row keeps its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios of weft to raw JAX, measured now.")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name contains TEXT")
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="repetitions of each measurement")
    options = parser.parse_args()
    rows = sorted(ROWS, key=lambda row: ORDER.index(row.measure.__module__))
    rows = [row for row in rows if options.only.lower() in row.name.lower()]
    if not rows:
        parser.error(f"no row's name contains {options.only!r}")
    width = max(len(row.name) for row in rows)
    print("| " + "row".ljust(width) + " |      weft | reference |  ratio |  limit |      |")
    print("|" + "-" * (width + 2) + "|----------:|----------:|-------:|-------:|------|")
    failures = 0
    for row in rows:
        result = row.measure(options.repeat)
        kept = result.ratio <= row.limit
        failures += not kept
        print(
            f"| {row.name:<{width}} | {result.ours:>9} | {result.reference:>9} "
            f"| {result.ratio:6.3f} | {row.limit:6.2f} | {'kept' if kept else 'OVER'} |",
            flush=True,
        )
    print(f"\n{len(rows) - failures} of {len(rows)} rows keep their limit")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
