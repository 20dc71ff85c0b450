"""Samples of the primitives of `weft.ops.state`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample, one, unary

SAMPLES: Final[dict[str, list[Sample]]] = {
    "StopGradient": unary(),
    "After": [Sample((np.array([1.0, 2.0], np.float32), np.array([3.0], np.float32)))],
    "PopulationCount": one(np.array([3, 8, 255], np.int32)),
}
