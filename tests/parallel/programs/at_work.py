"""Threads that compute, or send, while the main thread waits or has come to its end; batches of different sizes."""

from __future__ import annotations

import queue
import threading
import time

import numpy as np

from weft import Tensor
from weft.nn.parallel import SyncBatchNorm
from weft.ops import exchanges
from weft.parallel import communication as comm

comm.init()
rank = comm.get_rank()
comm.create_group("data", [0, 1])


def check_a_loader_that_computes_while_all_wait() -> None:
    """Rank 0 waits for rank 1, whose main thread waits for what a thread of rank 0 still computes."""
    ready: queue.Queue[np.ndarray] = queue.Queue()

    def load() -> None:
        for number in range(3):
            batch = np.zeros(4, np.float32)
            if rank == 0:
                batch[:] = number
                ready.put(batch)
                began = time.monotonic()
                while number == 1 and time.monotonic() - began < 4:
                    np.linalg.svd(np.ones((60, 60)))
            got = exchanges.broadcast(Tensor(batch), 0, group="data")
            if rank:
                ready.put(got.asnumpy())

    thread = threading.Thread(target=load)
    thread.start()
    for number in range(3):
        assert exchanges.all_reduce(Tensor(ready.get()))[0].asnumpy().tolist() == [2.0 * number] * 4
    thread.join()


def check_statistics_of_batches_of_different_sizes() -> None:
    x = np.array([[1.0], [2.0], [3.0], [10.0]], np.float32)
    for rows in ((slice(0, 2), slice(2, 4)), (slice(0, 3), slice(3, 4))):
        norm = SyncBatchNorm(1, momentum=0.0)
        norm.set_train()
        found = norm(Tensor(x[rows[rank]]))
        np.testing.assert_allclose(norm.moving_mean.asnumpy(), [x.mean()], rtol=1e-5)
        np.testing.assert_allclose(norm.moving_variance.asnumpy(), [x.var(ddof=1)], rtol=1e-5)
        wanted = (x[rows[rank]] - x.mean()) / np.sqrt(x.var() + norm.eps)
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4)


def outlive() -> None:
    """Python waits for this thread at the end of the program."""
    threading.main_thread().join()
    if rank == 0:
        exchanges.send(Tensor([7.0]), 1)
        handle = exchanges.isend(Tensor([8.0]), 1)
        handle.wait()
    else:
        assert [float(exchanges.recv(Tensor([0.0]), 0).asnumpy()[0]) for _ in range(2)] == [7.0, 8.0]
    print("all agree")


check_a_loader_that_computes_while_all_wait()
check_statistics_of_batches_of_different_sizes()
threading.Thread(target=outlive).start()
