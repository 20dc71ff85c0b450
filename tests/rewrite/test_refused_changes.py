"""What is refused leaves a tree as it was, and is said where it is asked for."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from tests.rewrite.written import X, lines, named, names, same, written
from weft import Tensor, nn, ops
from weft.rewrite import Node, PatternEngine, PatternNode, Replacement, ScopedValue, SymbolTree

VALUE, NAMED = ScopedValue.create_variable_value, ScopedValue.create_naming_value


def twice(v: Tensor) -> Tensor:
    w = ops.relu(v)
    return w


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        y = twice(x)
        y = self.fc(y)
        y = self.fc(y)
        z = y * 2
        return z


def dense(target: str = "y", name: str = "more") -> Node:
    return Node.create_call_cell(nn.Dense(2, 2), [target], names(target), name=name)


def function(targets: Any = ("y",), kwargs: Any = None) -> Node:
    return Node.create_call_function(ops.abs, list(targets), names("y"), kwargs)


def test_what_was_erased_is_not_in_the_network() -> None:
    tree = SymbolTree.create(Net())
    code = tree.get_code()
    node = tree.insert(tree.after("twice"), dense())
    assert named(tree.get_network()) == ["more.weight", "more.bias"]
    tree.erase(node)
    assert tree.get_code() == code
    assert named(tree.get_network()) == []
    tree.insert(tree.after("twice"), node)
    assert named(tree.get_network()) == ["more.weight", "more.bias"]


class Same(Replacement):
    """Gives one node for all matches."""

    node = function()

    def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
        return [self.node]


def test_refused_changes_leave_the_tree_as_it_was() -> None:
    tree = SymbolTree.create(Net())
    code, node = tree.get_code(), function()
    with pytest.raises(RuntimeError, match="no method of a cell"):
        tree.insert(tree.after("relu"), dense("w"))
    with pytest.raises(ValueError, match="inserted into SymbolTree again"):
        tree.replace(tree.get_node("twice"), [node, node])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inserted into SymbolTree again"):
        PatternEngine([nn.ReLU], Same()).apply(tree)
    assert tree.get_code() == code
    assert [each.get_name() for each in tree.nodes()][1:4] == ["twice", "fc", "fc_1"]
    assert tree.insert(tree.after("fc"), node).get_name() == "abs"
    assert tree.insert(tree.after("fc"), dense()).get_name() == "more"
    assert "y = self.more(y)" in lines(tree)
    assert tree.get_network()(X).shape == (1, 2)


class Breaks(Replacement):
    """Changes all that can be changed, and then fails."""

    def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict[str, Node]) -> list[Node]:
        act = matched[pattern.name()]
        tree = act.get_symbol_tree()
        act.set_arg(0, "x")
        act.set_arg(0, VALUE(act))
        tree.insert(tree.after("input_x"), Node.create_input("mask", VALUE(3)))
        tree.replace(act, [Node.create_call_cell(Net(), ["z"], names("y"), name="more", is_sub_net=True), dense("z")])
        tree.erase("binop_mult")
        tree.insert(tree.before("return"), tree.erase("twice"))
        raise KeyError("no")


def test_all_that_a_replacement_did_is_taken_back() -> None:
    tree = SymbolTree.create(Net())
    code, used = tree.get_code(), [(each, each.get_inputs(), each.get_users()) for each in tree.nodes()]
    with pytest.raises(KeyError):
        PatternEngine([nn.ReLU], Breaks()).apply(tree)
    assert tree.get_code() == code
    assert [(each, each.get_inputs(), each.get_users()) for each in tree.nodes()] == used
    more = Node.create_call_cell(Net(), ["y"], names("y"), name="more", is_sub_net=True)
    tree.insert(tree.after("fc"), more)
    assert "y = self.more(y)" in lines(tree)
    assert more.get_sub_tree().class_name == "NetOpt_1"


REFUSED = [
    ("fc.set_arg(0, 'x y')", "'arg' should be a name, .*, but got 'x y'"),
    ("fc.set_arg(0, '')", "'arg' should be a name, .*, but got ''"),
    ("mult.set_arg(0, NAMED('*x'))", "can be starred in calls"),
    ("function(['a b'])", "'targets' should be names .*, but got 'a b'"),
    ("function(['class'])", "'targets' should be names .*, but got 'class'"),
    ("function([VALUE('x')])", "'targets' should be names .*, but got 'x'"),
    ("function([])", "'targets' should have a name"),
    ("function(kwargs={'a b': names('y')[0]})", "'kwargs' should be a name .*, but got 'a b'"),
    ("Node.create_input('a b')", "'param_name' should be a name .*, but got 'a b'"),
    ("Node.create_input('m', NAMED('fc', 'self'))", "should be a value, .*name 'self.fc'"),
    ("t.insert(t.after('input_x'), Node.create_input('x'))", "has an argument 'x' already"),
    ("t.insert(t.after('input_x'), Node.create_input('self'))", "has an argument 'self' already"),
    ("t.insert(other.after('fc'), function())", "beside fc of another tree"),
    ("t.set_output(0, 'zzz')", "nothing is named 'zzz'"),
    ("t.unique_name('a b')", "'name' should be a name such as a variable has, but got 'a b'"),
    ("mult.set_arg_by_node(0, other.get_node('fc'))", "in the same function, but fc is not"),
    ("mult.set_arg_by_node(0, t.get_node('relu'))", "in the same function, but relu is not"),
    ("mult.set_arg_by_node(0, function())", "in the tree, but abs is not"),
    ("mult.set_arg_by_node(0, t.erase('fc'))", "in the tree, but fc is not"),
    ("fc.set_arg_by_node(0, mult)", "stand before fc, but binop_mult does not"),
]


@pytest.mark.parametrize(("done", "message"), REFUSED)
def test_what_is_wrong_is_said_at_once(done: str, message: str) -> None:
    tree = SymbolTree.create(Net())
    known = {"t": tree, "fc": tree.get_node("fc"), "mult": tree.get_node("binop_mult")}
    with pytest.raises(ValueError, match=message):
        eval(done, globals(), {**known, "other": SymbolTree.create(Net())})


def test_words_of_python_are_no_names_of_variables() -> None:
    assert SymbolTree.create(Net()).unique_name("for") == "for_1"


class Held(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.seq = nn.SequentialCell(Net(), nn.ReLU())

    def construct(self, x: Tensor) -> Tensor:
        z = x * 2
        y = self.seq(z)
        return y


@pytest.mark.parametrize("kind", [Net, nn.ReLU])
def test_arguments_of_a_cell_in_a_container_are_not_set(kind: type) -> None:
    tree = SymbolTree.create(Held())
    code = tree.get_code()
    cell = next(each for each in tree.nodes(True) if each.get_instance_type() is kind)
    for change in (lambda: cell.set_arg(0, "x"), lambda: cell.set_arg_by_node(0, tree.get_inputs()[0])):
        with pytest.raises(RuntimeError, match="is a cell in a container, whose arguments cannot be set"):
            change()
    assert tree.get_code() == code


def test_an_argument_of_the_network_cannot_be_replaced() -> None:
    tree = SymbolTree.create(Net())
    with pytest.raises(RuntimeError, match="input_x is an argument of the network, which cannot be replaced"):
        tree.replace(tree.get_inputs()[0], [function()])


@pytest.mark.parametrize("types", [[3], [nn.ReLU, None]])
def test_patterns_are_of_classes_and_functions(types: list[Any]) -> None:
    with pytest.raises(TypeError, match="'match_type' should be a class or a function"):
        PatternEngine(types, Same())


LOOPS = """
class Seq(nn.SequentialCell):
    def construct(self, x):
        for c in self:
            x = c(x)
        y = x * 2
        return y
