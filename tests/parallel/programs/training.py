"""Steps of data parallel training; with one process, on the whole batches."""

import sys

import numpy as np

import weft
from weft import Tensor, context, nn, ops
from weft.nn.parallel import DistributedGradReducer, SyncBatchNorm
from weft.parallel import communication as comm
from weft.train import Model

kind, place = sys.argv[1:]
comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
context.set_context(mode=context.GRAPH_MODE if "graph" in kind else context.PYNATIVE_MODE)
context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
random = np.random.default_rng(0)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = SyncBatchNorm(4) if "norm" in kind else nn.Identity()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(4 * 6 * 6, 5)

    def construct(self, x):
        return self.dense(self.flatten(ops.relu(self.norm(self.conv(x)))))


net = Net()
for param in net.trainable_params():
    param.set_data(Tensor((random.standard_normal(param.shape) * 0.1).astype(np.float32)))
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Adam(net.trainable_params(), 0.01) if "adam" in kind else nn.Momentum(net.trainable_params(), 0.05, 0.9)
images = random.standard_normal((20, 8, 1, 6, 6)).astype(np.float32)
labels = random.integers(0, 5, (20, 8)).astype(np.int32)
mine = [(x.reshape(count, -1, 1, 6, 6)[rank], y.reshape(count, -1)[rank]) for x, y in zip(images, labels, strict=True)]

if "model" in kind:
    Model(net, loss_fn, optimizer).train(1, [(Tensor(x), Tensor(y)) for x, y in mine], dataset_sink_mode=False)
else:
    if "hand" in kind:
        reducer = DistributedGradReducer(optimizer.parameters)
        gradients = weft.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

        def step(x, y):
            loss, grads = gradients(x, y)
            optimizer(reducer(grads))
            return loss

        if "jit" in kind:
            step = weft.jit(step)
        net.set_train()
    else:
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
        step.set_train()
    for x, y in mine:
        step(Tensor(x), Tensor(y))
np.savez(f"{place}_{rank}.npz", **{param.name: param.asnumpy() for param in net.get_parameters()})
