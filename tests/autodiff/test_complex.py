"""Gradients of real tensors that take part in complex arithmetic, and complex numbers cast to real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.values import close, x
from weft import Tensor, ops

FACTOR = 3 - 4j


def loss(value: Tensor, scale: Tensor) -> Tensor:
    turned = value * FACTOR * scale
    return turned.real().sum() + 2 * turned.imag().sum()


@pytest.mark.parametrize("compiler", [lambda function: function, weft.jit], ids=["eager", "jit"])
def test_gradient_of_a_real_tensor_beside_a_complex_number(compiler: Any) -> None:
    value, scale = x(1.0, 2.0), x(0.5, 3.0)
    gradients = compiler(weft.grad(loss, (0, 1)))(value, scale)
    slope = FACTOR.real + 2 * FACTOR.imag
    close(gradients[0], slope * scale.asnumpy())
    close(gradients[1], slope * value.asnumpy())


@pytest.mark.parametrize("compiler", [lambda function: function, weft.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [weft.float32, weft.int32, weft.bool_])
def test_cast_of_complex_numbers(dtype: Any, compiler: Any) -> None:
    numbers = np.asarray([1.5 - 2j, 2j, 0], np.complex64)
    found = compiler(lambda tensor: ops.cast(tensor, dtype))(Tensor(numbers))
    assert found.dtype is dtype
    real = numbers if dtype is weft.bool_ else numbers.real
    close(found, real.astype(dtype.np_dtype))
