"""Samples of the primitives of `weft.ops.sparse`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "EndsOfRows": [Sample((np.array([0, 2, 2]),), {"count": 3}, differentiable=False, vmap=False)],
    "RowsOfPointers": [Sample((np.array([0, 1, 3]),), {"count": 3}, differentiable=False, vmap=False)],
}
