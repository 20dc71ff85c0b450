"""`mindspore.scipy.fft` against SciPy: values, element types, compiled and not, gradients, bad calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft

import weft
import weft.mindspore
from weft import Tensor

A = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 5.0, 7.5]], np.float32)
CASES: tuple[tuple[Any, ...], ...] = (
    ("dct", A, {}),
    ("dct", A, {"n": 3}),
    ("dct", A, {"n": 6, "axis": 1, "norm": "ortho"}),
    ("dct", A.astype(np.int32), {"axis": 0}),
    ("idct", A, {}),
    ("idct", A.astype(np.float64), {"n": 5}),
    ("dctn", A, {}),
    ("dctn", A, {"s": (3,)}),
    ("idctn", A, {"s": (3, 3), "axes": (1, 0)}),
    ("idctn", A + 1j * A, {}),
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}{at}" for at, case in enumerate(CASES)])
def test_as_scipy(case: Any) -> None:
    import mindspore.scipy.fft as transforms

    name, array, kwargs = case
    expected = getattr(scipy.fft, name)(array, **{**kwargs, "norm": "ortho"})

    def run(x: Any) -> Any:
        return getattr(transforms, name)(x, **kwargs)

    for function in (run, weft.jit(run)):
        for scale in (1, 2):
            found = function(Tensor(array * scale)).asnumpy()
            assert found.dtype == (array.dtype if array.dtype.kind != "i" else np.float32)
            np.testing.assert_allclose(found, expected * scale, rtol=1e-4, atol=1e-5)


def test_gradients_and_bad_calls() -> None:
    import mindspore.scipy.fft as transforms

    for name in ("dct", "idct", "dctn", "idctn"):
        function = getattr(transforms, name)
        gradient = weft.grad(lambda x, function=function: (function(x) ** 2).sum())
        for call in (gradient, weft.jit(gradient)):  # the transforms keep lengths
            np.testing.assert_allclose(call(Tensor(A)).asnumpy(), 2 * A, rtol=1e-4)
        with pytest.raises(TypeError):
            function([1.0])
        for kwargs in ({"type": 3}, {"norm": "forward"}):
            with pytest.raises(ValueError, match=name):
                function(Tensor(A), **kwargs)
    for call in (
        lambda: transforms.dct(Tensor(A), axis=2),
        lambda: transforms.dct(Tensor(A), n=0),
        lambda: transforms.dctn(Tensor(A), axes=(0, 0)),
        lambda: transforms.dctn(Tensor(A), s=(1,), axes=(0, 1)),
    ):
        with pytest.raises(ValueError, match="dct"):
            call()
