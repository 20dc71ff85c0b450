"""Large constants and outside handles of graphs as arguments of compiled code: forward, backward, nested, mapped."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

import weft
from tests.ops.test_primitives import TABLE, differentiable, samples_of
from weft import Parameter, Tensor, jit, nn, ops
from weft.compile.carried import expose
from weft.compile.executable import Executable
from weft.core import trace as trace_module
from weft.core.dispatch import apply
from weft.core.trace import CONSTANT, OUTSIDE, Literal, Reference
from weft.errors import GraphError
from weft.ir.graph import Graph
from weft.ir.types import TensorType
from weft.ir.verifier import verify
from weft.vectorize import vmap

N = 20_000  # float32 numbers over the limit
X = np.linspace(-1, 1, N, dtype=np.float32)


@pytest.fixture
def no_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every constant counts as a large one."""
    monkeypatch.setattr(trace_module, "EMBED_LIMIT", -1)


@pytest.fixture
def op_by_op() -> Iterator[None]:
    """Run graphs without XLA compiling them whole: the operations are shared among the cases, so this is faster."""
    with jax.disable_jit():
        yield


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), 1e-5, 1e-6)


# -- every derivative rule -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_constants", "op_by_op")
@pytest.mark.parametrize("name", [name for name in TABLE if samples_of(name)])
def test_gradient_outside_of_a_compiled_primitive(name: str) -> None:
    number = next((i for i, sample in enumerate(samples_of(name)) if sample.differentiable), 0)
    probe = differentiable(name, number)

    def weighted(*operands: Any) -> Any:
        full: list[Any] = [None if x is None else Tensor(np.asarray(x)) for x in probe.inputs]
        for position, operand in zip(probe.positions, operands, strict=True):
            full[position] = operand
        results = apply(probe.primitive, tuple(full), probe.attrs)
        total = Tensor(0.0, weft.float64)
        for result, weight in zip(results if probe.primitive.multiple else (results,), probe.weights, strict=True):
            if weight is not None:
                total = total + (result * Tensor(weight)).sum()
        return total

    inputs = [Tensor(np.asarray(probe.inputs[i])) for i in probe.positions]
    positions = tuple(range(len(inputs)))
    gradient = weft.grad(weighted, positions)
    for found, wanted in zip(weft.grad(jit(weighted), positions)(*inputs), gradient(*inputs), strict=True):
        close(found, wanted)


# -- sizes over the limit --------------------------------------------------------------------------------------------

P = Parameter(Tensor(X + 2), name="p")
MASK = X > 0.3


def with_loop(x: Any) -> Any:
    i, scale = Tensor(0), Tensor(X)
    while i < 3:
        x = x * scale + x[0]
        i = i + 1
    return x


def with_branch(x: Any) -> Any:
    if x.sum() > 0:
        return x * Tensor(X) * P
    return (x - Tensor(X + 1))[:5]


def with_callee(x: Any) -> Any:
    def inner(v: Any) -> Any:
        return v * Tensor(X) + v[1]

    return weft.grad(inner)(x) * x


LARGE: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: (x * P)[0],
    "slice": lambda x: (x * P)[5:9] * x[:4],
    "split": lambda x: ops.split(x * P, N // 2)[0] * 3,
    "where": lambda x: ops.where(Tensor(MASK), x * P, Tensor(X)),
    "masked_fill": lambda x: (x * P * x).masked_fill(Tensor(MASK), 0.0),
    "gather": lambda x: ops.gather(x * x, Tensor([1, 1, 5]), 0) * P[:3],
    "constant": lambda x: x * Tensor(X) * x,
    "unused result": lambda x: ops.topk(x * P, 2)[0],
    "loop": with_loop,
    "branch": with_branch,
    "inner gradient": with_callee,
    "mapped": lambda x: vmap(lambda v: v * Tensor(X) * P + v[0])(ops.stack([x, x * x])),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_constants(name: str) -> None:
    function = LARGE[name]

    def loss(function: Any) -> Any:
        return lambda x: (function(x) ** 2).sum()

    for x in (Tensor(X), Tensor(X[::-1] + 1)):
        (value, gradients), (wanted_value, wanted) = (
            weft.value_and_grad(loss(f), 0, [P])(x) for f in (jit(function), function)
        )
        np.testing.assert_allclose(value.item(), wanted_value.item(), 1e-4)
        close(gradients[0], wanted[0])
        close(gradients[1][0], wanted[1][0])


@pytest.mark.parametrize("name", ["item", "where", "constant", "branch", "mapped", "loop"])
def test_second_derivatives_with_large_constants(name: str) -> None:
    function = LARGE[name]

    def second(function: Any) -> Any:
        inner = weft.grad(lambda x: (function(x) ** 3).sum())
        return weft.grad(lambda x: (inner(x) ** 2).sum(), 0, [P])

    (found, found_p), (wanted, wanted_p) = second(jit(function))(Tensor(X)), second(function)(Tensor(X))
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), 1e-3, 1e-3)
    np.testing.assert_allclose(found_p[0].asnumpy(), wanted_p[0].asnumpy(), 1e-3, 1e-3)


