"""Hooks and rules of mapped functions with the gradient taken outside: right, or refused with the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, vmap
from weft.errors import Unsupported

ROWS = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
WEIGHT = Parameter(Tensor(np.array([0.5, 2.0], np.float32)), name="weight")


def on_argument(x: Any) -> Any:
    x.register_hook(lambda g: g * 3)
    return (x * x).sum()


def on_copy(x: Any) -> Any:
    x = x * 1
    x.register_hook(lambda g: g * 3)
    return (x * x).sum()


def reads_another(x: Any) -> Any:
    t = x * 2
    t.register_hook(lambda g: g * x)
    return t.sum()


def writes_parameter(x: Any) -> Any:
    t = x * 2
    t.register_hook(lambda g: (WEIGHT.add_(g), None)[1])
    return (t * t).sum()


class WritingRule(weft.nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        WEIGHT.add_(1.0)
        return (dout * 2,)


def rule_writes(x: Any) -> Any:
    return WritingRule()(x).sum()


@pytest.mark.parametrize("function", [on_argument, reads_another, writes_parameter, rule_writes])
@pytest.mark.parametrize("mapped", [vmap, lambda f: jit(vmap(f)), lambda f: vmap(jit(f))])
def test_what_cannot_be_is_refused_and_loses_nothing(function: Callable[..., Any], mapped: Callable[..., Any]) -> None:
    before = WEIGHT.asnumpy().copy()
    with pytest.raises(Unsupported, match=r"mapped function|vmap"):
        grad(lambda rows: mapped(function)(rows).sum())(ROWS)
    np.testing.assert_array_equal(WEIGHT.asnumpy(), before)


@pytest.mark.parametrize("function", [on_argument, on_copy, reads_another])
def test_the_way_out(function: Callable[..., Any]) -> None:
    wanted = np.stack([grad(function)(Tensor(row)).asnumpy() for row in ROWS.asnumpy()])
    np.testing.assert_allclose(vmap(grad(function))(ROWS).asnumpy(), wanted)
    np.testing.assert_allclose(jit(vmap(grad(function)))(ROWS).asnumpy(), wanted)


def test_a_hook_on_what_the_function_computes() -> None:
    wanted = np.stack([grad(on_copy)(Tensor(row)).asnumpy() for row in ROWS.asnumpy()])
    np.testing.assert_allclose(grad(lambda rows: vmap(on_copy)(rows).sum())(ROWS).asnumpy(), wanted)
