"""Tensors keep their identity where a condition on a tensor decides which of several a variable holds.

The cases are generated: kinds of candidates, ways to choose, uses. Each program runs four times eagerly and compiled,
the condition alternating and the values changing. What it returns is compared by value and by which of the known
tensors it is, and so are all tensors afterwards.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import textwrap
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn, ops, value_and_grad
from weft.jit.function import compiled_of
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
    "weight": "z = y if isinstance(y, Parameter) else w\nreturn value_and_grad(lambda v: (w * u * v).sum(), 0, [z])(x)",
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
        self.o = _Plain()
        self.o.t, self.o.s = self.tensors["t"], self.tensors["s"]
        self.scope: dict[str, Any] = {
            **{name: self.tensors[name] for name in "wuab"},
            "cell": cell, "o": self.o, "items": self.items, "Tensor": Tensor, "Parameter": Parameter, "ops": ops,
            "nn": nn, "value_and_grad": value_and_grad, "vmap": weft.vmap, "jit": weft.jit, "copy": copy.copy,
            "current": None,
        }  # fmt: skip
        exec(compile(text, "<program>", "exec"), self.scope)

    def seen(self, value: Any, x: Tensor) -> Any:
        """A value as what it is: a known tensor by its name and value, others by their value."""
        if isinstance(value, Tensor):
            name = next((n for n, t in {**self.tensors, "x": x}.items() if t is value), type(value).__name__)
            return name, [float(f"{number:.4g}") for number in value.asnumpy().ravel().tolist()]
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


def check(text: str, mode: str | None, whole: bool) -> None:
    """Compare a program's eager and compiled calls.

    Args:
        text: the program.
        mode: the policy.
        whole: whether the compiled calls have no breaks.
    """
    eager, compiled = World(text), World(text)
    expected = outcome(eager, eager.scope["program"], VALUES)
    with assert_no_breaks() if whole else contextlib.nullcontext():
        assert outcome(compiled, weft.jit(compiled.scope["program"], mode=mode), VALUES) == expected


def combinations() -> list[Any]:
    """A third of the kinds of candidates with each use, the way to choose changing from one to the next."""
    ways = itertools.cycle(WAYS)
    return [
        pytest.param(candidates, way, use, id=f"{candidates}: {way}: {use}")
        for i, candidates in enumerate(CANDIDATES)
        for j, use in enumerate(USES)
        for way in [next(ways)]
        if (i + j) % 3 == 0
    ]


@pytest.mark.parametrize(("candidates", "way", "use"), combinations())
def test_a_chosen_tensor_is_the_one_that_it_is_in_eager_mode(candidates: str, way: str, use: str) -> None:
    mode = "PIJit" if len(candidates + way + use) % 3 == 0 else None
    check(program(candidates, way, use), mode, use in IN_GRAPH)


#: further programs that a graph can hold
WHOLE = {
    "one of two new ones has a second name": """
        if x.sum() > 0:
            y = x * 2
            z = y
        else:
            y = x * 3
            z = x * 4
        y[0] = 100.0
        return y, z, y is z
    """,
    "a new one is written where it was made": """
        if x.sum() > 0:
            y = x * 2
            y[0] = 5.0
        else:
            y = a
            y[0] = 7.0
        return y
    """,
    "a candidate is written on the sides": """
        if x.sum() > 0:
            y = w
            w.set_data(w + 1)
        else:
            y = u
        u.set_data(u * 2)
        return y, y * 2
    """,
    "chosen on a side": """
        if x[1] > -1:
            y = w if x[0] > 0 else u
            ops.assign(y, y + 1)
        else:
            y = u
        ops.assign(y, y * 3)
        return y is w, y
    """,
    "chosen twice": """
        y = w if x[0] > 0 else u
        z = u if x[1] > -1 else w
        ops.assign(y, y + 10)
        r = z * 1
        ops.assign(z, z * 2)
        return y, z, r, y is z
    """,
    "swapped": """
        p, q = (a, b) if x.sum() > 0 else (b, a)
        p[0] = 1.0
        q[1] = 2.0
        return p, q
    """,
    "swapped attributes": """
        o.t, o.s = (o.s, o.t) if x.sum() > 0 else (o.t, o.s)
        o.t[0] = o.t[0] + 1
        return o.t * 1
    """,
    "yielded": """
        def generate():
            y = a if x.sum() > 0 else b
            yield y
            y[0] = 5.0
            yield y
        return list(generate())
    """,
    "a comprehension": "return [t if x.sum() > 0 else w for t in (a, b)]",
    "a default": "f = lambda t=(a if x.sum() > 0 else b): t\nreturn f(), f() is a",
    "returned early": """
        if x.sum() > 1:
            return w
        y = a if x.sum() > 0 else x
        y[0] = y[0] * 2
        return y
    """,
    "an exception between": """
        y = a
        try:
            if x.sum() > 0:
                y = b
                raise ValueError
        except ValueError:
            y[0] = 1.0
        y[1] = 2.0
        return y
    """,
    "a call of a compiled function": "y = a if x.sum() > 0 else b\nreturn jit(lambda t: t * 2)(y), y",
    "a gradient and a write": """
        y = w if x.sum() > 0 else u
        r = value_and_grad(lambda v: (y * v * w).sum(), None, [w, u])(x)
        ops.assign(y, y - r[1][0])
        return r, y
    """,
    "both are trained": """
        y = w if x.sum() > 0 else u
        r = value_and_grad(lambda v: (y * v * w).sum(), None, [w, u])(x)
        for t, g in zip((w, u), r[1]):
            t.set_data(t - 0.1 * g)
        return y, y * 1
    """,
    "chosen while a gradient is taken": """
        def loss(v):
            y = w if v.sum() > 0 else u
            a[0] = 2.0
            return (y * v * w * a).sum()
        return value_and_grad(loss, 0, [w, u])(x)
    """,
    "chosen twice while a gradient is taken, and written": """
        def loss(v):
            p = a if v[0] > 100 else w
            p = w if v[0] < 1 else p
            p[0] = v[0]
            return (w * v).sum()
        return value_and_grad(loss, 0, [w])(x)
    """,
    "a parameter is written in its own gradient": """
        def loss(v):
            if v.sum() > 0:
                w[1] = 1.5
            return (w * v).sum()
        return value_and_grad(loss, 0, [w])(x)
    """,
    "written by a function of one example": """
        y = w if x.sum() > 0 else u
        def f(v):
            ops.assign(y, y + 1)
            return v * y.sum()
        return vmap(f)(x), y
    """,
    "the largest": """
        best = a
        for t in (b, w, x):
            if t.sum() > best.sum():
                best = t
        best[0] = best[0] + 1
        return best
    """,
    "copies": """
        y = a if x.sum() > 0 else b
        z, v = copy(y), Tensor(y)
        z[0] = 3.0
        v[1] = 4.0
        return y, z is y, v
    """,
    "a reshaped one": "y = a if x.sum() > 0 else b\nz = y.reshape((2,))\nz[0] = 77.0\nreturn y, z",
    "passed on twice": """
        def f(*ts, **k):
            ts[0][0] = 4.0
            return k["z"]
        y = a if x.sum() > 0 else b
        return f(y, z=y) is y, y
    """,
    "the loop may not run": """
        y = a
        while y.sum() < x.sum() * 9:
            y = y + 7
        y[0] = 50.0
        return y, y is a
    """,
    "the best so far": """
        cand, best = x, a
        while cand.sum() < 30:
            best = cand if cand[0] % 2 < 1 else best
            cand = cand + 5
        best[1] = 77.0
        return best, cand, best is cand, best is a, best is x
    """,
    "two variables hold one tensor": """
        p = q = x
        while p.sum() < 3:
            p = q = p + 3
        p[0] = 100.0
        return p, q, p is q
    """,
    "the one before": """
        prev, cur = a, x
        while cur.sum() < 3:
            prev = cur
            cur = cur + 3
        prev[0] = 100.0
        return prev, cur, prev is x
    """,
    "taking turns": """
        p, q, r = a * 1, b * 1, x.sum()
        s = p
        while r < 3:
            p, q = q, p
            r = r + 1
        p[0] = 33.0
        return p, q, s, s is p
    """,
    "written in the loop and chosen": """
        n, t = x.sum(), a
        while n < 4:
            t[0] = n
            t = b if n > 2 else a
            n = n + 2
        return t
    """,
    "a loop with break and else": """
        n, t = x.sum(), a
        while n < 3:
            t = t + 1
            if t[0] > 7:
                break
            n = n + 2
        else:
            return t
        t[1] = 9.0
        return t, a
    """,
    "a loop without end": """
        t = w
        while True:
            ops.assign(t, t + 1)
            if t.sum() > 8 + x[0]:
                return t
            t = u if t[0] > 3 else t
    """,
    "a new one written in each iteration": """
        y = x * 1
        while y.sum() < 20:
            y = y + 1.5
            y[0] = y[0] + 3
        return y
    """,
    "in a list": """
        s = [a, x]
        while s[1].sum() < 3:
            s[0] = s[1]
            s[1] = s[1] + 3
        s[0][0] = 55.0
        return s
    """,
    "a list made anew": """
        s, i = [a, b], x.sum()
        while i < 3:
            s = [s[1], s[0]]
            s[0][0] = s[0][0] + 1
            i = i + 1
        return s
    """,
    "bound in the loop": """
        n = x.sum()
        while n < 9:
            t = b if n > 2 else a
            n = n + 3
        t[0] = 5.0
        return t
    """,
    "loops in loops": """
        t, n = a, x.sum()
        while n < 3:
            m = n
            while m < 4:
                t = b if m > 1 else t
                m = m + 2
            t[0] = t[0] + 1
            n = n + 2
        return t
    """,
    "a gradient through a loop": """
        def f(v):
            t, n, total = w, v.sum(), v.sum()
            while n < 4:
                t = u if n > 2 else t
                total = total + (t * w).sum()
                n = n + 3
            return total
        return value_and_grad(f, 0, [w, u])(x)
    """,
}
#: and others that have breaks
BROKEN = {
    "an attribute of a cell": """
        cell.current = cell.p if x.sum() > 0 else cell.q
        ops.assign(cell.current, cell.current * 2)
        return cell.current
    """,
    "another type": """
        y = a if x.sum() > 0 else b
        y.set_data(y.astype("float16"))
        return y * 1
    """,
    "in place by class": """
        y = w if x.sum() > 0 else a
        y += 1
        return y
    """,
    "a key that is looked up": """
        found = {w: 1, a: 2, b: 3}
        y = a if x.sum() > 0 else b
        return found[y]
    """,
    "a pattern": """
        y = w if x.sum() > 0 else a
        match y:
            case Parameter():
                return 1
        return 2
    """,
}


@pytest.mark.parametrize("mode", [None, "PIJit"], ids=["default", "PIJit"])
@pytest.mark.parametrize("name", [*WHOLE, *BROKEN])
def test_a_program_that_chooses_does_what_python_does(name: str, mode: str | None) -> None:
    body = textwrap.indent(textwrap.dedent({**WHOLE, **BROKEN}[name]).strip("\n"), "    ")
    check(f"def program(x):\n{body}\n", mode, name in WHOLE)


def test_gradients_outside_reach_the_chosen_parameter_and_both_candidates() -> None:
    w, u = Parameter(Tensor([1.0, 2.0]), name="w"), Parameter(Tensor([3.0, 4.0]), name="u")
    choose = weft.jit(lambda x: w if x.sum() > 0 else u)
    for value, expected in ((1.0, ([2.0, 2.0], [0.0, 0.0])), (-1.0, ([0.0, 0.0], [-2.0, -2.0]))):
        x = Tensor([value, value])
        loss = lambda v: (choose(v) * v * 2).sum()  # noqa: E731
        _, gradients = value_and_grad(loss, None, [w, u])(x)
        np.testing.assert_allclose([g.asnumpy() for g in gradients], expected)


def test_tensors_that_only_the_choice_knows_are_not_told_apart() -> None:
    """Nothing asks the running graph which it is where only new tensors meet."""

    @weft.jit
    def program(x: Tensor) -> Tensor:
        y = x * 2
        if x.sum() > 0:
            y = y + 1
        return y

    x = Tensor([1.0, 2.0])
    np.testing.assert_allclose(program(x).asnumpy(), [3.0, 5.0])
    ((entry,),) = compiled_of(program).entries.values()
    assert ".item()" not in entry.source


def carried_tuple(x: Any) -> Any:
    held = (x, 1.0)
    first = held
    while held[0].sum() < 10:
        held = (held[0] + 1, 2.0)
    return held is first, held[1]


def replaced_list(x: Any) -> Any:
    held = [x]
    first = held
    while x.sum() < 10:
        x = x + 1
        if x.sum() > 8:
            held = [x]
    return held is first


@pytest.mark.parametrize("function", [carried_tuple, replaced_list])
@pytest.mark.parametrize("policy", [{}, {"mode": "PIJit"}], ids=["auto", "PIJit"])
def test_a_container_that_a_loop_carries_may_be_the_one_before_it(function: Any, policy: dict[str, Any]) -> None:
    compiled = weft.jit(function, **policy)
    for start in (1.0, 20.0, 3.0, 20.0):
        x = Tensor(np.full(2, start, np.float32))
        assert compiled(x) == function(x)
