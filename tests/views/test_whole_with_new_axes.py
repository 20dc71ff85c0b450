"""Selections of everything with new dimensions: their gradients, and writes through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit

READS = {
    "[:, None]": lambda x: x[:, None],
    "[..., None]": lambda x: x[..., None],
    "matrix [:, :, None]": lambda x: x.reshape(1, 3)[:, :, None],
    "matrix [..., None, None]": lambda x: x.reshape(1, 3)[..., None, None],
    "matrix [:, ..., None]": lambda x: x.reshape(1, 3)[:, ..., None],
    "matrix [:, None, :, None]": lambda x: x.reshape(1, 3)[:, None, :, None],
    "scalar [None]": lambda x: x.sum()[None],
    "scalar [..., None]": lambda x: x.sum()[..., None],
    "outer product": lambda x: x[:, None] * x[None, :],
    "expand_dims": lambda x: x.expand_dims(-1),
}


@pytest.mark.parametrize("name", READS)
def test_gradients(name: str) -> None:
    read = READS[name]

    def f(x: Any) -> Any:
        return (read(x) * 2).sum()

    x = Tensor([1.0, 2.0, 3.0])
    wanted = grad(f)(x).asnumpy().tolist()
    assert grad(jit(f, fullgraph=True))(x).asnumpy().tolist() == wanted
    assert jit(grad(f), fullgraph=True)(x).asnumpy().tolist() == wanted


def _fill(a: Any) -> Any:
    v = a[:, None]
    v.fill_(3.0)
    return v


def _add(a: Any) -> Any:
    a[:, None] += 1
    return a * 2


def _write_part(a: Any) -> Any:
    a[:, None][1][0:1] = 9
    return a * 1


def _write_at_a_tensor(a: Any) -> Any:
    a.expand_dims(-1)[-2][Tensor([0])] = -2.0
    return a * 1


@pytest.mark.parametrize("program", [_fill, _add, _write_part, _write_at_a_tensor])
def test_writes(program: Any) -> None:
    compiled = jit(program, fullgraph=True)
    for start in (1.0, 5.0, 7.0):
        a, b = (Tensor(np.arange(3, dtype=np.float32) + start) for _ in range(2))
        assert compiled(a).asnumpy().tolist() == program(b).asnumpy().tolist()
        assert a.asnumpy().tolist() == b.asnumpy().tolist()
    assert not compiled.report().breaks
