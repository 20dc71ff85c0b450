"""Samples of the primitives of `weft.ops.counting`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "FixedWidthHistogram": [
        Sample((np.array([0.5, -1.0, 2.5], np.float32), np.array([0.0, 2.0], np.float32)), {"nbins": 4}, vmap=False)
    ]
}
