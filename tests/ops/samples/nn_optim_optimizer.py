"""Samples of the primitives of `weft.nn.optim.optimizer`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "LearningRateAt": [Sample((np.array([0.5, 0.25], np.float32), np.array([1])), vmap=False)]
}
