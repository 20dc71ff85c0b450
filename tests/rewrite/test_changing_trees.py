"""Nodes are inserted, replaced and erased, their arguments set; what is wrong is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn, ops
from weft.rewrite import Node, NodeType, ScopedValue, SymbolTree, TreeNodeHelper, ValueType

COUNT = 0


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.act = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        x = self.dense(x)
        x = self.act(x)
        return x


class Branch(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.flag = True
        self.fc = nn.Dense(4, 4)
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        if self.flag:
            x = self.fc(x)
        else:
            x = self.relu(x)
        if x.sum() > 0:
            x = self.relu(self.fc(x))
            return x
        elif self.flag and x.ndim == 2:
            x = x + 1
        return self.relu(x)


class Counts(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        global COUNT
        COUNT += 1
        return x


class Holds(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.counts = Counts()
        self.net = Net()

    def construct(self, x: Tensor) -> Tensor:
        x = self.counts(x)
        return self.net(x)


def data() -> Tensor:
    return Tensor(np.random.RandomState(0).randn(2, 4).astype(np.float32))


def names(*each: str) -> list[ScopedValue]:
    return ScopedValue.create_name_values(each)


def call(cell: Any, name: str = "", **options: Any) -> Node:
    return Node.create_call_cell(cell, ["x"], names("x"), name=name, **options)


def body(tree: SymbolTree) -> list[str]:
    """The statements of the network's construct."""
    lines = tree.get_code().rpartition("    def construct(")[2].split("\n")[1:]
    return [line[8:] for line in lines if line]


def same(one: Tensor, other: Tensor) -> None:
    np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


def test_inserted_nodes_get_free_names() -> None:
    tree = SymbolTree.create(Net())
    assert tree.insert(tree.before("act"), call(nn.Tanh(), "act")).get_name() == "act_1"
    assert tree.insert(tree.before("act"), call(nn.Tanh())).get_name() == "Tanh"
    assert tree.insert(tree.before("act"), call(nn.Tanh())).get_name() == "Tanh_1"
    function = Node.create_call_function(ops.abs, ["x"], names("x"))
    assert tree.insert(tree.before("act"), function).get_node_type() is NodeType.CallFunction
    assert function.get_instance_type() is ops.abs
    added = Node.create_call_cell(ops.Add(), ["x"], names("x", "x"))
    assert tree.insert(tree.after("abs"), added).get_node_type() is NodeType.CallPrimitive
    assert [node.get_name() for node in added.get_inputs()] == ["abs", "abs"]
    assert body(tree) == [
        "x = self.dense(x)",
        "x = self.act_1(x)",
        "x = self.Tanh(x)",
        "x = self.Tanh_1(x)",
        "x = abs(x)",
        "x = self.Add(x, x)",
        "x = self.act(x)",
        "return x",
    ]
    net: Any = tree.network
    x = data()
    same(tree.get_network()(x), net.act(2 * ops.abs(ops.tanh(ops.tanh(ops.tanh(net.dense(x)))))))


def test_values_become_attributes_and_literals() -> None:
    tree = SymbolTree.create(Net())
    value = ScopedValue.create_variable_value
    tree.insert(
        tree.after("dense"),
        Node.create_call_function(
            ops.full_like, ["y"], names("x"), {"fill_value": value(2.5), "dtype": value(weft.float32)}
        ),
    )
    tree.insert(tree.after("full_like"), Node.create_call_cell(ops.Add(), ["x"], [*names("y"), value(Tensor([1.0]))]))
    lines = body(tree)[1:3]
    assert lines == ["y = full_like(x, fill_value=2.5, dtype=self.arg_DType)", "x = self.Add(y, self.arg_Tensor)"]
    same(tree.get_network()(data()), Tensor(np.full((2, 4), 3.5, np.float32)))
    tree.insert(tree.after("full_like"), Node.create_call_function(ops.sum, ["z"], names("y"), {"dim": value((0, 1))}))
    assert body(tree)[2] == "z = sum(y, dim=(0, 1))"
    assert tree.get_network()(data()).shape == (2, 4)


def test_several_targets() -> None:
    tree = SymbolTree.create(Net())
    halves = {
        "split_size_or_sections": ScopedValue.create_variable_value(2),
        "axis": ScopedValue.create_variable_value(1),
    }
    node = tree.insert(tree.after("dense"), Node.create_call_function(ops.split, ["a", "b"], names("x"), halves))
    assert list(map(str, node.get_targets())) == ["a", "b"]
    act = tree.get_node("act")
    assert act is not None
    with pytest.raises(ValueError, match="which of the 2 targets"):
        act.set_arg_by_node(0, node)
    act.set_arg_by_node(0, node, 1)
    assert node.get_target_users(1) == [(act, 0)]
    assert tree.get_network()(data()).shape == (2, 2)


