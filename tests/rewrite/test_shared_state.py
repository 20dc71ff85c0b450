"""What a rewritten network shares with the original: parameters with their names, attributes, methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.rewrite.written import X, named, names, same, written
from weft import Parameter, Tensor, nn, ops
from weft.rewrite import Node, ScopedValue, SymbolTree


class Two(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 2)
        self.fc2 = nn.Dense(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        y = self.fc(x)
        return self.fc2(y)


class Low(nn.Cell):
    def __init__(self, base: nn.Cell) -> None:
        super().__init__()
        self.base = base
        self.low = nn.Dense(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        return self.base(x) + self.low(x)


def tied(net: Two) -> nn.Cell:
    made = nn.Dense(2, 2)
    made.weight = net.fc.weight
    return made


def call(cell: Any, name: str) -> Node:
    return Node.create_call_cell(cell, ["y"], names("y"), name=name)


OWN = ["fc.weight", "fc.bias", "fc2.weight", "fc2.bias"]


@pytest.mark.parametrize(
    ("make", "new"),
    [
        (lambda net: call(Low(net.fc), "fc"), ["fc_1.low.weight", "fc_1.low.bias"]),
        (lambda net: call(net.fc, "again"), []),
        (lambda net: call(tied(net), "tied"), ["tied.bias"]),
        (
            lambda net: Node.create_call_function(
                ops.mul, ["y"], [*names("y"), ScopedValue.create_variable_value(net.fc.bias)]
            ),
            [],
        ),
    ],
    ids=["wrapped", "again", "tied", "parameter"],
)
def test_parameters_keep_their_names(make: Any, new: list[str], tmp_path: Path) -> None:
    net = Two()
    weft.save_checkpoint(net, str(tmp_path / "own.ckpt"))
    tree = SymbolTree.create(net)
    tree.insert(tree.after("fc"), make(net))
    assert sorted(named(tree.get_network())) == sorted(OWN + new)
    assert named(net) == OWN
    assert weft.load_param_into_net(net, weft.load_checkpoint(str(tmp_path / "own.ckpt"))) == ([], [])


def test_a_cell_of_two_networks_keeps_the_names_of_the_first() -> None:
    cell, trees = nn.Dense(2, 2), [SymbolTree.create(Two()) for _ in range(2)]
    for tree, name in zip(trees, ("one", "two"), strict=True):
        tree.insert(tree.after("fc"), call(cell, name))
        assert named(tree.get_network())[-2:] == ["one.weight", "one.bias"]


def test_names_that_are_taken_get_a_number() -> None:
    class Takes(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([1.0]), name="more.weight")

        def construct(self, x: Tensor) -> Tensor:
            y = x * self.w
            return y

    tree = SymbolTree.create(Takes())
    tree.insert(tree.after("binop_mult"), call(nn.Dense(2, 2), "more"))
    assert named(tree.get_network()) == ["more.weight", "more_1.weight", "more_1.bias"]
    rewritten = SymbolTree.create(Two()).get_network()
    tree = SymbolTree.create(Two())
    tree.insert(tree.after("fc"), call(rewritten, "more"))
    assert named(tree.get_network())[4:] == [f"more.{name}" for name in OWN]


METHODS = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = 0
        self.act = self.m
        self.table = {"up": [self.m]}
    def m(self, x):
        self.k = self.k + 1
        z = x * self.k
        return z
    def construct(self, x):
        y = self.m(x)
        return self.table["up"][0](self.act(y))
"""


def test_methods_in_attributes_are_those_of_the_new_network(tmp_path: Path) -> None:
    net = written(tmp_path, METHODS).Net()
    tree = SymbolTree.create(net)
    new: Any = tree.get_network()
    same(new(X), X * 6)
    assert (net.k, new.k) == (0, 3)
    tree.get_node("binop_mult").set_arg(1, ScopedValue.create_variable_value(10))  # type: ignore[union-attr]
    same(tree.get_network()(X), X * 1000)


def test_attributes_are_shared() -> None:
    class Holds(nn.Cell):
        __slots__ = ("slot",)

        def __init__(self) -> None:
            super().__init__()
            self.slot = 5.0
            self.cache: dict[str, Any] = {}

        def construct(self, x: Tensor) -> Tensor:
            return x * self.slot

    net = Holds()
    new: Any = SymbolTree.create(net).get_network()
    same(new(X), X * 5)
    assert new.cache is net.cache
