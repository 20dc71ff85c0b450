"""Samples of the primitives of `weft.nn.learning_rate_schedule`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample, one

_DECAY: dict[str, Any] = {"rate": 0.1, "decay": 0.9, "steps": 4, "stair": False}
_GIVEN: dict[str, dict[str, Any]] = {
    "ExponentialDecay": _DECAY,
    "NaturalExpDecay": _DECAY,
    "InverseDecay": _DECAY,
    "CosineDecay": {"low": 0.01, "high": 0.1, "steps": 4},
    "PolynomialDecay": {"rate": 0.1, "end": 0.01, "steps": 4, "power": 2.0, "again": False},
    "WarmUp": {"rate": 0.1, "steps": 4},
}
SAMPLES: Final[dict[str, list[Sample]]] = {
    f"Schedule{name}": one(np.array(3), differentiable=False, **attrs) for name, attrs in _GIVEN.items()
}
