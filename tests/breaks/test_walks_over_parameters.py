"""Loops over what a network lists of itself, with a break in the body: it is the only one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from weft import Tensor, jit, nn

WALKS: dict[str, Callable[[nn.Cell], Iterable[Any]]] = {
    "trainable_params": lambda net: net.trainable_params(),
    "get_parameters": lambda net: net.get_parameters(),
    "parameters_and_names": lambda net: (param for _, param in net.parameters_and_names()),
    "parameters_dict": lambda net: net.parameters_dict().values(),
    "an iterator of its own": lambda net: [next(walk) for walk in [net.get_parameters()] for _ in range(4)],
}


def network() -> nn.Cell:
    return nn.SequentialCell(*[nn.Dense(3, 3, weight_init="ones") for _ in range(3)])


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS.keys())
def test_the_only_break_is_the_one_in_the_body(walk: Any) -> None:
    net = network()

    def norms(x: Any) -> Any:
        total = 0.0
        for param in walk(net):
            total += float((param.asnumpy() ** 2).sum())
            x = x + 1
        return x * total

    compiled = jit(norms)
    for i in range(3):
        x = Tensor([1.0 + i])
        assert compiled(x).asnumpy().tolist() == norms(x).asnumpy().tolist()
        for param in net.get_parameters():
            param.set_data(param + 1.0)
    assert ["asnumpy()" in found.site.why for found in compiled.report().breaks] == [True]


def test_an_iterator_goes_on_after_a_loop() -> None:
    net = network()

    def sums(x: Any) -> Any:
        walk = net.get_parameters()
        first = next(walk)
        for param in walk:
            x = x + param.sum()
            if len(param.shape) == 1:
                break
        return x, first.sum(), [param.sum() for param in walk]

    compiled = jit(sums, fullgraph=True)
    for i in range(2):
        ours, eager = compiled(Tensor([1.0 * i])), sums(Tensor([1.0 * i]))
        assert [ours[0].asnumpy(), ours[1].asnumpy()] == [eager[0].asnumpy(), eager[1].asnumpy()]
        assert [float(one) for one in ours[2]] == [float(one) for one in eager[2]]


def test_cells_are_listed_while_one_is_replaced() -> None:
    """The list is that of the beginning."""
    net = network()
    for index, (name, cell) in enumerate(net.cells_and_names()):
        if name:
            net[index - 1] = nn.ReLU()
            assert isinstance(cell, nn.Dense)
    assert all(isinstance(cell, nn.ReLU) for cell in net)
