"""Arrays of NumPy that a call makes and writes: they are part of the capture, like its lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn
from weft.testing import assert_no_breaks


def ones_on_a_diagonal(x: Any, n: int) -> Any:
    mask = np.zeros((n, n), np.float32)
    for i in range(n):
        mask[i, i] = i + 1
    return x * Tensor(mask)


def written_after_use(x: Any, n: int) -> Any:
    steps = np.arange(n, dtype=np.float32)
    first = Tensor(steps)
    steps[0] = 5.0
    steps[1:] += 2.0
    steps[-1] *= 3
    return x * first + Tensor(steps)


def written_through_views(x: Any, n: int) -> Any:
    whole = np.zeros((2, n), np.float32)
    row = whole[1]
    row[:] = 3.0
    turned = whole.T
    turned[0, 0] = 4.0
    return x * Tensor(whole[0]) + Tensor(whole[1]), row, whole


def returned(x: Any, n: int) -> Any:
    found = np.full(n, 2)
    found[0] = n
    return x + 1, found, {"again": found}


def kept_in_a_list(x: Any, n: int) -> Any:
    rows = [np.zeros(n, np.float32) for _ in range(2)]
    for i, row in enumerate(rows):
        row[i] = 1.0
    rows[0][rows[1] > 0] = 7.0
    del rows[1]
    return x + Tensor(rows[0])


def wrong_index(x: Any, n: int) -> Any:
    found = np.zeros(n, np.float32)
    try:
        found[n] = 1.0
    except IndexError:
        found[0] = 2.0
    return x + Tensor(found)


PROGRAMS = [ones_on_a_diagonal, written_after_use, written_through_views, returned, kept_in_a_list, wrong_index]


def arrays(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [arrays(part) for part in value]
    if isinstance(value, dict):
        return {key: arrays(part) for key, part in value.items()}
    return value.asnumpy().tolist() if isinstance(value, Tensor) else (value.dtype.name, value.tolist())


@pytest.mark.parametrize("program", PROGRAMS)
def test_arrays_of_the_call(program: Any) -> None:
    compiled = weft.jit(program)
    for n in (3, 3, 4, 3, 5, 2):
        x = Tensor(np.arange(float(n)), weft.float32)
        first, second = compiled(x, n), compiled(x, n)
        assert arrays(first) == arrays(second) == arrays(program(x, n))


@pytest.mark.parametrize("program", [ones_on_a_diagonal, written_after_use, kept_in_a_list])
def test_they_need_no_break(program: Any) -> None:
    with assert_no_breaks():
        weft.jit(program)(Tensor([1.0, 2.0, 3.0]), 3)


def test_what_is_returned_is_new_in_each_call() -> None:
    compiled = weft.jit(returned)
    _, first, named = compiled(Tensor([1.0]), 2)
    assert named["again"] is first
    first[:] = 9
    _, second, _ = compiled(Tensor([1.0]), 2)
    assert second.tolist() == [2, 2]


def on_a_side(x: Any, n: int) -> Any:
    found = np.zeros(n, np.float32)
    if x.sum() > 0:
        found[0] = 1.0
    else:
        found[1] = 2.0
    return x + Tensor(found)


def in_a_loop(x: Any, n: int) -> Any:
    found = np.zeros(n, np.float32)
    while x.sum() < 10:
        found[0] += 1.0
        x = x + 1
    return x + Tensor(found)


def around_a_break(x: Any, n: int) -> Any:
    found = np.zeros(n, np.float32)
    found[0] = 1.0
    y = x + Tensor(found)
    z = np.sort(y.asnumpy())
    found[1] += 2.0
    return Tensor(z) + Tensor(found), found


def made_on_a_side(x: Any, n: int) -> Any:
    if x.sum() > 0:
        found = np.zeros(n, np.float32)
        found[0] = 1.0
        return x + Tensor(found)
    return x


@pytest.mark.parametrize("program", [on_a_side, in_a_loop, around_a_break, made_on_a_side])
def test_branches_loops_and_breaks(program: Any) -> None:
    compiled = weft.jit(program)
    for start in (1.0, -1.0, 2.0, -3.0):
        x = Tensor(np.array([start, 2 * start, start], np.float32))
        for _ in range(2):
            found, expected = compiled(x, 3), program(x, 3)
            assert arrays(found) == arrays(expected)


def test_arrays_from_outside_are_written_in_python() -> None:
    counts = np.zeros(2)

    @weft.jit
    def count(x: Any) -> Any:
        counts[0] += 1
        return x + Tensor(counts)

    assert [count(Tensor([0.0, 0.0])).asnumpy()[0] for _ in range(3)] == [1.0, 2.0, 3.0]
    assert counts[0] == 3.0


def test_arrays_of_run_time_numbers() -> None:
    @weft.jit
    def store(x: Any) -> Any:
        found = np.zeros(2)
        found[0] = x.sum().item()
        found[1] = x
        return Tensor(found)

    for value in (1.0, 2.0):
        assert store(Tensor([value])).asnumpy().tolist() == [value, value]


class Folded(nn.Cell):
    """Made in each call, with an array that it fills."""

    def __init__(self, size: int) -> None:
        super().__init__()
        weights = np.zeros((size, 1))
        for i in range(size):
            weights[i, 0] = i
        self.weights = Tensor(weights, weft.float16)
        self.size = size

    def construct(self, x: Any) -> Any:
        return x * self.weights.astype(x.dtype) + self.size


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x: Any) -> Any:
        return Folded(x.shape[0])(self.dense(x))


def test_cells_made_in_a_call() -> None:
    net = Net()
    compiled = weft.jit(lambda x: net(x))
    step = weft.jit(lambda x: weft.value_and_grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(x))
    for size in (2, 3, 2, 4):
        x = Tensor(np.arange(3.0 * size).reshape(size, 3), weft.float32)
        np.testing.assert_allclose(compiled(x).asnumpy(), net(x).asnumpy(), 1e-6, 1e-6)
        loss, gradients = step(x)
        wanted, slopes = weft.value_and_grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(x)
        np.testing.assert_allclose(loss.asnumpy(), wanted.asnumpy(), 1e-5)
        for found, slope in zip(gradients, slopes, strict=True):
            np.testing.assert_allclose(found.asnumpy(), slope.asnumpy(), 1e-5, 1e-5)
    with assert_no_breaks():
        weft.jit(lambda x: net(x))(x)
