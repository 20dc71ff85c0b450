"""The derivative API on eager tensors: flags, structures, orders, state, threads."""

from __future__ import annotations

import functools
import itertools
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.values import close
from weft.autodiff.check import check_grads
from weft.autodiff.grad import GradOperation, get_grad, grad, jvp, value_and_grad, vjp
from weft.autodiff.jacobian import hessian, jacfwd, jacrev
from weft.autodiff.session import depth, stop_gradient, unwind
from weft.core.parameters import ParameterTuple
from weft.core.tensor import Parameter, Tensor
from weft.jit import jit
from weft.ops.activation import tanh
from weft.ops.elementwise import exp, sqrt
from weft.ops.math import div, square
from weft.ops.reduce import argmax, reduce_sum
from weft.ops.shape import reshape
from weft.ops.trigonometry import cos, sin

same = functools.partial(close, rtol=1e-5)
X = np.array([1.0, 2.0, 3.0], np.float32)
Y = np.array([0.5, -1.0, 2.0], np.float32)


@pytest.mark.parametrize(("get_all", "get_by_list", "sens_param"), list(itertools.product((False, True), repeat=3)))
def test_grad_operation_flags(get_all: bool, get_by_list: bool, sens_param: bool) -> None:
    w = Parameter(Tensor(np.float32(3.0)), name="w")
    b = Parameter(Tensor(np.float32(1.0)), name="b")

    def fn(x: Any, y: Any) -> Any:
        return x * y * w + b

    s = np.array([1.0, 10.0, 100.0], np.float32) if sens_param else np.ones(3, np.float32)
    operation = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)
    function = operation(fn, ParameterTuple([w, b])) if get_by_list else operation(fn)
    arguments = (Tensor(X), Tensor(Y), *([Tensor(s)] if sens_param else []))
    result = function(*arguments)
    dx, dy, dw, db = Y * 3 * s, X * 3 * s, (X * Y * s).sum(), s.sum()
    if get_all and get_by_list:
        inputs, weights = result
    elif get_by_list:
        inputs, weights = (), result
    else:
        inputs, weights = (result if get_all else (result,)), ()
    if get_all:
        assert isinstance(inputs, tuple)
        same(inputs[0], dx)
        same(inputs[1], dy)
    elif not get_by_list:
        same(inputs[0], dx)
    if get_by_list:
        assert isinstance(weights, tuple)
        same(weights[0], dw)
        same(weights[1], db)
    assert w._node is None
    assert depth() == 0


def test_sens_by_keyword_and_number() -> None:
    operation = GradOperation(sens_param=True)
    same(operation(lambda x: x * x)(Tensor(X), sens=Tensor(Y)), 2 * X * Y)
    same(operation(lambda x: x * x)(Tensor(2.0), 3.0), 12.0)


def test_sens_of_several_outputs() -> None:
    function = GradOperation(sens_param=True)(lambda x: (x * x, {"a": x * 3}))
    same(function(Tensor(X), (Tensor(Y), {"a": Tensor(X)})), 2 * X * Y + 3 * X)
    with pytest.raises(ValueError, match="sens must have the structure"):
        function(Tensor(X), (Tensor(Y),))
    with pytest.raises(ValueError, match=r"sens has shape \(2,\)"):
        GradOperation(sens_param=True)(lambda x: x)(Tensor(X), Tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="sens_param=True needs"):
        function()


def test_single_weight_list_and_missing_weights() -> None:
    w = Parameter(Tensor(2.0), name="w")
    operation = GradOperation(get_by_list=True)
    same(operation(lambda x: x * w, w)(Tensor(3.0)), 3.0)
    same(operation(lambda x: x * w, [w])(Tensor(3.0))[0], 3.0)
    both = operation(lambda x: x * w, [w, w])(Tensor(3.0))
    same(both[0], 3.0)
    same(both[1], 3.0)
    with pytest.raises(TypeError, match="needs weights"):
        operation(lambda x: x)
    with pytest.raises(TypeError, match=r"weights\[1\] must be a Parameter"):
        operation(lambda x: x, [w, Tensor(1.0)])


