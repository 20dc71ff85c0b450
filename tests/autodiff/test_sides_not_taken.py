"""The side of a branch that did not run has no part in gradients, wherever they are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops


def root(x: Any) -> Any:
    return ops.sqrt(x) if x.sum() > 0 else x * 3


def inverse(x: Any) -> Any:
    return 1 / x if x.sum() != 0 else x * 2


def logarithm(x: Any) -> Any:
    if x.sum() > 0:
        x = ops.log(x) * ops.pow(x, 0.5)
    if x.sum() > 0:
        x = x / (x - 1)
    return x


@pytest.mark.parametrize("function", [root, inverse, logarithm])
def test_gradients_of_any_order(function: Callable[..., Any]) -> None:
    compiled = weft.jit(function)
    first = weft.grad(lambda x: function(x).sum())
    inside = weft.jit(lambda x: first(x))
    outside = weft.grad(lambda x: compiled(x).sum())
    second = weft.grad(lambda x: first(x).sum())
    for value in (0.0, -1.0, 4.0, 0.0):
        x = Tensor(np.array([value], np.float32))
        for found in (inside(x), outside(x)):
            np.testing.assert_allclose(found.asnumpy(), first(x).asnumpy(), rtol=1e-5)
        for taken in (inside, outside):
            found = weft.grad(lambda x, taken=taken: taken(x).sum())(x)
            np.testing.assert_allclose(found.asnumpy(), second(x).asnumpy(), rtol=1e-5)