def test_inputs_are_inserted_after_inputs() -> None:
    tree = SymbolTree.create(Net())
    assert tree.insert(tree.after("input_x"), Node.create_input("y")).get_name() == "input_y"
    default = ScopedValue.create_variable_value(2)
    tree.insert(tree.after("input_y"), Node.create_input("k", default))
    assert [node.get_name() for node in tree.get_inputs()] == ["input_x", "input_y", "input_k"]
    tree.insert(tree.after("dense"), Node.create_call_cell(ops.Mul(), ["x"], names("y", "k")))
    new = tree.get_network()
    same(new(data(), Tensor([1.0])), Tensor([2.0]))
    same(new(data(), Tensor([1.0]), k=3), Tensor([3.0]))
    with pytest.raises(RuntimeError, match="needs one, too"):
        tree.insert(tree.after("input_k"), Node.create_input("z"))
    with pytest.raises(RuntimeError, match="before or between parameters"):
        tree.insert(tree.before("input_x"), call(nn.ReLU()))
    with pytest.raises(RuntimeError, match="after an argument"):
        tree.insert(tree.after("dense"), Node.create_input("z"))


def test_erased_nodes_can_be_inserted_again() -> None:
    net, x = Net(), data()
    tree = SymbolTree.create(net)
    node = tree.erase("act")
    assert node is not None
    assert body(tree) == ["x = self.dense(x)", "return x"]
    with pytest.raises(RuntimeError, match="was erased"):
        node.set_arg(0, "y")
    tree.insert(tree.before("dense"), node)
    assert body(tree) == ["x = self.act(x)", "x = self.dense(x)", "return x"]
    same(tree.get_network()(x), net.dense(net.act(x)))
    with pytest.raises(ValueError, match="cannot be inserted"):
        tree.insert(tree.before("dense"), node)
    tree.erase(node)
    other = SymbolTree.create(Net())
    with pytest.raises(ValueError, match="cannot be inserted again"):
        other.insert(other.before("dense"), node)


def test_nothing_left_is_pass() -> None:
    tree = SymbolTree.create(Net())
    for name in ("dense", "act", "return"):
        tree.erase(name)
    assert body(tree) == ["pass"]
    assert tree.get_network()(data()) is None


def test_control_flow() -> None:
    tree = SymbolTree.create(Branch())
    listed = [node.get_name() for node in tree.nodes(all_nodes=True)]
    assert listed == [  # as in MindSpore 2.10
        *("input_x", "if_node", "else_node", "sum", "compare_gt", "if_node_1", "else_node_1", "relu_2", "return_1"),
        *("boolop_and", "if_node_2", "binop_add", "fc_1", "relu_1", "return", "relu", "fc"),
    ]
    inside: Any = tree.get_node("fc")
    assert inside.get_inputs() == []
    tree.insert(tree.after(inside), call(nn.Tanh(), "tanh"))
    tree.erase(inside)
    tree.erase("else_node_1")
    tree.insert(tree.after("if_node"), call(nn.Sigmoid(), "sigmoid"))
    assert body(tree)[:6] == [
        "if self.flag:",
        "    x = self.tanh(x)",
        "else:",
        "    x = self.relu(x)",
        "x = self.sigmoid(x)",
        "sum_var = x.sum()",
    ]
    tree.erase("if_node")
    assert body(tree)[:3] == ["if self.flag:", "    pass", "else:"]
    assert "elif" not in "".join(body(tree))
    same(tree.get_network()(-data()), weft.jit(tree.get_network())(-data()))
    tree.erase("else_node")
    assert body(tree)[0] == "x = self.sigmoid(x)"


def test_replace() -> None:
    net, x = Net(), data()
    tree = SymbolTree.create(net)
    first = Node.create_call_cell(nn.Dense(4, 4), ["h"], names("x"), name="first")
    last = Node.create_call_cell(nn.Dense(4, 4), ["x"], names("h"), name="dense")
    old: Any = tree.get_node("dense")
    assert tree.replace(old, [first, last]) is last
    assert body(tree) == ["h = self.first(x)", "x = self.dense_1(h)", "x = self.act(x)", "return x"]
    new: Any = tree.get_network()
    same(new(x), net.act(new.dense_1(new.first(x))))
    assert tree.set_output(0, "h").get_name() == "return"
    same(tree.get_network()(x), new.first(x))


