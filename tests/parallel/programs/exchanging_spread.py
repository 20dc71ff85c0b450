"""An exchange of the program's own in a network that is spread over processes: eager steps and compiled ones agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft
from weft import Tensor, nn, ops
from weft.context import set_auto_parallel_context
from weft.parallel import communication as comm

comm.init()


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Dense(4, 8), nn.Dense(8, 2)

    def construct(self, x: Any) -> Any:
        return self.b(ops.AllReduce()(self.a(x)))


def losses(mode: int) -> list[float]:
    weft.set_context(mode=mode)
    weft.set_seed(1)
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    x, y = Tensor(np.ones((8, 4), np.float32)), Tensor(np.ones((8, 2), np.float32))
    return [float(step(x, y)) for _ in range(3)]


for strategy in ("full_batch", "data_parallel"):
    set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=strategy)
    compiled, eager = losses(weft.GRAPH_MODE), losses(weft.PYNATIVE_MODE)
    np.testing.assert_allclose(compiled, eager, rtol=1e-5)
    assert compiled[2] < compiled[0]
print("all agree")
