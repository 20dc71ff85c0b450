"""Which collectives programs over eight devices have: no more than their layouts ask for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import jax
import numpy as np

import weft
from weft import Tensor, nn, ops
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.explain.collectives import collectives_of
from weft.parallel.layout import Layout, reshard

random = np.random.default_rng(0)


def array(*shape: int) -> Tensor:
    return Tensor(random.standard_normal(shape).astype(np.float32))


def whole(count: int, *shape: int) -> Tensor:
    return Tensor(random.integers(0, count, shape).astype(np.int32))


def collectives(call: Callable[..., Any], *tensors: Tensor) -> Counter[str]:
    """Of the largest of the programs over several devices that a second call has run."""
    compiled = weft.jit(call)
    client: Any = jax.devices()[0].client
    before = client.live_executables()
    for _ in range(2):
        compiled(*tensors)
    made = [one for one in client.live_executables() if one not in before and len(one.local_devices()) > 1]
    text = max((module.to_string() for one in made for module in one.hlo_modules()), key=len)
    return Counter(one.kind for one in collectives_of(text, 8))


class Words(nn.Cell):
    """Words, a block of a transformer without the products of heads, and the loss of the next words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.norm = nn.Embedding(32, 16), nn.LayerNorm((16,))
        self.dense, self.scores = nn.Dense(16, 16), nn.Dense(16, 32)

    def construct(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.embedding(tokens)
        query, key, value = ops.split(self.dense(ops.concat((x, x[:, :, :8]), 2)[:, :, :16]).tile((1, 1, 3)), 16, 2)
        scores = ops.softmax(ops.matmul(query, key.swapaxes(1, 2)), -1)
        x = self.norm(x + ops.matmul(scores, ops.cumsum(value, 1)))
        found = ops.log_softmax(self.scores(x), -1)
        return -ops.gather_elements(found, 2, targets.expand_dims(-1)).mean()


class Images(nn.Cell):
    """Convolutions, poolings, and the loss of a class."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 4, 3, has_bias=True), nn.Conv2d(4, 8, 3, pad_mode="valid")
        self.dense, self.loss = nn.Dense(32, 10), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        x = ops.max_pool2d(ops.relu(self.first(x)), 2, 2)
        x = ops.avg_pool2d(ops.relu(self.second(x)), 3, 2)
        return self.loss(self.dense(x.flatten(start_dim=1)), y)


def main() -> None:
    set_auto_parallel_context(parallel_mode="data_parallel")
    for net, inputs in (
        (Words(), (whole(32, 16, 8), whole(32, 16, 8))),
        (Images(), (array(16, 1, 16, 16), whole(10, 16))),
    ):
        step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.01, 0.9))
        found = collectives(step, *inputs)
        assert found == {"all-reduce": 1}, (net, found)
    reset_auto_parallel_context()

    grid = Layout((8,), ("a",))
    table, ids = array(32, 16), whole(32, 8, 4)
    rows, columns, everywhere = grid("a", "None"), grid("None", "a"), grid("None", "None")
    batch = rows

    def gradient(layout: Any, cut: Any) -> Callable[..., Any]:
        def look_up(table: Tensor, ids: Tensor) -> Tensor:
            return ops.gather(reshard(table, layout), reshard(ids, cut), 0)

        return lambda table, ids: (look_up(table, ids), weft.grad(lambda t: (look_up(t, ids) ** 2).sum())(table))

    for layout, cut, expected in (
        (rows, everywhere, {"all-reduce": 1}),
        (columns, everywhere, {}),
        (everywhere, batch, {"all-reduce": 1}),
    ):
        found = collectives(gradient(layout, cut), table, ids)
        assert found == expected, (layout, cut, found)
    print("all agree")


main()
