"""Samples of the primitives of `weft.ops.signals`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "PairDistances": [
        Sample((np.array([[1.0, 2.0], [-1.0, 0.5], [3.0, -2.0]], np.float32),), {"p": p}, vmap=False)
        for p in (2.0, 3.0, 1.0)
    ]
}
