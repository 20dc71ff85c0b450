"""Samples of the primitives of `weft.ops.resampling`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

_COLOURS: Final = np.array([[[[0.9, 0.2, 0.4], [0.1, 0.1, 0.1]]]], np.float32)

SAMPLES: Final[dict[str, list[Sample]]] = {
    "ScaledAndTranslated": [
        Sample(
            (
                np.sin(np.arange(12, dtype=np.float32)).reshape(1, 3, 4, 1),
                np.array([0.8, 1.25], np.float32),
                np.array([0.1, 0.2], np.float32),
            ),
            {"size": (3, 2), "kernel": "keyscubic", "antialias": True},
            differentiable=False,  # places outside of the image jump
            vmap=False,
        )
    ],
    "RGBToHSV": [Sample((_COLOURS,))],
    "HSVToRGB": [Sample((_COLOURS,), vmap=False)],
    "AdjustHue": [Sample((_COLOURS, np.float32(0.2)), vmap=False)],
    "AdjustSaturation": [Sample((_COLOURS, np.float32(0.5)), vmap=False)],
}
