"""Networks that the tests export."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import Parameter, Tensor, nn, ops


def tensor(*shape: int, seed: int = 0) -> Tensor:
    """Numbers of a normal distribution, the same for the same seed."""
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class LeNet(nn.Cell):
    """Two convolutions and three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.dense = nn.SequentialCell(
            nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)
        )  # fmt: skip

    def construct(self, x: Any) -> Any:
        x = self.pool(ops.relu(self.conv1(x)))
        return self.dense(self.flatten(self.pool(ops.relu(self.conv2(x)))))


class Block(nn.Cell):
    """A transformer block."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((16,)), nn.LayerNorm((16,))
        self.qkv, self.out = nn.Dense(16, 48), nn.Dense(16, 16)
        self.mlp = nn.SequentialCell(nn.Dense(16, 32), nn.GELU(), nn.Dense(32, 16))
        self.dropout = nn.Dropout(p=0.25)

    def construct(self, x: Any) -> Any:
        n, t, _ = x.shape
        q, k, v = ops.split(self.qkv(self.norm1(x)).reshape(n, t, 12, 4).transpose(0, 2, 1, 3), 4, 1)
        attention = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) * 0.5, -1)
        mixed = ops.matmul(attention, v).transpose(0, 2, 1, 3).reshape(n, t, 16)
        x = x + self.dropout(self.out(mixed))
        return x + self.mlp(self.norm2(x))


class Flow(nn.Cell):
    """Branches and loops on tensors."""

    def construct(self, x: Any) -> Any:
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        count = ops.zeros((), x.dtype)
        while y.sum() < 100.0:
            y = y + 3.0
            count = count + 1
        for row in x:
            y = y + row
        return y, count


class Trained(nn.Cell):
    """Random numbers, running statistics and a Parameter that the call writes."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.norm, self.dropout = nn.Dense(4, 8), nn.BatchNorm1d(8), nn.Dropout(p=0.5)
        self.calls = Parameter(Tensor(np.int32(0)), name="calls", requires_grad=False)

    def construct(self, x: Any) -> Any:
        self.calls += 1
        return self.dropout(self.norm(self.dense(x)))


class Structures(nn.Cell):
    """Dictionaries, tuples and lists in and out."""

    def construct(self, batch: Any, pair: Any) -> Any:
        a, (b, c) = batch["a"], pair
        return {"sum": a + b, "more": [c[0] * 2, (a, None, "text", 3)], "same": batch["b"] - c[1]}


class Twins(nn.Cell):
    """Two parameters that get one value."""

    def __init__(self) -> None:
        super().__init__()
        self.one = Parameter(Tensor([1.0, 2.0]), name="one")
        self.other = Parameter(Tensor([3.0, 4.0]), name="other")

    def construct(self, x: Any) -> Any:
        self.one.set_data(x * 2)
        self.other.set_data(x * 2)
        return self.one + self.other
