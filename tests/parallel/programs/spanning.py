"""Networks spread over processes: what each computes is what one process computes with the whole batch.
Arguments: way (eager, jit, graph), strategy of data (full_batch, data_parallel), level of the optimizer (0 to 3), file.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import set_auto_parallel_context
from weft.parallel import communication as comm

WAY, STRATEGY, LEVEL, FILE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]

comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=STRATEGY)
if LEVEL:
    set_auto_parallel_context(
        enable_parallel_optimizer=True,
        parallel_optimizer_config={"optimizer_level": f"level{LEVEL}", "parallel_optimizer_threshold": 0},
    )
weft.set_seed(1)
random = np.random.default_rng(1)


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w1 = Parameter(Tensor(random.standard_normal((16, 32)).astype(np.float32) / 4), name="w1")
        self.w2 = Parameter(Tensor(random.standard_normal((32, 4)).astype(np.float32) / 4), name="w2")
        half = count // 2 if count > 1 else 1
        self.first = ops.MatMul().shard(((half, 1), (1, count // half)))
        self.second = ops.MatMul().shard(((half, count // half), (count // half, 1)))
        self.relu, self.drop, self.norm = ops.ReLU(), nn.Dropout(p=0.1), nn.LayerNorm((32,))

    def construct(self, x: Any) -> Any:
        return self.second(self.drop(self.relu(self.norm(self.first(x, self.w1)))), self.w2)


net = Network()
optimizer = nn.Adam(net.trainable_params(), 0.01)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
step.set_train()
run: Any = weft.jit(step) if WAY == "jit" else step
weft.set_context(mode=weft.GRAPH_MODE if WAY == "graph" else weft.PYNATIVE_MODE)
losses = []
for i in range(6):
    x = np.random.default_rng(i).standard_normal((8, 16)).astype(np.float32)
    y = x[:, :4] * 2
    if STRATEGY == "data_parallel":
        x, y = np.split(x, count)[rank], np.split(y, count)[rank]
    losses.append(float(run(Tensor(x), Tensor(y))))
weft.set_context(mode=weft.PYNATIVE_MODE)
values = {param.name: param.asnumpy() for param in (*net.get_parameters(), *optimizer.get_parameters())}
np.savez(f"{FILE}_{rank}.npz", losses=losses, **values)
print("done", losses[-1])
