"""What a process has started, and what that computes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.parallel import descendants

pytestmark = pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/task").exists(), reason="the system does not tell")

#: starts a process of another session, says its number, and waits for it and for a line
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True)
print(child.pid, flush=True)
child.wait()
print("ended", flush=True)
sys.stdin.readline()
"""
COMPUTES = "import time\nwhile time.process_time() < 0.5: pass"


def test_what_started_processes_compute_counts_while_they_run_and_after() -> None:
    before = descendants.spent(os.getpid())
    with subprocess.Popen([sys.executable, "-c", PARENT, COMPUTES], stdin=-1, stdout=-1, text=True) as parent:
        child = int(parent.stdout.readline())
        assert {parent.pid, child} <= set(descendants.started(os.getpid()))
        assert not {parent.pid, child} & set(descendants.started(os.getpid(), {parent.pid}))
        assert descendants.groups([parent.pid, child]) == {parent.pid: os.getpgid(0), child: child}
        assert parent.stdout.readline() == "ended\n"
        assert descendants.spent(parent.pid) > 0.45
        assert descendants.spent(os.getpid()) > before + 0.45
        parent.communicate("\n")
    assert descendants.spent(os.getpid()) > before + 0.45


def test_one_that_is_not_there() -> None:
    parent = subprocess.Popen([sys.executable, "-c", ""])
    parent.wait()
    assert descendants.spent(parent.pid) is None
    assert descendants.started(parent.pid) == []
    assert descendants.groups([parent.pid]) == {}
