"""Hooks that a call registers on a Parameter which it differentiates stay with the Parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Parameter, Tensor, context, grad, jit, nn, value_and_grad


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")
        self.ready = False

    def construct(self, x: Any) -> Any:
        if not self.ready:  # once, at the first forward pass
            self.ready = True
            self.handle = self.w.register_hook(lambda g: g * 10)
        return (self.w * x).sum()


def of_weights(net: Net) -> Callable[..., Any]:
    return grad(net, None, [net.w])


def of_both(net: Net) -> Callable[..., Any]:
    both = value_and_grad(net, 0, [net.w])
    return lambda x: both(x)[1][1]


def of_a_gradient(net: Net) -> Callable[..., Any]:
    def inner(x: Any) -> Any:
        return (grad(net, None, [net.w])(x)[0] * net.w * net.w).sum()

    return grad(inner, None, [net.w])


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
@pytest.mark.parametrize("compiled", [lambda function: function, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("take", [of_weights, of_both, of_a_gradient])
def test_it_is_there_in_the_next_call(take: Callable[[Net], Any], compiled: Any, mode: int) -> None:
    context.set_context(mode=mode)
    net, other, x = Net(), Net(), Tensor([1.0, 2.0])
    other(x)  # registered where nothing is differentiated
    gradient, expected = compiled(take(net)), compiled(take(other))
    for _ in range(3):
        assert gradient(x)[0].asnumpy().tolist() == expected(x)[0].asnumpy().tolist()
    before = gradient(x)[0].asnumpy()
    net.handle.remove()
    other.handle.remove()
    assert gradient(x)[0].asnumpy().tolist() == expected(x)[0].asnumpy().tolist() != before.tolist()
