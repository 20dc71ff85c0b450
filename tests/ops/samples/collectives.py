"""Samples of the primitives of `weft.ops.collectives`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import A, Sample, one

_ALIKE = "AllReduce Reduce AllGather ReduceScatter CollectiveGather CollectiveScatter AlltoAll"
SAMPLES: Final[dict[str, list[Sample]]] = {
    **dict.fromkeys(_ALIKE.split(), one(A)),
    **dict.fromkeys(("Broadcast", "NeighborExchange"), one(A, np.array([2.0, 3.0], np.float32))),
}
