"""Data parallel training with a Parameter that each process has for itself, and a fork that takes no part."""

import os

import numpy as np

import weft
from weft import Parameter, Tensor, context, nn, ops
from weft.data import NumpySlicesDataset
from weft.nn.parallel import DistributedGradReducer
from weft.parallel import communication as comm

comm.init()
rank = comm.get_rank()
context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, parameter_broadcast=True)


class Net(nn.Cell):
    def __init__(self, start):
        super().__init__()
        self.own = Parameter(Tensor([1.0 + rank]), name="own", layerwise_parallel=True)
        self.all = Parameter(Tensor([start]), name="all")

    def construct(self, x, y=None):
        return (x * self.own + x * self.all).sum()


for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
    context.set_context(mode=mode)
    net = Net(1.0)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    step(Tensor([1.0 + 2 * rank]))  # its gradients are 1 and 3
    assert np.allclose(net.own.asnumpy(), [0.9, 1.7][rank]), net.own
    assert np.allclose(net.all.asnumpy(), 0.8), net.all
    reduced = DistributedGradReducer(net.trainable_params())((Tensor([1.0 + 2 * rank]), Tensor([1.0 + 2 * rank])))
    assert [gradient.item() for gradient in reduced] == [1.0 + 2 * rank, 2.0]

net = Net(1.0 + rank)
data = NumpySlicesDataset({"x": np.ones((1, 1), np.float32), "y": np.zeros((1, 1), np.float32)}).batch(1)
weft.train.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.0)).train(1, data, dataset_sink_mode=False)
assert (net.own.item(), net.all.item()) == (1.0 + rank, 1.0)

if rank == 1:
    child = os.fork()
    if not child:
        try:
            ops.AllReduce()(Tensor([1.0]))
        except RuntimeError as error:
            os._exit(7 if "has started takes no part in it" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert ops.AllReduce()(Tensor([1.0])).item() == 2.0
print("all agree")
