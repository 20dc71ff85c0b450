"""A finished graph is differentiated like the eager program: stops, hooks and own rules are in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from weft import jit, nn
from weft.autodiff.custom import HookBackward, InsertGradientOf, call_with_bprop, cell_backward_hook
from weft.autodiff.grad import grad, value_and_grad
from weft.autodiff.registry import bprop_getters
from weft.autodiff.session import stop_gradient
from weft.autodiff.tree import tensors_of
from weft.compile.differentiate import joint_graph
from weft.compile.lower import lower
from weft.core.tensor import Parameter, Tensor, wrap
from weft.core.trace import Trace, tracing
from weft.ir.graph import Graph
from weft.ops.math import mul
from weft.ops.reduce import reduce_sum
from weft.ops.trigonometry import sin
from weft.vectorize import vmap

X = np.array([1.0, 2.0, 3.0], np.float32)
Y = np.array([0.5, -1.0, 2.0], np.float32)


def graph_of(fn: Callable[..., Any], *args: Tensor) -> Graph:
    trace = Trace("test")
    with tracing(trace):
        out = fn(*[wrap(trace.root.add_param(arg.type)) for arg in args])
        trace.root.outputs.extend([trace.use(tensor) for tensor in tensors_of(out)])
    assert not trace.externals
    return trace.root


def gradients_of_graph(graph: Graph, *arrays: Any) -> list[Any]:
    """Gradients of the sum of a graph's outputs."""
    joint = joint_graph(graph, (True,) * len(arrays), (True,) * len(graph.outputs))
    seeds = [np.ones(output.type.shape, output.type.dtype.np_dtype) for output in graph.outputs]  # type: ignore[union-attr]
    results = jax.jit(lower(joint.graph))(*arrays, *seeds)
    return [None if place is None else np.asarray(results[place[0]]) for place in joint.gradients]


def own_rule(x: Any, y: Any) -> Any:
    return call_with_bprop(lambda x, y, out, dout: (y * dout * 2 + out, sin(x) * dout), lambda x, y: x * y, (x, y))


def hooked_intermediate(x: Any, y: Any) -> Any:
    z = x * y
    z.register_hook(lambda g: g * 10)
    taken_back = z.register_hook(lambda g: g * 1000)
    taken_back.remove()
    return z * x


PROGRAMS: dict[str, Callable[..., Any]] = {
    "stop": lambda x, y: x * stop_gradient(x * y) + y,
    "own rule": own_rule,
    "own rule of a part": lambda x, y: sin(own_rule(x * x, y)) * y,
    "own rule of structures": lambda x, y: call_with_bprop(
        lambda pair, out, dout: ([dout["a"] * 3, dout["b"] * pair[0]],),
        lambda pair: {"a": pair[0] + 1, "b": pair[1] * 2},
        ([x, y],),
    ),
    "hook": lambda x, y: HookBackward(lambda g: g[0] * 2)(x) * y,
    "hook of two": lambda x, y: sum(HookBackward(lambda g: (g[1], g[0] * 5))(x * 2, y * 3)),
    "hook that looks": lambda x, y: InsertGradientOf(lambda d: None)(x) * y,
    "inserted": lambda x, y: InsertGradientOf(lambda d: d * d)(x * x) * y,
    "tensor hook": hooked_intermediate,
    "cell hooks": lambda x, y: cell_backward_hook(
        "cell",
        [lambda cell, gi, go: (gi[0] * 2 + go[0], None)],
        lambda a, b: a * b,
        (x, y),
        [lambda cell, go: (go[0] * 3,)],
    ),
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_graph_has_the_gradient_of_the_eager_program(name: str) -> None:
    fn = PROGRAMS[name]
    expected = grad(fn, (0, 1))(Tensor(X), Tensor(Y))
    found = gradients_of_graph(graph_of(fn, Tensor(X), Tensor(Y)), X, Y)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.zeros(3) if mine is None else mine, theirs.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("name", ("own rule", "stop", "inserted", "own rule of a part"))
def test_second_derivative_of_a_graph(name: str) -> None:
    fn = PROGRAMS[name]

    def first(x: Any, y: Any) -> Any:
        return [reduce_sum(g * g) for g in grad(fn, (0, 1))(x, y)]

    expected = grad(first, (0, 1))(Tensor(X), Tensor(Y))
    found = gradients_of_graph(graph_of(first, Tensor(X), Tensor(Y)), X, Y)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.zeros(3) if mine is None else mine, theirs.asnumpy(), rtol=1e-4)


