"""Samples of the primitives of `weft.ops.margins`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_X = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "MarginOfClass": [
        Sample((_X, np.array([2, 0]), weight), {"p": p, "margin": 1})
        for p, weight in ((1, np.array([1.0, 2.0, 0.5], np.float32)), (2, None))
    ],
    "MarginOfLabels": [Sample((_X, np.array([[1, -1, 0], [2, 0, -1]], np.int32)), {})],
}
