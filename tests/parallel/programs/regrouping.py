"""Groups that are made anew, gradients of messages, indices out of bounds: what processes of a group compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.context import set_auto_parallel_context
from weft.parallel import communication as comm

comm.init()
rank = comm.get_rank()


def check_groups_made_anew() -> None:
    x = Tensor(np.array([10**rank], np.int32))
    comm.create_group("mine", [0, 1] if rank < 2 else [2])
    reduce = ops.AllReduce(group="mine")
    compiled = weft.jit(lambda x: reduce(x))
    assert compiled(x).asnumpy().tolist() == [11 if rank < 2 else 100]
    comm.destroy_group("mine")
    comm.create_group("mine", [0, 2] if rank != 1 else [1])
    assert compiled(x).asnumpy().tolist() == reduce(x).asnumpy().tolist() == [101 if rank != 1 else 10]


def check_gradients_of_messages() -> None:
    if rank == 2:
        return
    send, receive = ops.Send(0, 1 - rank), ops.Receive(0, 1 - rank, [3], weft.float32)
    news, hears = ops.Send(7, 1 - rank), ops.Receive(7, 1 - rank, [3], weft.float32)

    def loss(x: Any) -> Any:
        if rank == 0:
            return ops.depend(x * x, send(x * x)).sum() * 0
        return (receive(x) * x).sum()

    x = Tensor(np.arange(1, 4, dtype=np.float32) + rank)
    for compute in (weft.grad(loss), weft.jit(weft.grad(loss)), weft.grad(weft.jit(loss))):
        assert compute(x).asnumpy().tolist() == ([4.0, 12.0, 24.0] if rank == 0 else [1.0, 4.0, 9.0])
    if rank == 1:
        news(Tensor(np.full(3, 100, np.float32)))
    else:
        assert hears(x).asnumpy().tolist() == [100.0] * 3


def check_indices_out_of_bounds() -> None:
    set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="data_parallel")
    total = weft.jit(lambda i: ops.gather(ops.arange(5).astype(weft.float32), i, 0).sum())
    assert total(Tensor([0, 1, 2])).asnumpy() == 9.0
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
        total(Tensor([0, 1, 7 if rank == 1 else 2]))
    assert total(Tensor([0, 1, 3])).asnumpy() == 12.0


check_groups_made_anew()
check_gradients_of_messages()
check_indices_out_of_bounds()
print("all agree")