def test_no_inputs() -> None:
    w = Parameter(Tensor(2.0), name="w")
    assert GradOperation(get_all=True)(lambda: w * 1)() == ()
    inputs, weights = GradOperation(get_all=True, get_by_list=True)(lambda: w * w, [w])()
    assert inputs == ()
    same(weights[0], 4.0)


def test_get_all_skips_python_arguments() -> None:
    result = GradOperation(get_all=True)(lambda x, n, y: x * n + y)(Tensor(X), 3, Tensor(Y))
    assert len(result) == 2
    same(result[0], np.full(3, 3.0))
    same(result[1], np.ones(3))


def test_keyword_arguments_pass_through() -> None:
    same(grad(lambda x, *, scale: x * scale)(Tensor(X), scale=4.0), np.full(3, 4.0))


@pytest.mark.parametrize("position", (0, 1, (0, 1), (1, 0), (1,)))
def test_positions(position: Any) -> None:
    result = grad(lambda x, y: x * x * y, position)(Tensor(X), Tensor(Y))
    expected = (2 * X * Y, X * X)
    if isinstance(position, int):
        same(result, expected[position])
    else:
        assert len(result) == len(position)
        for gradient, p in zip(result, position, strict=True):
            same(gradient, expected[p])


def test_value_grad_weights_aux_and_ids() -> None:
    w = Parameter(Tensor(X), name="net.w")

    def fn(x: Any, y: Any) -> Any:
        return x * w, y * 2

    (value, aux), (gradient, of_w) = value_and_grad(fn, 0, w, has_aux=True)(Tensor(Y), Tensor(X))
    same(value, X * Y)
    same(aux, 2 * X)
    same(gradient, X)
    same(of_w, Y)
    gradients, others = grad(fn, (0, 1), [w], has_aux=True, return_ids=True)(Tensor(Y), Tensor(X))
    assert [name for name, _ in gradients[0]] == [0, 1]
    assert gradients[1][0][0] == "net.w"
    assert isinstance(others, tuple)
    same(others[0], 2 * X)
    same(get_grad(gradients, 0), X)
    same(get_grad(gradients, 1), np.zeros(3))
    same(get_grad(gradients, w), Y)
    same(get_grad(grad(fn, 0, return_ids=True)(Tensor(Y), Tensor(X)), 0), X)
    with pytest.raises(ValueError, match="no gradient for position 7"):
        get_grad(gradients, 7)
    with pytest.raises(TypeError, match="identifier"):
        get_grad(gradients, "net.w")


def test_weights_only() -> None:
    w = Parameter(Tensor(X), name="w")
    result = grad(lambda x: x * w, None, [w])(Tensor(Y))
    assert isinstance(result, tuple)
    same(result[0], Y)
    same(grad(lambda x: x * w, None, w)(Tensor(Y)), Y)
    value, of_w = value_and_grad(lambda x: x * w, None, w)(Tensor(Y))
    same(value, X * Y)
    same(of_w, Y)


def test_refusals() -> None:
    def f(x: Any) -> Any:
        return x

    with pytest.raises(ValueError, match="nothing to differentiate"):
        grad(f, None)
    with pytest.raises(ValueError, match="out of range"):
        grad(f, 1)(Tensor(1.0))
    with pytest.raises(TypeError, match=r"argument at position 0 .* not a tensor: float 2\.0"):
        grad(f)(2.0)
    with pytest.raises(TypeError, match="grad_position must hold ints"):
        grad(f, (0, "1"))
    with pytest.raises(TypeError, match="grad_position must be an int"):
        grad(f, "0")
    with pytest.raises(ValueError, match="negative"):
        grad(f, -1)
    with pytest.raises(ValueError, match="twice"):
        grad(f, (0, 0))
    with pytest.raises(ValueError, match=r"has_aux=True .* returned a single tensor"):
        grad(f, has_aux=True)(Tensor(1.0))
    with pytest.raises(TypeError, match="function or Cell"):
        grad(3)
    with pytest.raises(TypeError, match="get_all must be a bool"):
        GradOperation(get_all=1)
    assert depth() == 0


