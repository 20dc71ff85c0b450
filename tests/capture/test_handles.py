"""Tensors keep their identity where a condition on a tensor decides which of several a variable holds.

The cases are generated: kinds of candidates, ways to choose, uses. Each program runs four times eagerly and compiled, the
condition alternating and the values changing. What it returns is compared by value and by which of the known tensors it
is, and so are all tensors afterwards.
"""

from __future__ import annotations

import itertools
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops, value_and_grad
from weft.testing import assert_no_breaks

#: what `y` may be -> how it is written, and statements before the branch
CANDIDATES = {
    "two parameters": ("w", "u", ""),
    "a parameter and a tensor": ("w", "a", ""),
    "two tensors": ("a", "b", ""),
    "an argument and a parameter": ("x", "w", ""),
    "parameters of a cell": ("cell.p", "cell.q", ""),
    "attributes": ("o.t", "o.s", ""),
    "one made before and an argument": ("m", "x", "m = x * 2"),
    "two made before": ("m", "k", "m = x * 2\nk = x + 1"),
    "a parameter and a new one": ("w", "x * 3", ""),
    "an argument and a new one": ("x + 1", "x", ""),
    "two new ones": ("x * 2", "x * 3", ""),
    "a constant and a tensor": ("k", "a", "k = Tensor([1.5, 2.5])"),
}
#: ways to choose between `A` and `B`
WAYS = {
    "expression": "y = A if x.sum() > 0 else B",
    "statement": "if x.sum() > 0:\n    y = A\nelse:\n    y = B",
    "rebinding": "y = A\nif x.sum() < 0:\n    y = B",
    "nested": "y = (A if x.sum() > 1 else B) if x.sum() > 0 else (B if x.sum() < -1 else A)",
    "function": "def choose():\n    if x.sum() > 0:\n        return A\n    return B\ny = choose()",
    "while": "y = B\ni = x.sum()\nwhile i > 0:\n    y = A\n    i = i - 2",
    "for": "y = A\nfor i in range(3):\n    if x.sum() * i < -1:\n        y = B",
    "kept": "y = A\ni = x.sum() * 0\nwhile i < 3:\n    y = B if x.sum() < i else y\n    i = i + 1",
    "break": "y = A\ni = x.sum() * 0\nwhile i < 3:\n    if x.sum() < 0:\n        y = B\n        break\n    i = i + 1",
}
#: uses of `y` that a graph can hold
IN_GRAPH = {
    "read": "return y * 2 + w",
    "returned": "return y",
    "in containers": "return [y, (y, w)], {'k': y}",
    "assigned": "ops.assign(y, y + 1)\nreturn w + u + a",
    "item written": "y[0] = 100.0\nreturn y, a * 1",
    "fill": "z = y\nz[:] = x * 2\nreturn y, z is y",
    "compared": "return y is a, y is w, y is not x, y is y",
    "branch on identity": "return a + 1 if y is a else a - 1",
    "attribute": "o.current = y\no.current[1] = 7.0\nreturn o.t * 1",
    "list": "items.append(y)\nitems[-1][0] = 3.0\nreturn y",
    "closure": "def inner():\n    y[1] = 4.0\n    return y\nreturn inner(), inner() is y",
    "global": "global current\ncurrent = y\nreturn current * 2",
    "two choices": "z = y if x.sum() > 1 else w\nz[0] = 1.0\ny[1] = 2.0\nreturn y, z, z is y",
    "written on a side": "if x.sum() > 2:\n    y[0] = 8.0\nelse:\n    w.set_data(w * 2)\nreturn y, y * 1",
    "written by the other name": "w[0] = 9.0\na[1] = 6.0\nx[0] = 5.0\nreturn y * 1, y",
    "gradient": "return value_and_grad(lambda v: (y * v * w).sum(), 0, [w, u])(x)",
    "written in a loop": "i = x.sum() * 0\nwhile i < 2:\n    y[0] = y[0] + 1\n    i = i + 1\nreturn y",
}
#: uses that are left to Python
IN_PYTHON = {
    "id": "return id(y) == id(a), id(y) == id(w), id(y) == id(x)",
    "key": "return {id(t): n for n, t in enumerate((w, u, a, b, x))}.get(id(y))",
    "hashed": "return {w: 1, u: 2, a: 3, b: 4, x: 5}.get(y, 0)",
    "looked for": "try:\n    return [w, u, y].index(y)\nexcept ValueError:\n    return -1",
    "member": "return any(t is y for t in {w, u, a, y})",
    "class": "return isinstance(y, Parameter), type(y) is Tensor",
    "in place": "y += 1\nreturn y",
    "facts": "return getattr(y, 'requires_grad', None), getattr(y, 'name', '')",
    "printed": "return str(y)",
    "optimizer": "nn.SGD([y], 0.1)((x,)) if isinstance(y, Parameter) else None\nreturn y",
    "setter": "y.set_data(y * 2)\nreturn y",
    "weight": "if not isinstance(y, Parameter):\n    return 0\nreturn value_and_grad(lambda v: (w * u * v).sum(), None, [y])(x)",
}
#: of these a graph holds some
USES = {**IN_GRAPH, **IN_PYTHON}


