"""Samples of the primitives of `weft.ops.windows`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Unpooling": [
        Sample((np.array([[[[1.5, 2.0]]]], np.float32), np.array([[[[3, 0]]]], np.int64)), {"size": (2, 3)}, vmap=False)
    ],
    "FractionalCells": [
        Sample(
            (np.arange(40, dtype=np.float32).reshape(1, 5, 4, 2), np.array([0.3, 0.6], np.float32)),
            {"outputs": (3, 2), "pseudo": pseudo, "overlapping": True, "mean": mean},
            differentiable=False,  # the random numbers are no path for gradients
            vmap=False,
        )
        for pseudo, mean in ((True, False), (False, True))
    ],
    "GreyDilation": [
        Sample(
            (
                np.random.default_rng(0).permutation(32).reshape(1, 2, 4, 4).astype(np.float32) / 8,
                np.random.default_rng(1).permutation(8).reshape(2, 2, 2).astype(np.float32) / 50,
            ),
            {"stride": (1, 2), "dilation": (2, 1), "pads": ((1, 0), (0, 1))},
            vmap=False,
        )
    ],
}
