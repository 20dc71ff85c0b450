"""Samples of the primitives of `weft.ops.blocks`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample, one

_WIDE = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4) / 8
_DEEP = np.arange(32, dtype=np.float32).reshape(1, 8, 2, 2) / 8

SAMPLES: Final[dict[str, list[Sample]]] = {
    "DepthToSpace": one(_DEEP, block_size=2),
    "SpaceToDepth": one(_WIDE, block_size=2),
}
