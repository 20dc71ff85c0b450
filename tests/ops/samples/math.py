"""Samples of the primitives of `weft.ops.math`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import POSITIVE, A, B, Sample, integer_pairs, one, pairs, unary

_MIXED = [*integer_pairs(), *pairs(A, POSITIVE + np.float32(0.1))]

SAMPLES: Final[dict[str, list[Sample]]] = {
    "PowBase": pairs(POSITIVE, B),
    "LogWeighted": pairs(A, POSITIVE),
    "FloorDiv": integer_pairs(),
    "FloorMod": _MIXED,
    "Mod": _MIXED,
    "TruncateDiv": integer_pairs(),
    "Pow": pairs(POSITIVE, B),
    "Reciprocal": unary(),
    "WhereLarger": one(A, B, A),
    "AddN": one(A, B, POSITIVE),
    "BiasAdd": [*one(A, A[0], data_format="NCHW"), *one(A[:, :, None], A[0], data_format="NCHW")],
}
