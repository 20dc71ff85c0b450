"""Names of the generated module mean what they mean in the program, whatever was inserted."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import weft.mindspore  # noqa: F401
from tests.rewrite.written import X, lines, named, names, same, written
from weft import Tensor, nn, ops
from weft.rewrite import Node, ScopedValue, SymbolTree

TWICE = """
def twice(v):
    w = ops.relu(v)
    return w * 2
"""
EVERYWHERE = """
class Net(nn.Cell):
    def construct(self, x):
        a = twice(x)
        b = twice(x) if x.shape[0] else a
        c = [twice(v) for v in (x,)][0]
        def inner(v): return twice(v)
        d = list(map(twice, [x]))[0]
        x += twice(x)
        e = (lambda twice: twice)(1)
        assert twice(x) is not None and e == 1
        return a, b, c, inner(d), (lambda v: twice(v))(d), twice(*[d])
"""
SMALL = "class Net(nn.Cell):\n    def construct(self, x):\n        y = x * 2\n        return y\n"


def test_a_rewritten_function_is_the_one_of_every_mention(tmp_path: Path) -> None:
    tree = SymbolTree.create(written(tmp_path, TWICE + EVERYWHERE).Net())
    node = tree.get_node("binop_mult")
    assert node is not None
    node.set_arg(1, ScopedValue.create_variable_value(100))
    assert [each.sum().asnumpy().item() for each in tree.get_network()(X)] == [1e2, 1e2, 1e2, 1e4, 1e4, 1e4]


def test_a_function_of_another_module_is_renamed_in_its_users(tmp_path: Path) -> None:
    home = written(tmp_path, TWICE).__name__
    text = f"import {home}\nfrom {home} import twice as tw\nclass Net(nn.Cell):\n    def construct(self, x):\n"
    text += f"        twice = {home}.twice(x)\n        return [tw(v) for v in (twice,)][0]\n"
    tree = SymbolTree.create(written(tmp_path, text).Net())
    tree.get_node("binop_mult").set_arg(1, ScopedValue.create_variable_value(3))  # type: ignore[union-attr]
    same(tree.get_network()(X), ops.relu(X) * 9)


@pytest.mark.parametrize("target", ["tanh", "y"])
def test_no_variable_has_the_name_of_an_inserted_function(target: str, tmp_path: Path) -> None:
    tree = SymbolTree.create(written(tmp_path, SMALL).Net())
    tree.insert(tree.after("binop_mult"), Node.create_call_function(ops.tanh, [target], names("y")))
    tree.insert(tree.after("tanh"), Node.create_call_function(ops.abs, ["tanh"], names(target)))
    tree.set_output(0, "tanh")
    same(tree.get_network()(X), ops.abs(ops.tanh(X * 2)))


def test_functions_of_python_keep_their_names(tmp_path: Path) -> None:
    text = SMALL.replace("x * 2", "x * abs(-2)")
    tree = SymbolTree.create(written(tmp_path, text).Net())
    tree.insert(tree.after("binop_mult"), Node.create_call_function(ops.abs, ["y"], names("y")))
    same(tree.get_network()(X), ops.abs(X * 2))


def test_names_are_looked_up_when_the_network_is_made(tmp_path: Path) -> None:
    module = written(tmp_path, "K = 3.0\n" + SMALL.replace("x * 2", "x * SCALE + late(x)"))
    tree = SymbolTree.create(module.Net())
    module.SCALE, module.late = 4.0, lambda x: x
    same(tree.get_network()(X), X * 5)
    tree.get_node("binop_add").set_arg(1, "K")  # type: ignore[union-attr]
    same(tree.get_network()(X), X * 4 + 3)


@pytest.mark.parametrize("name", ["sub.fc", "layer-1", "my cell", "class", "0", "__init__"])
def test_what_is_no_name_of_an_attribute_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="For 'Node', 'name' should"):
        Node.create_call_cell(nn.Tanh(), ["y"], names("y"), name=name)


STARS = """
class Net(nn.Cell):
    def construct(self, x, **kw):
        z = ops.add(*[x, x])
        w = ops.clamp(z, **kw)
        a, *b = first(w, z, x)
        c, (d, e) = second(a, b)
        w[0] = a[0]
        return w + d + e
def first(*all): return all
first = functools.partial(first)
second = functools.partial(lambda a, b: (a, b))
"""


def test_a_node_can_be_made_again_of_what_it_says(tmp_path: Path) -> None:
    tree = SymbolTree.create(written(tmp_path, STARS).Net())
    for name in ("add", "clamp", "first", "second"):
        node = tree.get_node(name)
        assert node is not None
        function = node.get_instance()
        new = Node.create_call_function(function, node.get_targets(), node.get_args(), node.get_kwargs())
        tree.replace(node, [new])
        assert str(new.get_kwargs()) == ("{'**kw': kw}" if name == "clamp" else "{}")
    item = tree.get_node("subscript_var")
    assert item is not None
    tree.replace(item, [Node.create_call_function(abs, item.get_targets(), item.get_args())])
    text = "\n".join(lines(tree))
    for line in ("z = add(*[x, x])", "w = clamp(z, **kw)", "a, *b = ", "c, (d, e) = ", "w[0] = abs(a[0])"):
        assert f"\n{line}" in text
    assert tree.get_network()(X, min=0.5).shape == (1, 2)
    assert named(tree.get_network()) == []


def test_inserted_functions_of_the_library_are_imported(tmp_path: Path) -> None:
    offered = importlib.import_module("mindspore.ops")
    for function in (offered.relu, offered.softmax, ops.relu, ops.tanh):
        tree = SymbolTree.create(written(tmp_path, SMALL).Net())
        tree.insert(tree.after("binop_mult"), Node.create_call_function(function, ["y"], names("y")))
        (line,) = [each for each in lines(tree) if each.endswith(f"import {function.__name__}")]
        bound: dict[str, object] = {}
        exec(line, bound)
        assert bound[function.__name__] is function


@pytest.mark.parametrize("name", ["class", "None", "a b", "<lambda>", "1st"])
def test_what_functions_and_classes_are_called_need_be_no_names(name: str, tmp_path: Path) -> None:
    def four(v: Tensor) -> Tensor:
        return v * 4

    four.__name__ = name
    small = written(tmp_path, SMALL).Net
    tree = SymbolTree.create(type(name, (small,), {})())
    tree.insert(tree.after("binop_mult"), Node.create_call_function(four, ["y"], names("y")))
    same(tree.get_network()(X), X * 8)


LATER = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.two = 2
    def __getattr__(self, name):
        return 3 if name in ("dyn", "dyn_1") or name.startswith("part") else super().__getattr__(name)
    def construct(self, x):
        y = x * self.two
        self.last = y * self.dyn
        self.keep(y)
        setattr(self, "set", y)
        return self.last + self.kept + self.set
    def keep(self, y):
        def inner(z): self.kept = z
        inner(y)
"""


@pytest.mark.parametrize("name", ["last", "kept", "set", "dyn", "part", "two", "construct"])
def test_an_attribute_that_comes_later_is_taken(name: str, tmp_path: Path) -> None:
    tree = SymbolTree.create(written(tmp_path, LATER).Net())
    node = Node.create_call_cell(nn.ReLU(), ["y"], names("y"), name=name)
    assert tree.insert(tree.after("binop_mult"), node).get_name() == f"{name}_{2 if name == 'dyn' else 1}"
    same(tree.get_network()(X), ops.relu(X * 2) * 5)