class Pair(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.p = Parameter(Tensor([1.0, -2.0]), name="p")
        self.q = Parameter(Tensor([-3.0, 4.0]), name="q")


class World:
    """The tensors that a program finds, and the program."""

    def __init__(self, text: str) -> None:
        cell = Pair()
        self.tensors = {
            "w": Parameter(Tensor([1.0, 2.0]), name="w"),
            "u": Parameter(Tensor([3.0, 4.0]), name="u"),
            "a": Tensor([5.0, 6.0]),
            "b": Tensor([7.0, 8.0]),
            "t": Tensor([9.0, 10.0]),
            "s": Tensor([11.0, 12.0]),
            "p": cell.p,
            "q": cell.q,
        }
        self.items: list[Any] = []
        self.o = SimpleNamespace()
        self.o = _Plain()
        self.o.t, self.o.s = self.tensors["t"], self.tensors["s"]
        self.scope: dict[str, Any] = {
            **{name: self.tensors[name] for name in "wuab"},
            "cell": cell, "o": self.o, "items": self.items, "Tensor": Tensor, "Parameter": Parameter, "ops": ops,
            "nn": nn, "value_and_grad": value_and_grad, "current": None,
        }  # fmt: skip
        exec(compile(text, "<program>", "exec"), self.scope)

    def seen(self, value: Any, x: Tensor) -> Any:
        """A value as what it is: a known tensor by its name and value, others by their value."""
        if isinstance(value, Tensor):
            name = next((n for n, t in {**self.tensors, "x": x}.items() if t is value), type(value).__name__)
            return name, value.asnumpy().tolist()
        if isinstance(value, dict):
            return {key: self.seen(item, x) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.seen(item, x) for item in value)
        return value

    def everything(self, x: Tensor) -> Any:
        """All that a program may have written."""
        held = [list(self.tensors.values()), x, self.items, self.scope["current"], vars(self.o)]
        return [self.seen(value, x) for value in held]


class _Plain:
    t: Tensor
    s: Tensor
    current: Tensor


def program(candidates: str, way: str, use: str) -> str:
    """The text of a program."""
    first, second, before = CANDIDATES[candidates]
    chosen = WAYS[way].replace("A", first).replace("B", second)
    body = textwrap.indent("\n".join((before, chosen, USES[use])), "    ")
    return f"def program(x):\n    global current\n{body.replace('    global current' + chr(10), '')}\n"


def outcome(world: World, call: Any, values: list[float]) -> list[Any]:
    """What the calls return and leave."""
    found = []
    for value in values:
        x = Tensor(np.array([value, value / 2], np.float32))
        returned = call(x)
        found.append((world.seen(returned, x), world.everything(x)))
    return found


VALUES = [1.0, -1.0, 2.0, -3.0]


def check(text: str, mode: str | None) -> None:
    eager, compiled = World(text), World(text)
    expected = outcome(eager, eager.scope["program"], VALUES)
    assert outcome(compiled, weft.jit(compiled.scope["program"], mode=mode), VALUES) == expected


def combinations() -> list[Any]:
    """Each kind of candidates with each use, the way to choose changing; of the other combinations a part."""
    ways = list(WAYS)
    found = []
    for number, (candidates, use) in enumerate(itertools.product(CANDIDATES, USES)):
        found.append((candidates, ways[number % len(ways)], use))
    return [pytest.param(*parts, id=": ".join(parts)) for parts in found]


@pytest.mark.parametrize(("candidates", "way", "use"), combinations())
def test_a_chosen_tensor_is_the_one_it_is_in_eager_mode(candidates: str, way: str, use: str) -> None:
    mode = "PIJit" if len(candidates + way + use) % 3 == 0 else None
    check(program(candidates, way, use), mode)
