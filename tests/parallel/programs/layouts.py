"""Layouts over eight devices: where tensors lie, eagerly and in graphs, and what is refused."""

from __future__ import annotations

import copy
import os
import pickle
from typing import Any

os.environ["WEFT_DEVICES"] = "8"

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops
from weft.context import set_auto_parallel_context
from weft.nn.parallel import shard
from weft.parallel.layout import Layout, layout_of, place, reshard

grid = Layout((4, 2), ("dp", "mp"))
values = np.arange(64, dtype=np.float32).reshape(8, 8)
x = Tensor(values)


def laid(tensor: Tensor) -> Any:
    found = layout_of(tensor)
    return None if found is None else found.to_dict()["tensor_map"]


def check(found: Tensor, expected: Any, axes: Any) -> None:
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5)
    assert laid(found) == axes, (laid(found), axes)


def refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# eagerly, in a graph, and gradients
check(reshard(x, grid("dp", "mp")), values, (1, 0))
check(reshard(reshard(x, grid("dp", "mp")), grid(("dp", "mp"))), values, ((1, 0), -1))
rows = weft.jit(lambda a: reshard(a * 2, grid("None", "mp")))
for times in (1, 2, 3):
    check(rows(x * times), values * 2 * times, (-1, 0))
    check(rows(reshard(x * times, grid("dp"))), values * 2 * times, (-1, 0))


def loss(a: Tensor) -> Tensor:
    return (reshard(a * a, grid("dp", "mp")) * 3).sum()


for call in (weft.grad(loss), weft.jit(weft.grad(loss)), weft.grad(weft.jit(loss))):
    np.testing.assert_allclose(call(x).asnumpy(), 6 * values, rtol=1e-6)
np.testing.assert_allclose(weft.grad(lambda a: weft.grad(loss)(a).sum())(x).asnumpy(), np.full((8, 8), 6.0), rtol=1e-6)
mapped = weft.vmap(lambda a: reshard(a + 1, grid("dp")))(Tensor(np.stack([values, values])))
np.testing.assert_array_equal(mapped.asnumpy(), np.stack([values, values]) + 1)

# a Parameter stays where it was put, whatever is written to it, in whatever way
weight = Parameter(x, name="weight")
place(weight, grid("None", "mp"))


@weft.jit
def write(a: Any) -> Tensor:
    weight.set_data(weight + a)
    return weight.sum()


for number, value in enumerate((1.0, 2.0, 3.0)):
    write(reshard(Tensor(np.full((8, 8), value, np.float32)), grid("dp")) if number % 2 else Tensor(value))
    assert laid(weight) == (-1, 0), laid(weight)
weight += 1
weight[0] = 0.0
ops.assign(weight, reshard(x, grid("dp", "mp")))
check(weight.clone(), values, (-1, 0))
check(weight, values, (-1, 0))
place(weight, grid("dp"))
write(Tensor(1.0))
check(weight, values + 1, (1, -1))
place(weight, None)
write(x)
np.testing.assert_allclose(weight.asnumpy(), 2 * values + 1)

# one that gets another shape, is copied or is written to a file
place(weight, grid("dp", "mp"))
again = pickle.loads(pickle.dumps(weight))
assert again.place is None
assert laid(again) is None
assert laid(copy.deepcopy(weight)) == (1, 0)
weight.data = Tensor(np.ones(3, np.float32))
assert weight.shape == (3,)
assert float(weight.sum()) == 3.0

# what reads, writes and draws works on tensors that are spread
spread = reshard(x, grid("dp", "mp"))
np.testing.assert_array_equal(spread[1:5, 2].asnumpy(), values[1:5, 2])
assert float(spread[3, 4]) == values[3, 4]
assert spread.tolist() == values.tolist()
assert str(spread) == str(x)
np.testing.assert_array_equal(ops.sort(spread, 1, True)[0].asnumpy(), -np.sort(-values, 1))
np.testing.assert_allclose(ops.matmul(spread, spread.T).asnumpy(), values @ values.T, rtol=1e-5)
weft.set_seed(3)
alone = nn.Dropout(p=0.5).set_train()(x).asnumpy()
weft.set_seed(3)
np.testing.assert_array_equal(nn.Dropout(p=0.5).set_train()(spread).asnumpy(), alone)
changed = reshard(x, grid("dp", "mp"))
changed[2:4] = -1.0
expected = values.copy()
expected[2:4] = -1.0
np.testing.assert_array_equal(changed.asnumpy(), expected)
for condition in (True, False):
    chosen = weft.jit(lambda a, c: a * 2 if c.sum() > 0 else a - 1)(spread, Tensor([1.0 if condition else -1.0]))
    np.testing.assert_array_equal(chosen.asnumpy(), values * 2 if condition else values - 1)

# functions and cells whose inputs and results are spread
doubled = shard(lambda a, b: (a * 2, b + 1), in_strategy=((4, 2), (1, 8)), out_strategy=((8, 1), None))
for call in (doubled, weft.jit(doubled)):
    first, second = call(x, x)
    np.testing.assert_array_equal(first.asnumpy(), values * 2)
    np.testing.assert_array_equal(second.asnumpy(), values + 1)
    assert layout_of(first) is not None
net = nn.Dense(8, 4)
expected = net(x).asnumpy()
planned = shard(net, in_strategy=((4, 1),), parameter_plan={"weight": (2, 1)})
np.testing.assert_allclose(planned(x).asnumpy(), expected, rtol=1e-5)
assert net.weight.place.parts == (2, 1)
net.shard(in_strategy=((8, 1),), out_strategy=((1, 4),))
for call in (net, weft.jit(net)):
    np.testing.assert_allclose(call(x).asnumpy(), expected, rtol=1e-5)

# strategies say where operators compute in the modes for them
product = ops.MatMul().shard(((4, 1), (1, 2)), ((4, 2),))
assert laid(product(x, x)) is None
set_auto_parallel_context(parallel_mode="semi_auto_parallel")
found = product(x, x)
np.testing.assert_allclose(found.asnumpy(), values @ values, rtol=1e-5)
assert [part for part in found.concrete("a test").sharding.shard_shape((8, 8))] == [2, 4]
later = ops.MatMul()
multiplied = weft.jit(lambda a: later(a, a))
assert layout_of(multiplied(x)) is None
later.shard(((4, 1), (1, 2)))  # compiled code is for the strategies that operators have
assert layout_of(multiplied(x)) is not None
later.shard(((3, 1), (1, 1)))
refused(lambda: multiplied(x), ValueError, r"MatMul: input 0 of shape \(8, 8\) and strategy \(3, 1\): 3 parts")
refused(
    lambda: ops.MatMul().shard(((16, 1), (1, 1)))(x, x),
    ValueError,
    r"MatMul: input 0 of shape \(8, 8\) and strategy \(16, 1\): 16 parts",
)
refused(lambda: ops.ReLU().shard(((3, 1),))(x), ValueError, r"ReLU: input 0 of shape .* \(3, 1\): 3 parts")
refused(
    lambda: ops.ReLU().shard(((1, 1), (1, 1)))(x), ValueError, r"2 strategies, \(\(1, 1\), \(1, 1\)\), for 1 tensors"
)
refused(lambda: ops.ReLU().shard((("a",),))(x), TypeError, "tuple of positive ints")
refused(lambda: ops.ReLU().shard(((8,),))(Tensor(np.ones(12, np.float32))), ValueError, "has not 8 equal parts")
refused(lambda: reshard(x, Layout((16,), ("dp",))("None")), ValueError, "needs others than the 8")
print("all agree")
