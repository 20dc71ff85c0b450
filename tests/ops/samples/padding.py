"""Samples of the primitives of `weft.ops.padding`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_IMAGE = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) ** 2 / 8

SAMPLES: Final[dict[str, list[Sample]]] = {
    "PadBorders": [
        Sample((_IMAGE,), {"pads": ((0, 0), (0, 0), (1, 2), (-1, 1)), "mode": "constant", "value": 2.0}, vmap=False),
        Sample((_IMAGE,), {"pads": ((0, 0), (0, 0), (1, 2), (2, 1)), "mode": "reflect", "value": 0}, vmap=False),
    ],
    "ResizeImage": [
        Sample((_IMAGE,), {"size": (5, 3), "mode": mode, "align": "half"}) for mode in ("nearest", "linear", "cubic")
    ],
}
