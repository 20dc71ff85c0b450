"""Samples of the primitives of `weft.ops.gather`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import A, Sample, one
from weft.ops.gather import _WRITES

_ROWS = np.array([1, 0, 1], np.int64)
_GRID = np.array([[1, 0, 1], [0, 1, 1]], np.int64)
_FACTORS = np.array([[1.5, 2.0, -0.5], [3.0, 0.25, 1.25], [-2.0, 0.75, 0.5]], np.float32)
_POINTS = np.array([[0, 1], [1, 2]], np.int64)


def _scatter_samples() -> list[Sample]:
    updates = np.array([7.0, -3.0], np.float32)
    return [
        *[Sample((A, _POINTS, updates), {"reduction": r}) for r in _WRITES],
        *[Sample((A, _ROWS[:, None], _FACTORS), {"reduction": r}) for r in ("mul", "div")],
    ]


def _segment_samples() -> list[Sample]:
    return [
        Sample((A, ids), {"num_segments": 2 if r in ("max", "min") else 3, "reduction": r})  # none that is empty
        for r in ("add", "max", "min", "mul")
        for ids in (np.array([1, 0]), np.array([[1, 0, 1], [1, -1, 1]]))
    ]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "Gather": [Sample((A, _ROWS), {"axis": 0, "batch_dims": 0}), Sample((A, _GRID), {"axis": 1, "batch_dims": 1})],
    "GatherD": one(A, _GRID, dim=1),
    "GatherNd": one(A, _POINTS),
    "TensorScatter": _scatter_samples(),
    "ScatterNd": one(_POINTS, np.array([7.0, -3.0], np.float32), shape=(2, 3)),
    "TensorScatterElements": [
        Sample((A, _GRID[:, :1], A[:, :1] * 2), {"axis": 1, "reduction": "none"}),
        *[Sample((A, _GRID, A * 2), {"axis": 1, "reduction": r}) for r in ("add", "mul", "div", "max")],
    ],
    "IndexAddAlong": one(A, _ROWS, np.ones((2, 3), np.float32), axis=1),
    "UnsortedSegment": _segment_samples(),
}
