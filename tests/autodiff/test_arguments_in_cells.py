"""Gradients of functions whose arguments live in cells, captured as pieces of their own: nothing is taken for a value
before it was read."""

import numpy as np
import pytest

from weft import Tensor, jit, ops
from weft.autodiff.function import Function
from weft.autodiff.grad import grad, value_and_grad, vjp
from weft.autodiff.jacobian import jacrev


def stopped(y):
    v = ops.stop_gradient(y) * y
    inner = lambda t: t * y  # noqa: E731 - the program
    y.asnumpy()
    return v + inner(y)


def in_comprehension(y):
    v = ops.stop_gradient(y) * y
    parts = [y * q for q in (y, 2.0)]
    np.sum(y.asnumpy())
    return v + parts[0] + parts[1]


def logged(y, log=[]):  # noqa: B006 - the program
    target = ops.stop_gradient(y * 1.0) * y
    total = sum((y * s).sum() for s in (0.5, 1.0))
    log.append(total.asnumpy())
    return target + total


def rebound(y):
    before = ops.stop_gradient(y)

    def change():
        nonlocal y
        y = y * 2

    y.asnumpy()
    change()
    return y * before


class Triple(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, gradient):
        (a,) = ctx.saved_tensors
        return gradient * a * 3


def with_own_backward(y):
    v = Triple.apply(y)
    inner = lambda t: t * y  # noqa: E731 - the program
    y.asnumpy()
    return v + inner(y)


def branching(y):
    v = y * 3 if y.sum() > 4 else y
    inner = grad(lambda t: (t * y).sum())(y)
    y.asnumpy()
    return v + inner


PROGRAMS = (stopped, in_comprehension, logged, rebound, with_own_backward, branching)
TRANSFORMS = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "vjp": lambda f: lambda x: vjp(f, x)[1](Tensor([1.0, 10.0])),
    "jacrev": jacrev,
}


def arrays(value):
    return [part for item in value for part in arrays(item)] if isinstance(value, tuple) else [value.asnumpy()]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(program, transform):
    eager = TRANSFORMS[transform](program)
    compiled = jit(eager)
    for x in ([1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]):
        for got, wanted in zip(arrays(compiled(Tensor(x))), arrays(eager(Tensor(x))), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_smallest():
    np.testing.assert_allclose(jit(grad(stopped))(Tensor([1.0, 2.0])).asnumpy(), [3.0, 6.0])