def test_of_several_positions_those_without_tensors_are_passed_over() -> None:
    def fn(x: Any, n: Any, z: Any) -> Any:
        return n * x * z

    x, z = Tensor(X), Tensor(Y)
    for kwargs in ({"n": 2, "z": z}, {"z": z, "n": 2}):
        of_x, of_z = grad(fn, (0, 1, 2))(x, **kwargs)
        same(of_x, 2 * Y)
        same(of_z, 2 * X)
    (of_z,) = grad(fn, (2, 1))(x, 2, z)
    same(of_z, 2 * X)
    _, (of_x,) = value_and_grad(fn, (0, 1))(x, 2, z)
    same(of_x, 2 * Y)
    with pytest.raises(TypeError, match=r"argument at position 1 .* not a tensor: int 2"):
        grad(fn, 1)(x, 2, z)
    with pytest.raises(TypeError, match=r"argument at position 1 .* not a tensor: int 2"):
        grad(fn, (1,))(x, 2, z)
    with pytest.raises(ValueError, match="grad_position 3 is out of range"):
        grad(fn, (0, 3))(x, 2, z)
    assert depth() == 0


def test_nested_structures() -> None:
    def fn(batch: Any, pair: Any) -> Any:
        return batch["a"] * batch["b"][0] + pair[0] * pair[1]

    batch = {"a": Tensor(X), "b": [Tensor(Y), 7]}
    of_batch, of_pair = grad(fn, (0, 1))(batch, (Tensor(X), Tensor(Y)))
    assert list(of_batch) == ["a", "b"]
    same(of_batch["a"], Y)
    assert isinstance(of_batch["b"], list)
    same(of_batch["b"][0], X)
    assert of_batch["b"][1] == 0
    assert isinstance(of_pair, tuple)
    same(of_pair[0], Y)
    same(of_pair[1], X)


def test_output_structures_sum() -> None:
    same(grad(lambda x: (x, [x * 2, {"k": x * 3}], "text", None))(Tensor(X)), np.full(3, 6.0))


def test_output_independent_of_the_input() -> None:
    same(grad(lambda x: Tensor(5.0))(Tensor(X)), np.zeros(3))
    assert grad(lambda x: 5.0)(Tensor(X)).dtype is Tensor(X).dtype
    of_x, of_y = grad(lambda x, y: x * 2, (0, 1))(Tensor(X), Tensor(Y))
    same(of_y, np.zeros(3))
    same(of_x, np.full(3, 2.0))
    half = Tensor(X.astype(np.float16))
    assert grad(lambda x: Tensor(1.0))(half).dtype is half.dtype


def test_identity_and_repeated_output() -> None:
    same(grad(lambda x: x)(Tensor(X)), np.ones(3))
    same(grad(lambda x: (x, x))(Tensor(X)), np.full(3, 2.0))
    a, b = grad(lambda x, y: x + y, (0, 1))(Tensor(X), Tensor(X))
    assert a is not b
    a.rebind(Tensor(Y))
    same(b, np.ones(3))


def test_integer_inputs_have_gradients() -> None:
    x = Tensor(np.array([2, 3], np.int32))
    result = grad(lambda x: x * x * 2)(x)
    assert result.dtype is x.dtype
    assert result.asnumpy().tolist() == [8, 12]


def test_a_result_that_has_no_derivative() -> None:
    same(grad(lambda x: (x * x, argmax(x)))(Tensor(X)), 2 * X)


