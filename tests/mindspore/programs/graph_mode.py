import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(Tensor(np.zeros(2), ms.float32), name="total")

    def construct(self, x):
        y = x
        while y.sum() < 100:
            y = y * 2
        if y[0] > y[1]:
            y = ops.reverse(y, [0])
        ops.assign_add(self.total, y)
        return y


net = Counter()
print(net(Tensor([1.0, 2.0], ms.float32)))
print(net(Tensor([2.0, 1.0], ms.float32)))
print(net.total.asnumpy())


@jit
def outer(x, factor):
    def inner(y):
        return y * factor

    return [inner(x + i) for i in range(2)], {"sum": inner(x).sum()}


print(outer(Tensor([1, 2]), 3))
# expect
# [64. 128.]
# [64. 128.]
# [128. 256.]
# ([Tensor(shape=[2], dtype=Int64, value= [3, 6]), Tensor(shape=[2], dtype=Int64, value= [6, 9])], {'sum': Tensor(shape=[], dtype=Int64, value= 9)})
