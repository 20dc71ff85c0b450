"""Positions of a gradient name parameters, however their arguments are given, and whatever is differentiated."""

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.autodiff.function import Function
from weft.autodiff.grad import grad, value_and_grad


def product(x, k):
    return (x * k * k).sum()


class Product(nn.Cell):
    def construct(self, x, k):
        return (x * k * k).sum()


class Decorated(nn.Cell):
    @jit
    def construct(self, x, k):
        return (x * k * k).sum()


class Holder:
    @jit
    def method(self, x, k):
        return (x * k * k).sum()


X, K = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
CALLEES = {
    "function": lambda: product,
    "compiled": lambda: jit(product),
    "cell": Product,
    "compiled cell": lambda: jit(Product()),
    "decorated cell": Decorated,
    "method": lambda: Holder().method,
}


@pytest.mark.parametrize("name", CALLEES)
@pytest.mark.parametrize("transform", [grad, value_and_grad])
@pytest.mark.parametrize("position", [0, 1, (0, 1)])
@pytest.mark.parametrize("within", [False, True])
def test_positions(name, transform, position, within):
    def call(x, k, callee, both):
        if both:
            return transform(callee, position)(x=x, k=k)
        return transform(callee, position)(x, k=k)

    run = jit(call) if within else call
    wanted = {0: [9.0, 16.0], 1: [6.0, 16.0]}
    callee = CALLEES[name]()
    for both in (False, True):
        found = run(X, K, callee, both)
        gradients = found[1] if transform is value_and_grad else found
        if isinstance(position, int):
            gradients = (gradients,)
        for gradient, number in zip(gradients, np.atleast_1d(position), strict=True):
            np.testing.assert_allclose(gradient.asnumpy(), wanted[int(number)])


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)])
def test_gradient_of_a_wrong_shape_names_the_class(shape):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, gradient):
            return Tensor(np.ones(shape, np.float32))

    for run in (grad(Wrong.apply), jit(grad(Wrong.apply)), grad(jit(lambda x: Wrong.apply(x)))):
        with pytest.raises(ValueError, match=r"Wrong\.backward returned a gradient of shape"):
            run(X)


@pytest.mark.parametrize("dtype", [np.bool_, np.int64])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[0],
        lambda x: x[:1],
        lambda x: x[Tensor([0])],
        lambda x: x[Tensor([True, False])],
        lambda x: x[[0, 0]],
    ],
)
def test_gradient_of_what_has_no_fractions(program, dtype):
    x = Tensor(np.array([1, 0], dtype))
    eager = grad(program)(x)
    assert eager.dtype is x.dtype
    for run in (jit(grad(program)), grad(jit(program))):
        found = run(x)
        assert found.dtype is x.dtype
        assert found.asnumpy().tolist() == eager.asnumpy().tolist()
    assert eager.asnumpy()[1] == 0
    assert eager.asnumpy()[0] != 0
