"""``python -m tests.zoo``: run and train every model of `mindcv` eagerly, in Graph mode and with `jit`, and compare."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.zoo.child import MODES, SIZES
from tests.zoo.page import page, row
from tests.zoo.runner import agrees, listed, run_model


def main() -> int:
    """Run the models that the command line names; the exit status says whether all ran and agreed."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("patterns", nargs="*", default=["*"], help="models whose names match, in this order")
    parser.add_argument("--json", type=Path, default=Path("build/zoo.json"), help="where results are kept, by model")
    parser.add_argument("--again", action="store_true", help="also run what has a result")
    parser.add_argument("--failed", action="store_true", help="run what has a result that failed, or does not agree")
    parser.add_argument("--families", action="store_true", help="one model of each module only")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one model")
    parser.add_argument("--batch", type=int, default=4, help="number of images")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes of images to try, in this order")
    parser.add_argument(
        "--modes", default=",".join(MODES), help="modes to run; the first is what others must agree with"
    )
    parser.add_argument("--cache", default="build/zoo-cache", help="folder where eager code finds compiled operations")
    parser.add_argument("--quick", action="store_true", help="let XLA leave out what makes programs faster")
    parser.add_argument("--page", action="store_true", help="run nothing, print the table of all results")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(options.json.read_text()) if options.json.exists() else {}
    if options.page:
        print(page(results), end="")
        return 0
    families = listed()
    turns = zip_longest(*families.values())
    names = [name for turn in ([next(turns)] if options.families else turns) for name in turn if name]
    names = list(dict.fromkeys(found for pattern in options.patterns for found in fnmatch.filter(names, pattern)))
    if not names:
        parser.error("no model has such a name")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        known = results.get(name)
        if known is not None and not options.again and not (options.failed and not agrees(known)):
            continue
        settings = (options.batch, options.cache, options.sizes, options.modes, options.limit, options.quick)
        result = run_model(name, *settings)
        results[name] = result
        options.json.write_text(json.dumps(results, indent=1))
        print(row(result), flush=True)
    chosen = [results[name] for name in names]
    good = sum(agrees(result) for result in chosen)
    print(f"\n{good} of {len(chosen)} models run in all modes and agree")
    return int(good < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
