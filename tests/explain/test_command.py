"""`weft explain`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.processes import weft_at_once

SCRIPT = """\
import sys
import mindspore as ms

@ms.jit
def double(x):
    return x * 2

def local():
    ms.jit(lambda x: x + 1)(ms.Tensor([1.0]))

double(ms.Tensor([1.0]))
double(ms.Tensor([1.0, 2.0]))
local()
print(sys.argv[1:])
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def test_a_script_is_run_and_explained(folder: Path) -> None:
    done = weft_at_once(
        "explain", "--html", "page.html", "--json=data.json", "script.py", "--html", "x", "--", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("['--html', 'x', '--']\n")
    assert "double" in done.stdout
    data = json.loads((folder / "data.json").read_text())
    assert [(f["name"], len(f["graphs"])) for f in data["functions"]] == [("double", 2), ("<lambda>", 1)]
    assert "return x * 2" in (folder / "page.html").read_text()


def test_a_module_is_run_and_explained(folder: Path) -> None:
    done = weft_at_once("explain", "--json", "data.json", "-m", "script", "-m", cwd=folder)
    assert done.stdout.startswith("['-m']\n")
    assert len(json.loads((folder / "data.json").read_text())["functions"]) == 2


@pytest.mark.parametrize(("ending", "status"), [("sys.exit(7)", 7), ("1 / 0", 1), ("raise SystemExit", 0)])
def test_the_report_follows_however_the_script_ends(ending: str, status: int, folder: Path) -> None:
    (folder / "script.py").write_text(f"{SCRIPT}{ending}\n")
    done = weft_at_once("explain", "--json", "data.json", "script.py", cwd=folder)
    assert done.returncode == status
    assert ("ZeroDivisionError" in done.stderr) == (status == 1)
    assert len(json.loads((folder / "data.json").read_text())["functions"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "SCRIPT"),
        (("--html",), "--html"),
        (("--page", "script.py"), "--page"),
        (("nonesuch.py",), "nonesuch.py"),
        (("--html", "/no/such/folder/x.html", "script.py"), "cannot write '/no/such/folder/x.html'"),
    ],
)
def test_wrong_usage_is_status_2(arguments: tuple[str, ...], says: str, folder: Path) -> None:
    done = weft_at_once("explain", *arguments, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
