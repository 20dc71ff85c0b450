"""Operator classes of programs: `Primitive`, `PrimitiveWithInfer`, `PrimitiveWithCheck`, `prim_attr_register`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, grad, jit, nn, ops
from weft.autodiff.registry import bprop_getters
from weft.core.operators import Operator, PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from weft.testing import assert_no_breaks

MODES = pytest.mark.parametrize("mode", ("eager", "auto"))
X = Tensor([1.0, 2.0])


class Scale(PrimitiveWithInfer):
    @prim_attr_register
    def __init__(self, factor: Any, shift: Any = 1, *, power: int = 1) -> None:
        self.init_prim_io_names(inputs=["x"], outputs=["y"])

    def infer_shape(self, x: Any) -> Any:
        if len(x) != 1:
            raise ValueError(f"Scale takes a vector, not {x}")
        return x

    def infer_dtype(self, x: Any) -> Any:
        return x

    def infer_value(self, x: Any) -> Any:
        return None if x is None else ("known", x * self.factor)

    def vm_impl(self, x: Any) -> Any:
        return x**self.power * self.factor + self.shift


class Cosine(PrimitiveWithCheck):
    """Computed by NumPy, with a derivative of its own."""

    @prim_attr_register
    def __init__(self) -> None:
        self.sin = ops.Sin()

    def check_shape(self, x: Any) -> None:
        assert isinstance(x, list)

    def check_dtype(self, x: Any) -> None:
        if not x.is_floating:
            raise TypeError(f"Cosine takes floats, not {x}")

    def construct(self, x: Any) -> Any:
        return Tensor(np.cos(x.asnumpy()))

    def get_bprop(self) -> Any:
        return lambda x, out, dout: (-self.sin(x) * dout,)


class Unfinished(Operator):
    @prim_attr_register
    def __init__(self, size: int) -> None:
        pass


def test_attributes() -> None:
    scale = Scale(3, power=2)
    assert scale.name == scale.instance_name == "Scale"
    assert scale.attrs == {"factor": 3, "shift": 1, "power": 2, "input_names": ["x"], "output_names": ["y"]}
    assert (scale.factor, scale.shift, scale.power, scale.input_names) == (3, 1, 2, ["x"])
    assert scale.add_prim_attr("extra", "e").extra == scale.attrs["extra"] == "e"
    assert scale.del_prim_attr("extra").del_prim_attr("never") is scale
    assert "extra" not in scale.attrs
    assert not hasattr(scale, "extra")
    assert scale.set_prim_instance_name("first").instance_name == "first"
    assert scale.set_stage(2).place("MS_WORKER", 0).recompute().attrs["stage"] == 2
    assert repr(Unfinished(2)) == "Unfinished(size=2)"


def test_operators_of_the_library_are_of_the_same_kind() -> None:
    add, total = ops.Add(), ops.ReduceSum(keep_dims=True)
    assert isinstance(add, Operator)
    assert total.attrs == {"keep_dims": True}
    assert total.add_prim_attr("place", 1).attrs == {"keep_dims": True, "place": 1}
    assert repr(total) == "ReduceSum(keep_dims=True)"
    assert total(Tensor([1.0, 2.0])).shape == (1,)
    assert isinstance(ops.WhileLoop(), Operator)


@MODES
def test_an_operator_by_name(mode: str) -> None:
    add = Operator("Add")
    assert add.name == "Add"
    np.testing.assert_array_equal(compiler(mode)(lambda x: add(x, x))(X), [2.0, 4.0])
    unknown = Operator("add_something")
    with pytest.raises(NotImplementedError, match="'add_something' has no implementation"):
        compiler(mode)(lambda x: unknown(x))(X)
    with pytest.raises(TypeError, match="a string, not int"):
        Operator(3)  # type: ignore[arg-type]


@MODES
def test_calls_with_changed_attributes_and_values(mode: str) -> None:
    scale = Scale(3)
    run = compiler(mode)(lambda x: scale(x))
    for values in ([1.0, 2.0], [3.0, -1.0]):
        for factor in (3, 4, Tensor(5.0)):
            scale.factor = factor
            np.testing.assert_array_equal(run(Tensor(values)), np.array(values) * float(factor) + 1)


@MODES
def test_made_in_the_call(mode: str) -> None:
    run = compiler(mode)(lambda x, factor: Scale(factor, power=2)(x))
    for factor in (2.0, 3.0, 4.0):
        np.testing.assert_array_equal(run(X, factor), [factor + 1, 4 * factor + 1])
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'factor'"):
        compiler(mode)(lambda x: Scale()(x))(X)  # type: ignore[call-arg]


def test_what_needs_no_break_has_none() -> None:
    def f(x: Any) -> Any:
        return Scale(2.0)(x) + Operator("Mul")(x, x)

    with assert_no_breaks():
        np.testing.assert_array_equal(jit(f)(X), f(X))


@MODES
def test_checks_come_first(mode: str) -> None:
    scale, cosine = Scale(3), Cosine()
    with pytest.raises(ValueError, match=r"takes a vector, not \[1, 2\]"):
        compiler(mode)(lambda x: scale(x.reshape(1, 2)))(X)
    with pytest.raises(TypeError, match="takes floats, not Int32"):
        compiler(mode)(lambda x: cosine(x.astype("int32")))(X)
    with pytest.raises(NotImplementedError, match="'Unfinished' has no implementation: its class needs a method"):
        compiler(mode)(lambda x: Unfinished(1)(x))(X)


def test_constants_have_a_value() -> None:
    class Length(PrimitiveWithInfer):
        def __init__(self) -> None:
            super().__init__("Length")

        def infer_value(self, x: Any) -> Any:
            return len(x)

    assert Length().name == "Length"
    assert Length()((1, 2, 3)) == 3
    assert jit(lambda x: x * Length()([1, 2]))(X).asnumpy().tolist() == [2.0, 4.0]


def test_everything_may_be_inferred_at_once() -> None:
    class Known(PrimitiveWithInfer):
        @prim_attr_register
        def __init__(self) -> None:
            self.seen: Any = None

        def __infer__(self, x: Any, pair: Any) -> Any:
            self.seen = x["shape"], x["dtype"], x["value"], pair
            return {"shape": x["shape"], "dtype": x["dtype"], "value": None}

        def construct(self, x: Any, pair: Any) -> Any:
            return x * pair[1]

    known = Known()
    expected = ([2], X.dtype, None, {"shape": [[], [2]], "dtype": [None, X.dtype], "value": None})
    for run in (lambda x: known(x, (1, x)), jit(lambda x: known(x, (1, x)))):
        known.seen = None
        np.testing.assert_array_equal(run(X), [1.0, 4.0])
        assert known.seen == expected


@MODES
def test_derivatives(mode: str) -> None:
    scale, cosine = Scale(3, power=3), Cosine()

    def f(x: Any) -> Any:
        return (scale(x) * cosine(x)).sum()

    def expected(x: Any) -> Any:
        return ((x**3 * 3 + 1) * ops.cos(x)).sum()

    for values in ([1.0, 2.0], [0.5, -1.0]):
        x = Tensor(values)
        np.testing.assert_allclose(compiler(mode)(grad(f))(x), grad(expected)(x), rtol=1e-5)
        np.testing.assert_allclose(grad(compiler(mode)(f))(x), grad(expected)(x), rtol=1e-5)
        # the cosine is a constant of the second derivative of its first factor, as its code says
        np.testing.assert_allclose(
            grad(lambda x: grad(compiler(mode)(f))(x).sum())(x), grad(lambda x: grad(f)(x).sum())(x), rtol=1e-5
        )


@MODES
def test_a_registered_derivative(mode: str) -> None:
    class Doubled(Operator):
        @prim_attr_register
        def __init__(self, factor: float) -> None:
            pass

        def construct(self, x: Any) -> Any:
            return x * 2

    doubled = Doubled(7.0)

    @bprop_getters.register(Doubled)
    def getter(self: Any) -> Any:
        return lambda x, out, dout: (dout * self.factor,)

    assert bprop_getters.get(Doubled) is getter
    run = compiler(mode)(grad(lambda x: doubled(x).sum()))
    np.testing.assert_array_equal(run(X), [7.0, 7.0])
    doubled.factor = 8.0
    np.testing.assert_array_equal(run(X), [8.0, 8.0])
    bprop_getters.unregister(Doubled)
    np.testing.assert_array_equal(run(X), [2.0, 2.0])
    with pytest.raises(TypeError, match="a function of the operator"):
        bprop_getters.register(Doubled)(3)  # type: ignore[arg-type]


def test_in_a_cell() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.scale = Scale(2.0)
            self.cosine = Cosine()

        def construct(self, x: Any) -> Any:
            return self.cosine(self.scale(x))

    net = Net()
    expected = np.cos(np.array([3.0, 5.0], np.float32))
    np.testing.assert_allclose(net(X), expected, rtol=1e-5)
    np.testing.assert_allclose(jit(net)(X), expected, rtol=1e-5)


def test_operators_show_their_arguments_under_the_names_that_the_constructor_gives_them() -> None:
    conv, pool = ops.Conv2D(3, 2, pad=1, group=1), ops.MaxPool(kernel_size=2, strides=2)
    assert conv.attrs["pad"] == conv.attrs["group"] == 1
    assert conv.add_prim_attr("place", 1).attrs["place"] == 1
    assert repr(pool) == "MaxPool(kernel_size=2, strides=2, pad_mode='valid', data_format='NCHW')"
    assert repr(copy.deepcopy(pool)) == repr(pool)
    assert pool(Tensor(np.ones((1, 1, 4, 4), np.float32))).shape == (1, 1, 2, 2)


def test_operators_of_decompositions_take_their_inputs_by_name() -> None:
    factors, tau = Tensor([[2.0, 1.0], [0.5, 3.0]]), Tensor([0.5, 1.0])
    pivots = Tensor(np.array([1, 2], np.int32))
    solved = ops.LuSolve()(x=Tensor([[1.0], [2.0]]), lu_data=factors, lu_pivots=pivots)
    np.testing.assert_allclose(solved.asnumpy(), ops.LuSolve()(Tensor([[1.0], [2.0]]), factors, pivots).asnumpy())
    made = ops.Orgqr()(x=factors, tau=tau)
    np.testing.assert_allclose(made.asnumpy(), ops.orgqr(factors, tau).asnumpy())
    turned = ops.Ormqr(transpose=True)(x=factors, tau=tau, other=factors)
    np.testing.assert_allclose(turned.asnumpy(), ops.ormqr(factors, tau, factors, True, True).asnumpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.AvgPool()(),
        lambda: ops.Conv2D(1, 1)(),
        lambda: ops.LayerNorm()(Tensor([1.0])),
        lambda: ops.ArgMaxWithValue()(),
        lambda: Tensor([1.0]).copy_(),  # type: ignore[call-arg]
    ],
)
def test_what_an_operator_misses_is_said_of_the_operator(call: Callable[[], Any]) -> None:
    names = r"^(AvgPool|Conv2D|LayerNorm|ArgMaxWithValue|Tensor\.copy_)\(\) missing"
    with pytest.raises(TypeError, match=names):
        call()
