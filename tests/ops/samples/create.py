"""Samples of the primitives of `weft.ops.create`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample, one
from weft import dtypes

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Arange": one(np.float32(1), np.float32(0.5), size=4, vmap=False, differentiable=False),
    "LinSpace": one(np.float32(1), np.float32(2), num=4, vmap=False),
    "Eye": [Sample((), {"n": 2, "m": 3, "dtype": dtypes.float32}, False, False)],
}