def test_a_cell_can_be_taken_apart_or_not() -> None:
    tree = SymbolTree.create(Net())
    part = tree.insert(tree.after("dense"), call(Net(), "part", is_sub_net=True))
    whole = tree.insert(tree.after("dense"), call(Net(), "whole"))
    assert part.get_node_type() is NodeType.Tree
    assert whole.get_node_type() is NodeType.CallCell
    sub = TreeNodeHelper.get_sub_tree(part)
    sub.erase("act")
    new: Any = tree.get_network()
    x = data()
    same(new(x), new.act(new.part.dense(whole.get_instance()(new.dense(x)))))
    with pytest.raises(TypeError, match=r"should be 'NodeType.Tree', but got NodeType\.CallCell"):
        whole.get_sub_tree()
    with pytest.raises(AttributeError, match="before it is inserted"):
        call(Net(), is_sub_net=True).get_sub_tree()


def test_what_writes_outside_stays_whole() -> None:
    tree = SymbolTree.create(Holds())
    assert [node.get_node_type().name for node in tree.nodes()] == ["Input", "CallCell", "Tree", "Output"]
    with pytest.raises(RuntimeError, match=r"Counts cannot be rewritten: .* writes COUNT"):
        SymbolTree.create(Counts())
    before = COUNT
    tree.get_network()(data())
    assert before + 1 == COUNT


def test_neighbours_and_notes() -> None:
    tree = SymbolTree.create(Net())
    dense, act = tree.get_node("dense"), tree.get_node("act")
    assert dense is not None
    assert act is not None
    assert (dense.get_next(), act.get_prev()) == (act, dense)
    assert next(tree.nodes()).get_prev() is None
    assert dense.get_users() == [act]
    assert dense.get_attribute("in_channels") == 4
    dense.set_attribute("kind", "first")
    assert dense.get_attribute("kind") == "first"
    assert dense.get_attribute("none") is None
    assert (tree.unique_name("x"), tree.unique_name("x"), tree.unique_name()) == ("x_1", "x_2", "output")


def test_files(tmp_path: Path) -> None:
    tree = SymbolTree.create(Net())
    assert tree.get_saved_file_name() == "./network_define.py"
    tree.set_saved_file_name(str(tmp_path / "mine"))
    tree.save_network_to_file()
    assert (tmp_path / "mine.py").read_text() == tree.get_code()


def test_the_table_is_that_of_mindspore(capsys: pytest.CaptureFixture[str]) -> None:
    SymbolTree.create(Net()).print_node_tabulate()
    assert capsys.readouterr().out == (
        "\n[NetOpt]\n"
        "node type          name     codes              arg providers          target users\n"
        "-----------------  -------  -----------------  ---------------------  ----------------------\n"
        "NodeType.Input     input_x  x                  []                     [[0, [('dense', 0)]]]\n"
        "NodeType.CallCell  dense    x = self.dense(x)  [[0, ('input_x', 0)]]  [[0, [('act', 0)]]]\n"
        "NodeType.CallCell  act      x = self.act(x)    [[0, ('dense', 0)]]    [[0, [('return', 0)]]]\n"
        "NodeType.Output    return   return x           [[0, ('act', 0)]]      []\n\n"
    )
    SymbolTree.create(Branch()).print_node_tabulate(all_nodes=True)
    out = capsys.readouterr().out
    assert "[BranchOpt.else_node_1.if_node_2]" in out
    assert "NodeType.ControlFlow   else_node    else:  " in out
    SymbolTree.create(Net()).dump()
    assert "  %1(x) = ReLU(%0){instance name: act}\n  Return(%1)" in capsys.readouterr().out


