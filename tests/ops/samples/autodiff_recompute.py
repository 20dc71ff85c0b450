"""Samples of the primitives of `weft.autodiff.recompute`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Barrier": [Sample((np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3), np.arange(2.0, dtype=np.float32)))]
}
