"""Hooks that a mapped function registers on tensors that are not mapped."""

import functools

import numpy as np
import pytest

from weft import Parameter, Tensor, grad, vmap
from weft.errors import Unsupported

HOOKS = {
    "closure": lambda x: lambda g: g * x,
    "default": lambda x: lambda g, y=x: g * y,
    "partial": lambda x: functools.partial(lambda y, g: g * y, x),
    "in a list": lambda x: (lambda kept: lambda g: g * kept[0])([x]),
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_reads_the_example_is_refused_and_leaves_nothing(name):
    weight = Parameter(Tensor([0.5, 1.0]), name="weight")

    def f(x):
        weight.register_hook(HOOKS[name](x))
        return (weight * x).sum()

    for _ in range(2):
        with pytest.raises(Unsupported, match="value of one example"):
            vmap(f)(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    found = grad(lambda q: (q * weight).sum(), 0, [weight])(Tensor([2.0, 3.0]))
    np.testing.assert_allclose(found[1][0].asnumpy(), [2.0, 3.0])


def test_a_hook_on_an_unmapped_argument_runs_once():
    calls = []

    def f(x, u):
        u.register_hook(lambda g: (calls.append(1), g * 10)[1])
        return (u * x).sum()

    b = Tensor([[1.0, 2.0], [3.0, 4.0]])
    found = grad(lambda u: vmap(f, (0, None))(b, u).sum())(Tensor([0.5, 1.0]))
    np.testing.assert_allclose(found.asnumpy(), [40.0, 60.0])
    assert len(calls) == 1