def test_same_tensor_for_two_arguments() -> None:
    x = Tensor(X)
    a, b = grad(lambda x, y: x * x * y, (0, 1))(x, x)
    same(a, 2 * X * X)
    same(b, X * X)


def test_broadcasting_and_dtypes_are_undone() -> None:
    x, y = Tensor(np.ones((2, 3), np.float16)), Tensor(np.full((3,), 2.0, np.float32))
    a, b = grad(lambda x, y: x * y, (0, 1))(x, y)
    assert (a.shape, a.dtype) == (x.shape, x.dtype)
    assert (b.shape, b.dtype) == (y.shape, y.dtype)
    same(b, np.full(3, 2.0))


def test_parameter_as_argument() -> None:
    w = Parameter(Tensor(X), name="w")
    same(grad(lambda p: p * p)(w), 2 * X)
    a, b = grad(lambda p, q: p * q * q, (0, 1))(w, w)
    assert a.shape == b.shape == (3,)
    np.testing.assert_allclose(a.asnumpy() + b.asnumpy(), 3 * X * X, rtol=1e-6)
    assert w._node is None


# -- higher orders --------------------------------------------------------------------------------------------------


def test_orders_against_jax() -> None:
    def ours(x: Any) -> Any:
        return reduce_sum(sin(x) * exp(x * 0.5) / (x * x + 1.0))

    def theirs(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * jnp.exp(x * 0.5) / (x * x + 1.0))

    a, b = ours, theirs
    for _ in range(3):
        a = (lambda f: lambda x: reduce_sum(grad(f)(x)))(a)
        b = (lambda f: lambda x: jnp.sum(jax.grad(f)(x)))(b)
        same(a(Tensor(X)), b(jnp.array(X)), rtol=1e-4)


def test_inner_gradient_sees_outer_variable() -> None:
    # d/dx [x * d/dy (x * y * y) at y = x] = d/dx [x * 2 x x]
    same(grad(lambda x: grad(lambda y: x * y * y)(x) * x)(Tensor(X)), 6 * X * X)


def test_perturbation_confusion() -> None:
    # d/dx [x * d/dy (x + y)] = d/dx x = 1
    same(grad(lambda x: x * grad(lambda y: x + y)(Tensor(1.0)))(Tensor(1.0)), 1.0)


def test_inner_weights_under_outer_gradient() -> None:
    w = Parameter(Tensor(X), name="w")

    def penalty(x: Any) -> Any:
        return reduce_sum(square(grad(lambda v: v * w * w, 0)(x)) + grad(lambda v: v * w * w, None, w)(x))

    of_x, of_w = grad(penalty, 0, w)(Tensor(Y))
    same(of_x, 2 * X)
    same(of_w, 4 * X**3 + 2 * Y)


def test_vjp() -> None:
    out, pullback = vjp(lambda x, y: (x * y, x + y), Tensor(X), Tensor(Y))
    assert isinstance(out, tuple)
    same(out[0], X * Y)
    for scale in (1.0, 2.0):
        a, b = pullback(Tensor(X * scale), Tensor(Y))
        same(a, X * scale * Y + Y)
        same(b, X * scale * X + Y)
    with pytest.raises(ValueError, match="v must have the structure"):
        pullback(Tensor(X))
    w = Parameter(Tensor(X), name="w")
    value, pullback, aux = vjp(lambda x: (x * w, x + 1), Tensor(Y), weights=[w], has_aux=True)
    same(value, X * Y)
    same(aux, Y + 1)
    inputs, weights = pullback(Tensor(np.ones(3, np.float32)))
    same(inputs[0], X)
    same(weights[0], Y)
    with pytest.raises(TypeError, match="nothing to differentiate"):
        vjp(lambda n: n, 3)


def test_pullback_inside_a_gradient() -> None:
    def fn(x: Any) -> Any:
        _, pullback = vjp(lambda v: v * v * v, x)
        return pullback(x)[0]

    same(grad(fn)(Tensor(X)), 9 * X * X)