#: what is done with a tree `t`, the error, and what MindSpore 2.10 says too, where it says something
WRONG = [
    ("SymbolTree.create(3)", TypeError, "'SymbolTree', the type of 'network' should be 'Cell', but got type 'int'."),
    ("t.before(3)", TypeError, "the type of 'node' should be one of '['Node', 'str']', but got type 'int'."),
    ("t.before('none')", RuntimeError, "Node is not belong to current SymbolTree"),
    ("t.insert(3, call(nn.ReLU()))", TypeError, "the type of 'position' should be 'Position', but got type 'int'."),
    ("t.insert(t.before('act'), 3)", TypeError, "the type of 'node' should be 'Node', but got type 'int'."),
    (
        "t.insert(other.before('sum'), call(nn.ReLU()))",
        ValueError,
        "not in current SymbolTree, node:Branch, current: Net.",
    ),
    ("t.erase('none')", RuntimeError, "Node is not belong to current SymbolTree"),
    ("t.erase('input_x')", RuntimeError, "erase node failed, node input_x not in function ast tree."),
    ("t.replace(3, [])", TypeError, "the type of 'old_node' should be 'Node', but got type 'int'."),
    (
        "t.replace(act, 3)",
        TypeError,
        "the type of 'new_nodes' should be one of '['list', 'tuple']', but got type 'int'.",
    ),
    ("t.replace(act, [3])", TypeError, "the type of 'new_nodes' should be Node, but got '3' with type 'int'."),
    ("t.replace(act, [])", ValueError, "at least one new node"),
    ("list(t.nodes(3))", TypeError, "For 'nodes', the type of 'all_nodes' should be 'bool', but got type 'int'."),
    ("t.unique_name(3)", TypeError, "For 'SymbolTree', the type of 'name' should be 'str', but got type 'int'."),
    ("call(3)", TypeError, "the type of 'cell' should be one of '['Cell', 'Primitive']', but got type 'int'."),
    ("make(nn.ReLU(), 'x')", TypeError, "'targets' should be one of '['list', 'tuple']', but got type 'str'."),
    ("make(nn.ReLU(), [3])", TypeError, "be one of ['ScopedValue', 'str'], but got '3' with type 'int'."),
    ("make(nn.ReLU(), ['x'], [3])", TypeError, "'args' should be ScopedValue, but got '3' with type 'int'."),
    ("make(nn.ReLU(), ['x'], None, {'a': 3})", TypeError, "'kwargs' should be ScopedValue, but got '3' with"),
    ("make(nn.ReLU(), ['x'], None, {3: names('x')[0]})", TypeError, "'kwargs' should be str, but got '3' with"),
    ("Node.create_call_function(3, ['x'])", TypeError, "'['function', 'type', 'builtin_function_or_method']', but got"),
    ("Node.create_input(3)", TypeError, "For 'Node', the type of 'param_name' should be 'str', but got type 'int'."),
    ("act.set_arg(5, 'x')", ValueError, "The 'index' must be in range of [0, 1), but got 5 with type 'int'."),
    ("act.set_arg('a', 'x')", TypeError, "For 'Node', the type of 'index' should be 'int', but got type 'str'."),
    ("act.set_arg(0, 3)", TypeError, "'arg' should be one of '['ScopedValue', 'str']', but got type 'int'."),
    ("act.set_arg_by_node(0, 'act')", TypeError, "the type of 'src_node' should be 'Node', but got type 'str'."),
    ("act.set_arg_by_node(3, act)", ValueError, "The 'arg_idx' must be in range of [0, 1), but got 3 with type 'int'."),
    ("ScopedValue.create_naming_value(3)", TypeError, "the type of 'name' should be 'str', but got type 'int'."),
    ("names('a', 3)", TypeError, "For 'ScopedValue', the type of 'names' should be str, but got '3' with type 'int'."),
    ("ScopedValue.create_name_values(['a'], ['b', 'c'])", ValueError, "Length of names should be equal to length of"),
]


@pytest.mark.parametrize(("done", "error", "message"), WRONG)
def test_what_is_wrong_is_said(done: str, error: type[Exception], message: str) -> None:
    tree = SymbolTree.create(Net())
    known = {
        "t": tree,
        "act": tree.get_node("act"),
        "other": SymbolTree.create(Branch()),
        "make": Node.create_call_cell,
    }
    with pytest.raises(error) as caught:
        eval(done, globals(), known)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (2, ValueType.ConstantValue, "2"),
        (None, ValueType.ConstantValue, "None"),
        ((1, "a"), ValueType.TupleValue, "Illegal ValueType: ValueType.TupleValue"),
        ([1], ValueType.ListValue, "Illegal ValueType: ValueType.ListValue"),
        ({"a": 1}, ValueType.DictValue, "Illegal ValueType: ValueType.DictValue"),
        (len, ValueType.CustomObjValue, "CustomObj: <built-in function len>"),
    ],
)
def test_values(value: Any, kind: ValueType, text: str) -> None:
    made = ScopedValue.create_variable_value(value)
    assert (made.type, made.scope, str(made)) == (kind, "", text)
    assert made == ScopedValue.create_variable_value(value)
    assert hash(made) == hash(ScopedValue.create_variable_value(value))
