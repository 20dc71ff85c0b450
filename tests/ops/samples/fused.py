"""Samples of the primitives of `weft.ops.fused`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _deformed_samples() -> list[Sample]:
    x = np.random.default_rng(0).permutation(32).reshape(1, 2, 4, 4).astype(np.float32) / 8
    offsets = np.linspace(-0.8, 0.9, 12 * 9, dtype=np.float32).reshape(1, 12, 3, 3) + np.float32(0.013)
    window = {"kernel": (2, 2), "strides": (1, 1), "padding": (0, 0, 0, 0), "dilations": (1, 1), "groups": 1}
    return [Sample((x, offsets), window)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "RotateHalves": [Sample((np.arange(8, dtype=np.float32).reshape(2, 4),), {"pairs": p}) for p in (False, True)],
    "DeformedColumns": _deformed_samples(),
}
