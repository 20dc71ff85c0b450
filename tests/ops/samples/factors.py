"""Samples of the primitives of `weft.ops.factors`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample, one

_TALL = np.array([[3.0, 1.0], [0.25, 2.0], [0.75, 0.5]], np.float32)
_TAU = np.array([1.25, 1.5], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "HouseholderFactors": one(_TALL),
    "HouseholderProduct": [Sample((_TALL, _TAU), {}), Sample((_TALL, _TAU[:1]), {})],
    "HouseholderMultiply": [
        Sample((_TALL, _TAU, _TALL), {"left": True, "transpose": False}),
        Sample((_TALL, _TAU, _TALL.T.copy()), {"left": False, "transpose": True}),
    ],
    "RowsOfPivots": one(np.array([2, 3, 3], np.int32), rows=4),
}
