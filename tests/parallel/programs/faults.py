"""One of the processes does something that the others do not."""

import os
import signal
import sys
import time

import numpy as np

from weft import Tensor, jit, ops
from weft.parallel import communication as comm

comm.init()
how, rank = sys.argv[1], comm.get_rank()
x = Tensor(np.arange(4, dtype=np.float32))
doubled = jit(lambda x: ops.AllReduce()(x * 2) + 1)
for step in range(12):
    doubled(x)
    if step == 5 and rank == 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "raises":
            raise ValueError("bad data")
        if how == "ends":
            sys.exit(0)
        if how == "status":
            sys.exit(3)
        if how == "sleeps":
            time.sleep(60)
        if how == "shape":
            x = Tensor(np.arange(5, dtype=np.float32))
        if how == "other":
            ops.AllGather()(x)
        if how == "skips":
            continue
        if how == "launcher":
            os.kill(os.getppid(), signal.SIGKILL)
    total = ops.AllReduce()(x)
print("done")
