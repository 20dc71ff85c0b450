"""Graphs round where eager code rounds: XLA must not compute two operations at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn

MAGIC = 1.5 * 2.0**23

PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "rounded by a large number": (lambda x: (x + MAGIC) - MAGIC, np.float32),
    "overflows on the way": (lambda x: (x * 1e30) * 1e30, np.float32),
    "vanishes on the way": (lambda x: x * 1e-30 * 1e-30 * 1e30 * 1e30, np.float32),
    "divided": (lambda x: x[:1] * 1e38 / 1e38, np.float32),
    "half range": (lambda x: x * 60000 * 2 / 400, np.float16),
    "half digits": (lambda x: (x + 1) - 1, np.float16),
    "subtracted from": (lambda x: MAGIC - (MAGIC - x), np.float32),
    "bfloat16 and back": (lambda x: (x.astype(weft.bfloat16) + 1).astype(weft.float32), np.float32),
    "float16 and back": (lambda x: (x.astype(weft.float16) * 3).astype(weft.float32) * 3, np.float32),
    "in a branch": (lambda x: (x + MAGIC) - MAGIC if x.sum() > 0 else (x - MAGIC) + MAGIC, np.float32),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rounds_as_eager_code(name: str) -> None:
    function, dtype = PROGRAMS[name]
    compiled = weft.jit(function)
    for values in ([0.3, 1.6007, -2.503], [0.0, -0.0, 1.0], [-3.7, -1e-3, 2.0]):
        x = Tensor(np.array(values, dtype))
        np.testing.assert_array_equal(compiled(x).asnumpy(), function(x).asnumpy())


def test_a_constant_rounds_like_a_number_of_the_call() -> None:
    compiled = weft.jit(lambda x, number: (x + number) - number)
    x = Tensor([0.3, 1.6])
    results = [compiled(x, number).asnumpy().tolist() for number in (MAGIC, MAGIC + 1, MAGIC)]
    assert results == [[0.0, 2.0]] * 3


def test_layers_in_half_precision() -> None:
    weft.set_seed(0)
    layer = nn.Dense(3, 2).to_float(weft.bfloat16)
    x = Tensor(np.array([[0.3, 1.6007, -2.503]], np.float32))

    def function(x: Any) -> Any:
        return layer(x.astype(weft.bfloat16)).astype(weft.float32)

    np.testing.assert_array_equal(weft.jit(function)(x).asnumpy(), function(x).asnumpy())
