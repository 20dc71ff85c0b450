"""Operators, loops and derivatives of a program's own, in both modes."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import PrimitiveWithInfer, composite as C, prim_attr_register
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class Square(PrimitiveWithInfer):
    @prim_attr_register
    def __init__(self, scale=1.0):
        self.init_prim_io_names(inputs=["x"], outputs=["y"])

    def infer_shape(self, x_shape):
        return x_shape

    def infer_dtype(self, x_dtype):
        return x_dtype

    def vm_impl(self, x):
        return Tensor(np.square(x.asnumpy()) * np.float32(self.scale))

    def get_bprop(self):
        def bprop(x, out, dout):
            return (2 * x * dout * self.scale,)

        return bprop


def add_one(x):
    return x + np.float32(1)


class Clip(ms._Function):
    @staticmethod
    def forward(ctx, x, bound):
        ctx.save_for_backward(x)
        ctx.bound = bound
        return ops.clip_by_value(x, -bound, bound)

    @staticmethod
    def backward(ctx, dout):
        (x,) = ctx.saved_tensors
        return dout * (x.abs() < ctx.bound).astype(dout.dtype), None


scale_grad = C.MultitypeFuncGraph("scale_grad")


@scale_grad.register("Number", "Tensor")
def _scale(factor, grad):
    return grad * factor


@scale_grad.register("Number", "Tuple")
def _scale_all(factor, grads):
    return C.HyperMap()(F.partial(scale_grad, factor), grads)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.square = Square(2.0)
        self.shift = ops.Custom(add_one, lambda s: s, lambda t: t, "pyfunc", bprop=lambda x, out, dout: (dout,))
        self.loop = ops.ForiLoop()
        self.note = P.ScalarSummary()

    def construct(self, x, n):
        y = self.shift(self.square(x))
        y = self.loop(0, n, lambda i, v: v * x, y)
        y = Clip.apply(y, 50.0)
        self.note("sum", y.sum())
        return y.sum()


for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
    ms.set_context(mode=mode)
    net = Net()
    for count in (1, 3):
        x, n = Tensor(np.array([1.0, 2.0], np.float32)), Tensor(count)
        print(net(x, n), ms.grad(net)(x, n))
    print([float(s.value) for s in ops.collect_summaries()])
    print(scale_grad(2.0, (x, (x, x * 2))))
    print(ops.while_loop(lambda v: v.sum() < 20, lambda v: v * 2, x))

# expect
# 21.0 [ 7. 25.]
# 53.0 [13. 0.]
# [21.0, 21.0, 53.0, 53.0]
# (Tensor(shape=[2], dtype=Float32, value= [2, 4]), (Tensor(shape=[2], dtype=Float32, value= [2, 4]), Tensor(shape=[2], dtype=Float32, value= [4, 8])))
# [ 8. 16.]
# 21.0 [ 7. 25.]
# 53.0 [13. 0.]
# [21.0, 21.0, 53.0, 53.0]
# (Tensor(shape=[2], dtype=Float32, value= [2, 4]), (Tensor(shape=[2], dtype=Float32, value= [2, 4]), Tensor(shape=[2], dtype=Float32, value= [4, 8])))
# [ 8. 16.]
