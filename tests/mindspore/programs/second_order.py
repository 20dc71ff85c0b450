import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
from mindspore.ops import composite as C
from mindspore.ops import operations as P

ms.set_context(mode=ms.PYNATIVE_MODE)


class Cube(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mul = P.Mul()

    def construct(self, x):
        return self.mul(self.mul(x, x), x)


class Grad(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = C.GradOperation(get_all=True, sens_param=False)

    def construct(self, x):
        return self.grad(self.net)(x)[0]


x = Tensor([1.0, 2.0], ms.float32)
print(Grad(Cube())(x))
print(Grad(Grad(Cube()))(x))
print(ops.grad(lambda a, b: (a * b).sum(), (0, 1))(x, x + 1))
# expect
# [ 3. 12.]
# [ 6. 12.]
# (Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  3.00000000e+00]), Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00]))
