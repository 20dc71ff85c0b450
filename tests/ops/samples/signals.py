"""Samples of the primitives of `weft.ops.signals`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample

SAMPLES: Final[dict[str, list[Sample]]] = {
    "FourierOfSize": [
        Sample(
            (np.sin(np.arange(12, dtype=np.float32)).reshape(2, 6).astype(np.complex64),),
            {"axes": (-1,), "inverse": False, "norm": "ortho"},
            differentiable=False,
        )
    ],
    "FourierOfReals": [
        Sample(
            (np.sin(np.arange(12, dtype=np.float32)).reshape(2, 6),),
            {"axes": (-1,), "norm": "ortho", "onesided": True},
            differentiable=False,
        )
    ],
    "RealsOfFourier": [
        Sample(
            (np.sin(np.arange(8, dtype=np.float32)).reshape(2, 4).astype(np.complex64),),
            {"axes": (-1,), "norm": "ortho", "onesided": True, "sizes": (6,)},
            differentiable=False,
        )
    ],
    "PairDistances": [
        Sample((np.array([[1.0, 2.0], [-1.0, 0.5], [3.0, -2.0]], np.float32),), {"p": p}, vmap=False)
        for p in (2.0, 3.0, 1.0)
    ],
}
