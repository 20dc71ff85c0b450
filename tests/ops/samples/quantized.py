"""Samples of the primitives of `weft.ops.quantized`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_ROWS = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "QuantizedRows": [Sample((_ROWS,), {}, vmap=False, differentiable=False)],
    "Quantized": [Sample((_ROWS, _ROWS[0] + 3, _ROWS[1]), {}, vmap=False, differentiable=False)],
}
