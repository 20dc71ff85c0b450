"""Runs models, each in a process of its own, and keeps the results by model."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.zoo.comparing import OTHERS, agree

ROOT = Path(__file__).parents[2]


def listed() -> dict[str, list[str]]:
    """The models by the modules in which they are; the smallest of each module, by the zoo's own order, first."""
    program = (
        "import json, weft.mindspore; from mindcv.models import list_models, model_entrypoint;"
        "print(json.dumps([(name, model_entrypoint(name).__module__) for name in list_models()]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], env=_environment(), cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    families: dict[str, list[str]] = {}
    for name, module in json.loads(found.stdout.splitlines()[-1]):
        families.setdefault(module.rpartition(".")[2], []).append(name)
    return families


def run_model(name: str, batch: int, cache: str, sizes: str, modes: str, limit: float, quick: bool) -> dict[str, Any]:
    """Run one model.

    Args:
        name: the model.
        batch: number of images.
        cache: folder of the compile cache for eager code.
        sizes: sizes of images to try, with commas between.
        modes: modes to run, with commas between.
        limit: seconds that it may take.
        quick: whether XLA is to leave out what makes programs faster.

    Returns:
        dict[str, Any]: what its process reported; `failed` names the stage in which it ended early.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.zoo.child", name, str(batch), cache, sizes, modes],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment() | ({"XLA_FLAGS": "--xla_backend_optimization_level=0"} if quick else {}),
        cwd=ROOT,
    )
    assert child.stdout is not None
    result: dict[str, Any] = {"model": name, "batch": batch, "quick": quick, "modes": {}}
    stage, pending, begun = "start", b"", time.monotonic()
    try:
        while True:
            left = begun + limit - time.monotonic()
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, left))
            if not ready:
                result.update(failed=stage, error=f"no end within {limit:g} seconds")
                break
            read = os.read(child.stdout.fileno(), 1 << 16)
            if not read:
                if child.wait() and "failed" not in result:
                    result.update(failed=stage, error=f"the process ended with status {child.returncode}")
                break
            *lines, pending = (pending + read).split(b"\n")
            for line in lines:
                record = json.loads(line)
                if "stage" in record:
                    stage = record["stage"]
                elif "mode" in record:
                    result["modes"][record.pop("mode")] = record
                else:
                    result.update(record)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    result["seconds"] = time.monotonic() - begun
    return result


def agrees(result: dict[str, Any]) -> bool:
    """Whether a model ran in all modes, and gave the same in each.

    Where an activation lies so near to 0 that modes put it on different sides, most of the other images decide.
    """
    modes = [mode for mode in result["modes"].values() if "compared" in mode]
    return "failed" not in result and all(
        agree(mode["compared"]) or mode["other_images"] > OTHERS / 2 for mode in modes
    )


def breaks(result: dict[str, Any]) -> int:
    """How many breaks its graphs have, in all modes together."""
    return sum(len(mode["breaks"]) for mode in result["modes"].values())


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return os.environ | {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"}
