import numpy as np

import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, context
from mindspore.common.initializer import Normal

context.set_context(mode=context.PYNATIVE_MODE, device_target="CPU")
ms.set_seed(1)

rng = np.random.default_rng(0)
inputs = rng.standard_normal((64, 3)).astype(np.float32)
targets = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.25

net = nn.Dense(3, 1, weight_init=Normal(0.02))
loss_fn = nn.MSELoss()
optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
train = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
train.set_train()
for _ in range(150):
    loss = train(Tensor(inputs), Tensor(targets))

print(float(loss.asnumpy()) < 1e-6)
print(np.round(net.weight.asnumpy(), 3), np.round(net.bias.asnumpy(), 3))
# expect
# True
# [[ 1. -2. 0.5]] [0.25]
