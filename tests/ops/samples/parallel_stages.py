"""Samples of the primitives of `weft.parallel.stages`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "PipelineStage": (Sample((np.arange(3.0, dtype=np.float32),), {"stage": 0, "micro": None}),)
}
