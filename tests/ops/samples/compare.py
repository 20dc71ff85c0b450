"""Samples of the primitives of `weft.ops.compare`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import DIVISORS, INTEGERS, A, Sample, one, unary

SAMPLES: Final[dict[str, list[Sample]]] = {
    "ApproximateEqual": one(A, A + np.float32(1e-6), tolerance=1e-5),
    "IsClose": one(A, A + np.float32(1e-6), rtol=1e-5, atol=1e-8, equal_nan=False),
    "FloatStatus": unary(A, np.array([1.0, np.inf], np.float32)),
    "IsIn": one(INTEGERS, DIVISORS),
    "EqualCount": one(INTEGERS, DIVISORS),
    "InTopK": one(A, np.array([2, 0], np.int32), k=1),
}
