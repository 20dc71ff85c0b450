"""Hooks of a tensor run in each gradient that starts at it, inside a compiled call and after it."""

import numpy as np
import pytest

from weft import Tensor, jit
from weft.autodiff.grad import GradOperation, grad, value_and_grad, vjp
from weft.autodiff.jacobian import jacrev


def triple(g):
    return g * 3


def square(t):
    return (t * t).sum()


def hooked(x):
    y = x * 2
    y.register_hook(triple)
    return y


class Box:
    pass


BOX = Box()


def stores(x):
    BOX.held = hooked(x)
    return x * 2


PROGRAMS = {
    "grad": lambda x: grad(square)(hooked(x)),
    "value_and_grad": lambda x: value_and_grad(square)(hooked(x))[1],
    "operation": lambda x: GradOperation()(square)(hooked(x)),
    "vjp": lambda x: vjp(square, hooked(x))[1](Tensor(1.0))[0],
    "jacrev": lambda x: jacrev(square)(hooked(x)),
    "twice": lambda x: (lambda y: grad(square)(y) + grad(square)(y))(hooked(x)),
    "after a break": lambda x: (lambda y: y.asnumpy() is not None and grad(square)(y))(hooked(x)),
    "closure": lambda x: (lambda y: grad(lambda t: (t * y).sum())(y))(hooked(x)),
    "on one side": lambda x: grad(square)(hooked(x) if x.sum() > 4 else x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_inside(name):
    program = PROGRAMS[name]
    compiled = jit(program)
    for x in ([1.0, 2.0], [3.0, 4.0], [0.5, 0.0]):
        wanted, got = program(Tensor(x)), compiled(Tensor(x))
        wanted, got = (v[0] if isinstance(v, tuple) else v for v in (wanted, got))
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy())


@pytest.mark.parametrize("name", ["grad", "closure", "twice"])
def test_inside_a_gradient(name):
    program = PROGRAMS[name]
    for x in ([1.0, 2.0], [3.0, 4.0]):
        wanted = grad(program)(Tensor(x)).asnumpy()
        for run in (jit(grad(program)), grad(jit(program))):
            np.testing.assert_allclose(run(Tensor(x)).asnumpy(), wanted)


def test_one_graph():
    np.testing.assert_allclose(jit(PROGRAMS["grad"], fullgraph=True)(Tensor([1.0, 2.0])).asnumpy(), [12.0, 24.0])


def test_after_the_call():
    compiled, storing = jit(hooked), jit(stores)
    for x in ([1.0, 2.0], [3.0, 4.0]):
        wanted = grad(square)(hooked(Tensor(x))).asnumpy()
        np.testing.assert_allclose(grad(square)(compiled(Tensor(x))).asnumpy(), wanted)
        storing(Tensor(x))
        np.testing.assert_allclose(grad(square)(BOX.held).asnumpy(), wanted)
