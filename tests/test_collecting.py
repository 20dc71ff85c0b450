"""The garbage collector after weft was imported: what the program made before is still collected."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CYCLE = """
import gc, weakref
class Node: pass
node = Node()
node.itself = node
seen = weakref.ref(node)
"""


def run(program: str, *flags: str, cwd: Path | None = None) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, *flags, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


@pytest.mark.parametrize(
    "before",
    ["", "import numpy, jax", "def function(): pass\nclass Kind: pass\nRATE = 0.1"],
    ids=["", "imports", "names"],
)
def test_what_importing_made_is_frozen(before: str) -> None:
    assert run(f"{before}\nimport weft, gc; print(gc.get_freeze_count() > 50_000, gc.isenabled())") == "True True\n"


@pytest.mark.parametrize(
    "before",
    [
        "rows = [[1, 2]]",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "import gc; gc.freeze()",
    ],
)
def test_nothing_is_frozen_where_it_could_be_the_programs(before: str) -> None:
    assert run(f"{before}\nimport weft, gc; print(gc.get_freeze_count() > 50_000, gc.isenabled())") == "False True\n"


def test_a_collector_that_is_turned_off_stays_as_it_is() -> None:
    assert run("import gc; gc.disable(); import weft; print(gc.get_freeze_count(), gc.isenabled())") == "0 False\n"


def test_nothing_is_frozen_when_a_function_or_a_module_of_the_program_imports(tmp_path: Path) -> None:
    assert run("def main():\n    import weft, gc\n    print(gc.get_freeze_count())\nmain()") == "0\n"
    (tmp_path / "mine.py").write_text("import weft, gc\nprint(gc.get_freeze_count())\n")
    assert run("import mine", cwd=tmp_path) == "0\n"
    (tmp_path / "mine.py").write_text("objects = []\n")
    assert run("import mine, weft, gc\nprint(gc.get_freeze_count())", cwd=tmp_path) == "0\n"


@pytest.mark.parametrize("program", [f"{CYCLE}import weft\n", f"import weft{CYCLE}"])
def test_cycles_of_the_program_are_collected(program: str) -> None:
    assert run(f"{program}del node; gc.collect(); print(seen())") == "None\n"


def test_files_in_cycles_are_written_at_the_end(tmp_path: Path) -> None:
    program = f"import weft{CYCLE}node.file = open('text', 'w'); node.file.write('all of it')"
    run(program, "-W", "ignore", cwd=tmp_path)
    assert (tmp_path / "text").read_text() == "all of it"
