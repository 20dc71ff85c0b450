"""Samples of the primitives of `weft.nn.optim.lars`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "LarsScale": [
        Sample(
            (*(np.array(v, np.float32) for v in ([1.0, 2.0], [3.0], [0.5, 0.25], [1.0])), np.array(0.1, np.float32)),
            {"chosen": (True, False), "decays": (0.1, 0.0), "epsilon": 1e-5, "coefficient": 0.001, "use_clip": False},
            vmap=False,
        )
    ]
}
