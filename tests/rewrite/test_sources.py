"""A function is read where it was defined, and stays whole where that is not possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rewrite.written import X, same, written
from weft.rewrite import NodeType, SymbolTree

NET = "class Net(nn.Cell):\n    def construct(self, x):\n        return "
#: lambdas on a line that begins with a def
LAMBDAS = {
    "a default": "class Net(nn.Cell):\n    def __init__(self, act=lambda v: v * 3):\n        super().__init__()\n"
    "        self.act = act\n    def construct(self, x):\n        return self.act(x)\n",
    "made by a function": f"def make(): return lambda v: v * 3\nT = make()\n{NET}T(x)\n",
    "in a default": f"def shift(v, by=[lambda v: v * 3]): return v + 1\nF = shift.__defaults__[0][0]\n{NET}F(x)\n",
    "by a condition": f"def pick(v): return (lambda v: v * 3) if isinstance(v, str) else v\nG = pick('')\n{NET}G(x)\n",
    "an attribute": "class Net(nn.Cell):\n    def __init__(self): super().__init__(); self.f = lambda v: v * 3\n"
    "    def construct(self, x):\n        return self.f(x)\n",
}


@pytest.mark.parametrize("text", LAMBDAS.values(), ids=LAMBDAS)
def test_a_lambda_is_called_as_it_is(text: str, tmp_path: Path) -> None:
    net = written(tmp_path, text).Net()
    same(SymbolTree.create(net).get_network()(X), X * 3)


@pytest.mark.parametrize(
    "body",
    [
        "        y = x * 2\n#       y = y + 1\n        return y\n",
        '        """Doubles\nx."""\n        return x * 2\n',
        "        return (x *\n2)\n",
        "        y = '''\n'''\n        return x * 2\n",
    ],
    ids=["a comment", "a docstring", "an expression", "a text"],
)
def test_lines_begin_anywhere(body: str, tmp_path: Path) -> None:
    text = f"class Net(nn.Cell):\n    def construct(self, x):\n{body}"
    tree = SymbolTree.create(written(tmp_path, text).Net())
    assert "mult" in tree.get_code() or tree.get_node("binop_mult") is not None
    same(tree.get_network()(X), X * 2)


DECORATORS = """
def plain(f):
    def g(self, x): return f(self, x) + 1
    return g
def plus(k):
    def around(f):
        @functools.wraps(f)
        def g(self, x): return f(self, x) + k
        return g
    return around
def other(self, x):
    return x * 50
class Plain(nn.Cell):
    @plain
    def construct(self, x): return x * 2
class Patched(nn.Cell):
    def construct(self, x): return x
Patched.construct = other
class Body(nn.Cell):
    K = 2
    deco = plus(5)
    @deco
    def h(self, x): return x * 2
    @plus(K)
    def construct(self, x): return self.h(x)
def make():
    deco = plus(5)
    class Local(nn.Cell):
        @deco
        def construct(self, x): return x * 2
    return Local()
class Later(nn.Cell):
    def construct(self, x): return x
Later.construct = plus(7)(Later.construct)
class Outer(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def construct(self, x): return self.part(x)
"""


@pytest.mark.parametrize("name", ["Plain", "Patched", "Body"])
def test_decorators_are_those_of_the_class(name: str, tmp_path: Path) -> None:
    module = written(tmp_path, DECORATORS)
    net = getattr(module, name)()
    same(SymbolTree.create(net).get_network()(X), net(X))
    same(SymbolTree.create(module.Outer(net)).get_network()(X), net(X))


@pytest.mark.parametrize(("make", "reason"), [("make", "has the decorator deco"), ("Later", "after it was defined")])
def test_what_cannot_be_decorated_again_stays_whole(make: str, reason: str, tmp_path: Path) -> None:
    module = written(tmp_path, "deco = None\n" + DECORATORS)
    net: Any = getattr(module, make)()
    with pytest.raises(RuntimeError, match=f"cannot be rewritten: .*{reason}"):
        SymbolTree.create(net)
    tree = SymbolTree.create(module.Outer(net))
    assert tree.get_node("part").get_node_type() is NodeType.CallCell  # type: ignore[union-attr]
    same(tree.get_network()(X), net(X))


@pytest.mark.parametrize("edit", [("x * 2", "x * 7"), ("x * 2", "x * 2.0"), ("x * 2", "x + 2"), ("K)", "L)")])
def test_a_file_that_was_edited_since_is_none_of_the_network(edit: tuple[str, str], tmp_path: Path) -> None:
    text = "K = L = 3\nclass Net(nn.Cell):\n    def construct(self, x):\n        return (lambda v: v + K)(x * 2)\n"
    module = written(tmp_path, text)
    net, file = module.Net(), Path(module.__file__)
    SymbolTree.create(net)
    file.write_text(file.read_text().replace(*edit) + "# edited\n")
    with pytest.raises(RuntimeError, match="edited after it was imported"):
        SymbolTree.create(net)
    file.write_text(file.read_text().replace(*reversed(edit)))
    same(SymbolTree.create(net).get_network()(X), X * 2 + 3)
