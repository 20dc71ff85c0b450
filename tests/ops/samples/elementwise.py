"""Samples of the primitives of `weft.ops.elementwise`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import POSITIVE, UNIT, A, Sample, one, positive, unary

_COMPLEX = A.astype(np.complex64) + 1j * POSITIVE

SAMPLES: Final[dict[str, list[Sample]]] = {
    "CopySign": one(POSITIVE, A),
    "Log": positive(),
    "Log1p": positive(),
    "Log2": positive(),
    "Log10": positive(),
    "Sqrt": positive(),
    "Rsqrt": positive(),
    "Cbrt": positive(),
    "Round": unary(decimals=0),
    "Logit": one(np.abs(UNIT), eps=-1.0),
    "NanToNum": one(A, nan=0.0, posinf=None, neginf=None),
    "Frexp": unary(),
    "Real": one(_COMPLEX, differentiable=False),
    "Imag": one(_COMPLEX, differentiable=False),
    "Conj": one(_COMPLEX, differentiable=False),
    "Angle": one(_COMPLEX, differentiable=False),
    "Complex": one(A, POSITIVE, differentiable=False),
}
