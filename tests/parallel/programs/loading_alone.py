"""Processes of a spread network save to different folders, and one of them loads alone."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import weft
from weft import Tensor, nn, train
from weft.context import set_auto_parallel_context
from weft.errors import CheckpointError
from weft.parallel.communication import get_rank, init

FOLDER = Path(sys.argv[1])

init()
weft.set_context(mode=weft.GRAPH_MODE)
set_auto_parallel_context(
    parallel_mode="semi_auto_parallel", enable_parallel_optimizer=True,
    parallel_optimizer_config={"optimizer_level": "level3", "parallel_optimizer_threshold": 0},
)  # fmt: skip
weft.set_seed(1)
net = nn.Dense(8, 4)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5)).set_train()
x, y = Tensor(np.ones((4, 8), np.float32)), Tensor(np.zeros((4, 4), np.float32))
step(x, y)
train.save_distributed_checkpoint(net, FOLDER / "saved", {"step": 1})
train.save_checkpoint(net, str(FOLDER / f"alone_{get_rank()}.ckpt"))
old = net.weight.asnumpy().copy()
try:
    train.save_distributed_checkpoint(net, FOLDER / ("saved" if get_rank() == 0 else "elsewhere"), {"step": 2})
except CheckpointError as error:
    print("refused:", error)
step(x, y)
assert int(train.load_checkpoint(FOLDER / "saved", net)["step"]) == 1
assert (net.weight.asnumpy() == old).all()
step(x, y)
train.load_checkpoint(str(FOLDER / f"alone_{get_rank()}.ckpt"), net)
assert (net.weight.asnumpy() == old).all()
print("all have loaded", flush=True)
step(x, y)
if get_rank() == 1:
    train.load_checkpoint(str(FOLDER / "alone_1.ckpt"), net)
print(float(step(x, y)), float(step(x, y)))
