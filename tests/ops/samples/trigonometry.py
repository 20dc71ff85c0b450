"""Samples of the primitives of `weft.ops.trigonometry`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import POSITIVE, Sample, one, positive, unary, unit

_ABOVE_ONE = POSITIVE + 1

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Tan": unit(),
    "Asin": unit(),
    "ACos": unit(),
    "Acosh": unary(_ABOVE_ONE),
    "Atanh": unit(),
    "Erfinv": unit(),
    "Lgamma": positive(),
    "Digamma": positive(),
    "Polygamma": one(np.array([1, 1, 2], np.int32), POSITIVE),
    "Zeta": one(_ABOVE_ONE, POSITIVE),
    "Igamma": one(POSITIVE, _ABOVE_ONE, differentiable=False),
    "Igammac": one(POSITIVE, _ABOVE_ONE, differentiable=False),
    "Mvlgamma": unary(_ABOVE_ONE, p=2),
    "RegularizedBeta": [
        Sample(
            (np.array([0.5, 2.0], np.float32), np.array([1.5, 3.0], np.float32), np.array([0.25, 0.75], np.float32)),
            differentiable=False,  # the first two operands are no path for gradients
        )
    ],
}
