"""A pipeline over two or more processes that prints, saves the part of each process, and goes on from there.
Arguments: way (save, resume), rows (full_batch, data_parallel), folder. One process computes the same with the batch.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft import Tensor, nn
from weft.context import set_auto_parallel_context
from weft.core.tensor import data_of
from weft.nn.parallel import Pipeline
from weft.parallel import communication as comm
from weft.train import Model, build_searched_strategy, load_checkpoint, load_param_into_net, save_checkpoint

WAY, STRATEGY, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])

comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
EACH = max(count // 2, 1)
STAGE = rank // EACH
weft.set_context(mode=weft.GRAPH_MODE)
if count > 1:
    set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", pipeline_stages=2, dataset_strategy=STRATEGY,
        enable_parallel_optimizer=True, strategy_ckpt_config={"save_file": f"{FOLDER}/strategy_{rank}.ckpt"},
    )  # fmt: skip
weft.set_seed(1 if WAY == "save" else STAGE + 2)  # who resumes begins with other weights in each stage


class Layer(nn.Cell):
    def __init__(self, before: int, behind: int, stage: int) -> None:
        super().__init__()
        self.dense, self.stage = nn.Dense(before, behind), stage
        self.pipeline_stage = stage

    def construct(self, x: Any) -> Any:
        x = self.dense(x)
        print("in stage", self.stage, "rows", x.shape, "sum", x.sum())
        return x


def made() -> tuple[nn.Cell, Model]:
    net = nn.SequentialCell([Layer(16, 256, 0), nn.ReLU(), Layer(256, 256, 1), nn.ReLU(), Layer(256, 4, 1)])
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    return net, Model(Pipeline(nn.WithLossCell(net, nn.CrossEntropyLoss()), 4), optimizer=optimizer)


def batch(number: int) -> tuple[Tensor, Tensor]:
    random = np.random.default_rng(number)
    x = random.standard_normal((16, 16)).astype(np.float32)
    y = x[:, :4].argmax(1).astype(np.int32)
    if STRATEGY == "data_parallel":
        x, y = (np.split(value, EACH)[rank % EACH] for value in (x, y))
    return Tensor(x), Tensor(y)


def steps(network: nn.Cell, first: int) -> list[float]:
    return [float(network(*batch(number))) for number in range(first, first + 3)]


net, model = made()
step = model.train_network.set_train()
file = FOLDER / f"net_{rank}.ckpt"
if WAY == "save":
    losses = steps(step, 0)
    save_checkpoint(step, file, integrated_save=False)
    losses += steps(step, 3)
    load_param_into_net(step, load_checkpoint(file))
    losses += steps(step, 3)
    if count > 1:
        saved = {name for name in load_checkpoint(file) if name[0].isdigit()}
        assert saved == {p.name for p in net.get_parameters() if p.stage == STAGE}, saved
else:
    if count > 1:
        layouts = model.infer_train_layout([batch(0)])
        named = {p.name for p in net.get_parameters() if data_of(p).addressable_shards}
        assert named == {p.name for p in net.get_parameters() if p.stage == STAGE}, named
        assert named <= set(layouts)
        assert set(build_searched_strategy(f"{FOLDER}/strategy_{rank}.ckpt")) == named
    load_param_into_net(step, load_checkpoint(file))
    losses = steps(step, 3)


@weft.jit
def of_the_batch(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x + 1, x.sum(), net(x)


net.set_train(False)
x = batch(0)[0]
rows, total, result = of_the_batch(x)
np.testing.assert_array_equal(rows.asnumpy(), x.asnumpy() + 1)
assert result.shape == (x.shape[0], 4)  # the rows of this process
np.savez(
    FOLDER / f"{WAY}_{rank}.npz", losses=losses, total=float(total), more=float(total * 2), result=result.asnumpy()
)
