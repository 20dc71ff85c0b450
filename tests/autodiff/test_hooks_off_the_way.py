"""Hooks and rules of the program on what only some runs compute from what is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Parameter, Tensor, grad, jit, nn, ops

LOG: list[Any] = []


def hook(g: Any) -> Any:
    LOG.append(("hook", g))
    return g * 2


class Rule(nn.Cell):
    """Has a rule of its own, which says when it runs."""

    def construct(self, v: Any) -> Any:
        return v * 3

    def bprop(self, v: Any, out: Any, dout: Any) -> Any:
        LOG.append(("rule", dout))
        return (dout * 3,)


RULE = Rule()
KEPT: list[Any] = []


def replaced(x: Any, y: Any) -> Any:
    w = x * 2
    if y[0] > 0:
        w = y * 3
    w.register_hook(hook)
    return (w * y).sum()


def replaced_input(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        x = y
    v = x * 3
    float(v.sum().asnumpy())
    v.register_hook(hook)
    return (v * v).sum()


def hook_on_a_side(x: Any, y: Any) -> Any:
    if x.sum() > 0:
        x = y
    v = x * 3
    if v[0] < 5:
        v.register_hook(hook)
    return (v * x).sum()


def computed_behind_a_break(x: Any, y: Any) -> Any:
    w = x * 2
    if y[0] > 0:
        w = y * 3
    float(w.sum().asnumpy())
    v = w * 5
    u = (v + 1) * x.sum()
    v.register_hook(hook)
    return (u * v).sum()


def rule_behind_a_break(x: Any, y: Any) -> Any:
    w = x * 2
    if y[0] > 0:
        w = y * 3
    float(w.sum().asnumpy())
    return (RULE(w * 5) * y).sum() + x.sum()


def kept(x: Any, y: Any) -> Any:
    w = x * 2
    if y[0] > 0:
        w = y * 3
    KEPT.append(w)
    w.register_hook(hook)
    return (w * y).sum()


def in_a_loop(x: Any, y: Any) -> Any:
    w = y * 1
    total = x.sum() * 0
    for k in range(3):
        if y[k % 2] > k - 1:
            w = w * x
        float(w.sum().asnumpy())
        w.register_hook(hook)
        total = total + (w * y).sum()
    return total


def after_a_loop_on_a_tensor(x: Any, y: Any) -> Any:
    w, n = y * 1, y[0] * 10
    while n > 1:
        w = w + x
        n = n - 2
    float(n.asnumpy())
    w.register_hook(hook)
    return (w * w).sum()


PROGRAMS = [
    replaced, replaced_input, hook_on_a_side, computed_behind_a_break, rule_behind_a_break, kept, in_a_loop,
    after_a_loop_on_a_tensor,
]  # fmt: skip


def observed(call: Callable[..., Any]) -> list[Any]:
    """What a gradient gives, and what code of the program sees, for inputs on both sides of all conditions."""
    found = []
    for a, b in ((0.3, 0.5), (-0.3, -0.5), (0.3, -0.5), (-0.3, 0.5), (0.4, 0.25)):
        LOG.clear()
        KEPT.clear()
        gradients = call(Tensor([a, 2 * a]), Tensor([b, b + 0.125]))
        given = gradients if isinstance(gradients, tuple) else (gradients,)
        seen = [(what, g.tolist()) for what, g in LOG]
        found.append(([[round(v, 4) for v in g.tolist()] for g in given], seen, [t.tolist() for t in KEPT]))
    return found


@pytest.mark.parametrize("positions", [0, 1, (0, 1)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_they_run_where_a_gradient_passes(program: Any, positions: Any) -> None:
    expected = observed(grad(program, positions))
    assert observed(grad(jit(program), positions)) == expected
    assert observed(jit(grad(program, positions))) == expected


def test_weights() -> None:
    p, q = (Parameter(Tensor([v, v + 1]), name=name) for name, v in (("p", 1.0), ("q", 2.0)))

    def program(x: Any, y: Any) -> Any:
        w = x * p if y[0] > 0 else x * 2
        float(w.sum().asnumpy())
        w.register_hook(hook)
        return (w * q).sum()

    def of(function: Any) -> Any:
        return lambda x, y: grad(function, None, [p, q])(x, y)

    expected = observed(of(program))
    assert [bool(seen) for _, seen, _ in expected] == [True, False, False, True, True]
    assert observed(of(jit(program))) == expected
    assert observed(jit(of(program))) == expected


def test_a_hook_on_the_result_of_a_compiled_function() -> None:
    @jit
    def compiled(x: Any, y: Any) -> Any:
        w = ops.exp(x)
        if y[0] > 0:
            w = y * 3
        return w, w * y

    def program(x: Any, y: Any) -> Any:
        w, other = compiled(x, y)
        w.register_hook(hook)
        return (w * other).sum()

    plain = compiled.__wrapped__

    def eager(x: Any, y: Any) -> Any:
        w, other = plain(x, y)
        w.register_hook(hook)
        return (w * other).sum()

    assert observed(grad(program)) == observed(grad(eager))


def test_what_raises_there_does_not_run() -> None:
    def fails(g: Any) -> Any:
        raise KeyError("no gradient comes here")

    def program(x: Any, y: Any) -> Any:
        w = x * 2
        if y[0] > 0:
            w = y * 3
        w.register_hook(fails)
        return (w * y).sum() + x.sum()

    for f in (grad(program), grad(jit(program)), jit(grad(program))):
        for _ in range(2):
            assert f(Tensor([0.5, 1.0]), Tensor([1.0, 1.0])).tolist() == [1.0, 1.0]
            with pytest.raises(KeyError, match="no gradient comes here"):
                f(Tensor([0.5, 1.0]), Tensor([-1.0, 1.0]))


def _first(y: Any, x: Any) -> Any:
    return y * 1, ops.sin(y * x)


def _second(t: Any, u: Any, x: Any) -> Any:
    return t.sum() + u.sum() + ops.maximum(t, x).sum()


@pytest.mark.parametrize("wholly", [False, True])
@pytest.mark.parametrize("first", [_first, jit(_first)])
@pytest.mark.parametrize("second", [_second, jit(_second)])
def test_of_a_graph_of_which_another_result_leads_on(first: Any, second: Any, wholly: bool) -> None:
    """In the outer gradient nothing goes back through `t`, which the graph has not computed from `x`."""

    def program(x: Any, y: Any) -> Any:
        t, u = first(y, x)
        t.register_hook(lambda g: LOG.append(("hook", g * 1)))
        return second(t, u, x)

    def outer(x: Any, y: Any) -> Any:
        return (weft.vjp(lambda q: program(x, q), y)[1](Tensor(1.0))[0] * x).sum()

    compute = jit(grad(outer)) if wholly else grad(outer)
    for x, y in ((Tensor([0.5, -0.25]), Tensor([-0.5, 0.25])), (Tensor([1.0, 2.0]), Tensor([3.0, 1.0]))):
        LOG.clear()
        compute(x, y)
        assert [g.tolist() for _, g in LOG] == [
            [2.0 if b > a else 1.0 for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        ]


def _sees(g: Any) -> None:
    LOG.append(("hook", g * 1))


def _sliced(x: Any, y: Any) -> Any:
    u = y * y * x
    t = x * 1
    v = t[1:]
    v.register_hook(_sees)
    return u.sum() + v.sum()


def _on_both_sides(x: Any, y: Any) -> Any:
    t = x * 1
    if y.sum() > 0.1:
        t = x * 2
    float(t.sum().asnumpy())
    t.register_hook(_sees)
    return (x * y).sum() + t.sum()


@pytest.mark.parametrize("program", [_sliced, _on_both_sides])
def test_an_inner_gradient_passes_what_leads_to_its_own_inputs(program: Any) -> None:
    def twice(f: Any) -> Any:
        return lambda x, y: grad(lambda a: (grad(lambda b: f(a, b))(y) * a).sum())(x)

    for compute in (twice(program), twice(jit(program)), jit(twice(program))):
        for y in ([0.5, -0.3, -0.8], [-0.5, 0.3, 0.8]):
            LOG.clear()
            compute(Tensor([0.5, -0.3, 0.8]), Tensor(y))
            assert LOG == []
