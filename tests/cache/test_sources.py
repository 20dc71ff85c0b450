"""Sources that change while a process runs: what it keeps is of those that it imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import weft

PROGRAM = """
import sys
from weft import Tensor, jit, ops, set_context
set_context(enable_compile_cache=True)
import weft
assert weft.__file__.startswith(sys.argv[1])
if sys.argv[2:]:
    path = sys.argv[1] + "/weft/ops/elementwise.py"
    with open(path) as file:
        source = file.read()
    assert source.count("magnitude(floating(x))\\n    return") == 1
    with open(path, "w") as file:
        file.write(source.replace("magnitude(floating(x))\\n    return", "magnitude(floating(x)) + 1\\n    return"))
x, y = Tensor([1.0, 2.0]), Tensor([-1.0, 1.0])
print(ops.copysign(x, y), jit(lambda x, y: ops.copysign(x, y))(x, y))
"""


def test_sources_that_are_edited_after_the_import(tmp_path: Path) -> None:
    shutil.copytree(Path(weft.__file__).parent, tmp_path / "weft", ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "MS_COMPILER_CACHE_PATH": str(tmp_path / "cache")}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), *arguments]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert run("edit") == "[-1.  2.] [-1.  2.]\n"
    assert run() == "[-2.  3.] [-2.  3.]\n"
