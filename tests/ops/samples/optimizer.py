"""Samples of the primitives of `weft.ops.optimizer`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample

_P = np.array([1.0, -2.0], np.float32)
_G = np.array([0.5, 0.25], np.float32)


def _number(value: float) -> Any:
    return np.array(value, np.float32)


SAMPLES: Final[dict[str, list[Sample]]] = {
    "MomentumStep": [Sample((_P, _G, _number(0.1), _G, _number(0.9)), {"use_nesterov": True, "gradient_scale": 1.0})],
    "AdamStep": [
        Sample((_P, _G, _G, *map(_number, (0.5, 0.25, 0.1, 0.9, 0.75, 1e-1)), _G), {"use_nesterov": False}, vmap=False)
    ],
    "AdamWeightDecayStep": [Sample((_P, _G, _G, *map(_number, (0.1, 0.9, 0.999, 1e-3, 0.01)), _G), vmap=False)],
    "AdagradStep": [Sample((_P, _G, _number(0.1), _G), {"update_slots": True}, vmap=False)],
    "RMSPropStep": [Sample((_P, _G, _G, _number(0.1), _G, *map(_number, (0.9, 0.5, 1e-3))), vmap=False)],
    "GradientDescentStep": [Sample((_P, _number(0.1), _G), vmap=False)],
    "SGDStep": [
        Sample(
            (_P, _G, _number(0.1), _G, _number(0.9), np.zeros(2, np.float32)),
            {"dampening": 0.5, "weight_decay": 0.1, "nesterov": True},
            differentiable=False,  # a step function of `stat`
            vmap=False,
        )
    ],
}
