"""Gradients of symbolic tensors: the same API while a graph is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from weft import jit, ops
from weft.autodiff.custom import call_with_bprop, hook_gradient
from weft.autodiff.grad import GradOperation, grad, jvp, value_and_grad, vjp
from weft.autodiff.jacobian import jacfwd, jacrev
from weft.autodiff.session import depth, followed, stop_gradient
from weft.autodiff.tree import tensors_of
from weft.compile.lower import lower
from weft.core.tape import SYMBOL
from weft.core.tensor import Parameter, Tensor, wrap
from weft.core.trace import Trace, tracing
from weft.ops.reduce import reduce_sum
from weft.ops.trigonometry import sin

X = np.array([1.0, 2.0, 3.0], np.float32)
Y = np.array([0.5, -1.0, 2.0], np.float32)


def build(fn: Callable[..., Any], *args: Tensor, on_write: Any = None) -> tuple[Trace, Any]:
    """Trace a function on symbolic arguments; the trace and what the function returned."""
    trace = Trace("test", on_write)
    symbols = [wrap(trace.root.add_param(arg.type)) for arg in args]
    with tracing(trace):
        out = fn(*symbols)
        trace.root.outputs.extend([trace.use(tensor) for tensor in tensors_of(out)])
    return trace, out


def run(fn: Callable[..., Any], *args: Tensor) -> list[np.ndarray[Any, Any]]:
    """What a function computes as a graph."""
    before: dict[Tensor, Any] = {}
    trace, _ = build(fn, *args, on_write=lambda tensor: before.setdefault(tensor, (tensor._data, tensor._node)))
    for tensor, (data, node) in before.items():
        tensor._data, tensor._node = data, node
    outside = [tensor._data for tensor, _ in trace.externals.values()]
    return [np.asarray(a) for a in jax.jit(lower(trace.root))(*[a._data for a in args], *outside)]


def agree(fn: Callable[..., Any], *args: Tensor) -> None:
    """A function gives the same as a graph and eagerly."""
    eager = tensors_of(fn(*args))
    graph = run(fn, *args)
    assert len(eager) == len(graph) > 0
    for a, b in zip(eager, graph, strict=True):
        assert a.dtype.np_dtype == b.dtype
        np.testing.assert_allclose(a.asnumpy(), b, rtol=1e-5, atol=1e-6)
    assert depth() == 0


W = Parameter(Tensor(Y), name="w")


def f(x: Any) -> Any:
    return reduce_sum(sin(x) * x * W)


@pytest.mark.parametrize(
    "fn",
    (
        grad(f),
        grad(f, 0, W),
        value_and_grad(f, 0, [W]),
        GradOperation(get_all=True, get_by_list=True)(f, [W]),
        grad(lambda x: reduce_sum(grad(f)(x) * x)),
        grad(lambda x: reduce_sum(grad(f, None, W)(x) * x), 0, W),
        lambda x: jvp(f, x, x * 2),
        lambda x: vjp(f, x)[1](Tensor(3.0)),
        jacrev(lambda x: sin(x) * W),
        jacfwd(lambda x: sin(x) * W),
        grad(lambda x: x * stop_gradient(x * x)),
        grad(lambda x: hook_gradient(x, lambda g: g[0] * 2) * x),
        grad(lambda x: call_with_bprop(lambda x, out, dout: (x * dout * out,), lambda x: x * x, (x,)) * x),
        grad(grad(lambda x: call_with_bprop(lambda x, out, dout: (x * dout * out,), lambda x: x * x, (x,)))),
        grad(lambda x: Tensor(1.0)),
        grad(lambda x: x),
        GradOperation(sens_param=True)(lambda x: (x * 2, x)),
        grad(lambda d: d["a"][0] * d["b"]),
    ),
    ids=lambda fn: None,
)
def test_graph_agrees_with_eager(fn: Any) -> None:
    if getattr(fn, "sens", False):
        agree(lambda x: fn(x, (x, x * 3)), Tensor(X))
    elif getattr(getattr(fn, "fn", None), "__code__", None) is not None and fn.fn.__code__.co_varnames[0] == "d":
        agree(lambda x: fn({"a": [x], "b": x * 2}), Tensor(X))
    else:
        agree(fn, Tensor(X))
    assert W._node is None


def test_result_and_weights_carry_no_history() -> None:
    def fn(x: Any) -> Any:
        value, gradients = value_and_grad(f, 0, W)(x)
        assert all(t._node is SYMBOL for t in tensors_of((value, gradients)))
        assert W._node is None
        return gradients

    build(fn, Tensor(X))


def test_weights_are_read_once() -> None:
    trace, _ = build(value_and_grad(f, 0, [W]), Tensor(X))
    assert [tensor for tensor, _ in trace.externals.values()] == [W]


def test_concrete_argument_stays_an_outside_tensor() -> None:
    outside = Tensor(X)
    trace, _ = build(lambda x: grad(lambda v: v * x)(outside), Tensor(Y))
    assert [tensor for tensor, _ in trace.externals.values()] in ([], [outside])
    trace, _ = build(lambda x: grad(lambda v: v * v * x)(outside), Tensor(Y))
    assert [tensor for tensor, _ in trace.externals.values()] == [outside]


def test_a_first_derivative_leaves_no_record() -> None:
    def nodes(fn: Any) -> int:
        trace, _ = build(fn, Tensor(X))
        return len(trace.root)

    inner = nodes(grad(lambda x: x * x * x))
    # an enclosing gradient adds its own operations, but nothing is computed twice for the record
    assert inner <= 10


def test_parameter_written_in_the_forward_pass() -> None:
    state = Parameter(Tensor(np.zeros(3, np.float32)), name="state")

    def fn(x: Any) -> Any:
        def inner(v: Any) -> Any:
            state.set_data(state * 0.5 + v * v)
            return state * v

        gradient = grad(inner)(x)
        assert state._node is SYMBOL
        return gradient, state

    results = run(fn, Tensor(X))
    np.testing.assert_allclose(results[0], 3 * X * X)
    np.testing.assert_allclose(results[1], X * X)


def test_gradient_in_a_trace_under_an_eager_gradient_is_not_followed() -> None:
    seen: list[Any] = []

    def outer(x: Any) -> Any:
        def traced(v: Any) -> Any:
            result = grad(lambda u: u * u)(v)
            seen.append(result._node)
            return result

        build(traced, Tensor(X))
        return x * x

    np.testing.assert_allclose(grad(outer)(Tensor(X)).asnumpy(), 2 * X)
    assert seen == [SYMBOL]


def test_followed_keeps_the_history() -> None:
    def traced(v: Any) -> Any:
        with followed():
            assert depth() == 1
            return grad(lambda u: u * u * v)(v)

    np.testing.assert_allclose(run(traced, Tensor(X))[0], 2 * X * X)
    from weft.autodiff.session import begin, close, gradients

    def with_own_leaf(v: Any) -> Any:
        session = begin((v,), (0,))
        out = grad(lambda u: u * u * u)(session.args[0])
        (second,) = gradients(session, [out], [Tensor(np.ones(3, np.float32))])
        close(session)
        return second

    np.testing.assert_allclose(run(with_own_leaf, Tensor(X))[0], 6 * X)


def test_exception_restores_state() -> None:
    def inner(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        build(grad(inner, 0, W), Tensor(X))
    assert W._node is None
    assert depth() == 0


def test_large_seeds_are_not_embedded() -> None:
    trace, _ = build(grad(lambda x: sin(x)), Tensor(np.zeros((200, 200), np.float32)))
    assert not trace.externals
    assert all(node.op.name != "Constant" for node in trace.root.walk())


def _written_in_a_branch(v: Any) -> Any:
    if v.sum() > 0:
        ops.assign(v, v + 1)
    return v * v


def _written_in_a_loop(v: Any) -> Any:
    while v.sum() < 10:
        ops.assign(v, v + 1)
    return v * v


def _written_with_a_constant(v: Any) -> Any:
    w = v * v
    ops.assign(v, Tensor(Y))
    return w * v


@pytest.mark.parametrize("function", [_written_in_a_branch, _written_in_a_loop, _written_with_a_constant])
def test_an_argument_that_the_differentiated_function_writes_is_the_callers(function: Any) -> None:
    def program(x: Any) -> Any:
        return grad(function)(x), x * 2

    for values in (X, -X):
        x, expected = Tensor(values), Tensor(values)
        function(expected)
        found = [[*map(np.asarray, call(x := Tensor(values))), x.asnumpy()] for call in (program, jit(program))]
        for eager, compiled in zip(*found, strict=True):
            np.testing.assert_allclose(eager, compiled)
        np.testing.assert_allclose(found[0][2], expected.asnumpy())
