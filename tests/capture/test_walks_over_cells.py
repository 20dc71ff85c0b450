"""Generators that walk over a network are captured or broken anywhere, and find the same Cells and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, nn


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(p=0.5)
        self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.inner = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
        self.epoch = 0

    def construct(self, x: Any) -> Any:
        return self.dense(x)


def updated(net: Any, x: Any) -> Any:
    params = net.trainable_params()
    for p in params:
        p.set_data(p + 1)
    return len(params), net(x)


def found(net: Any, x: Any) -> Any:
    return [name for name, _ in net.cells_and_names()], list(net.parameters_dict()), x * 2


def modes(net: Any, x: Any) -> Any:
    net.set_train(True)
    training = net.drop.training
    net.set_train(False)
    return training, net.drop.training, net(x)


def walk(cell: Any, seen: set[int]) -> Iterator[Any]:
    if id(cell) in seen:
        return
    seen.add(id(cell))
    yield cell
    for child in cell.cells():
        yield from walk(child, seen)


def walked(net: Any, x: Any) -> Any:
    return len([cell for cell in walk(net, set())]), x * 2  # noqa: C416 - a comprehension of its own frame


def walked_around_a_break(net: Any, x: Any) -> Any:
    names = net.parameters_and_names()
    first = next(names)[0]
    total = float(np.sum((x * 2).asnumpy()))
    return first, [name for name, _ in names], total


def outcomes(program: Callable[..., Any], decorate: Callable[[Any], Any]) -> list[Any]:
    net = Net()
    step = decorate(lambda x: program(net, x))
    seen = []
    for epoch in range(14):
        net.epoch = epoch
        results = step(Tensor([[1.0, 2.0]]))
        seen.append([r.asnumpy().tolist() if isinstance(r, Tensor) else r for r in results])
    return seen


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("program", [updated, found, modes, walked, walked_around_a_break])
def test_a_walk(program: Callable[..., Any], mode: str) -> None:
    expected, compiled = (outcomes(program, decorate) for decorate in (lambda function: function, compiler(mode)))
    for one, other in zip(expected, compiled, strict=True):
        assert one[:-1] == other[:-1]
        np.testing.assert_allclose(one[-1], other[-1], rtol=1e-5)
