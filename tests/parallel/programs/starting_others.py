"""Processes that start others: which compute while the others wait, or are left behind. Argument: which."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from weft import Tensor, ops
from weft.parallel import communication as comm

COMPUTES = "import time\nwhile time.process_time() < 2.5: pass"
comm.init()
what = sys.argv[1]
if what == "computes":
    if comm.get_rank() == 0:
        subprocess.run([sys.executable, "-c", COMPUTES], check=True)
    ops.AllReduce()(Tensor([1.0]))
    print("all agree")
elif what == "sleeps":
    if comm.get_rank() == 0:
        subprocess.run(["sleep", "60"], check=True)
    ops.AllReduce()(Tensor([1.0]))
else:
    apart = [["sleep", "977"], ["timeout", "976", "sleep", "975"]]
    found = [subprocess.Popen(command, start_new_session=len(command) == 2) for command in apart]
    time.sleep(0.3)
    with open(os.path.join(sys.argv[2], f"{comm.get_rank()}.txt"), "w") as noted:
        print(*[child.pid for child in found], file=noted)
    ops.AllReduce()(Tensor([1.0]))
    if comm.get_rank() == 1:
        raise ValueError("bad data")
    ops.AllReduce()(Tensor([1.0]))
