"""Data parallel training that saves checkpoints, and goes on from the last one when it is started again.

Its arguments are how the steps are made (`cell` or `model`), the folder of the checkpoints, the number of steps, and
what rank 1 does wrong in the step in the middle, if anything.
"""

import re
import sys
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init

kind, folder, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
print("starts", flush=True)
init()
rank, count = get_rank(), get_group_size()
ms.set_context(mode=ms.PYNATIVE_MODE if kind == "cell" else ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(1)

random = np.random.default_rng(0)
x = random.standard_normal((steps, 32, 16)).astype(np.float32)
y = random.standard_normal((steps, 32, 1)).astype(np.float32)
mine = slice(rank * 32 // count, (rank + 1) * 32 // count)
batches = [(Tensor(rows[mine]), Tensor(targets[mine])) for rows, targets in zip(x, y, strict=True)]

net = nn.SequentialCell(nn.Dense(16, 64), nn.ReLU(), nn.Dense(64, 1))
optimizer = nn.Adam(net.trainable_params(), 0.01)


def last_checkpoint():
    """The number of steps that were made before, and the file after them."""
    names = [(re.fullmatch(r"net(\d+)-(?:\d+_)?(\d+)\.ckpt", path.name), path) for path in folder.glob("*.ckpt")]
    return max([(int(name[1]) + int(name[2]), path) for name, path in names], default=(0, None))


done, path = last_checkpoint()
print("begins after step", done, flush=True)


class Told(ms.Callback):
    """Prints the steps."""

    def on_train_step_end(self, run_context):
        print("step", done + run_context.original_args().cur_step_num, flush=True)


if kind == "cell":
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    step.set_train()
    if path is not None:
        assert ms.load_param_into_net(step, ms.load_checkpoint(str(path))) == ([], [])
    for number in range(done, steps):
        step(*batches[number])
        print("step", number + 1, flush=True)
        if rank == 0 and (number + 1) % 4 == 0:
            print("saves", flush=True)
            ms.save_checkpoint(step, str(folder / f"net0-{number + 1}.ckpt"))
else:
    model = ms.Model(net, nn.MSELoss(), optimizer)
    if path is not None:
        found = ms.load_checkpoint(str(path))
        assert ms.load_param_into_net(net, found)[0] == [] == ms.load_param_into_net(optimizer, found)[0]
    callbacks = [Told()]
    if rank == 0:
        settings = ms.CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=100)
        callbacks.append(ms.ModelCheckpoint(f"net{done}", str(folder), settings))
    model.train(1, batches[done:], callbacks, dataset_sink_mode=False)
np.savez(folder / f"weights_{rank}.npz", **{param.name: param.asnumpy() for param in net.get_parameters()})
print("done", flush=True)
