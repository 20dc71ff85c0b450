"""A gradient begun on a side of a branch that cannot be in the graph: what it tracked in place is itself again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Parameter, Tensor, grad, jacfwd, jit, jvp, value_and_grad, vmap

TRANSFORMS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "grad": lambda f, y: grad(lambda v: f(v).sum())(y),
    "jacfwd": lambda f, y: jacfwd(f)(y),
    "jvp": lambda f, y: jvp(f, (y,), (y,)),
    "vmap": lambda f, y: vmap(f)(y),
    "jit": lambda f, y: jit(f)(y),
}


@weft.jit_disable
def in_python() -> None:
    """A call that ends the graph."""


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_gradients_outside_go_through(name: str, looped: bool, mode: str) -> None:
    weight = Parameter(Tensor([1.0, -0.5]), name="w")

    def broken(v: Any) -> Any:
        in_python()
        return v

    def branched(x: Any, y: Any) -> Any:
        if x.sum() <= 0.6:
            weight[:] = 1
            TRANSFORMS[name](broken, y)
        return y

    def repeated(x: Any, y: Any) -> Any:
        while x.sum() < 0.6:
            weight[:] = 1
            TRANSFORMS[name](broken, y)
            x = x + 1
        return y

    program = repeated if looped else branched
    results = []
    for function in (program, compiler(mode)(program)):
        take = value_and_grad(lambda x, y, function=function: function(x, y).sum(), (0, 1), [weight])
        for start in (1.0, 0.0, 1.0):
            weight.set_data(Tensor([1.0, -0.5]))
            value, gradients = take(Tensor(start), weight)
            results.append([np.array(t) for t in (value, *gradients[0], *gradients[1], weight)])
    for eager, compiled in zip(results[:3], results[3:], strict=True):
        for one, other in zip(eager, compiled, strict=True):
            np.testing.assert_array_equal(one, other)
