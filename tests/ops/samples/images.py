"""Samples of the primitives of `weft.ops.images`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample, one
from weft.ops.images import _METHODS

_IMAGE = np.sin(np.arange(40, dtype=np.float32)).reshape(1, 2, 4, 5)
_POINTS = (np.cos(np.arange(12, dtype=np.float32)) * 0.9).reshape(1, 2, 3, 2)
_VOLUME = np.sin(np.arange(24, dtype=np.float32)).reshape(1, 1, 2, 3, 4)
_PLACES = (np.cos(np.arange(6, dtype=np.float32)) * 0.9).reshape(1, 1, 1, 2, 3)
_CROPS = np.array([[0.1, 0.2, 0.8, 0.9], [0.9, 0.0, 0.3, 1.2]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "Im2ColPatches": one(_IMAGE, kernel=(2, 3), dilation=(1, 2), padding=(1, 0), stride=(2, 1), vmap=False),
    "Col2ImPatches": one(
        np.sin(np.arange(64, dtype=np.float32)).reshape(1, 2, 4, 8),
        size=(4, 5),
        kernel=(2, 2),
        dilation=(1, 1),
        padding=(0, 0),
        stride=(2, 1),
        vmap=False,
    ),
    "GridSample": [
        Sample((_IMAGE, _POINTS), {"mode": "bilinear", "padding_mode": "zeros", "align_corners": False}, vmap=False),
        Sample((_VOLUME, _PLACES), {"mode": "bilinear", "padding_mode": "border", "align_corners": True}, vmap=False),
    ],
    "CropAndResize": [
        Sample(
            (_IMAGE.reshape(2, 4, 5, 1), _CROPS, np.array([1, 0], np.int32)),
            {"crop_size": (3, 4), "method": method, "extrapolation_value": 0.5},
            differentiable=False,
            vmap=False,
        )
        for method in _METHODS
    ],
}
