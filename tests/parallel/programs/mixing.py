"""Tensors on grids of different devices in one operation, graph or gradient, over eight devices: values of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import numpy as np

import weft
from weft import Parameter, Tensor, jit, nn, ops
from weft.parallel.layout import Layout, layout_of, place, reshard

values = np.arange(64, dtype=np.float32).reshape(8, 8) / 32
first, last = Layout((4,), ("a",)), Layout((4,), ("a",), [4, 5, 6, 7])
every, turned = Layout((4, 2), ("a", "b")), Layout((8,), ("a",), [7, 6, 5, 4, 3, 2, 1, 0])
single, three = Layout((1,), ("a",), [3]), Layout((3,), ("a",), [1, 2, 5])
LAID: dict[str, Tensor] = {
    "default": Tensor(values),
    "single": reshard(Tensor(values), single("a")),
    "first": reshard(Tensor(values), first("a")),
    "last": reshard(Tensor(values), last("None", "a")),
    "every": reshard(Tensor(values), every("b", "a")),
    "turned": reshard(Tensor(values), turned("a")),
    "three": reshard(Tensor(values), three()),
}


def same(found: Any, expected: Any, what: str) -> None:
    found, expected = [value if isinstance(value, tuple) else (value,) for value in (found, expected)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=2e-5, err_msg=what)


def compute(a: Tensor, b: Tensor) -> Tensor:
    return a @ b + a * b


def between(a: Tensor, b: Tensor) -> Tensor:
    """The graph itself asks for several grids."""
    left, right = reshard(a * 2, first("a")), reshard(b, last("a"))
    return reshard(left @ right, every("a", "b")) + reshard(a, single())


def gradient(function: Callable[..., Tensor]) -> Callable[..., Any]:
    return weft.grad(lambda a, b: (function(a, b) ** 2).sum(), (0, 1))


# each pair, eagerly and compiled, with gradients, more than once
plain = LAID["default"]
for function in (compute, between):
    ways = [function, jit(function), gradient(function), jit(gradient(function)), gradient(jit(function))]
    expected = [compute(plain, plain), gradient(compute)(plain, plain)]
    if function is between:
        other = lambda a, b: (a * 2) @ b + a  # noqa: E731
        expected = [other(plain, plain), gradient(other)(plain, plain)]
    pairs = [(a, b) for a in LAID for b in LAID if a != b] if function is compute else [("default", "default"),
        ("first", "last"), ("single", "every"), ("turned", "three"), ("first", "first")]  # fmt: skip
    for number, (a, b) in enumerate(pairs):
        chosen = ways if function is between or number % 7 == 0 else ways[:2]
        for position, way in enumerate(chosen):
            for _ in range(2):
                same(way(LAID[a], LAID[b]), expected[position > 1], f"{a} {b} {way}")


def often(a: Tensor, b: Tensor) -> Tensor:
    """An operation that is traced once for all places in which it stands, and one within a loop."""
    for _ in range(20):
        a = reshard(a * 0.5 + b, first("a"))
    for _ in range(Tensor(2)):
        a = reshard(a - b, last("a"))
    return a


same(jit(often)(LAID["every"], LAID["last"]), often(plain, plain), "often")
same(gradient(jit(often))(LAID["every"], LAID["last"]), gradient(often)(plain, plain), "gradient of often")

# several in one operation, and what makes no product
same(ops.stack(list(LAID.values())), ops.stack([plain] * len(LAID)), "stack")
rows = Tensor([1, 5, 2])
same(LAID["every"][reshard(rows, three("a"))], plain[rows], "rows")
same(weft.vmap(compute)(LAID["first"], LAID["last"]), weft.vmap(compute)(plain, plain), "vmap")
written = LAID["first"] + 0
written[1:3] = LAID["last"][4:6]
same(written[1:3], plain[4:6], "write")

# layers of which each lies on devices of its own are trained, and stay there
losses = {}
for spread in (False, True):
    weft.set_seed(1)
    network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4), nn.Tanh(), nn.Dense(4, 2))
    if spread:
        for cell, grid in zip((network[0], network[2], network[4]), (first, last, every), strict=True):
            place(cell.weight, grid("a" if cell.weight.shape[0] % 4 == 0 else "None"))
            place(cell.bias, grid())
    train = nn.TrainOneStepCell(
        nn.WithLossCell(network, nn.MSELoss()), nn.Adam(network.trainable_params(), learning_rate=0.01)
    )
    train.set_train()
    step = jit(train) if spread else train
    losses[spread] = [float(step(plain, Tensor(values[:, :2]))) for _ in range(4)]
    losses[spread].append(float(nn.MSELoss()(network(plain), Tensor(values[:, :2]))))
    if spread:
        where = [layout_of(cell.weight) for cell in (network[0], network[2], network[4])]
        assert [found.to_dict()["rank_list"] for found in where if found is not None] == [
            list(range(4)), [4, 5, 6, 7], list(range(8))
        ]  # fmt: skip
np.testing.assert_allclose(losses[True], losses[False], rtol=2e-5)

# a graph in which the compiler joins several sizes
sized = Tensor(shape=[None, 8], dtype=weft.float32)
anywhere = jit(lambda a, b: (a @ b).sum(), input_signature=(sized, plain))
for count in range(1, 8):
    for name in ("last", "every"):
        part = Tensor(values[:count])
        same(anywhere(part, LAID[name]), anywhere(part, plain), f"{count} rows")
        same(anywhere(reshard(part, first()), LAID[name]), (part @ plain).sum(), f"{count} rows, mixed")

# a place that is written to from other grids
weight = place(Parameter(Tensor(values), name="weight"), last("a"))


def update(a: Tensor) -> Tensor:
    weight.set_data(weight * 0.5 + a)
    return weight.sum()


expected_sum, now = values, []
for name in ("first", "every", "first", "default"):
    expected_sum = expected_sum * 0.5 + values
    same(jit(update)(LAID[name]), Tensor(expected_sum.sum()), name)
    now.append(layout_of(weight))
assert all(found is not None and found.to_dict()["rank_list"] == [4, 5, 6, 7] for found in now)
print("all agree")
