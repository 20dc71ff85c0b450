"""Derivatives that the user writes or watches: bprop, hooks, registered rules."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from weft.autodiff.check import check_grads
from weft.autodiff.custom import (
    HookBackward,
    InsertGradientOf,
    call_with_bprop,
    cell_backward_hook,
    hook_gradient,
    register_hook,
)
from weft.autodiff.grad import grad, vjp
from weft.autodiff.registry import bprop_getters
from weft.autodiff.starts import HANDLE_HOOKS
from weft.core.operators import OPERATOR_CLASSES
from weft.core.primitive import Primitive
from weft.core.tensor import Parameter, Tensor
from weft.ops.math import mul
from weft.ops.reduce import reduce_sum
from weft.ops.trigonometry import sin

X = np.array([1.0, 2.0, 3.0], np.float32)
Y = np.array([0.5, -1.0, 2.0], np.float32)


def values(result: Any) -> Any:
    return [values(r) for r in result] if isinstance(result, (tuple, list)) else result.asnumpy().tolist()


# -- bprop ------------------------------------------------------------------------------------------------------------


def marked(x: Any, y: Any) -> Any:
    """x * y, with a derivative that is deliberately not the true one: 2 y and 3 x."""
    return call_with_bprop(lambda x, y, out, dout: (y * dout * 2, x * dout * 3), lambda x, y: x * y, (x, y))


def test_bprop_replaces_the_derivative() -> None:
    a, b = grad(marked, (0, 1))(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(a.asnumpy(), 2 * Y)
    np.testing.assert_allclose(b.asnumpy(), 3 * X)
    np.testing.assert_allclose(marked(Tensor(X), Tensor(Y)).asnumpy(), X * Y)


def test_bprop_is_differentiated_again() -> None:
    def cube(x: Any) -> Any:
        return call_with_bprop(lambda x, out, dout: x * x * dout * 3, lambda x: x * x * x, (x,))

    check_grads(lambda x: sin(cube(x)) * x, (Tensor(Y),), order=3, modes=("rev", "fwd"))


def test_second_derivative_goes_through_the_bprop() -> None:
    # d marked / dx = 2 y, so d2 / dx dy = 2
    result = grad(lambda y: grad(marked)(Tensor(X), y))(Tensor(Y))
    assert values(result) == [2.0, 2.0, 2.0]


def test_bprop_may_use_the_output() -> None:
    def exponential(x: Any) -> Any:
        from weft.ops.elementwise import exp

        return call_with_bprop(lambda x, out, dout: (out * dout,), lambda x: exp(x), (x,))

    check_grads(exponential, (Tensor(Y),), order=3)


def test_bprop_of_structures() -> None:
    def fn(pair: Any, scale: float, other: Any) -> Any:
        def forward(pair: Any, scale: float, other: Any) -> Any:
            return pair[0] * pair[1] * scale, {"o": other + 1}

        def bprop(pair: Any, scale: float, other: Any, out: Any, dout: Any) -> Any:
            assert len(out) == 2
            return (pair[1] * dout[0] * scale, pair[0] * dout[0] * scale), 0, dout[1]["o"] * 5

        return call_with_bprop(bprop, forward, (pair, scale, other))

    (a, b), c = grad(lambda p, o: fn(p, 4.0, o), (0, 1))((Tensor(X), Tensor(Y)), Tensor(X))
    np.testing.assert_allclose(a.asnumpy(), 4 * Y)
    np.testing.assert_allclose(b.asnumpy(), 4 * X)
    np.testing.assert_allclose(c.asnumpy(), np.full(3, 5.0))


def test_bprop_constants_and_none() -> None:
    def fn(x: Any, y: Any) -> Any:
        return call_with_bprop(lambda x, y, out, dout: (None, 7), lambda x, y: x * y, (x, y))

    a, b = grad(fn, (0, 1))(Tensor(X), Tensor(Y))
    assert values(a) == [0.0] * 3
    assert values(b) == [7.0] * 3


def test_bprop_mistakes() -> None:
    def with_result(result: Any) -> Any:
        return grad(lambda x, y: call_with_bprop(lambda x, y, out, dout: result, lambda x, y: x + y, (x, y)), (0, 1))(
            Tensor(X), Tensor(Y)
        )

    with pytest.raises(TypeError, match="bprop must return a tuple with a gradient for each of the 2 inputs"):
        with_result(Tensor(X))
    with pytest.raises(RuntimeError, match="3 gradients for 2 inputs"):
        with_result((Tensor(X),) * 3)
    with pytest.raises(RuntimeError, match="1 gradient for 2 inputs; None stands for"):
        with_result((Tensor(X),))
    with pytest.raises(RuntimeError, match="2 gradients for 1 input"):
        grad(lambda x: call_with_bprop(lambda x, out, dout: (dout, dout), lambda x: x * 2, (x,)))(Tensor(X))
    with pytest.raises(ValueError, match=r"gradient of shape \(2,\) for an input of shape \(3,\)"):
        with_result((Tensor([1.0, 2.0]), None))
    with pytest.raises(TypeError, match="must return a tensor as the gradient of input 0"):
        with_result(((Tensor(X),), None))


def test_weights_inside_a_custom_function_are_constants() -> None:
    w = Parameter(Tensor(X), name="w")

    def fn(x: Any) -> Any:
        return call_with_bprop(lambda x, out, dout: (dout * w,), lambda x: x * w, (x,))

    of_x, of_w = grad(fn, 0, w)(Tensor(Y))
    assert values(of_x) == X.tolist()
    assert values(of_w) == [0.0] * 3
    out = fn(Tensor(Y))
    assert out._node is None


def test_a_custom_entry_is_freed_with_its_result() -> None:
    import weakref

    def fn(x: Any) -> Any:
        rule = lambda x, out, dout: (dout,)  # noqa: E731 - only the entry holds it
        refs.append(weakref.ref(rule))
        return call_with_bprop(rule, lambda x: x * 2, (x,))

    refs: list[Any] = []
    gc.disable()
    try:
        grad(fn)(Tensor(X))
        assert refs[0]() is None
    finally:
        gc.enable()


# -- hooks ------------------------------------------------------------------------------------------------------------


def test_hook_backward_sees_and_replaces() -> None:
    seen = []

    def hook(gradients: Any) -> Any:
        seen.append(values(gradients))
        return gradients[0] * 2

    operator = HookBackward(hook)
    assert values(grad(lambda x: operator(x) * 3)(Tensor(X))) == [6.0] * 3
    assert seen == [[[3.0] * 3]]
    assert values(operator(Tensor(X))) == X.tolist()


def test_hook_backward_of_several_inputs() -> None:
    operator = HookBackward(lambda gradients: (gradients[1], None))

    def fn(x: Any, y: Any) -> Any:
        a, b = operator(x, y)
        return a * 2 + b * 5

    a, b = grad(fn, (0, 1))(Tensor(X), Tensor(Y))
    assert values(a) == [5.0] * 3
    assert values(b) == [5.0] * 3


def test_insert_gradient_of() -> None:
    clip = InsertGradientOf(lambda dx: dx * 0.5)
    assert values(grad(lambda x: clip(x * x))(Tensor(X))) == X.tolist()
    watch = InsertGradientOf(lambda dx: None)
    assert values(grad(lambda x: watch(x) * 2)(Tensor(X))) == [2.0] * 3


def test_hook_result_is_differentiated_again() -> None:
    def fn(x: Any) -> Any:
        return hook_gradient(x, lambda g: g[0] * x) * x

    # first: x * x through the hook, and x; second: 2 x, and 1 through the hook, which makes it x
    np.testing.assert_allclose(grad(fn)(Tensor(X)).asnumpy(), X * X + X)
    np.testing.assert_allclose(grad(grad(fn))(Tensor(X)).asnumpy(), 3 * X)


@pytest.mark.parametrize("make", (HookBackward, InsertGradientOf))
def test_hook_mistakes(make: Any) -> None:
    with pytest.raises(TypeError, match="must be callable"):
        make(3)
    with pytest.raises(ValueError, match=r"gradient of shape \(2,\)"):
        grad(lambda x: make(lambda g: Tensor([1.0, 2.0]))(x))(Tensor(X))
    with pytest.raises(TypeError, match="must return tensors or None"):
        grad(lambda x: make(lambda g: "text")(x))(Tensor(X))


def test_tensor_hook_on_an_intermediate() -> None:
    def fn(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda g: g * 10)
        removed = y.register_hook(lambda g: g * 1000)
        removed.remove()
        removed.remove()
        return y * 3

    assert values(grad(fn)(Tensor(X))) == [60.0] * 3


def test_tensor_hook_sees_the_whole_gradient() -> None:
    seen = []

    def fn(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda g: seen.append(values(g)))
        return y * 3 + y * 4

    grad(fn)(Tensor(X))
    assert seen == [[7.0] * 3]


def test_hook_on_an_input_and_a_parameter() -> None:
    x, w = Tensor(X), Parameter(Tensor(Y), name="w")
    with x.register_hook(lambda g: g * 2), w.register_hook(lambda g: g * 3):
        of_x, of_w = grad(lambda v: v * w, 0, w)(x)
        np.testing.assert_allclose(of_x.asnumpy(), 2 * Y)
        np.testing.assert_allclose(of_w.asnumpy(), 3 * X)
        others = grad(lambda v: v * w)(Tensor(X))
        np.testing.assert_allclose(others.asnumpy(), Y)
    of_x, of_w = grad(lambda v: v * w, 0, w)(x)
    np.testing.assert_allclose(of_x.asnumpy(), Y)
    np.testing.assert_allclose(of_w.asnumpy(), X)
    with pytest.raises(TypeError, match="hook must be callable"):
        x.register_hook(3)


def test_hooks_of_a_dead_tensor_are_forgotten() -> None:
    x = Tensor(X)
    key = id(x)
    register_hook(x, lambda g: g)
    assert key in HANDLE_HOOKS
    del x
    gc.collect()
    assert key not in HANDLE_HOOKS


def test_cell_backward_hooks() -> None:
    seen: list[Any] = []

    def hook(cell: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((cell, values(grad_input), values(grad_output)))
        return grad_input[0] * 10, None

    def pre_hook(cell: Any, grad_output: Any) -> Any:
        return (grad_output[0] * 2,)

    def fn(x: Any, y: Any) -> Any:
        return cell_backward_hook("cell", [hook], lambda a, b: a * b, (x, y), [pre_hook]) * 3

    a, b = grad(fn, (0, 1))(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(a.asnumpy(), 60 * Y)
    np.testing.assert_allclose(b.asnumpy(), 6 * X)
    assert seen == [("cell", [(6 * Y).tolist(), (6 * X).tolist()], [[6.0] * 3])]


def test_cell_backward_hook_when_only_weights_are_differentiated() -> None:
    w = Parameter(Tensor(X), name="w")
    seen = []

    def hook(cell: Any, grad_input: Any, grad_output: Any) -> None:
        seen.append((grad_input, values(grad_output)))

    result = grad(lambda x: cell_backward_hook("cell", [hook], lambda a: a * w, (x,)), None, w)(Tensor(Y))
    assert values(result) == Y.tolist()
    assert seen == [((None,), [[1.0] * 3])]


# -- registered rules -------------------------------------------------------------------------------------------------


def doubled(self: Any) -> Any:
    return lambda x, y, out, dout: (y * dout * 2, x * dout)


@pytest.mark.parametrize("form", ("class", "operator", "function", "name"))
def test_registered_rule_is_used_and_taken_back(form: str) -> None:
    kind = OPERATOR_CLASSES["Mul"]
    operator = {"class": kind, "operator": kind(), "function": mul, "name": "Mul"}[form]
    epoch = Primitive.rules_epoch
    before = values(grad(mul, (0, 1))(Tensor(X), Tensor(Y)))
    try:
        assert bprop_getters.register(operator)(doubled) is doubled
        assert bprop_getters.get(mul) is doubled
        a, b = grad(mul, (0, 1))(Tensor(X), Tensor(Y))
        np.testing.assert_allclose(a.asnumpy(), 2 * Y)
        np.testing.assert_allclose(b.asnumpy(), X)
    finally:
        bprop_getters.unregister(operator)
    assert values(grad(mul, (0, 1))(Tensor(X), Tensor(Y))) == before
    assert Primitive.rules_epoch == epoch + 2
    bprop_getters.unregister(operator)
    assert Primitive.rules_epoch == epoch + 2


def test_replaced_nests() -> None:
    def tripled(self: Any) -> Any:
        return lambda x, y, out, dout: (y * dout * 3, x * dout)

    with bprop_getters.replaced(mul, doubled):
        with bprop_getters.replaced(mul, tripled):
            assert values(grad(mul)(Tensor(1.0), Tensor(1.0))) == 3.0
        assert values(grad(mul)(Tensor(1.0), Tensor(1.0))) == 2.0
    assert values(grad(mul)(Tensor(1.0), Tensor(1.0))) == 1.0


def test_registered_rule_sees_the_attributes() -> None:
    seen = {}

    def getter(self: Any) -> Any:
        seen["keep_dims"] = self.keep_dims

        def bprop(x: Any, axis: Any, out: Any, dout: Any) -> Any:
            seen["axis"] = axis
            return x * dout, None

        return bprop

    with bprop_getters.replaced("ReduceSum", getter):
        result = grad(lambda x: reduce_sum(x, 0, True))(Tensor(X))
    np.testing.assert_allclose(result.asnumpy(), X)
    assert seen == {"keep_dims": True, "axis": 0}


def test_registered_rule_is_differentiated_again() -> None:
    # the rule gives the first factor's gradient y * dout * 2; differentiated by y with the same rule (y is the first
    # factor of y * dout, and y * dout of the product with 2): 2 * 2 * 2
    with bprop_getters.replaced(mul, doubled):
        result = grad(lambda y: grad(mul)(Tensor(X), y))(Tensor(Y))
    assert values(result) == [8.0] * 3


def test_what_cannot_be_registered() -> None:
    with pytest.raises(TypeError, match="no operator named"):
        bprop_getters.register("NoSuchOperator")
    with pytest.raises(TypeError, match="not an operator"):
        bprop_getters.register(lambda x: x)
    with pytest.raises(TypeError, match="bprop getter is a function"):
        bprop_getters.register("Mul")(3)


def test_check_grads_finds_a_wrong_rule() -> None:
    with (
        bprop_getters.replaced(mul, doubled),
        pytest.raises(AssertionError, match=r"order 1, argument 0\['b'\], element \(0,\): the derivative is"),
    ):
        check_grads(lambda d: mul(d["b"], d["a"][0]), {"a": [Tensor(X)], "b": Tensor(Y)})
    with pytest.raises(ValueError, match="modes are"):
        check_grads(lambda x: x, (Tensor(X),), modes=("forward",))
    with pytest.raises(ValueError, match="nothing to differentiate"):
        check_grads(lambda x: x, (Tensor([1, 2]),))


def test_check_grads_finds_a_wrong_second_derivative() -> None:
    calls = []

    def fn(x: Any) -> Any:
        def bprop(x: Any, out: Any, dout: Any) -> Any:
            calls.append(1)
            from weft.autodiff.session import stop_gradient

            return (stop_gradient(x) * dout * 2,)  # right to first order, wrong to second

        return call_with_bprop(bprop, lambda x: x * x, (x,))

    check_grads(fn, (Tensor(X),), order=1)
    with pytest.raises(AssertionError, match="order 2, argument 0"):
        check_grads(fn, (Tensor(X),), order=2)


def test_pullback_runs_a_bprop_each_time() -> None:
    _, pullback = vjp(marked, Tensor(X), Tensor(Y))
    for _ in range(2):
        np.testing.assert_allclose(pullback(Tensor(X))[0].asnumpy(), 2 * Y * X)
