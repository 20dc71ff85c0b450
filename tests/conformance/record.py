"""Ask MindSpore: ``python -m tests.conformance.record`` in an environment that has it (2.10.0) and NumPy.

Writes the table of calls and answers. MindSpore runs in processes of its own, since a call may end the process; what
such a call would answer is not known, and it is left out of the comparison.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.conformance.answers import HERE, answer
from tests.conformance.generate import calls

#: seconds after which a call is taken to hang
PATIENCE = 60


def child() -> None:
    """Answer the calls that come in, a line each."""
    from tests.conformance.inputs import names

    known = names()
    ms = known["ms"]
    ms.runtime.launch_blocking()
    for line in sys.stdin:
        found = answer(json.loads(line), known)
        settle(ms)
        print("\n@@" + json.dumps(found), flush=True)


def settle(ms: Any) -> None:
    """Wait for what was computed: MindSpore may report a failure at a later operation, which then is not its own."""
    for _ in range(5):
        try:
            ms.runtime.synchronize()
            ms.ops.add(ms.Tensor(1.0), 1).asnumpy()
        except Exception:
            continue
        return


class Asked:
    """A process that answers calls."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.conformance.record", "--child"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def answer(self, call: str) -> Any:
        """The answer to a call; None if the process ended or took too long."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            print(json.dumps(call), file=self.process.stdin, flush=True)
            for line in self.process.stdout:
                if line.startswith("@@"):
                    return json.loads(line[2:])
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        return None


def main() -> None:
    """Record answers; with ``--only-new`` those to calls that the table does not have yet."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only-new", action="store_true", help="keep the answers that are there")
    parser.add_argument("--to", type=Path, default=HERE / "answers.jsonl")
    given = parser.parse_args()
    if given.child:
        child()
        return
    known: dict[str, Any] = {}
    if given.only_new and given.to.exists():
        known = {call: found for _, call, found in map(json.loads, given.to.read_text().splitlines())}
    asked = Asked()
    lines = []
    for group, call in calls():
        found = known.get(call)
        if found is None:
            found = asked.answer(call)
        if found is None:
            asked = Asked()
            found = ["crashes"]
        if found[0] == "no name":
            continue  # weft's own, or of another release
        lines.append(json.dumps([group, call, found], separators=(",", ":")))
        if len(lines) % 500 == 0:
            print(len(lines), "calls", flush=True)
    given.to.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