def test_pullback_of_outside_is_linear_in_its_vector() -> None:
    _, pullback = vjp(lambda v: v * v, Tensor(X))
    same(grad(lambda u: pullback(u * u)[0])(Tensor(Y)), 4 * X * Y)


def test_pullback_outlives_an_enclosing_gradient() -> None:
    kept = []

    def fn(x: Any) -> Any:
        out, pullback = vjp(lambda v: v * v, x)
        kept.append(pullback)
        return out

    same(grad(fn)(Tensor(X)), 2 * X)
    np.testing.assert_allclose(kept[0](Tensor(Y))[0].asnumpy(), 2 * X * Y)


def test_jvp_against_jax() -> None:
    def ours(x: Any, y: Any) -> Any:
        return sin(x) * y, tanh(x * y)

    def theirs(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y, jnp.tanh(x * y)

    out, tangent = jvp(ours, (Tensor(X), Tensor(Y)), (Tensor(Y), Tensor(X)))
    expected, expected_tangent = jax.jvp(theirs, (X, Y), (Y, X))
    for a, b in zip((*out, *tangent), (*expected, *expected_tangent), strict=True):
        same(a, b)
    out, tangent, aux = jvp(lambda x: (x * x, x), Tensor(X), Tensor(Y), has_aux=True)
    same(tangent, 2 * X * Y)
    same(aux, X)
    same(jvp(lambda x: Tensor(Y), Tensor(X), Tensor(Y))[1], np.zeros(3))
    with pytest.raises(ValueError, match="v must hold a tangent for each of the 1"):
        jvp(lambda x: x, (Tensor(X),), (Tensor(X), Tensor(Y)))


def test_gradient_of_jvp() -> None:
    same(grad(lambda x: jvp(lambda v: v * v * v, x, Tensor(Y))[1])(Tensor(X)), 6 * X * Y)


@pytest.mark.parametrize("function", (jacrev, jacfwd))
def test_jacobians_against_jax(function: Any) -> None:
    def ours(x: Any, y: Any) -> Any:
        return sin(x) * y, reduce_sum(x * x * y)

    def theirs(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y, jnp.sum(x * x * y)

    result = function(ours, (0, 1))(Tensor(X), Tensor(Y))
    expected = jax.jacrev(theirs, (0, 1))(X, Y)
    for row, expected_row in zip(result, expected, strict=True):
        for block, expected_block in zip(row, expected_row, strict=True):
            same(block, expected_block)
    result, aux = function(lambda x: (x * x, x), has_aux=True)(Tensor(X))
    same(result, np.diag(2 * X))
    same(aux, X)


def test_hessian_against_jax() -> None:
    def theirs(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * x) * x[0]

    def ours(x: Any) -> Any:
        return reduce_sum(sin(x) * x) * x[0]

    same(hessian(ours)(Tensor(X)), jax.hessian(theirs)(X))
    same(jacrev(grad(ours))(Tensor(X)), jax.hessian(theirs)(X))


# -- constants ------------------------------------------------------------------------------------------------------


def test_stop_gradient() -> None:
    same(grad(lambda x: x * stop_gradient(x))(Tensor(X)), X)
    same(grad(lambda x: stop_gradient((x * x, [x]))[0] + x)(Tensor(X)), np.ones(3))
    assert stop_gradient(3) == 3


# -- state ------------------------------------------------------------------------------------------------------------


def test_written_parameter_keeps_its_value_and_no_history() -> None:
    state = Parameter(Tensor(np.zeros(3, np.float32)), name="state", requires_grad=False)
    w = Parameter(Tensor(X), name="w")

    def fn(x: Any) -> Any:
        state.set_data(state * 0.9 + x * w)
        return state * x

    for _ in range(3):
        of_x, of_w = grad(fn, 0, w)(Tensor(Y))
        assert state._node is None
        assert w._node is None
    s1 = X * Y
    s2 = 0.9 * s1 + X * Y
    s3 = 0.9 * s2 + X * Y
    same(state.value(), s3)
    same(of_x, s3 + Y * X)
    same(of_w, Y * Y)


def test_a_weight_that_the_function_writes() -> None:
    w = Parameter(Tensor(X), name="w")

    def fn(x: Any) -> Any:
        before = w * x
        w.set_data(w * 2)
        return before + w * x

    of_w = grad(fn, None, w)(Tensor(Y))
    same(of_w, 3 * Y)
    same(w.value(), 2 * X)
    assert w._node is None


def test_state_written_inside_an_inner_gradient_is_followed_by_the_outer() -> None:
    state = Parameter(Tensor(np.zeros(3, np.float32)), name="state")

    def inner(x: Any) -> Any:
        state.set_data(x * x)
        return x * 2

    def fn(x: Any) -> Any:
        gradient = grad(inner)(x)
        return state * gradient

    same(grad(fn)(Tensor(X)), 4 * X)
    assert state._node is None


def test_assigned_constant_cuts_the_gradient() -> None:
    w = Parameter(Tensor(X), name="w")

    def fn(x: Any) -> Any:
        w.set_data(Tensor(Y))
        return w * x

    same(grad(fn, None, w)(Tensor(X)), np.zeros(3))
    same(w.value(), Y)


def test_a_written_argument_is_written() -> None:
    x = Tensor(X)

    def fn(v: Any) -> Any:
        v.rebind(v * 2)
        return v * v

    same(grad(fn)(x), 8 * X)
    same(x, 2 * X)


def test_stored_intermediate_does_not_keep_the_tape() -> None:
    kept: list[Tensor] = [Tensor(np.zeros(3, np.float32))]

    def fn(x: Any) -> Any:
        kept[0] = kept[0] * 0.5 + x
        return kept[0] * x

    for _ in range(3):
        grad(fn)(Tensor(X))
    node: Any = kept[0]._node
    assert node is None or node.edges == ()


def test_exception_restores_state() -> None:
    w = Parameter(Tensor(X), name="w")

    def fn(x: Any) -> Any:
        w.set_data(w * x)
        raise KeyError("mine")

    def outer(x: Any) -> Any:
        try:
            grad(fn, 0, w)(x)
        except KeyError:
            assert depth() == 1
        return x * x

    with pytest.raises(KeyError, match="mine"):
        grad(fn, 0, w)(Tensor(Y))
    assert depth() == 0
    assert w._node is None
    same(w.value(), X * Y)
    same(grad(outer)(Tensor(Y)), 2 * Y)
    assert w._node is None
    with pytest.raises(ValueError, match="has_aux"):
        grad(lambda x: x * w, 0, w, has_aux=True)(Tensor(Y))
    assert depth() == 0
    assert w._node is None


def test_unwind_after_an_abandoned_capture() -> None:
    from weft.autodiff.session import begin

    w = Parameter(Tensor(X), name="w")
    begin((Tensor(X),), (0,), (w,))
    begin((Tensor(X),), (0,), (w,))
    unwind(0)
    assert depth() == 0
    assert w._node is None


def test_threads_do_not_share_progress() -> None:
    entered, leave = threading.Event(), threading.Event()
    depths: list[int] = []

    def slow(x: Any) -> Any:
        entered.set()
        assert leave.wait(30)
        return x * x

    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(grad(slow)(Tensor(X))))
    thread.start()
    assert entered.wait(30)
    depths.append(depth())
    same(grad(grad(lambda x: x * x * x))(Tensor(X)), 6 * X)
    leave.set()
    thread.join()
    assert depths == [0]
    same(results[0], 2 * X)


def test_many_threads() -> None:
    errors: list[BaseException] = []

    def work(scale: float) -> None:
        try:
            for _ in range(20):
                same(grad(lambda x: sin(x * scale) * x)(Tensor(X)), np.sin(X * scale) + X * scale * np.cos(X * scale))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i + 0.5,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_long_tape() -> None:
    def fn(x: Any) -> Any:
        for _ in range(3000):
            x = x + 0.001
        return x * x

    same(grad(fn)(Tensor(1.0)), 8.0, rtol=1e-3)


# -- generated programs -----------------------------------------------------------------------------------------------

_UNARY = {
    "sin": (sin, jnp.sin),
    "cos": (cos, jnp.cos),
    "tanh": (tanh, jnp.tanh),
    "exp": (lambda v: exp(tanh(v)), lambda v: jnp.exp(jnp.tanh(v))),
    "square": (square, jnp.square),
    "root": (lambda v: sqrt(v * v + 1.0), lambda v: jnp.sqrt(v * v + 1.0)),
    "flat": (lambda v: reshape(reshape(v, (-1, 1)), (-1,)), lambda v: v.reshape(-1, 1).reshape(-1)),
}
_BINARY = {
    "add": (lambda a, b: a + b, lambda a, b: a + b),
    "sub": (lambda a, b: a - b, lambda a, b: a - b),
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "div": (lambda a, b: div(a, b * b + 1.0), lambda a, b: a / (b * b + 1.0)),
    "sum": (lambda a, b: a * reduce_sum(b), lambda a, b: a * jnp.sum(b)),
}


@st.composite
def programs(draw: Any) -> list[tuple[str, int, int]]:
    steps = []
    for i in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(sorted([*_UNARY, *_BINARY])))
        steps.append((name, draw(st.integers(0, i + 1)), draw(st.integers(0, i + 1))))
    return steps


