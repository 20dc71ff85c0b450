"""Networks in stages of a pipeline over eight devices: training in random combinations of stages, micro batches and
settings equals training on one device. Arguments: the first seed, how many, steps.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import numpy as np

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.nn.lazy_inline import lazy_inline
from weft.nn.parallel import GradAccumulation, MicroBatchInterleaved, Pipeline
from weft.parallel import placement

FIRST, COMBINATIONS, STEPS = map(int, sys.argv[1:4])
WIDTH, WORDS, ROWS, LENGTH = 16, 32, 16, 6
#: in float32 rounding grows over a hundred steps, also between eager and compiled steps on one device
FLOAT = weft.float64 if STEPS >= 100 else weft.float32


class Block(nn.Cell):
    @lazy_inline
    def __init__(self, strategy: Any = None) -> None:
        super().__init__()
        self.up, self.down = nn.Dense(WIDTH, 2 * WIDTH), nn.Dense(2 * WIDTH, WIDTH)
        self.norm, self.drop = nn.LayerNorm((WIDTH,)), nn.Dropout(p=0.1)
        self.product = ops.MatMul()
        if strategy is not None:
            self.product.shard(strategy)
        self.weight = Parameter(Tensor(np.eye(WIDTH, dtype=np.float32)), name="weight")

    def construct(self, x: Any, scale: Any = None) -> Any:
        y = self.down(ops.gelu(self.up(self.norm(x))))
        y = self.product(y.reshape((-1, WIDTH)), self.weight).reshape(y.shape)
        y = y if scale is None else y * scale
        return x + self.drop(y)


class Words(nn.Cell):
    """A network over words whose embedding is also its head, with a way around the blocks."""

    def __init__(self, stages: int, strategy: Any, around: bool) -> None:
        super().__init__()
        self.embedding = Embedding()
        self.blocks = nn.CellList([Block(strategy) for _ in range(8)])
        self.head = Head(self.embedding.table)
        self.around = around
        if stages:
            self.embedding.pipeline_stage = 0
            for i, block in enumerate(self.blocks):
                block.pipeline_stage = i * stages // 8
            self.head.pipeline_stage = stages - 1

    def construct(self, x: Any, y: Any) -> Any:
        first = x = self.embedding(x)
        scale = ops.ones((), weft.float32) * 0.5
        for block in self.blocks:
            x = block(x, scale=scale)
        if self.around:
            x = x + first * 0.5
        return ops.cross_entropy(self.head(x).reshape((-1, WORDS)), y.reshape((-1,)))

    @staticmethod
    def data(step: int) -> tuple[Tensor, Tensor]:
        random = np.random.default_rng(step)
        words = (random.integers(0, WORDS, (ROWS, 1)) + np.arange(LENGTH + 1)) % WORDS
        return Tensor(words[:, :-1].astype(np.int32)), Tensor(words[:, 1:].astype(np.int32))


class Embedding(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = Parameter(Tensor(np.random.standard_normal((WORDS, WIDTH)).astype(np.float32)), name="table")

    def construct(self, x: Any) -> Any:
        return ops.gather(self.table, x, 0)


class Head(nn.Cell):
    def __init__(self, table: Parameter) -> None:
        super().__init__()
        self.table = table

    def construct(self, x: Any) -> Any:
        return ops.matmul(x, self.table.T)


class Images(nn.Cell):
    """Convolutions with statistics of their own; the stages are parts within parts, and the loss has none."""

    def __init__(self, stages: int, strategy: Any, around: bool) -> None:
        super().__init__()
        del strategy, around
        self.body = nn.SequentialCell(
            [
                nn.SequentialCell([nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU()]),
                nn.SequentialCell([nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2, 2)]),
                nn.SequentialCell([nn.Flatten(), nn.Dense(64, 32), nn.ReLU(), nn.Dropout(p=0.2)]),
                nn.Dense(32, 8),
            ]
        )
        if stages:
            self.body.pipeline_stage = stages - 1
            for i in range(3):
                self.body[i].pipeline_stage = i * stages // 4

    def construct(self, x: Any, y: Any) -> Any:
        return ops.cross_entropy(self.body(x), y)

    @staticmethod
    def data(step: int) -> tuple[Tensor, Tensor]:
        random = np.random.default_rng(step)
        label = random.integers(0, 8, ROWS)
        images = random.standard_normal((ROWS, 1, 8, 8)) + label[:, None, None, None] / 4
        return Tensor(images.astype(np.float32)), Tensor(label.astype(np.int32))


def batch(network: Any, step: int) -> tuple[Tensor, ...]:
    return tuple([t.astype(FLOAT) if t.dtype is weft.float32 else t for t in network.data(step)])


def train(seed: int, alone: bool) -> tuple[Any, dict[str, Any]]:
    random = np.random.default_rng(seed)
    stages, micro = int(random.choice([2, 4, 8])), int(random.choice([1, 2, 4, 8]))
    network, around = [Words, Images][int(random.integers(2))], bool(random.integers(2))
    way, batches = str(random.choice(["jit", "graph"])), int(random.integers(4))
    strategy = [None, ((8 // stages, 1), (1, 1)), ((1, 1), (1, 8 // stages)), ((1, 8 // stages), (8 // stages, 1))][
        int(random.integers(4))
    ]
    settings: dict[str, Any] = {
        "parallel_mode": str(random.choice(["semi_auto_parallel", "auto_parallel"])),
        "dataset_strategy": str(random.choice(["full_batch", "data_parallel"])),
        "pipeline_config": {"pipeline_scheduler": str(random.choice(["1f1b", "gpipe"]))},
    }
    if random.random() < 0.5:
        level = {"optimizer_level": f"level{random.integers(1, 4)}", "parallel_optimizer_threshold": 0}
        settings.update(enable_parallel_optimizer=True, parallel_optimizer_config=level)
    scaled, again = bool(random.integers(2)), bool(random.integers(2))
    reset_auto_parallel_context()
    if not alone:
        set_auto_parallel_context(pipeline_stages=stages, **settings)
        print(seed, stages, micro, network.__name__, way, strategy, settings, flush=True)
    weft.set_seed(7)
    np.random.seed(7)
    net: Any = network(0 if alone else stages, strategy, around)
    for param in net.get_parameters():
        param.set_dtype(FLOAT)
    if again and network is Words:
        for block in net.blocks[1::2]:
            block.recompute()
    wrapped: Any = Pipeline(net, micro)
    if batches == 1 and micro < 8:
        wrapped = Pipeline(MicroBatchInterleaved(net, 2), micro)
    if batches == 2:
        wrapped = GradAccumulation(net, micro)
    optimizer = [nn.Adam, nn.Momentum, nn.AdamWeightDecay][int(random.integers(3))]
    made = optimizer(net.trainable_params(), 0.003, **({"momentum": 0.9} if optimizer is nn.Momentum else {}))
    if scaled:
        scale = nn.DynamicLossScaleUpdateCell(1024.0, 2, 2)
        step: Any = nn.TrainOneStepWithLossScaleCell(wrapped, made, scale)
    else:
        step = nn.TrainOneStepCell(wrapped, made)
    step.set_train()
    run = weft.jit(step) if way == "jit" else step
    weft.set_context(mode=weft.GRAPH_MODE if way == "graph" else weft.PYNATIVE_MODE)
    try:
        results = [run(*batch(network, i)) for i in range(STEPS)]
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)
    losses = [float((result[0] if scaled else result).asnumpy().sum()) for result in results]
    if not alone:
        found = {param.stage for param in net.trainable_params()}
        size = 8 // stages
        assert found == set(range(stages)) or network is Images, found
        moments = getattr(made, "moments", ())
        for param in (*net.trainable_params(), *moments):
            held = {device.id for device in param.concrete("a test").sharding.device_set}
            first = (param.place.ranks[0] // size) * size
            assert held <= set(range(first, first + size)), (param.name, held, param.place)
    net.set_train(False)
    evaluated = [net(*batch(network, 99)), weft.jit(net)(*batch(network, 99))]
    values = {param.name: param.asnumpy() for param in net.get_parameters()}
    return np.array([*losses, *[float(value) for value in evaluated]]), values


def main() -> None:
    for seed in range(FIRST, FIRST + COMBINATIONS):
        expected, found = train(seed, True), train(seed, False)
        worst = np.abs(found[0] - expected[0]).max()
        print(f"{seed}: losses differ by {worst:.1e}", flush=True)
        most = (1e-5 if FLOAT is weft.float32 else 1e-10) * max(1.0, np.abs(expected[0]).max())
        assert worst <= most, (found[0], expected[0])
        for name, value in expected[1].items():
            np.testing.assert_allclose(found[1][name], value, rtol=1e-3, atol=1e-3, err_msg=name)
    print("all agree", flush=True)


assert placement.count() == 8
main()
