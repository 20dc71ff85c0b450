"""Samples of the primitives of `weft.nn.loss_scale`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_A, _B, _SCALE = np.array([1.0, 2.0], np.float32), np.array([3.0, np.inf], np.float32), np.array(8.0, np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "AllFinite": [Sample((_A, _A)), Sample((_A, _B))],
    "SelectMany": [Sample((np.array(False), _A, _A * 2, _A * 3, _A * 4))],
    "UnscaleGradients": [Sample((_SCALE, _A, _A * 2))],
    "NextLossScale": [
        Sample((_SCALE, np.array(n, np.int32), np.array(good)), {"factor": 2.0, "window": 3}, vmap=False)
        for n, good in ((1, True), (2, True), (2, False))
    ],
}
