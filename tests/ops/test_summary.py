"""Summaries: noted in the order of the program, with the values of the moment, eagerly and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, grad, jit, nn, ops
from weft.testing import assert_no_breaks

MODES = pytest.mark.parametrize("mode", ("eager", "auto"))


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    ops.collect_summaries()


def noted() -> list[Any]:
    return [(kind, name, value.asnumpy().tolist()) for kind, name, value in ops.collect_summaries()]


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.scalar = ops.ScalarSummary()
        self.tensor = ops.TensorSummary()
        self.histogram = ops.HistogramSummary()

    def construct(self, x: Any, n: Any) -> Any:
        self.histogram("x", x)
        while n > 0:
            self.scalar("n", n)
            x = x * 2
            n = n - 1
        if x.sum() > 5:
            self.tensor("large", x)
        self.scalar(f"sum of {x.ndim}", x.sum())
        return x.sum()


@MODES
@pytest.mark.parametrize("differentiated", (False, True))
def test_order_and_values(mode: str, differentiated: bool) -> None:
    net = Net()
    run = compiler(mode)(grad(net) if differentiated else lambda x, n: net(x, n))
    for n in (0, 2, 1):
        run(Tensor([1.0, 2.0]), Tensor(n))
        found = noted()
        last = [2.0**n, 2 * 2.0**n]
        expected: list[Any] = [("histogram", "x", [1.0, 2.0])]
        expected += [("scalar", "n", left) for left in range(n, 0, -1)]
        expected += [("tensor", "large", last)] if sum(last) > 5 else []
        assert found == [*expected, ("scalar", "sum of 1", sum(last))]


def test_they_are_in_the_graph() -> None:
    net = Net()
    with assert_no_breaks():
        jit(net)(Tensor([1.0, 2.0]), Tensor(1))
    assert len(noted()) == 4


@MODES
def test_what_is_refused(mode: str) -> None:
    run = compiler(mode)
    image = Tensor(np.zeros((1, 3, 4, 4), np.float32))
    ops.ImageSummary()("image", image)
    assert ops.collect_summaries()[0].value.shape == (1, 3, 4, 4)
    with pytest.raises(TypeError, match="name must be a string, not int"):
        run(lambda x: ops.ScalarSummary()(1, x))(Tensor(1.0))
    with pytest.raises(ValueError, match="name is empty"):
        run(lambda x: ops.ScalarSummary()("", x))(Tensor(1.0))
    with pytest.raises(TypeError, match="value must be a Tensor, not float"):
        run(lambda x: ops.TensorSummary()("x", 1.5))(Tensor(1.0))
    with pytest.raises(ValueError, match="0 to 1 dimensions, not 4"):
        run(lambda x: ops.ScalarSummary()("x", x))(image)
    with pytest.raises(ValueError, match="1 or more dimensions, not 0"):
        run(lambda x: ops.HistogramSummary()("x", x))(Tensor(1.0))
    with pytest.raises(ValueError, match="4 dimensions, not 1"):
        run(lambda x: ops.ImageSummary()("x", x))(Tensor([1.0]))


@MODES
def test_a_collection_in_the_call_sees_what_was_noted_before(mode: str) -> None:
    def f(x: Any) -> Any:
        ops.ScalarSummary()("x", x.sum())
        return x * len(ops.collect_summaries())

    run = compiler(mode)(f)
    for _ in range(2):
        assert run(Tensor([2.0])).asnumpy().tolist() == [2.0]


def test_values_stay_as_they_were() -> None:
    x = Tensor([1.0])
    ops.TensorSummary()("x", x)
    x += 1
    assert noted() == [("tensor", "x", [1.0])]
