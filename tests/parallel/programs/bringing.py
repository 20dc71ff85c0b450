"""Compiled functions called with the rows of each process: what comes out is what one process has for its part of the
whole batch. Arguments: way (jit, graph, taped, wrapped, eager), file.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import set_auto_parallel_context
from weft.mindir import GraphCell, export, load
from weft.nn.parallel import AutoParallel
from weft.parallel import communication as comm
from weft.train import Model

WAY, FILE = sys.argv[1], sys.argv[2]
comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
set_auto_parallel_context(parallel_mode="semi_auto_parallel")
weft.set_context(mode=weft.PYNATIVE_MODE if WAY in ("jit", "eager") else weft.GRAPH_MODE)
weft.set_seed(1)


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w1 = Parameter(Tensor(np.random.standard_normal((16, 32)).astype(np.float32) / 4), name="w1")
        self.w2 = Parameter(Tensor(np.random.standard_normal((32, 4)).astype(np.float32) / 4), name="w2")
        self.first = ops.MatMul().shard(((1, 1), (1, count)))

    def construct(self, x: Any) -> Any:
        return ops.matmul(ops.relu(self.first(x, self.w1)), self.w2)


net = Network()
loss_of = nn.MSELoss()
optimizer = nn.Adam(net.trainable_params(), 0.01)


def forward(x: Tensor, y: Tensor) -> Any:
    out = net(x)
    return loss_of(out, y), out


gradient = weft.value_and_grad(forward, None, net.trainable_params(), has_aux=True)


def train_step(x: Tensor, y: Tensor) -> Any:
    (loss, out), grads = gradient(x, y)
    optimizer(grads)
    return loss, out


class Step(nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        return train_step(x, y)


def mine(batch: Any) -> Tensor:
    """The rows of this process."""
    return Tensor(np.split(batch, count)[rank])


steps: dict[str, Any] = {"jit": weft.jit(train_step), "graph": Step(), "taped": train_step}
step = steps[WAY] if WAY in steps else AutoParallel(train_step)
model = Model(net, loss_of, optimizer, metrics={"loss"})
losses, outs = [], []
for i in range(4):
    x = np.random.default_rng(i).standard_normal((8, 16)).astype(np.float32)
    y = x[:, :4] * 2
    if WAY == "eager":
        model.train(1, [(mine(x), mine(y))])
        losses.append(model.eval([(mine(x), mine(y))])["loss"])
        outs.append(model.predict(mine(x)))
    else:
        loss, out = step(mine(x), mine(y))
        losses.append(float(loss))
        outs.append(out)
    assert outs[-1].shape == (8 // count, 4), outs[-1].shape
apart = net(mine(x)) if WAY == "graph" else weft.jit(net)(x=mine(x))
assert apart.shape == (8 // count, 4), apart.shape

by_input = weft.grad(lambda x: (net(x) ** 2).sum())
if WAY == "taped":  # a gradient in graph mode is a call from outside, too
    outs.append(by_input(mine(x)))
    assert outs[-1].shape == (8 // count, 16), outs[-1].shape


@weft.jit
def write(rows: Tensor) -> Any:
    rows[0] = 1.0
    return rows.sum()


refused = ""
try:
    write(mine(x))
except RuntimeError as error:
    refused = str(error)
assert ("dataset_strategy" in refused) == (count > 1), refused

for kind in ("MINDIR", "STABLEHLO"):  # a file is for one device
    export(net, mine(x), file_name=f"{FILE}_{rank}", file_format=kind)
set_auto_parallel_context(parallel_mode="stand_alone")
np.testing.assert_allclose(GraphCell(load(f"{FILE}_{rank}.mindir"))(mine(x)).asnumpy(), apart.asnumpy(), rtol=1e-4)
set_auto_parallel_context(parallel_mode="semi_auto_parallel")

set_auto_parallel_context(dataset_strategy=((1, count), (1,)))
columns = Tensor(np.split(x, count, 1)[rank])
total = weft.jit(lambda x, y, scale: ((x * scale).sum(1) + y).sum())(columns, Tensor(x[:, 0]), Tensor(2.0))
set_auto_parallel_context(dataset_strategy="full_batch")
same = weft.jit(net)(Tensor(x))
assert same.shape == (8, 4)
found = {f"out{i}": out.asnumpy() for i, out in enumerate([*outs, apart])}
values = {param.name: param.asnumpy() for param in net.get_parameters()}
np.savez(f"{FILE}_{rank}.npz", losses=losses, total=float(total), same=same.asnumpy(), **values, **found)
print("done", losses[-1])
