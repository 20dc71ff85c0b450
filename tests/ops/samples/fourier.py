"""Samples of the primitives of `weft.ops.fourier`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import A, Sample


def _samples() -> list[Sample]:
    spectrum = (A + 1j * A[::-1]).astype(np.complex64)
    found = [
        Sample((A,), {"kind": "rfft", "n": n, "axis": axis, "norm": "ortho"}, False) for n, axis in ((4, 0), (2, 1))
    ]
    found += [Sample((spectrum,), {"kind": "fft", "n": 3, "axis": 1, "norm": "backward"}, False)]
    return [*found, Sample((spectrum,), {"kind": "irfft", "n": 5, "axis": 1, "norm": "forward"}, False)]


SAMPLES: Final[dict[str, list[Sample]]] = {"FourierTransform": _samples()}
