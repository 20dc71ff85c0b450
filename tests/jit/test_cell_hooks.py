"""Hooks and hand-written derivatives of Cells: they run where a gradient arrives, also one taken outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, nn
from weft.testing import assert_compiles

Compiler = Callable[[Any], Any]
WANTED: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "weights": lambda weights: (None, weights),
    "input": lambda weights: (0, None),
    "both": lambda weights: (0, weights),
}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("wanted", WANTED)
def test_backward_hooks(wanted: str, inside: bool) -> None:
    def outcomes(compiler: Compiler) -> Any:
        seen: list[Any] = []
        layer = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        layer.register_backward_hook(lambda cell, gi, go: seen.append(([g is None for g in gi], len(go))))
        layer.register_backward_pre_hook(lambda cell, go: seen.append(len(go)))

        def loss(x: Any) -> Any:
            return (layer(x * 2) ** 2).sum()

        arguments = WANTED[wanted](layer.trainable_params())
        if inside:
            gradient = compiler(lambda x: weft.value_and_grad(loss, *arguments)(x))
        else:
            gradient = weft.value_and_grad(compiler(loss), *arguments)
        values = [float(gradient(Tensor([[1.0, -2.0 + k]]))[0].asnumpy()) for k in range(3)]
        return [round(value, 3) for value in values], seen

    assert outcomes(weft.jit) == outcomes(lambda function: function)


class Own(nn.Cell):
    def __init__(self, raises: bool) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        self.raises, self.seen = raises, []

    def construct(self, x: Any) -> Any:
        return x * self.weight

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        self.seen.append("bprop")
        if self.raises:
            raise RuntimeError("in bprop")
        return (dout,)


@pytest.mark.parametrize("raises", [False, True])
def test_a_derivative_that_no_gradient_reaches(raises: bool) -> None:
    def outcomes(compiler: Compiler) -> Any:
        cell, scale = Own(raises), Parameter(Tensor([3.0, 4.0]), name="scale")

        def loss(x: Any) -> Any:
            y = cell(x)
            y.register_hook(lambda g: cell.seen.append("hook"))
            return (y * scale).sum()

        gradients = weft.grad(compiler(loss), None, [cell.weight, scale])(Tensor([1.0, 2.0]))
        return [g.asnumpy().tolist() for g in gradients], cell.seen

    assert outcomes(weft.jit) == outcomes(lambda function: function) == ([[0.0, 0.0], [1.0, 4.0]], [])


@pytest.mark.parametrize("inside", [False, True])
def test_what_construct_saves_is_a_constant_for_later_gradients(inside: bool) -> None:
    class Square(nn.Cell):
        def construct(self, x: Any) -> Any:
            self.saved = x * 2.0
            return x * x

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * self.saved,)

    def outcomes(compiler: Compiler) -> Any:
        cell = Square()
        first = weft.grad(compiler(lambda x: cell(x).sum()))
        second = weft.grad(lambda x: first(x).sum())
        if inside:
            second = compiler(second)
        return [f(Tensor([1.0, 2.0])).asnumpy().tolist() for f in (first, second, second)]

    assert outcomes(weft.jit) == outcomes(lambda function: function)


def double(cell: Any, inputs: Any, output: Any) -> Any:
    return output * 2


def increment(cell: Any, inputs: Any, output: Any) -> Any:
    return output + 1


def test_a_hook_that_comes_and_goes_in_each_call() -> None:
    layer = nn.Dense(2, 2)

    def program(x: Any) -> Any:
        handle = layer.register_forward_hook(double)
        y = layer(x)
        handle.remove()
        return y

    compiled = weft.jit(program)
    for _ in range(2):
        compiled(Tensor([[0.0, 0.0]]))
    with assert_compiles(max=0):
        for value in (1.0, 2.0):
            x = Tensor([[1.0, value]])
            np.testing.assert_allclose(compiled(x).asnumpy(), program(x).asnumpy(), rtol=1e-5)


def test_hooks_that_come_and_go() -> None:
    layer = nn.Dense(2, 2)

    def program(x: Any) -> Any:
        handle = layer.register_forward_hook(double)
        other = layer.register_forward_hook(increment)
        found = [layer(x)]
        handle.remove()
        found.append(layer(x))
        handle.remove()
        found.append(layer(x))
        other.remove()
        return [*found, layer(x)], handle.handle_id, other.handle_id

    compiled = weft.jit(program)
    for value in (1.0, 2.0, 3.0):
        (found, *numbers), (expected, *kept) = (f(Tensor([[1.0, value]])) for f in (compiled, program))
        assert numbers == kept == [0, 1]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5)


def test_a_handle_takes_back_its_own_hook_only() -> None:
    layer = nn.ReLU()
    hook: Any = lambda cell, inputs, output: output + 1  # noqa: E731
    old = layer.register_forward_hook(hook)
    old.remove()
    layer.register_forward_hook(hook)
    old.remove()
    assert layer(Tensor([1.0])).asnumpy().tolist() == [2.0]


def test_a_parameter_that_gets_another_shape() -> None:
    def outcomes(compiler: Compiler) -> Any:
        weight = Parameter(Tensor([3.0, 4.0]), name="weight")

        def grow(x: Any) -> Any:
            weight.set_data(weft.ops.ones((weight.shape[0] + 1,)), slice_shape=True)
            return weight * x

        function = compiler(grow)
        return [(function(Tensor([2.0])).asnumpy().tolist(), weight.shape) for _ in range(3)]

    assert outcomes(weft.jit) == outcomes(lambda function: function)
