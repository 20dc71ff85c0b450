"""Tensors that derivatives give back as they are, and hooks of tensors that others stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, jit, jvp, nn, ops, value_and_grad, vjp
from weft.autodiff.function import Function
from weft.autodiff.higher import linearize

GIVEN = Tensor([1.0, 2.0])


class _Given(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return GIVEN


class _Passing(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout,)


_passing = _Passing()

TANGENTS: dict[str, Callable[[Any, Any], Any]] = {
    "vjp": lambda x, t: vjp(lambda z: z + 1, x)[1](t)[0],
    "sens": lambda x, t: grad(lambda a, b: a + b, (0, 1), sens_param=True)(x, x, t)[0],
    "jvp": lambda x, t: jvp(lambda z: z, x, t)[1] * 2,
    "bprop": lambda x, t: vjp(_passing, x)[1](t)[0],
    "linearize": lambda x, t: linearize(lambda z: z, x)[1](t),
    "attribute": lambda x, t: vjp(lambda z: z + 1, x)[1](ops.stop_gradient(t))[0],
}


@pytest.mark.parametrize("name", TANGENTS)
def test_a_tangent_that_arrives_unchanged_is_that_of_each_call(name: str) -> None:
    program = TANGENTS[name]
    compiled = jit(program)
    x = Tensor([1.0, 1.0])
    for values in ([1.0, 2.0], [5.0, 7.0], [5.0, 8.0]):
        assert compiled(x, Tensor(values)).asnumpy().tolist() == program(x, Tensor(values)).asnumpy().tolist()


def test_a_global_that_a_rule_returns_is_that_of_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(lambda x: grad(_Given.apply)(x))
    x = Tensor([1.0, 1.0])
    for values in ([1.0, 2.0], [5.0, 7.0]):
        monkeypatch.setitem(globals(), "GIVEN", Tensor(values))
        assert compiled(x).asnumpy().tolist() == values


WEIGHT = Parameter(Tensor([0.3]), name="weight")


def _weight_as_aux(x: Any) -> Any:
    _, g = value_and_grad(lambda z: (z * z, WEIGHT), has_aux=True)(x)
    return ops.sin(WEIGHT) * g


def _weight_as_value(x: Any) -> Any:
    value, _ = jvp(lambda z: WEIGHT, x, x)
    return ops.sin(WEIGHT) * x + value


def _weight_of_linearize(x: Any) -> Any:
    out, _ = linearize(lambda z: (WEIGHT, z * 2), x)
    return out[0] * ops.sin(WEIGHT)


def _weight_of_vjp(x: Any) -> Any:
    value, pull = vjp(lambda z: WEIGHT, x)
    return ops.sin(WEIGHT) * value + pull(x)[0]


@pytest.mark.parametrize("program", [_weight_as_aux, _weight_as_value, _weight_of_linearize, _weight_of_vjp])
def test_what_a_nested_derivative_returns_keeps_its_history(program: Any) -> None:
    x = Tensor([1.0])
    wanted = grad(program, None, [WEIGHT])(x)[0].asnumpy()
    assert wanted.item() != 0
    for found in (grad(jit(program), None, [WEIGHT])(x)[0], jit(grad(program, None, [WEIGHT]))(x)[0]):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


def _hooked_late(x: Any) -> Any:
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: g * 10)
    return z


def _hooked_between(x: Any) -> Any:
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: g * 10)
    return z + y


def _hooked_late_on_one_side(x: Any) -> Any:
    y = x * 2
    z = y * 3
    if x.sum() > 0:
        y.register_hook(lambda g: g * 10)
    return z


def _hooked_view(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        y = x * 1.5
        a = y * 2
        z = make(y)
        z.register_hook(lambda g: g * 10)
        return a + y * 2 + z

    return program


def _unused(x: Any) -> Any:
    u = _passing(x)
    v = x * 1.0
    v.register_hook(lambda g: g * v)
    return u


def _unused_on_one_side(x: Any) -> Any:
    u = _passing(x)
    v = x * 1.0
    if x.sum() > 0:
        v.register_hook(lambda g: g * 10)
    return u + x


def _twice(x: Any) -> Any:
    k = 3.0
    w = _passing(x)
    v = ops.tanh(x)
    u = v * 1.0
    u.register_hook(lambda g: g * k)
    return w * v


def _computed_again(x: Any) -> Any:
    k = 3.0
    w = _passing(x)
    v = ops.tanh(x)
    u = ops.tanh(x)
    u.register_hook(lambda g: g * k)
    return w * v + u


def _scaled_in_place(x: Any) -> Any:
    y = x * 2
    z = x * 3
    y.register_hook(_scale)
    return (y + z) * x


def _scale(g: Any) -> None:
    g.mul_(10.0)


class _ScalingRule(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        dout.mul_(10.0)
        return (dout,)


_scaling_rule = _ScalingRule()


def _scaled_by_a_rule(x: Any) -> Any:
    z = x * 3
    return (z + _scaling_rule(x)) * x


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda y: y[:],
    "ellipsis": lambda y: y[...],
    "reshape": lambda y: y.reshape(2),
    "transpose": lambda y: y.T,
    "expand and squeeze": lambda y: y.expand_dims(0).squeeze(0),
    "broadcast": lambda y: ops.broadcast_to(y, (2,)),
}
HOOKED = {
    "late": _hooked_late,
    "between": _hooked_between,
    "late on one side": _hooked_late_on_one_side,
    "unused": _unused,
    "twice": _twice,
    "computed again": _computed_again,
    "scaled in place": _scaled_in_place,
    "scaled by a rule": _scaled_by_a_rule,
    "unused on one side": _unused_on_one_side,
    **{f"a view: {name}": _hooked_view(make) for name, make in VIEWS.items()},
}


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_see_the_gradient_of_their_tensor(name: str) -> None:
    program = HOOKED[name]
    compiled = jit(program)
    for values in ([1.0, 2.0], [-3.0, 0.5], [-1.0, -2.0]):
        wanted = grad(program)(Tensor(values)).asnumpy()
        if name.startswith("a view"):
            assert wanted.tolist() == [21.0, 21.0]
        np.testing.assert_allclose(grad(compiled)(Tensor(values)).asnumpy(), wanted, rtol=1e-6)
        np.testing.assert_allclose(jit(grad(program))(Tensor(values)).asnumpy(), wanted, rtol=1e-6)


def _double(value: Any) -> Tensor:
    return Tensor(np.asarray(value, np.result_type(value, np.float64)))


def _absolute(t: Any) -> Any:
    return ops.abs(t * _double(1 + 2j) + _double(1j) * (t * t)).sum()


def _power(t: Any) -> Any:
    z = t * _double(-0.5 + 0.3j) + _double(1j) * (t * t)
    return ops.real(z**z).sum()


@pytest.mark.parametrize(("program", "at"), [(_absolute, 0.7), (_absolute, -1.2), (_power, 1.3), (_power, 0.4)])
def test_complex_derivatives_against_differences(program: Any, at: float) -> None:
    step = 1e-6
    wanted = (program(_double(at + step)).item() - program(_double(at - step)).item()) / (2 * step)
    for found in (grad(program), grad(jit(program)), jit(grad(program))):
        assert found(_double(at)).item() == pytest.approx(wanted, rel=1e-6)
