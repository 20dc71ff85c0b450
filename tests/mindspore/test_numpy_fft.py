"""`mindspore.numpy.fft` against NumPy: values, element types, compiled and not, gradients, bad calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Tensor

pytest.importorskip("weft.ops.fourier")

A = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 5.0, 7.5]], np.float32)
C = (A + 1j * A[::-1] * A).astype(np.complex64)
CASES: tuple[tuple[Any, ...], ...] = (
    ("fft", A, {}),
    ("fft", A, {"n": 3, "axis": 0}),
    ("fft", C, {"norm": "ortho"}),
    ("ifft", C, {}),
    ("fft2", A, {"s": (2, 2)}),
    ("ifft2", C, {"norm": "forward"}),
    ("fftn", A, {"axes": (0,)}),
    ("ifftn", C, {}),
    ("rfft", A, {"n": 5}),
    ("irfft", C, {}),
    ("rfft2", A, {}),
    ("irfft2", C, {}),
    ("rfftn", A, {}),
    ("irfftn", C, {}),
    ("hfft", C, {"n": 5}),
    ("ihfft", A, {}),
    ("fftshift", A, {"axes": 1}),
    ("ifftshift", A, {}),
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}{at}" for at, case in enumerate(CASES)])
def test_as_numpy(case: Any) -> None:
    import mindspore.numpy.fft as transforms

    name, array, kwargs = case
    expected = getattr(np.fft, name)(array, **kwargs)

    def run(x: Any) -> Any:
        return getattr(transforms, name)(x, **kwargs)

    for function in (run, weft.jit(run)):
        for scale in (1, 2):
            found = function(Tensor(array * scale)).asnumpy()
            assert found.dtype == (np.complex64 if np.iscomplexobj(expected) else np.float32)
            np.testing.assert_allclose(found, expected * scale, rtol=1e-4, atol=1e-4)


def test_those_of_hermitian_spectra_along_axes() -> None:
    import mindspore.numpy.fft as transforms

    for name, base in (("hfft2", "irfft2"), ("hfftn", "irfftn")):
        found = getattr(transforms, name)(Tensor(C)).asnumpy()
        np.testing.assert_allclose(found, getattr(np.fft, base)(C.conj()) * 12, rtol=1e-4, atol=1e-3)
    for name, base in (("ihfft2", "rfft2"), ("ihfftn", "rfftn")):
        found = getattr(transforms, name)(Tensor(A)).asnumpy()
        np.testing.assert_allclose(found, getattr(np.fft, base)(A).conj() / 8, rtol=1e-4, atol=1e-4)


def test_frequencies_gradients_and_bad_calls() -> None:
    import mindspore.numpy.fft as transforms

    for name in ("fftfreq", "rfftfreq"):
        found = getattr(transforms, name)(5, 0.5)
        assert found.dtype is weft.dtypes.float32
        np.testing.assert_allclose(found.asnumpy(), getattr(np.fft, name)(5, 0.5), rtol=1e-6)

    def energy(x: Any) -> Any:
        return weft.ops.square(weft.ops.abs(transforms.fft(x, axis=1))).sum()

    for gradient in (weft.grad(energy), weft.jit(weft.grad(energy))):
        np.testing.assert_allclose(gradient(Tensor(A)).asnumpy(), 2 * 4 * A, rtol=1e-4)
    with pytest.raises(TypeError):
        transforms.fft([1, 2])
    with pytest.raises(TypeError):
        transforms.fft(Tensor(A), dim=1)
    for kwargs in ({"axis": 3}, {"n": 0}, {"norm": "x"}):
        with pytest.raises(ValueError):  # noqa: PT011
            transforms.fft(Tensor(A), **kwargs)