def _run(steps: list[tuple[str, int, int]], x: Any, y: Any, side: int) -> Any:
    values = [x, y]
    for name, a, b in steps:
        if name in _UNARY:
            values.append(_UNARY[name][side](values[a]))
        else:
            values.append(_BINARY[name][side](values[a], values[b]))
    return values[-1]


@given(steps=programs())
def test_generated_programs_against_jax(steps: list[tuple[str, int, int]]) -> None:
    x, y = X.astype(np.float64) * 0.3, Y.astype(np.float64) * 0.3

    def ours(a: Any, b: Any) -> Any:
        return reduce_sum(_run(steps, a, b, 0))

    def theirs(a: Any, b: Any) -> Any:
        return jnp.sum(_run(steps, a, b, 1))

    first = grad(ours, (0, 1))(Tensor(x), Tensor(y))
    for mine, expected in zip(first, jax.grad(theirs, (0, 1))(x, y), strict=True):
        same(mine, expected, rtol=1e-9, atol=1e-9)
    second = grad(lambda a, b: reduce_sum(grad(ours)(a, b) * a), (0, 1))(Tensor(x), Tensor(y))
    expected_second = jax.grad(lambda a, b: jnp.sum(jax.grad(theirs)(a, b) * a), (0, 1))(x, y)
    for mine, expected in zip(second, expected_second, strict=True):
        same(mine, expected, rtol=1e-8, atol=1e-8)


def test_check_grads_over_structures_and_modes() -> None:
    check_grads(
        lambda d, y: (sin(d["a"]) * y, {"r": d["b"][0] * y * y}),
        ({"a": Tensor(X), "b": [Tensor(Y)]}, Tensor(X)),
        order=3,
        modes=("rev", "fwd"),
    )


@pytest.mark.parametrize("policy", [lambda f: f, jit])
def test_functions_without_arguments(policy: Any) -> None:
    held = Tensor([2.0])

    def doubled() -> Any:
        return held * 2

    assert policy(lambda: grad(doubled)())() == ()
    assert policy(lambda: GradOperation()(doubled)())() == ()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        policy(lambda x: GradOperation(sens_param=True)(lambda y: y * y)(x))(held)
