"""Networks over eight devices: training in each parallel mode, and in random combinations of grid and strategy, equals
training on one device. Arguments: network, how many random combinations, steps, ways to run (eager,jit,graph).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import numpy as np

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import reset_auto_parallel_context, set_auto_parallel_context
from weft.parallel import placement
from weft.parallel.layout import Layout, place

NETWORK, COMBINATIONS, STEPS, WAYS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
#: in float32 rounding grows over a hundred steps: eager and compiled steps on one device come to differ by 2e-4
FLOAT = weft.float64 if STEPS >= 100 else weft.float32
#: says for an operator the strategy, by the name of its place; None for none
Strategies = Callable[[str, tuple[int, ...]], Any]


def none(name: str, dims: tuple[int, ...]) -> Any:
    return None


class LeNet(nn.Cell):
    def __init__(self, strategy: Strategies) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 5, pad_mode="valid"), nn.Conv2d(8, 16, 5, pad_mode="valid")
        self.pool, self.flatten, self.drop = nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dropout(p=0.1)
        self.norm = nn.BatchNorm2d(8)
        self.weights = [
            Parameter(Tensor(np.random.standard_normal(s).astype(np.float32) / 16), name=f"w{i}")
            for i, s in enumerate([(256, 64), (64, 32), (32, 8)])
        ]
        self.w0, self.w1, self.w2 = self.weights
        self.products = [ops.MatMul().shard(strategy(f"product{i}", (32, a, b))) for i, (a, b) in enumerate(
            [(256, 64), (64, 32), (32, 8)])]  # fmt: skip
        self.relu = ops.ReLU()

    def construct(self, x: Any, y: Any) -> Any:
        x = self.pool(self.relu(self.norm(self.conv1(x))))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        x = self.drop(self.relu(self.products[0](x, self.w0)))
        x = self.relu(self.products[1](x, self.w1))
        return ops.cross_entropy(self.products[2](x, self.w2), y)


class Transformer(nn.Cell):
    def __init__(self, strategy: Strategies, blocks: int = 2) -> None:
        super().__init__()
        self.embedding = Parameter(Tensor(np.random.standard_normal((64, 32)).astype(np.float32)), name="embedding")
        self.gather = ops.Gather().shard(strategy("gather", (64, 32)))
        self.blocks = nn.CellList([Block(strategy, f"block{i}") for i in range(blocks)])
        self.head = nn.Dense(32, 64)

    def construct(self, x: Any, y: Any) -> Any:
        x = self.gather(self.embedding, x, 0)
        for block in self.blocks:
            x = block(x)
        return ops.cross_entropy(self.head(x).reshape((-1, 64)), y.reshape((-1,)))


class Block(nn.Cell):
    def __init__(self, strategy: Strategies, name: str) -> None:
        super().__init__()
        made = [np.random.standard_normal(s).astype(np.float32) / 8 for s in [(32, 96), (32, 32), (32, 64), (64, 32)]]
        self.qkv, self.out, self.up, self.down = [
            Parameter(Tensor(value), name=f"{name}.{what}")
            for what, value in zip(("qkv", "out", "up", "down"), made, strict=True)
        ]
        self.norm1, self.norm2, self.drop = nn.LayerNorm((32,)), nn.LayerNorm((32,)), nn.Dropout(p=0.1)
        self.product = ops.MatMul().shard(strategy(f"{name}.qkv", (256, 32, 96)))
        self.up_product = ops.MatMul().shard(strategy(f"{name}.up", (256, 32, 64)))
        self.down_product = ops.MatMul().shard(strategy(f"{name}.down", (256, 64, 32)))
        self.scores = ops.BatchMatMul(transpose_b=True)

    def construct(self, x: Any) -> Any:
        batch, length, width = x.shape
        rows = self.norm1(x).reshape((-1, width))
        heads = self.product(rows, self.qkv).reshape((batch, length, 3, 4, width // 4)).transpose((2, 0, 3, 1, 4))
        scores = ops.softmax(self.scores(heads[0], heads[1]) / (width // 4) ** 0.5, -1)
        mixed = ops.matmul(scores, heads[2]).transpose((0, 2, 1, 3)).reshape((-1, width))
        x = x + self.drop(ops.matmul(mixed, self.out)).reshape(x.shape)
        rows = self.norm2(x).reshape((-1, width))
        return x + self.down_product(ops.gelu(self.up_product(rows, self.up)), self.down).reshape(x.shape)


class Recommender(nn.Cell):
    def __init__(self, strategy: Strategies) -> None:
        super().__init__()
        normal = np.random.standard_normal
        self.wide = Parameter(Tensor(normal((512, 1)).astype(np.float32) / 8), name="wide")
        self.deep = Parameter(Tensor(normal((512, 16)).astype(np.float32) / 4), name="deep")
        self.w1 = Parameter(Tensor(normal((128, 64)).astype(np.float32) / 8), name="w1")
        self.w2 = Parameter(Tensor(normal((64, 1)).astype(np.float32) / 8), name="w2")
        self.gather = ops.Gather().shard(strategy("gather", (512, 16)))
        self.product = ops.MatMul().shard(strategy("product", (32, 128, 64)))
        self.relu, self.drop = ops.ReLU(), nn.Dropout(p=0.2)

    def construct(self, ids: Any, y: Any) -> Any:
        wide = ops.gather(self.wide, ids, 0).sum(1)
        deep = self.gather(self.deep, ids, 0).reshape((ids.shape[0], -1))
        score = wide + ops.matmul(self.drop(self.relu(self.product(deep, self.w1))), self.w2)
        return ops.binary_cross_entropy_with_logits(score, y, ops.ones_like(score), ops.ones_like(score))


def data(step: int) -> tuple[Tensor, ...]:
    """The batch of a step."""
    return tuple([t.astype(FLOAT) if t.dtype is weft.float32 else t for t in drawn(step)])


def drawn(step: int) -> tuple[Tensor, Tensor]:
    random = np.random.default_rng(step)
    if NETWORK == "lenet":
        label = random.integers(0, 8, 32)
        images = random.standard_normal((32, 1, 28, 28)) + label[:, None, None, None] / 4
        return Tensor(images.astype(np.float32)), Tensor(label.astype(np.int32))
    if NETWORK == "transformer":
        tokens = (random.integers(0, 64, (16, 1)) + np.arange(17) * random.integers(1, 4, (16, 1))) % 64
        return Tensor(tokens[:, :-1].astype(np.int32)), Tensor(tokens[:, 1:].astype(np.int32))
    ids = random.integers(0, 512, (32, 8))
    return Tensor(ids.astype(np.int32)), Tensor((ids.sum(1, keepdims=True) % 2).astype(np.float32))


NETWORKS: dict[str, Any] = {"lenet": LeNet, "transformer": Transformer, "recommender": Recommender}


def train(way: str, strategy: Strategies, place_weights: Any = None, **settings: Any) -> tuple[Any, Any]:
    reset_auto_parallel_context()
    set_auto_parallel_context(**settings)
    weft.set_seed(7)
    np.random.seed(7)
    net = NETWORKS[NETWORK](strategy)
    for param in net.get_parameters():
        param.set_dtype(FLOAT)
    if place_weights is not None:
        place_weights(net)
    optimizer = nn.Adam(net.trainable_params(), 0.003)
    step = nn.TrainOneStepCell(net, optimizer)
    step.set_train()
    run = weft.jit(step) if way == "jit" else step
    weft.set_context(mode=weft.GRAPH_MODE if way == "graph" else weft.PYNATIVE_MODE)
    try:
        losses = [float(run(*data(i))) for i in range(STEPS)]
    finally:
        weft.set_context(mode=weft.PYNATIVE_MODE)
    for param in (*net.get_parameters(), *optimizer.get_parameters()):
        if param.place is not None:
            kept: Any = param.concrete("a test").sharding
            assert kept.is_equivalent_to(placement.sharding(param.place), param.ndim), (param.name, kept, param.place)
    return np.array(losses), {p.name: p.asnumpy() for p in net.get_parameters()}


def agree(what: str, found: Any, expected: Any) -> None:
    worst = np.abs(found[0] - expected[0]).max()
    for name, value in expected[1].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-3, atol=1e-3, err_msg=f"{what}: {name}")
    print(f"{what}: losses differ by {worst:.1e}", flush=True)
    assert worst <= (1e-5 if FLOAT is weft.float32 else 1e-10) * max(1.0, np.abs(expected[0]).max()), what


def at_random(seed: int) -> tuple[Strategies, Callable[[Any], None], dict[str, Any]]:
    """A strategy for some operators, places of some weights, and settings."""
    random = np.random.default_rng(seed)
    cuts = {}

    def strategy(name: str, dims: tuple[int, ...]) -> Any:
        if name not in cuts and random.random() < 0.8:
            left, parts = 8, []
            for size in dims:
                choices = [n for n in (1, 2, 4, 8) if n <= left and size % n == 0]
                parts.append(int(random.choice(choices)))
                left //= parts[-1]
            cuts[name] = parts
        if name not in cuts:
            return None
        if len(dims) == 2:
            return (tuple(cuts[name]), (1, 1))
        m, k, n = cuts[name]
        return ((m, k), (k, n))

    def places(net: Any) -> None:
        for param in net.trainable_params():
            axes = [("dp", "mp"), "dp", "mp", "None"]
            laid = [axes[random.integers(4)] if random.random() < 0.5 else "None" for _ in param.shape]
            used = [name for axis in laid for name in (axis if isinstance(axis, tuple) else (axis,)) if name != "None"]
            sizes = {"dp": 2, "mp": 4}
            fits = all(
                size % np.prod([sizes.get(n, 1) for n in (axis if isinstance(axis, tuple) else (axis,))]) == 0
                for size, axis in zip(param.shape, laid, strict=True)
            )
            if len(set(used)) == len(used) and fits and random.random() < 0.5:
                place(param, Layout((2, 4), ("dp", "mp"))(*laid))

    settings: dict[str, Any] = {"parallel_mode": str(random.choice(["semi_auto_parallel", "auto_parallel"]))}
    if random.random() < 0.5:
        level = {"optimizer_level": f"level{random.integers(1, 4)}", "parallel_optimizer_threshold": 0}
        settings.update(enable_parallel_optimizer=True, parallel_optimizer_config=level)
    settings["dataset_strategy"] = str(random.choice(["full_batch", "data_parallel"]))
    return strategy, places, settings


def main() -> None:
    expected = train("eager", none, parallel_mode="stand_alone")
    level = [{"optimizer_level": f"level{i}", "parallel_optimizer_threshold": 0} for i in (1, 2, 3)]
    modes: list[tuple[str, Strategies, dict[str, Any]]] = [
        ("data parallel", none, {"parallel_mode": "data_parallel"}),
        ("operator parallel", at_random(1)[0], {"parallel_mode": "semi_auto_parallel"}),
        ("automatic", none, {"parallel_mode": "auto_parallel", "search_mode": "sharding_propagation"}),
        *[
            (f"optimizer parallel {i}", none, {
                "parallel_mode": "data_parallel", "enable_parallel_optimizer": True, "parallel_optimizer_config": one,
            })
            for i, one in enumerate(level, 1)
        ],
    ]  # fmt: skip
    for way in WAYS:
        for name, strategy, settings in modes:
            agree(f"{way}, {name}", train(way, strategy, **settings), expected)
    for seed in range(COMBINATIONS):
        strategy, places, settings = at_random(100 + seed)
        way = WAYS[seed % len(WAYS)]
        agree(f"{way}, combination {seed}", train(way, strategy, places, **settings), expected)
    print("all agree", flush=True)


main()
