"""Samples of the primitives of `weft.ops.labels`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "RepeatedStretches": [
        Sample(
            (np.array([[[1, 2, 1, 2, 1]]], np.int32), np.array([[[0.5, 1.0, -1.0, 2.0]]], np.float32)),
            {"size": 2},
            differentiable=False,
        )
    ]
}
