"""Rewritten networks compute what they should: eagerly, compiled, in graph mode, and in training."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops
from weft.rewrite import Node, NodeType, ScopedValue, SymbolTree
from weft.testing import assert_no_breaks

LIMITS = [1, 2]


def twice(x: Any) -> Any:
    return x * 2


class Inner(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.__hidden = 0.5

    def construct(self, x: Tensor) -> Tensor:
        y = self.dense(x)
        return self.helper(y) + self.__hidden

    def helper(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Outer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.a = Inner()
        self.b = Inner()

    def construct(self, x: Tensor) -> Tensor:
        return self.b(self.a(x)) + x


class Straight(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.act(self.fc(x))


class Nested(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Dense(4, 4)
        self.fc2 = nn.Dense(4, 4)
        self.add = ops.Add()
        self.w = Parameter(Tensor([1.0]), name="w")

    def construct(self, x: Tensor, y: Any = None) -> Tensor:
        """Several operations a line."""
        h = self.add(self.fc1(x), self.fc2(ops.relu(x)) + self.w)
        return ops.exp(-ops.abs(h)) * 2 - h / 3


class Branches(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.flag = True
        self.fc = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        if self.flag:
            x = self.fc(x)
        else:
            x = self.act(x)
        if x.sum() > 0:
            x = self.act(self.fc(x))
            return x
        elif self.flag and x.ndim == 2:
            x = x + 1
        return self.act(x)


class Loops(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(4, 4), Inner()])
        self.seq = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), Inner())
        self.cells = [nn.ReLU(), nn.Tanh()]

    def construct(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        x = self.seq(x)
        i = 0
        while i < 3:
            x = self.cells[0](x)
            i += 1
        for i in range(len(self.layers)):
            x = self.layers[i](x) * (i + 1)
        return x


class Mixed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.n = 3

    def construct(self, x: Tensor, limits: Any = LIMITS, *rest: Any, scale: float = 0.5, **more: Any) -> Tensor:
        a, b = ops.split(self.fc(x), 2, axis=1)
        c = d = a + b
        (p, q), r = (c, d), [a, {"k": b}]
        x += ops.concat((p, q), axis=-1)
        x *= scale if scale else 1
        e = x[:, 1:] if len(limits) == 2 else x
        z = [t + 1 for t in (a, b)]
        n = x is None or not self.n
        f = (lambda t: t * 2)(e)
        assert not n
        return ops.softmax(f, axis=-1).sum() + sum(t.mean() for t in z) + r[1]["k"].sum() + twice(x).sum()


class Base(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)

    def construct(self, x: Tensor) -> Tensor:
        return self.tail(self.fc(x))

    def tail(self, x: Tensor) -> Tensor:
        return x * 2


class Derived(Base):
    def construct(self, x: Tensor) -> Tensor:
        x = super().construct(x) + 1
        return self.tail(x)


class Inherits(Base):
    def tail(self, x: Tensor) -> Tensor:
        return x + ops.relu(x)


class Compiled(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 4)

    @weft.jit
    def construct(self, x: Tensor) -> Tensor:
        return self.fc(x) + 1


class Shared(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.a = Inner()
        self.b = self.a
        self.listed = [self.a]
        self.layers = nn.CellList([self.a, Inner()])

    def construct(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.a(x) + self.b(x) + self.listed[0](x)


def local(factor: int) -> nn.Cell:
    class Local(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 4)

        def construct(self, x: Tensor, y: Any = LIMITS) -> Tensor:
            return self.fc(x) * factor + len(y)

    return Local()


NETWORKS = [
    *(Straight, Nested, Outer, Branches, Loops, Mixed, Derived, Inherits, Compiled, Shared),
    lambda: local(5),
]  # fmt: skip
IDS = [getattr(each, "__name__", "") for each in NETWORKS[:-1]] + ["Local"]


@pytest.fixture(autouse=True)
def mode() -> Iterator[None]:
    """The mode is that before the test."""
    mode = weft.get_context("mode")
    yield
    weft.set_context(mode=mode)


def data() -> Tensor:
    return Tensor(np.random.RandomState(0).randn(2, 4).astype(np.float32))


def names(*each: str) -> list[ScopedValue]:
    return ScopedValue.create_name_values(each)


def same(one: Tensor, other: Tensor) -> None:
    np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", NETWORKS, ids=IDS)
def test_what_was_not_changed_computes_the_same(make: Any) -> None:
    net, x = make(), data()
    want = net(x.copy())
    new = SymbolTree.create(net).get_network()
    same(new(x.copy()), want)
    same(weft.jit(new)(x.copy()), want)
    again = SymbolTree.create(new).get_network()  # its source can be read again
    same(again(x.copy()), want)
    weft.set_context(mode=weft.GRAPH_MODE)
    same(new(x.copy()), want)
    assert list(map(id, new.get_parameters())) == list(map(id, net.get_parameters()))


@pytest.mark.parametrize("make", NETWORKS, ids=IDS)
def test_a_rewritten_network_has_no_breaks(make: Any) -> None:
    net = weft.jit(SymbolTree.create(make()).get_network())
    with assert_no_breaks():
        net(data())


@pytest.mark.parametrize("mode", [weft.PYNATIVE_MODE, weft.GRAPH_MODE])
def test_training_goes_on_with_the_original_parameters(mode: int) -> None:
    weft.set_context(mode=mode)
    weft.set_seed(1)  # with some weights, no ReLU lets a gradient through
    net, x = Straight(), data()
    tree = SymbolTree.create(net)
    more = nn.Dense(4, 4)
    tree.insert(tree.after("fc"), Node.create_call_cell(more, ["fc_var"], names("fc_var"), name="more"))
    new = tree.get_network()
    assert [p.name for p in new.trainable_params()] == ["fc.weight", "fc.bias", "more.weight", "more.bias"]
    same(new(x), net.act(more(net.fc(x))))
    weights = new.trainable_params()
    _, gradients = weft.value_and_grad(lambda x: new(x).sum(), None, weights)(x)
    _, wanted = weft.value_and_grad(lambda x: net.act(more(net.fc(x))).sum(), None, weights)(x)
    for one, other in zip(gradients, wanted, strict=True):
        same(one, other)
    before = net.fc.weight.asnumpy().copy()
    step = nn.TrainOneStepCell(nn.WithLossCell(new, nn.MSELoss()), nn.SGD(weights, 0.1))
    step(x, x)
    assert not np.allclose(net.fc.weight.asnumpy(), before)
    assert new.fc is net.fc
    assert not hasattr(net, "more")


def test_a_change_two_cells_deep_is_one_of_that_cell_only() -> None:
    net, x = Outer(), data()
    tree = SymbolTree.create(net)
    inner = tree.get_node("a").get_sub_tree()
    inner.insert(inner.after("dense"), Node.create_call_cell(nn.Dense(4, 4), ["y"], names("y"), name="extra"))
    new: Any = tree.get_network()
    assert "a.extra.weight" in [p.name for p in new.get_parameters()]
    assert hasattr(new.a, "extra")
    assert not hasattr(new.b, "extra")
    assert not hasattr(net.a, "extra")
    assert new.a.dense is net.a.dense
    y = new.a.extra(net.a.dense(x))
    same(new(x), net.b(net.a.helper(y) + 0.5) + x)
    assert type(new.a).__name__ == "InnerOpt"
    assert new.b is net.b


def test_a_cell_in_several_places_stays_one() -> None:
    net = Shared()
    tree = SymbolTree.create(net)
    inner = tree.get_node("a").get_sub_tree()
    inner.erase("dense")
    inner.get_node("helper").set_arg(0, "x")
    new: Any = tree.get_network()
    assert new.a is new.b is new.listed[0] is new.layers[0]
    assert net.a is net.listed[0] is net.layers[0]
    assert new.layers is not net.layers
    x = data()
    h = net.layers[1](ops.tanh(x) + 0.5)
    same(new(x), (ops.tanh(h) + 0.5) * 3)


def test_a_cell_of_a_container_can_be_rewritten() -> None:
    net, x = Loops(), data()
    tree = SymbolTree.create(net)
    found = [node for node in tree.nodes(all_nodes=True) if node.get_node_type() is NodeType.Tree]
    last = next(node for node in found if node.get_instance() is net.seq[2]).get_sub_tree()
    last.replace(last.get_node("dense"), [Node.create_call_function(twice, ["y"], names("x"))])
    new: Any = tree.get_network()
    same(new.seq(x), ops.tanh(twice(net.seq[1](net.seq[0](x)))) + 0.5)
    same(weft.jit(new.seq)(x), new.seq(x))


def test_functions_of_the_program_are_taken_apart() -> None:
    x = data()

    class Calls(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            y = twice(x)
            return twice(y)

    calls = SymbolTree.create(Calls())
    node = calls.get_node("twice")
    assert node is not None
    assert node.inner is not None
    node.inner.nodes[1].set_arg(1, ScopedValue.create_variable_value(3))
    same(calls.get_network()(x), x * 9)
    same(twice(x), x * 2)
    with pytest.raises(RuntimeError, match="no method of a cell"):
        calls.insert(calls.after(node.inner.nodes[1]), Node.create_call_cell(nn.ReLU(), ["x"], names("x")))


def test_the_source_is_shown_by_inspect_and_in_errors(tmp_path: Path) -> None:
    class Wrong(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 4)

        def construct(self, x: Tensor) -> Tensor:
            return ops.matmul(self.fc(x), x)

    new = SymbolTree.create(Wrong()).get_network()
    assert "fc_var = self.fc(x)" in inspect.getsource(type(new))
    assert "matmul_var = ops.matmul(fc_var, x)" in inspect.getsource(type(new).construct)
    file = tmp_path / "rewritten_network" / Path(inspect.getfile(type(new))).name
    assert file.read_text() == SymbolTree.create(Wrong()).get_code()
    for run in (new, weft.jit(new)):
        with pytest.raises(ValueError, match="inner sizes") as caught:
            run(data())
        assert any("ops.matmul(fc_var, x)" in each for each in traceback.format_exception(caught.value))


def test_a_construct_of_the_instance() -> None:
    net, x = Straight(), data()
    net.construct = weft.jit(net.construct)
    net(x)
    tree = SymbolTree.create(net)
    tree.erase("act")
    tree.get_node("return").set_arg(0, "fc_var")
    same(tree.get_network()(x), net.fc(x))
    net.construct = lambda x: x
    with pytest.raises(RuntimeError, match="replaced on the instance"):
        SymbolTree.create(net)


def test_networks_are_made_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "rewritten_network").write_text("in the way")
    new = SymbolTree.create(Straight()).get_network()
    assert "self.fc(x)" in inspect.getsource(type(new).construct)


def test_one_name_of_two_modules_is_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from weft import nn\nK = {k}\nclass Part(nn.Cell):\n    def construct(self, x):\n        return x * K\n"
    for name, k in (("one_part", 2), ("other_part", 3)):
        (tmp_path / f"{name}.py").write_text(text.format(k=k))
    monkeypatch.syspath_prepend(str(tmp_path))
    import one_part
    import other_part

    class Both(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.one = one_part.Part()
            self.other = other_part.Part()

        def construct(self, x: Tensor) -> Tensor:
            return self.one(x) + self.other(x)

    x = data()
    tree = SymbolTree.create(Both())
    same(tree.get_network()(x), x * 5)
    for name in ("one", "other"):
        product = tree.get_node(name).get_sub_tree().get_node("binop_mult")  # type: ignore[union-attr]
        product.set_arg(0, "K")
        product.set_arg(1, "x")
    same(tree.get_network()(x), x * 5)
    assert "import K as K_1" in tree.get_code()


class Private(nn.Cell):
    """Methods under names that are not those they were written with."""

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.held = self.__body

    def __body(self, x: Tensor) -> Tensor:
        y = self.act(x)
        return y

    def method(self, x: Tensor) -> Tensor:
        z = self.act(x)
        return z

    other = method

    def construct(self, x: Tensor) -> Tensor:
        return self.__body(x) + self.other(x) * 2 + self.held(x) * 3


def test_private_methods_and_methods_of_two_names_are_taken_apart() -> None:
    net, x = Private(), data()
    tree = SymbolTree.create(net)
    same(tree.get_network()(x), net(x))
    found = [node for node in tree.all_nodes() if node.get_instance_type() is nn.ReLU]
    for node in found:
        tree.replace(node, [Node.create_call_function(ops.tanh, node.get_targets(), node.get_args())])
    assert len(found) == 2
    same(tree.get_network()(x), ops.tanh(x) * 6)
    same(net(x), ops.relu(x) * 6)
