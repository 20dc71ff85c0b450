"""Conditions on tensors that stand in each other ever deeper: the graph is left before that is too much."""

from __future__ import annotations

from typing import Any

import pytest

from weft import Tensor, grad, jit


def left_by_return(x: Any) -> Any:
    for k in [0.01] * 150:
        x = x + k * x
        if x.sum() > 12:
            return x * 2
    return x


def left_by_break(x: Any) -> Any:
    for k, _ in zip([0.01] * 150, range(150), strict=True):
        x = x + k
        if x.sum() > 12:
            break
    return x * 3


@pytest.mark.parametrize("function", [left_by_return, left_by_break])
def test_as_eager_code(function: Any) -> None:
    compiled, gradient = jit(function), jit(grad(lambda x: function(x).sum()))
    for values in ([1.0, 2.0], [20.0, 1.0], [0.1, 0.2]):
        x = Tensor(values)
        assert compiled(x).asnumpy() == pytest.approx(function(x).asnumpy(), rel=1e-5)
        wanted = grad(lambda x: function(x).sum())(x)
        assert gradient(x).asnumpy() == pytest.approx(wanted.asnumpy(), rel=1e-5)