def test_graph_mode_and_a_recurrent_cell() -> None:
    net = nn.LSTM(96, 96, batch_first=True)
    x = Tensor(np.random.default_rng(0).normal(size=(4, 12, 96)).astype(np.float32))
    weights = list(net.trainable_params())

    def loss(x: Any) -> Any:
        return (net(x)[0] ** 2).sum()

    wanted = weft.value_and_grad(loss, 0, weights)(x)
    weft.set_context(mode=weft.GRAPH_MODE)
    found = weft.value_and_grad(loss, 0, weights)(x)
    for one, other in zip((found[0], found[1][0], *found[1][1]), (wanted[0], wanted[1][0], *wanted[1][1]), strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), 1e-3, 1e-3)


# -- the mechanism ----------------------------------------------------------------------------------------------------


def constant(graph: Graph, array: Any) -> Any:
    kind = TensorType.of(weft.float32, array.shape)
    return graph.add_node(CONSTANT, (), (Literal(Tensor(array)._data),), (kind,)).outputs[0]


def test_a_graph_without_them_stays_itself() -> None:
    graph = Graph("small")
    graph.outputs.append(constant(graph, X[:3]))
    assert expose(graph) == (graph, [])


def test_equal_nodes_take_one_argument_and_the_graph_is_unchanged() -> None:
    graph = Graph("twice")
    x = graph.add_param(TensorType.of(weft.float32, (N,)))
    literal = Literal(Tensor(X)._data)
    both = [graph.add_node(CONSTANT, (), (literal,), (x.type,)).outputs[0] for _ in range(2)]
    graph.outputs += [*both, x]
    before = str(graph)
    exposed, carried = expose(graph)
    assert (len(exposed.params), carried, str(graph)) == (2, [literal], before)
    verify(exposed)
    results = Executable(graph).run(Tensor(X + 1)._data)
    np.testing.assert_array_equal(results, [X, X, X + 1])


def test_compiled_code_does_not_contain_them() -> None:
    big = Tensor(np.random.default_rng(0).normal(size=N).astype(np.float32))
    function = jit(lambda x: x * Tensor(big.asnumpy()) + x[0])
    graph = Graph("one")
    x = graph.add_param(TensorType.of(weft.float32, (N,)))
    graph.outputs += graph.add_node(ops.mul.primitive, (x, constant(graph, X)), (), (x.type,)).outputs
    executable = Executable(graph)
    executable.run(Tensor(X)._data)
    text = executable.run.func.lower(*executable.run.args, Tensor(X)._data).as_text()
    assert len(text) < 2000
    close(function(Tensor(X)), Tensor(X * big.asnumpy() + X[0]))


def test_donation_beside_a_constant() -> None:
    graph = Graph("step")
    w, x = (graph.add_param(TensorType.of(weft.float32, (N,))) for _ in range(2))
    graph.outputs += graph.add_node(ops.add.primitive, (x, constant(graph, X)), (), (w.type,)).outputs
    graph.outputs += graph.add_node(ops.add.primitive, (w, x), (), (w.type,)).outputs
    executable = Executable(graph, donatable=(0,))
    first, second = Tensor(X), Tensor(X + 1)
    one, two = executable.run_donating(first._data, second._data)
    assert first._data.is_deleted()
    np.testing.assert_array_equal(one, X + 1 + X)
    np.testing.assert_array_equal(two, X + (X + 1))


def test_a_handle_is_read_when_the_graph_runs() -> None:
    handle = Tensor(X[:3])
    graph = Graph("outside")
    kind = TensorType.of(weft.float32, (3,))
    graph.outputs += graph.add_node(OUTSIDE, (), (Reference(handle),), (kind,)).outputs
    run = Executable(graph).run
    np.testing.assert_array_equal(run()[0], X[:3])
    handle.rebind(Tensor(X[3:6]))
    np.testing.assert_array_equal(run()[0], X[3:6])


def test_a_derivative_rule_may_read_a_tensor_of_the_program() -> None:
    scale = Parameter(Tensor(2.0), name="scale")

    class Scaled(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 3

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * scale,)

    net = Scaled()
    function = jit(lambda x: net(x) * x)
    for value in (2.0, 5.0, 2.0):
        scale.set_data(Tensor(value))
        found = weft.grad(function)(Tensor([4.0, -1.0]))
        assert found.tolist() == [(value + 3) * 4.0, (value + 3) * -1.0]


def test_an_unknown_operation_with_a_region_is_an_error() -> None:
    graph, region = Graph("outer"), Graph("inner")
    region.outputs.append(constant(region, X))
    graph.add_node(ops.add.primitive, (), (), (), (region,))
    with pytest.raises(GraphError, match="cannot hand anything"):
        expose(graph)


def test_constants_are_freed_with_the_compiled_function() -> None:
    function = jit(lambda x: x * Tensor(X))
    weft.grad(function)(Tensor(X))
    live = weakref.ref(function)
    del function
    gc.collect()
    assert live() is None