def test_marks_pass_values() -> None:
    for fn in PROGRAMS.values():
        expected = tensors_of(fn(Tensor(X), Tensor(Y)))
        found = jax.jit(lower(graph_of(fn, Tensor(X), Tensor(Y))))(X, Y)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_mapped_program_has_its_gradient(name: str) -> None:
    fn = PROGRAMS[name]
    xs, ys = np.stack([X, X * 0.5]), np.stack([Y, Y * 2])
    found = grad(vmap(fn), (0, 1))(Tensor(xs), Tensor(ys))
    rows = [grad(fn, (0, 1))(Tensor(x), Tensor(y)) for x, y in zip(xs, ys, strict=True)]
    for i in range(2):
        np.testing.assert_allclose(found[i].asnumpy(), np.stack([row[i].asnumpy() for row in rows]), rtol=1e-5)


def test_registered_rule_inside_vmap() -> None:
    def fn(x: Any, y: Any) -> Any:
        return mul(x, y)

    def doubled(self: Any) -> Any:
        return lambda x, y, out, dout: (y + dout, x * 0)

    mapped = grad(vmap(fn))
    np.testing.assert_allclose(mapped(Tensor(X), Tensor(Y)).asnumpy(), Y)
    with bprop_getters.replaced(mul, doubled):
        np.testing.assert_allclose(mapped(Tensor(X), Tensor(Y)).asnumpy(), Y + 1)
    np.testing.assert_allclose(mapped(Tensor(X), Tensor(Y)).asnumpy(), Y)


class _Noted(nn.Cell):
    """Its derivative is constant, so that a call with zeros shows in the gradient too."""

    def __init__(self, name: str, log: list[str]) -> None:
        super().__init__()
        self.label, self.log = name, log

    def construct(self, v: Any) -> Any:
        return v * v

    def bprop(self, v: Any, out: Any, dout: Any) -> Any:
        self.log.append(self.label)
        return (dout * 0 + 7,)


def _chosen(a: Any, b: Any, x: Any) -> Any:
    t, u = a(x), b(x)
    return (t if x.sum() > 0 else u).sum()


def _two_results(a: Any, b: Any, x: Any) -> Any:
    return (a(x) * 2).sum(), b(x) * 3


def _in_a_loop(a: Any, b: Any, x: Any) -> Any:
    t, u = a(x), b(x)
    while x.sum() < 3:
        x = x + t
    return (x + u * 0).sum()


def _left_early(a: Any, b: Any, x: Any) -> Any:
    t = a(x)
    return x.sum() if x.sum() > 0 else (t * b(x)).sum()


@pytest.mark.parametrize("function", [_chosen, _two_results, _in_a_loop, _left_early])
def test_a_rule_is_called_where_a_gradient_arrives_and_nowhere_else(function: Any) -> None:
    log: list[str] = []
    a, b = _Noted("a", log), _Noted("b", log)

    def program(x: Any) -> Any:
        return function(a, b, x)

    def first(result: Any) -> Any:
        return result[0] if isinstance(result, tuple) else result

    compiled = jit(program)
    for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        found = []
        for call in (program, compiled):
            log.clear()
            gradient = grad(lambda v, call=call: first(call(v)))(Tensor(values))
            found.append((gradient.asnumpy().tolist(), sorted(log)))
        assert found[0] == found[1]


def _followed_on_one_path(a: Any, w: Any, x: Any) -> Any:
    v = x
    if x.max() > 1:
        v = x + w
    return (a(v) * 2).sum()


def _followed_after_a_loop(a: Any, w: Any, x: Any) -> Any:
    v = x
    while v.sum() < 3:
        v = v + w
    return a(v).sum()


@pytest.mark.parametrize("function", [_followed_on_one_path, _followed_after_a_loop])
def test_a_gradient_taken_inside_asks_a_rule_only_where_it_arrives(function: Any) -> None:
    log: list[str] = []
    noted, weight = _Noted("a", log), Parameter(Tensor([1.0, 0.5]), name="w")

    def program(x: Any) -> Any:
        return value_and_grad(lambda v: function(noted, weight, v), None, [weight])(x)

    compiled = jit(program)
    for values in ([0.5, -1.0], [2.0, 3.0], [0.25, 0.5], [4.0, 1.0]):
        found = []
        for call in (program, compiled):
            log.clear()
            result, gradients = call(Tensor(values))
            found.append((result.item(), [g.asnumpy().tolist() for g in gradients], list(log)))
        assert found[0] == found[1]
