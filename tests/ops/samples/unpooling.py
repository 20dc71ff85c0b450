"""Samples of the primitives of `weft.ops.unpooling`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _fractional_samples() -> list[Sample]:
    x = np.random.default_rng(0).permutation(2 * 2 * 5 * 4).reshape(2, 2, 5, 4).astype(np.float32) / 8
    u = np.linspace(0.1, 0.9, 8, dtype=np.float32).reshape(2, 2, 2)
    return [Sample((x, u), {"kernel": (2, 2), "outputs": (3, 2)}, False, False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "RootOfOrder": [Sample((np.array([0.5, 2.0], np.float32),), {"p": 3.0})],
    "FractionalMaxima": _fractional_samples(),
}
