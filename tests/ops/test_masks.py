"""Truth values as factors: NaN or infinity times a mask of 0 is NaN, in a graph as by itself (IEEE 754, 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit, ops

VALUES = np.array([1.0, -np.inf, np.inf, np.nan, 0.0, -1.0])
MASK = np.array([False, False, True, False, True, True])

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, m: m * x,
    "cast": lambda x, m: m.astype(x.dtype) * x,
    "ops.cast": lambda x, m: ops.cast(m, x.dtype) * x,
    "comparison": lambda x, m: (x > 0) * x,
    "negated": lambda x, m: ~m * x,
    "sum": lambda x, m: (m * x).sum(),
    "mul": lambda x, m: ops.mul(x, m),
    "twice": lambda x, m: m.astype(x.dtype) * x * m,
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("form", FORMS)
def test_what_a_mask_hides_stays(form: str, dtype: Any) -> None:
    if dtype is np.complex64 and form == "comparison":
        pytest.skip("complex numbers have no order")
    x, m = VALUES.astype(dtype), MASK
    numpy_form: dict[str, Callable[[], Any]] = {
        "comparison": lambda: (x > 0) * x,
        "negated": lambda: ~m * x,
        "sum": lambda: (m * x).sum(),
        "twice": lambda: m.astype(dtype) * x * m,
    }
    with np.errstate(invalid="ignore"):
        expected = numpy_form.get(form, lambda: m * x)()
    for run in (FORMS[form], jit(FORMS[form]), jit(FORMS[form], mode="PIJit")):
        found = run(Tensor(x), Tensor(m)).asnumpy()
        if dtype is np.complex64:  # the parts of an infinite product are the library's own
            assert np.array_equal(np.isnan(found), np.isnan(expected))
        else:
            np.testing.assert_array_equal(found, expected)


def test_the_gradient_of_a_masked_value() -> None:
    def loss(x: Any) -> Any:
        return ((x > 0) * x * x).sum()

    x = Tensor(VALUES.astype(np.float32))
    expected = grad(loss)(x).asnumpy()
    assert np.isnan(expected[1])
    np.testing.assert_array_equal(jit(grad(loss))(x).asnumpy(), expected)
