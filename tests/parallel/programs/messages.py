"""Messages that go wrong, in a way that is the program's first argument."""

import os
import sys
import time

from weft import Tensor
from weft.parallel import communication as comm
from weft.ops.exchanges import isend, recv

comm.init()
how, rank = sys.argv[1], comm.get_rank()
x = Tensor([1.0, 2.0])
if how == "nobody_waits" and rank == 0:
    isend(x, 1)
if how == "caught" and rank == 0:
    handle = isend(x, 1)
    try:
        handle.wait()
    except RuntimeError:
        print("caught it")
if how == "no_message":  # one has failed, and the other one ends without coming to an exchange
    if rank == 1:
        os._exit(4)
    time.sleep(1.5)
if how == "both":
    recv(x, 1 - rank)
print("done")
