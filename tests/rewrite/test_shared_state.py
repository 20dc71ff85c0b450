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


MADE = """
class Args(nn.Cell):
    def __new__(cls, n):
        return super().__new__(cls)
    def __init__(self, n):
        super().__init__()
    def construct(self, x):
        y = x * 2
        return y
class Single(nn.Cell):
    only = None
    def __new__(cls, n):
        Single.only = Single.only or super().__new__(cls)
        return Single.only
    construct = Args.construct
"""


@pytest.mark.parametrize("name", ["Args", "Single"])
def test_a_network_is_made_without_the_new_of_its_class(name: str, tmp_path: Path) -> None:
    net = getattr(written(tmp_path, MADE), name)(2)
    tree = SymbolTree.create(net)
    tree.insert(tree.after("binop_mult"), call(nn.Sigmoid(), "more"))
    same(tree.get_network()(X), ops.sigmoid(X * 2))
    same(net(X), X * 2)
    assert not hasattr(net, "more")


UNCHANGED = """
def twice(v):
    return v * 2
class Part(nn.Cell):
    def construct(self, x):
        y = twice(x) + 1
        return y
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.other = nn.SequentialCell(Part())
        self.scale = {self.part: 3}
        self.list = self.again = [self.part]
    def construct(self, x):
        assert self.list is self.again
        return self.part(x) * self.scale[self.part] + self.other(x)
"""


def test_cells_are_the_original_ones_where_nothing_in_them_was_changed(tmp_path: Path) -> None:
    net = written(tmp_path, UNCHANGED).Net()
    tree = SymbolTree.create(net)
    new: Any = tree.get_network()
    assert (new.part, new.other, new.list, new.scale) == (net.part, net.other, net.list, net.scale)
    part = tree.get_node("part").get_sub_tree()  # type: ignore[union-attr]
    part.insert(part.after("binop_add"), call(nn.ReLU(), "act"))
    changed: Any = tree.get_network()
    assert changed.part is not net.part
    assert changed.other is net.other
    same(changed(X), ops.relu(net.part(X)) * 3 + net.other(X))
    part.erase("act")
    assert tree.get_network().part is net.part  # type: ignore[attr-defined]


HELD = """
import collections, dataclasses, types
@dataclasses.dataclass(frozen=True)
class Record:
    __slots__ = ("cell",)
    cell: nn.Cell
class Pair(collections.namedtuple("Pair", "cell k")):
    pass
class Items(list):
    def __init__(self, cell, more):
        super().__init__([cell])
        self.more = more
class Part(nn.Cell):
    def construct(self, x):
        y = x + 1
        return y
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        b = self.b = Part()
        self.pair = Pair(b, 2)
        self.default = collections.defaultdict(list, k=[b])
        self.items = Items(b, (b,))
        self.queue = collections.deque([b], 3)
        self.set = {b}
        self.keys = collections.OrderedDict([(b, 1)])
        self.records = [Record(b), types.SimpleNamespace(cell=b), collections.UserList([b])]
        self.round = [b]
        self.round.append((self.round,))
        self.helper = nn.SequentialCell(nn.ReLU())
        self.helper.hidden = self.round
    def construct(self, x):
        return self.b(x)
"""


def test_every_container_of_a_rewritten_cell_holds_the_new_one(tmp_path: Path) -> None:
    net = written(tmp_path, HELD).Net()
    tree = SymbolTree.create(net)
    part = tree.get_node("b").get_sub_tree()  # type: ignore[union-attr]
    part.get_node("binop_add").set_arg(1, ScopedValue.create_variable_value(5))
    new: Any = tree.get_network()
    b = new.b
    assert b is not net.b
    record, space, users = new.records
    held = [
        record.cell,
        space.cell,
        users[0],
        new.pair.cell,
        new.default["k"][0],
        new.items[0],
        new.items.more[0],
        new.queue[0],
        *new.set,
        *new.keys,
    ]
    assert all(each is b for each in [*held, new.round[0], new.helper.hidden[0]])
    assert new.round[1][0] is new.round is new.helper.hidden
    for name in ("pair", "default", "items", "queue", "set", "keys"):
        assert type(getattr(new, name)) is type(getattr(net, name))
    assert (new.default["none"], new.queue.maxlen, net.pair.cell) == ([], 3, net.b)
