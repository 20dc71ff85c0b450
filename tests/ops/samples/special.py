"""Samples of the primitives of `weft.ops.special`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "RegularizedBeta": [
        Sample(
            (np.array([0.5, 2.0], np.float32), np.array([1.5, 3.0], np.float32), np.array([0.25, 0.75], np.float32)),
            differentiable=False,  # the first two operands are no path for gradients
        )
    ]
}
