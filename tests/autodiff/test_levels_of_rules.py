"""Rules of the program in nested mappings and gradients: as one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, grad, jit, vmap
from weft.autodiff.function import Function
from weft.autodiff.session import stop_gradient

ROWS = np.array([[0.5, -0.3], [0.1, 0.4]])
SHARED = Tensor(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


class Product(Function):
    """The factors in its derivative tell it from the true one."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * a * b

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        a, b = ctx.saved_tensors
        return 3 * a * b * gradient, 0.5 * a * a * gradient


class Sum(weft.nn.Cell):
    def construct(self, a: Any, b: Any) -> Any:
        return a * b + a

    def bprop(self, a: Any, b: Any, out: Any, dout: Any) -> Any:
        return dout * b * 2 + out * dout, dout * a * 3


CELL = Sum()
PROGRAMS: dict[str, Callable[..., Any]] = {
    "function of what is outside": lambda x: vmap(lambda p: p * Product.apply(x, x))(SHARED).sum(),
    "function of both": lambda x: vmap(lambda p: Product.apply(p, x))(SHARED).sum(),
    "cell of both": lambda x: vmap(lambda p: CELL(p, x))(SHARED).sum(),
    "cell of what is outside": lambda x: vmap(lambda p: CELL(x, x) * p)(SHARED).sum(),
    "not mapped": lambda x: vmap(lambda p, q: Product.apply(p, q), (0, None))(SHARED, x).sum(),
    "gradient inside": lambda x: vmap(lambda p: grad(lambda q: Product.apply(x, q).sum())(p))(SHARED).sum(),
    "stopped and not": lambda x: vmap(lambda p: stop_gradient(x) * p * x + x.detach())(SHARED).sum(),
    "stopped before": lambda x: (lambda s: vmap(lambda p: s * p * x)(SHARED).sum())(stop_gradient(x)),
    "two deep": lambda x: vmap(lambda p: vmap(lambda q: Product.apply(x, p * q))(SHARED))(SHARED).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_mapped_gradients(name: str) -> None:
    program = PROGRAMS[name]
    for of in (grad(program), grad(lambda x: (grad(program)(x) * x).sum())):
        wanted = np.stack([of(Tensor(row)).asnumpy() for row in ROWS])
        assert np.abs(wanted).max() > 0
        for run in (vmap(of), jit(vmap(of)), vmap(jit(of))):
            np.testing.assert_allclose(run(Tensor(ROWS)).asnumpy(), wanted, rtol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_mapped(name: str) -> None:
    program = PROGRAMS[name]
    wanted = np.stack([grad(program)(Tensor(row)).asnumpy() for row in ROWS])
    for run in (vmap(program), jit(vmap(program))):
        np.testing.assert_allclose(grad(lambda rows: run(rows).sum())(Tensor(ROWS)).asnumpy(), wanted, rtol=1e-9)
