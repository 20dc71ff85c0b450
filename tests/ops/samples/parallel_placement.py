"""Samples of the primitives of `weft.parallel.placement`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "ShardingConstraint": (
        Sample(
            (np.arange(6.0, dtype=np.float32).reshape(2, 3),),
            {"sizes": (1,), "names": ("x",), "ranks": (0,), "dims": (("x",), ())},
        ),
    )
}
