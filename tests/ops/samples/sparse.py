"""Samples of the primitives of `weft.ops.sparse`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "ScatterToDense": [
        Sample((np.array([[0, 1], [2, 0]]), np.array([1.5, -2.0], np.float32)), {"shape": (3, 2)}, vmap=False)
    ],
    "TakeFromDense": [Sample((np.array([[0, 1], [2, 0]]), np.ones((3, 2), np.float32)), vmap=False)],
    "EndsOfRows": [Sample((np.array([0, 2, 2]),), {"count": 3}, differentiable=False, vmap=False)],
    "RowsOfPointers": [Sample((np.array([0, 1, 3]),), {"count": 3}, differentiable=False, vmap=False)],
}
