"""Networks in stages over processes: what they compute is what one process computes with the whole batch.
Arguments: way (jit, graph), stages, micro batches, strategy of data (full_batch, data_parallel), scheduler, file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft import Parameter, Tensor, nn, ops
from weft.core.tensor import data_of
from weft.context import set_auto_parallel_context
from weft.nn.parallel import Pipeline
from weft.parallel import communication as comm
from weft.train import load_checkpoint, save_checkpoint, save_distributed_checkpoint

WAY, STAGES, MICRO, STRATEGY, SCHEDULER, FILE = sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:7]

comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
if count > 1:
    set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", pipeline_stages=STAGES, dataset_strategy=STRATEGY,
        pipeline_config={"pipeline_scheduler": SCHEDULER},
    )  # fmt: skip
weft.set_seed(1)
random = np.random.default_rng(1)
EACH = count // STAGES if count > 1 else 1


class Block(nn.Cell):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.w = Parameter(Tensor(random.standard_normal((16, 16)).astype(np.float32) / 4), name=f"{name}.w")
        self.product = ops.MatMul().shard(((EACH, 1), (1, 1)))
        self.norm, self.drop = nn.LayerNorm((16,)), nn.Dropout(p=0.1)
        self.seen = Parameter(Tensor(np.zeros(16, np.float32)), name=f"{name}.seen", requires_grad=False)

    def construct(self, x: Any) -> Any:
        self.seen = self.seen * 0.9 + ops.stop_gradient(x).mean(0) * 0.1
        return x + self.drop(ops.relu(self.product(self.norm(x), self.w)))


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = Parameter(Tensor(random.standard_normal((32, 16)).astype(np.float32)), name="table")
        self.embed = Embed(self.table)
        self.blocks = nn.CellList([Block(f"block{i}") for i in range(4)])
        self.norm = nn.BatchNorm1d(16)
        self.head = Head(self.table)
        self.embed.pipeline_stage = 0
        for i, block in enumerate(self.blocks):
            block.pipeline_stage = i * STAGES // 4
        self.norm.pipeline_stage = self.head.pipeline_stage = STAGES - 1

    def construct(self, x: Any) -> Any:
        first = x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x) + first * 0.5)


class Embed(nn.Cell):
    def __init__(self, table: Parameter) -> None:
        super().__init__()
        self.table = table

    def construct(self, x: Any) -> Any:
        return ops.gather(self.table, x, 0).mean(1)


class Head(nn.Cell):
    def __init__(self, table: Parameter) -> None:
        super().__init__()
        self.table = table

    def construct(self, x: Any) -> Any:
        return ops.matmul(x, self.table.T)


net = Network()
loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
step = nn.TrainOneStepCell(Pipeline(loss, MICRO), optimizer)
step.set_train()
run: Any = weft.jit(step) if WAY == "jit" else step
weft.set_context(mode=weft.GRAPH_MODE if WAY == "graph" else weft.PYNATIVE_MODE)
losses = []
for i in range(6):
    made = np.random.default_rng(i)
    x, y = made.integers(0, 32, (16, 5)).astype(np.int32), made.integers(0, 32, 16).astype(np.int32)
    if STRATEGY == "data_parallel":
        x, y = (np.split(value, EACH)[rank % EACH] for value in (x, y))
    losses.append(float(run(Tensor(x), Tensor(y))))
follow = weft.value_and_grad(Pipeline(loss, MICRO), None, optimizer.parameters)


@weft.jit
def guarded(x: Any, y: Any) -> Any:
    value, gradients = follow(x, y)
    if value < 100.0:
        optimizer(gradients)
    return value


for _ in range(2):
    losses.append(float(guarded(Tensor(x), Tensor(y))))
net.set_train(False)
evaluated = (
    weft.jit(net)(Tensor(np.arange(40, dtype=np.int32).reshape(8, 5) % 32)) if STRATEGY == "full_batch" else None
)
weft.set_context(mode=weft.PYNATIVE_MODE)
values = {param.name: param.asnumpy() for param in (*net.get_parameters(), *optimizer.get_parameters())}
if evaluated is not None:
    values["evaluated"] = evaluated.asnumpy()
if count > 1:
    held = [param for param in net.trainable_params() if data_of(param).addressable_shards]
    assert {param.stage for param in held} == {rank // EACH}, held
save_checkpoint(net, f"{FILE}_{rank}.ckpt")
loaded = load_checkpoint(f"{FILE}_{rank}.ckpt")
assert all(np.array_equal(loaded[param.name].asnumpy(), values[param.name]) for param in net.get_parameters())
save_distributed_checkpoint(net, f"{FILE}_parts")
for param in net.get_parameters():
    param.set_data(Tensor(np.zeros(param.shape, np.float32)))
load_checkpoint(f"{FILE}_parts", net)
for param in net.get_parameters():
    np.testing.assert_array_equal(param.asnumpy(), values[param.name])
np.savez(f"{FILE}_{rank}.npz", losses=losses, **values)
print("done", losses[-1], Path(FILE).name)
