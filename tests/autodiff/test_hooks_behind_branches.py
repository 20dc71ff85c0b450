"""A hook on a tensor that comes out of a branch or loop gets the whole gradient of the tensor that it is in a run."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, value_and_grad
from weft.errors import Unsupported

W = Parameter(Tensor([0.3, -0.2]), name="w")
V = Parameter(Tensor([0.5, 0.7]), name="v")
SEEN: list[Any] = []


def hook(g: Any) -> Any:
    SEEN.append(1)
    return g * g + g * 10


class Box:
    """Holds a tensor."""

    t: Any


def itself_or_equal(a: Any) -> Any:
    if a.sum() > 0:
        return a
    return a * 1


def itself_or_new(a: Any) -> Any:
    if a.sum() > 0:
        a = a * 2
    return a


def halved(a: Any) -> Any:
    for _ in range(3):
        if a.sum() < 1:
            return a
        a = a * 0.5
    return a


#: what stands between ``t = x * 2; u = t * 5; s = x * 3; c = x.sum() > 0; d = y.sum() > 0`` and
#: ``return (u * t + t * y + x + s * s).sum()``
FORMS = {
    "rebound": "if c: t = t + .5\nt.register_hook(hook)",
    "on the other side": "if c: pass\nelse: t = t * 3\nt.register_hook(hook)",
    "written": "if c: t.add_(.5)\nt.register_hook(hook)",
    "item": "if c: t[0] = .5\nt.register_hook(hook)",
    "through a view": "if c: t[:1].mul_(2)\nt.register_hook(hook)",
    "another name": "if c: t = u\nt.register_hook(hook)",
    "view of a written one": "v = t[:1]\nz = v * 3\nif c: t.mul_(2)\nv.register_hook(hook)\nu = u + z.sum()",
    "view that is written": "v = t[:1]\nz = v * 3\nif c: v.mul_(2)\nv.register_hook(hook)\nu = u + z.sum() + v.sum()",
    "view or new": "v = t[:1]\nz = v * 3\nif c: v = v * 2\nv.register_hook(hook)\nu = u + z.sum() + v.sum()",
    "view afterwards": "if c: t[0] = 1.\nw = t[:1]\nw.register_hook(hook)\nu = u + w.sum()",
    "loop": "while t.sum() > 0: t = t - 3.\nt.register_hook(hook)",
    "loop that writes": "while t.sum() > 0: t.sub_(3.)\nt.register_hook(hook)",
    "loop that uses": "while t.sum() > 0:\n    t = t - 3.; u = u + t * t\nt.register_hook(hook)",
    "loop with a check": "k = 0\nwhile t.sum() > -1 and k < 2:\n    t.sub_(2.); k = k + 1\nt.register_hook(hook)",
    "loop that runs": "while True:\n    t = t * .5; u = u + t * t\n    if t.sum() < 1: break\nt.register_hook(hook)",
    "rows": "for row in weft.ops.stack([x, x]):\n    if row.sum() < 0: break\n    t = t + row\nt.register_hook(hook)",
    "range": "for i in range(3):\n    if x.sum() * i < -1: break\n    t = t * 1.5\nt.register_hook(hook)",
    "dict": "k = {'a': t}\nif c: k['a'] = t * 2\nt = k['a']\nt.register_hook(hook)",
    "attribute": "box = Box(); box.t = t\nif c: box.t = t * 2\nt = box.t\nt.register_hook(hook)",
    "returned": "t = itself_or_equal(t)\nt.register_hook(hook)",
    "returned or made": "t = itself_or_new(t)\nt.register_hook(hook)",
    "returned from a loop": "t = halved(t)\nt.register_hook(hook)",
    "exception": "try:\n    if c:\n        t = t * 3; raise ValueError\nexcept ValueError: pass\nt.register_hook(hook)",
    "input or equal": "t = y if c else x * 1\nt.register_hook(hook)",
    "itself or equal": "t = t if c else t * 1\nt.register_hook(hook)",
    "on a side": "if c: t = t * 2\nif d: t.register_hook(hook)",
    "two branches": "if c: t = t * 2\nif d: t = t + 1\nt.register_hook(hook)",
    "nested": "if c:\n    if d: t = t * 2\n    else: t = t + u\nt.register_hook(hook)",
    "made and used on both sides": (
        "if c: t = x * 2; u = t * 5\nelse: t = x * 3; u = t * 7\nt.register_hook(hook)"
    ),
    "made and used inside": "if c:\n    t = x * 2\n    if d: u = t * t\nelse: t = x * 3\nt.register_hook(hook)",
    "written and used": "if c: t.mul_(2.); u = u + t * t\nelse: t.add_(1.)\nt.register_hook(hook)",
    "one of two": "p = t if c else s\np.register_hook(hook)",
    "written as one of two": "p = t if c else s\np.add_(1.)\nt.register_hook(hook)",
    "other one of two": "p = t if c else s\np.mul_(2.)\ns.register_hook(hook)",
    "one of two, written": "p = t if c else s\nt.mul_(2.)\np.register_hook(hook)",
    "one of one of two": "p = t if c else s\nq = p if d else u\nq.mul_(2.)\nfor r in (t, s): r.register_hook(hook)",
    "view of one of two": "v = t[:1]\nz = v * 3\np = t if c else s\np.add_(1.)\nv.register_hook(hook)\nu = u + z.sum()",
    "one of two views": "v = t[:1]\nz = v * 3\np = v if c else s[:1]\np.add_(1.)\nt.register_hook(hook)\nu = u * z",
    "swapped": "a, b = t, s\nif c: a, b = b, a\na.mul_(2.)\ns.register_hook(hook)\nu = u + a * 2 + b",
    "none": "p = None\nif c: p = t * 2\nif p is None: p = t\np.register_hook(hook)",
    "twice": "t.register_hook(hook)\nif c: t = t * 2\nt.register_hook(hook)",
    "twice, written": "t.register_hook(hook)\nif c: t.mul_(2.)\nt.register_hook(hook)",
    "twice, written through a view": (
        "v = t[1:]\nt.register_hook(hook)\nif c: v.mul_(2.)\nt.register_hook(hook)\nu = u + v"
    ),
    "written through a view after a break": (
        "v = t[1:]\nz = v * t.sum()\nfloat(x.sum().asnumpy())\nif c: v.mul_(2.)\nv.register_hook(hook)\nu = u + v * z"
    ),
    "written after a break": (
        "v = t[1:]\nz = v * t.sum()\nfloat(x.sum().asnumpy())\nif c: t.mul_(2.)\nt.register_hook(hook)\nu = u + v * z"
    ),
    "written in a loop after a break": (
        "v = t[1:]\nz = v * 3\nx[0].asnumpy()\nwhile v.sum() > 0: v.sub_(3.)\nt.register_hook(hook)\nu = u + v * z"
    ),
    "written without a gradient": (
        "k = y * 2\nv = k[1:]\nfloat(x.sum().asnumpy())\nif c: v.mul_(2.)\nk.register_hook(hook)\nu = u + v * k"
    ),
    "again": "if c: t = t * 2\nt.register_hook(hook)\nw = t * 3\nif d: t = t * .5\nt.register_hook(hook)\nu = u + w",
    "beside another": "s.register_hook(hook)\nwhile t.sum() > 0: t.sub_(3.)\nt.register_hook(hook)",
    "argument": "z = x * x\nif c: x.mul_(2.)\nx.register_hook(hook)\nu = u + z",
    "gradient inside": "if c: t = t * 2\nz = grad(lambda q: (q * q * t).sum())(x)\nt.register_hook(hook)\nu = u + z",
    "taken back": "if c: t = t * 2\nk, o = [t.register_hook(hook) for _ in 'ko']\nu.register_hook(hook)\no.remove()",
    "taken back in a branch": (
        "if c: t = t * 2\no = t.register_hook(hook)\nu = u + t * 3\nx.register_hook(hook)\nif d: o.remove()"
    ),
}  # fmt: skip

INPUTS = [([1.0, 2.0], [0.5, 1.0]), ([-1.0, -2.0], [0.5, 1.0]), ([1.0, 2.0], [-0.5, -1.0]),
          ([-1.0, 0.5], [-0.5, -1.0]), ([1.0, 2.0], [0.5, 1.0])]  # fmt: skip


def program(name: str) -> Callable[..., Any]:
    source = (
        "def f(x, y):\n    t = x * 2; u = t * 5; s = x * 3; c = x.sum() > 0; d = y.sum() > 0\n"
        + textwrap.indent(FORMS[name], "    ")
        + "\n    return (u * t + t * y + x + s * s).sum()\n"
    )
    file = f"<hooks behind branches, {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = dict(globals())
    exec(compile(source, file, "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found


def second(f: Any) -> Any:
    return grad(lambda x, y: (grad(f)(x, y) * y).sum(), (0, 1))


def inside(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def compiled(f: Any) -> Any:
        return jit(lambda x, y: of(f)(x, y))

    return compiled


def flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    return [value.asnumpy()]


def first(f: Any) -> Any:
    return value_and_grad(f, (0, 1), [W, V])


WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "outside": (first, lambda f: first(jit(f))),
    "inside": (first, inside(first)),
    "second outside": (second, lambda f: second(jit(f))),
    "second inside": (second, inside(second)),
}


@pytest.mark.parametrize("name", FORMS)
def test_it_gets_the_whole_gradient(name: str) -> None:
    for way, (eager, compiled) in WAYS.items():
        expected_of, found_of = eager(program(name)), compiled(program(name))
        for x, y in INPUTS:
            SEEN.clear()
            expected, calls = flat(expected_of(Tensor(x), Tensor(y))), len(SEEN)
            SEEN.clear()
            found = flat(found_of(Tensor(x), Tensor(y)))
            assert len(SEEN) == calls, way
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3, err_msg=way)


@pytest.mark.parametrize("way", WAYS)
def test_on_one_of_two_parameters_it_stays(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []
    monkeypatch.setitem(
        FORMS, "parameter", "p = W if c else V\nq = p * x\np.register_hook(hook)\nu = u + q * W * V * x"
    )
    for of in WAYS[way]:
        for name in "WV":
            monkeypatch.setitem(globals(), name, Parameter(globals()[name].value(), name=name))
        run, found = of(program("parameter")), []
        for x, y in INPUTS:
            SEEN.clear()
            found.append((flat(run(Tensor(x), Tensor(y))), len(SEEN)))
        outcomes.append(found)
    for (values, calls), (others, other_calls) in zip(*outcomes, strict=True):
        assert calls == other_calls
        for one, other in zip(values, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["rebound", "written", "loop that writes", "made and used on both sides", "argument"])
def test_it_is_a_break_with_the_reason(name: str) -> None:
    with pytest.raises(Unsupported, match="a hook is registered on"):
        jit(program(name), fullgraph=True)(Tensor([1.0, 2.0]), Tensor([0.5, 1.0]))
    report = weft.explain(program(name))(Tensor([1.0, 2.0]), Tensor([0.5, 1.0]))
    assert len(report.breaks) == 1


@pytest.mark.parametrize("function", [Tensor.sin, Tensor.exp, lambda x: (x * x * x).tanh()])
def test_one_that_was_used_nowhere_else_stays_in_the_graph(function: Any) -> None:
    def f(x: Any) -> Any:
        t = x * 2 if x.sum() > 0 else function(x)
        t.register_hook(hook)
        return (t * x).sum()

    for compiled in (grad(jit(f, fullgraph=True)), jit(grad(f), fullgraph=True)):
        for x in ([1.0, 2.0], [-1.0, -2.0]):
            np.testing.assert_allclose(compiled(Tensor(x)).asnumpy(), grad(f)(Tensor(x)).asnumpy(), rtol=1e-5)
