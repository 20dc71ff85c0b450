"""Samples of the primitives of `weft.ops.sequences`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_SCORES = np.log(np.abs(np.sin(np.arange(32, dtype=np.float32) + 1)).reshape(4, 2, 4) + 0.1)
_SCORES = _SCORES - np.log(np.exp(_SCORES).sum(-1, keepdims=True))
_TARGETS = np.array([[1, 2], [3, 0]], np.int32)
_LENGTHS = (np.array([4, 3], np.int32), np.array([2, 1], np.int32))
_PLACES = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], np.int64)
_SPARSE = (np.array([[0, 0], [0, 1], [1, 0]], np.int64), np.array([1, 1, 2], np.int32), np.array([4, 3], np.int32))

SAMPLES: Final[dict[str, list[Sample]]] = {
    "CTCLossV2": [Sample((_SCORES, _TARGETS, *_LENGTHS), {"blank": 0}, differentiable=False, vmap=False)],
    "LabelsAfterBlank": [Sample((_PLACES, np.array([1, 3, 1, 3, 2], np.int32)), {"batch": 2, "blank": 3}, vmap=False)],
    "CTCLossSparse": [
        Sample((_SCORES, *_SPARSE), {"collapses": False, "merges": True}, differentiable=False, vmap=False)
    ],
    "ShortTimeFourier": [
        Sample(
            (np.sin(np.arange(20, dtype=np.float32)), np.ones(6, np.float32)),
            {"n_fft": 8, "hop": 2, "onesided": True, "normalized": False},
            differentiable=False,
            vmap=False,
        )
    ],
}