class All(nn.Cell):
    def __init__(self, *cells):
        super().__init__()
        self.one, self.two = cells
    def construct(self, x):
        for c in self.cells():
            x = c(x)
        y = x * 2
        return y
class Named(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cells = nn.CellList([nn.ReLU()])
    def construct(self, x):
        y = self.cells[0](x)
        return y
class Net(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def construct(self, x):
        y = self.part(x)
        return y
"""


@pytest.mark.parametrize("name", ["Seq", "All"])
def test_no_cell_is_inserted_among_those_that_a_cell_goes_through(name: str, tmp_path: Path) -> None:
    module = written(tmp_path, LOOPS)
    net = module.Net(getattr(module, name)(nn.ReLU(), nn.Tanh()))
    tree = SymbolTree.create(net)
    part = tree.get_node("part").get_sub_tree()  # type: ignore[union-attr]
    code = tree.get_code()
    with pytest.raises(RuntimeError, match=f"{name} goes through all its cells"):
        part.insert(part.after("binop_mult"), Node.create_call_cell(nn.Sigmoid(), ["y"], names("y"), name="sg"))
    assert tree.get_code() == code
    part.insert(part.after("binop_mult"), Node.create_call_function(ops.sigmoid, ["y"], names("y")))
    tree.insert(tree.after("part"), Node.create_call_cell(nn.Sigmoid(), ["y"], names("y"), name="sg"))
    same(tree.get_network()(X), ops.sigmoid(ops.sigmoid(net.part(X))))


def test_a_cell_is_inserted_beside_one_named_cells(tmp_path: Path) -> None:
    tree = SymbolTree.create(written(tmp_path, LOOPS).Named())
    (last,) = [node for node in tree.nodes() if "y" in map(str, node.get_targets())]
    tree.insert(tree.after(last), Node.create_call_cell(nn.Sigmoid(), ["y"], names("y"), name="sg"))
    same(tree.get_network()(X), ops.sigmoid(ops.relu(X)))
