"""Samples of the primitives of `weft.ops.dropout`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "DropoutApply": [Sample((_X, _X > 0), {"p": 0.25})],
    "DropoutWithKey": [
        Sample((_X, np.array([3, 5], np.uint32)), {"p": 0.5, "mask_rank": 2}, vmap=False),
        Sample((_X, np.array([3, 5], np.uint32)), {"p": 0.5, "mask_rank": 1}, vmap=False),
    ],
    "DropoutBits": [Sample((np.array([3, 5], np.uint32),), {"shape": (2, 3), "keep_prob": 0.5}, False, False)],
    "DropoutByBits": [Sample((_X, np.array([0b101101] + [0] * 15, np.uint8), np.float32(0.5)), {}, False)],
}
