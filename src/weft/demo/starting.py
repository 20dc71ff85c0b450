"""What a first step takes in a process of its own: without the compile cache, and with what an earlier process left."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from weft import set_seed
from weft.demo import data
from weft.demo.training import MODES, initial_weights, train

#: steps of a short training
STEPS = 20


@dataclass(frozen=True)
class Start:
    """The seconds of a short training in a process.

    Args:
        first: its first step, which captures and compiles.
        steady: the median of the later ones.
    """

    first: float
    steady: float


def starts(options: argparse.Namespace, on_start: Callable[[str], None]) -> dict[str, tuple[Start, Start]]:
    """For each mode, a training without the compile cache, and one in the process after another that filled it.

    Args:
        options: batch_size, lr and seed, as the command line parsed them.
        on_start: called with the name of the mode before each process.

    Returns:
        dict: by the mode's name.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            runs = []
            for cache in ("", folder, folder):
                on_start(mode.name)
                runs.append(_in_a_process(options, mode.name, cache))
            found[mode.name] = runs[0], runs[2]
    return found


def _in_a_process(options: argparse.Namespace, mode: str, cache: str) -> Start:
    variables = {"MS_COMPILER_CACHE_ENABLE": "1" if cache else "0", "MS_COMPILER_CACHE_PATH": cache}
    given = json.dumps([mode, options.batch_size, options.lr, options.seed])
    done = subprocess.run(
        [sys.executable, "-m", "weft.demo.starting", given],
        check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables},
    )  # fmt: skip
    return Start(*json.loads(done.stdout))


def main(given: str) -> None:
    """Train shortly, and print the seconds of the first step and of the later ones."""
    name, batch_size, rate, seed = json.loads(given)
    digits = data.load(seed)
    set_seed(seed)
    (mode,) = [mode for mode in MODES if mode.name == name]
    batches = islice(digits.batches(batch_size, 1, seed), STEPS)
    _, run = train(mode, initial_weights(), batches, rate, lambda loss: None)
    print(json.dumps([run.first, run.steady]))


if __name__ == "__main__":
    main(sys.argv[1])
