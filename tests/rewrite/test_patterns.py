"""Patterns find nodes, and replacements take their places."""

from __future__ import annotations

import cProfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.rewrite.written import names, written
from weft import Tensor, nn, ops
from weft.rewrite import Node, PatternEngine, PatternNode, Replacement, SymbolTree, VarNode


class Part(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.act(self.fc(x))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Dense(4, 4)
        self.fc2 = nn.Dense(4, 4)
        self.act = nn.ReLU()
        self.add = ops.Add()
        self.part = Part()

    def construct(self, x: Tensor) -> Tensor:
        x = self.act(self.fc1(x))
        y = self.fc2(x)
        z = self.act(y)
        x = self.add(self.part(z), self.act(x))
        return x * y


class Smooth(Replacement):
    """An activation that is smooth, in the place of the last node."""

    def __init__(self) -> None:
        self.found: list[list[str]] = []

    def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
        assert is_chain_pattern
        self.found.append([node.get_name() for node in matched.values()])
        last, first = matched[pattern.name()], next(iter(matched.values()))
        return [Node.create_call_cell(nn.Tanh(), last.get_targets(), first.get_args(), name="tanh")]


def test_chains_are_replaced_also_in_cells() -> None:
    net = Net()
    tree, smooth = SymbolTree.create(net), Smooth()
    assert PatternEngine([nn.Dense, nn.ReLU], smooth).apply(tree)
    assert smooth.found == [["fc1", "act"], ["fc", "act"]]  # what fc2 gives is used elsewhere
    new: Any = tree.get_network()
    x = Tensor(np.random.RandomState(0).randn(2, 4).astype(np.float32))
    h = ops.tanh(x)
    y = net.fc2(h)
    want = (ops.tanh(ops.relu(y)) + ops.relu(h)) * y
    for run in (new, weft.jit(new)):
        np.testing.assert_allclose(run(x).asnumpy(), want.asnumpy(), rtol=1e-5)
    assert not PatternEngine([nn.Dense, nn.ReLU], smooth).apply(tree)
    assert PatternEngine([nn.ReLU], smooth).apply(tree)


def test_trees_of_patterns() -> None:
    class Sum(Replacement):
        def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
            assert not is_chain_pattern
            assert list(matched) == ["part", "act", "sum"]
            return [Node.create_call_cell(ops.Sub(), ["x"], matched["sum"].get_args(), name="sub")]

    class Keep(Replacement):
        def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
            return []

    pattern = PatternNode("sum", ops.Add, [PatternNode("part", Part), PatternNode("act", nn.ReLU)])
    tree = SymbolTree.create(Net())
    assert not PatternEngine(pattern, Keep()).apply(tree)
    assert PatternEngine(pattern, Sum()).apply(tree)
    assert "self.sub(part_var, act_var)" in tree.get_code()
    assert tree.get_node("part") is None
    any_two = PatternNode("sum", ops.Sub, [VarNode(), VarNode()])
    assert not PatternEngine(any_two, Sum()).apply(tree)  # nothing computes the arguments any more


def test_patterns_of_nodes() -> None:
    tree = SymbolTree.create(Net())
    add: Any = tree.get_node("add")
    made = PatternNode.create_pattern_from_node(add)
    assert (made.name(), made.type()) == ("add", ops.Add)
    part, act = made.get_inputs()
    assert (part.name(), part.type(), act.type()) == ("part", Part, nn.ReLU)
    assert made.match(add)
    assert PatternNode.from_node(add).get_inputs() == []
    chain = PatternEngine([nn.Conv2d, nn.ReLU], Smooth()).pattern()
    assert chain.name() == f"1-{nn.ReLU}"
    assert [each.name() for each in chain.get_inputs()] == [f"0-{nn.Conv2d}"]
    chain.add_input(VarNode())
    assert [each.name() for each in chain.get_inputs()] == [f"0-{nn.Conv2d}", "placeholder"]
    chain.set_inputs([])
    assert chain.get_inputs() == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: PatternEngine([nn.ReLU]),
        lambda: PatternEngine([nn.ReLU], 3),
        lambda: PatternEngine(3, Smooth()),
        lambda: PatternEngine([nn.ReLU], Smooth()).apply(3),
        lambda: PatternNode(3),
        lambda: PatternNode("a", nn.ReLU, [3]),
        lambda: PatternNode("a", nn.ReLU).match(3),
        lambda: PatternNode.from_node(3),
        lambda: Replacement(),
    ],
)
def test_what_is_no_pattern_is_refused(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


class Bodies(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def method(self, x: Tensor) -> Tensor:
        y = self.act(x)
        return y

    def construct(self, x: Tensor) -> Tensor:
        if x.shape[0]:
            x = self.act(x)
        for _ in range(2):
            y = self.fc(x)
            x = self.act(y)
        z = self.fc(x)
        x = self.act(z)
        if x.shape[0]:
            x = x + y + z
        return self.method(x)


def test_every_body_is_searched_and_what_others_read_stays() -> None:
    tree, smooth = SymbolTree.create(Bodies()), Smooth()
    assert not PatternEngine([nn.Dense, nn.ReLU], smooth).apply(tree)
    assert PatternEngine([nn.ReLU], smooth).apply(tree)
    assert "self.act" not in tree.get_code()
    assert len(smooth.found) == 4
    assert tree.get_network()(Tensor(np.ones((2, 4), np.float32))).shape == (2, 4)


def test_what_is_erased_is_no_argument_that_may_be_any() -> None:
    class Twice(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 4)
            self.act = nn.ReLU()
            self.add = ops.Add()

        def construct(self, x: Tensor) -> Tensor:
            y = self.fc(x)
            z = self.act(y)
            return self.add(y, z)

    smooth = Smooth()
    pattern = PatternNode("add", ops.Add, [PatternNode("fc", nn.Dense), PatternNode("act", nn.ReLU)])
    assert not PatternEngine(pattern, smooth).apply(SymbolTree.create(Twice()))


READERS = ["z = y[0]", "z = y.T", "z = [y for _ in x]", "y.h = 1", "if x.ndim: z = 1 if y.ndim else 2", "del y"]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("head", ["y = self.fc(x)", "self.y = y = self.fc(x)"])
def test_what_is_read_in_any_way_is_not_erased(reader: str, head: str, tmp_path: Path) -> None:
    net = written(
        tmp_path,
        f"""
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 2)
        self.act = nn.ReLU()

    def construct(self, x):
        {head}
        z = self.act(y)
        {reader}
        return z
""",
    ).Net()
    smooth = Smooth()
    assert not PatternEngine([nn.Dense, nn.ReLU], smooth).apply(SymbolTree.create(net))
    assert smooth.found == []


BETWEEN = ["x = x + 1", "x[0] = 1", "x += 1", "if y.shape: x = -x", "self.x = x", "x = self.act(y)", "z = x + 1"]


@pytest.mark.parametrize("between", BETWEEN)
def test_what_a_match_reads_is_the_same_where_the_new_node_stands(between: str, tmp_path: Path) -> None:
    net = written(
        tmp_path,
        f"""
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 2, "ones", "zeros")
        self.act = nn.ReLU()
        self.x = Tensor([[3.0, 4.0]])

    def construct(self, x):
        x, y = x * 1, x
        a = self.fc({"self.x" if between.startswith("self") else "x"})
        {between}
        return self.act(a) + x
""",
    ).Net()
    tree, smooth = SymbolTree.create(net), Smooth()
    moved = between.startswith("z")
    assert PatternEngine([nn.Dense, nn.ReLU], smooth).apply(tree) is moved
    assert moved or smooth.found == []


@pytest.mark.parametrize(
    "layer", ["x = self.act(self.fc(x)) + x", "if x.ndim:\n            x = self.act(self.fc(x)) + x"]
)
def test_many_changes_take_as_long_as_each_of_them(layer: str, tmp_path: Path) -> None:
    class Tanh(Replacement):
        def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
            act = matched[pattern.name()]
            return [Node.create_call_cell(nn.Tanh(), act.get_targets(), names("x"), name="tanh")]

    def change(net: nn.Cell) -> None:
        tree = SymbolTree.create(net)
        assert PatternEngine([nn.Dense, nn.ReLU], Tanh()).apply(tree)
        for node in [each for each in tree.all_nodes() if each.get_targets()][1:]:
            target = str(node.get_targets()[0])
            new = tree.insert(tree.after(node), Node.create_call_function(ops.abs, [target], names(target)))
            new.set_arg_by_node(0, new.get_inputs()[0])
            assert node.get_users() == [new]

    def calls(count: int) -> int:
        body = "".join(f"        {layer}\n" for _ in range(count))
        net = written(
            tmp_path,
            "class Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
            "        self.fc, self.act = nn.Dense(2, 2), nn.ReLU()\n"
            f"    def construct(self, x):\n{body}        return x\n",
        ).Net()
        profile = cProfile.Profile()
        profile.runcall(change, net)
        return sum(each.callcount for each in profile.getstats())

    few, many = calls(20), calls(100)
    assert many < 7 * few
